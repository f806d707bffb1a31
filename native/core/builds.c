/* SPDX-License-Identifier: MIT
 *
 * The choice among builds.
 */
#include "builds.h"

#include <stdlib.h>
#include <string.h>

enum { BUILDS = IK2B_AVX512 + 1 };

static const char *const names[BUILDS] = {"plain", "avx2", "avx512"};

const char *
ik2b_build_name(ik2b_build build)
{
    return names[build];
}

#if defined(__x86_64__) && defined(__GNUC__)

static ik2b_build
best_build(void)
{
    bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return has_avx512 ? IK2B_AVX512 : __builtin_cpu_supports("avx2") ? IK2B_AVX2 : IK2B_PLAIN;
}

#else

static ik2b_build
best_build(void)
{
    return IK2B_PLAIN;
}

#endif

/* The build that the environment names, the best where it names none, BUILDS for a wrong name. */
static int
wanted_build(void)
{
    const char *word = getenv("IK2BONE_BUILD");
    int best = (int)best_build();
    if (!word || !*word) {
        return best;
    }
    for (int build = 0; build <= best; build++) {
        if (strcmp(word, names[build]) == 0) {
            return build;
        }
    }
    return BUILDS;
}

bool
ik2b_build_is_known(void)
{
    return wanted_build() < BUILDS;
}

ik2b_build
ik2b_build_in_use(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    static _Atomic int chosen; /* 0: not yet, else one more than the build; threads agree on it */
    int known = chosen;
    if (!known) {
        int wanted = wanted_build();
        chosen = known = 1 + (wanted < BUILDS ? wanted : (int)best_build());
    }
    return (ik2b_build)(known - 1);
#else
    return IK2B_PLAIN;
#endif
}
