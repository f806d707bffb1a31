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

/* A limb needs no scaling if the squares of both bones' lengths are between this and its inverse:
 * all products of these lengths are then ordinary numbers. */
#define IK2B_PLAIN_SQUARE 0x1p-40

/* Sets bones, line and aim. With care, a limb of other lengths is scaled so that its longer bone
 * has a length near 1, but for the aim, which may be too far; and is marked as invalid if a bone
 * has no length, or if numbers of the row are not finite: `excess` is then not zero. Returns false
 * if the lane needs care. */
IK2B_IN_LINE bool
see_limb(limb *t, bool careful, double excess, double upper[3], double lower[3], double line[3],
         const double aim[3])
{
    bool good = is_between(d3_dot(upper, upper), IK2B_PLAIN_SQUARE);
    good &= is_between(d3_dot(lower, lower), IK2B_PLAIN_SQUARE);
    good &= (d3_dot(aim, aim) < 1.0 / IK2B_LEAST_SQUARE) & (t->bad_options == 0.0);
    t->scale = 1.0;
    t->on_end = are_equal(t->target, t->end_at);
    if (careful && !good) {
        double longest = larger(d3_largest(upper), d3_largest(lower));
        if (excess != 0.0 || t->bad_options != 0.0 || d3_is_zero(upper) || d3_is_zero(lower) ||
            !isfinite(longest)) {
            t->invalid = 1.0;
        }
        t->scale = power_of_two_under(longest);
        d3_scale(upper, t->scale, upper);
        d3_scale(lower, t->scale, lower);
        d3_scale(line, t->scale, line);
    }
    d3_copy(upper, t->mid);
    d3_copy(lower, t->lower);
    d3_copy(line, t->end);
    d3_copy(aim, t->aim);
    return good;
}

/* The lengths of line, bones and aim. Their roots do not wait for each other, and later stages have
 * work while the processor computes them. */
IK2B_IN_LINE bool
find_lengths(limb *t, bool careful)
{
    t->distance = d3_length(t->end, careful);
    t->upper_length = d3_length(t->mid, careful);
    t->lower_length = d3_length(t->lower, careful);
    t->aim_length = d3_length(t->aim, careful);
    return true;
}

/* The limb as differences of its points, for ik2b_solve and ik2b_pole_of. */
IK2B_IN_LINE bool
see_points(limb *t, bool careful)
{
    double upper[3], lower[3], line[3], aim[3];
    d3_sub(t->mid_at, t->root_at, upper);
    d3_sub(t->end_at, t->mid_at, lower);
    d3_sub(t->end_at, t->root_at, line);
    d3_sub(t->target, t->root_at, aim);
    double excess = d3_excess(upper) + d3_excess(lower) + d3_excess(line) + d3_excess(aim);
    bool good = see_limb(t, careful, excess, upper, lower, line, aim);
    if (careful && !good) {
        d3_scale_far(aim, t->scale, t->aim);
    }
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

/* The inverse of `m`. Returns false if the columns may lie in one plane to within rounding, or if
 * numbers are so large or small that only d33_invert may invert the matrix. A sum of components is
 * at least as long as their column. */
IK2B_IN_LINE bool
invert(const limb *t, double m[3][3], double dest[3][3], double *determinant)
{
    double cofactor[3][3], volume = 1.0;
    *determinant = d33_cofactor(m, cofactor);
    double inverse = 1.0 / *determinant;
    for (int j = 0; j < 3; j++) {
        volume *= fabs(m[0][j]) + fabs(m[1][j]) + fabs(m[2][j]);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = cofactor[j][i] * inverse;
        }
    }
    return (fabs(*determinant) > t->task.parallel * volume + 0x1p-450) & (volume < 0x1p450);
}

/* `inward`, the inverse of a matrix's linear part. Returns false if the lane needs care; with care,
 * marks the row as invalid if there is no inverse, or if linear part or last row are not finite. */
IK2B_IN_LINE bool
invert_joint(limb *t, bool careful, double matrix[4][4], double inward[3][3], double *determinant)
{
    double frame[3][3], *last = matrix[3];
    get_linear(matrix, frame);
    double sum = (last[0] + last[1]) + (last[2] + last[3]);
    bool good = invert(t, frame, inward, determinant) & (sum - sum == 0.0);
    if (careful && !good) {
        double excess = d3_excess(last) + (last[3] - last[3]);
        if (excess != 0.0 || !d33_invert(frame, t->task.parallel, inward)) {
            t->invalid = 1.0;
        }
    }
    return good;
}

IK2B_IN_LINE bool
invert_root(limb *t, bool careful)
{
    double determinant;
    bool good = invert_joint(t, careful, t->root_matrix, t->inward, &determinant);
    t->determinant = determinant;
    return good;
}

/* `mid_inward`, and the lower bone in the mid joint's frame. */
IK2B_IN_LINE bool
invert_mid(limb *t, bool careful)
{
    double determinant, lower[3];
    bool good = invert_joint(t, careful, t->mid_matrix, t->mid_inward, &determinant);
    t->mid_determinant = determinant;
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

/* The limb in the frame that t->inward leads to. */
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
    double excess = d3_excess(upper) + d3_excess(lower) + d3_excess(line) + d3_excess(aim);
    d33_apply(t->inward, upper, upper);
    d33_apply(t->inward, lower, lower);
    d33_apply(t->inward, line, line);
    d33_apply(t->inward, aim, aim);
    bool good = see_limb(t, careful, excess, upper, lower, line, aim);
    if (careful && !good) {
        seen_from_root(t, root, t->target, t->aim);
    }
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
    bool mirrored = copysign(1.0, t->determinant) * t->mid_determinant < 0.0;
    for (int i = 0; i < 3; i++) {
        double along = frame[0][i] * outer[0] + frame[1][i] * outer[1] + frame[2][i] * outer[2];
        t->hinge[i] = chosen(mirrored, -along, along);
    }
    return true;
}

/* For functions that only read the pose. */
IK2B_IN_LINE bool
aim_at_end(limb *t)
{
    d3_copy(t->end_at, t->target);
    return true;
}

/* Sets `told` to the unit vector of v, or to zero. */
IK2B_IN_LINE bool
tell_direction(limb *t, const double v[3], bool none)
{
    double factor = 1.0 / d3_norm(v);
    for (int i = 0; i < 3; i++) {
        t->told[i] = chosen(none, 0.0, v[i] * factor);
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

/* Checks a matrix as invert_joint does, and its translation. */
IK2B_IN_LINE bool
check_matrix(limb *t, bool careful, double matrix[4][4])
{
    double inverse[3][3], origin[3], determinant;
    bool good = invert_joint(t, careful, matrix, inverse, &determinant);
    get_origin(matrix, origin);
    bool finite = d3_excess(origin) == 0.0;
    if (careful && !finite) {
        t->invalid = 1.0;
    }
    return good & finite;
}

/* Sets the status, and the miss of the end's position. */
IK2B_IN_LINE bool
tell(limb *t, bool careful)
{
    double off[3];
    d3_sub(t->position, t->target, off);
    double square = d3_dot(off, off);
    bool good = (square == 0.0) | is_between(square, 0x1p-900);
    t->miss = careful && !good ? d3_long_norm(off) : sqrt(square);
    double status = t->missed + IK2B_LIMITED * t->limited + IK2B_SINGULAR * t->singular;
    t->status = as_single(status); /* as in_pairs, without the added 0, which took 7 % of solve */
    return good;
}

#endif
