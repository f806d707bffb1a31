/* SPDX-License-Identifier: MIT
 *
 * From points, or aggregate transforms, to limbs seen from their roots.
 */
#ifndef IK2B_FRAMES_H
#define IK2B_FRAMES_H

#include "limb.h"

/* Zero where all three are finite. */
IK2B_IN_LINE double
d3_excess(const double v[3])
{
    return (v[0] - v[0]) + (v[1] - v[1]) + (v[2] - v[2]);
}

IK2B_IN_LINE double
are_equal(lane a[3], lane b[3], int k)
{
    return (a[0][k] == b[0][k]) & (a[1][k] == b[1][k]) & (a[2][k] == b[2][k]) ? 1.0 : 0.0;
}

/* The limb of root, mid and end joint, and its aim, between their points: solve and pole_of. */
IK2B_IN_LINE bool
see_points(limbs *t, int k, bool careful)
{
    double root[3], mid[3], end[3], target[3], upper[3], lower[3], line[3], aim[3];
    get3(t->root_at, k, root);
    get3(t->mid_at, k, mid);
    get3(t->end_at, k, end);
    get3(t->target, k, target);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(target, root, aim);
    double excess = d3_excess(upper) + d3_excess(lower) + d3_excess(line) + d3_excess(aim);
    bool finite = (excess == 0.0) & (t->bad_options[k] == 0.0);
    bool good = finite & is_between(d3_dot(upper, upper), IK2B_PLAIN_SQUARE) &
                is_between(d3_dot(lower, lower), IK2B_PLAIN_SQUARE);
    t->scale[k] = 1.0;
    t->on_end[k] = are_equal(t->target, t->end_at, k);
    if (careful && !good) {
        t->invalid[k] = !finite || d3_is_zero(upper) || d3_is_zero(lower) ? 1.0 : 0.0;
        moderate(t, k, upper, lower, line, aim);
    }
    put3(upper, k, t->mid);
    put3(lower, k, t->lower);
    put3(line, k, t->end);
    put3(aim, k, t->aim);
    return good;
}

IK2B_STAGE(see_points, see_points(t, k, careful))

/* Takes a joint's own scale from the columns of its aggregate transform; a zero leaves no number.
 */
IK2B_IN_LINE void
remove_scale(lane matrix[16], lane scale[3])
{
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            IK2B_LANE_LOOP
            for (int k = 0; k < IK2B_LANES; k++) {
                matrix[4 * i + j][k] /= scale[j][k];
            }
        }
    }
}

/* The inverse; false where the columns lie in a plane to within rounding, or numbers are so large
 * or small that d33_invert may still do it. */
IK2B_IN_LINE bool
invert(const limbs *t, double m[3][3], double dest[3][3], double *determinant)
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
    return (*determinant * *determinant > t->parallel * t->parallel * square) &
           (square > 0x1p-900) & (square < 0x1p900);
}

/* Zero where the last row of a matrix is finite. */
IK2B_IN_LINE double
bottom_excess(lane matrix[16], int k)
{
    double excess = 0.0;
    for (int j = 12; j < 16; j++) {
        excess += matrix[j][k] - matrix[j][k];
    }
    return excess;
}

/* A joint's frame back to front; false where a lane needs care, after which the row may be invalid.
 */
IK2B_IN_LINE bool
invert_joint(limbs *t, int k, bool careful, lane matrix[16], lane inward[9], double *determinant)
{
    double frame[3][3], inverse[3][3];
    get44(matrix, k, frame);
    bool good = invert(t, frame, inverse, determinant);
    if (careful && !good) {
        t->invalid[k] = d33_invert(frame, t->parallel, inverse) ? t->invalid[k] : 1.0;
    }
    put33(inverse, k, inward);
    double excess = bottom_excess(matrix, k);
    if (careful && excess != 0.0) {
        t->invalid[k] = 1.0;
    }
    return good & (excess == 0.0);
}

IK2B_IN_LINE bool
invert_frames(limbs *t, int k, bool careful)
{
    double determinant, mid_determinant;
    bool good = invert_joint(t, k, careful, t->root_matrix, t->inward, &determinant);
    good &= invert_joint(t, k, careful, t->mid_matrix, t->mid_inward, &mid_determinant);
    t->mirrored[k] = (determinant < 0.0) != (mid_determinant < 0.0) ? 1.0 : 0.0;
    return good;
}

IK2B_STAGE(invert_frames, invert_frames(t, k, careful))

/* Vector between two points, seen in the root's frame and scaled, however far they are. */
static inline void
seen_from_root(limbs *t, int k, const double from[3], const double to[3], double dest[3])
{
    double between[3], inward[3][3];
    get33(t->inward, k, inward);
    d3_sub(to, from, between);
    double size = d3_largest(between) > 0x1p600 ? 0x1p-600 : 1.0; /* its products stay finite */
    d3_scale(between, size, between);
    d33_apply(inward, between, between);
    d3_scale_far(between, t->scale[k] / size, dest);
}

/* The bones in both joints' frames, and the aim: solve_pose, orient. */
IK2B_IN_LINE bool
see_bones(limbs *t, int k, bool careful)
{
    double inward[3][3], mid_inward[3][3], root[3], mid[3], end[3], target[3];
    double upper[3], lower[3], line[3], aim[3], lower_mid[3];
    get33(t->inward, k, inward);
    get33(t->mid_inward, k, mid_inward);
    for (int i = 0; i < 3; i++) {
        root[i] = t->root_matrix[4 * i + 3][k];
        mid[i] = t->mid_matrix[4 * i + 3][k];
    }
    get3(t->end_at, k, end);
    get3(t->target, k, target);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(target, root, aim);
    d33_apply(mid_inward, lower, lower_mid);
    d33_apply(inward, upper, upper);
    d33_apply(inward, lower, lower);
    d33_apply(inward, line, line);
    d33_apply(inward, aim, aim);
    double aim_square = d3_dot(aim, aim);
    bool good = is_between(d3_dot(upper, upper), IK2B_PLAIN_SQUARE) &
                is_between(d3_dot(lower, lower), IK2B_PLAIN_SQUARE) &
                (aim_square < 1.0 / IK2B_LEAST_SQUARE) & (t->bad_options[k] == 0.0);
    t->scale[k] = 1.0;
    t->on_end[k] = are_equal(t->target, t->end_at, k);
    if (careful && !good) {
        double largest = larger(d3_largest(upper), d3_largest(lower));
        bool finite = d3_excess(root) + d3_excess(mid) + d3_excess(end) + d3_excess(target) == 0.0;
        if (!finite || t->bad_options[k] != 0.0 || d3_is_zero(upper) || d3_is_zero(lower) ||
            !isfinite(largest)) {
            t->invalid[k] = 1.0;
        }
        moderate(t, k, upper, lower, line, aim);
        seen_from_root(t, k, root, target, aim);
        d3_scale(lower_mid, t->scale[k], lower_mid);
    }
    put3(upper, k, t->mid);
    put3(lower, k, t->lower);
    put3(line, k, t->end);
    put3(aim, k, t->aim);
    put3(lower_mid, k, t->lower_mid);
    return good;
}

IK2B_STAGE(see_bones, see_bones(t, k, careful))

/* The hinge in the mid joint's frame without its own scale, and in the root's, at any length: an
 * axis maps as a cross product does, by the inverse's transpose, and turns round in a mirrored
 * frame. */
IK2B_IN_LINE bool
see_hinge(limbs *t, int k, bool scaled)
{
    double hinge[3], outer[3], mid_inward[3][3], frame[3][3];
    get3(t->given_hinge, k, hinge);
    get33(t->mid_inward, k, mid_inward);
    get44(t->root_matrix, k, frame);
    if (scaled) {
        double x = t->mid_scale[0][k], y = t->mid_scale[1][k], z = t->mid_scale[2][k];
        hinge[0] *= y * z;
        hinge[1] *= z * x;
        hinge[2] *= x * y;
    }
    for (int i = 0; i < 3; i++) {
        outer[i] =
            mid_inward[0][i] * hinge[0] + mid_inward[1][i] * hinge[1] + mid_inward[2][i] * hinge[2];
    }
    put3(hinge, k, t->hinge_mid);
    for (int i = 0; i < 3; i++) {
        double along = frame[0][i] * outer[0] + frame[1][i] * outer[1] + frame[2][i] * outer[2];
        t->hinge[i][k] = chosen(t->mirrored[k] != 0.0, -along, along);
    }
    return true;
}

IK2B_STAGE(see_hinge, ((void)careful, see_hinge(t, k, false)))
IK2B_STAGE(see_scaled_hinge, ((void)careful, see_hinge(t, k, true)))

/* A direction, whose length does not matter, in the root's frame. */
IK2B_IN_LINE bool
see_direction(limbs *t, int k, bool careful, lane given[3], lane dest[3])
{
    double direction[3], inward[3][3], seen[3];
    get3(given, k, direction);
    get33(t->inward, k, inward);
    d33_apply(inward, direction, seen);
    double square = d3_dot(seen, seen);
    bool good = square < 1.0 / IK2B_LEAST_SQUARE;
    if (careful && d3_largest(direction) > 0x1p600) {
        d3_scale(direction, 0x1p-600, direction); /* its products stay finite */
        d33_apply(inward, direction, seen);
    }
    put3(seen, k, dest);
    return good;
}

IK2B_STAGE(see_pole, see_direction(t, k, careful, t->given_pole, t->pole))
IK2B_STAGE(see_cone_axis, see_direction(t, k, careful, t->given_axis, t->cone_axis))

#endif
