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

/* The rotation of the polar decomposition by Newton's iteration (Higham 1986), for a determinant over
 * zero; quadratic, one or two steps for a matrix that is nearly rigid. False: it did not settle. */
static inline bool
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
                change = fmax(change, fabs(next - x[i][j]));
                x[i][j] = next;
            }
        }
        if (change < 1e-9) {
            return true;
        }
    }
    return false;
}

/* One Jacobi rotation that clears a[p][q] of a symmetric matrix and collects the eigenvectors in v. */
static inline void
jacobi_rotation(double a[4][4], double v[4][4], int p, int q)
{
    if (a[p][q] == 0.0) {
        return;
    }
    double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
    double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 4; k++) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 4; k++) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        x = v[k][p];
        y = v[k][q];
        v[k][p] = c * x - s * y;
        v[k][q] = s * x + c * y;
    }
}

/* For any matrix, mirrored ones too: the eigenvector of the greatest eigenvalue of a symmetric 4 x 4
 * form (Horn 1987). */
static inline void
horn_rotation(const double m[3][3], double q[4])
{
    double xx = m[0][0], yy = m[1][1], zz = m[2][2];
    double x = m[2][1] - m[1][2], y = m[0][2] - m[2][0], z = m[1][0] - m[0][1];
    double xy = m[0][1] + m[1][0], yz = m[1][2] + m[2][1], zx = m[2][0] + m[0][2];
    double a[4][4] = {
        {xx - yy - zz, xy, zx, x},
        {xy, yy - xx - zz, yz, y},
        {zx, yz, zz - xx - yy, z},
        {x, y, z, xx + yy + zz},
    };
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < 12; sweep++) {
        for (int i = 0; i < 3; i++) {
            for (int j = i + 1; j < 4; j++) {
                jacobi_rotation(a, v, i, j);
            }
        }
    }
    int best = 3;
    for (int i = 0; i < 3; i++) {
        best = a[i][i] > a[best][best] ? i : best;
    }
    for (int i = 0; i < 4; i++) {
        q[i] = v[i][best];
    }
}

/* The nearest rotation of side * m, where m is not singular; side 1 or -1. */
static inline void
nearest_rotation(const double m[3][3], double side, double q[4])
{
    double sided[3][3], rotation[3][3], largest = 0.0;
    for (int i = 0; i < 3; i++) {
        largest = fmax(largest, d3_largest(m[i]));
    }
    double scale = side * power_of_two_under(largest);
    for (int i = 0; i < 3; i++) {
        d3_scale(m[i], scale, sided[i]);
    }
    if (d33_cofactor(sided, rotation) > 0.0 && polar_rotation(sided, rotation)) {
        d33_quaternion(rotation, q);
    }
    else {
        horn_rotation(sided, q);
    }
}

#endif
