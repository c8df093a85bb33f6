/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of any float type as the bits of float32; see capture.h. */
#include "harness/import/capture.h"

#include <string.h>

/* Every float16 is a float32: the exponent is re-biased, a denormal becomes a normal number, payloads of NaN move up. */
static uint32_t from_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction)
        return sign;
    exponent = 113;
    while (!(fraction & 1024)) {
        fraction <<= 1;
        exponent--;
    }
    return sign | exponent << 23 | (fraction & 1023) << 13;
}

/* Whether float32 holds the float64 exactly. NaNs do when their payload fits. */
static bool from_double(uint64_t wide, uint32_t *bits)
{
    double value;
    memcpy(&value, &wide, sizeof value);
    if ((wide & UINT64_C(0x7fffffffffffffff)) > UINT64_C(0x7ff0000000000000)) {
        *bits = ((uint32_t)(wide >> 32) & 0x80000000) | 0x7f800000 | (uint32_t)(wide >> 29 & 0x7fffff);
        return (wide & 0x1fffffff) == 0 && (*bits & 0x7fffff) != 0;
    }
    float  narrow = (float)value;
    double again = narrow;
    uint64_t again_bits;
    memcpy(bits, &narrow, sizeof *bits);
    memcpy(&again_bits, &again, sizeof again_bits);
    return again_bits == wide;
}

const char *score_type_text(const struct tensor *tensor)
{
    if (tensor->kind == TENSOR_BFLOAT)
        return "bfloat16";
    return tensor->kind != TENSOR_FLOAT    ? NULL
           : tensor->element_bytes == 4 ? "float32"
           : tensor->element_bytes == 2 ? "float16"
           : tensor->element_bytes == 8 ? "float64"
                                        : NULL;
}

enum status score_bits(const struct tensor *tensor, const void *elements, int64_t n, uint32_t *bits, struct error *err)
{
    char text[TENSOR_TEXT_BYTES];
    tensor_describe(tensor, text);
    if (!score_type_text(tensor))
        return error_set(err, STATUS_USAGE,
                         "%s: tensor '%s' is %s; scores are float32, float16, bfloat16, or float64 that float32 holds "
                         "exactly%s", tensor->file, tensor->name, text,
                         tensor->type[0] == 'V' ? " (NumPy has no bfloat16: save as float32 or as safetensors)" : "");
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *at = (const unsigned char *)elements + i * tensor->element_bytes;
        uint16_t             half;
        uint64_t             wide;
        if (tensor->element_bytes == 4)
            memcpy(&bits[i], at, sizeof bits[i]);
        else if (tensor->element_bytes == 2) {
            memcpy(&half, at, sizeof half);
            bits[i] = tensor->kind == TENSOR_BFLOAT ? (uint32_t)half << 16 : from_half(half);
        } else {
            memcpy(&wide, at, sizeof wide);
            if (!from_double(wide, &bits[i])) {
                double value;
                memcpy(&value, &wide, sizeof value);
                return error_set(err, STATUS_USAGE,
                                 "%s: tensor '%s', element %lld: %.17g is no float32; convert the scores as the kernel gets "
                                 "them", tensor->file, tensor->name, (long long)i, value);
            }
        }
    }
    return STATUS_OK;
}
