/* SPDX-License-Identifier: MIT
 *
 * The choice of the build that runs.
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

static ik2b_build
best_build(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return has_avx512 ? IK2B_AVX512 : __builtin_cpu_supports("avx2") ? IK2B_AVX2 : IK2B_PLAIN;
#else
    return IK2B_PLAIN;
#endif
}

/* The build that the environment variable IK2BONE_BUILD names, or the best build if the variable is
 * unset or empty; BUILDS if the name is unknown or this processor lacks that build. */
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

#if defined(__x86_64__) && defined(__GNUC__)
_Atomic int ik2b_chosen_build;

/* Threads that call this at the same time all choose the same build. */
int
ik2b_choose_build(void)
{
    int wanted = wanted_build(), chosen = 1 + (wanted < BUILDS ? wanted : (int)best_build());
    ik2b_chosen_build = chosen;
    return chosen;
}
#endif
