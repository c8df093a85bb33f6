/* SPDX-License-Identifier: Apache-2.0 */
/* What module_entry.S and the device headers of instrumented modules call by name. Exported by the program, see
 * exported.list. */
#ifndef TOPKCTS_SIMULATOR_CALLOUTS_H
#define TOPKCTS_SIMULATOR_CALLOUTS_H

#include "kernels/simulator/atomic_word.h"

#include <cstddef>
#include <cstdint>

/* A block begins: nobody waits in a loop yet. */
void callouts_begin_block();

extern "C" {

struct sanitizer_place;

void  simulator_note_read(const void *address, size_t bytes);
void  simulator_note_write(void *address, size_t bytes);
void  simulator_note_volatile_read(const void *address, size_t bytes);
void  simulator_note_volatile_write(void *address, size_t bytes);
void  simulator_note_range_read(const void *address, size_t bytes);
void  simulator_note_range_write(void *address, size_t bytes);
void *simulator_copy(void *to, const void *from, size_t bytes);
void *simulator_fill(void *to, int value, size_t bytes);
void  simulator_note_misaligned(const struct sanitizer_place *place, uintptr_t address);
void  simulator_note_unaligned(const void *address, unsigned alignment);
void  simulator_note_index(const struct sanitizer_place *place, intptr_t index);
void  simulator_atomic_thread_fence(int memory_order);

/* __threadfence and its kin; `device`: more than the block. */
void simulator_fence(bool device);

/* An atomic of the device language: operation of atomic_word.h; the old word. */
uint64_t simulator_atomic_update(void *address, size_t bytes, int operation, uint64_t value, uint64_t expected);
}

#endif
