/* SPDX-License-Identifier: MIT
 *
 * The present limb, seen from its root: its lengths, line and bend, and the triangle that it makes.
 */
#ifndef IK2B_LIMB_H
#define IK2B_LIMB_H

#include "limbs.h"

/* `side`, the unit vector of the hinge's component across the unit upper bone `up`. Returns false
 * if rounding leaves nothing of that component. */
static inline bool
hinge_across(const limb *t, const double hinge[3], const double up[3], double side[3])
{
    if (d3_is_zero(hinge)) {
        return false;
    }
    d3_unit(hinge, side);
    d3_reject(side, up, side);
    if (d3_norm(side) <= t->task.parallel) {
        return false;
    }
    d3_unit_across(side, up, side);
    return true;
}

/* The line of a limb whose end lies on its root. It is perpendicular to the upper bone `up`: in the
 * plane across the hinge's component `side`, or else towards the target. */
static inline void
folded_line(const double up[3], const double *side, const double toward[3], double line[3])
{
    double across[3];
    if (side) {
        d3_cross(up, side, line);
        d3_unit(line, line);
        return;
    }
    d3_perpendicular(up, line);
    if (!d3_is_zero(toward)) {
        d3_unit(toward, across);
        d3_reject(across, up, across);
        if (d3_norm(across) > 1e-12) {
            d3_unit(across, line);
        }
    }
}

/* The line and bend of a limb that is straight, or whose end lies on its root. */
static inline void
measure_without_bend(limb *t)
{
    double line[3], bend[3], up[3], side[3];
    d3_copy(t->line, line);
    if (d3_is_zero(t->mid)) {
        return; /* an invalid row */
    }
    d3_unit(t->mid, up);
    bool has_side = hinge_across(t, t->hinge, up, side);
    t->doubtful = !has_side || t->distance == 0.0 ? 1.0 : 0.0;
    if (t->distance == 0.0) {
        t->along = 0.0;
        t->height = t->upper_length;
        folded_line(up, has_side ? side : NULL, t->aim, line);
        d3_copy(up, bend);
    }
    else if (has_side) {
        d3_cross(side, line, bend);
        d3_unit(bend, bend);
    }
    else {
        d3_perpendicular(line, bend);
    }
    d3_copy(line, t->line);
    d3_copy(bend, t->bend);
}

/* cross(mid, lower), which equals cross(mid, end), from the shorter of `lower` and `end`: when the
 * limb is nearly folded, the longer of the two would leave nothing but rounding. */
IK2B_IN_LINE void
limb_normal(const limb *t, double dest[3])
{
    double other[3];
    bool folded = t->distance < t->lower_length;
    for (int i = 0; i < 3; i++) {
        other[i] = folded ? t->end[i] : t->lower[i];
    }
    d3_cross(t->mid, other, dest);
}

/* Sets `line`, the unit direction from root to end; `bend`, the unit direction from that line to
 * the mid joint, so that cross(line, bend) is the hinge; and `along` and `height`, the coordinates
 * of the mid joint along line and bend. */
IK2B_IN_LINE bool
measure(limb *t, bool careful)
{
    double line[3], normal[3], bend[3], inverse, size, part;
    bool good = invert_length(t->distance, careful, &inverse);
    limb_normal(t, normal);
    good &= d3_measure(normal, careful, &size, &part);
    double height = size * inverse;
    d3_scale(t->end, inverse, line);
    t->along = d3_dot(t->mid, line);
    d3_cross(line, normal, bend);
    d3_scale(bend, part, bend);
    t->height = height;
    t->doubtful = 0.0;
    d3_copy(line, t->line);
    d3_copy(bend, t->bend);
    bool bent = height > t->task.straight * (t->upper_length + t->lower_length);
    if (careful && !bent) {
        measure_without_bend(t);
    }
    return good & bent;
}

/* The mid joint's coordinate along the line and its height over the line, for this distance of the
 * end. The law of cosines in its factored form (Kahan) keeps its digits for folded and straight
 * limbs. Rounding may make the distance less than the difference of the bones; clamping then keeps
 * the mid joint from lying farther from the root than the upper bone is long. The present distance
 * gives the present triangle. */
IK2B_IN_LINE bool
limb_triangle(limb *t, bool careful, double distance, double *along, double *height)
{
    double upper = t->upper_length, total = upper + t->lower_length;
    double difference = upper - t->lower_length, inverse = 1.0 / distance;
    double outer = (total - distance) * (total + distance);
    double inner = ((distance - difference) * inverse) * ((distance + difference) * inverse);
    double new_along = 0.5 * (distance + difference * (total * inverse));
    double new_height = 0.5 * sqrt(larger(outer * inner, 0.0)); /* rounding may make one negative */
    bool present = distance == t->distance;
    *along = chosen(present, t->along, clamped(new_along, -upper, upper));
    *height = chosen(present, t->height, new_height);
    if (careful && distance == 0.0) {
        *along = 0.0;
        *height = upper;
    }
    if (careful && *along == 0.0 && *height == 0.0) {
        *along = upper; /* an upper bone that is negligible beside the lower one */
    }
    return (fabs(*along) > 0.0) | (*height > 0.0);
}

#endif
