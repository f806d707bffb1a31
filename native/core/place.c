/* SPDX-License-Identifier: MIT
 *
 * From limbs to the joints of the new pose: the stages in their order.
 */
#include "place.h"

#include "cone.h"

/* From limbs and aims to the joints of the new pose. */
IK2B_IN_LINE void
place(limbs *t)
{
    if (is_given(t, IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE))) {
        find_limited_reach_lanes(t);
    }
    else {
        find_reach_lanes(t);
    }
    if (is_given(t, IK2B_BIT(SOFTEN) | IK2B_BIT(WEIGHT) | IK2B_BIT(POLE) | IK2B_BIT(TWIST))) {
        find_goal_by_options_lanes(t);
    }
    else {
        find_goal_lanes(t);
    }
    if (t->nearest) {
        find_nearest_bend_lanes(t);
    }
    else {
        carry_bend_lanes(t);
    }
    if (is_given(t, IK2B_BIT(POLE)) && is_given(t, IK2B_BIT(POLE_WEIGHT) | IK2B_BIT(WEIGHT))) {
        turn_partly_to_pole_lanes(t);
    }
    else if (is_given(t, IK2B_BIT(POLE))) {
        turn_to_pole_lanes(t);
    }
    if (is_given(t, IK2B_BIT(TWIST))) {
        twist_bend_lanes(t);
    }
    place_joints_lanes(t);
    if (t->rolling || is_given(t, IK2B_BIT(CONE_AXIS))) {
        find_normal_lanes(t);
    }
    if (is_given(t, IK2B_BIT(CONE_AXIS)) && is_given(t, IK2B_BIT(CONE_ANGLE))) {
        apply_cone(t);
    }
}

IK2B_BUILDS(measurer, measure_lanes, (limbs * t), (t))
IK2B_BUILDS(placer, place, (limbs * t), (t))

/* Status and miss of all rows. */
IK2B_IN_LINE bool
tell(limbs *t, int k)
{
    bool invalid = t->invalid[k] != 0.0;
    double sum = t->missed[k] + IK2B_LIMITED * t->limited[k] + IK2B_SINGULAR * t->singular[k];
    t->status[k] = chosen(invalid, IK2B_INVALID, sum);
    t->miss[k] = chosen(invalid, (double)NAN, t->miss[k]);
    return true;
}

IK2B_STAGE(tell, ((void)careful, tell(t, k)))

IK2B_BUILDS(teller, tell_lanes, (limbs * t), (t))

void
ik2b_measure(limbs *t)
{
    measurer()(t);
}

void
ik2b_place(limbs *t)
{
    placer()(t);
}

void
ik2b_tell(limbs *t)
{
    teller()(t);
}
