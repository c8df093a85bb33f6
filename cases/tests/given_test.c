/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are given: their text, what becomes of it, and what is refused. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/case.h"
#include "cases/literal_text.h"
#include "cases/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_scores(const char *text, int32_t told, int64_t length, const uint32_t *bits, int64_t columns)
{
    struct literal_row row;
    uint32_t           scores[64];
    char               err[256] = "";
    cr_assert_eq(literal_read_scores(text, 64, &row, NULL, err, sizeof err), 0, "'%s': %s", text, err);
    cr_assert_eq(literal_read_scores(text, 64, &row, scores, err, sizeof err), 0);
    cr_assert_eq(row.told, told, "'%s': told %d", text, (int)row.told);
    cr_assert_eq(row.length, length);
    cr_assert_eq(row.columns, columns);
    for (int64_t i = 0; i < columns; i++) {
        cr_assert_eq(scores[i], bits[i], "'%s' [%d]: %08x", text, (int)i, (unsigned)scores[i]);
    }
}

Test(given, rows_of_scores_read_as_documented)
{
    assert_scores("1.5 x 3, 0x3f800001, -0, 2", 6, 6,
                  (const uint32_t[]){0x3fc00000, 0x3fc00000, 0x3fc00000, 0x3f800001, 0x80000000, 0x40000000}, 6);
    assert_scores("1, 2 | nan, inf x 2", 2, 2,
                  (const uint32_t[]){0x3f800000, 0x40000000, 0x7fc00000, 0x7f800000, 0x7f800000}, 5);
    assert_scores("1+1 x 3,-1+1x2", 5, 5, (const uint32_t[]){0x3f800000, 0x3f800001, 0x3f800002, 0xbf800000, 0xbf7fffff},
                  5);
    assert_scores("0-1 x 3", 3, 3, (const uint32_t[]){0, 0x80000000, 0x80000001}, 3);
    assert_scores("none", 0, 0, NULL, 0);
    assert_scores("-1: | 5", -1, 0, (const uint32_t[]){0x40a00000}, 1);
    assert_scores("99: 1 x 2\nrest", 99, 2, (const uint32_t[]){0x3f800000, 0x3f800000}, 2);
    assert_scores(" -inf, -nan ,1e-3", 3, 3, (const uint32_t[]){0xff800000, 0xffc00000, 0x3a83126f}, 3);
}

Test(given, mistakes_in_rows_are_quoted)
{
    static const char *const wrong[] = {"1 x 0",  "1 x",     "x 3",     "1,,2",     "1,",      "0x3f8", "-0x1",   "infinity",
                                        "1 2",    "1 | 2 |", "5: 1 x 5", "a: 1",     "1 x 65",  "1e99",  "1+x 3",  "0x3f8000001",
                                        "1 | 2 3", "none 1", "--1",      "1 x 2 x 3", "1 x 99999999999", "nanx", "+1", "1:2:3"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct literal_row row;
        char               err[256] = "";
        cr_assert_neq(literal_read_scores(wrong[i], 64, &row, NULL, err, sizeof err), 0, "'%s' was accepted", wrong[i]);
        cr_assert_neq(err[0], '\0');
    }
}

/* Whatever stands in a row, its text reads back as the same bits. */
Test(given, text_reads_back_bit_for_bit)
{
    for (uint64_t trial = 0; trial < 4000; trial++) {
        uint32_t      scores[40];
        int32_t       entries[40];
        const int64_t columns = random_below(random_bits(trial, 0, 0), 41);
        const int64_t length  = columns > 0 ? random_below(random_bits(trial, 0, 1), (uint32_t)columns + 1) : 0;
        for (int64_t i = 0; i < columns; i++) {
            /* Runs, steps, small whole numbers, and any bits at all, NaNs included. */
            const uint64_t bits = random_bits(trial, 1, (uint64_t)i);
            const float    small = (float)(bits % 7) - 3;
            switch (random_below(random_bits(trial, 2, (uint64_t)i), 5)) {
            case 0: scores[i] = (uint32_t)bits; break;
            case 1: memcpy(&scores[i], &small, sizeof small); break;
            case 2: scores[i] = i > 0 ? scores[i - 1] : 0x7f800000; break;
            default: scores[i] = i > 0 ? scores[i - 1] + 1 : 0xff800000; break;
            }
            entries[i] = (int32_t)scores[i];
        }
        const int32_t      told = trial % 5 == 0 ? -3 : trial % 7 == 0 ? 1000 : (int32_t)length;
        char              *text = literal_write_scores(scores, length, columns, told);
        char              *page_text = literal_write_pages(entries, columns);
        struct literal_row row;
        uint32_t           again[40];
        int32_t            entries_again[40];
        int64_t            n = 0;
        char               err[256] = "";
        cr_assert_not_null(text);
        cr_assert_not_null(page_text);
        cr_assert_eq(literal_read_scores(text, 40, &row, again, err, sizeof err), 0, "'%s': %s", text, err);
        cr_assert(row.told == told && row.length == length && row.columns == columns, "'%s'", text);
        cr_assert_eq(memcmp(again, scores, (size_t)columns * sizeof *scores), 0, "'%s'", text);
        cr_assert_eq(literal_read_pages(page_text, 40, &n, entries_again, err, sizeof err), 0, "'%s': %s", page_text, err);
        cr_assert(n == columns && memcmp(entries_again, entries, (size_t)n * sizeof *entries) == 0, "'%s'", page_text);
        free(text);
        free(page_text);
    }
}

Test(given, text_is_short_where_rows_are_plain)
{
    const uint32_t row[] = {0x40000000, 0x40000000, 0x40000000, 0x3f800000, 0x3f800001, 0x3f800002, 0x80000000, 0x7f800000};
    char          *text  = literal_write_scores(row, 7, 8, 7);
    cr_assert_str_eq(text, "2 x 3, 1+1 x 3, -0 | inf");
    free(text);
}

static struct case_spec spec_of(const struct case_param *params, size_t n_params, const int32_t *lengths, size_t n)
{
    return (struct case_spec){.family    = "test",
                              .generator = "literal",
                              .seed      = 1,
                              .topk      = 2,
                              .page_size = 2,
                              .batch     = (int32_t)n,
                              .lengths   = lengths,
                              .n_lengths = n,
                              .params    = params,
                              .n_params  = n_params};
}

Test(given, literal_rows_stand_where_they_are_written)
{
    const struct case_param params[] = {{"pages", "7, 3, -9\nnone"}, {"rows", "1, 2, 3 | 4\n-2: none"}};
    int32_t                *lengths  = NULL;
    size_t                  n        = 0;
    char                    err[256] = "";
    struct case_spec        spec     = spec_of(params, COUNT(params), NULL, 0);
    struct case_inputs      inputs   = {0};
    cr_assert_eq(case_given_lengths(&spec, &lengths, &n, err, sizeof err), 0, "%s", err);
    cr_assert(n == 2 && lengths[0] == 3 && lengths[1] == 0);
    spec = spec_of(params, COUNT(params), lengths, n);
    cr_assert_eq(case_generate(&spec, &inputs, err, sizeof err), 0, "%s", err);
    cr_assert(inputs.batch == 2 && inputs.max_seq_len == 3 && inputs.score_stride == 4 && inputs.page_table_stride == 3 &&
              inputs.base_shift == 0);
    cr_assert(inputs.seq_lens[0] == 3 && inputs.seq_lens[1] == -2);
    cr_assert(inputs.scores[2] == 0x40400000 && inputs.scores[3] == 0x40800000 && inputs.scores[4] == 0x7f800000);
    cr_assert(inputs.page_table[0] == 7 && inputs.page_table[1] == 3 && inputs.page_table[2] == -9);
    cr_assert_eq(case_input_bytes(&spec), (int64_t)(2 * (4 + 1 + 3) * 4));
    case_inputs_clear(&inputs);
    free(lengths);
}

Test(given, literal_mistakes_are_refused)
{
    static const struct {
        struct case_param params[2];
        const char       *words;
    } wrong[] = {
        {{{"rows", "1, x"}}, "row 0"},
        {{{"pages", "1\n2"}, {"rows", "1"}}, "2 rows for 1"},
        {{{"pages", "5, 5"}, {"rows", "1, 2, 3"}}, "page 5 stands there twice"},
        {{{"pages", "-1, 5"}, {"rows", "1, 2, 3"}}, "page -1"},
        {{{"pages", "1"}, {"rows", "1, 2, 3"}}, "with page_size 2 it needs 2"},
        {{{"rows", "5: 1, 2\n1 x 9"}}, "beyond the row width"},
        {{{"rows", "1 x 2147483647"}}, "more than"},
        {{{"stride_extra", "0"}, {"rows", "1 | 2"}}, "the stride is 1"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const int32_t      lengths[2] = {1, 1};
        const size_t       n_params   = wrong[i].params[1].name != NULL ? 2 : 1;
        struct case_spec   spec       = spec_of(wrong[i].params, n_params, lengths, 1);
        struct case_inputs inputs     = {0};
        char               err[512]   = "";
        spec.batch = strchr(wrong[i].params[n_params - 1].text, '\n') != NULL ? 2 : 1;
        cr_assert_neq(case_generate(&spec, &inputs, err, sizeof err), 0, "case %zu was accepted", i);
        cr_assert_not_null(strstr(err, wrong[i].words), "case %zu: '%s' lacks '%s'", i, err, wrong[i].words);
    }
}
