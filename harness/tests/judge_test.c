/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge, shown providers that break one promise each: the level reached is the one below, the reason says what,
 * and a provider that keeps its promises passes. Every mutation of an answer must be seen.
 */
#include "harness/claims.h"
#include "harness/judge.h"
#include "harness/provider_load.h"
#include "reference/reference.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the spoilt provider does to the reference's answer. */
enum spoil {
    SPOIL_NOTHING,
    SPOIL_RETURN_ERROR,
    SPOIL_WRITE_BEFORE,
    SPOIL_WRITE_BEHIND,
    SPOIL_WRITE_SCORE,
    SPOIL_LEAVE_SLOT,
    SPOIL_LEAVE_PADDING,
    SPOIL_ONE_WRONG_INDEX,
    SPOIL_DUPLICATE,
    SPOIL_OUT_OF_RANGE,
    SPOIL_PAGE_ONLY,
    SPOIL_PADDING_ZERO,
    SPOIL_SWAP_EVERY_SECOND,
    SPOIL_OTHER_TIE_EVERY_SECOND,
    SPOIL_HIGHEST_TIE,
    SPOIL_BY_WORKSPACE,
    SPOIL_BY_STRIDE,
    SPOIL_BY_NEIGHBOUR,
    SPOIL_BY_BASE,
    SPOIL_REVERSED_ORDER,
    SPOIL_STALE_ROW,
    SPOIL_WRITE_FAR_BEHIND,
    SPOIL_LAST_ROW_ALONE,
    SPOIL_AT_END,
    SPOIL_TWIN_ROWS,
    SPOIL_TOPK_23,
    SPOIL_TOPK_40,
    SPOIL_LENGTH_77,
    SPOIL_BATCH_5
};

static enum spoil spoil;
static int        launches;
static int32_t    family_launches; /* that the family of the case asks for */
static float      last_row[4096]; /* of the first launch */
static int32_t    stale[4096];

static size_t no_workspace_bytes(void *self, const struct topk_problem *problem)
{
    (void)self;
    (void)problem;
    return 64;
}

static void swap(int32_t *slots, int32_t i, int32_t j)
{
    if (slots) {
        int32_t slot = slots[i];
        slots[i] = slots[j];
        slots[j] = slot;
    }
}

/* Swaps one selected index of row 0 for another with an equal score, which the two-valued rows of the test have. */
static void take_another_tie(const struct topk_problem *p)
{
    int32_t length = p->seq_lens[0];
    for (int32_t i = length - 1; i >= 0; i--) {
        bool selected = false;
        for (int32_t j = 0; j < p->topk; j++)
            selected |= p->raw_indices[j] == i;
        for (int32_t j = p->topk - 1; j >= 0 && !selected; j--)
            if (memcmp(&p->scores[i], &p->scores[p->raw_indices[j]], sizeof(float)) == 0) {
                p->raw_indices[j] = i;
                p->page_indices[j] = p->page_table[i / p->page_size] * p->page_size + i % p->page_size;
                return;
            }
    }
}

static bool is_row(const struct topk_problem *p, int32_t row, const float *scores)
{
    return memcmp(p->scores + row * p->score_stride, scores, (size_t)p->seq_lens[row] * sizeof *scores) == 0;
}

static void spoil_row_zero(const struct topk_problem *p)
{
    int32_t last = p->topk - 1;
    switch (spoil) {
    case SPOIL_WRITE_BEFORE:
        p->raw_indices[-1] = 7;
        break;
    case SPOIL_WRITE_BEHIND:
        p->page_indices[(int64_t)p->batch * p->topk + 3] = 7;
        break;
    case SPOIL_WRITE_SCORE:
        ((float *)(uintptr_t)p->scores)[5] = 1.0f;
        break;
    case SPOIL_ONE_WRONG_INDEX: {
        /* the smallest wrong there is: one index taken for a score that is not among the best */
        int32_t i = 0, j = 0;
        while (p->raw_indices[j] == i) {
            i++;
            j++;
        }
        p->raw_indices[last] = i;
        p->page_indices[last] = p->page_table[i / p->page_size] * p->page_size + i % p->page_size;
        break;
    }
    case SPOIL_DUPLICATE:
        p->raw_indices[1] = p->raw_indices[0];
        p->page_indices[1] = p->page_indices[0];
        break;
    case SPOIL_OUT_OF_RANGE:
        p->raw_indices[last] = p->seq_lens[0];
        break;
    case SPOIL_PAGE_ONLY:
        p->page_indices[2]++;
        break;
    case SPOIL_SWAP_EVERY_SECOND:
        if (launches % 2) {
            swap(p->raw_indices, 0, 1);
            swap(p->page_indices, 0, 1);
        }
        break;
    case SPOIL_OTHER_TIE_EVERY_SECOND:
        if (launches % 2)
            take_another_tie(p);
        break;
    case SPOIL_HIGHEST_TIE:
        take_another_tie(p);
        break;
    case SPOIL_BY_WORKSPACE:
        if (*(const int32_t *)p->workspace == 0)
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_BY_STRIDE:
        if (p->score_stride % 2 == 0)
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_BY_NEIGHBOUR:
        if (p->batch == 1)
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_BY_BASE:
        if ((uintptr_t)p->scores % 8)
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_WRITE_FAR_BEHIND: /* past the guard band */
        p->page_indices[(int64_t)p->batch * p->topk + (GUARD_BYTES + 256) / 4] = 7;
        break;
    case SPOIL_LAST_ROW_ALONE:
        if (p->batch == 1 && is_row(p, 0, last_row))
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_AT_END: /* behind the last row there is no memory */
        if ((uintptr_t)(p->scores + p->batch * p->score_stride) % 4096 == 0)
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_TWIN_ROWS:
        if (p->batch > 1 && is_row(p, 1, p->scores))
            swap(p->raw_indices, 0, 1), swap(p->page_indices, 0, 1);
        break;
    case SPOIL_TOPK_23:
    case SPOIL_TOPK_40:
    case SPOIL_LENGTH_77:
    case SPOIL_BATCH_5:
        if (spoil == SPOIL_TOPK_23   ? p->topk == 23
            : spoil == SPOIL_TOPK_40 ? p->topk == 40
            : spoil == SPOIL_LENGTH_77 ? p->seq_lens[0] == 77
                                       : p->batch == 5)
            p->raw_indices[1] = p->raw_indices[0];
        break;
    case SPOIL_REVERSED_ORDER:
        for (int32_t i = 0, j = last; i < j; i++, j--) {
            swap(p->raw_indices, i, j);
            swap(p->page_indices, i, j);
        }
        break;
    default:
        break;
    }
}

static int spoilt_launch(void *self, const struct topk_problem *p, char *err, size_t err_size)
{
    launches++;
    if (launches == 1)
        memcpy(last_row, p->scores + (p->batch - 1) * p->score_stride, (size_t)p->seq_lens[p->batch - 1] * sizeof *last_row);
    if (spoil == SPOIL_RETURN_ERROR) {
        snprintf(err, err_size, "it broke");
        return 5;
    }
    struct topk_problem inner = *p;
    int32_t             room[4096];
    inner.workspace = room;
    if (provider_reference.launch(self, &inner, err, err_size))
        return 1;
    if (spoil == SPOIL_LEAVE_SLOT || spoil == SPOIL_LEAVE_PADDING) {
        int32_t slot = spoil == SPOIL_LEAVE_SLOT ? 0 : p->topk - 1;
        memcpy(&p->raw_indices[slot], &guard_patterns[launches % N_PATTERNS], sizeof(int32_t));
    }
    if (spoil == SPOIL_PADDING_ZERO)
        p->raw_indices[p->topk - 1] = 0;
    if (spoil == SPOIL_STALE_ROW) { /* answers with the launch before it, where that fits */
        int32_t now[4096];
        memcpy(now, p->raw_indices, (size_t)p->topk * sizeof *now);
        if (launches > 1 && p->batch == 1)
            memcpy(p->raw_indices, stale, (size_t)p->topk * sizeof *now);
        memcpy(stale, now, (size_t)p->topk * sizeof *now);
    }
    spoil_row_zero(p);
    return 0;
}

/* A case of two-valued rows with a tie at the cut. `length` <= topk makes a short row. */
static struct judgement judge_spoilt(enum spoil how, enum topk_level promise, enum topk_tie tie, int32_t length,
                                     int32_t batch)
{
    static const struct case_param params[] = {{"boundary", "inside-plateau"}, {"distinct", "2"}};
    const int32_t           lengths[] = {length};
    struct sweep            sweeps[] = {{AXIS_TOPK, 1, 40, 1}, {AXIS_LENGTH, 70, 80, 1}, {AXIS_BATCH, 1, 9, 2}};
    struct family           family = {.id = "judge-test", .generator = "ties", .sweeps = sweeps,
                                       .launches = family_launches};
    struct concrete_case    concrete = {.name = "judge-test/one",
                                        .family = &family,
                                        .outputs = OUTPUTS_PAGE_RAW,
                                        .spec = {.family = "judge-test",
                                                 .generator = "ties",
                                                 .seed = 1,
                                                 .topk = 16,
                                                 .page_size = 4,
                                                 .batch = batch,
                                                 .lengths = lengths,
                                                 .n_lengths = 1,
                                                 .params = params,
                                                 .n_params = 2}};
    struct topk_provider    provider = provider_reference;
    struct device           device;
    struct error            err = {0};
    struct judgement        judgement;
    family.n_sweeps = how >= SPOIL_TOPK_23 ? 3 : 0;
    provider.launch = spoilt_launch;
    provider.workspace_bytes = no_workspace_bytes;
    provider.claims = (struct topk_claims){.level = promise, .tie = tie};
    spoil = how;
    launches = 0;
    cr_assert_eq(device_open(&device, "host", &err), STATUS_OK, "%s", err.text);
    struct launch_bench bench = {.device = &device, .provider = &provider};
    judge_case(&bench, &concrete, 3, &judgement);
    launch_bench_clear(&bench);
    device_close(&device);
    cr_assert_geq(launches, 1);
    return judgement;
}

static void expect_level(enum spoil how, enum topk_level reached, const char *reason)
{
    int32_t          length = how == SPOIL_LEAVE_PADDING || how == SPOIL_PADDING_ZERO ? 10 : 101;
    struct judgement judgement = judge_spoilt(how, TOPK_LEVEL_CANONICAL, TOPK_TIE_LOWEST, length,
                                              how == SPOIL_STALE_ROW || how == SPOIL_REVERSED_ORDER ? 1 : 3);
    cr_expect_eq(judgement.verdict, VERDICT_FAIL, "spoil %d passed", how);
    cr_expect_eq(judgement.level, reached, "spoil %d reached %s: %s", how, level_text(judgement.level),
                 judgement.reason);
    cr_expect(strstr(judgement.reason, reason), "spoil %d: '%s' does not say '%s'", how, judgement.reason, reason);
}

Test(judge, an_unspoilt_answer_is_canonical)
{
    for (int32_t batch = 1; batch <= 3; batch++) {
        struct judgement judgement = judge_spoilt(SPOIL_NOTHING, TOPK_LEVEL_CANONICAL, TOPK_TIE_LOWEST, 101, batch);
        cr_assert_eq(judgement.verdict, VERDICT_PASS, "%s", judgement.reason);
        cr_assert_eq(judgement.level, TOPK_LEVEL_CANONICAL);
        cr_assert_eq(judgement.set_exact, 1);
        cr_assert_str_empty(judgement.reason);
        cr_assert_eq(strlen(judgement.output_digest), 32);
        cr_assert_geq(launches, 3 + 2 + 3, "the plan was not followed");
    }
}

/* The device's number, three on gigabytes, and whatever more a person or the family asks for. */
Test(judge, the_number_of_repeats)
{
    const int32_t        long_row[] = {1 << 28}, longer_row[] = {(1 << 28) + 1}, rows[] = {1, 1 << 20, 7};
    struct family        family = {.id = "f"};
    struct concrete_case large = {.family = &family, .spec = {.batch = 1, .lengths = longer_row, .n_lengths = 1}},
                         small = {.family = &family, .spec = {.batch = 1, .lengths = long_row, .n_lengths = 1}},
                         wide = {.family = &family, .spec = {.batch = 257, .lengths = rows, .n_lengths = 3}};
    const struct device gpu = {.default_repeats = 10}, host = {.default_repeats = 3}, quick = {.default_repeats = 2};
    cr_expect_eq(judge_repeats(&gpu, &small, 0), 10);
    cr_expect_eq(judge_repeats(&gpu, &large, 0), 3);
    cr_expect_eq(judge_repeats(&gpu, &wide, 0), 3, "the batch counts");
    cr_expect_eq(judge_repeats(&host, &large, 0), 3);
    cr_expect_eq(judge_repeats(&quick, &large, 0), 2, "never more for being large");
    cr_expect_eq(judge_repeats(&gpu, &small, 9), 10);
    cr_expect_eq(judge_repeats(&gpu, &small, 11), 11);
    cr_expect_eq(judge_repeats(&gpu, &large, 4), 4);
    family.launches = 200;
    cr_expect_eq(judge_repeats(&gpu, &small, 11), 200);
    cr_expect_eq(judge_repeats(&gpu, &large, 0), 200);
    cr_expect_eq(judge_repeats(&gpu, &small, 300), 300);
}

Test(judge, a_family_is_launched_as_often_as_it_asks)
{
    int before = 0;
    judge_spoilt(SPOIL_NOTHING, TOPK_LEVEL_CANONICAL, TOPK_TIE_LOWEST, 101, 3);
    before = launches;
    family_launches = 40;
    struct judgement judgement = judge_spoilt(SPOIL_NOTHING, TOPK_LEVEL_CANONICAL, TOPK_TIE_LOWEST, 101, 3);
    family_launches = 0;
    cr_expect_eq(judgement.verdict, VERDICT_PASS, "%s", judgement.reason);
    cr_expect_eq(judgement.repeats, 40);
    cr_expect_eq(launches, before + 37, "3 launches became 40, but %d were %d", before, launches);
}

Test(judge, unsafe_answers_reach_no_level)
{
    expect_level(SPOIL_RETURN_ERROR, TOPK_LEVEL_NONE, "launch returned 5: it broke");
    expect_level(SPOIL_WRITE_BEFORE, TOPK_LEVEL_NONE, "4 bytes before the start of raw_indices");
    expect_level(SPOIL_WRITE_BEHIND, TOPK_LEVEL_NONE, "behind the end of page_indices (12 bytes past it)");
    expect_level(SPOIL_WRITE_SCORE, TOPK_LEVEL_NONE, "changed its input scores at element 5");
    expect_level(SPOIL_LEAVE_SLOT, TOPK_LEVEL_NONE, "raw_indices[0] was never written");
    expect_level(SPOIL_LEAVE_PADDING, TOPK_LEVEL_NONE, "raw_indices[15] was never written");
}

Test(judge, a_write_past_the_guard_bands_is_seen)
{
    expect_level(SPOIL_WRITE_FAR_BEHIND, TOPK_LEVEL_NONE, "bytes past the end of page_indices");
}

Test(judge, a_sweep_finds_what_is_wrong_at_one_value)
{
    expect_level(SPOIL_TOPK_23, TOPK_LEVEL_SAFE, "the case with topk 23");
    expect_level(SPOIL_TOPK_40, TOPK_LEVEL_SAFE, "the case with topk 40"); /* its last */
    expect_level(SPOIL_LENGTH_77, TOPK_LEVEL_SAFE, "the case with length 77");
    expect_level(SPOIL_BATCH_5, TOPK_LEVEL_SAFE, "the case with batch 5");
}

Test(judge, wrong_answers_are_safe_and_no_more)
{
    expect_level(SPOIL_ONE_WRONG_INDEX, TOPK_LEVEL_SAFE, "not the row's best 16");
    expect_level(SPOIL_DUPLICATE, TOPK_LEVEL_SAFE, "is selected twice");
    expect_level(SPOIL_OUT_OF_RANGE, TOPK_LEVEL_SAFE, "outside the row's 0 .. 100");
    expect_level(SPOIL_PAGE_ONLY, TOPK_LEVEL_SAFE, "maps to");
    expect_level(SPOIL_PADDING_ZERO, TOPK_LEVEL_SAFE, "where -1 pads the row");
    expect_level(SPOIL_HIGHEST_TIE, TOPK_LEVEL_SAFE, "not the lowest indices");
    expect_level(SPOIL_STALE_ROW, TOPK_LEVEL_SAFE, "the row reversed");
}

Test(judge, unrepeatable_answers_stop_at_their_level)
{
    expect_level(SPOIL_SWAP_EVERY_SECOND, TOPK_LEVEL_SET_REPEATABLE, "the same set in another order");
    expect_level(SPOIL_BY_WORKSPACE, TOPK_LEVEL_REPEATABLE, "another base and stride");
    expect_level(SPOIL_BY_STRIDE, TOPK_LEVEL_REPEATABLE, "other bytes");
    expect_level(SPOIL_BY_NEIGHBOUR, TOPK_LEVEL_REPEATABLE, "alone");
    expect_level(SPOIL_BY_BASE, TOPK_LEVEL_REPEATABLE, "base");
    expect_level(SPOIL_LAST_ROW_ALONE, TOPK_LEVEL_REPEATABLE, "the last row alone");
    expect_level(SPOIL_AT_END, TOPK_LEVEL_REPEATABLE, "inputs at the end of memory");
    expect_level(SPOIL_TWIN_ROWS, TOPK_LEVEL_REPEATABLE, "every second row replaced by the first");
    expect_level(SPOIL_REVERSED_ORDER, TOPK_LEVEL_INVARIANT, "not ascending");
}

Test(judge, any_tie_is_right_where_it_is_claimed)
{
    struct judgement judgement = judge_spoilt(SPOIL_HIGHEST_TIE, TOPK_LEVEL_VALID, TOPK_TIE_ANY, 101, 3);
    cr_assert_eq(judgement.verdict, VERDICT_PASS, "%s", judgement.reason);
    cr_assert_eq(judgement.set_exact, 0);
    judgement = judge_spoilt(SPOIL_OTHER_TIE_EVERY_SECOND, TOPK_LEVEL_VALID, TOPK_TIE_ANY, 101, 3);
    cr_assert_eq(judgement.verdict, VERDICT_PASS, "%s", judgement.reason);
    cr_assert_eq(judgement.level, TOPK_LEVEL_VALID, "the level reached is found beyond the promise");
    judgement = judge_spoilt(SPOIL_OTHER_TIE_EVERY_SECOND, TOPK_LEVEL_SET_REPEATABLE, TOPK_TIE_ANY, 101, 3);
    cr_assert_eq(judgement.verdict, VERDICT_FAIL);
    cr_assert(strstr(judgement.reason, "another set"), "%s", judgement.reason);
}

Test(judge, a_difference_names_cut_missing_and_extra)
{
    struct judgement judgement = judge_spoilt(SPOIL_ONE_WRONG_INDEX, TOPK_LEVEL_CANONICAL, TOPK_TIE_LOWEST, 101, 2);
    cr_assert_eq(judgement.n_differences, 1);
    const struct row_difference *d = &judgement.differences[0];
    cr_assert_eq(d->row, 0);
    cr_assert_eq(d->length, 101);
    cr_assert_eq(d->topk, 16);
    cr_assert_eq(d->n_missing, 1);
    cr_assert_eq(d->n_extra, 1);
    cr_assert_gt(d->cut_equal, 1, "the cut lies inside a plateau");
    cr_assert_str_neq(d->cut_value, "none");
}
