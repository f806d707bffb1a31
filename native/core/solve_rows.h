/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve: rows of positions in, rows of positions out.
 */
#include "options.h"
#include "place.h"
#include "plain.h"
#include "tile.h"

static inline void
store_solution(ik2b_array *args, const double mid[3], const double end[3], double miss, int status)
{
    store_vector(&args[IK2B_SOLVE_OUT_MID], mid);
    store_vector(&args[IK2B_SOLVE_OUT_END], end);
    store_number(&args[IK2B_SOLVE_OUT_MISS], miss);
    store_status(&args[IK2B_SOLVE_OUT_STATUS], status);
}

static inline double
distance_between(const double a[3], const double b[3])
{
    double difference[3];
    d3_sub(a, b, difference);
    return d3_long_norm(difference);
}

/* All stages, for any row. */
static void
solve_row(ik2b_array *args, const void *words)
{
    ik2b_bend bend = *(const ik2b_bend *)words;
    double root[3], mid[3], end[3], target[3], upper[3], lower[3], line[3], aim[3];
    options opt;
    load_vector(&args[IK2B_SOLVE_ROOT], 3, root);
    load_vector(&args[IK2B_SOLVE_MID], 3, mid);
    load_vector(&args[IK2B_SOLVE_END], 3, end);
    load_vector(&args[IK2B_SOLVE_TARGET], 3, target);
    bool finite = load_options(args + IK2B_SOLVE_OPTION, bend, &opt);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(target, root, aim);
    finite = finite && d3_finite(upper) && d3_finite(lower) && d3_finite(line) && d3_finite(aim);
    if (!finite || d3_is_zero(upper) || d3_is_zero(lower)) {
        store_solution(args, mid, end, (double)NAN, IK2B_INVALID);
        return;
    }

    double scale = power_of_two_under(larger(d3_largest(upper), d3_largest(lower)));
    d3_scale(upper, scale, upper);
    d3_scale(lower, scale, lower);
    d3_scale(line, scale, line);
    d3_scale_far(aim, scale, aim);
    limb present = limb_measure(upper, lower, line, opt.hinge, aim);
    placement new = place(&present, aim, d3_equal(target, end), &opt);
    if (!new.still) {
        for (int i = 0; i < 3; i++) {
            mid[i] = (double)(real)(root[i] + new.mid[i] / scale);
            end[i] = (double)(real)(root[i] + new.end[i] / scale);
        }
    }
    store_solution(args, mid, end, distance_between(end, target), new.status);
}

/* Sixteen rows of the plain case. */
typedef struct {
    _Alignas(64) double root[3][IK2B_LANES];
    double mid[3][IK2B_LANES], end[3][IK2B_LANES], target[3][IK2B_LANES];
    double miss[IK2B_LANES];
    int status[IK2B_LANES], good[IK2B_LANES];
} solve_tile;

static void
load_solve_tile(const ik2b_array *args, int last, int rows, void *dest)
{
    solve_tile *tile = dest;
    gather_vectors(&args[IK2B_SOLVE_ROOT], last, rows, tile->root);
    gather_vectors(&args[IK2B_SOLVE_MID], last, rows, tile->mid);
    gather_vectors(&args[IK2B_SOLVE_END], last, rows, tile->end);
    gather_vectors(&args[IK2B_SOLVE_TARGET], last, rows, tile->target);
}

static void
store_solve_tile(const ik2b_array *args, int last, int lane, int rows, const void *source)
{
    const solve_tile *tile = source;
    const ik2b_array *miss = &args[IK2B_SOLVE_OUT_MISS];
    scatter_vectors(&args[IK2B_SOLVE_OUT_MID], last, lane, rows, tile->mid);
    scatter_vectors(&args[IK2B_SOLVE_OUT_END], last, lane, rows, tile->end);
    scatter(miss, 0, miss->stride[last], rows, tile->miss + lane);
    scatter_status(&args[IK2B_SOLVE_OUT_STATUS], last, rows, tile->status + lane);
}

/* One lane; mid and end become what they move to. */
IK2B_IN_LINE void
solve_lane(solve_tile *tile, int k)
{
    double root[3], mid[3], end[3], target[3], upper[3], lower[3], line[3], aim[3], off[3];
    plain new;
    for (int i = 0; i < 3; i++) {
        root[i] = tile->root[i][k];
        mid[i] = tile->mid[i][k];
        end[i] = tile->end[i][k];
        target[i] = tile->target[i][k];
    }
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(target, root, aim);
    tile->good[k] = solve_plainly(upper, lower, line, aim, &new) & !equal_plainly(target, end);
    for (int i = 0; i < 3; i++) {
        mid[i] = (double)(real)(root[i] + new.mid[i]);
        end[i] = (double)(real)(root[i] + new.line[i] * new.distance);
        tile->mid[i][k] = mid[i];
        tile->end[i][k] = end[i];
    }
    d3_sub(end, target, off);
    tile->miss[k] = d3_norm(off);
    tile->status[k] = new.status;
}

IK2B_IN_LINE void
run_solve_tile(solve_tile *tile, int rows)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        solve_lane(tile, k);
    }
}

IK2B_TILE_RUNNERS(solve_tile_runner, run_solve_tile, solve_tile)

void
IK2B_NAME(solve)(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend)
{
    solve_tile tile;
    ik2b_tiling tiling = {
        .arguments = IK2B_SOLVE_COUNT,
        .hinge = IK2B_SOLVE_OPTION + IK2B_HINGE,
        .tile = &tile,
        .good = tile.good,
        .load = load_solve_tile,
        .run = solve_tile_runner(),
        .store = store_solve_tile,
        .row = solve_row,
        .words = &bend,
    };
    ik2b_run_tiles(extent, args, &tiling, is_plain_call(args + IK2B_SOLVE_OPTION, bend));
}
