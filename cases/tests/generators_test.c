/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each generator promises, counted from the scores alone: sorted rows, ranks and float values, none of which the
 * generators use.
 */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/case.h"
#include "cases/float_bits.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One row, as floats: in place, and sorted best first. */
struct row {
    struct case_inputs inputs;
    float             *scores;
    float             *sorted;
    int32_t            length;
};

static int descending(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x < y) - (x > y);
}

/* Row `row` of a batch of row + 1. params: "name=value name=value". */
static struct row row_of(const char *generator, const char *params, int32_t topk, int32_t length, int32_t row)
{
    char              copy[256];
    char              err[256] = "";
    struct case_param list[8];
    size_t            n    = 0;
    char             *rest = NULL;
    snprintf(copy, sizeof copy, "%s", params);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals      = '\0';
        list[n++]    = (struct case_param){word, equals + 1};
    }
    const struct case_spec spec = {.family    = "test",
                                   .generator = generator,
                                   .seed      = 1,
                                   .topk      = topk,
                                   .page_size = 64,
                                   .batch     = row + 1,
                                   .lengths   = &length,
                                   .n_lengths = 1,
                                   .params    = list,
                                   .n_params  = n};
    struct row result = {.length = length};
    cr_assert_eq(case_generate(&spec, &result.inputs, err, sizeof err), 0, "%s", err);
    result.scores = malloc((size_t)length * sizeof(float));
    result.sorted = malloc((size_t)length * sizeof(float));
    memcpy(result.scores, result.inputs.scores + row * result.inputs.score_stride, (size_t)length * sizeof(float));
    memcpy(result.sorted, result.scores, (size_t)length * sizeof(float));
    qsort(result.sorted, (size_t)length, sizeof(float), descending);
    return result;
}

static void drop(struct row *row)
{
    case_inputs_clear(&row->inputs);
    free(row->scores);
    free(row->sorted);
}

static int32_t count_equal(const struct row *row, float value)
{
    int32_t count = 0;
    for (int32_t i = 0; i < row->length; i++) {
        count += row->scores[i] == value ? 1 : 0;
    }
    return count;
}

static int32_t count_above(const struct row *row, float value)
{
    int32_t count = 0;
    for (int32_t i = 0; i < row->length; i++) {
        count += row->scores[i] > value ? 1 : 0;
    }
    return count;
}

static int32_t count_distinct(const struct row *row)
{
    int32_t count = row->length > 0 ? 1 : 0;
    for (int32_t i = 1; i < row->length; i++) {
        count += row->sorted[i] != row->sorted[i - 1] ? 1 : 0;
    }
    return count;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

Test(ties, the_cut_is_inside_the_plateau_for_any_topk)
{
    static const int32_t     topks[]  = {1, 2, 7, 257, 512, 513, 1023};
    static const char *const params[] = {"", "distinct=2", "distinct=3", "distinct=40 gap=ulp", "plateau=zero gap=ulp",
                                         "plateau=negative order=best-last", "tied=33", "tied=2 distinct=2"};
    for (size_t t = 0; t < COUNT(topks); t++) {
        for (size_t p = 0; p < COUNT(params); p++) {
            for (int32_t n = 1024; n < 1027; n++) {
                struct row row = row_of("ties", params[p], topks[t], n, (int32_t)(p % 4));
                cr_assert_eq(row.sorted[topks[t] - 1], row.sorted[topks[t]], "topk %d %s", topks[t], params[p]);
                drop(&row);
            }
        }
    }
}

Test(ties, boundaries_leave_the_winners_they_name)
{
    static const struct {
        const char *params;
        int32_t     above; /* strictly above the plateau, topk 512 */
    } cases[] = {{"boundary=first-slot", 0},
                 {"boundary=second-slot", 1},
                 {"boundary=last-slot", 511},
                 {"boundary=last-slot tied=2", 511},
                 {"boundary=last-slot gap=ulp plateau=zero", 511}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct row row = row_of("ties", cases[i].params, 512, 3000, 1);
        cr_assert_eq(row.sorted[511], row.sorted[512], "%s", cases[i].params);
        cr_assert_eq(count_above(&row, row.sorted[511]), cases[i].above, "%s", cases[i].params);
        drop(&row);
    }
    struct row start = row_of("ties", "boundary=plateau-start", 512, 3000, 0);
    cr_assert_gt(start.sorted[511], start.sorted[512]);
    cr_assert_gt(count_equal(&start, start.sorted[512]), 1);
    drop(&start);
    struct row end = row_of("ties", "boundary=plateau-end tied=100", 512, 3000, 0);
    cr_assert_gt(end.sorted[511], end.sorted[512]);
    cr_assert_eq(count_equal(&end, end.sorted[511]), 100);
    drop(&end);
}

Test(ties, tied_and_distinct_are_taken_at_their_word)
{
    static const int32_t tied[] = {1, 31, 32, 33, 64, 128, 1024, 2048};
    for (size_t i = 0; i < COUNT(tied); i++) {
        char params[32];
        snprintf(params, sizeof params, "tied=%d", tied[i]);
        struct row row = row_of("ties", params, 512, 4096, 2);
        cr_assert_eq(count_equal(&row, row.sorted[511]), tied[i]);
        cr_assert_eq(count_distinct(&row), 4096 - tied[i] + 1, "all others differ");
        drop(&row);
    }
    for (int32_t distinct = 1; distinct < 9; distinct++) {
        for (int32_t index = 0; index < 4; index++) {
            char params[32];
            snprintf(params, sizeof params, "distinct=%d", distinct);
            struct row row = row_of("ties", params, 512, 4096, index);
            cr_assert_eq(count_distinct(&row), distinct);
            drop(&row);
        }
    }
    struct row anywhere = row_of("ties", "boundary=anywhere distinct=5", 512, 4096, 0);
    cr_assert_eq(count_distinct(&anywhere), 5);
    drop(&anywhere);
}

Test(ties, one_ulp_separates_the_plateau_from_its_neighbours)
{
    struct row row   = row_of("ties", "gap=ulp tied=10", 512, 4096, 0);
    const float cut  = row.sorted[511];
    cr_assert_gt(count_equal(&row, nextafterf(cut, INFINITY)), 0);
    cr_assert_gt(count_equal(&row, nextafterf(cut, -INFINITY)), 0);
    drop(&row);
}

Test(ties, patterns_tie_at_the_cut)
{
    static const char *const params[] = {"pattern=quantised", "pattern=groups", "pattern=relu", "pattern=bfloat16"};
    for (size_t p = 0; p < COUNT(params); p++) {
        struct row row = row_of("ties", params[p], 1022, 4096, 0); /* in groups of four, 1022 is never a group's end */
        cr_assert_eq(row.sorted[1021], row.sorted[1022], "%s", params[p]);
        drop(&row);
    }
}

Test(ties, the_number_above_is_taken_at_its_word)
{
    static const int32_t above[] = {0, 3, 500};
    for (size_t a = 0; a < COUNT(above); a++) {
        char params[64];
        snprintf(params, sizeof params, "above=%d tied=1600 plateau=zero", above[a]);
        struct row row = row_of("ties", params, 1024, 4097, 0);
        cr_assert_eq(count_above(&row, 0.0F), above[a]);
        cr_assert_eq(count_equal(&row, 0.0F), 1600);
        drop(&row);
    }
}

Test(ties, rows_of_a_batch_cut_their_plateaus_differently)
{
    struct row a = row_of("ties", "", 512, 4096, 1);
    struct row b = row_of("ties", "", 512, 4096, 2);
    cr_assert_neq(count_above(&a, a.sorted[511]), count_above(&b, b.sorted[511]));
    drop(&a);
    drop(&b);
}

Test(signed_zeroes, the_cut_falls_where_the_parameters_say)
{
    struct row inside = row_of("signed-zeroes", "above=ten signs=all-negative zeroes=most", 512, 6010, 0);
    cr_assert_eq(count_above(&inside, 0.0F), 10);
    cr_assert_eq(count_equal(&inside, 0.0F), 4500);
    for (int32_t i = 0; i < inside.length; i++) {
        cr_assert(inside.scores[i] != 0.0F || signbit(inside.scores[i]));
    }
    drop(&inside);
    struct row below = row_of("signed-zeroes", "above=half zeroes=few", 512, 2048, 0);
    cr_assert_eq(count_above(&below, 0.0F), 256);
    cr_assert_eq(count_equal(&below, 0.0F), 128);
    cr_assert_lt(below.sorted[511], 0.0F);
    drop(&below);
    struct row above = row_of("signed-zeroes", "above=exactly", 512, 2048, 0);
    cr_assert_gt(above.sorted[511], 0.0F);
    cr_assert_eq(above.sorted[512], 0.0F);
    drop(&above);
}

Test(signed_zeroes, ranking_minus_zero_lower_would_change_the_set)
{
    static const char *const signs[] = {"alternating", "negative-first", "random"};
    for (size_t s = 0; s < COUNT(signs); s++) {
        char params[64];
        snprintf(params, sizeof params, "signs=%s above=half", signs[s]);
        struct row row   = row_of("signed-zeroes", params, 512, 2048, 0);
        int32_t    taken = 256;
        int32_t    lost  = 0; /* -0 among the lowest zeroes, which such a kernel would pass over */
        int32_t    plus  = 0; /* +0 behind them */
        for (int32_t i = 0; i < row.length; i++) {
            if (row.scores[i] == 0.0F && taken > 0) {
                lost += signbit(row.scores[i]) ? 1 : 0;
                taken--;
            } else if (row.scores[i] == 0.0F) {
                plus += signbit(row.scores[i]) ? 0 : 1;
            }
        }
        cr_assert(lost > 100 && plus > 100, "%s: %d, %d", signs[s], lost, plus);
        drop(&row);
    }
}

Test(signed_zeroes, tiny_neighbours_are_zeroes_in_float16)
{
    struct row row = row_of("signed-zeroes", "above=half neighbours=tiny zeroes=most", 512, 4096, 0);
    cr_assert_eq(count_above(&row, 0.0F), 256);
    cr_assert_lt(row.sorted[4095], 0.0F);
    for (int32_t i = 0; i < row.length; i++) {
        cr_assert_eq(float_bits_to_half(bits_of(row.scores[i])) & 0x7FFF, 0);
    }
    drop(&row);
}

Test(signed_zeroes, denormal_neighbours_are_the_next_scores)
{
    struct row row = row_of("signed-zeroes", "above=half neighbours=denormal zeroes=most order=best-last", 512, 4096, 0);
    cr_assert_eq(bits_of(row.sorted[255]), 1);
    cr_assert_eq(count_above(&row, 0.0F), 256);
    cr_assert_eq(count_equal(&row, 0.0F), 2880);
    cr_assert_eq(bits_of(row.sorted[256 + 2880]), 0x80000001);
    cr_assert_eq(bits_of(row.scores[4096 - 256 - 2880 - 1]), 0x80000001); /* right before the zeroes */
    drop(&row);
}

static int32_t count_in_bin(const struct row *row, float like, int bits)
{
    int32_t count = 0;
    for (int32_t i = 0; i < row->length; i++) {
        count += float_coarse_bin(bits_of(row->scores[i]), bits) == float_coarse_bin(bits_of(like), bits) ? 1 : 0;
    }
    return count;
}

Test(overflow, the_bin_has_the_members_that_were_asked_for)
{
    static const int32_t members[] = {1023, 1024, 1025, 2048, 3709, 4096};
    for (size_t i = 0; i < COUNT(members); i++) {
        for (int bits = 8; bits <= 12; bits += 4) {
            char params[96];
            snprintf(params, sizeof params, "members=%d bits=%d above=half order=best-last", members[i], bits);
            struct row row = row_of("overflow", params, 512, 5000, 0);
            cr_assert_eq(count_in_bin(&row, 1.1F, bits), members[i]);
            cr_assert_eq(count_distinct(&row), 5000);
            cr_assert_eq(float_coarse_bin(bits_of(row.sorted[255]), bits) > float_coarse_bin(bits_of(1.1F), bits), 1);
            cr_assert_eq(float_coarse_bin(bits_of(row.sorted[511]), bits), float_coarse_bin(bits_of(1.1F), bits));
            cr_assert_eq(row.scores[4999], row.sorted[0], "the best comes last");
            cr_assert_eq(row.scores[0], row.sorted[4999]);
            drop(&row);
        }
    }
}

Test(overflow, bins_at_the_ends_of_float16_hold_the_whole_row)
{
    struct row minus = row_of("overflow", "bin=minus-one", 512, 4097, 0);
    cr_assert_eq(count_in_bin(&minus, -1.1F, 8), 4097);
    cr_assert_eq(count_distinct(&minus), 4097);
    drop(&minus);
    struct row huge = row_of("overflow", "bin=huge order=best-first", 512, 4097, 0);
    cr_assert_eq(count_in_bin(&huge, INFINITY, 16), 4097);
    cr_assert_eq(count_distinct(&huge), 4097);
    cr_assert(isfinite(huge.sorted[0]));
    cr_assert_eq(huge.scores[0], huge.sorted[0]);
    drop(&huge);
    struct row integers = row_of("overflow", "bin=integers order=best-last", 512, 4097, 0);
    for (int32_t i = 0; i < integers.length; i++) {
        cr_assert_eq(integers.scores[i], 65520.0F + (float)i);
    }
    drop(&integers);
    struct row tiny = row_of("overflow", "bin=tiny", 512, 4097, 0);
    cr_assert_eq(count_in_bin(&tiny, 0.0F, 16), 4097);
    cr_assert_eq(count_distinct(&tiny), 4097);
    cr_assert_gt(tiny.sorted[4096], 0.0F);
    drop(&tiny);
    struct row normal = row_of("overflow", "bin=normal-1e8", 512, 4097, 0);
    cr_assert_gt(count_in_bin(&normal, INFINITY, 16), 1024, "more than topk scores are infinite in float16");
    drop(&normal);
    struct row small = row_of("overflow", "bin=normal-1e-9", 512, 4097, 0);
    cr_assert_eq(count_in_bin(&small, 0.0F, 16) + count_in_bin(&small, -0.0F, 16), 4097);
    drop(&small);
    struct row ulp = row_of("overflow", "spacing=ulp", 512, 4097, 0);
    cr_assert_eq(bits_of(ulp.sorted[0]) - bits_of(ulp.sorted[4096]), 4096);
    drop(&ulp);
}

Test(infinities, counts_are_exact)
{
    static const struct {
        const char *choice;
        int32_t     count;
    } counts[] = {{"none", 0}, {"one", 1}, {"all-but-one", 511}, {"exactly", 512}, {"one-more", 513}};
    for (size_t i = 0; i < COUNT(counts); i++) {
        char params[64];
        snprintf(params, sizeof params, "count=%s finite=extreme", counts[i].choice);
        struct row plus = row_of("infinities", params, 512, 1999, 0);
        cr_assert_eq(count_equal(&plus, INFINITY), counts[i].count);
        cr_assert_gt(count_equal(&plus, 3.402823466e38F), 100);
        drop(&plus);
        snprintf(params, sizeof params, "count=%s sign=negative", counts[i].choice);
        struct row minus = row_of("infinities", params, 512, 1999, 0);
        cr_assert_eq(count_equal(&minus, -INFINITY), 1999 - counts[i].count);
        drop(&minus);
        snprintf(params, sizeof params, "count=%s sign=both", counts[i].choice);
        struct row both = row_of("infinities", params, 512, 1999, 0);
        cr_assert_eq(count_equal(&both, INFINITY), counts[i].count);
        cr_assert_eq(count_equal(&both, -INFINITY), counts[i].count);
        drop(&both);
    }
    struct row extreme = row_of("infinities", "sign=negative count=all-but-one finite=extreme", 512, 1999, 0);
    cr_assert_gt(count_equal(&extreme, -3.402823466e38F), 100);
    drop(&extreme);
}

Test(nan, counts_signs_and_payloads_are_exact)
{
    static const struct {
        const char *params;
        int32_t     count;
        int         sign;    /* 0, 1, or -1 for both */
        uint32_t    payload; /* 0: any */
    } cases[] = {{"", 1, 0, 0x400000},
                 {"count=exactly sign=negative payload=signalling", 512, 1, 1},
                 {"count=one-more sign=both payload=random", 513, -1, 0},
                 {"count=whole-row payload=all-ones", 2000, 0, 0x7FFFFF},
                 {"count=cut", 2000 - 511, 0, 0x400000}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct row row      = row_of("nan", cases[i].params, 512, 2000, 0);
        int32_t    count    = 0;
        int32_t    negative = 0;
        for (int32_t c = 0; c < row.length; c++) {
            const uint32_t bits = row.inputs.scores[c];
            if (!isnan(row.scores[c])) {
                continue;
            }
            count++;
            negative += (bits >> 31) != 0 ? 1 : 0;
            cr_assert(cases[i].payload == 0 || (bits & 0x7FFFFF) == cases[i].payload);
        }
        cr_assert_eq(count, cases[i].count, "%s", cases[i].params);
        if (cases[i].sign >= 0) {
            cr_assert_eq(negative, cases[i].sign * count);
        } else {
            cr_assert(negative > 100 && negative < count - 100);
        }
        drop(&row);
    }
}

Test(nan, others_may_be_infinities)
{
    struct row row   = row_of("nan", "count=three sign=both others=infinities", 16, 300, 0);
    int32_t    plus  = 0;
    int32_t    minus = 0;
    for (int32_t c = 0; c < row.length; c++) {
        plus += row.inputs.scores[c] == FLOAT_BITS_PLUS_INFINITY ? 1 : 0;
        minus += row.inputs.scores[c] == FLOAT_BITS_MINUS_INFINITY ? 1 : 0;
    }
    cr_assert(plus >= 97 && plus <= 100 && minus >= 97 && minus <= 100, "%d, %d", plus, minus);
    drop(&row);
}

Test(range_edges, the_edge_is_the_last_winner)
{
    static const struct {
        const char *edge;
        float       value;
    } edges[] = {{"65503", 65503.0F}, {"65504", 65504.0F}, {"65519.9", 65519.9F}, {"65520", 65520.0F}, {"3e38", 3e38F}};
    for (size_t i = 0; i < COUNT(edges); i++) {
        char params[64];
        snprintf(params, sizeof params, "edge=%s", edges[i].edge);
        struct row row = row_of("range-edges", params, 512, 2048, 0);
        cr_assert_eq(row.sorted[511], edges[i].value);
        cr_assert_eq(row.sorted[512], nextafterf(edges[i].value, 0.0F));
        cr_assert_eq(count_distinct(&row), 2048);
        drop(&row);
        snprintf(params, sizeof params, "edge=%s sign=negative step=whole", edges[i].edge);
        struct row minus = row_of("range-edges", params, 512, 2048, 0);
        cr_assert_eq(minus.sorted[511], -edges[i].value);
        cr_assert_lt(minus.sorted[0], 0.0F);
        drop(&minus);
    }
    struct row mixed = row_of("range-edges", "edge=mixed", 512, 2048, 0);
    cr_assert_gt(count_equal(&mixed, 65504.0F), 10);
    cr_assert_gt(count_equal(&mixed, 65520.0F), 10);
    drop(&mixed);
}

Test(denormals, the_cut_is_among_denormals)
{
    static const char *const spacings[] = {"ulp", "wide"};
    for (size_t s = 0; s < COUNT(spacings); s++) {
        char params[64];
        snprintf(params, sizeof params, "range=positive spacing=%s", spacings[s]);
        struct row plus = row_of("denormals", params, 512, 2048, 0);
        cr_assert(fpclassify(plus.sorted[0]) == FP_SUBNORMAL && plus.sorted[2047] > 0.0F);
        cr_assert_eq(count_distinct(&plus), 2048);
        drop(&plus);
        snprintf(params, sizeof params, "range=negative spacing=%s", spacings[s]);
        struct row minus = row_of("denormals", params, 512, 2048, 0);
        cr_assert(fpclassify(minus.sorted[2047]) == FP_SUBNORMAL && minus.sorted[0] < 0.0F);
        cr_assert_eq(count_distinct(&minus), 2048);
        drop(&minus);
        snprintf(params, sizeof params, "range=around-zero spacing=%s", spacings[s]);
        struct row zero = row_of("denormals", params, 512, 2048, 0);
        cr_assert_eq(zero.sorted[511], 0.0F);
        cr_assert_eq(fpclassify(zero.sorted[510]), FP_SUBNORMAL);
        cr_assert_eq(fpclassify(zero.sorted[512]), FP_SUBNORMAL);
        drop(&zero);
        snprintf(params, sizeof params, "range=with-normals spacing=%s", spacings[s]);
        struct row normals = row_of("denormals", params, 512, 2048, 0);
        cr_assert_eq(bits_of(normals.sorted[511]), 0x00800000);
        cr_assert_eq(fpclassify(normals.sorted[512]), FP_SUBNORMAL);
        drop(&normals);
    }
}

Test(bin_edges, consecutive_patterns_are_consecutive)
{
    struct row drift = row_of("bin-edges", "order=best-last", 512, 4096, 0);
    struct row one   = row_of("bin-edges", "pattern=one order=best-last", 512, 4096, 0);
    for (uint32_t i = 0; i < 4096; i++) {
        cr_assert_eq(bits_of(drift.scores[i]), 0x3805ED27 + i);
        cr_assert_eq(bits_of(one.scores[i]), 0x3F800000 + i);
    }
    drop(&drift);
    drop(&one);
}

Test(bin_edges, exactly_topk_scores_are_in_the_bins_above)
{
    static const char *const signs[] = {"pattern=exact-fit", "pattern=exact-fit sign=negative"};
    for (size_t s = 0; s < COUNT(signs); s++) {
        struct row row   = row_of("bin-edges", signs[s], 512, 4096, 0);
        int32_t    above = 0;
        const uint32_t loser = float_coarse_bin(bits_of(row.sorted[512]), 12);
        for (int32_t i = 0; i < row.length; i++) {
            above += float_coarse_bin(bits_of(row.scores[i]), 12) > loser ? 1 : 0;
        }
        cr_assert_eq(above, 512);
        cr_assert_eq(float_code(bits_of(row.sorted[511])) - float_code(bits_of(row.sorted[512])), 1);
        drop(&row);
    }
}

Test(bin_edges, every_score_is_next_to_an_edge)
{
    struct row row = row_of("bin-edges", "pattern=every-edge", 512, 4096, 0);
    for (int32_t i = 0; i < row.length; i++) {
        const uint32_t bin  = float_coarse_bin(bits_of(row.scores[i]), 12);
        const uint32_t up   = float_coarse_bin(float_bits_step(bits_of(row.scores[i]), 1), 12);
        const uint32_t down = float_coarse_bin(float_bits_step(bits_of(row.scores[i]), -1), 12);
        cr_assert(bin != up || bin != down);
    }
    drop(&row);
}

Test(bin_edges, byte_patterns_differ_in_one_byte)
{
    static const struct {
        const char *params;
        uint32_t    mask;
    } cases[] = {{"pattern=low-byte", 0xFF},
                 {"pattern=middle-byte sign=negative", 0xFF00},
                 {"pattern=high-byte", 0xFF0000}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct row row = row_of("bin-edges", cases[i].params, 512, 4096, 0);
        for (int32_t c = 1; c < row.length; c++) {
            cr_assert_eq((bits_of(row.scores[c]) ^ bits_of(row.scores[0])) & ~cases[i].mask, 0);
        }
        cr_assert_eq(count_distinct(&row), 256);
        drop(&row);
    }
}

Test(sorted, shapes_run_as_they_are_called)
{
    static const char *const steps[] = {"step=ulp", "step=wide"};
    for (size_t s = 0; s < COUNT(steps); s++) {
        char params[64];
        snprintf(params, sizeof params, "%s shape=ascending", steps[s]);
        struct row up = row_of("sorted", params, 512, 3000, 0);
        snprintf(params, sizeof params, "%s shape=descending", steps[s]);
        struct row down = row_of("sorted", params, 512, 3000, 0);
        snprintf(params, sizeof params, "%s shape=organ-pipe", steps[s]);
        struct row pipe = row_of("sorted", params, 512, 3000, 0);
        snprintf(params, sizeof params, "%s shape=valley", steps[s]);
        struct row valley = row_of("sorted", params, 512, 3000, 0);
        snprintf(params, sizeof params, "%s shape=sawtooth period=100", steps[s]);
        struct row teeth = row_of("sorted", params, 512, 3000, 0);
        for (int32_t i = 1; i < 3000; i++) {
            cr_assert_gt(up.scores[i], up.scores[i - 1]);
            cr_assert_lt(down.scores[i], down.scores[i - 1]);
            cr_assert_eq(pipe.scores[i], pipe.scores[2999 - i]);
            cr_assert(i >= 1500 || (pipe.scores[i] > pipe.scores[i - 1] && valley.scores[i] < valley.scores[i - 1]));
            cr_assert(i < 100 || teeth.scores[i] == teeth.scores[i - 100]);
        }
        cr_assert_eq(count_distinct(&teeth), 100);
        drop(&up);
        drop(&down);
        drop(&pipe);
        drop(&valley);
        drop(&teeth);
    }
}

Test(random_scores, distributions_look_like_their_names)
{
    struct row relu  = row_of("random", "distribution=relu", 512, 20000, 0);
    const int32_t zeroes = count_equal(&relu, 0.0F);
    cr_assert(zeroes > 17700 && zeroes < 18300, "%d zeroes of 20000", zeroes);
    cr_assert_eq(relu.sorted[19999], 0.0F);
    drop(&relu);
    struct row groups = row_of("random", "distribution=groups", 512, 4001, 0);
    for (int32_t i = 0; i < 4001; i++) {
        cr_assert_eq(groups.scores[i], groups.scores[i - i % 4]);
    }
    cr_assert_eq(count_distinct(&groups), 1001);
    drop(&groups);
    struct row narrow = row_of("random", "distribution=narrow", 512, 20000, 0);
    cr_assert(narrow.sorted[19999] >= 1.0F && narrow.sorted[0] < 1.25F);
    cr_assert_gt(count_in_bin(&narrow, 1.1F, 8), 19800);
    drop(&narrow);
    struct row quantised = row_of("random", "distribution=quantised", 512, 20000, 0);
    cr_assert(count_distinct(&quantised) > 300 && count_distinct(&quantised) < 700);
    drop(&quantised);
    struct row rounded = row_of("random", "distribution=bfloat16", 2048, 131072, 0);
    for (int32_t i = 0; i < 131072; i++) {
        cr_assert_eq(bits_of(rounded.scores[i]) & 0xFFFF, 0);
    }
    const int32_t equal = count_equal(&rounded, rounded.sorted[2047]);
    cr_assert(equal > 50 && equal < 150, "%d are equal at place 2048", equal);
    drop(&rounded);
    struct row huge = row_of("random", "scale=1e8", 512, 4096, 0);
    cr_assert(huge.sorted[512] > 5e7F && huge.sorted[512] < 2e8F);
    drop(&huge);
    struct row tiny = row_of("random", "scale=1e-9", 512, 4096, 0);
    cr_assert(tiny.sorted[512] > 5e-10F && tiny.sorted[512] < 2e-9F);
    drop(&tiny);
}

Test(lengths, told_lengths_are_negative_or_overlong_in_the_named_rows)
{
    const int32_t           length   = 100;
    char                    err[256] = "";
    const struct case_param told     = {"told", "-1048576"};
    const struct case_param excess[] = {{"excess", "63"}, {"rows", "even"}};
    struct case_spec        spec     = {.family    = "test",
                                        .generator = "negative-lengths",
                                        .topk      = 8,
                                        .page_size = 64,
                                        .batch     = 4,
                                        .lengths   = &length,
                                        .n_lengths = 1,
                                        .params    = &told,
                                        .n_params  = 1};
    struct case_inputs inputs;
    cr_assert_eq(case_generate(&spec, &inputs, err, sizeof err), 0, "%s", err);
    for (int row = 0; row < 4; row++) {
        cr_assert_eq(inputs.seq_lens[row], row % 2 == 1 ? -1048576 : 100);
    }
    case_inputs_clear(&inputs);
    const struct case_param one_in_31[] = {{"told", "-4"}, {"rows", "one-in-31"}};
    spec.params   = one_in_31;
    spec.n_params = 2;
    spec.batch    = 62;
    cr_assert_eq(case_generate(&spec, &inputs, err, sizeof err), 0, "%s", err);
    for (int row = 0; row < 62; row++) {
        cr_assert_eq(inputs.seq_lens[row], row == 30 || row == 61 ? -4 : 100);
    }
    case_inputs_clear(&inputs);
    spec.batch     = 4;
    spec.generator = "overlong-lengths";
    spec.params    = excess;
    spec.n_params  = 2;
    cr_assert_eq(case_generate(&spec, &inputs, err, sizeof err), 0, "%s", err);
    for (int row = 0; row < 4; row++) {
        cr_assert_eq(inputs.seq_lens[row], row % 2 == 0 ? inputs.max_seq_len + 63 : 100);
    }
    case_inputs_clear(&inputs);
}
