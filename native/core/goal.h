/* SPDX-License-Identifier: MIT
 *
 * Where the end goes: legal distances from the root, softening, clamping, weight.
 */
#ifndef IK2B_GOAL_H
#define IK2B_GOAL_H

#include "limb.h"

/* The distance of the end from the root at an inner angle, given as the sine of half that angle
 * (law of cosines). */
IK2B_IN_LINE double
distance_at(const limb *t, double half_sine)
{
    double upper = t->upper_length, lower = t->lower_length, difference = upper - lower;
    double square = difference * difference + 4.0 * upper * lower * half_sine * half_sine;
    double distance = half_sine >= 1.0 ? upper + lower : sqrt(square);
    return half_sine <= 0.0 ? fabs(difference) : distance;
}

/* The least and greatest legal distance of the end, both widened to the present distance. */
IK2B_IN_LINE bool
find_reach(limb *t, bool limits)
{
    double upper = t->upper_length, lower = t->lower_length;
    double least = limits ? distance_at(t, t->sine[IK2B_HALF_LEAST]) : fabs(upper - lower);
    double greatest = limits ? distance_at(t, t->sine[IK2B_HALF_MOST]) : upper + lower;
    t->least = smaller(least, t->distance);
    t->greatest = larger(greatest, t->distance);
    return true;
}

/* The softened distance. The parabola starts at soften * greatest with slope 1. It reaches
 * `greatest` with slope 0 when the target is at (2 - soften) * greatest. The end thus never runs
 * ahead of the target, and arrives at a finite distance of the target. */
IK2B_IN_LINE double
softened(double distance, double greatest, double soften)
{
    double start = soften * greatest, arrival = (2.0 - soften) * greatest, over = distance - start;
    double soft =
        distance >= arrival ? greatest : distance - over * over / (2.0 * (arrival - start));
    return ((over <= 0.0) | (soften >= 1.0)) ? distance : soft;
}

/* Sets the flags for what the stages do to the target's distance. Softening is compared with the
 * distance before clamping. */
IK2B_IN_LINE void
judge_distance(limb *t, double distance, double soft)
{
    double upper = t->upper_length, lower = t->lower_length;
    double total = upper + lower, difference = fabs(upper - lower), moved = t->task.moved * total;
    double bare = clamped(distance, difference, total);
    double legal = clamped(distance, t->least, t->greatest);
    double too_far = distance - total > moved ? IK2B_TOO_FAR : 0.0;
    double too_close = difference - distance > moved ? IK2B_TOO_CLOSE : 0.0;
    t->missed = too_far + too_close + (distance - soft > moved ? IK2B_SOFTENED : 0.0);
    t->limited = as_number(fabs(legal - bare) > moved);
    t->singular = 0.0;
}

/* The unit line on which the end lies at this distance while the upper bone stays where it is. */
static inline void
line_under_still_bone(limb *t, double distance, double new_line[3])
{
    double along, height, up[3], normal[3], across[3];
    limb_triangle(t, true, distance, &along, &height);
    d3_unit(t->mid, up);
    d3_cross(t->line, t->bend, normal);
    d3_cross(up, normal, across);
    d3_unit(across, across); /* the bend of a nearly straight limb is not quite unit */
    d3_scale(up, along, new_line);
    d3_muladds(across, height, new_line);
    d3_unit(new_line, new_line);
}

/* For an end that goes to the root: the upper bone stays where it is, which is an arbitrary
 * choice. */
static inline void
keep_upper(limb *t, double line[3])
{
    line_under_still_bone(t, t->new_distance, line);
    t->singular = 1.0;
    t->keeps_upper = 1.0;
}

/* Moves the goal, given by `line` and new_distance, to the share `weight` of the straight way from
 * the present end to it. */
IK2B_IN_LINE bool
weigh_goal(limb *t, bool careful, double line[3])
{
    double end[3], distance, inverse, weight = t->weight;
    d3_scale(line, t->new_distance, end);
    d3_sub(end, t->end, end);
    d3_scale(end, weight, end);
    d3_add(end, t->end, end);
    bool good = d3_measure(end, careful, &distance, &inverse), partly = weight < 1.0;
    double legal = clamped(distance, t->least, t->greatest);
    t->new_distance = chosen(partly, legal, t->new_distance);
    for (int i = 0; i < 3; i++) {
        line[i] = chosen(partly, end[i] * inverse, line[i]);
    }
    if (careful && partly) {
        t->keeps_upper = 0.0;
        if (distance == 0.0 && t->still == 0.0) {
            keep_upper(t, line);
        }
    }
    return good | !partly;
}

/* Whether pole or twist turn the bend: the limb may then move although the target is on the end. */
IK2B_IN_LINE bool
is_turned(limb *t)
{
    return (!d3_is_zero(t->pole) & (t->pole_weight > 0.0)) | (t->twist != 0.0);
}

/* Finds the goal of the end, at new_distance along the unit new_line. Without `options`, `still`
 * may be set although pole or twist turn the bend; the stages that turn it clear the flag. */
IK2B_IN_LINE bool
find_goal(limb *t, bool careful, bool options)
{
    double line[3], inverse, distance = t->aim_length;
    bool good = invert_length(distance, careful, &inverse);
    double soft = options ? softened(distance, t->greatest, t->soften) : distance;
    bool stays = t->on_end != 0.0;
    if (options) {
        stays = in_pairs(t->on_end) != 0.0;
        stays = (stays & (soft == distance) & !is_turned(t)) | (t->weight == 0.0);
    }
    t->still = as_number(stays);
    t->new_distance = clamped(soft, t->least, t->greatest);
    judge_distance(t, distance, soft);
    t->keeps_upper = 0.0;
    d3_scale(t->aim, inverse, line);
    if (careful && distance == 0.0 && (t->still == 0.0 || (!options && is_turned(t)))) {
        keep_upper(t, line);
    }
    good &= !options || weigh_goal(t, careful, line);
    d3_copy(line, t->new_line);
    return good;
}

#endif
