/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve: rows of positions in, rows of positions out.
 */
#include "place.h"
#include "plain.h"
#include "tile.h"

static inline void
solve_own_pose(ik2b_array *args, const double mid[3], const double end[3], double miss, int status)
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
static inline void
solve_any_row(ik2b_array *args, ik2b_bend bend)
{
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
        solve_own_pose(args, mid, end, (double)NAN, IK2B_INVALID);
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
    solve_own_pose(args, mid, end, distance_between(end, target), new.status);
}

/* Sixteen rows of the plain case. */
typedef struct {
    double root[3][IK2B_LANES], mid[3][IK2B_LANES], end[3][IK2B_LANES], target[3][IK2B_LANES];
    double miss[IK2B_LANES];
    int status[IK2B_LANES], plain[IK2B_LANES];
} solve_tile;

/* The plain case of one row; mid and end become what they move to. False: it is none. */
IK2B_IN_LINE bool
solve_plain_row(const double root[3], double mid[3], double end[3], const double target[3],
                double *miss, int *status)
{
    double upper[3], lower[3], line[3], aim[3], off[3];
    plain new;
    int still =
        (int)(target[0] == end[0]) & (int)(target[1] == end[1]) & (int)(target[2] == end[2]);
    d3_sub(mid, root, upper);
    d3_sub(end, mid, lower);
    d3_sub(end, root, line);
    d3_sub(target, root, aim);
    bool good = solve_plainly(upper, lower, line, aim, &new);
    for (int i = 0; i < 3; i++) {
        mid[i] = (double)(real)(root[i] + new.mid[i]);
        end[i] = (double)(real)(root[i] + new.line[i] * new.distance);
    }
    d3_sub(end, target, off);
    *miss = d3_norm(off);
    *status = new.status;
    return (int)good & (int)!still;
}

IK2B_IN_LINE void
run_solve_tile(solve_tile *tile)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        double root[3], mid[3], end[3], target[3], miss;
        int status;
        for (int i = 0; i < 3; i++) {
            root[i] = tile->root[i][k];
            mid[i] = tile->mid[i][k];
            end[i] = tile->end[i][k];
            target[i] = tile->target[i][k];
        }
        bool good = solve_plain_row(root, mid, end, target, &miss, &status);
        for (int i = 0; i < 3; i++) {
            tile->mid[i][k] = mid[i];
            tile->end[i][k] = end[i];
        }
        tile->miss[k] = miss;
        tile->status[k] = status;
        tile->plain[k] = good;
    }
}

IK2B_TILE_RUNNERS(solve_tile_runner, run_solve_tile, solve_tile)

static inline void
solve_row(ik2b_array *args, ik2b_bend bend, bool plain_call)
{
    if (plain_call) {
        double root[3], mid[3], end[3], target[3], miss;
        int status;
        load_vector(&args[IK2B_SOLVE_ROOT], 3, root);
        load_vector(&args[IK2B_SOLVE_MID], 3, mid);
        load_vector(&args[IK2B_SOLVE_END], 3, end);
        load_vector(&args[IK2B_SOLVE_TARGET], 3, target);
        if (solve_plain_row(root, mid, end, target, &miss, &status)) {
            solve_own_pose(args, mid, end, miss, status);
            return;
        }
    }
    solve_any_row(args, bend);
}

static inline void
store_tile(const ik2b_array *args, int last, int count, const solve_tile *tile)
{
    const ik2b_array *miss = &args[IK2B_SOLVE_OUT_MISS], *status = &args[IK2B_SOLVE_OUT_STATUS];
    scatter_vectors(&args[IK2B_SOLVE_OUT_MID], last, count, tile->mid);
    scatter_vectors(&args[IK2B_SOLVE_OUT_END], last, count, tile->end);
    scatter(miss, 0, miss->stride[last], count, tile->miss);
    for (int k = 0; k < count; k++) {
        *(unsigned char *)(status->data + k * status->stride[last]) =
            (unsigned char)tile->status[k];
    }
}

/* Up to sixteen rows along the last dimension; those that are not plain one by one. */
static inline void
solve_rows(ik2b_array *args, int last, int count, void (*run)(solve_tile *))
{
    solve_tile tile;
    if (count < IK2B_LANES) {
        memset(&tile, 0, sizeof tile);
    }
    gather_vectors(&args[IK2B_SOLVE_ROOT], last, count, tile.root);
    gather_vectors(&args[IK2B_SOLVE_MID], last, count, tile.mid);
    gather_vectors(&args[IK2B_SOLVE_END], last, count, tile.end);
    gather_vectors(&args[IK2B_SOLVE_TARGET], last, count, tile.target);
    run(&tile);
    bool all = true;
    for (int k = 0; k < count; k++) {
        all &= tile.plain[k] != 0;
    }
    if (all) {
        store_tile(args, last, count, &tile);
        shift_rows(args, IK2B_SOLVE_COUNT, last, count);
        return;
    }
    for (int k = 0; k < count; k++) {
        if (tile.plain[k]) {
            double mid[3] = {tile.mid[0][k], tile.mid[1][k], tile.mid[2][k]};
            double end[3] = {tile.end[0][k], tile.end[1][k], tile.end[2][k]};
            solve_own_pose(args, mid, end, tile.miss[k], tile.status[k]);
        }
        else {
            solve_any_row(args, IK2B_CARRIED);
        }
        shift_rows(args, IK2B_SOLVE_COUNT, last, 1);
    }
}

void
IK2B_NAME(solve)(const ik2b_extent *given, ik2b_array *args, ik2b_bend bend)
{
    ik2b_walk walk;
    ik2b_extent extent = *given;
    bool plain_call = is_plain_call(args + IK2B_SOLVE_OPTION, bend);
    ik2b_straighten(&extent, args, IK2B_SOLVE_COUNT);
    int last = extent.count - 1;
    ptrdiff_t rows = last < 0 ? 1 : extent.shape[last];
    bool tiled = plain_call && rows >= IK2B_FEW;
    extent.count -= tiled;
    if (!ik2b_walk_start(&walk, &extent, args, IK2B_SOLVE_COUNT)) {
        return;
    }
    void (*run)(solve_tile *) = solve_tile_runner();
    do {
        for (ptrdiff_t row = 0; tiled && row < rows; row += IK2B_LANES) {
            int count = rows - row < IK2B_LANES ? (int)(rows - row) : IK2B_LANES;
            solve_rows(args, last, count, run);
        }
        if (tiled) {
            shift_rows(args, IK2B_SOLVE_COUNT, last, -rows);
        }
        else {
            solve_row(args, bend, plain_call);
        }
    } while (ik2b_walk_next(&walk));
}
