/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every case whatever its generator: determinism, sharing, tails, page tables, strides, refusals.
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/case.h"
#include "cases/random.h"

#define PLUS_INFINITY 0x7F800000u
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The i-th generator that makes rows of its own; those whose rows are given have tests of theirs, in given_test.c. */
static const char *made_generator_name(size_t i)
{
    size_t made = 0;
    for (size_t g = 0; case_generator_name(g) != NULL; g++) {
        if (!case_generator_is_given(case_generator_name(g)) && made++ == i) {
            return case_generator_name(g);
        }
    }
    return NULL;
}

static struct case_spec spec_of(const char *generator, int32_t topk, int32_t batch, const int32_t *length)
{
    return (struct case_spec){.family    = "test",
                              .generator = generator,
                              .seed      = 1,
                              .topk      = topk,
                              .page_size = 64,
                              .batch     = batch,
                              .lengths   = length,
                              .n_lengths = 1};
}

static struct case_inputs generated(const struct case_spec *spec)
{
    char               err[256] = "";
    struct case_inputs inputs;
    cr_assert_eq(case_generate(spec, &inputs, err, sizeof err), 0, "%s: %s", spec->generator, err);
    return inputs;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > PLUS_INFINITY;
}

static int ascending_int32(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a;
    const int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void assert_table_row(const int32_t *entries, int64_t stride, int32_t page_size, int32_t length)
{
    const int64_t pages = ((int64_t)length + page_size - 1) / page_size;
    cr_assert_leq(pages, stride);
    int32_t *sorted = malloc((size_t)(pages > 0 ? pages : 1) * sizeof *sorted);
    memcpy(sorted, entries, (size_t)pages * sizeof *sorted);
    qsort(sorted, (size_t)pages, sizeof *sorted, ascending_int32);
    for (int64_t i = 0; i < pages; i++) {
        cr_assert_geq(sorted[i], 0);
        cr_assert_leq((int64_t)sorted[i] * page_size + page_size - 1, INT32_MAX);
        cr_assert(i == 0 || sorted[i] != sorted[i - 1], "page %d twice in a row", (int)sorted[i]);
    }
    for (int64_t i = pages; i < stride; i++) {
        cr_assert_lt(entries[i], -1, "entry %lld is not poison", (long long)i);
    }
    free(sorted);
}

/* Everything that any case promises. */
static void assert_sound(const struct case_spec *spec, const struct case_inputs *inputs)
{
    cr_assert_eq(inputs->batch, spec->batch);
    cr_assert_eq(inputs->topk, spec->topk);
    cr_assert_eq(inputs->page_size, spec->page_size);
    cr_assert_geq(inputs->score_stride, inputs->max_seq_len);
    cr_assert(inputs->base_shift >= 0 && inputs->base_shift < 64);
    cr_assert_eq(case_input_bytes(spec), (int64_t)(case_scores_bytes(inputs) + case_seq_lens_bytes(inputs) +
                                                   case_page_table_bytes(inputs)));
    for (int32_t row = 0; row < spec->batch; row++) {
        int32_t n = inputs->seq_lens[row];
        if (strcmp(spec->generator, "negative-lengths") != 0 && strcmp(spec->generator, "overlong-lengths") != 0) {
            cr_assert_eq(n, case_row_length(spec, row));
        }
        n = n < 0 ? 0 : n;
        n = n > inputs->max_seq_len ? inputs->max_seq_len : n;

        const uint32_t *scores = inputs->scores + row * inputs->score_stride;
        for (int64_t column = 0; column < inputs->score_stride; column++) {
            if (column >= n) {
                cr_assert_eq(scores[column], PLUS_INFINITY, "row %d column %lld", row, (long long)column);
            } else if (strcmp(spec->generator, "nan") != 0) {
                cr_assert_not(is_nan(scores[column]), "%s: NaN in row %d", spec->generator, row);
            }
        }
        assert_table_row(inputs->page_table + row * inputs->page_table_stride, inputs->page_table_stride,
                         spec->page_size, n);
    }
}

/* Texts worth trying of one parameter; the number of them. */
static size_t texts_of(const struct case_param_spec *param, char texts[16][24])
{
    size_t n = 0;
    if (param->choices != NULL) {
        while (param->choices[n] != NULL) {
            snprintf(texts[n], sizeof texts[n], "%s", param->choices[n]);
            n++;
        }
        return n;
    }
    snprintf(texts[n++], sizeof texts[0], "%lld", (long long)param->low);
    snprintf(texts[n++], sizeof texts[0], "%lld", (long long)(param->low < -40 ? -33 : param->low + 1));
    snprintf(texts[n++], sizeof texts[0], "%lld", (long long)(param->high < 700 ? param->high : 700));
    if (strcmp(param->name, "stride_extra") != 0 && strcmp(param->name, "table_stride_extra") != 0 &&
        strcmp(param->name, "width_slack") != 0) {
        snprintf(texts[n++], sizeof texts[0], "%lld", (long long)param->high);
    }
    snprintf(texts[n++], sizeof texts[0], "%s", param->fallback);
    return n;
}

static void try_shapes(const char *generator, const struct case_param *params, size_t n_params)
{
    static const int32_t lengths[] = {0, 1, 2, 7, 511, 512, 513, 1025, 2500};
    static const int32_t topks[]   = {1, 7, 512, 4096};
    static const int32_t pages[]   = {1, 64, 256};
    for (size_t l = 0; l < COUNT(lengths); l++) {
        for (size_t t = 0; t < COUNT(topks); t++) {
            struct case_spec spec = spec_of(generator, topks[t], 1 + (int32_t)(l + t) % 3, &lengths[l]);
            spec.params           = params;
            spec.n_params         = n_params;
            spec.page_size        = pages[(l + t) % COUNT(pages)];

            struct case_inputs inputs = generated(&spec);
            assert_sound(&spec, &inputs);
            case_inputs_clear(&inputs);
        }
    }
}

Test(cases, every_value_of_every_parameter_is_sound_at_every_shape)
{
    for (size_t g = 0; made_generator_name(g) != NULL; g++) {
        const char *generator = made_generator_name(g);
        for (int own = 0; own < 2; own++) {
            const struct case_param_spec *p = own ? case_generator_params(generator) : case_layout_params();
            for (; p->name != NULL; p++) {
                char         texts[16][24];
                const size_t n = texts_of(p, texts);
                for (size_t i = 0; i < n; i++) {
                    try_shapes(generator, &(struct case_param){p->name, texts[i]}, 1);
                }
            }
        }
    }
}

Test(cases, random_combinations_of_parameters_are_sound)
{
    for (uint64_t trial = 0; trial < 3000; trial++) {
        size_t generators = 0;
        while (made_generator_name(generators) != NULL) {
            generators++;
        }
        const char                   *generator = made_generator_name(trial % generators);
        const struct case_param_spec *specs     = case_generator_params(generator);
        char                          texts[8][16][24];
        struct case_param             params[8];
        size_t                        n = 0;
        for (; specs[n].name != NULL; n++) {
            const size_t count = texts_of(&specs[n], texts[n]);
            const uint32_t pick  = random_below(random_bits(1, trial, n), (uint32_t)count);
            params[n]            = (struct case_param){specs[n].name, texts[n][pick]};
        }
        const int32_t    length = (int32_t)random_below(random_bits(1, trial, 20), 1500);
        const int32_t    topk   = 1 + (int32_t)random_below(random_bits(1, trial, 21), 700);
        struct case_spec spec   = spec_of(generator, topk, 3, &length);
        spec.params             = params;
        spec.n_params           = n;

        struct case_inputs inputs = generated(&spec);
        assert_sound(&spec, &inputs);
        case_inputs_clear(&inputs);
    }
}

Test(cases, the_same_spec_gives_the_same_bytes)
{
    const int32_t      length = 700;
    const struct case_spec spec = spec_of("ties", 100, 4, &length);
    struct case_inputs a      = generated(&spec);
    struct case_inputs b      = generated(&spec);
    cr_assert_eq(memcmp(a.scores, b.scores, case_scores_bytes(&a)), 0);
    cr_assert_eq(memcmp(a.page_table, b.page_table, case_page_table_bytes(&a)), 0);
    case_inputs_clear(&a);
    case_inputs_clear(&b);
    cr_assert_null(a.scores);
    case_inputs_clear(&a);
}

Test(cases, rows_do_not_depend_on_the_batch_or_their_neighbours)
{
    static const int32_t lengths[] = {900, 1, 513, 0, 1300};
    for (size_t g = 0; made_generator_name(g) != NULL; g++) {
        struct case_spec ragged   = spec_of(made_generator_name(g), 512, 9, lengths);
        ragged.n_lengths          = COUNT(lengths);
        struct case_inputs many   = generated(&ragged);
        const int32_t      length = 513;
        struct case_spec   same   = spec_of(made_generator_name(g), 512, 3, &length);
        struct case_inputs three  = generated(&same);
        same.batch                = 8;
        struct case_inputs eight  = generated(&same);
        assert_sound(&ragged, &many);
        for (int row = 0; row < 3; row++) {
            cr_assert_eq(memcmp(three.scores + row * three.score_stride, eight.scores + row * eight.score_stride,
                                513 * sizeof(uint32_t)),
                         0, "%s", same.generator);
        }
        if (many.seq_lens[2] == 513 && three.seq_lens[2] == 513) {
            cr_assert_eq(memcmp(three.scores + 2 * three.score_stride, many.scores + 2 * many.score_stride,
                                513 * sizeof(uint32_t)),
                         0, "%s", same.generator);
        }
        cr_assert_eq(three.score_stride, eight.score_stride);
        case_inputs_clear(&many);
        case_inputs_clear(&three);
        case_inputs_clear(&eight);
    }
}

Test(cases, variants_share_scores_as_far_as_the_generator_allows)
{
    const int32_t length = 1500;
    for (size_t g = 0; made_generator_name(g) != NULL; g++) {
        struct case_spec   spec = spec_of(made_generator_name(g), 512, 2, &length);
        struct case_inputs a    = generated(&spec);
        spec.page_size          = 256;
        struct case_inputs b    = generated(&spec);
        cr_assert_eq(case_scores_bytes(&a), case_scores_bytes(&b));
        cr_assert_eq(memcmp(a.scores, b.scores, case_scores_bytes(&a)), 0, "%s", spec.generator);
        cr_assert_eq(a.base_shift, b.base_shift);
        spec.topk            = 7;
        struct case_inputs c = generated(&spec);
        cr_assert_eq(a.score_stride, c.score_stride);
        cr_assert_eq(a.max_seq_len, c.max_seq_len);
        if (strcmp(spec.generator, "random") == 0 || strcmp(spec.generator, "sorted") == 0) {
            cr_assert_eq(memcmp(a.scores, c.scores, case_scores_bytes(&a)), 0, "%s", spec.generator);
        }
        case_inputs_clear(&a);
        case_inputs_clear(&b);
        case_inputs_clear(&c);
    }
}

Test(cases, seed_family_and_parameters_change_the_scores)
{
    const int32_t          length = 64;
    const struct case_spec base   = spec_of("random", 8, 1, &length);
    struct case_inputs     a      = generated(&base);
    for (int change = 0; change < 4; change++) {
        struct case_spec        other = base;
        const struct case_param param = {"scale", change == 2 ? "1e4" : "1"};
        other.seed                    = change == 0 ? 2 : 1;
        other.family                  = change == 1 ? "tesu" : "test";
        other.params                  = &param;
        other.n_params                = 1;
        struct case_inputs b          = generated(&other);
        const bool         same       = memcmp(a.scores, b.scores, 64 * sizeof(uint32_t)) == 0;
        cr_assert_eq(same, change == 3, "change %d: a parameter at its default is as if it were left out", change);
        case_inputs_clear(&b);
    }
    case_inputs_clear(&a);
}

/* These literals were computed once. A change here renames every hash of the registry: it must be meant. */
Test(cases, golden_bits)
{
    const int32_t          length = 5;
    const struct case_spec spec   = spec_of("random", 2, 1, &length);
    struct case_inputs     inputs = generated(&spec);
    static const uint32_t  scores[] = {0xBEC4B167, 0x3E02AFE3, 0x3F965859, 0xBEB64D22, 0xBE487B1D};
    for (size_t i = 0; i < COUNT(scores); i++) {
        cr_assert_eq(inputs.scores[i], scores[i], "score %zu is 0x%08X", i, inputs.scores[i]);
    }
    cr_assert_eq(inputs.page_table[0], 60, "page %d", inputs.page_table[0]);
    cr_assert_eq(inputs.score_stride, 134, "stride %lld", (long long)inputs.score_stride);
    case_inputs_clear(&inputs);
    const struct case_spec ties = spec_of("ties", 2, 1, &length);
    inputs                      = generated(&ties);
    static const uint32_t tied[] = {0x3F7CCCCD, 0x3F8CCCCD, 0x3F8CCCCD, 0x3F8CCCCD, 0x3F9CCCCD};
    for (size_t i = 0; i < COUNT(tied); i++) {
        cr_assert_eq(inputs.scores[i], tied[i], "tied score %zu is 0x%08X", i, inputs.scores[i]);
    }
    case_inputs_clear(&inputs);
}

Test(cases, automatic_layouts_vary_and_mostly_leave_room)
{
    int packed  = 0;
    int odd     = 0;
    int loose   = 0;
    int shifted = 0;
    for (int32_t length = 1000; length < 1400; length++) {
        const struct case_spec spec   = spec_of("random", 8, 1, &length);
        struct case_inputs     inputs = generated(&spec);
        packed += inputs.score_stride - length < 3 ? 1 : 0;
        odd += inputs.score_stride % 2 != 0 ? 1 : 0;
        loose += inputs.max_seq_len != length ? 1 : 0;
        shifted += inputs.base_shift != 0 ? 1 : 0;
        cr_assert(inputs.max_seq_len >= length && inputs.max_seq_len <= length + 64);
        case_inputs_clear(&inputs);
    }
    cr_assert(packed > 4 && packed < 80, "%d of 400 packed", packed);
    cr_assert(odd > 120 && odd < 280, "%d of 400 odd", odd);
    cr_assert(loose > 60 && loose < 140, "%d of 400 loose", loose);
    cr_assert(shifted > 20 && shifted < 90, "%d of 400 shifted", shifted);
}

static struct case_inputs with_params(struct case_spec spec, const struct case_param *params, size_t n)
{
    spec.params   = params;
    spec.n_params = n;
    return generated(&spec);
}

Test(cases, layout_parameters_are_taken_at_their_word)
{
    const int32_t           length   = 1000;
    const struct case_param params[] = {
        {"base_shift", "3"}, {"stride_extra", "17"}, {"table_stride_extra", "5"}, {"width_slack", "10"}};
    struct case_inputs inputs = with_params(spec_of("random", 8, 2, &length), params, COUNT(params));
    cr_assert_eq(inputs.base_shift, 3);
    cr_assert_eq(inputs.max_seq_len, 1010);
    cr_assert_eq(inputs.score_stride, 1027);
    cr_assert_eq(inputs.page_table_stride, 16 + 5);
    case_inputs_clear(&inputs);
}

static struct case_inputs with_table(const char *table, int32_t page_size, int32_t batch, const int32_t *length)
{
    struct case_spec spec = spec_of("random", 8, batch, length);
    spec.page_size        = page_size;
    return with_params(spec, &(struct case_param){"table", table}, 1);
}

Test(cases, page_tables_are_what_their_name_says)
{
    const int32_t      length = 1000;
    struct case_inputs t      = with_table("identity", 64, 3, &length);
    for (int page = 0; page < 16; page++) {
        cr_assert_eq(t.page_table[2 * t.page_table_stride + page], page);
    }
    case_inputs_clear(&t);
    t = with_table("reversed", 64, 3, &length);
    cr_assert_eq(t.page_table[0], 15);
    case_inputs_clear(&t);
    t = with_table("interleaved", 64, 3, &length);
    cr_assert_eq(t.page_table[2 * t.page_table_stride + 4], 4 * 3 + 2);
    case_inputs_clear(&t);
    t = with_table("permuted", 64, 3, &length);
    cr_assert_eq(memcmp(t.page_table, t.page_table + t.page_table_stride, 16 * sizeof(int32_t)), 0);
    for (int page = 0; page < 16; page++) {
        cr_assert_lt(t.page_table[page], 16);
    }
    case_inputs_clear(&t);
    t = with_table("per-row", 64, 3, &length);
    cr_assert_neq(memcmp(t.page_table, t.page_table + t.page_table_stride, 16 * sizeof(int32_t)), 0);
    case_inputs_clear(&t);
    t = with_table("shared", 64, 3, &length);
    cr_assert_eq(memcmp(t.page_table, t.page_table + t.page_table_stride, 8 * sizeof(int32_t)), 0);
    cr_assert_neq(memcmp(t.page_table + 8, t.page_table + t.page_table_stride + 8, 8 * sizeof(int32_t)), 0);
    case_inputs_clear(&t);
}

Test(cases, high_tables_reach_the_last_page_of_int32)
{
    static const int32_t sizes[] = {1, 2, 64, 256, 1 << 20, 1 << 30};
    const int32_t        length  = 1000;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct case_inputs t    = with_table("high", sizes[i], 1, &length);
        int64_t            last = 0;
        for (int32_t page = 0; page * (int64_t)sizes[i] < length; page++) {
            const int64_t end = (int64_t)t.page_table[page] * sizes[i] + sizes[i] - 1;
            last              = end > last ? end : last;
        }
        cr_assert_eq(last, INT32_MAX, "page_size %d", sizes[i]);
        case_inputs_clear(&t);
    }
}

static void assert_refused(const struct case_spec *spec, const char *words)
{
    char               err[256] = "";
    struct case_inputs inputs;
    cr_assert_neq(case_generate(spec, &inputs, err, sizeof err), 0, "accepted; expected: %s", words);
    cr_assert_not_null(strstr(err, words), "'%s' does not say '%s'", err, words);
    cr_assert_null(inputs.scores);
    cr_assert_eq(case_input_bytes(spec), -1);
}

Test(cases, refusals_name_the_thing_and_what_would_be_right)
{
    const int32_t    length = 10;
    struct case_spec spec   = spec_of("tie", 1, 1, &length);
    assert_refused(&spec, "no generator 'tie'; there are");
    spec = spec_of("ties", 0, 1, &length);
    assert_refused(&spec, "topk 0");
    spec           = spec_of("ties", 1, 1, &length);
    spec.page_size = 48;
    assert_refused(&spec, "page_size 48");
    const int32_t negative = -4;
    spec                   = spec_of("ties", 1, 1, &negative);
    assert_refused(&spec, "length -4");

    static const struct {
        struct case_param param;
        const char       *words;
    } bad[] = {{{"distant", "2"}, "no parameter 'distant'; it has above boundary distinct"},
               {{"distinct", "0"}, "'0' is not a number from 1"},
               {{"distinct", "2x"}, "parameter distinct: '2x'"},
               {{"distinct", ""}, "parameter distinct: ''"},
               {{"boundary", "inside"}, "'inside' is not accepted; accepted are inside-plateau"},
               {{"base_shift", "64"}, "from 0 to 63"},
               {{"table", "random"}, "accepted are per-row, identity"}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        spec          = spec_of("ties", 1, 1, &length);
        spec.params   = &bad[i].param;
        spec.n_params = 1;
        assert_refused(&spec, bad[i].words);
    }
    const struct case_param twice[] = {{"distinct", "2"}, {"distinct", "3"}};
    spec                            = spec_of("ties", 1, 1, &length);
    spec.params                     = twice;
    spec.n_params                   = 2;
    assert_refused(&spec, "given twice");

    const int32_t           longest = INT32_MAX;
    const struct case_param slack   = {"width_slack", "1"};
    spec                            = spec_of("ties", 1, 1, &longest);
    spec.params                     = &slack;
    spec.n_params                   = 1;
    assert_refused(&spec, "row width 2147483648");
}

Test(cases, sizes_of_huge_cases_are_known_without_generating_them)
{
    const int32_t           length   = 262144;
    const struct case_param params[] = {{"stride_extra", "0"}, {"table_stride_extra", "0"}, {"width_slack", "0"}};
    struct case_spec        spec     = spec_of("random", 512, 1 << 20, &length);
    spec.params                      = params;
    spec.n_params                    = COUNT(params);
    cr_assert_eq(case_input_bytes(&spec), (INT64_C(262144) + 1 + 4096) * 4 * (1 << 20));
    const int32_t longest = INT32_MAX;
    spec.lengths          = &longest;
    spec.page_size        = 1;
    spec.batch            = INT32_MAX;
    cr_assert_eq(case_input_bytes(&spec), INT64_MAX);
}
