/* SPDX-License-Identifier: MIT
 *
 * Where the end goes: legal distances from the root, softening, clamping, weight.
 */
#ifndef IK2B_GOAL_H
#define IK2B_GOAL_H

#include "limb.h"

/* Distance of the end at an inner angle, by the sine of half of it (law of cosines). */
IK2B_IN_LINE double
distance_at(const limbs *t, int k, double half_sine)
{
    double upper = t->upper_length[k], lower = t->lower_length[k], difference = upper - lower;
    double square = difference * difference + 4.0 * upper * lower * half_sine * half_sine;
    double distance = half_sine >= 1.0 ? upper + lower : ordinary_root(square);
    return half_sine <= 0.0 ? fabs(difference) : distance;
}

/* The least and greatest legal distance of the end, both widened to the present one. */
IK2B_IN_LINE bool
find_reach(limbs *t, int k, bool limits)
{
    double upper = t->upper_length[k], lower = t->lower_length[k];
    double least = limits ? distance_at(t, k, t->sine[IK2B_HALF_LEAST][k]) : fabs(upper - lower);
    double greatest = limits ? distance_at(t, k, t->sine[IK2B_HALF_MOST][k]) : upper + lower;
    t->least[k] = smaller(least, t->distance[k]);
    t->greatest[k] = larger(greatest, t->distance[k]);
    return true;
}

IK2B_STAGE(find_reach, ((void)careful, find_reach(t, k, false)))
IK2B_STAGE(find_limited_reach, ((void)careful, find_reach(t, k, true)))

/* The parabola from soften * greatest, slope 1, to greatest, slope 0, which it reaches at
 * (2 - soften) * greatest: it never runs ahead of the target and arrives at a finite distance. */
IK2B_IN_LINE double
softened(double distance, double greatest, double soften)
{
    double start = soften * greatest, arrival = (2.0 - soften) * greatest, over = distance - start;
    double soft =
        distance >= arrival ? greatest : distance - over * over / (2.0 * (arrival - start));
    return (over <= 0.0) | (soften >= 1.0) ? distance : soft;
}

/* Flags what the stages do to the target's distance; softening counts against the distance itself.
 */
IK2B_IN_LINE void
judge_distance(limbs *t, int k, double distance, double soft)
{
    double upper = t->upper_length[k], lower = t->lower_length[k];
    double total = upper + lower, difference = fabs(upper - lower), moved = t->moved * total;
    double bare = clamped(distance, difference, total);
    double legal = clamped(distance, t->least[k], t->greatest[k]);
    double too_far = distance - total > moved ? IK2B_TOO_FAR : 0.0;
    double too_close = difference - distance > moved ? IK2B_TOO_CLOSE : 0.0;
    t->missed[k] = too_far + too_close + (distance - soft > moved ? IK2B_SOFTENED : 0.0);
    t->limited[k] = fabs(legal - bare) > moved ? 1.0 : 0.0;
    t->singular[k] = 0.0;
}

/* The line on which the end lies at this distance while the upper bone stays where it is. */
static inline void
line_under_still_bone(limbs *t, int k, double distance, double new_line[3])
{
    double along, height, mid[3], line[3], bend[3], up[3], normal[3], across[3];
    get3(t->mid, k, mid);
    get3(t->line, k, line);
    get3(t->bend, k, bend);
    limb_triangle(t, k, true, distance, &along, &height);
    d3_unit(mid, up);
    d3_cross(line, bend, normal);
    d3_cross(up, normal, across);
    d3_unit(across, across); /* the bend of a nearly straight limb is not quite unit */
    d3_scale(up, along, new_line);
    d3_muladds(across, height, new_line);
    d3_unit(new_line, new_line);
}

/* The end goes to the root. */
static inline void
keep_upper(limbs *t, int k, double line[3])
{
    line_under_still_bone(t, k, t->new_distance[k], line);
    t->singular[k] = 1.0;
    t->keeps_upper[k] = 1.0;
}

/* Part of the way from the present end to the goal, along the straight line between them. */
IK2B_IN_LINE bool
weigh_goal(limbs *t, int k, bool careful, double line[3])
{
    double end[3], present[3], distance, inverse, weight = t->weight[k];
    get3(t->end, k, present);
    d3_scale(line, t->new_distance[k], end);
    d3_sub(end, present, end);
    d3_scale(end, weight, end);
    d3_add(end, present, end);
    bool good = d3_measure(end, careful, &distance, &inverse), partly = weight < 1.0;
    double legal = clamped(distance, t->least[k], t->greatest[k]);
    t->new_distance[k] = chosen(partly, legal, t->new_distance[k]);
    for (int i = 0; i < 3; i++) {
        line[i] = chosen(partly, end[i] * inverse, line[i]);
    }
    if (careful && partly) {
        t->keeps_upper[k] = 0.0;
        if (distance == 0.0 && t->still[k] == 0.0) {
            keep_upper(t, k, line);
        }
    }
    return good | !partly;
}

/* Whether pole or twist turn the bend, so that a target on the end is no reason to stay. */
IK2B_IN_LINE bool
is_turned(limbs *t, int k)
{
    double pole[3];
    get3(t->pole, k, pole);
    return (!is_zero(pole) & (t->pole_weight[k] > 0.0)) | (t->twist[k] != 0.0);
}

/* The end at `new_distance` along the unit `new_line`. */
IK2B_IN_LINE bool
find_goal(limbs *t, int k, bool careful, bool options)
{
    double line[3], distance, inverse;
    get3(t->aim, k, line);
    bool good = d3_measure(line, careful, &distance, &inverse);
    double soft = options ? softened(distance, t->greatest[k], t->soften[k]) : distance;
    bool stays = t->on_end[k] != 0.0;
    if (options) {
        stays = (stays & (soft == distance) & !is_turned(t, k)) | (t->weight[k] == 0.0);
    }
    t->still[k] = stays ? 1.0 : 0.0;
    t->new_distance[k] = clamped(soft, t->least[k], t->greatest[k]);
    judge_distance(t, k, distance, soft);
    t->keeps_upper[k] = 0.0;
    d3_scale(line, inverse, line);
    if (careful && distance == 0.0 && t->still[k] == 0.0) {
        keep_upper(t, k, line);
    }
    good &= !options || weigh_goal(t, k, careful, line);
    put3(line, k, t->new_line);
    return good;
}

IK2B_STAGE(find_goal, find_goal(t, k, careful, false))
IK2B_STAGE(find_goal_by_options, find_goal(t, k, careful, true))

#endif
