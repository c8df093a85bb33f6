/* SPDX-License-Identifier: Apache-2.0 */
/* Limits by path and time; see fuzz_probe.h. */
#include "harness/fuzz/fuzz_probe.h"

#include "harness/claims.h"
#include "harness/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STEPS = 96,
    TIMED_LAUNCHES = 5,
    MAX_PROBED_LENGTH = 140000,
    MAX_PROBED_BATCH = 256
};

/* A launch takes longer than its size explains. */
#define JUMP 1.7

/* What one launch shows. */
struct sight {
    bool   is_seen; /* it ended well */
    char   path[64];
    double us;      /* the shortest of the launches; 0: not measured */
};

struct probing {
    const struct fuzz_generator *generator;
    struct trial_session        *session;
    struct fuzz_probe           *probe;
    enum fuzz_axis               axis;
    int32_t                      topk; /* of the length ladder */
    bool                         with_time;
    double                       end;
    struct error                *err;
};

const char *fuzz_axis_text(enum fuzz_axis axis)
{
    static const char *const texts[] = {"length", "topk", "batch"};
    return axis < N_FUZZ_AXES ? texts[axis] : "";
}

/* Rows of random scores, without ties or anything else of note. */
static bool make_inputs(int32_t length, int32_t topk, int32_t batch, struct case_inputs *inputs)
{
    struct draw draw = {.key = random_key_word(random_key_text(0, "probe"), (uint64_t)length)};
    *inputs = (struct case_inputs){.score_stride = length, .page_table_stride = (length + 63) / 64, .batch = batch,
                                   .topk = topk, .page_size = 64, .max_seq_len = length};
    inputs->scores = malloc(case_scores_bytes(inputs));
    inputs->seq_lens = malloc(case_seq_lens_bytes(inputs));
    inputs->page_table = malloc(case_page_table_bytes(inputs));
    if (!inputs->scores || !inputs->seq_lens || !inputs->page_table)
        return false;
    for (int32_t row = 0; row < batch; row++) {
        inputs->seq_lens[row] = length;
        fuzz_fill_row(&draw, FUZZ_PATTERN_INDEXER, length, topk, 0, inputs->scores + row * inputs->score_stride);
        for (int32_t p = 0; p < (int32_t)inputs->page_table_stride; p++)
            inputs->page_table[row * inputs->page_table_stride + p] = p;
    }
    return true;
}

static void look(struct probing *probing, int32_t value, struct sight *sight)
{
    static struct judgement   judgement;
    const struct topk_claims *claims = &probing->generator->claims;
    struct case_inputs        inputs = {0};
    struct trial              trial = {.problems = &inputs, .n_problems = 1, .outputs = OUTPUTS_PAGE_RAW,
                                       .repeats = probing->with_time ? TIMED_LAUNCHES : 1};
    int32_t                   length = probing->generator->is_slow ? 1500 : 4500, topk = probing->topk;
    memset(sight, 0, sizeof *sight);
    if (claims->outputs != TOPK_OUTPUTS_ALL)
        trial.outputs = claims->outputs == TOPK_OUTPUTS_PAGE ? OUTPUTS_PAGE : OUTPUTS_RAW;
    if (length > probing->generator->max_length)
        length = probing->generator->max_length;
    bool made = probing->axis == FUZZ_AXIS_LENGTH ? make_inputs(value, topk, 1, &inputs)
                : probing->axis == FUZZ_AXIS_TOPK ? make_inputs(length, value, 1, &inputs)
                                                  : make_inputs(length < 700 ? length : 700, topk, value, &inputs);
    if (!made)
        error_no_memory(probing->err);
    else if (!trial_session_run(probing->session, &trial, 1, &judgement, probing->err)) {
        sight->is_seen = judgement.verdict == VERDICT_PASS || judgement.verdict == VERDICT_FAIL; /* it ended */
        sight->us = probing->with_time ? judgement.launch_us : 0;
        snprintf(sight->path, sizeof sight->path, "%s", judgement.path);
        probing->probe->has_paths |= sight->path[0] != '\0';
        probing->probe->launches += judgement.repeats;
    }
    case_inputs_clear(&inputs);
}

static void add(struct probing *probing, int32_t value, bool by_time, const char *before, const char *after)
{
    struct fuzz_probe *probe = probing->probe;
    for (size_t i = 0; i < probe->n_found; i++)
        if (probe->found[i].axis == probing->axis && abs(probe->found[i].value - value) <= (by_time ? value / 8 : 0))
            return;
    if (probe->n_found == FUZZ_MAX_PROBED)
        return;
    struct fuzz_probed *found = &probe->found[probe->n_found++];
    *found = (struct fuzz_probed){.axis = probing->axis, .value = value, .by_time = by_time};
    snprintf(found->before, sizeof found->before, "%s", before);
    snprintf(found->after, sizeof found->after, "%s", after);
}

static bool in_time(const struct probing *probing)
{
    return !probing->err->status && clock_seconds() < probing->end;
}

/* Where the path changes between two values; there may be other paths between them, which are looked into, too. */
static void bisect_path(struct probing *probing, int32_t low, const struct sight *at_low, int32_t high,
                        const struct sight *at_high)
{
    struct sight left = *at_low, right = *at_high, middle;
    int32_t      to = high;
    while (high - low > 1 && in_time(probing)) {
        int32_t value = low + (high - low) / 2;
        look(probing, value, &middle);
        if (!middle.is_seen)
            return;
        if (strcmp(middle.path, left.path) == 0)
            low = value;
        else {
            high = value;
            right = middle;
        }
    }
    if (high - low == 1)
        add(probing, high, false, left.path, right.path);
    if (strcmp(right.path, at_high->path) != 0 && in_time(probing))
        bisect_path(probing, high, &right, to, at_high);
}

/* How much longer a launch takes than its size explains. */
static double excess(const struct probing *probing, int32_t low, double low_us, int32_t high, double high_us)
{
    double size = probing->axis == FUZZ_AXIS_TOPK ? 1.0 : (double)high / (double)low;
    return low_us > 0 && high_us > 0 ? high_us / low_us / size : 1.0;
}

/* Where time jumps between two values. Measured twice, since time is noise as well. */
static void bisect_time(struct probing *probing, int32_t low, int32_t high)
{
    struct sight left, right, middle;
    char         before[64], after[64];
    look(probing, low, &left);
    look(probing, high, &right);
    if (excess(probing, low, left.us, high, right.us) < JUMP)
        return;
    while (high - low > 1 && in_time(probing)) {
        int32_t value = low + (high - low) / 2;
        look(probing, value, &middle);
        if (!middle.is_seen)
            return;
        if (middle.us - left.us < right.us - middle.us) {
            low = value;
            left = middle;
        } else {
            high = value;
            right = middle;
        }
    }
    look(probing, low, &left);
    look(probing, high, &right);
    if (high - low > 1 || excess(probing, low, left.us, high, right.us) < JUMP)
        return;
    snprintf(before, sizeof before, "%.0f us", left.us);
    snprintf(after, sizeof after, "%.0f us", right.us);
    add(probing, high, true, before, after);
}

/* Values from `from` to `to`, each about a quarter more than the one before. */
static size_t make_ladder(int32_t from, int32_t to, int32_t values[MAX_STEPS])
{
    size_t  n = 0;
    int64_t value = from;
    while (n < MAX_STEPS && value < to) {
        values[n++] = (int32_t)value;
        value += value / 4 + 1;
    }
    if (n < MAX_STEPS && to >= from)
        values[n++] = to;
    return n;
}

static void climb(struct probing *probing, int32_t from, int32_t to)
{
    int32_t      values[MAX_STEPS];
    struct sight sights[MAX_STEPS];
    size_t       n = make_ladder(from, to, values);
    for (size_t i = 0; i < n && in_time(probing); i++) {
        look(probing, values[i], &sights[i]);
        if (i == 0 || !sights[i].is_seen || !sights[i - 1].is_seen)
            continue;
        if (strcmp(sights[i].path, sights[i - 1].path) != 0)
            bisect_path(probing, values[i - 1], &sights[i - 1], values[i], &sights[i]);
        else if (excess(probing, values[i - 1], sights[i - 1].us, values[i], sights[i].us) >= JUMP)
            bisect_time(probing, values[i - 1], values[i]);
    }
}

enum status fuzz_probe(const struct fuzz_generator *generator, struct trial_session *session, bool with_time,
                       double seconds, struct fuzz_probe *probe, struct error *err)
{
    int32_t        largest = claims_max_topk(&generator->claims);
    struct probing probing = {.generator = generator, .session = session, .probe = probe, .with_time = with_time,
                              .err = err};
    int32_t        longest = generator->max_length < MAX_PROBED_LENGTH ? generator->max_length : MAX_PROBED_LENGTH;
    memset(probe, 0, sizeof *probe);
    probing.end = clock_seconds() + seconds;
    probing.topk = largest < 64 ? largest : 64;
    climb(&probing, probing.topk + 1, longest);
    probing.axis = FUZZ_AXIS_BATCH;
    climb(&probing, 1, generator->is_slow ? 48 : MAX_PROBED_BATCH);
    probing.axis = FUZZ_AXIS_TOPK;
    climb(&probing, 1, largest);
    return err->status;
}
