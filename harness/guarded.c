/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers with guard bands; see guarded.h. */
#include "harness/guarded.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)256)

const uint32_t guard_patterns[N_PATTERNS] = {0x9e5b3c71u, 0xc6a98d42u, 0xb1d7e835u, 0xf3246b9cu};

/* Neither a guard pattern nor a valid answer. */
#define FAR_PATTERN 0xa5d4927eu

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void fill(char *from, size_t bytes, uint32_t pattern)
{
    while (bytes >= sizeof pattern) {
        memcpy(from, &pattern, sizeof pattern);
        from += sizeof pattern;
        bytes -= sizeof pattern;
    }
    memcpy(from, &pattern, bytes);
}

static enum status reserve(struct guarded *buffer, struct device *device, size_t bytes, struct error *err)
{
    if (buffer->memory && buffer->capacity >= bytes)
        return STATUS_OK;
    guarded_free(buffer);
    /* A page multiple, so that the end of the memory is where the device can make it fault. */
    size_t capacity = (bytes + bytes / 4 + 4095) / 4096 * 4096;
    buffer->device = device;
    buffer->memory = device->backend->alloc(device, capacity, &buffer->ends_at_fault, err);
    if (!buffer->memory)
        return err->status;
    buffer->capacity = capacity;
    buffer->used_from = buffer->used_to = 0;
    if (device->host_visible)
        fill(buffer->memory, capacity, FAR_PATTERN);
    else {
        buffer->staging = malloc(capacity);
        if (!buffer->staging)
            return error_no_memory(err);
    }
    return STATUS_OK;
}

static size_t band_behind(const struct guarded *buffer)
{
    size_t end = buffer->offset + buffer->bytes, left = buffer->capacity - end;
    return left < GUARD_BYTES ? left : GUARD_BYTES;
}

/* Payload and bands are from .. to now; what they covered before and do not any more is far off. Both are widened to
 * whole patterns, so that the far pattern has the same phase everywhere. */
static void use_only(struct guarded *buffer, size_t from, size_t to)
{
    from = from / sizeof(uint32_t) * sizeof(uint32_t);
    to = (to + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t);
    size_t end = buffer->used_to < from ? buffer->used_to : from;
    size_t start = buffer->used_from > to ? buffer->used_from : to;
    if (buffer->used_from < end)
        fill(buffer->memory + buffer->used_from, end - buffer->used_from, FAR_PATTERN);
    if (start < buffer->used_to)
        fill(buffer->memory + start, buffer->used_to - start, FAR_PATTERN);
    buffer->used_from = from;
    buffer->used_to = to;
}

enum status guarded_place(struct guarded *buffer, struct device *device, size_t bytes, size_t shift, uint32_t pattern,
                          const void *contents, bool at_end, struct error *err)
{
    size_t needed = GUARD_BYTES + round_up(shift + bytes) + GUARD_BYTES;
    if (reserve(buffer, device, needed, err))
        return err->status;
    buffer->bytes = bytes;
    buffer->pattern = pattern;
    buffer->offset = at_end && buffer->ends_at_fault ? buffer->capacity - bytes : GUARD_BYTES + shift;
    char  *image = buffer->staging ? buffer->staging : buffer->memory;
    size_t first = buffer->offset - GUARD_BYTES, whole = GUARD_BYTES + bytes + band_behind(buffer);
    if (!buffer->staging)
        use_only(buffer, first, first + whole);
    fill(image + first, GUARD_BYTES, pattern);
    if (contents)
        memcpy(image + buffer->offset, contents, bytes);
    else
        fill(image + buffer->offset, bytes, pattern);
    fill(image + buffer->offset + bytes, band_behind(buffer), pattern);
    if (buffer->staging)
        return device->backend->write(device, buffer->memory + first, image + first, whole, err);
    return STATUS_OK;
}

void *guarded_pointer(const struct guarded *buffer)
{
    return buffer->memory + buffer->offset;
}

const void *guarded_view(struct guarded *buffer, struct error *err)
{
    if (!buffer->staging)
        return buffer->memory + buffer->offset;
    size_t first = buffer->offset - GUARD_BYTES;
    if (buffer->device->backend->read(buffer->device, buffer->staging + first, buffer->memory + first,
                                      GUARD_BYTES + buffer->bytes + band_behind(buffer), err))
        return NULL;
    return buffer->staging + buffer->offset;
}

/* The first byte that differs from the repeated pattern; `bytes` when none does. */
static size_t first_change(const char *band, size_t bytes, uint32_t pattern)
{
    size_t i = 0;
    /* Whole when it starts with the pattern and equals itself one pattern on: one comparison at the speed of memory. */
    if (bytes > sizeof pattern && memcmp(band, &pattern, sizeof pattern) == 0 &&
        memcmp(band, band + sizeof pattern, bytes - sizeof pattern) == 0)
        return bytes;
    for (; i + sizeof pattern <= bytes; i += sizeof pattern)
        if (memcmp(band + i, &pattern, sizeof pattern) != 0)
            break;
    while (i < bytes && band[i] == ((const char *)&pattern)[i % sizeof pattern])
        i++;
    return i;
}

bool guarded_is_damaged(const struct guarded *buffer, int64_t *distance)
{
    const char *image = buffer->staging ? buffer->staging : buffer->memory;
    size_t      behind = band_behind(buffer);
    size_t      before_at = first_change(image + buffer->offset - GUARD_BYTES, GUARD_BYTES, buffer->pattern);
    size_t      behind_at = first_change(image + buffer->offset + buffer->bytes, behind, buffer->pattern);
    if (before_at < GUARD_BYTES) {
        *distance = (int64_t)before_at - GUARD_BYTES;
        return true;
    }
    *distance = (int64_t)behind_at;
    return behind_at < behind;
}

bool guarded_is_damaged_afar(struct guarded *buffer, int64_t *distance)
{
    if (!buffer->memory || buffer->staging)
        return false;
    size_t left = buffer->capacity - buffer->used_to;
    size_t before = first_change(buffer->memory, buffer->used_from, FAR_PATTERN);
    size_t behind = first_change(buffer->memory + buffer->used_to, left, FAR_PATTERN);
    if (before == buffer->used_from && behind == left)
        return false;
    *distance = before < buffer->used_from ? (int64_t)before - (int64_t)buffer->offset
                                           : (int64_t)(buffer->used_to + behind - buffer->offset - buffer->bytes);
    fill(buffer->memory, buffer->used_from, FAR_PATTERN);
    fill(buffer->memory + buffer->used_to, left, FAR_PATTERN);
    return true;
}

void guarded_free(struct guarded *buffer)
{
    if (buffer->memory)
        buffer->device->backend->free(buffer->device, buffer->memory, buffer->capacity);
    free(buffer->staging);
    memset(buffer, 0, sizeof *buffer);
}
