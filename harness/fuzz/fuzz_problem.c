/* SPDX-License-Identifier: Apache-2.0 */
/* Problems by number; see fuzz_problem.h. Start reading at fuzz_problem_make(). */
#include "harness/fuzz/fuzz_problem.h"

#include "harness/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUS_INFINITY 0x7f800000u
#define TABLE_POISON ((int32_t)0xb7c0ffee)

enum {
    USUAL_LENGTH = 4096,
    PROBLEM_SCORES = 6144,  /* of all rows of one launch, unless a single row is longer */
    SLOW_LENGTH = 4608,     /* on a simulator */
    MAX_STEPS = 3
};

/* One launch being made. */
struct making {
    const struct fuzz_generator *generator;
    struct draw                 *draw;
    bool                         at_limit; /* this problem looks at limits */
    int32_t                      limit;
    enum fuzz_pattern            pattern;  /* of the main row */
    int32_t                      crowd;
    int32_t                      topk, batch, main_row;
    int32_t                     *lengths;  /* [batch], as the reference takes them */
};

int32_t fuzz_shape_number(const struct fuzz_shape *shape)
{
    return (((int32_t)shape->pattern * N_FUZZ_LENGTHS + (int32_t)shape->length) * N_FUZZ_BATCHES + (int32_t)shape->batch) * 2 +
           shape->is_sequence;
}

void fuzz_shape_text(const struct fuzz_shape *shape, char text[FUZZ_SHAPE_BYTES])
{
    static const char *const lengths[] = {
#define FUZZ_LENGTH_TEXT(name, words) words,
        FUZZ_LENGTH_LIST(FUZZ_LENGTH_TEXT)
#undef FUZZ_LENGTH_TEXT
    };
    static const char *const batches[] = {
#define FUZZ_BATCH_TEXT(name, words) words,
        FUZZ_BATCH_LIST(FUZZ_BATCH_TEXT)
#undef FUZZ_BATCH_TEXT
    };
    snprintf(text, FUZZ_SHAPE_BYTES, "%s, %s, %s%s", fuzz_pattern_text(shape->pattern), lengths[shape->length],
             batches[shape->batch], shape->is_sequence ? ", after others" : "");
}

void fuzz_add_limit(struct fuzz_generator *generator, int64_t limit)
{
    size_t at = 0;
    if (limit < 2 || limit > generator->max_length || generator->n_limits == FUZZ_MAX_LIMITS)
        return;
    while (at < generator->n_limits && generator->limits[at] < limit)
        at++;
    if (at < generator->n_limits && generator->limits[at] == limit)
        return;
    memmove(&generator->limits[at + 1], &generator->limits[at], (generator->n_limits - at) * sizeof generator->limits[0]);
    generator->limits[at] = (int32_t)limit;
    generator->n_limits++;
}

static int32_t within(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int32_t draw_topk(struct making *making)
{
    static const int32_t known[] = {1,   1,   2,   3,   7,   8,   16,  31,  32,  33,  63,  64,  65,  100,  127,  128, 129,
                                    192, 255, 256, 257, 300, 384, 448, 511, 512, 513, 600, 601, 640, 768,  777,  800, 801,
                                    896, 960, 1000, 1023, 1024, 1025, 1536, 2000, 2047, 2048, 2049, 4096};
    struct draw *draw = making->draw;
    int32_t      largest = claims_max_topk(&making->generator->claims);
    if (making->at_limit && making->limit <= largest + 1 && draw_chance(draw, 1, 4))
        return within(making->limit + draw_between(draw, -1, 1), 1, largest);
    if (draw_chance(draw, 1, 4))
        return largest < 512 ? largest : 512;
    if (draw_chance(draw, 1, 3))
        return draw_between(draw, 1, largest);
    if (draw_chance(draw, 1, 12))
        return largest;
    int32_t topk = DRAW_FROM(draw, known);
    return topk > largest ? draw_between(draw, 1, largest) : topk;
}

/* Lengths at which kernels change their way: about topk, powers of two, suspected limits, anything else. */
static int32_t draw_length(struct making *making, int32_t topk)
{
    struct draw *draw = making->draw;
    int32_t      most = making->generator->max_length;
    int32_t      usual = most < USUAL_LENGTH ? most : USUAL_LENGTH;
    const int32_t near_topk[] = {topk - 1, topk, topk + 1, topk + 2, topk + 3, 2 * topk, 0, 1, 3};
    int32_t      length;
    if (making->at_limit && draw_chance(draw, 2, 3))
        length = making->limit + (draw_chance(draw, 3, 4) ? draw_between(draw, -2, 2) : draw_between(draw, 0, making->limit));
    else
        switch (draw_below(draw, 8)) {
        case 0:
            length = DRAW_FROM(draw, near_topk);
            break;
        case 1:
        case 2:
            length = 1 << draw_between(draw, 4, 13);
            length += draw_between(draw, -1, 1);
            break;
        case 3: /* whole blocks, and a little less or more */
            length = 256 * draw_between(draw, 1, 20);
            length += draw_between(draw, -1, 1);
            break;
        case 4:
            length = topk + draw_between(draw, 1, 700);
            break;
        default:
            length = draw_between(draw, 0, usual);
            break;
        }
    return within(length, 0, most);
}

/* Rarely a row that is long beyond the usual; what comes of it costs milliseconds. */
static int32_t draw_long_length(struct making *making)
{
    static const int32_t round_lengths[] = {65536, 65536, 131072, 100000, 262144};
    struct draw         *draw = making->draw;
    int32_t              most = making->generator->max_length;
    if (draw_chance(draw, 4, 5))
        return within(draw_between(draw, 4096, 24576), 0, most);
    if (draw_chance(draw, 1, 3))
        return within(draw_between(draw, 24576, 70000), 0, most);
    int32_t length = DRAW_FROM(draw, round_lengths);
    return within(length + draw_between(draw, -1, 300), 0, most);
}

/* A buffer that somebody's kernel has, by the reports. */
static int32_t draw_capacity(struct making *making)
{
    static const int32_t capacities[] = {256, 512, 1024, 1024, 1024, 1536, 2048, 2048, 2048, 2048, 3072, 3708, 4096, 4096,
                                         4096};
    static const int32_t large[] = {5120, 6144, 6144, 8192, 8192, 8192, 12288, 16384};
    if (making->at_limit)
        return making->limit;
    return draw_chance(making->draw, 1, 5) ? DRAW_FROM(making->draw, large) : DRAW_FROM(making->draw, capacities);
}

/* The main row's length: as many scores in the bin as a buffer holds, about, and perhaps others. */
static int32_t draw_crowded_length(struct making *making)
{
    struct draw *draw = making->draw;
    int32_t      capacity = draw_capacity(making), most = making->generator->max_length;
    const int32_t crowds[] = {capacity - 1, capacity, capacity + 1, capacity + draw_between(draw, 2, 64),
                              capacity + capacity / 2, 2 * capacity, 3 * capacity};
    making->crowd = within(crowds[draw_below(draw, capacity > USUAL_LENGTH ? 4 : 7)], 1, most);
    return within(draw_chance(draw, 1, 2) ? making->crowd : making->crowd + draw_between(draw, 1, 1500), 1, most);
}

static int32_t draw_batch(struct making *making)
{
    struct draw *draw = making->draw;
    int32_t      kind = draw_below(draw, 100);
    if (making->at_limit && making->limit <= 300 && draw_chance(draw, 1, 3))
        return within(making->limit + draw_between(draw, -1, 1), 1, 301);
    if (kind < 55)
        return 1;
    if (kind < 84)
        return draw_between(draw, 2, 4);
    if (kind < 95)
        return draw_between(draw, 5, 31);
    return making->generator->is_slow ? draw_between(draw, 32, 40) : draw_between(draw, 32, draw_chance(draw, 1, 3) ? 300 : 70);
}

/* Lengths of all rows. The main row is what the problem is about; the others keep it company. */
static void draw_lengths(struct making *making, int32_t main_length)
{
    struct draw *draw = making->draw;
    int32_t      kind = draw_below(draw, 3), left = PROBLEM_SCORES - main_length;
    int32_t      fair = making->batch > 1 ? left / (making->batch - 1) : 0;
    making->main_row = draw_below(draw, making->batch);
    for (int32_t row = 0; row < making->batch; row++) {
        int32_t length = kind == 0   ? main_length
                         : kind == 1 ? draw_length(making, making->topk)
                                     : draw_between(draw, 0, making->topk + 8);
        if (length > fair)
            length = fair > 0 ? draw_between(draw, 0, fair) : draw_below(draw, 20);
        making->lengths[row] = row == making->main_row ? main_length : length;
    }
}

/* Lengths as the kernel is told them: where it says what it makes of negative and overlong ones, some are. */
static bool misstate_lengths(struct making *making, struct case_inputs *inputs)
{
    static const int32_t      negatives[] = {-1, -3, -4, -1048576, INT32_MIN};
    const struct topk_claims *claims = &making->generator->claims;
    struct draw              *draw = making->draw;
    bool                      any = false;
    if (!draw_chance(draw, 1, 24))
        return false;
    for (int32_t row = 0; row < inputs->batch; row++) {
        bool negative = draw_chance(draw, 1, 2);
        if (!draw_chance(draw, 1, 2))
            continue;
        if (negative && claims->negative_length == TOPK_NEGATIVE_LENGTH_EMPTY)
            inputs->seq_lens[row] = DRAW_FROM(draw, negatives);
        else if (!negative && claims->overlong == TOPK_OVERLONG_CLAMPED && making->lengths[row] == inputs->max_seq_len)
            inputs->seq_lens[row] = draw_chance(draw, 1, 4) ? INT32_MAX : inputs->max_seq_len + draw_between(draw, 1, 70);
        else
            continue;
        any = true;
    }
    return any;
}

static bool draw_layout(struct making *making, struct case_inputs *inputs)
{
    static const int32_t page_sizes[] = {1, 1, 2, 16, 64, 64, 64, 64, 128, 256, 256, 1024};
    static const int32_t extra[] = {0, 0, 1, 2, 3, 3, 4, 5, 8, 13, 61};
    static const int32_t shifts[] = {0, 0, 1, 2, 3, 4, 5, 16, 63};
    struct draw         *draw = making->draw;
    int32_t              longest = 0;
    for (int32_t row = 0; row < making->batch; row++)
        longest = making->lengths[row] > longest ? making->lengths[row] : longest;
    *inputs = (struct case_inputs){.batch = making->batch, .topk = making->topk, .max_seq_len = longest > 0 ? longest : 1};
    inputs->page_size = DRAW_FROM(draw, page_sizes);
    inputs->base_shift = DRAW_FROM(draw, shifts);
    if (draw_chance(draw, 1, 4)) /* loose */
        inputs->max_seq_len += draw_chance(draw, 1, 2) ? draw_between(draw, 1, 80) : draw_between(draw, 1, 1100);
    inputs->score_stride = inputs->max_seq_len + DRAW_FROM(draw, extra);
    if (draw_chance(draw, 1, 6))
        inputs->score_stride = (inputs->score_stride + 255) / 256 * 256;
    inputs->page_table_stride = (inputs->max_seq_len + inputs->page_size - 1) / inputs->page_size + draw_below(draw, 4);
    inputs->scores = malloc(case_scores_bytes(inputs));
    inputs->seq_lens = malloc(case_seq_lens_bytes(inputs));
    inputs->page_table = malloc(case_page_table_bytes(inputs));
    return inputs->scores && inputs->seq_lens && inputs->page_table;
}

/* Distinct pages in a row; those of other rows are others, the same, or some of them. */
static void fill_page_table(struct making *making, struct case_inputs *inputs)
{
    struct draw *draw = making->draw;
    int32_t      kind = draw_below(draw, 5);
    int32_t      last = INT32_MAX / inputs->page_size - 1; /* the largest page that fits int32 */
    for (int32_t row = 0; row < inputs->batch; row++) {
        int32_t *entries = inputs->page_table + row * inputs->page_table_stride;
        int32_t  pages = (inputs->max_seq_len + inputs->page_size - 1) / inputs->page_size;
        struct random_permutation permutation;
        random_permutation_init(&permutation, draw_bits(draw), (uint32_t)pages);
        int32_t first = kind == 0 ? 0 : kind == 1 ? row * pages : draw_between(draw, 0, 100000);
        if (kind == 4)
            first = last - pages + 1 - draw_below(draw, 3);
        if (first < 0 || first > last - pages + 1)
            first = 0;
        for (int32_t p = 0; p < pages; p++)
            entries[p] = first + (kind == 0 ? p : (int32_t)random_permutation_at(&permutation, (uint32_t)p));
        for (int64_t p = pages; p < inputs->page_table_stride; p++)
            entries[p] = TABLE_POISON + (int32_t)p;
    }
}

static void fill_scores(struct making *making, struct case_inputs *inputs)
{
    struct draw *draw = making->draw;
    int32_t      beyond = draw_below(draw, 4);
    for (int32_t row = 0; row < inputs->batch; row++) {
        uint32_t         *scores = inputs->scores + row * inputs->score_stride;
        bool              is_main = row == making->main_row;
        enum fuzz_pattern pattern = is_main || draw_chance(draw, 1, 3)
                                        ? making->pattern
                                        : fuzz_draw_pattern(draw, &making->generator->claims);
        fuzz_fill_row(draw, pattern, making->lengths[row], inputs->topk, is_main ? making->crowd : 0, scores);
        for (int64_t i = making->lengths[row]; i < inputs->score_stride; i++)
            scores[i] = beyond < 2 ? PLUS_INFINITY : beyond == 2 ? 0x7fc00000u : (uint32_t)draw_bits(draw);
    }
}

static enum fuzz_length class_of_length(int32_t length, int32_t topk, bool is_odd)
{
    if (is_odd)
        return FUZZ_LENGTH_ODD;
    if (length <= topk)
        return length == 0 ? FUZZ_LENGTH_EMPTY : length < topk ? FUZZ_LENGTH_SHORT : FUZZ_LENGTH_EXACT;
    return length <= topk + 3   ? FUZZ_LENGTH_NEXT
           : length <= 4096     ? FUZZ_LENGTH_MEDIUM
           : length <= UINT16_MAX ? FUZZ_LENGTH_LONG
                                  : FUZZ_LENGTH_HUGE;
}

static enum fuzz_batch class_of_batch(const struct making *making)
{
    bool has_short = false, has_long = false;
    for (int32_t row = 0; row < making->batch; row++) {
        has_short |= making->lengths[row] <= making->topk;
        has_long |= making->lengths[row] > making->topk;
    }
    return making->batch == 1                ? FUZZ_BATCH_ALONE
           : making->batch >= 32             ? FUZZ_BATCH_MANY
           : has_short && has_long           ? FUZZ_BATCH_MIXED
                                             : FUZZ_BATCH_ALIKE;
}

/* One launch. `is_last`: the one that is judged; the shape is its. */
static enum status make_launch(struct making *making, struct case_inputs *inputs, struct fuzz_shape *shape,
                               struct error *err)
{
    struct draw *draw = making->draw;
    int32_t      rare = draw_below(draw, making->generator->is_slow ? 4000 : 400), main_length;
    making->crowd = 0;
    making->pattern = fuzz_draw_pattern(draw, &making->generator->claims);
    making->topk = draw_topk(making);
    making->batch = draw_batch(making);
    if (making->batch >= 32 && draw_chance(draw, 3, 4)) /* many rows are short ones: few of each */
        making->topk = within(draw_between(draw, 1, 64), 1, making->topk);
    if (rare < 4) {
        making->batch = rare == 0 ? 2 : 1;
        main_length = draw_long_length(making);
    } else
        main_length = making->pattern == FUZZ_PATTERN_BIN ? draw_crowded_length(making) : draw_length(making, making->topk);
    making->lengths = malloc((size_t)making->batch * sizeof *making->lengths);
    if (!making->lengths)
        return error_no_memory(err);
    draw_lengths(making, main_length);
    if (!draw_layout(making, inputs)) {
        free(making->lengths);
        return error_no_memory(err);
    }
    memcpy(inputs->seq_lens, making->lengths, case_seq_lens_bytes(inputs));
    fill_page_table(making, inputs);
    fill_scores(making, inputs);
    bool is_odd = misstate_lengths(making, inputs);
    *shape = (struct fuzz_shape){.pattern = making->pattern,
                                 .length = class_of_length(main_length, making->topk, is_odd),
                                 .batch = class_of_batch(making)};
    free(making->lengths);
    return STATUS_OK;
}

/* What the provider can put out, page and raw together most of the time. */
static enum outputs draw_outputs(struct draw *draw, const struct topk_claims *claims)
{
    int32_t kind = draw_below(draw, 8);
    if (claims->outputs != TOPK_OUTPUTS_ALL)
        return claims->outputs == TOPK_OUTPUTS_PAGE ? OUTPUTS_PAGE : OUTPUTS_RAW;
    return kind < 5 ? OUTPUTS_PAGE_RAW : kind < 7 ? OUTPUTS_PAGE : OUTPUTS_RAW;
}

static uint32_t draw_relations(struct draw *draw, const struct case_inputs *inputs)
{
    const int32_t n = TRIAL_BESIDE; /* it is the last, and asked for by the command line */
    uint32_t      relations = 1u << draw_below(draw, n);
    if (draw_chance(draw, 1, 3))
        relations |= 1u << draw_below(draw, n);
    if (inputs->batch > 1 && draw_chance(draw, 1, 3))
        relations |= draw_chance(draw, 1, 2) ? 1u << TRIAL_ROWS : 1u << TRIAL_SPLIT;
    return relations;
}

enum status fuzz_problem_make(const struct fuzz_generator *generator, int64_t number, struct fuzz_problem *problem,
                              struct error *err)
{
    struct draw   draw = {.key = random_key_word(random_key_word(random_key_text(0, "fuzz"), generator->seed),
                                                 (uint64_t)number)};
    struct making making = {.generator = generator, .draw = &draw};
    *problem = (struct fuzz_problem){.number = number};
    making.at_limit = generator->n_limits && number % FUZZ_LIMIT_EVERY == FUZZ_LIMIT_EVERY - 1;
    if (making.at_limit)
        making.limit = generator->limits[draw_below(&draw, (int32_t)generator->n_limits)];
    /* Far limits cost milliseconds a problem: the rarer, the farther. */
    if (making.at_limit && making.limit > USUAL_LENGTH && !draw_chance(&draw, USUAL_LENGTH, making.limit))
        making.at_limit = false;
    int32_t n_steps = draw_chance(&draw, 1, 8) ? draw_between(&draw, 1, MAX_STEPS) : 0;
    for (int32_t step = 0; step <= n_steps; step++) {
        if (make_launch(&making, &problem->inputs[step], &problem->shape, err)) {
            problem->trial.n_problems = step + 1;
            fuzz_problem_clear(problem);
            return err->status;
        }
    }
    const struct case_inputs *last = &problem->inputs[n_steps];
    problem->shape.is_sequence = n_steps > 0;
    problem->trial = (struct trial){.problems = problem->inputs, .n_problems = n_steps + 1};
    problem->trial.outputs = draw_outputs(&draw, &generator->claims);
    if (draw_chance(&draw, 1, 48) && case_scores_bytes(last) < 65536)
        problem->trial.plan = TRIAL_FULL;
    problem->trial.relations = draw_relations(&draw, last);
    problem->trial.seed = draw_bits(&draw);
    if (generator->has_beside && number % 2)
        problem->trial.relations |= 1u << TRIAL_BESIDE;
    return STATUS_OK;
}

void fuzz_problem_clear(struct fuzz_problem *problem)
{
    for (int32_t p = 0; p < problem->trial.n_problems; p++)
        case_inputs_clear(&problem->inputs[p]);
    memset(problem, 0, sizeof *problem);
}
