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

typedef float real;
typedef float quat[4];
#define IK2B_KIND IK2B_F32
#define IK2B_NAME(function) ik2b_##function##_f32
#define IK2B_EPSILON ((double)FLT_EPSILON)
/* A mid joint so near to the line root-end, in units of the reach, is on it. */
#define IK2B_STRAIGHT 1e-5
/* A stage that moves the end by less, in units of the reach, does not flag it. */
#define IK2B_MOVED 1e-6
#define IK2B_ROOT_STEPS 1
#define r3_dot glm_vec3_dot
#define r3_norm glm_vec3_norm
#define r3_add glm_vec3_add
#define r3_sub glm_vec3_sub
#define r3_copy glm_vec3_copy
#define r3_scale glm_vec3_scale
#define r3_muladds glm_vec3_muladds
#define r3_cross(a, b, dest) glm_vec3_cross(a, b, dest)

#else

typedef double real;
typedef double quat[4];
#define IK2B_KIND IK2B_F64
#define IK2B_NAME(function) ik2b_##function##_f64
#define IK2B_EPSILON DBL_EPSILON
#define IK2B_STRAIGHT 1e-12
#define IK2B_MOVED 1e-12
#define IK2B_ROOT_STEPS 2
#define r3_dot d3_dot
#define r3_norm d3_norm
#define r3_add d3_add
#define r3_sub d3_sub
#define r3_copy d3_copy
#define r3_scale d3_scale
#define r3_muladds d3_muladds
#define r3_cross d3_cross

#endif

/* The sine of an angle that the rounding of the input alone can make: below it two directions are
 * parallel, or opposite. */
#define IK2B_PARALLEL (16.0 * IK2B_EPSILON)

/* Squares of lengths between this and its inverse fit single precision. */
#define IK2B_LEAST_SQUARE 0x1p-124

/* 1 / sqrt(square) for an ordinary square, else no number that means anything. By single precision
 * and Newton's step, which squares the error, 1e-7: square root and division in double precision
 * are what costs most in a tile. */
IK2B_IN_LINE double
inverse_root(double square)
{
    double result = (double)(1.0f / sqrtf((float)square));
    for (int step = 0; step < IK2B_ROOT_STEPS; step++) {
        result *= 1.5 - 0.5 * (square * result) * result;
    }
    return result;
}

IK2B_IN_LINE real
real_inverse_root(real square)
{
#ifdef IK2B_SINGLE
    return 1.0f / sqrtf(square);
#else
    return inverse_root(square);
#endif
}

/* Of a square that is ordinary or as good as zero. */
IK2B_IN_LINE real
real_root(real square)
{
#ifdef IK2B_SINGLE
    return sqrtf(square);
#else
    double root = square * inverse_root(square);
    return square >= IK2B_LEAST_SQUARE ? root : 0.0;
#endif
}

IK2B_IN_LINE int
is_between(double square, double least)
{
    return (int)(square >= least) & (int)(square <= 1.0 / least);
}

IK2B_IN_LINE int
is_ordinary(double square)
{
    return is_between(square, IK2B_LEAST_SQUARE);
}

/* Square root of a square that is ordinary or as good as zero. */
IK2B_IN_LINE double
ordinary_root(double square)
{
    double root = square * inverse_root(square);
    return square >= IK2B_LEAST_SQUARE ? root : 0.0;
}

/* v by 1 / its length, for a length near 1. */
IK2B_IN_LINE void
d3_finish(const double v[3], double dest[3])
{
    d3_scale(v, 1.5 - 0.5 * d3_dot(v, v), dest);
}

/* Length of any vector but zero, with the digits that a tile gives an ordinary one. */
static inline double
d3_measure(const double v[3], double *inverse)
{
    double square = d3_dot(v, v), scale = 1.0, scaled[3];
    if (!is_ordinary(square)) {
        scale = power_of_two_under(d3_largest(v));
        d3_scale(v, scale, scaled);
        square = d3_dot(scaled, scaled);
    }
    double root = inverse_root(square);
    *inverse = root * scale;
    return square * root / scale;
}

IK2B_IN_LINE void
to_real(const double v[3], real dest[3])
{
    for (int i = 0; i < 3; i++) {
        dest[i] = (real)v[i];
    }
}

/* Product of quaternions; glm_quat_mul is one row's vector instructions, which no tile can use. */
IK2B_IN_LINE void
r4_mul(const real p[4], const real q[4], real dest[4])
{
    real x = p[3] * q[0] + p[0] * q[3] + (p[1] * q[2] - p[2] * q[1]);
    real y = p[3] * q[1] + p[1] * q[3] + (p[2] * q[0] - p[0] * q[2]);
    real z = p[3] * q[2] + p[2] * q[3] + (p[0] * q[1] - p[1] * q[0]);
    dest[3] = p[3] * q[3] - (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
    dest[0] = x;
    dest[1] = y;
    dest[2] = z;
}

IK2B_IN_LINE void
to_double(const real v[3], double dest[3])
{
    for (int i = 0; i < 3; i++) {
        dest[i] = (double)v[i];
    }
}

#endif
