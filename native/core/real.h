/* SPDX-License-Identifier: MIT
 *
 * One source, two precisions: directions and rotations are `real`, by cglm's functions in single
 * and by ours in double precision. Lengths, positions and matrices are double in both. cglm's
 * quat_from_vecs and normalize have dead zones and are not used.
 */
#ifndef IK2B_REAL_H
#define IK2B_REAL_H

#include "vector.h"

#ifdef IK2B_SINGLE

#include <cglm/vec3.h>
#include <cglm/quat.h>

typedef float real;
typedef versor quat;
#define IK2B_NAME(function) ik2b_##function##_f32
#define IK2B_EPSILON ((double)FLT_EPSILON)
/* A mid joint so near to the line root-end, in units of the reach, is on it. */
#define IK2B_STRAIGHT 1e-5
/* A stage that moves the end by less, in units of the reach, does not flag it. */
#define IK2B_MOVED 1e-6
#define r3_dot glm_vec3_dot
#define r3_norm glm_vec3_norm
#define r3_add glm_vec3_add
#define r3_sub glm_vec3_sub
#define r3_scale glm_vec3_scale
#define r3_muladds glm_vec3_muladds
#define r3_cross(a, b, dest) glm_vec3_cross(a, b, dest)
#define r4_mul glm_quat_mul

#else

typedef double real;
typedef double quat[4];
#define IK2B_NAME(function) ik2b_##function##_f64
#define IK2B_EPSILON DBL_EPSILON
#define IK2B_STRAIGHT 1e-12
#define IK2B_MOVED 1e-12
#define r3_dot d3_dot
#define r3_norm d3_norm
#define r3_add d3_add
#define r3_sub d3_sub
#define r3_scale d3_scale
#define r3_muladds d3_muladds
#define r3_cross d3_cross
#define r4_mul d4_mul

#endif

/* The sine of an angle that the rounding of the input alone can make: below it two directions are
 * parallel, or opposite. */
#define IK2B_PARALLEL (16.0 * IK2B_EPSILON)

static inline void
to_real(const double v[3], real dest[3])
{
    for (int i = 0; i < 3; i++) {
        dest[i] = (real)v[i];
    }
}

static inline void
to_double(const real v[3], double dest[3])
{
    for (int i = 0; i < 3; i++) {
        dest[i] = (double)v[i];
    }
}

#endif
