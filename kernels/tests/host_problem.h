/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One problem on the host for the tests of the planted faults: inputs, guarded outputs, and the right answer.
 *
 * Every buffer has GUARD elements before and behind it, so that a fault that reads or writes outside is seen and does
 * not bring the test down. The right answer comes from reference/, never from the code under test.
 */
#ifndef TOPKCTS_HOST_PROBLEM_H
#define TOPKCTS_HOST_PROBLEM_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/builtin.h"
#include "reference/reference.h"

#define GUARD 64
#define OUTPUT_POISON 0x7abcdef1
#define SCORE_BEYOND 0x7f800000u /* +inf behind every row */

struct host_problem {
    struct topk_problem    problem;
    struct reference_rules rules;
    uint32_t              *scores;       /* [GUARD + batch * stride + GUARD] */
    uint32_t              *pristine;     /* the same when the problem was sealed */
    int32_t               *seq_lens;     /* [batch] */
    int32_t               *page_table;   /* [GUARD + batch * stride + GUARD] */
    int32_t               *page_indices; /* [GUARD + batch * topk + GUARD] */
    int32_t               *raw_indices;
    int32_t               *expected_page; /* [batch * topk] */
    int32_t               *expected_raw;
    size_t                 n_scores;
    size_t                 n_outputs;
};

static inline void *host_problem_allocate(size_t n)
{
    uint32_t *memory = calloc(n, sizeof *memory);
    cr_assert_not_null(memory);
    return memory;
}

/* A counter-based stream: the same numbers everywhere. */
static inline uint32_t host_problem_random(uint64_t counter)
{
    uint64_t x = (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}

static inline uint32_t *host_problem_row(struct host_problem *host, int32_t row)
{
    return host->scores + GUARD + row * host->problem.score_stride;
}

/* Every row is `length` long, filled with random positive numbers, +inf behind it; a permuted page table per row. */
static inline struct host_problem host_problem_open(int32_t batch, int32_t length, int32_t topk, int32_t page_size)
{
    struct host_problem  host = {0};
    struct topk_problem *p = &host.problem;
    int64_t              pages = length / page_size + 3;
    p->batch = batch;
    p->topk = topk;
    p->page_size = page_size;
    p->max_seq_len = length;
    p->score_stride = length + 5;
    p->page_table_stride = pages;
    host.n_scores = (size_t)(2 * GUARD + batch * p->score_stride);
    host.n_outputs = (size_t)(2 * GUARD + batch * topk);
    host.scores = host_problem_allocate(host.n_scores);
    host.pristine = host_problem_allocate(host.n_scores);
    host.seq_lens = host_problem_allocate((size_t)batch);
    host.page_table = host_problem_allocate((size_t)(2 * GUARD + batch * pages));
    host.page_indices = host_problem_allocate(host.n_outputs);
    host.raw_indices = host_problem_allocate(host.n_outputs);
    host.expected_page = host_problem_allocate((size_t)batch * (size_t)topk);
    host.expected_raw = host_problem_allocate((size_t)batch * (size_t)topk);
    for (size_t i = 0; i < host.n_scores; i++) {
        host.scores[i] = SCORE_BEYOND;
    }
    for (int32_t row = 0; row < batch; row++) {
        host.seq_lens[row] = length;
        for (int32_t i = 0; i < length; i++) {
            host_problem_row(&host, row)[i] = host_problem_random((uint64_t)row << 32 | (uint32_t)i) >> 2;
        }
        for (int64_t page = 0; page < pages; page++) {
            /* Descending, and apart from the pages of every other row. */
            host.page_table[GUARD + row * pages + page] = (int32_t)(row * (pages + 8) + pages + 7 - page);
        }
    }
    p->scores = (const float *)(const void *)(host.scores + GUARD);
    p->seq_lens = host.seq_lens;
    p->page_table = host.page_table + GUARD;
    p->page_indices = host.page_indices + GUARD;
    p->raw_indices = host.raw_indices + GUARD;
    return host;
}

static inline void host_problem_close(struct host_problem *host)
{
    free(host->scores);
    free(host->pristine);
    free(host->seq_lens);
    free(host->page_table);
    free(host->page_indices);
    free(host->raw_indices);
    free(host->expected_page);
    free(host->expected_raw);
}

/* Computes the right answer for the scores as they are now; a length outside 0 .. width counts as the nearer end. */
static inline void host_problem_seal(struct host_problem *host)
{
    const struct topk_problem *p = &host->problem;
    memcpy(host->pristine, host->scores, host->n_scores * sizeof *host->scores);
    for (int32_t row = 0; row < p->batch; row++) {
        int32_t *raw = host->expected_raw + (ptrdiff_t)row * p->topk;
        int32_t  length = p->seq_lens[row] < p->max_seq_len ? p->seq_lens[row] : p->max_seq_len;
        int32_t  count = reference_select(host_problem_row(host, row), length, p->topk, &host->rules, raw);
        cr_assert_geq(count, 0);
        reference_map_pages(raw, p->topk, p->page_table + row * p->page_table_stride, p->page_size,
                            host->expected_page + (ptrdiff_t)row * p->topk);
    }
}

static inline bool host_problem_guards_intact(const struct host_problem *host, const int32_t *outputs)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (outputs[i] != OUTPUT_POISON || outputs[host->n_outputs - 1 - i] != OUTPUT_POISON) {
            return false;
        }
    }
    return true;
}

/* Launches once on poisoned outputs. True: both outputs are right to the byte, nothing else changed. */
static inline bool host_problem_launch(struct host_problem *host, const struct topk_provider *provider, void *self)
{
    char   err[256] = "";
    size_t bytes = (host->n_outputs - (size_t)2 * GUARD) * sizeof(int32_t);
    for (size_t i = 0; i < host->n_outputs; i++) {
        host->page_indices[i] = OUTPUT_POISON;
        host->raw_indices[i] = OUTPUT_POISON;
    }
    size_t workspace_bytes = provider->workspace_bytes != NULL ? provider->workspace_bytes(self, &host->problem) : 0;
    host->problem.workspace = NULL;
    if (workspace_bytes > 0) {
        host->problem.workspace = malloc(workspace_bytes);
        cr_assert_not_null(host->problem.workspace);
        memset(host->problem.workspace, 0x5b, workspace_bytes);
    }
    int failed = provider->launch(self, &host->problem, err, sizeof err);
    free(host->problem.workspace);
    cr_assert_eq(failed, 0, "%s: %s", provider->name, err);
    return memcmp(host->page_indices + GUARD, host->expected_page, bytes) == 0 &&
           memcmp(host->raw_indices + GUARD, host->expected_raw, bytes) == 0 &&
           host_problem_guards_intact(host, host->page_indices) &&
           host_problem_guards_intact(host, host->raw_indices) &&
           memcmp(host->scores, host->pristine, host->n_scores * sizeof *host->scores) == 0;
}

/* Opens, launches `launches` times on what it finds, closes. How many launches were right. */
static inline int host_problem_right_launches(struct host_problem *host, const struct topk_provider *provider,
                                              int launches)
{
    char  err[256] = "";
    void *self = NULL;
    int   right = 0;
    cr_assert_eq(provider->open(0, &self, err, sizeof err), 0, "%s: %s", provider->name, err);
    for (int i = 0; i < launches; i++) {
        right += host_problem_launch(host, provider, self) ? 1 : 0;
    }
    provider->close(self);
    return right;
}

#endif
