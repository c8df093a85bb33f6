/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics of the device language, on 32- and 64-bit words in LDS or global memory alike. They return the old value.
 * Part of device.h. Linked-in kernels do them in place; a watched module hands them to the simulator, so that memory is
 * touched by nobody else.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_ATOMIC_H
#define TOPKCTS_SIMULATOR_DEVICE_ATOMIC_H

#include "atomic_word.h"

#if defined(TOPKCTS_WATCHED)

extern "C" uint64_t simulator_atomic_update(void *address, size_t bytes, int operation, uint64_t value,
                                            uint64_t expected);

template <typename T, typename V>
SIMULATOR_INLINE T simulator_atomic(T *address, int operation, V operand, V expected = V())
{
    using Word = std::remove_cv_t<T>;
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are on 32- and 64-bit words");
    return simulator_unword<Word>(simulator_atomic_update(const_cast<Word *>(address), sizeof(T), operation,
                                                          simulator_word(static_cast<Word>(operand)),
                                                          simulator_word(static_cast<Word>(expected))));
}

#else

template <typename T, typename V>
SIMULATOR_INLINE T simulator_atomic(T *address, int operation, V operand, V expected = V())
{
    using Word = std::remove_cv_t<T>;
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are on 32- and 64-bit words");
    if (--simulator_atomics_left < 0) simulator_switch_at_atomic();
    return simulator_unword<Word>(simulator_atomic_apply(const_cast<Word *>(address), sizeof(T), operation,
                                                         simulator_word(static_cast<Word>(operand)),
                                                         simulator_word(static_cast<Word>(expected))));
}

#endif

/* The operation for the type: signed words compare as signed, floats add and compare as floats. */
template <typename T> constexpr int simulator_operation(int on_unsigned, int on_signed, int on_float)
{
    return std::is_floating_point<T>::value ? on_float : std::is_signed<T>::value ? on_signed : on_unsigned;
}

#define SIMULATOR_ATOMIC(name, on_unsigned, on_signed, on_float)                                                       \
    template <typename T, typename U> SIMULATOR_INLINE std::remove_cv_t<T> name(T *address, U operand)                           \
    {                                                                                                                  \
        using Word = std::remove_cv_t<T>;                                                                              \
        return simulator_atomic(address, simulator_operation<Word>(on_unsigned, on_signed, on_float),                  \
                                static_cast<Word>(operand));                                                           \
    }
/* Each with the names for a scope: every scope acts as the whole device. */
#define SIMULATOR_ATOMIC_SCOPES(name, ...)                                                                             \
    SIMULATOR_ATOMIC(name, __VA_ARGS__)                                                                                \
    SIMULATOR_ATOMIC(name##_block, __VA_ARGS__)                                                                        \
    SIMULATOR_ATOMIC(name##_system, __VA_ARGS__)
SIMULATOR_ATOMIC_SCOPES(atomicAdd, SIMULATOR_ATOMIC_ADD, SIMULATOR_ATOMIC_ADD, SIMULATOR_ATOMIC_ADD_FLOAT)
SIMULATOR_ATOMIC_SCOPES(atomicSub, SIMULATOR_ATOMIC_SUBTRACT, SIMULATOR_ATOMIC_SUBTRACT, SIMULATOR_ATOMIC_SUBTRACT)
SIMULATOR_ATOMIC_SCOPES(atomicMin, SIMULATOR_ATOMIC_MIN_UNSIGNED, SIMULATOR_ATOMIC_MIN_SIGNED, SIMULATOR_ATOMIC_MIN_FLOAT)
SIMULATOR_ATOMIC_SCOPES(atomicMax, SIMULATOR_ATOMIC_MAX_UNSIGNED, SIMULATOR_ATOMIC_MAX_SIGNED, SIMULATOR_ATOMIC_MAX_FLOAT)
SIMULATOR_ATOMIC_SCOPES(atomicAnd, SIMULATOR_ATOMIC_AND, SIMULATOR_ATOMIC_AND, SIMULATOR_ATOMIC_AND)
SIMULATOR_ATOMIC_SCOPES(atomicOr, SIMULATOR_ATOMIC_OR, SIMULATOR_ATOMIC_OR, SIMULATOR_ATOMIC_OR)
SIMULATOR_ATOMIC_SCOPES(atomicXor, SIMULATOR_ATOMIC_XOR, SIMULATOR_ATOMIC_XOR, SIMULATOR_ATOMIC_XOR)
SIMULATOR_ATOMIC_SCOPES(atomicExch, SIMULATOR_ATOMIC_EXCHANGE, SIMULATOR_ATOMIC_EXCHANGE, SIMULATOR_ATOMIC_EXCHANGE)
SIMULATOR_ATOMIC_SCOPES(atomicInc, SIMULATOR_ATOMIC_INCREMENT, SIMULATOR_ATOMIC_INCREMENT, SIMULATOR_ATOMIC_INCREMENT)
SIMULATOR_ATOMIC_SCOPES(atomicDec, SIMULATOR_ATOMIC_DECREMENT, SIMULATOR_ATOMIC_DECREMENT, SIMULATOR_ATOMIC_DECREMENT)
SIMULATOR_ATOMIC(unsafeAtomicAdd, SIMULATOR_ATOMIC_ADD, SIMULATOR_ATOMIC_ADD, SIMULATOR_ATOMIC_ADD_FLOAT)
#undef SIMULATOR_ATOMIC_SCOPES
#undef SIMULATOR_ATOMIC

template <typename T, typename U, typename V> SIMULATOR_INLINE std::remove_cv_t<T> atomicCAS(T *address, U expected, V desired)
{
    using Word = std::remove_cv_t<T>;
    return simulator_atomic(address, SIMULATOR_ATOMIC_COMPARE, static_cast<Word>(desired), static_cast<Word>(expected));
}
template <typename T, typename U, typename V>
SIMULATOR_INLINE std::remove_cv_t<T> atomicCAS_block(T *address, U expected, V desired)
{
    return atomicCAS(address, expected, desired);
}
template <typename T, typename U, typename V>
SIMULATOR_INLINE std::remove_cv_t<T> atomicCAS_system(T *address, U expected, V desired)
{
    return atomicCAS(address, expected, desired);
}

#endif
