/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve_pose, ik2b_orient and ik2b_hinge_of: tiles of transforms in, through the stages, and
 * out.
 */
#include "end.h"
#include "frames.h"
#include "options.h"
#include "place.h"

/* Limbs in the frames of their joints. */
IK2B_IN_LINE void
see_frames(limbs *t)
{
    bool scaled = is_given(t, IK2B_BIT(ROOT_SCALE) | IK2B_BIT(MID_SCALE));
    if (scaled) {
        remove_scale(t->root_matrix, t->root_scale);
        remove_scale(t->mid_matrix, t->mid_scale);
    }
    invert_frames_lanes(t);
    see_bones_lanes(t);
    if (is_given(t, IK2B_BIT(HINGE)) && scaled) {
        see_scaled_hinge_lanes(t);
    }
    else if (is_given(t, IK2B_BIT(HINGE))) {
        see_hinge_lanes(t);
    }
    if (is_given(t, IK2B_BIT(POLE))) {
        see_pole_lanes(t);
    }
    if (is_given(t, IK2B_BIT(CONE_AXIS))) {
        see_cone_axis_lanes(t);
    }
    if (is_given(t, IK2B_BIT(END_MATRIX))) {
        check_end_matrix_lanes(t);
    }
    if (is_given(t, IK2B_BIT(END_GOAL))) {
        check_end_goal_lanes(t);
    }
}

/* The pose itself is the answer: nothing moves, nor rolls. */
IK2B_IN_LINE bool
keep_pose(limbs *t, int k, bool rolling)
{
    double hinge[3];
    get3(t->hinge_mid, k, hinge);
    bool rolls = rolling & !is_zero(hinge) & (t->weight[k] > 0.0);
    t->kept[k] = (t->still[k] != 0.0) & !rolls ? 1.0 : 0.0;
    return true;
}

IK2B_STAGE(keep_still_pose, ((void)careful, keep_pose(t, k, false)))
IK2B_STAGE(keep_unrolled_pose, ((void)careful, keep_pose(t, k, true)))

/* The corrections, for new_mid and new_end. */
IK2B_IN_LINE void
turn(limbs *t)
{
    turn_bones(t, is_given(t, IK2B_BIT(WEIGHT)));
}

IK2B_IN_LINE void
keep(limbs *t)
{
    if (t->rolling) {
        keep_unrolled_pose_lanes(t);
    }
    else {
        keep_still_pose_lanes(t);
    }
}

IK2B_BUILDS(frames_seer, see_frames, (limbs * t), (t))
IK2B_BUILDS(keeper, keep, (limbs * t), (t))
IK2B_BUILDS(turner, turn, (limbs * t), (t))
IK2B_BUILDS(position_finder, find_position_lanes, (limbs * t), (t))

/* Rows that stay have identities for corrections. */
IK2B_IN_LINE bool
clear_turns(limbs *t, int k, bool with_end)
{
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    bool invalid = t->invalid[k] != 0.0, kept = (t->kept[k] != 0.0) | invalid;
    bool end_kept = invalid | (t->weight[k] == 0.0) | (kept & (t->has_goal == 0.0));
    for (int i = 0; i < 4; i++) {
        t->root_turn[i][k] = chosen(kept, identity[i], t->root_turn[i][k]);
        t->mid_turn[i][k] = chosen(kept, identity[i], t->mid_turn[i][k]);
        if (with_end) {
            t->end_turn[i][k] = chosen(end_kept, identity[i], t->end_turn[i][k]);
        }
    }
    return true;
}

IK2B_STAGE(clear_turns, ((void)careful, clear_turns(t, k, false)))
IK2B_STAGE(clear_all_turns, ((void)careful, clear_turns(t, k, true)))

IK2B_IN_LINE void
clear(limbs *t)
{
    if (is_given(t, IK2B_BIT(END_MATRIX))) {
        t->has_goal = is_given(t, IK2B_BIT(END_GOAL)) ? 1.0 : 0.0;
        clear_all_turns_lanes(t);
    }
    else {
        clear_turns_lanes(t);
    }
}

IK2B_BUILDS(clearer, clear, (limbs * t), (t))

static void
load_pose(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_load_matrices(&args[IK2B_POSE_ROOT], last, t->rows, t->root_matrix);
    ik2b_load_matrices(&args[IK2B_POSE_MID], last, t->rows, t->mid_matrix);
    ik2b_load(&args[IK2B_POSE_END], last, t->rows, 3, t->end_at);
    ik2b_load(&args[IK2B_POSE_TARGET], last, t->rows, 3, t->target);
    ik2b_load_options(t, args, ik2b_pose_places, last);
    if (is_given(t, IK2B_BIT(END_MATRIX))) {
        ik2b_load_matrices(&args[IK2B_POSE_END_MATRIX], last, t->rows, t->end_matrix);
    }
    if (is_given(t, IK2B_BIT(END_GOAL))) {
        ik2b_load_matrices(&args[IK2B_POSE_END_GOAL], last, t->rows, t->end_goal);
    }
}

static void
store_pose(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_store(&args[IK2B_POSE_OUT_ROOT], last, t->rows, 4, t->root_turn);
    ik2b_store(&args[IK2B_POSE_OUT_MID], last, t->rows, 4, t->mid_turn);
    if (is_given(t, IK2B_BIT(END_MATRIX))) {
        ik2b_store(&args[IK2B_POSE_OUT_END], last, t->rows, 4, t->end_turn);
    }
    ik2b_store(&args[IK2B_POSE_OUT_POSITION], last, t->rows, 3, t->position);
    ik2b_store(&args[IK2B_POSE_OUT_MISS], last, t->rows, 1, &t->miss);
    ik2b_store_status(&args[IK2B_POSE_OUT_STATUS], last, t->rows, t->status);
}

static void
run_pose(void *tile)
{
    limbs *t = tile;
    frames_seer()(t);
    ik2b_measure(t);
    ik2b_place(t);
    keeper()(t);
    turner()(t);
    position_finder()(t);
    if (is_given(t, IK2B_BIT(END_MATRIX))) {
        correct_end(t);
    }
    clearer()(t);
    ik2b_tell(t);
}

void
ik2b_solve_pose(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_bend bend,
                ik2b_roll roll)
{
    limbs t;
    t.framed = true;
    t.nearest = bend == IK2B_NEAREST;
    ik2b_begin(&t, kind, args, ik2b_pose_places, extent);
    t.rolling = roll == IK2B_ROLL_HINGE;
    ik2b_tiling tiling = {IK2B_POSE_COUNT, &t, &t.rows, load_pose, run_pose, store_pose};
    ik2b_run_tiles(extent, args, &tiling);
}

/* New joints that bones of the present lengths point at, whatever lengths lie between the new ones;
 * and the unit hinge of the new pose, zero where it is straight and has none. */
IK2B_IN_LINE bool
aim_bones(limbs *t, int k, bool careful, bool rolling)
{
    double root[3], new_at[3], mid[3], end[3], upper[3], lower[3], normal[3], inward[3][3];
    double length, new_length, lower_length, line, inverse, rest;
    for (int i = 0; i < 3; i++) {
        root[i] = t->root_matrix[4 * i + 3][k];
    }
    get3(t->mid_at, k, new_at);
    get3(t->mid, k, upper);
    get3(t->aim, k, end);
    get33(t->inward, k, inward);
    d3_sub(new_at, root, mid);
    d33_apply(inward, mid, mid);
    bool good = (d3_dot(mid, mid) < 1.0 / IK2B_LEAST_SQUARE) & (t->scale[k] == 1.0);
    if (careful && !good) {
        seen_from_root(t, k, root, new_at, mid);
    }
    d3_sub(end, mid, lower);
    good &= d3_measure(upper, careful, &length, &rest);
    good &= d3_measure(mid, careful, &new_length, &inverse);
    d3_cross(end, mid, normal);
    if (rolling) {
        good &= d3_measure(lower, careful, &lower_length, &rest);
        good &= d3_measure(end, careful, &line, &rest);
        double square = d3_dot(normal, normal);
        double least = t->straight * (new_length + lower_length) * line;
        bool bent = square > least * least;
        double factor = chosen(bent, careful_inverse_root(square, careful), 0.0);
        good &= !bent | is_ordinary(square);
        d3_scale(normal, factor, normal);
    }
    d3_muladds(mid, (length - new_length) * inverse, end);
    d3_scale(mid, length * inverse, mid);
    put3(mid, k, t->new_mid);
    put3(end, k, t->new_end);
    put3(normal, k, t->normal);
    bool same = !rolling & (t->on_end[k] != 0.0), none = true;
    for (int i = 0; i < 3; i++) {
        same &= new_at[i] == t->mid_matrix[4 * i + 3][k];
        none &= new_at[i] == root[i];
    }
    bool finite = d3_excess(new_at) == 0.0;
    t->kept[k] = same | none | (are_equal(t->mid_at, t->target, k) != 0.0) | !finite ? 1.0 : 0.0;
    return good;
}

IK2B_STAGE(aim_bones, aim_bones(t, k, careful, false))
IK2B_STAGE(aim_rolling_bones, aim_bones(t, k, careful, true))

IK2B_IN_LINE void
aim(limbs *t)
{
    if (t->rolling) {
        aim_rolling_bones_lanes(t);
    }
    else {
        aim_bones_lanes(t);
    }
}

IK2B_BUILDS(aimer, aim, (limbs * t), (t))

static void
load_orient(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_load_matrices(&args[IK2B_ORIENT_ROOT], last, t->rows, t->root_matrix);
    ik2b_load_matrices(&args[IK2B_ORIENT_MID], last, t->rows, t->mid_matrix);
    ik2b_load(&args[IK2B_ORIENT_END], last, t->rows, 3, t->end_at);
    ik2b_load(&args[IK2B_ORIENT_NEW_MID], last, t->rows, 3, t->mid_at);
    ik2b_load(&args[IK2B_ORIENT_NEW_END], last, t->rows, 3, t->target);
    ik2b_load_options(t, args, ik2b_orient_places, last);
}

static void
store_orient(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_store(&args[IK2B_ORIENT_OUT_ROOT], last, t->rows, 4, t->root_turn);
    ik2b_store(&args[IK2B_ORIENT_OUT_MID], last, t->rows, 4, t->mid_turn);
}

static void
run_orient(void *tile)
{
    frames_seer()(tile);
    aimer()(tile);
    turner()(tile);
    clearer()(tile);
}

void
ik2b_orient(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_roll roll)
{
    limbs t;
    t.framed = true;
    ik2b_begin(&t, kind, args, ik2b_orient_places, extent);
    t.rolling = roll == IK2B_ROLL_HINGE;
    ik2b_tiling tiling = {IK2B_ORIENT_COUNT, &t, &t.rows, load_orient, run_orient, store_orient};
    ik2b_run_tiles(extent, args, &tiling);
}

/* cross(root - mid, end - mid) in mid-joint space; zero for a straight limb. */
IK2B_IN_LINE bool
read_hinge(limbs *t, int k, bool careful)
{
    double at[3], root[3], end[3], line[3], frame[3][3], inward[3][3], hinge[3], determinant;
    get44(t->mid_matrix, k, frame);
    bool good = invert(t, frame, inward, &determinant), finite = t->bad_options[k] == 0.0;
    double excess = bottom_excess(t->mid_matrix, k) + bottom_excess(t->root_matrix, k);
    get3(t->end_at, k, end);
    excess += d3_excess(end);
    for (int i = 0; i < 3; i++) {
        at[i] = t->mid_matrix[4 * i + 3][k];
        root[i] = t->root_matrix[4 * i + 3][k];
        for (int j = 0; j < 4; j++) {
            excess += t->root_matrix[4 * i + j][k] - t->root_matrix[4 * i + j][k];
        }
    }
    d3_sub(end, root, line);
    d3_sub(root, at, root);
    d3_sub(end, at, end);
    excess += d3_excess(root) + d3_excess(end) + d3_excess(line);
    finite &= excess == 0.0;
    if (careful && !good) {
        good = finite && d33_invert(frame, t->parallel, inward);
        finite &= good;
    }
    d33_apply(inward, root, root);
    d33_apply(inward, end, end);
    d33_apply(inward, line, line);
    double upper = d3_dot(root, root), lower = d3_dot(end, end);
    good &= is_between(upper, IK2B_PLAIN_SQUARE) & is_between(lower, IK2B_PLAIN_SQUARE);
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
    double least = t->straight * reach;
    bool bent = finite & (square > least * least * distance);
    good &= is_ordinary(square);
    double factor = chosen(bent, careful_inverse_root(square, careful), 0.0);
    for (int i = 0; i < 3; i++) {
        t->position[i][k] = chosen(bent, hinge[i] * factor, 0.0);
    }
    return good & finite;
}

IK2B_STAGE(read_hinge, read_hinge(t, k, careful))
IK2B_BUILDS(hinge_reader, read_hinge_lanes, (limbs * t), (t))

static void
load_hinge_of(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_load_matrices(&args[IK2B_HINGE_OF_ROOT], last, t->rows, t->root_matrix);
    ik2b_load_matrices(&args[IK2B_HINGE_OF_MID], last, t->rows, t->mid_matrix);
    ik2b_load(&args[IK2B_HINGE_OF_END], last, t->rows, 3, t->end_at);
}

static void
store_hinge_of(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_store(&args[IK2B_HINGE_OF_OUT], last, t->rows, 3, t->position);
}

static void
run_hinge_of(void *tile)
{
    hinge_reader()(tile);
}

void
ik2b_hinge_of(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    static const signed char none[IK2B_OPTIONS] = {-1, -1, -1, -1, -1, -1, -1,
                                                   -1, -1, -1, -1, -1, -1, -1};
    limbs t;
    t.framed = true;
    ik2b_begin(&t, kind, args, none, extent);
    ik2b_tiling tiling = {IK2B_HINGE_OF_COUNT, &t,           &t.rows,
                          load_hinge_of,       run_hinge_of, store_hinge_of};
    ik2b_run_tiles(extent, args, &tiling);
}
