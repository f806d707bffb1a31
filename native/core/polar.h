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

/* The nearest rotation, where m is not singular. A mirrored matrix counts as its negative, so that
 * its mirroring, which no rotation can follow, is left as it is. */
static inline void
nearest_rotation(const double m[3][3], double q[4])
{
    double proper[3][3], rotation[3][3], largest = 0.0;
    for (int i = 0; i < 3; i++) {
        largest = larger(largest, d3_largest(m[i]));
    }
    double side = d33_cofactor(m, rotation) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++) {
        d3_scale(m[i], side * power_of_two_under(largest), proper[i]);
    }
    polar_rotation(proper, rotation);
    d33_quaternion(rotation, q);
}

#endif
