/* SPDX-License-Identifier: MIT
 *
 * ik2b_orient: rows of transforms and new positions in, rows of corrections out.
 */
#include "joints.h"
#include "plain.h"
#include "tile.h"

static inline void
store_turn(const ik2b_array *array, quat q)
{
    double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    store_quaternion(array, wide);
}

/* The hinge of the new pose, zero where it is straight and has none. */
static inline void
new_normal(const double mid[3], const double end[3], double normal[3])
{
    double lower[3], inverse, line = d3_long_norm(end);
    d3_sub(end, mid, lower);
    d3_cross(end, mid, normal);
    if (d3_norm(normal) <= IK2B_STRAIGHT * (d3_norm(mid) + d3_norm(lower)) * line) {
        d3_zero(normal);
        return;
    }
    d3_measure(normal, &inverse);
    d3_scale(normal, inverse, normal);
}

/* Moves new_end along with new_mid to where the upper bone, whose length stays, takes that: so both
 * bones point as the new ones do, whatever lengths those have. */
static inline void
keep_upper_length(const joints *limb, const double new_mid[3], double new_end[3])
{
    double inverse, upper = d3_measure(limb->upper, &inverse);
    double new_upper = d3_measure(new_mid, &inverse);
    d3_muladds(new_mid, (upper - new_upper) * inverse, new_end);
}

/* The same without a branch; 0: not plain, new_end is void. */
IK2B_IN_LINE int
keep_upper_length_plainly(const joints *limb, const double new_mid[3], double new_end[3])
{
    double upper, new_upper, inverse;
    int good = measure_plainly(limb->upper, &upper, &inverse) &
               measure_plainly(new_mid, &new_upper, &inverse);
    d3_muladds(new_mid, (upper - new_upper) * inverse, new_end);
    return good;
}

/* False: the row keeps its pose. */
static inline bool
orient_load(ik2b_array *args, bool rolling, joints *limb, double new_mid[3], double new_end[3])
{
    pose given;
    double hinge[3];
    bool finite = load_pose(&args[IK2B_ORIENT_ROOT], &args[IK2B_ORIENT_MID], &args[IK2B_ORIENT_END],
                            &args[IK2B_ORIENT_ROOT_SCALE], &args[IK2B_ORIENT_MID_SCALE], &given);
    load_vector(&args[IK2B_ORIENT_NEW_MID], 3, new_mid);
    load_vector(&args[IK2B_ORIENT_NEW_END], 3, new_end);
    load_vector_or(&args[IK2B_ORIENT_HINGE], 0.0, hinge);
    finite = finite && d3_finite(new_mid) && d3_finite(new_end) && d3_finite(hinge);
    bool same = !rolling && d3_equal(new_mid, given.mid_at) && d3_equal(new_end, given.end);
    if (!finite || same || d3_equal(new_mid, given.root_at) || d3_equal(new_mid, new_end) ||
        !joints_find(&given, hinge, limb)) {
        return false;
    }
    seen_from_root(limb, given.root_at, new_mid, new_mid);
    seen_from_root(limb, given.root_at, new_end, new_end);
    return true;
}

static void
orient_row(ik2b_array *args, const void *words)
{
    joints limb;
    turns turn;
    double new_mid[3], new_end[3], normal[3];
    bool rolling = *(const ik2b_roll *)words == IK2B_ROLL_HINGE;
    if (orient_load(args, rolling, &limb, new_mid, new_end)) {
        new_normal(new_mid, new_end, normal);
        keep_upper_length(&limb, new_mid, new_end);
        rolling &= !d3_is_zero(limb.hinge_mid);
        turn = turn_bones(&limb, new_mid, new_end, normal, rolling ? 1.0 : 0.0);
    }
    else {
        quat_identity(turn.root);
        quat_identity(turn.mid);
    }
    store_turn(&args[IK2B_ORIENT_OUT_ROOT], turn.root);
    store_turn(&args[IK2B_ORIENT_OUT_MID], turn.mid);
}

/* Sixteen rows of the plain case. */
typedef struct {
    matrices root, mid;
    double end[3][IK2B_LANES];
    double new_mid[3][IK2B_LANES], new_end[3][IK2B_LANES], hinge[3][IK2B_LANES];
    double turn_root[4][IK2B_LANES], turn_mid[4][IK2B_LANES]; /* w, x, y, z */
    int good[IK2B_LANES];
} orient_tile;

static void
load_orient_tile(const ik2b_array *args, int last, int rows, void *dest)
{
    orient_tile *tile = dest;
    load_matrices(&args[IK2B_ORIENT_ROOT], last, rows, &tile->root);
    load_matrices(&args[IK2B_ORIENT_MID], last, rows, &tile->mid);
    gather_vectors(&args[IK2B_ORIENT_END], last, rows, tile->end);
    gather_vectors(&args[IK2B_ORIENT_NEW_MID], last, rows, tile->new_mid);
    gather_vectors(&args[IK2B_ORIENT_NEW_END], last, rows, tile->new_end);
    gather_vectors_or_zero(&args[IK2B_ORIENT_HINGE], last, rows, tile->hinge);
}

static void
store_orient_tile(const ik2b_array *args, int last, int lane, int rows, const void *source)
{
    const orient_tile *tile = source;
    scatter_quaternions(&args[IK2B_ORIENT_OUT_ROOT], last, lane, rows, tile->turn_root);
    scatter_quaternions(&args[IK2B_ORIENT_OUT_MID], last, lane, rows, tile->turn_mid);
}

/* The unit hinge of the new pose. 0: not plain, straight perhaps, and it is void. */
IK2B_IN_LINE int
new_normal_plainly(const double mid[3], const double end[3], double normal[3])
{
    double lower[3], upper_length, lower_length, line, inverse;
    d3_sub(end, mid, lower);
    d3_cross(end, mid, normal);
    int good = measure_plainly(mid, &upper_length, &inverse) &
               measure_plainly(lower, &lower_length, &inverse) &
               measure_plainly(end, &line, &inverse);
    double square = d3_dot(normal, normal);
    double least = 2.0 * IK2B_STRAIGHT * (upper_length + lower_length) * line;
    d3_scale(normal, inverse_root(square), normal);
    return good & is_ordinary(square) & (int)(square > least * least);
}

IK2B_IN_LINE void
orient_lane(orient_tile *tile, int k, bool rolling)
{
    pose given;
    joints limb;
    turns turn;
    double new_mid[3], new_end[3], hinge[3], normal[3] = {0.0, 0.0, 0.0};
    int good = pose_of_lane(&tile->root, &tile->mid, tile->end, k, &given);
    for (int i = 0; i < 3; i++) {
        new_mid[i] = tile->new_mid[i][k];
        new_end[i] = tile->new_end[i][k];
        hinge[i] = tile->hinge[i][k];
    }
    good &= joints_find_plainly(&given, hinge, &limb) &
            !(equal_plainly(new_mid, given.mid_at) & equal_plainly(new_end, given.end)) &
            !equal_plainly(new_mid, new_end);
    seen_from_root_plainly(&limb, given.root_at, new_mid, new_mid);
    seen_from_root_plainly(&limb, given.root_at, new_end, new_end);
    good &= is_between(d3_dot(limb.lower, limb.lower), IK2B_PLAIN_SQUARE);
    if (rolling) {
        good &= new_normal_plainly(new_mid, new_end, normal);
    }
    good &= keep_upper_length_plainly(&limb, new_mid, new_end);
    tile->good[k] = good & turn_bones_plainly(&limb, new_mid, new_end, normal, rolling, &turn);
    for (int i = 0; i < 4; i++) {
        tile->turn_root[(i + 1) % 4][k] = (double)turn.root[i];
        tile->turn_mid[(i + 1) % 4][k] = (double)turn.mid[i];
    }
}

IK2B_IN_LINE void
run_orient_tile(orient_tile *tile, int rows)
{
    transpose_matrices(&tile->root);
    transpose_matrices(&tile->mid);
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        orient_lane(tile, k, false);
    }
}

IK2B_IN_LINE void
run_rolling_orient_tile(orient_tile *tile, int rows)
{
    transpose_matrices(&tile->root);
    transpose_matrices(&tile->mid);
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        orient_lane(tile, k, true);
    }
}

IK2B_TILE_RUNNERS(orient_tile_runner, run_orient_tile, orient_tile)
IK2B_TILE_RUNNERS(rolling_orient_tile_runner, run_rolling_orient_tile, orient_tile)

void
IK2B_NAME(orient)(const ik2b_extent *extent, ik2b_array *args, ik2b_roll roll)
{
    orient_tile tile;
    bool rolling = roll == IK2B_ROLL_HINGE;
    ik2b_tiling tiling = {
        .arguments = IK2B_ORIENT_COUNT,
        .hinge = IK2B_ORIENT_HINGE,
        .tile = &tile,
        .good = tile.good,
        .load = load_orient_tile,
        .run = rolling ? rolling_orient_tile_runner() : orient_tile_runner(),
        .store = store_orient_tile,
        .row = orient_row,
        .words = &roll,
    };
    bool scaled = args[IK2B_ORIENT_ROOT_SCALE].data || args[IK2B_ORIENT_MID_SCALE].data;
    bool fits = fits_matrices(&args[IK2B_ORIENT_ROOT]) && fits_matrices(&args[IK2B_ORIENT_MID]);
    ik2b_run_tiles(extent, args, &tiling, fits && !scaled);
}
