/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global memory that a kernel may touch, by name: the buffers of the launch, and what the kernel's host code has
 * allocated. Owns the list and the shadow of each range; must not know what an access means (monitor.h).
 */
#ifndef TOPKCTS_SIMULATOR_MEMORY_H
#define TOPKCTS_SIMULATOR_MEMORY_H

#include "kernels/simulator/simulator.h"

#include <cstddef>
#include <cstdint>

namespace simulator {

/* One access that the shadow remembers. */
struct seen_access {
    uint32_t block;  /* running number over all launches; 0: none */
    uint32_t clock;
    uint32_t pc;     /* relative to the module */
    uint16_t thread;
    uint8_t  mask;   /* bytes of the word */
    uint8_t  way;    /* enum access_way */
};

/* The shadow of four bytes. */
struct shadow_cell {
    seen_access store;    /* the last plain store that is wide or begins at byte 0 */
    seen_access sync;     /* the last atomic or volatile store */
    seen_access loads[2]; /* the last two loads of different threads, the latest first */
    uint32_t    written_in; /* LDS: block, global memory: epoch of the range, in which `written` holds */
    uint16_t    written;    /* mask of bytes that were written */
    uint16_t    n_parts;    /* 0: no narrow store since the last one of the whole word; else 3 */
    seen_access parts[3];   /* the last plain store that begins at byte 1, 2, 3; mask 0: none */
};

/* A range of global memory. */
struct memory_range {
    uintptr_t                  begin, end;
    enum simulator_buffer_kind kind;
    const char                *name;
    shadow_cell               *cells; /* one for each aligned word from begin & ~3 */
    size_t                     cell_bytes; /* capacity of `cells` */
    uint32_t                   epoch; /* of its own: what was written before it was added does not count */
};

/* The range that holds the address; NULL when none does. */
memory_range *memory_at(uintptr_t address);

/* Adds and removes a range; the range of a module's variables among them. */
memory_range *memory_add(uintptr_t begin, size_t bytes, enum simulator_buffer_kind kind, const char *name);
void          memory_remove(uintptr_t begin);

/* Counts the bytes as written: host code has filled them. Memory outside of every range is left out. */
void memory_mark_written(uintptr_t address, size_t bytes);

/* Names the range that the address lies in, or next to: "4 bytes past the end of scores (8192 bytes)". */
void memory_describe(uintptr_t address, char *text, size_t size);

/* Maps shadow cells for so many bytes of memory. NULL when there is no memory. */
shadow_cell *memory_map_cells(size_t bytes, size_t *mapped);

} // namespace simulator

#endif
