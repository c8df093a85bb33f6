/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector types of CUDA and HIP, with CUDA's alignments: a load through a pointer that is not aligned like this is a
 * finding. Part of device.h.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_VECTOR_H
#define TOPKCTS_SIMULATOR_DEVICE_VECTOR_H

#define SIMULATOR_VECTORS(name, element, align2, align4)                                                               \
    struct name##1 { element x; };                                                                                     \
    struct alignas(align2) name##2 { element x, y; };                                                                  \
    struct name##3 { element x, y, z; };                                                                               \
    struct alignas(align4) name##4 { element x, y, z, w; };                                                            \
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

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#endif
