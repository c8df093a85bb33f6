/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector types of CUDA and HIP, with CUDA's alignments: a load through a pointer that is not aligned like this is a
 * finding. Part of device.h.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_VECTOR_H
#define TOPKCTS_SIMULATOR_DEVICE_VECTOR_H

#if defined(TOPKCTS_WATCHED)

extern "C" void simulator_note_unaligned(const void *address, unsigned alignment);

/* Compilers take the alignment of a type for granted; the detour through an empty assembly hides where the address came
 * from, so that it can be looked at. */
template <unsigned alignment> SIMULATOR_INLINE void simulator_check_alignment(const void *address)
{
    uintptr_t number;
    __asm__("" : "=r"(number) : "0"(address));
    if ((number & (alignment - 1)) != 0) simulator_note_unaligned(reinterpret_cast<const void *>(number), alignment);
}

#define SIMULATOR_VECTOR2(type, element, align)                                                                        \
    struct alignas(align) type {                                                                                       \
        element x, y;                                                                                                  \
        type() = default;                                                                                              \
        constexpr type(element x_, element y_ = 0) : x(x_), y(y_) {}                                                   \
        SIMULATOR_INLINE type(const type &o) : x(o.x), y(o.y) { simulator_check_alignment<align>(&o); }                \
        SIMULATOR_INLINE type &operator=(const type &o)                                                                \
        {                                                                                                              \
            simulator_check_alignment<align>(&o);                                                                      \
            simulator_check_alignment<align>(this);                                                                    \
            x = o.x, y = o.y;                                                                                          \
            return *this;                                                                                              \
        }                                                                                                              \
    };
#define SIMULATOR_VECTOR4(type, element, align)                                                                        \
    struct alignas(align) type {                                                                                       \
        element x, y, z, w;                                                                                            \
        type() = default;                                                                                              \
        constexpr type(element x_, element y_ = 0, element z_ = 0, element w_ = 0) : x(x_), y(y_), z(z_), w(w_) {}     \
        SIMULATOR_INLINE type(const type &o) : x(o.x), y(o.y), z(o.z), w(o.w)                                          \
        {                                                                                                              \
            simulator_check_alignment<align>(&o);                                                                      \
        }                                                                                                              \
        SIMULATOR_INLINE type &operator=(const type &o)                                                                \
        {                                                                                                              \
            simulator_check_alignment<align>(&o);                                                                      \
            simulator_check_alignment<align>(this);                                                                    \
            x = o.x, y = o.y, z = o.z, w = o.w;                                                                        \
            return *this;                                                                                              \
        }                                                                                                              \
    };

#else

#define SIMULATOR_VECTOR2(type, element, align)                                                                        \
    struct alignas(align) type { element x, y; };
#define SIMULATOR_VECTOR4(type, element, align)                                                                        \
    struct alignas(align) type { element x, y, z, w; };

#endif

#define SIMULATOR_VECTORS(name, element, align2, align4)                                                               \
    struct name##1 { element x; };                                                                                     \
    SIMULATOR_VECTOR2(name##2, element, align2)                                                                        \
    struct name##3 { element x, y, z; };                                                                               \
    SIMULATOR_VECTOR4(name##4, element, align4)                                                                        \
    inline name##1 make_##name##1(element x) { return {x}; }                                                           \
    inline name##2 make_##name##2(element x, element y) { return {x, y}; }                                             \
    inline name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; }                               \
    inline name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }
SIMULATOR_VECTORS(char, signed char, 2, 4)
SIMULATOR_VECTORS(uchar, unsigned char, 2, 4)
SIMULATOR_VECTORS(short, short, 4, 8)
SIMULATOR_VECTORS(ushort, unsigned short, 4, 8)
SIMULATOR_VECTORS(int, int, 8, 16)
SIMULATOR_VECTORS(uint, unsigned, 8, 16)
SIMULATOR_VECTORS(long, long, 16, 16)
SIMULATOR_VECTORS(ulong, unsigned long, 16, 16)
SIMULATOR_VECTORS(longlong, long long, 16, 16)
SIMULATOR_VECTORS(ulonglong, unsigned long long, 16, 16)
SIMULATOR_VECTORS(float, float, 8, 16)
SIMULATOR_VECTORS(double, double, 16, 16)
#undef SIMULATOR_VECTORS
#undef SIMULATOR_VECTOR2
#undef SIMULATOR_VECTOR4

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#endif
