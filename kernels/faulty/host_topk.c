/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The correct steps of the host top-k and the loop over rows; see host_topk.h for the shape.
 *
 * Owns everything that is right. It must not know any fault: a fault replaces a step from its own file. Start reading
 * at host_topk_launch.
 */
#include "kernels/faulty/host_topk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys and scores */

uint32_t host_topk_score_bits(const struct host_row *row, int32_t index)
{
    uint32_t bits;
    memcpy(&bits, &row->scores[index], sizeof bits);
    return bits;
}

uint32_t host_topk_key_of_bits(uint32_t score_bits)
{
    const uint32_t sign = UINT32_C(1) << 31;
    if (score_bits == sign) {
        score_bits = 0;
    }
    return score_bits ^ ((score_bits & sign) != 0 ? UINT32_MAX : sign);
}

uint32_t host_topk_key(const struct host_row *row, int32_t index)
{
    return host_topk_key_of_bits(host_topk_score_bits(row, index));
}

/* fp16 of a non-negative float32 that is not NaN: nearest, ties to even. */
static uint32_t half_of_magnitude(uint32_t magnitude)
{
    if (magnitude >= 0x477ff000) {
        return 0x7c00;
    }
    if (magnitude >= 0x38800000) {
        uint32_t rebased = magnitude - 0x38000000;
        return (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
    }
    uint32_t exponent = magnitude >> 23;
    if (exponent < 102) {
        return 0;
    }
    uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    uint32_t shift = 126 - exponent;
    uint32_t quotient = significand >> shift;
    uint32_t rest = significand & ((UINT32_C(1) << shift) - 1);
    uint32_t middle = UINT32_C(1) << (shift - 1);
    return quotient + (rest > middle || (rest == middle && (quotient & 1) != 0) ? 1 : 0);
}

uint32_t host_topk_half_key(uint32_t score_bits)
{
    uint32_t magnitude = score_bits & INT32_MAX;
    uint32_t half = magnitude > 0x7f800000 ? 0x7e00 : half_of_magnitude(magnitude);
    bool     negative = score_bits >> 31 != 0 && half != 0;
    return negative ? 0x7fff - half : 0x8000 + half;
}

uint32_t host_topk_bin_of_8_bits(const struct host_row *row, int32_t index)
{
    return host_topk_half_key(host_topk_score_bits(row, index)) >> 8;
}

uint32_t host_topk_bin_of_12_bits(const struct host_row *row, int32_t index)
{
    return host_topk_half_key(host_topk_score_bits(row, index)) >> 4;
}

static uint32_t key_under_steps(const struct host_row *row, int32_t index)
{
    return row->steps->key != NULL ? row->steps->key(row, index) : host_topk_key(row, index);
}

uint64_t host_topk_place(const struct host_row *row, int32_t index)
{
    uint32_t tie = row->steps->tie != NULL ? row->steps->tie(row, index) : UINT32_MAX - (uint32_t)index;
    return (uint64_t)key_under_steps(row, index) << 32 | tie;
}

/* Selection */

static bool reserve(struct host_topk *state, int32_t n)
{
    if (n <= state->capacity || n == 0) {
        return true;
    }
    free(state->places);
    free(state->scratch);
    free(state->considered);
    state->capacity = 0;
    state->places = calloc((size_t)n, sizeof *state->places);
    state->scratch = calloc((size_t)n, sizeof *state->scratch);
    state->considered = malloc((size_t)n * sizeof *state->considered);
    if (state->places == NULL || state->scratch == NULL || state->considered == NULL) {
        return false;
    }
    state->capacity = n;
    return true;
}

static uint32_t bin_under_steps(const struct host_row *row, int32_t index)
{
    return row->steps->bin != NULL ? row->steps->bin(row, index) : (uint32_t)(row->state->places[index] >> 56);
}

/* The coarse stage: writes the indices that can still be selected, ascending; returns how many. Needs n >= topk. */
static int32_t consider(struct host_row *row, int32_t *considered)
{
    int32_t counts[HOST_TOPK_BINS] = {0};
    for (int32_t i = 0; i < row->n; i++) {
        counts[bin_under_steps(row, i)]++;
    }
    uint32_t cut_bin = HOST_TOPK_BINS - 1;
    row->above = 0;
    while (row->above + counts[cut_bin] < row->problem->topk) {
        row->above += counts[cut_bin--];
    }
    row->in_cut_bin = counts[cut_bin];

    int32_t capacity = row->steps->candidate_capacity > 0 ? row->steps->candidate_capacity : INT32_MAX;
    int32_t candidates = 0;
    int32_t n_considered = 0;
    for (int32_t i = 0; i < row->n; i++) {
        uint32_t bin = bin_under_steps(row, i);
        if (bin > cut_bin || (bin == cut_bin && candidates++ < capacity)) {
            considered[n_considered++] = i;
        }
    }
    return n_considered;
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's selection: the `rank`-th largest (from 0) of n distinct places, which it reorders. */
static uint64_t select_rank(uint64_t *places, int32_t n, int32_t rank)
{
    int32_t low = 0;
    int32_t high = n - 1;
    while (low < high) {
        uint64_t pivot = places[low + (high - low) / 2];
        int32_t  left = low;
        int32_t  right = high;
        while (left <= right) {
            while (places[left] > pivot) {
                left++;
            }
            while (places[right] < pivot) {
                right--;
            }
            if (left <= right) {
                swap(&places[left++], &places[right--]);
            }
        }
        if (rank <= right) {
            high = right;
        } else if (rank >= left) {
            low = left;
        } else {
            break;
        }
    }
    return places[rank];
}

int32_t host_topk_select_long(struct host_row *row, int32_t *selected)
{
    struct host_topk *state = row->state;
    if (!reserve(state, row->n)) {
        return -1;
    }
    for (int32_t i = 0; i < row->n; i++) {
        state->places[i] = host_topk_place(row, i);
    }
    int32_t n_considered = consider(row, state->considered);
    for (int32_t i = 0; i < n_considered; i++) {
        state->scratch[i] = state->places[state->considered[i]];
    }
    int32_t wanted = n_considered < row->problem->topk ? n_considered : row->problem->topk;
    if (wanted <= 0) {
        return 0;
    }
    uint64_t cut = select_rank(state->scratch, n_considered, wanted - 1);
    int32_t  count = 0;
    for (int32_t i = 0; i < n_considered; i++) {
        if (state->places[state->considered[i]] >= cut) {
            selected[count++] = state->considered[i];
        }
    }
    return count;
}

int32_t host_topk_select(struct host_row *row, int32_t *selected)
{
    if (row->n > row->problem->topk) {
        return host_topk_select_long(row, selected);
    }
    for (int32_t i = 0; i < row->n; i++) {
        selected[i] = i;
    }
    return row->n;
}

/* Output */

int32_t host_topk_map(const struct host_row *row, int32_t index)
{
    int32_t page_size = row->problem->page_size;
    return row->page_table[index / page_size] * page_size + index % page_size;
}

void host_topk_write_slot(const struct host_row *row, int32_t slot, int32_t index)
{
    if (row->raw_indices != NULL) {
        row->raw_indices[slot] = index;
    }
    if (row->page_indices != NULL) {
        int32_t (*map)(const struct host_row *, int32_t) = row->steps->map != NULL ? row->steps->map : host_topk_map;
        row->page_indices[slot] = index < 0 ? -1 : map(row, index);
    }
}

void host_topk_write(const struct host_row *row, const int32_t *selected, int32_t count)
{
    for (int32_t slot = 0; slot < row->problem->topk; slot++) {
        host_topk_write_slot(row, slot, slot < count ? selected[slot] : -1);
    }
}

static int ascending(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left;
    int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

void host_topk_sort_indices(int32_t *indices, int32_t count)
{
    qsort(indices, (size_t)count, sizeof *indices, ascending);
}

static int descending_place(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a < b) - (a > b);
}

int32_t host_topk_sort_by_place(const struct host_row *row, int32_t *indices, int32_t count)
{
    if (!reserve(row->state, count)) {
        return -1;
    }
    uint64_t *places = row->state->scratch;
    for (int32_t i = 0; i < count; i++) {
        places[i] = host_topk_place(row, indices[i]);
    }
    qsort(places, (size_t)count, sizeof *places, descending_place);
    for (int32_t i = 0; i < count; i++) {
        indices[i] = (int32_t)(UINT32_MAX - (uint32_t)places[i]);
    }
    return count;
}

/* The loop over rows */

void host_topk_locate(struct host_row *row)
{
    const struct topk_problem *problem = row->problem;
    int32_t                    length = problem->seq_lens[row->number];
    length = length < problem->max_seq_len ? length : problem->max_seq_len;
    row->n = length > 0 ? length : 0;
    row->scores = problem->scores + row->number * problem->score_stride;
    row->page_table = problem->page_table + row->number * problem->page_table_stride;
}

static int32_t *output_of_row(int32_t *outputs, int32_t row, int32_t topk)
{
    return outputs == NULL ? NULL : outputs + (int64_t)row * topk;
}

int host_topk_launch(const struct host_topk_steps *steps, void *self, const struct topk_problem *problem, char *err,
                     size_t err_size)
{
    struct host_topk *state = self;
    state->launches++;
    if (problem->topk > state->selected_capacity) {
        free(state->selected);
        state->selected = malloc((size_t)problem->topk * sizeof *state->selected);
        state->selected_capacity = state->selected != NULL ? problem->topk : 0;
    }
    for (int32_t number = 0; number < problem->batch; number++) {
        struct host_row row = {
            .problem = problem,
            .steps = steps,
            .state = state,
            .number = number,
            .page_indices = output_of_row(problem->page_indices, number, problem->topk),
            .raw_indices = output_of_row(problem->raw_indices, number, problem->topk),
        };
        (steps->locate != NULL ? steps->locate : host_topk_locate)(&row);
        int32_t count = -1;
        if (state->selected != NULL) {
            count = (steps->select != NULL ? steps->select : host_topk_select)(&row, state->selected);
        }
        if (count < 0) {
            snprintf(err, err_size, "no memory for row %d of %d scores", (int)number, (int)row.n);
            return 1;
        }
        (steps->write != NULL ? steps->write : host_topk_write)(&row, state->selected, count);
    }
    return 0;
}

int host_topk_open(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    struct host_topk *state = calloc(1, sizeof *state);
    if (state == NULL) {
        snprintf(err, err_size, "no memory for the state of a host top-k");
        return 1;
    }
    *self = state;
    return 0;
}

void host_topk_close(void *self)
{
    struct host_topk *state = self;
    if (state == NULL) {
        return;
    }
    free(state->places);
    free(state->scratch);
    free(state->considered);
    free(state->selected);
    free(state);
}
