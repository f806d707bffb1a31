/* SPDX-License-Identifier: MIT
 *
 * Where the end goes: legal distances from the root, softening, clamping, weight.
 */
#ifndef IK2B_GOAL_H
#define IK2B_GOAL_H

#include "ik2b.h"
#include "limb.h"


typedef struct {
    double pole[3], hinge[3], cone_axis[3]; /* zero: none */
    double pole_weight, twist, soften, weight, min_angle, max_angle, cone_angle;
    bool nearest;
} options;

/* The end at `distance` along the unit `line`. */
typedef struct {
    double line[3], distance;
    bool still;       /* nothing moves: the pose itself is the answer */
    bool keeps_upper; /* the end goes to the root: the upper bone stays where it is */
    int status;
} goal;

static inline double
clamped(double number, double least, double greatest)
{
    return smaller(larger(number, least), greatest);
}

static inline double
distance_at_angle(const limb *self, double angle)
{
    if (angle >= IK2B_PI) {
        return limb_reach(self);
    }
    double difference = self->upper - self->lower;
    if (angle <= 0.0) {
        return fabs(difference);
    }
    double half = sin(0.5 * angle);
    return sqrt(difference * difference + 4.0 * self->upper * self->lower * half * half);
}

/* The angle limits as distances of the end, widened to the present one. */
static inline void
legal_distances(const limb *self, const options *opt, double *least, double *greatest)
{
    double maximum = clamped(opt->max_angle, 0.0, IK2B_PI);
    double minimum = clamped(opt->min_angle, 0.0, maximum);
    *least = smaller(distance_at_angle(self, minimum), self->distance);
    *greatest = larger(distance_at_angle(self, maximum), self->distance);
}

/* The parabola from soften * greatest, slope 1, to greatest, slope 0, which it reaches at
 * (2 - soften) * greatest: it never runs ahead of the target and arrives at a finite distance. */
static inline double
softened(double distance, double greatest, double soften)
{
    double start = soften * greatest, arrival = (2.0 - soften) * greatest;
    if (distance <= start || soften >= 1.0) {
        return distance;
    }
    if (distance >= arrival) {
        return greatest;
    }
    return distance - (distance - start) * (distance - start) / (2.0 * (arrival - start));
}

/* What the stages do to the target's distance; softening counts against the distance itself. */
static inline int
distance_status(const limb *self, double distance, double soft, double least, double greatest)
{
    double total = limb_reach(self), moved = IK2B_MOVED * total;
    double difference = fabs(self->upper - self->lower);
    double bare = clamped(distance, difference, total);
    double legal = clamped(distance, least, greatest);
    return (distance - total > moved ? IK2B_TOO_FAR : 0) |
           (difference - distance > moved ? IK2B_TOO_CLOSE : 0) |
           (distance - soft > moved ? IK2B_SOFTENED : 0) |
           (fabs(legal - bare) > moved ? IK2B_LIMITED : 0);
}

/* The line on which the end lies at this distance while the upper bone stays where it is. */
static inline void
line_under_still_bone(const limb *self, double distance, double line[3])
{
    double along, height, up[3], normal[3], across[3];
    limb_triangle(self, distance, &along, &height);
    d3_unit(self->mid, up);
    d3_cross(self->line, self->bend, normal);
    d3_cross(up, normal, across);
    d3_unit(across, across); /* the bend of a nearly straight limb is not quite unit */
    d3_scale(up, along, line);
    d3_muladds(across, height, line);
    d3_unit(line, line);
}

/* Part of the way from the present end to the goal, along the straight line between them. */
static inline void
goal_weigh(goal *self, const limb *present, double weight, double least, double greatest)
{
    double end[3];
    d3_scale(self->line, self->distance, end);
    d3_sub(end, present->end, end);
    d3_scale(end, weight, end);
    d3_add(end, present->end, end);
    self->distance = clamped(d3_norm(end), least, greatest);
    self->keeps_upper = d3_is_zero(end);
    if (self->keeps_upper) {
        self->status |= IK2B_SINGULAR;
        line_under_still_bone(present, self->distance, self->line);
    }
    else {
        d3_unit(end, self->line);
    }
}

/* The target is seen from the root; on_end tells that it is the present end, exactly. */
static inline goal
goal_find(const limb *present, const double target[3], bool on_end, const options *opt)
{
    goal self = {.status = 0};
    double least, greatest, weight = clamped(opt->weight, 0.0, 1.0);
    double inverse = 1.0, distance = present->distance;
    if (!on_end) {
        distance = d3_is_zero(target) ? 0.0 : d3_measure(target, &inverse);
    }
    legal_distances(present, opt, &least, &greatest);
    double soft = softened(distance, greatest, clamped(opt->soften, 0.0, 1.0));
    self.status = distance_status(present, distance, soft, least, greatest);

    bool posed = !d3_is_zero(opt->pole) && clamped(opt->pole_weight, 0.0, 1.0) > 0.0;
    self.still = weight == 0.0 || (on_end && soft == distance && !posed && opt->twist == 0.0);
    self.distance = self.still ? present->distance : clamped(soft, least, greatest);
    d3_copy(present->line, self.line);
    if (self.still) {
        return self;
    }
    self.keeps_upper = distance == 0.0;
    if (self.keeps_upper) {
        self.status |= IK2B_SINGULAR;
        line_under_still_bone(present, self.distance, self.line);
    }
    else if (!on_end) {
        d3_scale(target, inverse, self.line);
    }
    if (weight < 1.0) {
        goal_weigh(&self, present, weight, least, greatest);
    }
    return self;
}

#endif
