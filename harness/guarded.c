/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers with guard bands; see guarded.h. */
#include "harness/guarded.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)256)

const uint32_t guard_patterns[N_PATTERNS] = {0x9e5b3c71u, 0xc6a98d42u, 0xb1d7e835u, 0xf3246b9cu};

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
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
    if (!device->host_visible) {
        buffer->staging = malloc(capacity);
        if (!buffer->staging)
            return error_no_memory(err);
    }
    return STATUS_OK;
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

static size_t band_behind(const struct guarded *buffer)
{
    size_t end = buffer->offset + buffer->bytes, left = buffer->capacity - end;
    return left < GUARD_BYTES ? left : GUARD_BYTES;
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

void guarded_free(struct guarded *buffer)
{
    if (buffer->memory)
        buffer->device->backend->free(buffer->device, buffer->memory, buffer->capacity);
    free(buffer->staging);
    memset(buffer, 0, sizeof *buffer);
}
