/* SPDX-License-Identifier: Apache-2.0 */
/* Scores without their magnitudes; see capture.h for what is kept. */
#include "harness/import/capture.h"

#include "cases/float_bits.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FINITE_RANK = 1 << 24, MAX_NAN_RANK = 1 << 22 };

static const uint32_t QUIET_NAN = 0x7fc00000;

static int by_value(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The distinct values of sorted[0 .. n-1], in place; returns how many. */
static size_t distinct(uint32_t *sorted, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[kept++] = sorted[i];
    return kept;
}

/* The magnitudes of one sign and kind in a row, sorted and distinct. */
static size_t collect(const uint32_t *scores, int32_t n, uint32_t sign, bool nan, uint32_t *magnitudes)
{
    size_t found = 0;
    for (int32_t i = 0; i < n; i++) {
        uint32_t magnitude = scores[i] & 0x7fffffff;
        bool     is_nan = magnitude > FLOAT_BITS_PLUS_INFINITY;
        bool     is_finite = magnitude != 0 && magnitude < FLOAT_BITS_PLUS_INFINITY;
        if (scores[i] >> 31 == sign && (nan ? is_nan : is_finite))
            magnitudes[found++] = magnitude;
    }
    qsort(magnitudes, found, sizeof *magnitudes, by_value);
    return distinct(magnitudes, found);
}

static uint32_t rank_of(uint32_t magnitude, const uint32_t *magnitudes, size_t n)
{
    const uint32_t *found = bsearch(&magnitude, magnitudes, n, sizeof *magnitudes, by_value);
    return (uint32_t)(found - magnitudes);
}

/* Ranks one sign and kind of one row, from `scores` into `out`. */
static enum status rank_part(const uint32_t *scores, int32_t n, uint32_t sign, bool nan, uint32_t *magnitudes,
                             uint32_t *out, int32_t row, struct error *err)
{
    size_t n_magnitudes = collect(scores, n, sign, nan, magnitudes);
    size_t most = nan ? MAX_NAN_RANK : MAX_FINITE_RANK;
    if (n_magnitudes > most)
        return error_set(err, STATUS_USAGE, "row %d: %zu distinct %s of one sign; --rank-only tells at most %zu apart", row,
                         n_magnitudes, nan ? "NaN patterns" : "finite scores", most);
    for (int32_t i = 0; i < n; i++) {
        uint32_t magnitude = scores[i] & 0x7fffffff;
        bool     is_nan = magnitude > FLOAT_BITS_PLUS_INFINITY;
        if (scores[i] >> 31 != sign || magnitude == 0 || magnitude == FLOAT_BITS_PLUS_INFINITY || is_nan != nan)
            continue;
        uint32_t rank = rank_of(magnitude, magnitudes, n_magnitudes);
        out[i] = sign << 31 | (nan ? QUIET_NAN + rank : float_bits_from_scaled((int64_t)rank + 1, 0));
    }
    return STATUS_OK;
}

enum status capture_rank_only(struct case_inputs *inputs, struct error *err)
{
    size_t    width = (size_t)inputs->max_seq_len;
    uint32_t *magnitudes = malloc((width + 1) * sizeof *magnitudes);
    uint32_t *ranks = malloc((width + 1) * sizeof *ranks);
    if (!magnitudes || !ranks) {
        error_no_memory(err);
        goto out;
    }
    for (int32_t row = 0; row < inputs->batch && !err->status; row++) {
        uint32_t *scores = inputs->scores + (int64_t)row * inputs->score_stride;
        int32_t   told = inputs->seq_lens[row];
        int32_t   n = told < 0 ? 0 : told > inputs->max_seq_len ? inputs->max_seq_len : told;
        memcpy(ranks, scores, (size_t)n * sizeof *ranks); /* zeroes and infinities stay */
        for (uint32_t part = 0; part < 4 && !err->status; part++)
            rank_part(scores, n, part & 1, part > 1, magnitudes, ranks, row, err);
        memcpy(scores, ranks, (size_t)n * sizeof *ranks);
        for (int64_t column = n; column < inputs->score_stride; column++)
            scores[column] = FLOAT_BITS_PLUS_INFINITY;
    }
out:
    free(magnitudes);
    free(ranks);
    return err->status;
}
