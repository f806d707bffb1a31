/* SPDX-License-Identifier: MIT
 *
 * From points, or from aggregate transforms, to limbs seen from their roots.
 */
#ifndef IK2B_FRAMES_H
#define IK2B_FRAMES_H

#include "limb.h"

/* Zero if all three components are finite, else NaN. */
IK2B_IN_LINE double
d3_excess(const double v[3])
{
    return (v[0] - v[0]) + (v[1] - v[1]) + (v[2] - v[2]);
}

IK2B_IN_LINE double
are_equal(const double a[3], const double b[3])
{
    return as_number((a[0] == b[0]) & (a[1] == b[1]) & (a[2] == b[2]));
}

/* The bones, line and aim of a limb as differences of its points, for ik2b_solve and
 * ik2b_pole_of. */
IK2B_IN_LINE bool
see_points(limb *t, bool careful)
{
    double end[3], upper[3], lower[3], line[3], aim[3];
    d3_copy(t->end_at, end);
    d3_sub(t->mid_at, t->root_at, upper);
    d3_sub(end, t->mid_at, lower);
    d3_sub(end, t->root_at, line);
    d3_sub(t->target, t->root_at, aim);
    bool good = both(is_between(d3_dot(upper, upper), IK2B_PLAIN_SQUARE),
                     is_between(d3_dot(lower, lower), IK2B_PLAIN_SQUARE)) &
                (t->bad_options == 0.0);
    t->scale = 1.0;
    t->on_end = are_equal(t->target, t->end_at);
    if (careful) { /* without care, the lengths show it */
        double excess = d3_excess(upper) + d3_excess(lower) + d3_excess(line) + d3_excess(aim);
        good &= (excess == 0.0) & (d3_dot(aim, aim) < 1.0 / IK2B_LEAST_SQUARE);
        t->invalid =
            excess != 0.0 || t->bad_options != 0.0 || d3_is_zero(upper) || d3_is_zero(lower);
    }
    if (careful && !good) {
        moderate(t, upper, lower, line, aim);
    }
    d3_copy(upper, t->mid);
    d3_copy(lower, t->lower);
    d3_copy(line, t->end);
    d3_copy(aim, t->aim);
    return good;
}

/* Divides the columns of the aggregate transforms by the joints' own scales. A zero scale leaves
 * infinity or NaN, which makes the row invalid later. */
IK2B_IN_LINE bool
remove_scale(limb *t)
{
    for (int j = 0; j < 3; j++) {
        double root = 1.0 / t->given_root_scale[j], mid = 1.0 / t->given_mid_scale[j];
        for (int i = 0; i < 3; i++) {
            t->root_matrix[i][j] *= root;
            t->mid_matrix[i][j] *= mid;
        }
    }
    return true;
}

/* The inverse of `m`. Returns false if the columns lie in one plane to within rounding, or if
 * numbers are so large or small that only d33_invert may invert the matrix. */
IK2B_IN_LINE bool
invert(const limb *t, double m[3][3], double dest[3][3], double *determinant)
{
    double cofactor[3][3], square = 1.0;
    *determinant = d33_cofactor(m, cofactor);
    double inverse = 1.0 / *determinant;
    for (int j = 0; j < 3; j++) {
        square *= m[0][j] * m[0][j] + m[1][j] * m[1][j] + m[2][j] * m[2][j];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = cofactor[j][i] * inverse;
        }
    }
    return (*determinant * *determinant > t->task.parallel * t->task.parallel * square) &
           (square > 0x1p-900) & (square < 0x1p900);
}

/* Zero if the last row of a matrix is finite, else NaN. */
IK2B_IN_LINE double
bottom_excess(double matrix[4][4])
{
    double excess = 0.0;
    for (int j = 0; j < 4; j++) {
        excess += matrix[3][j] - matrix[3][j];
    }
    return excess;
}

/* `inward`, the inverse of a joint's frame. Returns false if the lane needs care; with care, marks
 * the row as invalid if the frame cannot be inverted or the last row is not finite. */
IK2B_IN_LINE bool
invert_joint(limb *t, bool careful, double matrix[4][4], double inward[3][3], double *determinant)
{
    double frame[3][3];
    get_linear(matrix, frame);
    bool good = invert(t, frame, inward, determinant);
    if (careful && !good) {
        t->invalid = d33_invert(frame, t->task.parallel, inward) ? t->invalid : 1.0;
    }
    double excess = bottom_excess(matrix);
    if (careful && excess != 0.0) {
        t->invalid = 1.0;
    }
    return good & (excess == 0.0);
}

IK2B_IN_LINE bool
invert_root(limb *t, bool careful)
{
    double determinant;
    bool good = invert_joint(t, careful, t->root_matrix, t->inward, &determinant);
    t->mirrored = as_number(determinant < 0.0);
    return good;
}

/* `mid_inward`, `mirrored`, and the lower bone in the mid joint's frame. */
IK2B_IN_LINE bool
invert_mid(limb *t, bool careful)
{
    double determinant, lower[3];
    bool good = invert_joint(t, careful, t->mid_matrix, t->mid_inward, &determinant);
    t->mirrored = as_number((t->mirrored != 0.0) != (determinant < 0.0));
    for (int i = 0; i < 3; i++) {
        lower[i] = t->end_at[i] - t->mid_matrix[i][3];
    }
    d33_apply(t->mid_inward, lower, lower);
    if (careful) {
        d3_scale(lower, t->scale, lower);
    }
    d3_copy(lower, t->lower_mid);
    return good;
}

/* The vector between two points, seen in the root's frame and multiplied by the limb's scale; the
 * points may be at any distance. */
static inline void
seen_from_root(limb *t, const double from[3], const double to[3], double dest[3])
{
    double between[3];
    d3_sub(to, from, between);
    double size = d3_largest(between) > 0x1p600 ? 0x1p-600 : 1.0; /* its products stay finite */
    d3_scale(between, size, between);
    d33_apply(t->inward, between, between);
    d3_scale_far(between, t->scale / size, dest);
}

/* The bones, line and aim in the root's frame, for ik2b_solve_pose and ik2b_orient. */
IK2B_IN_LINE bool
see_bones(limb *t, bool careful)
{
    double root[3], mid[3], end[3];
    double upper[3], lower[3], line[3], aim[3];
    get_origin(t->root_matrix, root);
    get_origin(t->mid_matrix, mid);
    d3_copy(t->end_at, end);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(t->target, root, aim);
    double excess =
        careful ? d3_excess(upper) + d3_excess(lower) + d3_excess(line) + d3_excess(aim) : 0.0;
    d33_apply(t->inward, upper, upper);
    d33_apply(t->inward, lower, lower);
    d33_apply(t->inward, line, line);
    d33_apply(t->inward, aim, aim);
    double aim_square = d3_dot(aim, aim);
    bool good = both(is_between(d3_dot(upper, upper), IK2B_PLAIN_SQUARE),
                     is_between(d3_dot(lower, lower), IK2B_PLAIN_SQUARE)) &
                (aim_square < 1.0 / IK2B_LEAST_SQUARE) & (t->bad_options == 0.0);
    t->scale = 1.0;
    t->on_end = are_equal(t->target, t->end_at);
    if (careful && !good) {
        double largest = larger(d3_largest(upper), d3_largest(lower));
        if (excess != 0.0 || t->bad_options != 0.0 || d3_is_zero(upper) || d3_is_zero(lower) ||
            !isfinite(largest)) {
            t->invalid = 1.0;
        }
        moderate(t, upper, lower, line, aim);
        seen_from_root(t, root, t->target, aim);
    }
    d3_copy(upper, t->mid);
    d3_copy(lower, t->lower);
    d3_copy(line, t->end);
    d3_copy(aim, t->aim);
    return good;
}

/* The hinge in the mid joint's frame without the joint's own scale, and in the root's frame, both
 * of any length. An axis maps as a cross product does: by the transpose of the inverse, and it is
 * reversed if the frame is mirrored. */
IK2B_IN_LINE bool
see_hinge(limb *t, bool careful)
{
    double hinge[3], outer[3];
    double (*const inward)[3] = t->mid_inward, (*const frame)[4] = t->root_matrix;
    d3_copy(t->given_hinge, hinge);
    if (careful && d3_largest(hinge) > 0x1p600) {
        d3_scale(hinge, 0x1p-600, hinge); /* its products stay finite */
    }
    double x = t->given_mid_scale[0], y = t->given_mid_scale[1], z = t->given_mid_scale[2];
    hinge[0] *= y * z;
    hinge[1] *= z * x;
    hinge[2] *= x * y;
    for (int i = 0; i < 3; i++) {
        outer[i] = inward[0][i] * hinge[0] + inward[1][i] * hinge[1] + inward[2][i] * hinge[2];
    }
    d3_copy(hinge, t->hinge_mid);
    for (int i = 0; i < 3; i++) {
        double along = frame[0][i] * outer[0] + frame[1][i] * outer[1] + frame[2][i] * outer[2];
        t->hinge[i] = chosen(t->mirrored != 0.0, -along, along);
    }
    return true;
}

/* A direction in the root's frame; its length does not matter. */
IK2B_IN_LINE bool
see_direction(limb *t, bool careful, const double given[3], double dest[3])
{
    double direction[3], seen[3];
    d3_copy(given, direction);
    d33_apply(t->inward, direction, seen);
    double square = d3_dot(seen, seen);
    bool good = square < 1.0 / IK2B_LEAST_SQUARE;
    if (careful && d3_largest(direction) > 0x1p600) {
        d3_scale(direction, 0x1p-600, direction); /* its products stay finite */
        d33_apply(t->inward, direction, seen);
    }
    d3_copy(seen, dest);
    return good;
}

/* Checks that the end joint's matrix or its goal is finite and invertible; with care, marks the row
 * as invalid if it is not. Returns false if the lane needs care. */
IK2B_IN_LINE bool
check_end(limb *t, bool careful, double matrix[4][4])
{
    double linear[3][3], inverse[3][3], determinant;
    get_linear(matrix, linear);
    bool good = invert(t, linear, inverse, &determinant);
    double excess = bottom_excess(matrix);
    for (int i = 0; i < 3; i++) {
        excess += matrix[i][3] - matrix[i][3];
    }
    if (careful) {
        if (excess != 0.0 || (!good && !d33_invert(linear, t->task.parallel, inverse))) {
            t->invalid = 1.0;
        }
    }
    return good & (excess == 0.0);
}

#endif
