/* SPDX-License-Identifier: MIT
 *
 * Tiles: sixteen rows as a structure of arrays, so that a plain case's loop over them becomes
 * vector instructions, of the largest vectors that the processor has.
 */
#ifndef IK2B_TILE_H
#define IK2B_TILE_H

#include "rows.h"

#define IK2B_LANES 16

/* Fewer rows than this are done one by one. */
#define IK2B_FEW 4

#if defined(__clang__)
#define IK2B_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define IK2B_LANE_LOOP _Pragma("GCC ivdep")
#else
#define IK2B_LANE_LOOP
#endif

#if defined(__clang__)
#define IK2B_AVX512 "avx512f,avx512dq,avx512vl"
#else
#define IK2B_AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#endif

/* Compiles run(tile) as it is, for AVX2 and for AVX-512, and chooses by what the processor has. No
 * fused multiply-add, so that all give the same digits. */
#if defined(__x86_64__) && defined(__GNUC__)
#define IK2B_TILE_RUNNERS(name, run, tile_type)                                                    \
    __attribute__((target(IK2B_AVX512))) static void name##_avx512(tile_type *tile)                \
    {                                                                                              \
        run(tile);                                                                                 \
    }                                                                                              \
    __attribute__((target("avx2"))) static void name##_avx2(tile_type *tile)                       \
    {                                                                                              \
        run(tile);                                                                                 \
    }                                                                                              \
    static void name##_plain(tile_type *tile)                                                      \
    {                                                                                              \
        run(tile);                                                                                 \
    }                                                                                              \
    static inline void (*name(void))(tile_type *)                                                  \
    {                                                                                              \
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&          \
                       __builtin_cpu_supports("avx512vl")                                          \
                   ? name##_avx512                                                                 \
               : __builtin_cpu_supports("avx2") ? name##_avx2                                      \
                                                : name##_plain;                                    \
    }
#else
#define IK2B_TILE_RUNNERS(name, run, tile_type)                                                    \
    static void name##_plain(tile_type *tile)                                                      \
    {                                                                                              \
        run(tile);                                                                                 \
    }                                                                                              \
    static inline void (*name(void))(tile_type *)                                                  \
    {                                                                                              \
        return name##_plain;                                                                       \
    }
#endif

/* Reads one element of `count` rows. */
static inline void
gather(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count, double dest[])
{
    const char *place = array->data + offset;
    if (array->kind == IK2B_F32) {
        for (int k = 0; k < count; k++) {
            float number;
            memcpy(&number, place + k * stride, sizeof number);
            dest[k] = (double)number;
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        memcpy(&dest[k], place + k * stride, sizeof dest[k]);
    }
}

static inline void
gather_vectors(const ik2b_array *array, int last, int count, double dest[3][IK2B_LANES])
{
    for (int i = 0; i < 3; i++) {
        gather(array, i * array->inner[0], array->stride[last], count, dest[i]);
    }
}

/* Writes one element of `count` rows. */
static inline void
scatter(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count,
        const double source[])
{
    char *place = array->data + offset;
    if (array->kind == IK2B_F32) {
        for (int k = 0; k < count; k++) {
            float number = (float)source[k];
            memcpy(place + k * stride, &number, sizeof number);
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        memcpy(place + k * stride, &source[k], sizeof source[k]);
    }
}

static inline void
scatter_vectors(const ik2b_array *array, int last, int count, const double source[3][IK2B_LANES])
{
    for (int i = 0; i < 3; i++) {
        scatter(array, i * array->inner[0], array->stride[last], count, source[i]);
    }
}

/* From `start` rows on along the last dimension, and back again for -start. */
static inline void
shift_rows(ik2b_array *args, int count, int last, ptrdiff_t start)
{
    for (int i = 0; i < count; i++) {
        if (args[i].data) {
            args[i].data += start * args[i].stride[last];
        }
    }
}

#endif
