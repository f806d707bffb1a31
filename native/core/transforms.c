/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve_pose, ik2b_orient and ik2b_hinge_of: from transforms through the stages to corrections
 * and hinges.
 */
#include "frames.h"
#include "solver.h"

IK2B_STAGE(invert_root, IK2B_SEEN, invert_root(t, careful), IK2B_ALWAYS)
IK2B_STAGE(invert_mid, IK2B_SEEN, invert_mid(t, careful), IK2B_ALWAYS)
IK2B_STAGE(see_bones, IK2B_SEEN, see_bones(t, careful), IK2B_ALWAYS)
IK2B_STAGE(see_measured_bones, IK2B_SEEN, see_bones(t, careful) & find_lengths(t, careful),
           IK2B_ALWAYS)
IK2B_STAGE(see_hinge, IK2B_DIRECTIONS, see_hinge(t, careful), .all = IK2B_BIT(HINGE))
IK2B_STAGE(see_pole, IK2B_DIRECTIONS, see_direction(t, careful, t->given_pole, t->pole),
           .all = IK2B_BIT(POLE))
IK2B_STAGE(see_cone_axis, IK2B_DIRECTIONS,
           see_direction(t, careful, t->given_cone_axis, t->cone_axis), .all = IK2B_BIT(CONE_AXIS))
IK2B_STAGE(measure, IK2B_SEEN, measure(t, careful), IK2B_ALWAYS)

/* Sets `kept` if the present pose is the answer, because nothing moves and nothing rolls. */
IK2B_IN_LINE bool
keep_pose(limb *t, bool rolling)
{
    bool rolls = rolling & !d3_is_zero(t->hinge_mid) & (t->weight > 0.0);
    t->kept = as_number((t->still != 0.0) & !rolls);
    return true;
}

IK2B_STAGE(keep_pose, IK2B_RESULTS, keep_pose(t, false), .none = IK2B_BIT(ROLLING))
IK2B_STAGE(keep_rolling_pose, IK2B_RESULTS, keep_pose(t, true), .all = IK2B_BIT(ROLLING))

void
ik2b_solve_pose(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_stage *const stages[] = {
        &invert_root_stage,
        &see_measured_bones_stage,
        &invert_mid_stage,
        &see_hinge_stage,
        &see_pole_stage,
        &see_cone_axis_stage,
        &measure_stage,
        &ik2b_place,
        &keep_pose_stage,
        &keep_rolling_pose_stage,
        &ik2b_turn,
        &ik2b_leave,
        NULL,
    };
    IK2B_RUN(POSE, stages, NULL);
}

/* Scales the new bone to the length of the present one. Returns false if the lane needs care. */
IK2B_IN_LINE bool
keep_length(const double bone[3], bool careful, double new[3])
{
    double square = d3_dot(bone, bone), product = square * d3_dot(new, new);
    double factor = square / sqrt(product), unit[3];
    bool good = is_ordinary(product);
    if (careful && !good) {
        factor = d3_unit(bone, unit);
        if (!d3_is_zero(new)) {
            d3_unit(new, new);
        }
    }
    d3_scale(new, factor, new);
    return good;
}

/* The new joints if bones of the present lengths point as the given new joints ask, whatever the
 * distances between these; and, for `rolling`, the unit hinge of the new pose, zero if it is
 * straight. */
IK2B_IN_LINE bool
aim_bones(limb *t, bool careful, bool rolling)
{
    double root[3], mid[3], end[3], lower[3], normal[3];
    double upper_length, lower_length, line, rest;
    get_origin(t->root_matrix, root);
    d3_copy(t->aim, end);
    d3_sub(t->mid_at, root, mid);
    d33_apply(t->inward, mid, mid);
    bool good = d3_dot(mid, mid) < 1.0 / IK2B_LEAST_SQUARE;
    if (careful && (!good || t->scale != 1.0)) {
        seen_from_root(t, root, t->mid_at, mid);
    }
    d3_sub(end, mid, lower);
    d3_cross(end, mid, normal);
    if (rolling) {
        good &= d3_measure(mid, careful, &upper_length, &rest);
        good &= d3_measure(lower, careful, &lower_length, &rest);
        good &= d3_measure(end, careful, &line, &rest);
        double square = d3_dot(normal, normal);
        double least = t->task.straight * (upper_length + lower_length) * line;
        bool bent = square > least * least;
        double factor = chosen(bent, inverse_root(square), 0.0);
        good &= !bent | is_ordinary(square);
        d3_scale(normal, factor, normal);
    }
    good &= keep_length(t->mid, careful, mid);
    good &= keep_length(t->lower, careful, lower);
    d3_add(mid, lower, end);
    d3_copy(mid, t->new_mid);
    d3_copy(end, t->new_end);
    d3_copy(normal, t->normal);
    bool same = !rolling & (t->on_end != 0.0), none = true;
    for (int i = 0; i < 3; i++) {
        same &= t->mid_at[i] == t->mid_matrix[i][3];
        none &= t->mid_at[i] == root[i];
    }
    bool finite = d3_excess(t->mid_at) == 0.0;
    t->kept = as_number(same | none | (are_equal(t->mid_at, t->target) != 0.0) | !finite);
    return good;
}

IK2B_STAGE(aim_bones, IK2B_AIMS, aim_bones(t, careful, false), .none = IK2B_BIT(ROLLING))
IK2B_STAGE(aim_rolling_bones, IK2B_AIMS, aim_bones(t, careful, true), .all = IK2B_BIT(ROLLING))

void
ik2b_orient(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_stage *const stages[] = {
        &invert_root_stage, &see_bones_stage,         &invert_mid_stage, &see_hinge_stage,
        &aim_bones_stage,   &aim_rolling_bones_stage, &ik2b_turn,        NULL,
    };
    IK2B_RUN(ORIENT, stages, NULL);
}

/* Lets the limb be seen in the mid joint's frame. */
IK2B_IN_LINE bool
enter_mid(limb *t, bool careful)
{
    double determinant;
    bool good = check_matrix(t, careful, t->root_matrix);
    return good & invert_joint(t, careful, t->mid_matrix, t->inward, &determinant);
}

/* cross(root - mid, end - mid); zero for a straight limb. */
IK2B_IN_LINE bool
read_hinge(limb *t)
{
    double hinge[3];
    d3_cross(t->line, t->bend, hinge);
    return tell_direction(t, hinge, t->doubtful != 0.0);
}

IK2B_STAGE(aim_at_end, IK2B_INPUTS, aim_at_end(t), IK2B_ALWAYS)
IK2B_STAGE(enter_mid, IK2B_SEEN, enter_mid(t, careful), IK2B_ALWAYS)
IK2B_STAGE(read_hinge, IK2B_RESULTS, read_hinge(t), IK2B_ALWAYS)

void
ik2b_hinge_of(const ik2b_extent *extent, ik2b_array *args, const ik2b_call *call)
{
    static const ik2b_stage *const stages[] = {
        &aim_at_end_stage, &enter_mid_stage,  &see_measured_bones_stage,
        &measure_stage,    &read_hinge_stage, NULL,
    };
    IK2B_RUN(HINGE_OF, stages, NULL);
}
