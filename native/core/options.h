/* SPDX-License-Identifier: MIT
 *
 * The options of one row, out of the arrays.
 */
#ifndef IK2B_OPTIONS_H
#define IK2B_OPTIONS_H

#include "goal.h"
#include "rows.h"

/* The options of one row; false where one is not finite. */
static inline bool
load_options(const ik2b_array *args, ik2b_bend bend, options *dest)
{
    load_vector_or(&args[IK2B_POLE], 0.0, dest->pole);
    load_vector_or(&args[IK2B_HINGE], 0.0, dest->hinge);
    load_vector_or(&args[IK2B_CONE_AXIS], 0.0, dest->cone_axis);
    dest->pole_weight = load_number(&args[IK2B_POLE_WEIGHT], 1.0);
    dest->twist = load_number(&args[IK2B_TWIST], 0.0);
    dest->soften = load_number(&args[IK2B_SOFTEN], 1.0);
    dest->weight = load_number(&args[IK2B_WEIGHT], 1.0);
    dest->min_angle = load_number(&args[IK2B_MIN_ANGLE], 0.0);
    dest->max_angle = load_number(&args[IK2B_MAX_ANGLE], IK2B_PI);
    dest->cone_angle = load_number(&args[IK2B_CONE_ANGLE], IK2B_PI);
    dest->nearest = bend == IK2B_NEAREST;
    return d3_finite(dest->pole) && d3_finite(dest->hinge) && d3_finite(dest->cone_axis) &&
           isfinite(dest->pole_weight) && isfinite(dest->twist) && isfinite(dest->soften) &&
           isfinite(dest->weight) && isfinite(dest->min_angle) && isfinite(dest->max_angle) &&
           isfinite(dest->cone_angle);
}

/* Whether rows may be plain: the hinge is the only option, and asked for only where a limb is
 * straight. */
static inline bool
is_plain_call(const ik2b_array *given, ik2b_bend bend)
{
    bool any = bend != IK2B_CARRIED;
    for (int i = 0; i < IK2B_SOLVE_OPTIONS; i++) {
        any |= i != IK2B_HINGE && given[i].data != NULL;
    }
    return !any;
}

#endif
