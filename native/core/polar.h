/* SPDX-License-Identifier: MIT
 *
 * The rotation nearest to a 3 x 3 matrix, which is that of its polar decomposition, and the
 * direction in which a symmetric matrix stretches least.
 */
#ifndef IK2B_POLAR_H
#define IK2B_POLAR_H

#include "limbs.h"

/* The most steps of Newton's iteration, which goes on from the estimates of rotations that lanes
 * cannot settle. Each halving of the error takes one step. */
#define IK2B_POLAR_STEPS 60

/* The first step of Newton's iteration for the rotation of the polar decomposition of `m` (Higham
 * 1986). `m` may have any size; a mirrored one counts as its negative. *goes_on is set to 0 if this
 * step is enough. To decide, the determinant is compared with that of a rotation of the same size:
 * it is smaller by a share of the order of the squared differences of the singular values, and one
 * step leaves an error of that order. Returns false if `m` is so large, small or flat that the lane
 * needs care. */
IK2B_IN_LINE bool
begin_polar(double m[3][3], bool careful, const ik2b_task *task, double *goes_on)
{
    double cofactor[3][3];
    double determinant = d33_cofactor(m, cofactor), square = d33_square(m);
    bool good = is_ordinary(square);
    if (careful && !good) {
        double largest = larger(larger(d3_largest(m[0]), d3_largest(m[1])), d3_largest(m[2]));
        for (int i = 0; i < 3; i++) {
            d3_scale(m[i], power_of_two_under(largest), m[i]);
        }
        determinant = d33_cofactor(m, cofactor);
        square = d33_square(m);
    }
    double third = square * (1.0 / 3.0), size = sqrt(third), volume = fabs(determinant);
    double part = 0.5 / (size * volume), own = part * determinant, turned = part * third;
    *goes_on = as_number(volume < (1.0 - task->polar_rest) * (size * third));
    good &= volume > task->parallel * (size * third);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = own * m[i][j] + turned * cofactor[i][j];
        }
    }
    return good;
}

/* A further step, which squares the remaining error. Returns the error of the determinant before
 * the step. */
IK2B_IN_LINE double
step_polar(double m[3][3])
{
    double cofactor[3][3];
    double determinant = d33_cofactor(m, cofactor), part = 0.5 / determinant;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = 0.5 * m[i][j] + part * cofactor[i][j];
        }
    }
    return fabs(determinant - 1.0);
}

/* Replaces an unmirrored `m` by nearly the rotation of its polar decomposition (Markley 1993). The
 * sum of the singular values is the greatest root of a quartic. Maclaurin's inequality gives a
 * bound so close to that root that four of Newton's steps from the bound leave an error of 1e-8 at
 * most, measured for widths down to 1e-7. */
IK2B_IN_LINE void
jump_polar(double m[3][3])
{
    double cofactor[3][3], factor[3][3], dest[3][3];
    double determinant = d33_cofactor(m, cofactor);
    double square = d33_square(m), area = 4.0 * d33_square(cofactor);
    double sum = sqrt(square + sqrt(3.0 * area));
    for (int step = 0; step < 4; step++) {
        double rest = sum * sum - square, slope = sum * rest - 2.0 * determinant;
        sum -= (rest * rest - (8.0 * determinant * sum + area)) / (4.0 * slope);
    }
    double middle = 0.5 * (sum * sum - square), scale = 1.0 / (middle * sum - determinant);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            factor[i][j] = (i == j ? scale * (middle + square) : 0.0) - scale * d3_dot(m[i], m[j]);
        }
    }
    d33_multiply(factor, m, dest);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = dest[i][j] + scale * sum * cofactor[i][j];
        }
    }
}

/* Replaces `m` by its rotation if begin_polar was not enough. Returns false if the lane needs
 * care. */
IK2B_IN_LINE bool
finish_polar(double m[3][3], bool careful, double goes_on)
{
    double dest[3][3];
    bool asked = in_pairs(goes_on) != 0.0;
    if (careful && !asked) {
        return true;
    }
    memcpy(dest, m, sizeof dest);
    jump_polar(dest);
    bool good = step_polar(dest) < 1e-7;
    if (careful && !good) {
        for (int step = 1; step_polar(dest) > 1e-8 && step < IK2B_POLAR_STEPS; step++) {
        }
    }
    for (int i = 0; i < 9; i++) {
        m[i / 3][i % 3] = chosen(asked, dest[i / 3][i % 3], m[i / 3][i % 3]);
    }
    return good | !asked;
}

/* One rotation of Jacobi's method: makes h[i][j] zero and applies the rotation to the rows of
 * `vectors`. */
static inline void
jacobi_turn(double h[3][3], double vectors[3][3], int i, int j)
{
    if (h[i][j] == 0.0) {
        return;
    }
    double slope = (h[j][j] - h[i][i]) / (2.0 * h[i][j]);
    double tangent = copysign(1.0, slope) / (fabs(slope) + sqrt(slope * slope + 1.0));
    double cosine = 1.0 / sqrt(1.0 + tangent * tangent), sine = tangent * cosine;
    for (int k = 0; k < 3; k++) {
        double a = h[k][i], b = h[k][j], u = vectors[i][k], v = vectors[j][k];
        h[k][i] = cosine * a - sine * b;
        h[k][j] = sine * a + cosine * b;
        vectors[i][k] = cosine * u - sine * v;
        vectors[j][k] = sine * u + cosine * v;
    }
    for (int k = 0; k < 3; k++) {
        double a = h[i][k], b = h[j][k];
        h[i][k] = cosine * a - sine * b;
        h[j][k] = sine * a + cosine * b;
    }
}

/* A unit eigenvector of the least eigenvalue of the symmetric matrix `h`, by Jacobi's method, whose
 * sweeps each square the remaining error. Eigenvalues within 1e-5 of the greatest from the least
 * one count as equal to it; that is ten times the error that single precision leaves in a rigid
 * matrix at the end of many joints. If several are equal, the axis is the first of x, y and z that
 * is within 60 degrees of the space of their eigenvectors, projected on that space. There always is
 * such an axis. */
static inline void
least_axis(double h[3][3], double axis[3])
{
    double vectors[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int sweep = 0; sweep < 8; sweep++) {
        jacobi_turn(h, vectors, 0, 1);
        jacobi_turn(h, vectors, 0, 2);
        jacobi_turn(h, vectors, 1, 2);
    }
    double least = smaller(smaller(h[0][0], h[1][1]), h[2][2]);
    double limit = least + 1e-5 * larger(larger(h[0][0], h[1][1]), h[2][2]);
    for (int i = 0; i < 3; i++) {
        d3_zero(axis);
        for (int k = 0; k < 3; k++) {
            d3_muladds(vectors[k], h[k][k] <= limit ? vectors[k][i] : 0.0, axis);
        }
        if (d3_dot(axis, axis) > 0.25) {
            break;
        }
    }
    d3_unit(axis, axis);
}

#endif
