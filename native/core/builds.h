/* SPDX-License-Identifier: MIT
 *
 * One function compiled several times: as it is, for AVX2 and for AVX-512. The best build that the
 * processor has runs, or a lesser one that the environment variable IK2BONE_VECTORS names: "sse2"
 * or "avx2". No fused multiply-add, so that all give the same digits.
 */
#ifndef IK2B_BUILDS_H
#define IK2B_BUILDS_H

#include <stdlib.h>
#include <string.h>

/* Before a loop over lanes that do not depend on each other. Unrolling a loop of constant length
 * first would leave gcc nothing to make vectors of. */
#if defined(__clang__)
#define IK2B_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define IK2B_LANE_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define IK2B_LANE_LOOP
#endif

#if defined(__clang__)
#define IK2B_AVX512 "avx512f,avx512dq,avx512vl"
#else
#define IK2B_AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#endif

/* Makes name(), which gives the build to call. The parameters are in parentheses, with names; the
 * arguments are the same names again. `run` must be in line. */
#if defined(__x86_64__) && defined(__GNUC__)

enum { IK2B_SSE2, IK2B_AVX2, IK2B_AVX_512 };
static int ik2b_vectors;

/* When the library is loaded: the environment is not read again. */
__attribute__((constructor)) static void
choose_vectors(void)
{
    const char *wanted = getenv("IK2BONE_VECTORS");
    __builtin_cpu_init();
    ik2b_vectors = __builtin_cpu_supports("avx2") ? IK2B_AVX2 : IK2B_SSE2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        ik2b_vectors = IK2B_AVX_512;
    }
    if (wanted && strcmp(wanted, "sse2") == 0) {
        ik2b_vectors = IK2B_SSE2;
    }
    else if (wanted && strcmp(wanted, "avx2") == 0 && ik2b_vectors > IK2B_AVX2) {
        ik2b_vectors = IK2B_AVX2;
    }
}

#define IK2B_BUILDS(name, run, parameters, arguments)                                              \
    __attribute__((target(IK2B_AVX512))) static void name##_avx512 parameters                      \
    {                                                                                              \
        run arguments;                                                                             \
    }                                                                                              \
    __attribute__((target("avx2"))) static void name##_avx2 parameters                             \
    {                                                                                              \
        run arguments;                                                                             \
    }                                                                                              \
    static void name##_plain parameters                                                            \
    {                                                                                              \
        run arguments;                                                                             \
    }                                                                                              \
    static inline void(*name(void)) parameters                                                     \
    {                                                                                              \
        return ik2b_vectors == IK2B_AVX_512 ? name##_avx512                                        \
               : ik2b_vectors == IK2B_AVX2  ? name##_avx2                                          \
                                            : name##_plain;                                        \
    }
#else
#define IK2B_BUILDS(name, run, parameters, arguments)                                              \
    static void name##_plain parameters                                                            \
    {                                                                                              \
        run arguments;                                                                             \
    }                                                                                              \
    static inline void(*name(void)) parameters                                                     \
    {                                                                                              \
        return name##_plain;                                                                       \
    }
#endif

#endif
