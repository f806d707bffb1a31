/* SPDX-License-Identifier: MIT
 *
 * The rotation nearest to a matrix (least squares), as a quaternion x, y, z, w.
 */
#ifndef IK2B_POLAR_H
#define IK2B_POLAR_H

#include "vector.h"

/* The quaternion of a rotation matrix, from the largest of its four components (Shepperd 1978). */
static inline void
d33_quaternion(const double m[3][3], double q[4])
{
    double trace = m[0][0] + m[1][1] + m[2][2];
    int i = m[0][0] > m[1][1] ? 0 : 1;
    i = m[2][2] > m[i][i] ? 2 : i;
    if (trace > m[i][i]) {
        q[0] = m[2][1] - m[1][2];
        q[1] = m[0][2] - m[2][0];
        q[2] = m[1][0] - m[0][1];
        q[3] = 1.0 + trace;
    }
    else {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1.0 + 2.0 * m[i][i] - trace;
        q[j] = m[j][i] + m[i][j];
        q[k] = m[k][i] + m[i][k];
        q[3] = m[k][j] - m[j][k];
    }
    double norm = d4_norm(q);
    for (int c = 0; c < 4; c++) {
        q[c] /= norm;
    }
}

/* The rotation of the polar decomposition by Newton's iteration (Higham 1986), for a determinant
 * over zero; quadratic, one or two steps for a matrix that is nearly rigid, a step more for each
 * halving of its narrowness, which the test for singular matrices bounds. */
static inline void
polar_rotation(const double m[3][3], double x[3][3])
{
    double cofactor[3][3];
    double determinant = d33_cofactor(m, cofactor), size = cbrt(determinant);
    for (int i = 0; i < 3; i++) {
        d3_scale(m[i], 1.0 / size, x[i]);
    }
    for (int step = 0; step < 60; step++) {
        double change = 0.0;
        determinant = d33_cofactor(x, cofactor);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double next = 0.5 * (x[i][j] + cofactor[i][j] / determinant);
                change = larger(change, fabs(next - x[i][j]));
                x[i][j] = next;
            }
        }
        if (change < 1e-9) {
            return;
        }
    }
}

/* The polar rotation of m or, where m is mirrored, of its negative; side tells which, 1 or -1. */
static inline void
proper_rotation(const double m[3][3], double rotation[3][3], double proper[3][3], double *side)
{
    double largest = 0.0;
    for (int i = 0; i < 3; i++) {
        largest = larger(largest, d3_largest(m[i]));
    }
    *side = d33_cofactor(m, rotation) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++) {
        d3_scale(m[i], *side * power_of_two_under(largest), proper[i]);
    }
    polar_rotation(proper, rotation);
}

/* The rotation of a joint's matrix, which is not singular. A mirrored matrix counts as its
 * negative, so that its mirroring, which no rotation can follow, is left as it is. */
static inline void
nearest_rotation(const double m[3][3], double q[4])
{
    double rotation[3][3], proper[3][3], side;
    proper_rotation(m, rotation, proper, &side);
    d33_quaternion(rotation, q);
}

/* One of Jacobi's rotations: makes h[i][j] zero and turns the rows of `vectors` along. */
static inline void
jacobi_turn(double h[3][3], double vectors[3][3], int i, int j)
{
    if (h[i][j] == 0.0) {
        return;
    }
    double slope = (h[j][j] - h[i][i]) / (2.0 * h[i][j]);
    double tangent = copysign(1.0, slope) / (fabs(slope) + hypot(slope, 1.0));
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

/* A unit eigenvector of the least eigenvalue of a symmetric matrix, by Jacobi's method, which
 * squares the rest in each sweep. Where eigenvalues are equal to 1e-5 of the greatest, ten times
 * what single precision leaves of a rigid matrix at the end of many joints: the first of the axes
 * x, y, z within 60 degrees of their vectors, brought among them; there always is one. */
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

/* The rotation nearest to a goal for a joint of this matrix: where the joint is mirrored, both
 * count as their negatives. A goal that is mirrored then is -Q H, with Q the polar rotation of its
 * negative; nearest to it is Q turned half round about the least axis of H (Kabsch 1976). */
static inline void
goal_rotation(const double goal[3][3], const double joint[3][3], double q[4])
{
    double rotation[3][3], proper[3][3], stretch[3][3], own[4], half_turn[4] = {0.0};
    double side, joint_side = d33_cofactor(joint, stretch) < 0.0 ? -1.0 : 1.0;
    proper_rotation(goal, rotation, proper, &side);
    d33_quaternion(rotation, own);
    if (side == joint_side) {
        memcpy(q, own, sizeof own);
        return;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            stretch[i][j] = rotation[0][i] * proper[0][j] + rotation[1][i] * proper[1][j] +
                            rotation[2][i] * proper[2][j];
        }
    }
    least_axis(stretch, half_turn);
    d4_mul(own, half_turn, q);
}

#endif
