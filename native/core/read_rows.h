/* SPDX-License-Identifier: MIT
 *
 * ik2b_pole_of and ik2b_hinge_of: reading pole and hinge from a pose.
 */
#include "joints.h"

/* The pole that keeps the mid joint where it is; zero where nothing tells it. */
static inline void
pole_of_row(ik2b_array *args)
{
    double root[3], mid[3], end[3], hinge[3], upper[3], lower[3], line[3], pole[3];
    load_vector(&args[IK2B_POLE_OF_ROOT], 3, root);
    load_vector(&args[IK2B_POLE_OF_MID], 3, mid);
    load_vector(&args[IK2B_POLE_OF_END], 3, end);
    load_vector_or(&args[IK2B_POLE_OF_HINGE], 0.0, hinge);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_zero(pole);
    if (d3_finite(upper) && d3_finite(lower) && d3_finite(line) && d3_finite(hinge) &&
        !d3_is_zero(upper) && !d3_is_zero(lower)) {
        double scale = power_of_two_under(larger(d3_largest(upper), d3_largest(lower)));
        d3_scale(upper, scale, upper);
        d3_scale(lower, scale, lower);
        d3_scale(line, scale, line);
        limb present = limb_measure(upper, lower, line, hinge, line);
        if (!present.singular || present.distance == 0.0) {
            d3_unit(present.bend, pole);
        }
    }
    store_vector(&args[IK2B_POLE_OF_OUT], pole);
}

void
IK2B_NAME(pole_of)(const ik2b_extent *extent, ik2b_array *args)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_POLE_OF_COUNT)) {
        return;
    }
    do {
        pole_of_row(args);
    } while (ik2b_walk_next(&walk));
}

/* cross(root - mid, end - mid) in mid-joint space; zero for a straight limb. */
static inline void
hinge_of_row(ik2b_array *args)
{
    double linear[3][3], root[3], mid_linear[3][3], mid[3], end[3], inverse[3][3], hinge[3];
    bool finite = load_matrix(&args[IK2B_HINGE_OF_ROOT], linear, root);
    finite &= load_matrix(&args[IK2B_HINGE_OF_MID], mid_linear, mid);
    load_vector(&args[IK2B_HINGE_OF_END], 3, end);
    d3_zero(hinge);
    d3_sub(root, mid, root);
    d3_sub(end, mid, end);
    if (finite && d3_finite(root) && d3_finite(end) && !d3_is_zero(root) && !d3_is_zero(end) &&
        d33_invert(mid_linear, IK2B_PARALLEL, inverse)) {
        d33_apply(inverse, root, root);
        d33_apply(inverse, end, end);
        double scale = power_of_two_under(larger(d3_largest(root), d3_largest(end))), line[3];
        d3_scale(root, scale, root);
        d3_scale(end, scale, end);
        d3_sub(end, root, line);
        d3_cross(root, end, hinge);
        double reach = d3_norm(root) + d3_norm(end);
        if (d3_norm(hinge) > IK2B_STRAIGHT * reach * d3_norm(line)) {
            d3_unit(hinge, hinge);
        }
        else {
            d3_zero(hinge);
        }
    }
    store_vector(&args[IK2B_HINGE_OF_OUT], hinge);
}

void
IK2B_NAME(hinge_of)(const ik2b_extent *extent, ik2b_array *args)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_HINGE_OF_COUNT)) {
        return;
    }
    do {
        hinge_of_row(args);
    } while (ik2b_walk_next(&walk));
}
