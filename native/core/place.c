/* SPDX-License-Identifier: MIT
 *
 * From limbs to the joints of the new pose: the stages in their order.
 */
#include "cone.h"

#define LIMITS (IK2B_BIT(MIN_ANGLE) | IK2B_BIT(MAX_ANGLE))
#define PARTS (IK2B_BIT(POLE_WEIGHT) | IK2B_BIT(WEIGHT))
#define OF_GOAL (LIMITS | IK2B_BIT(SOFTEN) | PARTS)

/* The goal and the bend before pole and twist. */
IK2B_IN_LINE bool
find_goal_and_bend(limb *t, bool careful, bool options)
{
    bool good = find_goal(t, careful, options);
    return good & carry_bend(t, careful);
}

IK2B_IN_LINE bool
find_plain_goal_and_bend(limb *t, bool careful)
{
    find_reach(t, false);
    return find_goal_and_bend(t, careful, false);
}

IK2B_STAGE(find_reach, IK2B_SOLUTION, find_reach(t, false), .any = OF_GOAL, .none = LIMITS)
IK2B_STAGE(find_limited_reach, IK2B_SOLUTION, find_reach(t, true), .any = LIMITS)
IK2B_STAGE(find_goal, IK2B_SOLUTION, find_plain_goal_and_bend(t, careful), .none = OF_GOAL)
IK2B_STAGE(find_goal_by_options, IK2B_SOLUTION, find_goal_and_bend(t, careful, true),
           .any = OF_GOAL)
IK2B_STAGE(find_nearest_bend, IK2B_SOLUTION, find_nearest_bend(t, careful),
           .all = IK2B_BIT(NEAREST_BEND))
IK2B_STAGE(turn_to_pole, IK2B_SOLUTION, turn_to_pole(t, careful, false), .all = IK2B_BIT(POLE),
           .none = PARTS)
IK2B_STAGE(turn_partly_to_pole, IK2B_SOLUTION, turn_to_pole(t, careful, true),
           .all = IK2B_BIT(POLE), .any = PARTS)
IK2B_STAGE(twist_bend, IK2B_SOLUTION, twist_bend(t), .all = IK2B_BIT(TWIST))
IK2B_STAGE(place_joints, IK2B_SOLUTION, place_joints(t, careful), IK2B_ALWAYS)
IK2B_STAGE(find_normal, IK2B_SOLUTION, find_normal(t),
           .any = IK2B_BIT(ROLLING) | IK2B_BIT(CONE_AXIS))
IK2B_STAGE(turn_into_cone, IK2B_SOLUTION, turn_into_cone(t, careful),
           .all = IK2B_BIT(CONE_AXIS) | IK2B_BIT(CONE_ANGLE))

/* Few tiles have a row whose circle does not meet the cone. */
IK2B_STAGE_IF(miss_by_cone, any_lane(t->apart), IK2B_SOLUTION, miss_by_cone(t, careful),
              .all = IK2B_BIT(CONE_AXIS) | IK2B_BIT(CONE_ANGLE))

static const ik2b_stage *const stages[] = {
    &find_reach_stage,
    &find_limited_reach_stage,
    &find_goal_stage,
    &find_goal_by_options_stage,
    &find_nearest_bend_stage,
    &turn_to_pole_stage,
    &turn_partly_to_pole_stage,
    &twist_bend_stage,
    &place_joints_stage,
    &find_normal_stage,
    &turn_into_cone_stage,
    &miss_by_cone_stage,
    NULL,
};

const ik2b_stage ik2b_place = {.stages = stages};
