/* SPDX-License-Identifier: MIT
 *
 * From limbs to the joints of the new pose: the stages in their order.
 */
#include "place.h"

#include "cone.h"

/* Which stages the options ask for. */
typedef struct {
    bool limits, options, pole, partly, twist, normal, cone;
} stages;

IK2B_IN_LINE stages
stages_of(const ik2b_task *task)
{
    const uint64_t limits = IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE);
    const uint64_t options = IK2B_BIT(SOFTEN) | IK2B_BIT(WEIGHT) | IK2B_BIT(POLE) | IK2B_BIT(TWIST);
    stages result;
    result.limits = is_given(task, limits);
    result.options = result.limits || is_given(task, options);
    result.pole = is_given(task, IK2B_BIT(POLE));
    result.partly = is_given(task, IK2B_BIT(POLE_WEIGHT) | IK2B_BIT(WEIGHT));
    result.twist = is_given(task, IK2B_BIT(TWIST));
    result.normal = task->rolling || is_given(task, IK2B_BIT(CONE_AXIS));
    result.cone = is_given(task, IK2B_BIT(CONE_AXIS)) && is_given(task, IK2B_BIT(CONE_ANGLE));
    return result;
}

void
ik2b_place(limb *t)
{
    stages on = stages_of(&t->task);
    find_reach(t, on.limits);
    find_goal(t, true, on.options);
    if (t->task.nearest) {
        find_nearest_bend(t, true);
    }
    else {
        carry_bend(t, true);
    }
    if (on.pole) {
        turn_to_pole(t, true, on.partly);
    }
    if (on.twist) {
        twist_bend(t);
    }
    place_joints(t, true);
    if (on.normal) {
        find_normal(t);
    }
    if (on.cone) {
        turn_into_cone(t, true);
        miss_by_cone(t, true);
    }
}

/* The goal and the bend before pole and twist. */
IK2B_IN_LINE bool
find_goal_and_bend(limb *t, bool options)
{
    bool good = find_goal(t, false, options);
    return both(good, carry_bend(t, false));
}

IK2B_IN_LINE bool
find_plain_goal_and_bend(limb *t)
{
    find_reach(t, false);
    return find_goal_and_bend(t, false);
}

IK2B_PASS(find_reach, IK2B_SOLUTION, find_reach(&one, false))
IK2B_PASS(find_limited_reach, IK2B_SOLUTION, find_reach(&one, true))
IK2B_PASS(find_goal, IK2B_SOLUTION, find_plain_goal_and_bend(&one))
IK2B_PASS(find_goal_by_options, IK2B_SOLUTION, find_goal_and_bend(&one, true))
IK2B_PASS(find_nearest_bend, IK2B_SOLUTION, find_nearest_bend(&one, false))
IK2B_PASS(turn_to_pole, IK2B_SOLUTION, turn_to_pole(&one, false, false))
IK2B_PASS(turn_partly_to_pole, IK2B_SOLUTION, turn_to_pole(&one, false, true))
IK2B_PASS(twist_bend, IK2B_SOLUTION, twist_bend(&one))
IK2B_PASS(place_joints, IK2B_SOLUTION, place_joints(&one, false))
IK2B_PASS(find_normal, IK2B_SOLUTION, find_normal(&one))

IK2B_IN_LINE void
place_lanes(limbs *t, int together)
{
    stages on = stages_of(&t->task);
    if (on.limits) {
        find_limited_reach_lanes(t, together);
    }
    else if (on.options) {
        find_reach_lanes(t, together);
    }
    if (on.options) {
        find_goal_by_options_lanes(t, together);
    }
    else {
        find_goal_lanes(t, together);
    }
    if (t->task.nearest) {
        find_nearest_bend_lanes(t, together);
    }
    if (on.pole && on.partly) {
        turn_partly_to_pole_lanes(t, together);
    }
    else if (on.pole) {
        turn_to_pole_lanes(t, together);
    }
    if (on.twist) {
        twist_bend_lanes(t, together);
    }
    place_joints_lanes(t, together);
    if (on.normal) {
        find_normal_lanes(t, together);
    }
    if (on.cone) {
        turn_into_cone_lanes(t, together);
    }
    if (on.cone && any_lane(t->apart)) {
        miss_by_cone_lanes(t, together);
    }
}

IK2B_BUILDS(placer, place_lanes, (limbs * t), (t, IK2B_TOGETHER))

void
ik2b_place_lanes(limbs *t)
{
    placer()(t);
}
