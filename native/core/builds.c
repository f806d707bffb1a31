/* SPDX-License-Identifier: MIT
 *
 * The choice of the build that runs.
 */
#include "builds.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
_Atomic int ik2b_build_in_use;

static int
best_build(void)
{
    bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return has_avx512 ? IK2B_AVX512 : __builtin_cpu_supports("avx2") ? IK2B_AVX2 : IK2B_PLAIN;
}
#endif

const char *
ik2b_choose_build(void)
{
    static const char *const names[] = {"plain", "avx2", "avx512"};
    const char *asked = getenv("IK2BONE_BUILD");
    int build = IK2B_PLAIN;
#if defined(__x86_64__) && defined(__GNUC__)
    build = best_build();
#endif
    while (asked && *asked && strcmp(asked, names[build]) != 0) {
        if (build-- == 0) {
            return NULL;
        }
    }
#if defined(__x86_64__) && defined(__GNUC__)
    ik2b_build_in_use = build;
#endif
    return names[build];
}
