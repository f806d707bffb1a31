/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve and ik2b_pole_of: tiles of points in, through the stages, and out.
 */
#include "frames.h"
#include "options.h"
#include "place.h"

/* The solution in the caller's space, rounded to the kind of the results. */
IK2B_IN_LINE bool
leave_points(limbs *t, int k, bool careful, bool single)
{
    double off[3], scale = 1.0 / t->scale[k];
    bool stays = t->still[k] + t->invalid[k] != 0.0;
    for (int i = 0; i < 3; i++) {
        double mid = t->root_at[i][k] + t->new_mid[i][k] * scale;
        double end = t->root_at[i][k] + t->new_end[i][k] * scale;
        mid = chosen(stays, t->mid_at[i][k], mid);
        end = chosen(stays, t->end_at[i][k], end);
        end = single ? (double)(float)end : end;
        t->out_mid[i][k] = mid;
        t->position[i][k] = end;
        off[i] = end - t->target[i][k];
    }
    double square = d3_dot(off, off);
    bool good = (square == 0.0) | is_between(square, 0x1p-900);
    t->miss[k] = careful && !good ? d3_long_norm(off) : sqrt(square);
    return good;
}

IK2B_STAGE(leave_points, leave_points(t, k, careful, false))
IK2B_STAGE(leave_single_points, leave_points(t, k, careful, true))

IK2B_BUILDS(points_seer, see_points_lanes, (limbs * t), (t))
IK2B_BUILDS(points_leaver, leave_points_lanes, (limbs * t), (t))
IK2B_BUILDS(single_points_leaver, leave_single_points_lanes, (limbs * t), (t))

static void
load_solve(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_load(&args[IK2B_SOLVE_ROOT], last, t->rows, 3, t->root_at);
    ik2b_load(&args[IK2B_SOLVE_MID], last, t->rows, 3, t->mid_at);
    ik2b_load(&args[IK2B_SOLVE_END], last, t->rows, 3, t->end_at);
    ik2b_load(&args[IK2B_SOLVE_TARGET], last, t->rows, 3, t->target);
    ik2b_load_options(t, args, ik2b_solve_places, last);
}

static void
store_solve(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_store(&args[IK2B_SOLVE_OUT_MID], last, t->rows, 3, t->out_mid);
    ik2b_store(&args[IK2B_SOLVE_OUT_END], last, t->rows, 3, t->position);
    ik2b_store(&args[IK2B_SOLVE_OUT_MISS], last, t->rows, 1, &t->miss);
    ik2b_store_status(&args[IK2B_SOLVE_OUT_STATUS], last, t->rows, t->status);
}

static void
run_solve(void *tile)
{
    limbs *t = tile;
    points_seer()(t);
    ik2b_measure(t);
    ik2b_place(t);
    (t->kind == IK2B_F32 ? single_points_leaver() : points_leaver())(t);
    ik2b_tell(t);
}

void
ik2b_solve(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind, ik2b_bend bend)
{
    limbs t;
    t.framed = t.rolling = false;
    t.nearest = bend == IK2B_NEAREST;
    ik2b_begin(&t, kind, args, ik2b_solve_places, extent);
    ik2b_tiling tiling = {IK2B_SOLVE_COUNT, &t, &t.rows, load_solve, run_solve, store_solve};
    ik2b_run_tiles(extent, args, &tiling);
}

/* The pole that keeps the mid joint where it is; zero where nothing tells it. */
IK2B_IN_LINE bool
read_pole(limbs *t, int k)
{
    double bend[3];
    get3(t->bend, k, bend);
    d3_scale(bend, 1.0 / d3_norm(bend), bend);
    bool none = ((t->doubtful[k] != 0.0) & (t->distance[k] != 0.0)) | (t->invalid[k] != 0.0);
    for (int i = 0; i < 3; i++) {
        t->position[i][k] = chosen(none, 0.0, bend[i]);
    }
    return true;
}

IK2B_STAGE(read_pole, ((void)careful, read_pole(t, k)))

IK2B_BUILDS(pole_reader, read_pole_lanes, (limbs * t), (t))

static void
load_pole_of(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    ik2b_load(&args[IK2B_POLE_OF_ROOT], last, t->rows, 3, t->root_at);
    ik2b_load(&args[IK2B_POLE_OF_MID], last, t->rows, 3, t->mid_at);
    ik2b_load(&args[IK2B_POLE_OF_END], last, t->rows, 3, t->end_at);
    memcpy(t->target, t->end_at, sizeof t->target);
    ik2b_load_options(t, args, ik2b_pole_of_places, last);
}

static void
store_pole_of(const ik2b_array *args, int last, void *tile)
{
    limbs *t = tile;
    for (int k = 0; k < t->rows; k++) {
        for (int i = 0; t->invalid[k] != 0.0 && i < 3; i++) {
            t->position[i][k] = 0.0;
        }
    }
    ik2b_store(&args[IK2B_POLE_OF_OUT], last, t->rows, 3, t->position);
}

static void
run_pole_of(void *tile)
{
    points_seer()(tile);
    ik2b_measure(tile);
    pole_reader()(tile);
}

void
ik2b_pole_of(const ik2b_extent *extent, ik2b_array *args, ik2b_kind kind)
{
    limbs t;
    t.framed = t.rolling = false;
    ik2b_begin(&t, kind, args, ik2b_pole_of_places, extent);
    ik2b_tiling tiling = {IK2B_POLE_OF_COUNT, &t,          &t.rows,
                          load_pole_of,       run_pole_of, store_pole_of};
    ik2b_run_tiles(extent, args, &tiling);
}
