/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics on words as numbers: one operation, its operand, the old word. Between the device headers of instrumented
 * modules, which must not touch memory themselves, and the simulator. Plain C++, no other header of the simulator.
 */
#ifndef TOPKCTS_SIMULATOR_ATOMIC_WORD_H
#define TOPKCTS_SIMULATOR_ATOMIC_WORD_H

#include <cstddef>
#include <cstdint>
#include <cstring>

enum simulator_atomic_operation {
    SIMULATOR_ATOMIC_EXCHANGE,
    SIMULATOR_ATOMIC_COMPARE, /* stores the value if the word is as expected */
    SIMULATOR_ATOMIC_ADD,     /* integers wrap */
    SIMULATOR_ATOMIC_SUBTRACT,
    SIMULATOR_ATOMIC_AND,
    SIMULATOR_ATOMIC_OR,
    SIMULATOR_ATOMIC_XOR,
    SIMULATOR_ATOMIC_INCREMENT, /* 0 after the value */
    SIMULATOR_ATOMIC_DECREMENT, /* the value after 0 */
    SIMULATOR_ATOMIC_MIN_SIGNED,
    SIMULATOR_ATOMIC_MAX_SIGNED,
    SIMULATOR_ATOMIC_MIN_UNSIGNED,
    SIMULATOR_ATOMIC_MAX_UNSIGNED,
    SIMULATOR_ATOMIC_ADD_FLOAT,
    SIMULATOR_ATOMIC_MIN_FLOAT,
    SIMULATOR_ATOMIC_MAX_FLOAT,
    SIMULATOR_ATOMIC_LOAD,
    SIMULATOR_ATOMIC_STORE
};

template <typename Word, typename Signed, typename Float>
inline Word simulator_atomic_result(Word old, int operation, Word value, Word expected)
{
    const Signed signed_old = static_cast<Signed>(old);
    const Signed signed_value = static_cast<Signed>(value);
    Float        a;
    Float        b;
    std::memcpy(&a, &old, sizeof a);
    std::memcpy(&b, &value, sizeof b);
    switch (operation) {
    case SIMULATOR_ATOMIC_COMPARE: return old == expected ? value : old;
    case SIMULATOR_ATOMIC_ADD: return old + value;
    case SIMULATOR_ATOMIC_SUBTRACT: return old - value;
    case SIMULATOR_ATOMIC_AND: return old & value;
    case SIMULATOR_ATOMIC_OR: return old | value;
    case SIMULATOR_ATOMIC_XOR: return old ^ value;
    case SIMULATOR_ATOMIC_INCREMENT: return old >= value ? 0 : old + 1;
    case SIMULATOR_ATOMIC_DECREMENT: return old == 0 || old > value ? value : old - 1;
    case SIMULATOR_ATOMIC_MIN_SIGNED: return signed_value < signed_old ? value : old;
    case SIMULATOR_ATOMIC_MAX_SIGNED: return signed_old < signed_value ? value : old;
    case SIMULATOR_ATOMIC_MIN_UNSIGNED: return value < old ? value : old;
    case SIMULATOR_ATOMIC_MAX_UNSIGNED: return old < value ? value : old;
    case SIMULATOR_ATOMIC_MIN_FLOAT: return b < a ? value : old;
    case SIMULATOR_ATOMIC_MAX_FLOAT: return a < b ? value : old;
    case SIMULATOR_ATOMIC_ADD_FLOAT: {
        const Float sum = a + b;
        Word        word;
        std::memcpy(&word, &sum, sizeof word);
        return word;
    }
    case SIMULATOR_ATOMIC_LOAD: return old;
    default: return value;
    }
}

/* Carries it out on 4 or 8 bytes at the address. */
inline uint64_t simulator_atomic_apply(void *address, size_t bytes, int operation, uint64_t value, uint64_t expected)
{
    if (bytes == 4) {
        uint32_t old;
        std::memcpy(&old, address, sizeof old);
        const uint32_t next = simulator_atomic_result<uint32_t, int32_t, float>(
            old, operation, static_cast<uint32_t>(value), static_cast<uint32_t>(expected));
        std::memcpy(address, &next, sizeof next);
        return old;
    }
    uint64_t old;
    std::memcpy(&old, address, sizeof old);
    const uint64_t next = simulator_atomic_result<uint64_t, int64_t, double>(old, operation, value, expected);
    std::memcpy(address, &next, sizeof next);
    return old;
}

#endif
