/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that module_entry.S names after the compiler's call-outs. Each takes the return address first: it is
 * where in the kernel the access stands. Knows the compilers' interfaces, not what an access means.
 */
#include "kernels/simulator/callouts.h"

#include "kernels/simulator/block.h"
#include "kernels/simulator/fiber.h"
#include "kernels/simulator/finding.h"
#include "kernels/simulator/monitor.h"
#include "kernels/simulator/monitor_access.h"

#include <cstdio>
#include <cstring>

using namespace simulator;

#define HERE reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace {

uintptr_t at(const volatile void *address) { return reinterpret_cast<uintptr_t>(address); }

/* A thread that does the same atomics or volatile loads again and again waits for others: they must get their turn,
 * and if nobody does anything else, the wait has no end. */
struct spinning {
    uintptr_t recent[2];
    unsigned  repeats;
};
spinning           spins[max_threads];
uint64_t           progress; /* accesses that are no repetition */
uint64_t           progress_seen;
unsigned           idle_turns;
constexpr unsigned spin_repeats = 200;
constexpr unsigned idle_limit = 2000;

void end_of_patience(uintptr_t address, unsigned bytes, uintptr_t pc)
{
    idle_turns = progress == progress_seen ? idle_turns + 1 : 0;
    progress_seen = progress;
    if (idle_turns > idle_limit + 4 * the_block.n_threads) {
        idle_turns = 0;
        finding &f = finding_begin(finding_kind::deadlock);
        f.access.what = "waits in a loop for";
        f.access.pc = pc;
        f.address = address;
        f.bytes = bytes;
        f.is_lds = monitor_is_lds(address);
        (void)std::snprintf(f.text, sizeof f.text, "no thread of the block changes it; other blocks need not run at the "
                                                   "same time");
        fail_with_finding();
    }
    simulator_switch_in_turn();
}

/* A scheduling point at an access that other threads may be waiting for. */
void point(uintptr_t address, size_t bytes, uintptr_t pc)
{
    if (!monitor_is_on) return;
    const uintptr_t key = address * 31 + pc;
    spinning       &s = spins[the_block.current->number];
    if (s.recent[0] != key && s.recent[1] != key) {
        s.recent[1] = s.recent[0];
        s.recent[0] = key;
        s.repeats = 0;
        progress++;
    } else if (++s.repeats % spin_repeats == 0)
        end_of_patience(address, static_cast<unsigned>(bytes), pc);
    if (--simulator_atomics_left < 0) simulator_switch_at_atomic();
}

template <typename T> T load(const volatile T *address)
{
    T value;
    std::memcpy(&value, const_cast<const T *>(address), sizeof value);
    return value;
}
template <typename T> void store(volatile T *address, T value)
{
    std::memcpy(const_cast<T *>(address), &value, sizeof value);
}

void order(int memory_order)
{
    if (memory_order != __ATOMIC_RELAXED && memory_order != __ATOMIC_CONSUME && memory_order != __ATOMIC_ACQUIRE)
        note_fence(true);
}

template <typename T, typename Change>
T update(volatile T *address, uintptr_t pc, int memory_order, bool may_be_unwritten, Change change)
{
    point(at(address), sizeof(T), pc);
    order(memory_order);
    note_sync(at(address), sizeof(T), ACCESS_UPDATE, may_be_unwritten, pc);
    const T old = load(address);
    store(address, static_cast<T>(change(old)));
    return old;
}

} // namespace

void callouts_begin_block()
{
    std::memset(spins, 0, sizeof spins);
    idle_turns = 0;
    progress++;
}

void simulator_note_read(const void *address, size_t bytes) { note_access(at(address), bytes, ACCESS_LOAD, false, HERE); }
void simulator_note_write(void *address, size_t bytes)
{
    progress++;
    note_access(at(address), bytes, ACCESS_STORE, false, HERE);
}
void simulator_note_volatile_read(const void *address, size_t bytes)
{
    point(at(address), bytes, HERE);
    note_access(at(address), bytes, ACCESS_VOLATILE_LOAD, false, HERE);
}
void simulator_note_volatile_write(void *address, size_t bytes)
{
    if (monitor_is_on && --simulator_atomics_left < 0) simulator_switch_at_atomic();
    note_access(at(address), bytes, ACCESS_VOLATILE_STORE, false, HERE);
    if (monitor_is_on) progress++;
}
void simulator_note_range_read(const void *address, size_t bytes)
{
    note_access(at(address), bytes, ACCESS_LOAD, true, HERE);
}
void simulator_note_range_write(void *address, size_t bytes)
{
    note_access(at(address), bytes, ACCESS_STORE, true, HERE);
}

void *simulator_copy(void *to, const void *from, size_t bytes)
{
    note_access(at(from), bytes, ACCESS_LOAD, true, HERE);
    note_access(at(to), bytes, ACCESS_STORE, true, HERE);
    return std::memmove(to, from, bytes);
}

void *simulator_fill(void *to, int value, size_t bytes)
{
    note_access(at(to), bytes, ACCESS_STORE, true, HERE);
    return std::memset(to, value, bytes);
}

void simulator_fence(bool device) { note_fence(device); }
void simulator_atomic_thread_fence(int memory_order)
{
    if (memory_order != __ATOMIC_RELAXED) note_fence(true);
}

/* The sanitizer's data, as compilers lay it out: where in the source, then what. */
struct sanitizer_place {
    const char *file;
    uint32_t    line;
    uint32_t    column;
};

void simulator_note_misaligned(const struct sanitizer_place *place, uintptr_t address)
{
    if (!monitor_is_on) return;
    unsigned char log_alignment = 0;
    std::memcpy(&log_alignment, reinterpret_cast<const char *>(place) + sizeof *place + sizeof(void *), 1);
    finding &f = finding_begin(finding_kind::misaligned);
    f.access.what = "touches";
    f.access.pc = HERE;
    f.address = address;
    f.bytes = 1u << log_alignment;
    f.is_lds = monitor_is_lds(address);
    (void)std::snprintf(f.text, sizeof f.text, "an access of this width needs an address that is a multiple of %u; this one is %u past one",
                        1u << log_alignment, static_cast<unsigned>(address & ((1u << log_alignment) - 1)));
    fail_with_finding();
}

void simulator_note_unaligned(const void *address, unsigned alignment)
{
    if (!monitor_is_on || fibers_own(at(address))) return;
    finding &f = finding_begin(finding_kind::misaligned);
    f.access.what = "touches";
    f.access.pc = HERE;
    f.address = at(address);
    f.bytes = alignment;
    f.is_lds = monitor_is_lds(f.address);
    (void)std::snprintf(f.text, sizeof f.text, "a vector of this type needs an address that is a multiple of %u; this one is %u past one",
                        alignment, static_cast<unsigned>(f.address & (alignment - 1)));
    fail_with_finding();
}

void simulator_note_index(const struct sanitizer_place *place, intptr_t index)
{
    if (!monitor_is_on) return;
    const char *type = nullptr; /* a descriptor: two 16-bit numbers, then the array's type as text */
    std::memcpy(&type, reinterpret_cast<const char *>(place) + sizeof *place, sizeof type);
    finding &f = finding_begin(finding_kind::out_of_bounds);
    f.access.pc = HERE;
    (void)std::snprintf(f.text, sizeof f.text, "index %lld into an array of type %s", static_cast<long long>(index),
                        type == nullptr ? "?" : type + 4);
    fail_with_finding();
}

uint64_t simulator_atomic_update(void *address, size_t bytes, int operation, uint64_t value, uint64_t expected)
{
    const uintptr_t pc = HERE;
    point(at(address), bytes, pc);
    const uint8_t way = operation == SIMULATOR_ATOMIC_LOAD    ? ACCESS_ATOMIC_LOAD
                        : operation == SIMULATOR_ATOMIC_STORE ? ACCESS_ATOMIC_STORE
                                                              : ACCESS_UPDATE;
    note_sync(at(address), bytes, way, operation == SIMULATOR_ATOMIC_EXCHANGE, pc);
    return simulator_atomic_apply(address, bytes, operation, value, expected);
}

#define SIMULATOR_ATOMICS(bits)                                                                                        \
    typedef uint##bits##_t word##bits;                                                                                 \
    word##bits simulator_atomic##bits##_load(const volatile word##bits *address, int)                                  \
    {                                                                                                                  \
        point(at(address), sizeof(word##bits), HERE);                                                                  \
        note_sync(at(address), sizeof(word##bits), ACCESS_ATOMIC_LOAD, false, HERE);                                   \
        return load(address);                                                                                          \
    }                                                                                                                  \
    void simulator_atomic##bits##_store(volatile word##bits *address, word##bits value, int memory_order)              \
    {                                                                                                                  \
        point(at(address), sizeof(word##bits), HERE);                                                                  \
        order(memory_order);                                                                                           \
        note_sync(at(address), sizeof(word##bits), ACCESS_ATOMIC_STORE, false, HERE);                                  \
        store(address, value);                                                                                         \
    }                                                                                                                  \
    SIMULATOR_ATOMIC_UPDATE(bits, exchange, true, value)                                                               \
    SIMULATOR_ATOMIC_UPDATE(bits, fetch_add, false, old + value)                                                       \
    SIMULATOR_ATOMIC_UPDATE(bits, fetch_sub, false, old - value)                                                       \
    SIMULATOR_ATOMIC_UPDATE(bits, fetch_and, false, old & value)                                                       \
    SIMULATOR_ATOMIC_UPDATE(bits, fetch_or, false, old | value)                                                        \
    SIMULATOR_ATOMIC_UPDATE(bits, fetch_xor, false, old ^ value)                                                       \
    SIMULATOR_ATOMIC_UPDATE(bits, fetch_nand, false, ~(old & value))                                                   \
    word##bits simulator_atomic##bits##_compare_exchange_val(volatile word##bits *address, word##bits expected,        \
                                                             word##bits desired, int success, int)                     \
    {                                                                                                                  \
        return update(address, HERE, success, false,                                                                   \
                      [=](word##bits old) { return old == expected ? desired : old; });                                \
    }                                                                                                                  \
    int simulator_atomic##bits##_compare_exchange_strong(volatile word##bits *address, word##bits *expected,           \
                                                         word##bits desired, int success, int)                         \
    {                                                                                                                  \
        const word##bits wanted = *expected;                                                                           \
        *expected = update(address, HERE, success, false,                                                              \
                           [=](word##bits old) { return old == wanted ? desired : old; });                             \
        return *expected == wanted;                                                                                    \
    }                                                                                                                  \
    int simulator_atomic##bits##_compare_exchange_weak(volatile word##bits *address, word##bits *expected,             \
                                                       word##bits desired, int success, int)                           \
    {                                                                                                                  \
        const word##bits wanted = *expected;                                                                           \
        *expected = update(address, HERE, success, false,                                                              \
                           [=](word##bits old) { return old == wanted ? desired : old; });                             \
        return *expected == wanted;                                                                                    \
    }
#define SIMULATOR_ATOMIC_UPDATE(bits, name, may_be_unwritten, new_value)                                               \
    word##bits simulator_atomic##bits##_##name(volatile word##bits *address, word##bits value, int memory_order)       \
    {                                                                                                                  \
        return update(address, HERE, memory_order, may_be_unwritten,                                                   \
                      [=](word##bits old) { (void)old; return static_cast<word##bits>(new_value); });                  \
    }

extern "C" {
SIMULATOR_ATOMICS(8)
SIMULATOR_ATOMICS(16)
SIMULATOR_ATOMICS(32)
SIMULATOR_ATOMICS(64)
}
