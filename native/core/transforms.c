/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve_pose, ik2b_orient and ik2b_hinge_of: tiles of transforms in, through the stages, and
 * out.
 */
#include "end.h"
#include "frames.h"
#include "place.h"
#include "solver.h"

IK2B_PASS(remove_scale, IK2B_INPUTS, remove_scale(&one))
IK2B_PASS(invert_frames, IK2B_SEEN, invert_frames(&one, false))
IK2B_PASS(see_bones, IK2B_SEEN, see_bones(&one, false))
IK2B_PASS(measure, IK2B_SEEN, measure(&one, false))
IK2B_PASS(see_hinge, IK2B_DIRECTIONS, see_hinge(&one))
IK2B_PASS(see_pole, IK2B_DIRECTIONS, see_direction(&one, false, one.given_pole, one.pole))
IK2B_PASS(see_cone_axis, IK2B_DIRECTIONS, see_direction(&one, false, one.given_axis, one.cone_axis))
IK2B_PASS(check_end_matrix, IK2B_NOTHING, check_end(&one, false, one.end_matrix))
IK2B_PASS(check_end_goal, IK2B_NOTHING, check_end(&one, false, one.end_goal))

IK2B_IN_LINE bool
is_scaled(const ik2b_task *task)
{
    return is_given(task, IK2B_BIT(ROOT_SCALE) | IK2B_BIT(MID_SCALE));
}

/* What options add to the bones. */
IK2B_IN_LINE void
see_options_lanes(limbs *t, int together)
{
    const ik2b_task *task = &t->task;
    if (is_given(task, IK2B_BIT(HINGE))) {
        see_hinge_lanes(t, together);
    }
    if (is_given(task, IK2B_BIT(POLE))) {
        see_pole_lanes(t, together);
    }
    if (is_given(task, IK2B_BIT(CONE_AXIS))) {
        see_cone_axis_lanes(t, together);
    }
    if (is_given(task, IK2B_BIT(END_MATRIX))) {
        check_end_matrix_lanes(t, together);
    }
    if (is_given(task, IK2B_BIT(END_GOAL))) {
        check_end_goal_lanes(t, together);
    }
}

/* Limbs in the frames of their joints, with their lengths or without. */
IK2B_IN_LINE void
see_frames_lanes(limbs *t, int together, bool measured)
{
    if (is_scaled(&t->task)) {
        remove_scale_lanes(t, together);
    }
    invert_frames_lanes(t, together);
    see_bones_lanes(t, together);
    if (measured) {
        measure_lanes(t, together);
    }
    see_options_lanes(t, together);
}

IK2B_BUILDS(frames_seer, see_frames_lanes, (limbs * t, bool measured), (t, IK2B_TOGETHER, measured))

/* The same with care, but for the scales. */
static void
see_frames(limb *t)
{
    const ik2b_task *task = &t->task;
    invert_frames(t, true);
    see_bones(t, true);
    if (is_given(task, IK2B_BIT(HINGE))) {
        see_hinge(t);
    }
    if (is_given(task, IK2B_BIT(POLE))) {
        see_direction(t, true, t->given_pole, t->pole);
    }
    if (is_given(task, IK2B_BIT(CONE_AXIS))) {
        see_direction(t, true, t->given_axis, t->cone_axis);
    }
    if (is_given(task, IK2B_BIT(END_MATRIX))) {
        check_end(t, true, t->end_matrix);
    }
    if (is_given(task, IK2B_BIT(END_GOAL))) {
        check_end(t, true, t->end_goal);
    }
}

/* The pose itself is the answer: nothing moves, nor rolls. */
IK2B_IN_LINE void
keep_pose(limb *t)
{
    bool rolls = t->task.rolling & !is_zero(t->hinge_mid) & (t->weight > 0.0);
    t->kept = as_number((t->still != 0.0) & !rolls);
}

/* Rows that stay have identities for corrections. */
IK2B_IN_LINE void
clear_turns(limb *t)
{
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    bool kept = t->kept != 0.0;
    for (int i = 0; i < 4; i++) {
        t->root_turn[i] = chosen(kept, identity[i], t->root_turn[i]);
        t->mid_turn[i] = chosen(kept, identity[i], t->mid_turn[i]);
    }
}

/* Position, status and miss, and the end joint's matrix where it is to be corrected. */
IK2B_IN_LINE bool
leave_pose(limb *t, bool careful, bool with_end)
{
    clear_turns(t);
    turned_frames by;
    find_turned_frames(t, &by);
    bool good = find_position(t, careful, &by);
    if (with_end) {
        turn_end_matrix(t, &by);
    }
    tell(t);
    return good;
}

/* Corrections of an invalid row. */
static void
refuse_turns(limb *t)
{
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    memcpy(t->root_turn, identity, sizeof identity);
    memcpy(t->mid_turn, identity, sizeof identity);
    memcpy(t->end_turn, identity, sizeof identity);
}

static void
settle_pose(limb *t)
{
    see_frames(t);
    if (t->invalid != 0.0) {
        refuse_turns(t);
        d3_copy(t->end_at, t->position);
        refuse(t);
        return;
    }
    measure(t, true);
    ik2b_place(t);
    keep_pose(t);
    turn_bones(t, is_given(&t->task, IK2B_BIT(WEIGHT)));
    bool with_end = is_given(&t->task, IK2B_BIT(END_MATRIX));
    leave_pose(t, true, with_end);
    if (with_end) {
        correct_end(t);
    }
}

/* Both corrections, without roll. */
IK2B_IN_LINE bool
turn_by_arcs(limb *t)
{
    bool good = turn_root(t, false, false, false);
    return both(good, turn_mid(t, false, false));
}

IK2B_PASS(turn_bones, IK2B_RESULTS, turn_by_arcs(&one))
IK2B_PASS(roll_root, IK2B_RESULTS, turn_root(&one, false, true, false))
IK2B_PASS(roll_root_partly, IK2B_RESULTS, turn_root(&one, false, true, true))
IK2B_PASS(bend_mid, IK2B_RESULTS, turn_mid(&one, false, true))
IK2B_PASS(leave_pose, IK2B_RESULTS, leave_pose(&one, false, false))
IK2B_PASS(leave_pose_and_end, IK2B_LEFT, leave_pose(&one, false, true))

IK2B_IN_LINE void
turn_lanes(limbs *t, int together)
{
    if (!t->task.rolling) {
        turn_bones_lanes(t, together);
        return;
    }
    if (is_given(&t->task, IK2B_BIT(WEIGHT))) {
        roll_root_partly_lanes(t, together);
    }
    else {
        roll_root_lanes(t, together);
    }
    bend_mid_lanes(t, together);
}

IK2B_IN_LINE void
leave_lanes(limbs *t, int together)
{
    if (is_given(&t->task, IK2B_BIT(END_MATRIX))) {
        leave_pose_and_end_lanes(t, together);
    }
    else {
        leave_pose_lanes(t, together);
    }
}

IK2B_BUILDS(turner, turn_lanes, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(pose_leaver, leave_lanes, (limbs * t), (t, IK2B_TOGETHER))

/* The same in all lanes; in a pass, gcc would make a branch of `rolling` and no vectors. */
static void
keep_poses(limbs *t)
{
    memcpy(t->kept, t->still, sizeof t->kept);
    for (int k = 0; t->task.rolling && k < IK2B_LANES; k++) {
        double hinge[3] = {t->hinge_mid[0][k], t->hinge_mid[1][k], t->hinge_mid[2][k]};
        bool rolls = !is_zero(hinge) && t->weight[k] > 0.0;
        t->kept[k] = rolls ? 0.0 : t->still[k];
    }
}

static void
run_pose(limbs *t)
{
    frames_seer()(t, true);
    ik2b_place_lanes(t);
    turner()(t);
    keep_poses(t);
    pose_leaver()(t);
    if (is_given(&t->task, IK2B_BIT(END_MATRIX))) {
        correct_ends(t);
    }
}

void
ik2b_solve_pose(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_bend bend,
                ik2b_roll roll)
{
    static const ik2b_move moves[] = {
        {IK2B_POSE_ROOT, 16, IK2B_AT(root_matrix)},  {IK2B_POSE_MID, 16, IK2B_AT(mid_matrix)},
        {IK2B_POSE_END, 3, IK2B_AT(end_at)},         {IK2B_POSE_TARGET, 3, IK2B_AT(target)},
        {IK2B_POSE_OUT_ROOT, 4, IK2B_AT(root_turn)}, {IK2B_POSE_OUT_MID, 4, IK2B_AT(mid_turn)},
        {IK2B_POSE_OUT_END, 4, IK2B_AT(end_turn)},   {IK2B_POSE_OUT_POSITION, 3, IK2B_AT(position)},
        {IK2B_POSE_OUT_MISS, 1, IK2B_AT(miss)},      {IK2B_POSE_OUT_STATUS, 1, IK2B_AT(status)},
    };
    static const ik2b_solver solver = {
        moves, 4, 10, IK2B_POSE_COUNT, ik2b_pose_places, true, settle_pose, run_pose};
    ik2b_run_solver(&solver, extent, args, kind, bend, roll);
}

/* Gives a new bone the length of the present one; false where a lane needs care. */
IK2B_IN_LINE bool
keep_length(const double bone[3], bool careful, double new[3])
{
    double square = d3_dot(bone, bone), product = square * d3_dot(new, new);
    double factor = square * inverse_root(product), unit[3];
    bool good = is_ordinary(product);
    if (careful && !good) {
        factor = d3_is_zero(new) ? 0.0 : d3_unit(bone, unit) / d3_unit(new, unit);
    }
    d3_scale(new, factor, new);
    return good;
}

/* New joints that bones of the present lengths point at, whatever lengths lie between the new ones;
 * and the unit hinge of the new pose, zero where it is straight and has none. */
IK2B_IN_LINE bool
aim_bones(limb *t, bool careful, bool rolling)
{
    double root[3], mid[3], end[3], lower[3], normal[3], inward[3][3];
    double upper_length, lower_length, line, rest;
    for (int i = 0; i < 3; i++) {
        root[i] = t->root_matrix[4 * i + 3];
    }
    d3_copy(t->aim, end);
    get33(t->inward, inward);
    d3_sub(t->mid_at, root, mid);
    d33_apply(inward, mid, mid);
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
        double factor = chosen(bent, careful_inverse_root(square, careful), 0.0);
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
        same &= t->mid_at[i] == t->mid_matrix[4 * i + 3];
        none &= t->mid_at[i] == root[i];
    }
    bool finite = d3_excess(t->mid_at) == 0.0;
    t->kept = as_number(same | none | (are_equal(t->mid_at, t->target) != 0.0) | !finite);
    return good;
}

static void
settle_orient(limb *t)
{
    see_frames(t);
    if (t->invalid != 0.0) {
        refuse_turns(t);
        return;
    }
    aim_bones(t, true, t->task.rolling);
    turn_bones(t, false);
    clear_turns(t);
}

IK2B_PASS(aim_bones, IK2B_AIMS, aim_bones(&one, false, false))
IK2B_PASS(aim_rolling_bones, IK2B_AIMS, aim_bones(&one, false, true))
IK2B_PASS(clear_turns, IK2B_RESULTS, (clear_turns(&one), true))

IK2B_IN_LINE void
aim_lanes(limbs *t, int together)
{
    if (t->task.rolling) {
        aim_rolling_bones_lanes(t, together);
    }
    else {
        aim_bones_lanes(t, together);
    }
}

IK2B_BUILDS(aimer, aim_lanes, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(clearer, clear_turns_lanes, (limbs * t), (t, IK2B_TOGETHER))

static void
run_orient(limbs *t)
{
    frames_seer()(t, false);
    aimer()(t);
    turner()(t);
    clearer()(t);
}

void
ik2b_orient(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_roll roll)
{
    static const ik2b_move moves[] = {
        {IK2B_ORIENT_ROOT, 16, IK2B_AT(root_matrix)}, {IK2B_ORIENT_MID, 16, IK2B_AT(mid_matrix)},
        {IK2B_ORIENT_END, 3, IK2B_AT(end_at)},        {IK2B_ORIENT_NEW_MID, 3, IK2B_AT(mid_at)},
        {IK2B_ORIENT_NEW_END, 3, IK2B_AT(target)},    {IK2B_ORIENT_OUT_ROOT, 4, IK2B_AT(root_turn)},
        {IK2B_ORIENT_OUT_MID, 4, IK2B_AT(mid_turn)},
    };
    static const ik2b_solver solver = {
        moves, 5, 7, IK2B_ORIENT_COUNT, ik2b_orient_places, true, settle_orient, run_orient};
    ik2b_run_solver(&solver, extent, args, kind, IK2B_CARRIED, roll);
}

/* cross(root - mid, end - mid) in mid-joint space; zero for a straight limb. */
IK2B_IN_LINE bool
read_hinge(limb *t, bool careful)
{
    double at[3], root[3], end[3], line[3], frame[3][3], inward[3][3], hinge[3], determinant;
    double root_frame[3][3], root_inward[3][3];
    get44(t->mid_matrix, frame);
    get44(t->root_matrix, root_frame);
    bool good = invert(t, frame, inward, &determinant), finite = t->bad_options == 0.0;
    good &= invert(t, root_frame, root_inward, &determinant);
    double excess = bottom_excess(t->mid_matrix) + bottom_excess(t->root_matrix);
    d3_copy(t->end_at, end);
    excess += d3_excess(end);
    for (int i = 0; i < 3; i++) {
        at[i] = t->mid_matrix[4 * i + 3];
        root[i] = t->root_matrix[4 * i + 3];
        for (int j = 0; j < 4; j++) {
            excess += t->root_matrix[4 * i + j] - t->root_matrix[4 * i + j];
        }
    }
    d3_sub(end, root, line);
    d3_sub(root, at, root);
    d3_sub(end, at, end);
    excess += d3_excess(root) + d3_excess(end) + d3_excess(line);
    finite &= excess == 0.0;
    if (careful && !good) {
        good = finite && d33_invert(frame, t->task.parallel, inward) &&
               d33_invert(root_frame, t->task.parallel, root_inward);
        finite &= good;
    }
    d33_apply(inward, root, root);
    d33_apply(inward, end, end);
    d33_apply(inward, line, line);
    double upper = d3_dot(root, root), lower = d3_dot(end, end);
    good &= both(is_between(upper, IK2B_PLAIN_SQUARE), is_between(lower, IK2B_PLAIN_SQUARE));
    if (careful && !good && finite && !d3_is_zero(root) && !d3_is_zero(end)) {
        double scale = power_of_two_under(larger(d3_largest(root), d3_largest(end)));
        d3_scale(root, scale, root);
        d3_scale(end, scale, end);
        d3_scale(line, scale, line);
        upper = d3_dot(root, root);
        lower = d3_dot(end, end);
    }
    double distance = d3_dot(line, line);
    limb_normal(root, end, lower, line, distance, hinge);
    double square = d3_dot(hinge, hinge), reach = sqrt(upper) + sqrt(lower);
    double least = t->task.straight * reach;
    bool bent = finite & (square > least * least * distance);
    good &= is_ordinary(square);
    double factor = chosen(bent, careful_inverse_root(square, careful), 0.0);
    for (int i = 0; i < 3; i++) {
        t->position[i] = chosen(bent, hinge[i] * factor, 0.0);
    }
    return good & finite;
}

static void
settle_hinge_of(limb *t)
{
    read_hinge(t, true);
}

IK2B_PASS(read_hinge, IK2B_RESULTS, read_hinge(&one, false))
IK2B_BUILDS(hinge_reader, read_hinge_lanes, (limbs * t), (t, IK2B_TOGETHER))

static void
run_hinge_of(limbs *t)
{
    hinge_reader()(t);
}

void
ik2b_hinge_of(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    static const ik2b_move moves[] = {
        {IK2B_HINGE_OF_ROOT, 16, IK2B_AT(root_matrix)},
        {IK2B_HINGE_OF_MID, 16, IK2B_AT(mid_matrix)},
        {IK2B_HINGE_OF_END, 3, IK2B_AT(end_at)},
        {IK2B_HINGE_OF_OUT, 3, IK2B_AT(position)},
    };
    static const ik2b_solver solver = {
        moves,           3,           4, IK2B_HINGE_OF_COUNT, ik2b_hinge_of_places, true,
        settle_hinge_of, run_hinge_of};
    ik2b_run_solver(&solver, extent, args, kind, IK2B_CARRIED, IK2B_ROLL_POSE);
}
