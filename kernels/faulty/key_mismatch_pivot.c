/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind key-mismatch: when more than 1024 scores share the bin at the cut, the pivot is put together
 * from the coarse fp16 byte and the low bytes of the fp32 key. The two bytes differ (0x82 and 0xb8 in the report), so
 * the pivot is some other number. Seen in flashinfer-ai/flashinfer#2605.
 */
#include "kernels/faulty/host_topk.h"

#define WIDE_BIN 1024

static uint32_t key_at_the_cut(const struct host_row *row, const int32_t *selected, int32_t count)
{
    uint32_t smallest = UINT32_MAX;
    for (int32_t i = 0; i < count; i++) {
        uint32_t key = host_topk_key(row, selected[i]);
        smallest = key < smallest ? key : smallest;
    }
    return smallest;
}

/* Selects what reaches the pivot, in index order; what is missing is filled up from the front of the row. */
static int32_t select_from_pivot(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    if (count < 0 || row->n <= row->problem->topk || row->in_cut_bin <= WIDE_BIN) {
        return count;
    }
    uint32_t cut = key_at_the_cut(row, selected, count);
    int32_t  index_at_cut = 0;
    while (host_topk_key(row, index_at_cut) != cut) {
        index_at_cut++;
    }
    uint32_t pivot = host_topk_bin_of_8_bits(row, index_at_cut) << 24 | (cut & UINT32_C(0xffffff));
    int32_t  reaching = 0;
    for (int32_t i = 0; i < row->n; i++) {
        reaching += host_topk_key(row, i) >= pivot ? 1 : 0;
    }
    int32_t fillers = count > reaching ? count - reaching : 0;
    int32_t written = 0;
    for (int32_t i = 0; i < row->n && written < count; i++) {
        if (host_topk_key(row, i) >= pivot || fillers-- > 0) {
            selected[written++] = i;
        }
    }
    return written;
}

static const struct host_topk_steps steps = {.bin = host_topk_bin_of_8_bits, .select = select_from_pivot};

HOST_TOPK_FAULT(key_mismatch_pivot, "faulty/key-mismatch-pivot", "key-mismatch",
                "a wide bin at the cut mixes the coarse fp16 byte into the fp32 pivot",
                .level = TOPK_LEVEL_CANONICAL);
