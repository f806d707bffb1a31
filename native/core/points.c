/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve and ik2b_pole_of: from points through the stages to points.
 */
#include "bend.h"
#include "frames.h"
#include "solver.h"

/* The solution in the caller's space. The end's position is rounded to the kind of the results,
 * because the miss is that of the result. */
IK2B_IN_LINE bool
leave_points(limb *t, bool careful)
{
    double scale = careful ? 1.0 / t->scale : 1.0;
    bool stays = t->still != 0.0, single = t->task.kind == IK2B_F32;
    for (int i = 0; i < 3; i++) {
        double mid = t->root_at[i] + t->new_mid[i] * scale;
        double end = t->root_at[i] + t->new_end[i] * scale;
        end = chosen(stays, t->end_at[i], end);
        t->position[i] = chosen(single, as_single(end), end);
        t->out_mid[i] = chosen(stays, t->mid_at[i], mid);
    }
    return tell(t, careful);
}

/* Copies the directions, which are given in the limb's own space. */
IK2B_IN_LINE bool
take_directions(limb *t)
{
    d3_copy(t->given_pole, t->pole);
    d3_copy(t->given_hinge, t->hinge);
    d3_copy(t->given_cone_axis, t->cone_axis);
    return true;
}

IK2B_IN_LINE bool
measure_points(limb *t, bool careful)
{
    bool good = see_points(t, careful);
    find_lengths(t, careful);
    return good & measure(t, careful);
}

/* All stages of a call without options. An invalid row is refused after the last of them. */
IK2B_IN_LINE bool
solve_plainly(limb *t, bool careful)
{
    bool good = measure_points(t, careful);
    find_reach(t, false);
    good &= find_goal(t, careful, false);
    good &= carry_bend(t, careful);
    good &= place_joints(t, careful);
    good &= leave_points(t, careful);
    return good;
}

IK2B_STAGE(solve_plainly, IK2B_RESULTS, solve_plainly(t, careful), IK2B_ALWAYS)

IK2B_STAGE(take_directions, IK2B_DIRECTIONS, take_directions(t),
           .any = IK2B_BIT(POLE) | IK2B_BIT(HINGE) | IK2B_BIT(CONE_AXIS))
IK2B_STAGE(measure_points, IK2B_SEEN, measure_points(t, careful), IK2B_ALWAYS)
IK2B_STAGE(leave_points, IK2B_RESULTS, leave_points(t, careful), IK2B_ALWAYS)

void
ik2b_solve(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_stage *const stages[] = {
        &take_directions_stage, &measure_points_stage, &ik2b_place, &leave_points_stage, NULL,
    };
    IK2B_RUN(SOLVE, stages, &solve_plainly_stage);
}

/* The pole that keeps the mid joint where it is; zero if the limb is straight and has no hinge. */
IK2B_IN_LINE bool
read_pole(limb *t)
{
    return tell_direction(t, t->bend, (t->doubtful != 0.0) & (t->distance != 0.0));
}

IK2B_STAGE(aim_at_end, IK2B_INPUTS, aim_at_end(t), IK2B_ALWAYS)
IK2B_STAGE(read_pole, IK2B_RESULTS, read_pole(t), IK2B_ALWAYS)

void
ik2b_pole_of(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_stage *const stages[] = {
        &aim_at_end_stage, &take_directions_stage, &measure_points_stage, &read_pole_stage, NULL,
    };
    IK2B_RUN(POLE_OF, stages, NULL);
}
