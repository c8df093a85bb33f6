/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers with guard bands: every array a kernel gets stands between two bands of a known pattern, and outputs are
 * filled with a poison that is no valid answer before each launch. What a kernel writes outside is seen, and so is
 * what it does not write.
 */
#ifndef TOPKCTS_GUARDED_H
#define TOPKCTS_GUARDED_H

#include "harness/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of each guard band. Fixed, so that a base shift never eats into it. */
enum { GUARD_BYTES = 4096 };

/* Guard and poison patterns: negative numbers other than -1, so neither an index, a page nor padding. */
enum { N_PATTERNS = 4 };
extern const uint32_t guard_patterns[N_PATTERNS];

struct guarded {
    struct device *device;
    char          *memory;   /* device memory; grows, never shrinks */
    size_t         capacity;
    bool           ends_at_fault;
    char          *staging;  /* host copy for devices the CPU cannot see */
    size_t         offset;   /* of the payload in memory */
    size_t         bytes;    /* of the payload */
    uint32_t       pattern;
    size_t         used_from, used_to; /* payload and bands in memory; everything else holds the far pattern */
};

/* Places a payload of `bytes`, `shift` bytes behind a 256-byte boundary, and writes both guard bands with the pattern.
 * The payload is `contents`, or filled with the pattern when that is NULL. With `at_end` the payload ends where the
 * memory does, so that on devices that can do it the next byte faults; there is then no band behind it, and the shift
 * is whatever the end dictates. */
enum status guarded_place(struct guarded *buffer, struct device *device, size_t bytes, size_t shift, uint32_t pattern,
                          const void *contents, bool at_end, struct error *err);

/* The payload's device pointer. */
void *guarded_pointer(const struct guarded *buffer);

/* Fetches the whole buffer and returns the payload for reading on the host; NULL with an error when the device fails.
 * Valid until the next call on this buffer. */
const void *guarded_view(struct guarded *buffer, struct error *err);

/* After guarded_view: the distance in bytes from the payload to the first changed guard byte (negative before it,
 * counted from 0 behind its end); false when both bands are whole. */
bool guarded_is_damaged(const struct guarded *buffer, int64_t *distance);

/* Whether the memory farther off than the bands was written to since the last call: a store by a wrong row or stride
 * lands there. Only where the CPU sees the memory; false elsewhere. Reads the whole capacity, so ask once a case. The
 * distance is as above, and the damage is mended. */
bool guarded_is_damaged_afar(struct guarded *buffer, int64_t *distance);

void guarded_free(struct guarded *buffer);

#endif
