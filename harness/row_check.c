/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on one row; see row_check.h. */
#include "harness/row_check.h"

#include "harness/claims.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a check of one row needs to hand around. */
struct checking {
    const struct problem *problem;
    int32_t               row, count, promised, topk;
    const int32_t        *expected_raw, *expected_pages, *table;
    const uint32_t       *scores;
    struct row_outputs    outputs;
    struct row_check     *check;
};

static bool wrong(struct checking *checking, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct checking *checking, const char *format, ...)
{
    va_list arguments;
    if (checking->check->text[0])
        return false;
    va_start(arguments, format);
    vsnprintf(checking->check->text, sizeof checking->check->text, format, arguments);
    va_end(arguments);
    return false;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int ascending_keys(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct checking checking_of(const struct problem *problem, int32_t row, struct row_outputs outputs)
{
    const struct case_inputs *inputs = &problem->inputs;
    return (struct checking){
        .problem = problem,
        .row = row,
        .count = problem->counts[row],
        .promised = problem_promised_slots(problem, row),
        .topk = inputs->topk,
        .expected_raw = problem->raw + (int64_t)row * inputs->topk,
        .expected_pages = problem->pages + (int64_t)row * inputs->topk,
        .table = inputs->page_table + (int64_t)row * inputs->page_table_stride,
        .scores = inputs->scores + (int64_t)row * inputs->score_stride,
        .outputs = outputs,
    };
}

static bool is_written(struct checking *checking, const int32_t *slots, const char *name, uint32_t poison)
{
    for (int32_t j = 0; slots && j < checking->promised; j++)
        if ((uint32_t)slots[j] == poison)
            return wrong(checking, "%s[%d] was never written", name, j);
    return true;
}

static bool has_same_bytes(const struct checking *checking)
{
    size_t bytes = (size_t)checking->promised * sizeof(int32_t);
    return (!checking->outputs.raw || memcmp(checking->outputs.raw, checking->expected_raw, bytes) == 0) &&
           (!checking->outputs.pages || memcmp(checking->outputs.pages, checking->expected_pages, bytes) == 0);
}

/* Slots behind the selected ones hold -1 where the padding is promised. */
static bool padding_is_right(struct checking *checking, const int32_t *slots, const char *name)
{
    for (int32_t j = checking->count; slots && j < checking->promised; j++)
        if (slots[j] != -1)
            return wrong(checking, "%s[%d] is %d where -1 pads the row (%d indices to select)", name, j, slots[j],
                         checking->count);
    return true;
}

/* Each selected slot names a column of the row; the logical indices go to `selected`. */
static bool read_indices(struct checking *checking, int32_t *selected)
{
    const struct case_inputs *inputs = &checking->problem->inputs;
    int32_t                   length = checking->problem->lengths[checking->row];
    for (int32_t j = 0; j < checking->count; j++) {
        int32_t page = checking->outputs.pages ? checking->outputs.pages[j] : 0;
        int32_t index = checking->outputs.raw ? checking->outputs.raw[j]
                                              : problem_index_of_page(checking->problem, checking->row, page);
        if (!checking->outputs.raw && index < 0)
            return wrong(checking, "page_indices[%d] is %d, which the row's page table maps from no column", j, page);
        if (index < 0 || index >= length)
            return wrong(checking, "%s[%d] is index %d, outside the row's 0 .. %d",
                         checking->outputs.raw ? "raw_indices" : "page_indices", j, index, length - 1);
        if (checking->outputs.raw && checking->outputs.pages) {
            int32_t mapped = checking->table[index / inputs->page_size] * inputs->page_size + index % inputs->page_size;
            if (mapped != page)
                return wrong(checking, "page_indices[%d] is %d, but raw_indices[%d] = %d maps to %d", j, page, j, index,
                             mapped);
        }
        selected[j] = index;
    }
    return true;
}

static bool are_distinct(struct checking *checking, const int32_t *sorted)
{
    for (int32_t j = 1; j < checking->count; j++)
        if (sorted[j] == sorted[j - 1])
            return wrong(checking, "index %d is selected twice", sorted[j]);
    return true;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

/* NaN of any rank: the other selected scores must still be the best of the others. Writes what the set would be given
 * the NaN that were taken; false when memory runs out. */
static bool expected_beside_nan(const struct checking *checking, const int32_t *sorted, int32_t *expected)
{
    struct reference_rules rules = claims_rules(&checking->problem->claims);
    int32_t                taken = 0, n = 0;
    rules.nan = REFERENCE_NAN_NEVER;
    for (int32_t j = 0; j < checking->count; j++)
        if (is_nan(checking->scores[sorted[j]]))
            expected[taken++] = sorted[j];
    if (taken < checking->count)
        n = reference_select(checking->scores, checking->problem->lengths[checking->row], checking->count - taken,
                             &rules, expected + taken);
    for (int32_t j = taken + (n < 0 ? 0 : n); j < checking->count; j++)
        expected[j] = -1;
    qsort(expected, (size_t)checking->count, sizeof *expected, ascending);
    return n >= 0;
}

/* Compares the multisets of keys behind two index lists. `keys` holds 2 * topk. */
static bool same_keys(struct checking *checking, const int32_t *selected, const int32_t *expected, uint32_t *keys)
{
    struct reference_rules rules = claims_rules(&checking->problem->claims);
    size_t                 n = (size_t)checking->count;
    uint32_t              *ours = keys, *theirs = keys + checking->topk;
    for (size_t j = 0; j < n; j++) {
        ours[j] = reference_key(checking->scores[selected[j]], &rules);
        theirs[j] = expected[j] < 0 ? 0 : reference_key(checking->scores[expected[j]], &rules);
    }
    qsort(ours, n, sizeof *ours, ascending_keys);
    qsort(theirs, n, sizeof *theirs, ascending_keys);
    if (memcmp(ours, theirs, n * sizeof *ours) == 0)
        return true;
    size_t wrong_keys = 0;
    for (size_t i = 0, j = 0; i < n && j < n;) {
        if (ours[i] == theirs[j]) {
            i++;
            j++;
        } else if (ours[i] < theirs[j]) {
            wrong_keys++;
            i++;
        } else
            j++;
    }
    return wrong(checking, "the selected scores are not the row's best %d: at least %zu should not be there",
                 checking->count, wrong_keys ? wrong_keys : 1);
}

/* Everything that level `valid` asks of a row whose bytes are not the reference's. */
static bool is_valid(struct checking *checking, int32_t *scratch)
{
    const struct topk_claims *claims = &checking->problem->claims;
    int32_t                  *sorted = scratch, *expected = scratch + checking->topk;
    uint32_t                 *keys = (uint32_t *)scratch + 2 * (size_t)checking->topk;
    if (!padding_is_right(checking, checking->outputs.raw, "raw_indices") ||
        !padding_is_right(checking, checking->outputs.pages, "page_indices") || !read_indices(checking, sorted))
        return false;
    qsort(sorted, (size_t)checking->count, sizeof *sorted, ascending);
    if (!are_distinct(checking, sorted))
        return false;
    memcpy(expected, checking->expected_raw, (size_t)checking->count * sizeof *expected);
    checking->check->exact_set = memcmp(sorted, expected, (size_t)checking->count * sizeof *sorted) == 0;
    if (checking->check->exact_set)
        return true;
    if (claims->nan == TOPK_NAN_ANY && !expected_beside_nan(checking, sorted, expected))
        return wrong(checking, "out of memory while checking");
    if (!same_keys(checking, sorted, expected, keys))
        return false;
    if (claims->tie == TOPK_TIE_LOWEST && memcmp(sorted, expected, (size_t)checking->count * sizeof *sorted) != 0)
        return wrong(checking, "among equal scores at the cut it is not the lowest indices that are selected");
    return true;
}

struct row_check row_check(const struct problem *problem, int32_t row, struct row_outputs outputs, uint32_t poison,
                           int32_t *scratch)
{
    struct row_check check = {0};
    struct checking  checking = checking_of(problem, row, outputs);
    checking.check = &check;
    if (has_same_bytes(&checking)) {
        check.written = check.valid = check.exact_set = check.canonical = true;
        return check;
    }
    check.written = is_written(&checking, outputs.raw, "raw_indices", poison) &&
                    is_written(&checking, outputs.pages, "page_indices", poison);
    check.valid = check.written && is_valid(&checking, scratch);
    if (check.valid)
        wrong(&checking, check.exact_set ? "the set is right, but its order is not ascending"
                                         : "a valid selection, but not the reference's");
    return check;
}

void row_sorted_set(const struct problem *problem, int32_t row, struct row_outputs outputs, int32_t *sorted)
{
    int32_t       count = problem->counts[row];
    size_t        bytes = (size_t)count * sizeof *sorted;
    const int64_t first = (int64_t)row * problem->inputs.topk;
    /* The reference's own bytes are sorted; looking up each page in a table of single-entry pages takes long. */
    if (!outputs.raw && memcmp(outputs.pages, problem->pages + first, bytes) == 0) {
        memcpy(sorted, problem->raw + first, bytes);
        return;
    }
    for (int32_t j = 0; j < count; j++)
        sorted[j] = outputs.raw ? outputs.raw[j] : problem_index_of_page(problem, row, outputs.pages[j]);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
}

/* The score at the cut and how many equal it. */
static void explain_cut(const struct checking *checking, struct row_difference *difference)
{
    struct reference_rules rules = claims_rules(&checking->problem->claims);
    int32_t                length = difference->length;
    uint32_t               lowest = UINT32_MAX, bits = 0;
    snprintf(difference->cut_value, sizeof difference->cut_value, "none");
    if (length <= checking->topk || checking->count == 0)
        return;
    for (int32_t j = 0; j < checking->count; j++) {
        uint32_t score = checking->scores[checking->expected_raw[j]], key = reference_key(score, &rules);
        if (key <= lowest) {
            lowest = key;
            bits = score;
        }
    }
    for (int32_t i = 0; i < length; i++)
        difference->cut_equal += reference_selectable(checking->scores[i], &rules) &&
                                 reference_key(checking->scores[i], &rules) == lowest;
    float value;
    memcpy(&value, &bits, sizeof value);
    snprintf(difference->cut_value, sizeof difference->cut_value, "%.9g (0x%08" PRIx32 ")", (double)value, bits);
}

void row_explain(const struct problem *problem, int32_t row, struct row_outputs outputs, const char *text,
                 int32_t *scratch, struct row_difference *difference)
{
    struct checking checking = checking_of(problem, row, outputs);
    memset(difference, 0, sizeof *difference);
    difference->row = row;
    difference->length = problem->lengths[row];
    difference->topk = checking.topk;
    snprintf(difference->text, sizeof difference->text, "%s", text);
    explain_cut(&checking, difference);
    row_sorted_set(problem, row, outputs, scratch);
    /* A merge of two ascending lists. Slots that map to nothing are extra under the number -1. */
    int32_t i = 0, j = 0, n = checking.count;
    while (i < n || j < n) {
        int32_t ours = i < n ? scratch[i] : INT32_MAX, theirs = j < n ? checking.expected_raw[j] : INT32_MAX;
        if (ours == theirs) {
            i++;
            j++;
        } else if (ours < theirs) {
            if (difference->n_extra < ROW_LISTED_INDICES)
                difference->extra[difference->n_extra] = ours;
            difference->n_extra++;
            i++;
        } else {
            if (difference->n_missing < ROW_LISTED_INDICES)
                difference->missing[difference->n_missing] = theirs;
            difference->n_missing++;
            j++;
        }
    }
}
