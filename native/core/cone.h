/* SPDX-License-Identifier: MIT
 *
 * The cone: the upper bone stays within an angle of an axis. The circle of solutions meets it in an
 * arc, or not at all.
 */
#ifndef IK2B_CONE_H
#define IK2B_CONE_H

#include "goal.h"

/* The mid joint on its circle: along * line + height * bend. */
typedef struct {
    double line[3], bend[3], along, height;
} circle;

/* The axis (unit), the angle, and the least legal component of the mid joint along the axis. */
typedef struct {
    double axis[3], angle, least;
} cone;

/* The cone, widened to the present upper bone; false where there is none. */
static inline bool
cone_find(const limb *present, const options *opt, cone *self)
{
    double across[3], angle = clamped(opt->cone_angle, 0.0, IK2B_PI);
    if (d3_is_zero(opt->cone_axis) || angle >= IK2B_PI) {
        return false;
    }
    d3_unit(opt->cone_axis, self->axis);
    d3_cross(self->axis, present->mid, across);
    double component = d3_dot(self->axis, present->mid);
    self->angle = larger(angle, atan2(d3_norm(across), component));
    self->least = smaller(present->upper * cos(angle), component);
    return true;
}

static inline void
circle_mid(const circle *self, double mid[3])
{
    d3_scale(self->line, self->along, mid);
    d3_muladds(self->bend, self->height, mid);
}

/* Turns the bend along the circle to the nearest end of the legal arc; false where the circle does
 * not meet the cone. The component along the axis is middle + swing * cos(angle from the arc's
 * centre). */
static inline bool
turn_into_cone(circle *self, const cone *limit, int *status)
{
    double across[3], side[3];
    d3_cross(self->line, self->bend, across);
    double x = d3_dot(self->bend, limit->axis), y = d3_dot(across, limit->axis);
    double swing = self->height * hypot(x, y);
    double needed = limit->least - self->along * d3_dot(self->line, limit->axis);
    if (needed > swing) {
        return false;
    }
    double centre = atan2(y, x);
    double half = atan2(sqrt(larger(swing - needed, 0.0) * larger(swing + needed, 0.0)), needed);
    double angle = centre - copysign(half, centre);
    if (x < 0.0 && fabs(y) <= IK2B_PARALLEL * -x) {
        *status |= IK2B_SINGULAR;
    }
    d3_scale(self->bend, cos(angle), side);
    d3_muladds(across, sin(angle), side);
    d3_copy(side, self->bend);
    return true;
}

/* The legal upper bone nearest to the circle: on the cone, in the plane of axis and line. */
static inline void
nearest_legal_mid(const circle *self, const cone *limit, double upper, double mid[3], int *status)
{
    double across[3], towards[3];
    d3_cross(limit->axis, self->line, across);
    double line_angle = atan2(d3_norm(across), d3_dot(limit->axis, self->line));
    double side = atan2(self->height, self->along) < line_angle ? 1.0 : -1.0;
    d3_reject(self->line, limit->axis, towards);
    if (d3_norm(towards) <= IK2B_PARALLEL) { /* all sides miss alike: the wished one */
        *status |= IK2B_SINGULAR;
        d3_reject(self->bend, limit->axis, towards);
        side = 1.0;
    }
    d3_unit_across(towards, limit->axis, towards);
    d3_scale(limit->axis, upper * cos(limit->angle), mid);
    d3_muladds(towards, side * upper * sin(limit->angle), mid);
}

/* The end of a lower bone that points at the goal as far as the angle limits allow. */
static inline void
point_lower_bone(const limb *present, const options *opt, const double mid[3], const double goal[3],
                 const double normal[3], double end[3], int *status)
{
    double up[3], aim[3], across[3];
    d3_unit(mid, up);
    d3_sub(goal, mid, aim);
    d3_reject(aim, up, across);
    double height = d3_norm(across);
    if (d3_is_zero(aim)) {
        *status |= IK2B_SINGULAR;
    }
    double maximum = clamped(opt->max_angle, 0.0, IK2B_PI);
    double minimum = clamped(opt->min_angle, 0.0, maximum), own = limb_angle(present);
    double angle =
        clamped(atan2(height, -d3_dot(aim, up)), smaller(minimum, own), larger(maximum, own));
    if (height <= IK2B_PARALLEL * present->lower) {
        d3_cross(up, normal, across);
    }
    d3_unit_across(across, up, across);
    d3_copy(mid, end);
    d3_muladds(up, -present->lower * cos(angle), end);
    d3_muladds(across, present->lower * sin(angle), end);
}

/* Brings mid and end into the cone; normal is the hinge of the limb, before and after. */
static inline void
apply_cone(const limb *present, const options *opt, circle *wished, double mid[3], double end[3],
           double normal[3], int *status)
{
    cone limit;
    double off[3], goal[3];
    if (!cone_find(present, opt, &limit) || d3_dot(limit.axis, mid) >= limit.least) {
        return;
    }
    if (turn_into_cone(wished, &limit, status)) {
        circle_mid(wished, mid);
        d3_cross(wished->line, wished->bend, normal);
        return;
    }
    d3_copy(end, goal);
    nearest_legal_mid(wished, &limit, present->upper, mid, status);
    point_lower_bone(present, opt, mid, goal, normal, end, status);
    d3_sub(end, goal, off);
    if (d3_norm(off) > IK2B_MOVED * limb_reach(present)) {
        *status |= IK2B_LIMITED;
    }
    d3_cross(end, mid, off);
    if (d3_norm(off) > IK2B_STRAIGHT * limb_reach(present) * d3_norm(end)) {
        d3_unit(off, normal);
    }
}

#endif
