/* SPDX-License-Identifier: Apache-2.0 */
/* A problem with its answer; see problem.h. */
#include "harness/problem.h"

#include "harness/claims.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int32_t effective_length(const struct case_inputs *inputs, int32_t row)
{
    int32_t length = inputs->seq_lens[row];
    return length < 0 ? 0 : length > inputs->max_seq_len ? inputs->max_seq_len : length;
}

/* One row by both references. */
static enum status answer_row(struct problem *problem, int32_t row, int32_t *second, struct error *err)
{
    const struct case_inputs *inputs = &problem->inputs;
    struct reference_rules    rules = claims_rules(&problem->claims);
    const uint32_t           *scores = inputs->scores + (int64_t)row * inputs->score_stride;
    int32_t                  *raw = problem->raw + (int64_t)row * inputs->topk;
    int32_t                   n = problem->lengths[row];
    problem->counts[row] = reference_select(scores, n, inputs->topk, &rules, raw);
    int32_t count = reference_select_by_counting(scores, n, inputs->topk, &rules, second);
    if (problem->counts[row] < 0 || count < 0)
        return error_no_memory(err);
    if (count != problem->counts[row] || memcmp(raw, second, (size_t)inputs->topk * sizeof *raw) != 0)
        return error_set(err, STATUS_BOOKS,
                         "the two references differ on row %d (length %d, topk %d): a defect of this suite", row, n,
                         inputs->topk);
    reference_map_pages(raw, inputs->topk, inputs->page_table + (int64_t)row * inputs->page_table_stride,
                        inputs->page_size, problem->pages + (int64_t)row * inputs->topk);
    return STATUS_OK;
}

/* Rows of a problem for one thread: every n_threads-th, from `first`. */
struct share {
    struct problem *problem;
    int32_t         first, n_threads;
    struct error    error;
};

static void *answer_share(void *argument)
{
    struct share *share = argument;
    int32_t      *second = malloc((size_t)share->problem->inputs.topk * sizeof *second);
    if (!second) {
        error_no_memory(&share->error);
        return NULL;
    }
    for (int32_t row = share->first; row < share->problem->inputs.batch && !share->error.status; row += share->n_threads)
        answer_row(share->problem, row, second, &share->error);
    free(second);
    return NULL;
}

/* How many threads: one, unless the problem is so large that its worker has the machine to itself. */
static int32_t count_threads(const struct case_inputs *inputs)
{
    enum { MAX_THREADS = 32 };
    cpu_set_t cores;
    if ((int64_t)inputs->batch * inputs->max_seq_len < INT64_C(1) << 27 || sched_getaffinity(0, sizeof cores, &cores) != 0)
        return 1;
    int32_t n = CPU_COUNT(&cores);
    return n < 1 ? 1 : n < MAX_THREADS ? n : MAX_THREADS;
}

static enum status answer_rows(struct problem *problem, struct error *err)
{
    int32_t       n = count_threads(&problem->inputs), started = 1;
    struct share *shares = calloc((size_t)n, sizeof *shares);
    pthread_t    *threads = calloc((size_t)n, sizeof *threads);
    if (!shares || !threads) {
        error_no_memory(err);
        goto done;
    }
    for (int32_t t = 0; t < n; t++)
        shares[t] = (struct share){.problem = problem, .first = t, .n_threads = n};
    while (started < n && pthread_create(&threads[started], NULL, answer_share, &shares[started]) == 0)
        started++;
    answer_share(&shares[0]);
    for (int32_t t = 1; t < n; t++) {
        if (t < started)
            pthread_join(threads[t], NULL);
        else
            answer_share(&shares[t]); /* a thread that could not be had */
    }
    for (int32_t t = 0; t < n; t++)
        if (shares[t].error.status)
            error_set(err, shares[t].error.status, "%s", shares[t].error.text);
done:
    free(shares);
    free(threads);
    return err->status;
}

enum status problem_make(struct problem *problem, struct case_inputs *inputs, const struct topk_claims *claims,
                         struct error *err)
{
    size_t rows = (size_t)inputs->batch, slots = rows * (size_t)inputs->topk;
    *problem = (struct problem){.inputs = *inputs, .claims = *claims};
    memset(inputs, 0, sizeof *inputs);
    problem->lengths = malloc(rows * sizeof *problem->lengths);
    problem->counts = malloc(rows * sizeof *problem->counts);
    problem->raw = malloc(slots * sizeof *problem->raw);
    problem->pages = malloc(slots * sizeof *problem->pages);
    if (!problem->lengths || !problem->counts || !problem->raw || !problem->pages) {
        problem_clear(problem);
        return error_no_memory(err);
    }
    for (int32_t row = 0; row < problem->inputs.batch; row++)
        problem->lengths[row] = effective_length(&problem->inputs, row);
    if (answer_rows(problem, err))
        problem_clear(problem);
    return err->status;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes ? bytes : 1);
    return to && bytes ? memcpy(to, from, bytes) : to;
}

enum status problem_copy_inputs(const struct case_inputs *from, struct case_inputs *inputs, struct error *err)
{
    *inputs = *from;
    inputs->scores = copy_of(from->scores, case_scores_bytes(inputs));
    inputs->seq_lens = copy_of(from->seq_lens, case_seq_lens_bytes(inputs));
    inputs->page_table = copy_of(from->page_table, case_page_table_bytes(inputs));
    if (inputs->scores && inputs->seq_lens && inputs->page_table)
        return STATUS_OK;
    case_inputs_clear(inputs);
    return error_no_memory(err);
}

enum status problem_reversed(const struct problem *from, struct problem *to, struct error *err)
{
    struct case_inputs inputs;
    if (problem_copy_inputs(&from->inputs, &inputs, err))
        return err->status;
    for (int32_t row = 0; row < inputs.batch; row++) {
        uint32_t *scores = inputs.scores + (int64_t)row * inputs.score_stride;
        for (int32_t i = 0, j = from->lengths[row] - 1; i < j; i++, j--) {
            uint32_t score = scores[i];
            scores[i] = scores[j];
            scores[j] = score;
        }
    }
    return problem_make(to, &inputs, &from->claims, err);
}

enum status problem_shortened(const struct problem *from, struct problem *to, struct error *err)
{
    struct case_inputs inputs;
    if (problem_copy_inputs(&from->inputs, &inputs, err))
        return err->status;
    for (int32_t row = 0; row < inputs.batch; row++)
        if (inputs.seq_lens[row] == from->lengths[row]) /* negative and overlong ones stay what they are */
            inputs.seq_lens[row] = (inputs.seq_lens[row] + 1) / 2;
    return problem_make(to, &inputs, &from->claims, err);
}

void problem_clear(struct problem *problem)
{
    case_inputs_clear(&problem->inputs);
    free(problem->lengths);
    free(problem->counts);
    free(problem->raw);
    free(problem->pages);
    memset(problem, 0, sizeof *problem);
}

int32_t problem_promised_slots(const struct problem *problem, int32_t row)
{
    int32_t topk = problem->inputs.topk;
    if (problem->claims.padding == TOPK_PADDING_MINUS_ONE || problem->lengths[row] >= topk)
        return topk;
    return problem->lengths[row];
}

int32_t problem_index_of_page(const struct problem *problem, int32_t row, int32_t page_index)
{
    const struct case_inputs *inputs = &problem->inputs;
    const int32_t            *table = inputs->page_table + (int64_t)row * inputs->page_table_stride;
    if (page_index < 0)
        return -1;
    int32_t page = page_index / inputs->page_size, offset = page_index % inputs->page_size;
    for (int64_t p = 0; p * inputs->page_size < inputs->max_seq_len; p++)
        if (table[p] == page && p * inputs->page_size + offset < inputs->max_seq_len)
            return (int32_t)(p * inputs->page_size + offset);
    return -1;
}
