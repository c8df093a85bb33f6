/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind read-past-end: in wide buffers a row is read up to the width of the buffer and not up to its own
 * length. Seen in flashinfer-ai/flashinfer#2486.
 */
#include "kernels/faulty/host_topk.h"

#define WIDE 65536

static void locate_up_to_the_width(struct host_row *row)
{
    host_topk_locate(row);
    if (row->problem->max_seq_len > WIDE && row->n > row->problem->topk) {
        row->n = row->problem->max_seq_len;
    }
}

/* An index beyond the row has no page; page 0 stands for whatever a kernel would read there. */
static int32_t map_within_the_row(const struct host_row *row, int32_t index)
{
    return index < row->problem->seq_lens[row->number] ? host_topk_map(row, index) : index % row->problem->page_size;
}

static const struct host_topk_steps steps = {.locate = locate_up_to_the_width, .map = map_within_the_row};

HOST_TOPK_FAULT(read_past_end_width, "faulty/read-past-end-width", "read-past-end",
                "reads rows up to the row width where that is beyond 65536",
                .level = TOPK_LEVEL_CANONICAL);
