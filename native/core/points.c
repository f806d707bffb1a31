/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve and ik2b_pole_of: points in, through the stages, and out.
 */
#include "bend.h"
#include "frames.h"
#include "place.h"
#include "solver.h"

/* The solution in the caller's space, rounded to the kind of the results. */
IK2B_IN_LINE bool
leave_points(limb *t, bool careful)
{
    double off[3], scale = careful ? 1.0 / t->scale : 1.0;
    bool stays = t->still != 0.0, single = t->task.kind == IK2B_F32;
    for (int i = 0; i < 3; i++) {
        double mid = t->root_at[i] + t->new_mid[i] * scale;
        double end = t->root_at[i] + t->new_end[i] * scale;
        end = chosen(stays, t->end_at[i], end);
        end = chosen(single, as_single(end), end);
        t->out_mid[i] = chosen(stays, t->mid_at[i], mid);
        t->position[i] = end;
        off[i] = end - t->target[i];
    }
    double square = d3_dot(off, off);
    bool good = (square == 0.0) | is_between(square, 0x1p-900);
    t->miss = careful && !good ? d3_long_norm(off) : sqrt(square);
    tell(t);
    return good;
}

static void
settle_solve(limb *t)
{
    see_points(t, true);
    if (t->invalid != 0.0) {
        d3_copy(t->mid_at, t->out_mid);
        d3_copy(t->end_at, t->position);
        refuse(t);
        return;
    }
    measure(t, true);
    ik2b_place(t);
    leave_points(t, true);
}

IK2B_IN_LINE bool
see_limb(limb *t)
{
    bool good = see_points(t, false);
    return both(good, measure(t, false));
}

/* Without options. */
IK2B_IN_LINE bool
solve_plainly(limb *t)
{
    bool good = see_limb(t);
    find_reach(t, false);
    good &= find_goal(t, false, false);
    good &= carry_bend(t, false);
    good &= place_joints(t, false);
    good &= leave_points(t, false);
    return good;
}

IK2B_PASS(solve_plainly, IK2B_RESULTS, solve_plainly(&one))
IK2B_PASS(see_points, IK2B_SEEN, see_limb(&one))
IK2B_PASS(leave_points, IK2B_RESULTS, leave_points(&one, false))

IK2B_BUILDS(plain_solver, solve_plainly_lanes, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(points_seer, see_points_lanes, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(points_leaver, leave_points_lanes, (limbs * t), (t, IK2B_TOGETHER))

static void
run_solve(limbs *t)
{
    if (!t->task.given && !t->task.nearest) {
        plain_solver()(t);
        return;
    }
    points_seer()(t);
    ik2b_place_lanes(t);
    points_leaver()(t);
}

void
ik2b_solve(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_bend bend)
{
    static const ik2b_move moves[] = {
        {IK2B_SOLVE_ROOT, 3, IK2B_AT(root_at)},    {IK2B_SOLVE_MID, 3, IK2B_AT(mid_at)},
        {IK2B_SOLVE_END, 3, IK2B_AT(end_at)},      {IK2B_SOLVE_TARGET, 3, IK2B_AT(target)},
        {IK2B_SOLVE_OUT_MID, 3, IK2B_AT(out_mid)}, {IK2B_SOLVE_OUT_END, 3, IK2B_AT(position)},
        {IK2B_SOLVE_OUT_MISS, 1, IK2B_AT(miss)},   {IK2B_SOLVE_OUT_STATUS, 1, IK2B_AT(status)},
    };
    static const ik2b_solver solver = {
        moves, 4, 8, IK2B_SOLVE_COUNT, ik2b_solve_places, false, settle_solve, run_solve};
    ik2b_run_solver(&solver, extent, args, kind, bend, IK2B_ROLL_POSE);
}

/* The pole that keeps the mid joint where it is; zero where nothing tells it. */
IK2B_IN_LINE bool
read_pole(limb *t)
{
    double factor = 1.0 / d3_norm(t->bend);
    bool none = (t->doubtful != 0.0) & (t->distance != 0.0);
    for (int i = 0; i < 3; i++) {
        t->position[i] = chosen(none, 0.0, t->bend[i] * factor);
    }
    return true;
}

static void
settle_pole_of(limb *t)
{
    d3_copy(t->end_at, t->target);
    see_points(t, true);
    if (t->invalid != 0.0) {
        d3_zero(t->position);
        return;
    }
    measure(t, true);
    read_pole(t);
}

IK2B_PASS(read_pole, IK2B_RESULTS, read_pole(&one))
IK2B_BUILDS(pole_reader, read_pole_lanes, (limbs * t), (t, IK2B_TOGETHER))

static void
run_pole_of(limbs *t)
{
    memcpy(t->target, t->end_at, sizeof t->target);
    points_seer()(t);
    pole_reader()(t);
}

void
ik2b_pole_of(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    static const ik2b_move moves[] = {
        {IK2B_POLE_OF_ROOT, 3, IK2B_AT(root_at)},
        {IK2B_POLE_OF_MID, 3, IK2B_AT(mid_at)},
        {IK2B_POLE_OF_END, 3, IK2B_AT(end_at)},
        {IK2B_POLE_OF_OUT, 3, IK2B_AT(position)},
    };
    static const ik2b_solver solver = {
        moves, 3, 4, IK2B_POLE_OF_COUNT, ik2b_pole_of_places, false, settle_pole_of, run_pole_of};
    ik2b_run_solver(&solver, extent, args, kind, IK2B_CARRIED, IK2B_ROLL_POSE);
}
