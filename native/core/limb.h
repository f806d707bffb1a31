/* SPDX-License-Identifier: MIT
 *
 * The limb as it is: lengths, line and bend, seen from the root joint; and the triangle it makes.
 */
#ifndef IK2B_LIMB_H
#define IK2B_LIMB_H

#include "real.h"

/* `line` is the unit direction root to end and `bend` the unit direction from that line to the mid
 * joint, so that cross(line, bend) is the hinge. `along` and `height` place the mid joint on them.
 */
typedef struct {
    double mid[3], end[3], line[3], bend[3];
    double upper, lower, distance, along, height;
    bool singular; /* nothing in the pose or hinge told the bend or the line */
} limb;

static inline double
limb_reach(const limb *self)
{
    return self->upper + self->lower;
}

/* The hinge's part across the upper bone; false where nothing is left of it. */
static inline bool
hinge_across(const double hinge[3], const double up[3], double side[3])
{
    if (d3_is_zero(hinge)) {
        return false;
    }
    d3_unit(hinge, side);
    d3_reject(side, up, side);
    return d3_norm(side) > IK2B_PARALLEL;
}

/* The line of a limb whose end lies on its root: across the upper bone, in the hinge's plane, else
 * towards the target. */
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

/* cross(mid, lower), which is also cross(mid, end), from the shorter of the two: near the fold the
 * longer one would leave nothing but rounding. */
IK2B_IN_LINE void
limb_normal(const double mid[3], const double lower[3], double lower_length, const double end[3],
            double distance, double dest[3])
{
    double other[3];
    for (int i = 0; i < 3; i++) {
        other[i] = distance < lower_length ? end[i] : lower[i];
    }
    d3_cross(mid, other, dest);
}

/* mid and end are seen from the root, lower is the bone from mid to end, all of a size near 1;
 * toward, the target, decides only what nothing else does. Bones must not have zero length. */
static inline limb
limb_measure(const double mid[3], const double lower[3], const double end[3], const double hinge[3],
             const double toward[3])
{
    limb self;
    double up[3], side[3], normal[3], inverse;

    d3_copy(mid, self.mid);
    d3_copy(end, self.end);
    self.upper = d3_measure(mid, &inverse);
    d3_scale(mid, inverse, up);
    self.lower = d3_measure(lower, &inverse);
    bool has_side = hinge_across(hinge, up, side);

    if (d3_is_zero(end)) {
        self.distance = self.along = 0.0;
        self.height = self.upper;
        folded_line(up, has_side ? side : NULL, toward, self.line);
        d3_copy(up, self.bend);
        self.singular = true;
        return self;
    }
    self.distance = d3_measure(end, &inverse);
    d3_scale(end, inverse, self.line);
    self.along = d3_dot(mid, self.line);
    limb_normal(mid, lower, self.lower, end, self.distance, normal);
    d3_scale(normal, inverse, normal);
    self.height = d3_is_zero(normal) ? 0.0 : d3_measure(normal, &inverse);

    bool straight = self.height <= IK2B_STRAIGHT * limb_reach(&self);
    self.singular = straight && !has_side;
    if (!straight) {
        d3_cross(self.line, normal, self.bend);
        d3_scale(self.bend, inverse, self.bend);
    }
    else if (has_side) {
        d3_cross(side, self.line, self.bend);
        d3_unit(self.bend, self.bend);
    }
    else {
        d3_perpendicular(self.line, self.bend);
    }
    return self;
}

/* The inner angle at the mid joint. */
static inline double
limb_angle(const limb *self)
{
    double lower[3], across[3];
    d3_sub(self->end, self->mid, lower);
    d3_cross(self->mid, lower, across);
    return atan2(d3_norm(across), -d3_dot(self->mid, lower));
}

/* Where the mid joint lies along the line root-end, and the square of its height over it. */
typedef struct {
    double along, height_square;
} triangle_sides;

/* The triangle of sum and difference of the bones and the distance of the end: law of cosines in
 * the factored form (Kahan), which keeps its digits folded and straight. A distance that rounding
 * made less than the difference would take the mid joint farther than the upper bone is long. */
IK2B_IN_LINE triangle_sides
triangle(double total, double difference, double distance)
{
    double inverse = 1.0 / distance;
    double outer = larger(total - distance, 0.0) * (total + distance);
    double inner = (larger(distance - difference, 0.0) * inverse) *
                   (larger(distance + difference, 0.0) * inverse);
    double along = 0.5 * (distance + difference * (total * inverse));
    double upper = 0.5 * (total + difference);
    triangle_sides self = {larger(smaller(along, upper), -upper), 0.25 * outer * inner};
    return self;
}

/* Position of the mid joint along and across the line at this distance of the end. The present
 * distance gives the present triangle. */
static inline void
limb_triangle(const limb *self, double distance, double *along, double *height)
{
    double total = limb_reach(self), difference = self->upper - self->lower;
    if (distance == self->distance || distance == 0.0) {
        *along = distance == 0.0 ? 0.0 : self->along;
        *height = distance == 0.0 ? self->upper : self->height;
        return;
    }
    triangle_sides new = triangle(total, difference, distance);
    *along = new.along;
    *height =
        is_ordinary(new.height_square) ? ordinary_root(new.height_square) : sqrt(new.height_square);
    if (*along == 0.0 && *height == 0.0) {
        *along = self->upper; /* an upper bone that is nothing beside the lower one */
    }
}

#endif
