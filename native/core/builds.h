/* SPDX-License-Identifier: MIT
 *
 * One function compiled several times: as it is, for AVX2 and for AVX-512. The build that runs is
 * chosen by what the processor has. No build uses fused multiply-add, so that all of them give the
 * same digits.
 *
 * The builds exist where gcc or clang compile for x86-64. Elsewhere there is only the plain build.
 * gcc and clang compile it with the target's own vectors (NEON on ARM), clang-cl partly with SSE2,
 * and cl.exe with what its vectorizer makes of loops that are marked as independent.
 */
#ifndef IK2B_BUILDS_H
#define IK2B_BUILDS_H

/* In rising order of preference. */
typedef enum { IK2B_PLAIN, IK2B_AVX2, IK2B_AVX512 } ik2b_build;

/* Chooses the build that runs, which is the plain one before: the best one that the processor has
 * or, for tests, the one that the environment variable IK2BONE_BUILD names: "plain", "avx2" or
 * "avx512". Returns its name; NULL, without a choice, if this processor has no build of that
 * name. */
const char *ik2b_choose_build(void);

#if defined(__x86_64__) && defined(__GNUC__)
extern _Atomic int ik2b_build_in_use;
#endif

/* Stands before a loop over lanes that do not depend on each other. gcc must not unroll such a loop
 * of constant length, because it would find no loop to vectorize afterwards. */
#if defined(__clang__)
#define IK2B_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define IK2B_LANE_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#elif defined(_MSC_VER)
#define IK2B_LANE_LOOP __pragma(loop(ivdep))
#else
#define IK2B_LANE_LOOP
#endif

#if defined(__clang__)
#define IK2B_AVX512_TARGET "avx512f,avx512dq,avx512vl"
#else
#define IK2B_AVX512_TARGET "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#endif

/* Makes name(), which returns the build of `run` to call. `parameters` are in parentheses and have
 * names. `arguments` are the same names in parentheses, and may include IK2B_OF_BUILD, the build
 * itself, and IK2B_TOGETHER, the number of lanes of a tile that are processed at once. AVX2
 * processes eight lanes at once, as many floats as its vectors hold: with sixteen, gcc unrolls the
 * loop's two rounds into code of twice the size. `run` must be inlined. */
#define IK2B_BUILD(name, run, parameters, arguments, build)                                        \
    static void name parameters                                                                    \
    {                                                                                              \
        enum { IK2B_OF_BUILD = build, IK2B_TOGETHER = build == IK2B_AVX2 ? 8 : 16 };               \
        run arguments;                                                                             \
    }
#if defined(__x86_64__) && defined(__GNUC__)
/* clang-format off */
#define IK2B_BUILDS(name, run, parameters, arguments)                                              \
    __attribute__((target(IK2B_AVX512_TARGET)))                                                    \
    IK2B_BUILD(name##_avx512, run, parameters, arguments, IK2B_AVX512)                             \
    __attribute__((target("avx2")))                                                                \
    IK2B_BUILD(name##_avx2, run, parameters, arguments, IK2B_AVX2)                                 \
    IK2B_BUILD(name##_plain, run, parameters, arguments, IK2B_PLAIN)                               \
    static inline void(*name(void)) parameters                                                     \
    {                                                                                              \
        int build = ik2b_build_in_use;                                                             \
        return build == IK2B_AVX512 ? name##_avx512                                                \
               : build == IK2B_AVX2 ? name##_avx2                                                  \
                                    : name##_plain;                                                \
    }
/* clang-format on */
#else
#define IK2B_BUILDS(name, run, parameters, arguments)                                              \
    IK2B_BUILD(name##_plain, run, parameters, arguments, IK2B_PLAIN)                               \
    static inline void(*name(void)) parameters                                                     \
    {                                                                                              \
        return name##_plain;                                                                       \
    }
#endif

#endif
