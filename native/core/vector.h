/* SPDX-License-Identifier: MIT
 *
 * Vectors, 3 x 3 matrices and quaternions (x, y, z, w) in double precision, which cglm does not
 * have. Names and shapes follow cglm's, with the destination last.
 */
#ifndef IK2B_VECTOR_H
#define IK2B_VECTOR_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A loop becomes vector instructions only if all functions that it calls are inlined
 * (IK2B_IN_LINE). Functions that have several callers and are not called in such loops stay out of
 * line (IK2B_APART). */
#if defined(__GNUC__)
#define IK2B_IN_LINE static inline __attribute__((always_inline))
#define IK2B_APART __attribute__((noinline, unused)) static
#else
#define IK2B_IN_LINE static inline
#define IK2B_APART static
#endif

/* The larger of two numbers, neither of them NaN; fmax and fmin would be calls. */
static inline double
larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double
smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double
d3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double
d3_norm(const double a[3])
{
    return sqrt(d3_dot(a, a));
}

static inline void
d3_copy(const double a[3], double dest[3])
{
    double x = a[0], y = a[1], z = a[2];
    dest[0] = x;
    dest[1] = y;
    dest[2] = z;
}

static inline void
d3_zero(double dest[3])
{
    dest[0] = dest[1] = dest[2] = 0.0;
}

static inline void
d3_add(const double a[3], const double b[3], double dest[3])
{
    dest[0] = a[0] + b[0];
    dest[1] = a[1] + b[1];
    dest[2] = a[2] + b[2];
}

static inline void
d3_sub(const double a[3], const double b[3], double dest[3])
{
    dest[0] = a[0] - b[0];
    dest[1] = a[1] - b[1];
    dest[2] = a[2] - b[2];
}

static inline void
d3_scale(const double a[3], double s, double dest[3])
{
    dest[0] = a[0] * s;
    dest[1] = a[1] * s;
    dest[2] = a[2] * s;
}

/* dest += a * s */
static inline void
d3_muladds(const double a[3], double s, double dest[3])
{
    dest[0] += a[0] * s;
    dest[1] += a[1] * s;
    dest[2] += a[2] * s;
}

static inline void
d3_cross(const double a[3], const double b[3], double dest[3])
{
    double c[3] = {
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    };
    d3_copy(c, dest);
}

/* The part of v perpendicular to the unit axis. */
static inline void
d3_reject(const double v[3], const double axis[3], double dest[3])
{
    double along = d3_dot(v, axis);
    d3_copy(v, dest);
    d3_muladds(axis, -along, dest);
}

static inline bool
d3_is_zero(const double v[3])
{
    return (v[0] == 0.0) & (v[1] == 0.0) & (v[2] == 0.0);
}

static inline double
d3_largest(const double v[3])
{
    return larger(larger(fabs(v[0]), fabs(v[1])), fabs(v[2]));
}

/* The power of two that brings a number that is not negative into [0.5, 1), limited to 2^-1001 to
 * 2^1022. Multiplication by it is exact. It is made of the number's bits, because frexp and ldexp
 * are calls. */
static inline double
power_of_two_under(double number)
{
    int64_t bits;
    number = smaller(number, 0x1p1000);
    memcpy(&bits, &number, sizeof bits);
    bits = ((int64_t)2045 << 52) - (bits & (int64_t)0x7ff << 52);
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The length of a vector whose square may overflow or vanish. */
IK2B_APART double
d3_long_norm(const double v[3])
{
    double largest = d3_largest(v);
    if (largest == 0.0 || !isfinite(largest)) {
        return largest;
    }
    double scale = power_of_two_under(largest), scaled[3];
    d3_scale(v, scale, scaled);
    return d3_norm(scaled) / scale;
}

/* v * s. If the result would be longer than about 2^600, it is shortened to that length, which is
 * farther away than everything else and still finite. */
static inline void
d3_scale_far(const double v[3], double s, double dest[3])
{
    double cap = power_of_two_under(d3_largest(v)) * 0x1p600;
    d3_scale(v, smaller(s, cap), dest);
}

/* The unit vector of v, which may have any length but zero. Returns the length of v. */
IK2B_APART double
d3_unit(const double v[3], double dest[3])
{
    double scale = power_of_two_under(d3_largest(v));
    d3_scale(v, scale, dest);
    double norm = d3_norm(dest);
    d3_scale(dest, 1.0 / norm, dest);
    return norm / scale;
}

/* The unit vector of a vector that is perpendicular to the unit axis. If it is the short rest of a
 * vector nearly along the axis, rounding makes it lean towards the axis; d3_reject removes that
 * component once more. */
static inline void
d3_unit_across(const double v[3], const double axis[3], double dest[3])
{
    d3_unit(v, dest);
    d3_reject(dest, axis, dest);
    d3_unit(dest, dest);
}

/* A unit vector perpendicular to v that depends on v alone: v crossed with the axis along which its
 * component is least. */
static inline void
d3_perpendicular(const double v[3], double dest[3])
{
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    double axis[3] = {0.0, 0.0, 0.0};
    axis[x <= y && x <= z ? 0 : y <= z ? 1 : 2] = 1.0;
    d3_cross(v, axis, dest);
    d3_unit(dest, dest);
}

/* 3 x 3 matrices, m[row][column] */

static inline void
d33_apply(double m[3][3], const double v[3], double dest[3])
{
    double result[3] = {d3_dot(m[0], v), d3_dot(m[1], v), d3_dot(m[2], v)};
    d3_copy(result, dest);
}

static inline void
d33_multiply(double a[3][3], double b[3][3], double dest[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
}

/* The cofactor matrix, which maps cross products as m maps vectors. Returns the determinant of
 * m. */
static inline double
d33_cofactor(double m[3][3], double dest[3][3])
{
    d3_cross(m[1], m[2], dest[0]);
    d3_cross(m[2], m[0], dest[1]);
    d3_cross(m[0], m[1], dest[2]);
    return d3_dot(m[0], dest[0]);
}

/* The sum of the squares of all elements. */
static inline double
d33_square(double m[3][3])
{
    return d3_dot(m[0], m[0]) + d3_dot(m[1], m[1]) + d3_dot(m[2], m[2]);
}

/* The inverse. Returns false if the determinant is at most `parallel` times the product of the
 * columns' lengths: the columns then count as lying in one plane. */
IK2B_APART bool
d33_invert(double m[3][3], double parallel, double dest[3][3])
{
    double cofactor[3][3], volume = 1.0;
    double determinant = d33_cofactor(m, cofactor);
    for (int j = 0; j < 3; j++) {
        volume *= sqrt(m[0][j] * m[0][j] + m[1][j] * m[1][j] + m[2][j] * m[2][j]);
    }
    if (!(fabs(determinant) > parallel * volume)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = cofactor[j][i] / determinant;
        }
    }
    return true;
}

/* Quaternions x, y, z, w */

IK2B_IN_LINE void
d4_mul(const double p[4], const double q[4], double dest[4])
{
    double x = p[3] * q[0] + p[0] * q[3] + (p[1] * q[2] - p[2] * q[1]);
    double y = p[3] * q[1] + p[1] * q[3] + (p[2] * q[0] - p[0] * q[2]);
    double z = p[3] * q[2] + p[2] * q[3] + (p[0] * q[1] - p[1] * q[0]);
    dest[3] = p[3] * q[3] - (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
    dest[0] = x;
    dest[1] = y;
    dest[2] = z;
}

IK2B_IN_LINE double
d4_square(const double q[4])
{
    return (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
}

IK2B_IN_LINE void
d4_scale(double q[4], double s)
{
    for (int i = 0; i < 4; i++) {
        q[i] *= s;
    }
}

/* Scales q to unit length. */
IK2B_IN_LINE void
d4_unit(double q[4])
{
    d4_scale(q, 1.0 / sqrt(d4_square(q)));
}

/* 2 / the square of the length, for a length that is 1 but for rounding. */
IK2B_IN_LINE double
d4_double_inverse(const double q[4])
{
    return 4.0 - 2.0 * d4_square(q);
}

/* v turned by a quaternion w, x, y, z whose length is 1 but for rounding. */
IK2B_IN_LINE void
d4_turn(const double source[4], const double v[3], double dest[3])
{
    double once[3], twice[3], s = d4_double_inverse(source);
    d3_cross(source + 1, v, once);
    d3_cross(source + 1, once, twice);
    for (int i = 0; i < 3; i++) {
        dest[i] = v[i] + s * (source[0] * once[i] + twice[i]);
    }
}

/* The matrix of a quaternion w, x, y, z; `s` is 2 / the square of its length. */
IK2B_IN_LINE void
d4_matrix(const double q[4], double s, double dest[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    dest[0][0] = 1.0 - s * (y * y + z * z);
    dest[0][1] = s * (x * y - w * z);
    dest[0][2] = s * (x * z + w * y);
    dest[1][0] = s * (x * y + w * z);
    dest[1][1] = 1.0 - s * (x * x + z * z);
    dest[1][2] = s * (y * z - w * x);
    dest[2][0] = s * (x * z - w * y);
    dest[2][1] = s * (y * z + w * x);
    dest[2][2] = 1.0 - s * (x * x + y * y);
}

#endif
