/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts bench` without a provider: how fast the suite's own parts are, as ratios to named baselines measured in the
 * same run, turn by turn, so that a busy machine slows both sides. A ratio holds on any machine; the milliseconds beside
 * it do not. Then what the simulator's parts cost, and how long it takes to find each planted kernel fault.
 */
#include "harness/bench.h"
#include "harness/bench_detection.h"
#include "harness/clock.h"
#include "harness/judge.h"
#include "harness/provider_load.h"
#include "kernels/simulator/simulator.h"
#include "kernels/simulator/simulator_bench.h"
#include "reference/reference.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 15 };

/* What is timed: one problem, and room for answers. */
struct material {
    struct problem problem;
    uint32_t      *keys; /* [longest row], for qsort */
    int32_t       *indices;
    uint32_t      *copy; /* [batch][score_stride] */
    const struct topk_provider *simulated;
    struct topk_problem launch;
};

/* One line of the table: `run` against `baseline`. */
struct comparison {
    const char *name, *baseline_name;
    int32_t     length;
    void (*run)(struct material *);
    void (*baseline)(struct material *);
};

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

static void sort_row(struct material *m)
{
    const struct case_inputs *inputs = &m->problem.inputs;
    memcpy(m->keys, inputs->scores, (size_t)m->problem.lengths[0] * sizeof *m->keys);
    qsort(m->keys, (size_t)m->problem.lengths[0], sizeof *m->keys, descending);
}

static void read_row(struct material *m)
{
    memcpy(m->copy, m->problem.inputs.scores, case_scores_bytes(&m->problem.inputs));
}

static void select_row(struct material *m)
{
    const struct reference_rules rules = {0};
    reference_select(m->problem.inputs.scores, m->problem.lengths[0], m->problem.inputs.topk, &rules, m->indices);
}

static void count_row(struct material *m)
{
    const struct reference_rules rules = {0};
    reference_select_by_counting(m->problem.inputs.scores, m->problem.lengths[0], m->problem.inputs.topk, &rules,
                                 m->indices);
}

static void check_row(struct material *m)
{
    struct row_outputs outputs = {m->problem.pages, m->problem.raw};
    int32_t            scratch[4 * 1024];
    for (int32_t row = 0; row < m->problem.inputs.batch; row++)
        row_check(&m->problem, row, outputs, guard_patterns[0], scratch);
}

/* The slow way: an order that is not the reference's makes the judge compare sets and keys. */
static void check_reordered_row(struct material *m)
{
    int32_t            pages[1024], raw[1024], scratch[4 * 1024], topk = m->problem.inputs.topk;
    struct row_outputs outputs = {pages, raw};
    for (int32_t j = 0; j < topk; j++) {
        pages[j] = m->problem.pages[topk - 1 - j];
        raw[j] = m->problem.raw[topk - 1 - j];
    }
    row_check(&m->problem, 0, outputs, guard_patterns[0], scratch);
}

static void simulate(struct material *m, enum simulator_order order)
{
    char                      err[256];
    struct simulator_schedule schedule = {.wave_size = 32, .order = order, .seed = 1};
    simulator_set_schedule(&schedule);
    m->simulated->launch(NULL, &m->launch, err, sizeof err);
}

static void simulate_plainly(struct material *m)
{
    simulate(m, SIMULATOR_ROUND_ROBIN);
}

static void simulate_randomly(struct material *m)
{
    simulate(m, SIMULATOR_RANDOM);
}

static const struct comparison comparisons[] = {
    {"reference", "qsort of the row's keys", 4096, select_row, sort_row},
    {"reference", "qsort of the row's keys", 262144, select_row, sort_row},
    {"second reference", "qsort of the row's keys", 4096, count_row, sort_row},
    {"second reference", "qsort of the row's keys", 262144, count_row, sort_row},
    {"judge, canonical row", "the reference", 4096, check_row, select_row},
    {"judge, reordered row", "the reference", 4096, check_reordered_row, select_row},
    {"simulator, v1, round-robin", "the reference", 4096, simulate_plainly, select_row},
    {"simulator, v1, random", "the reference", 4096, simulate_randomly, select_row},
    {"simulator, v1, round-robin", "a copy of the row", 262144, simulate_plainly, read_row},
    {"simulator, v1, random", "a copy of the row", 262144, simulate_randomly, read_row},
};
enum { N_COMPARISONS = sizeof comparisons / sizeof comparisons[0] };

static enum status make_material(struct material *m, int32_t length, struct error *err)
{
    const int32_t     lengths[] = {length};
    struct case_spec  spec = {.family = "bench", .generator = "random", .seed = 1, .topk = 512, .page_size = 64,
                              .batch = 1, .lengths = lengths, .n_lengths = 1};
    struct case_inputs inputs = {0};
    struct topk_claims claims = {.level = TOPK_LEVEL_CANONICAL};
    if (case_generate(&spec, &inputs, err->text, sizeof err->text))
        return err->status = STATUS_BOOKS;
    if (problem_make(&m->problem, &inputs, &claims, err))
        return err->status;
    m->keys = malloc((size_t)length * sizeof *m->keys);
    m->indices = malloc((size_t)2048 * sizeof *m->indices);
    m->copy = malloc(case_scores_bytes(&m->problem.inputs));
    if (!m->keys || !m->indices || !m->copy)
        return error_no_memory(err);
    for (size_t i = 0; builtin_providers[i]; i++)
        if (strcmp(builtin_providers[i]->provider->name, "v1") == 0)
            m->simulated = builtin_providers[i]->provider;
    const struct case_inputs *in = &m->problem.inputs;
    m->launch = (struct topk_problem){.scores = (const float *)in->scores,
                                      .seq_lens = in->seq_lens,
                                      .page_table = in->page_table,
                                      .page_indices = m->indices,
                                      .raw_indices = m->indices + 1024,
                                      .score_stride = in->score_stride,
                                      .page_table_stride = in->page_table_stride,
                                      .batch = 1,
                                      .topk = in->topk,
                                      .page_size = in->page_size,
                                      .max_seq_len = in->max_seq_len};
    return STATUS_OK;
}

static void clear_material(struct material *m)
{
    problem_clear(&m->problem);
    free(m->keys);
    free(m->indices);
    free(m->copy);
    memset(m, 0, sizeof *m);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of one call; short ones are repeated so that the clock can tell. */
static double time_one(void (*run)(struct material *), struct material *m)
{
    int64_t started = clock_ns();
    int     calls = 0;
    do {
        run(m);
        calls++;
    } while (clock_ns() - started < 300000 && calls < 1000);
    return (double)(clock_ns() - started) / calls;
}

enum status bench_parts(const struct settings *settings, struct error *err)
{
    json_t *list = json_array();
    if (!settings->json)
        printf("%-28s %8s  %8s  %-26s %10s\n", "part", "length", "ratio", "to", "ms");
    for (int c = 0; c < N_COMPARISONS && !err->status; c++) {
        const struct comparison *comparison = &comparisons[c];
        struct material          m = {0};
        double                   ratios[TURNS], times[TURNS];
        if (make_material(&m, comparison->length, err)) {
            clear_material(&m);
            break;
        }
        time_one(comparison->run, &m); /* both warm */
        time_one(comparison->baseline, &m);
        for (int t = 0; t < TURNS; t++) {
            times[t] = time_one(comparison->run, &m);
            ratios[t] = times[t] / time_one(comparison->baseline, &m);
        }
        qsort(ratios, TURNS, sizeof *ratios, ascending);
        qsort(times, TURNS, sizeof *times, ascending);
        if (settings->json)
            json_array_append_new(list, json_pack("{s:s, s:i, s:f, s:s, s:f}", "part", comparison->name, "length",
                                                  comparison->length, "ratio", ratios[TURNS / 2], "to",
                                                  comparison->baseline_name, "ms", times[TURNS / 2] / 1e6));
        else
            printf("%-28s %8d  %8.3g  %-26s %10.4f\n", comparison->name, comparison->length, ratios[TURNS / 2],
                   comparison->baseline_name, times[TURNS / 2] / 1e6);
        clear_material(&m);
    }
    double switch_ns = simulator_bench_switch_ns(), schedules = simulator_bench_schedules_per_second();
    if (!err->status && (switch_ns <= 0 || schedules <= 0))
        error_set(err, STATUS_FAIL, "the simulator could not launch its own measurements");
    if (!settings->json && !err->status)
        printf("medians of %d turns, both sides measured in turn in this run\n"
               "simulator: %.0f ns from one thread to the next, %.0f schedules a second (a block of 256 threads)\n",
               TURNS, switch_ns, schedules);
    json_t *faults = json_array();
    fflush(stdout);
    if (!err->status)
        bench_detection(faults, !settings->json, err);
    if (settings->json) {
        json_t *answer = json_pack("{s:O, s:f, s:f, s:O}", "parts", list, "switch_ns", switch_ns, "schedules_per_second",
                                   schedules, "detection", faults);
        json_dumpf(answer, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(answer);
    } else if (!err->status)
        printf("from the command to the verdict: suite race, compiled anew where the fault is a source\n");
    json_decref(faults);
    json_decref(list);
    return err->status;
}
