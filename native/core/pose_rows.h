/* SPDX-License-Identifier: MIT
 *
 * ik2b_solve_pose: rows of transforms and targets in, rows of corrections out, in one pass.
 */
#include "joints.h"
#include "options.h"
#include "place.h"
#include "plain.h"
#include "polar.h"

/* One row on its way: as given, as measured, as turned. */
typedef struct {
    pose given;
    joints chain;
    options opt;
    double target[3], end_matrix[3][3], end_goal[3][3];
    bool has_end, has_goal;
    turns turn;
    double position[3];
    quat end_turn;
    int status;
} pose_row;

static inline bool
load_end(const ik2b_array *array, double dest[3][3], bool *given)
{
    double translation[3], inverse[3][3];
    *given = array->data != NULL;
    return !*given ||
           (load_matrix(array, dest, translation) && d33_invert(dest, IK2B_PARALLEL, inverse));
}

/* False where the row is invalid. */
static inline bool
pose_load(ik2b_array *args, ik2b_bend bend, pose_row *row)
{
    bool good = load_pose(&args[IK2B_POSE_ROOT], &args[IK2B_POSE_MID], &args[IK2B_POSE_END],
                          &args[IK2B_POSE_ROOT_SCALE], &args[IK2B_POSE_MID_SCALE], &row->given);
    load_vector(&args[IK2B_POSE_TARGET], 3, row->target);
    good &= load_options(args + IK2B_POSE_OPTION, bend, &row->opt);
    good &= load_end(&args[IK2B_POSE_END_MATRIX], row->end_matrix, &row->has_end);
    good &= load_end(&args[IK2B_POSE_END_GOAL], row->end_goal, &row->has_goal);
    return good && d3_finite(row->target) && joints_find(&row->given, row->opt.hinge, &row->chain);
}

/* The pose itself as the answer. */
static inline void
pose_keep(pose_row *row)
{
    quat_identity(row->turn.root);
    quat_identity(row->turn.mid);
    quat_identity(row->end_turn);
    d3_copy(row->given.end, row->position);
}

/* A direction, whose length does not matter. */
static inline void
into_root_frame(const joints *limb, double direction[3])
{
    if (d3_largest(direction) > 0x1p600) {
        d3_scale(direction, 0x1p-600, direction); /* its products stay finite */
    }
    d33_apply(limb->inward, direction, direction);
}

/* Solve in the root's frame and turn the bones; true where something moves. */
static inline bool
pose_solve(pose_row *row, ik2b_roll roll)
{
    const joints *chain = &row->chain;
    options opt = row->opt;
    double aim[3], weight = clamped(opt.weight, 0.0, 1.0);
    bool on_end = d3_equal(row->target, row->given.end);
    into_root_frame(chain, opt.pole);
    into_root_frame(chain, opt.cone_axis);
    d3_copy(chain->hinge_root, opt.hinge);
    seen_from_root(chain, row->given.root_at, row->target, aim);

    limb present = limb_measure(chain->upper, chain->lower, chain->end, opt.hinge, aim);
    placement new = place(&present, aim, on_end, &opt);
    row->status = new.status;
    double rolling = roll == IK2B_ROLL_HINGE && !d3_is_zero(chain->hinge_mid) ? weight : 0.0;
    if (new.still && rolling == 0.0) {
        return false;
    }
    row->turn = turn_bones(chain, new.mid, new.end, new.normal, rolling);
    row->status |= row->turn.singular ? IK2B_SINGULAR : 0;
    for (int i = 0; i < 3; i++) {
        row->position[i] =
            row->given.root_at[i] + d3_dot(chain->frame[i], row->turn.end) / chain->scale;
    }
    return true;
}

/* What the corrections of root and mid joint have done to the end joint's matrix. */
static inline void
turned_end_matrix(const pose_row *row, double dest[3][3])
{
    const joints *chain = &row->chain;
    double root[3][3], mid[3][3], step[3][3];
    quat_matrix(row->turn.root, root);
    quat_matrix(row->turn.mid, mid);
    d33_multiply(chain->mid_inward, row->end_matrix, step);
    d33_multiply(mid, step, dest);
    d33_multiply(chain->mid_frame, dest, step);
    d33_multiply(chain->inward, step, dest);
    d33_multiply(root, dest, step);
    d33_multiply(chain->frame, step, dest);
}

/* From rotation a towards b, the shorter way, by a part of the angle; into a. */
static inline void
rotation_towards(double a[4], const double b[4], double part)
{
    double back[4] = {-a[0], -a[1], -a[2], a[3]}, step[4];
    d4_mul(back, b, step);
    double sine = d3_norm(step), half = part * atan2(sine, fabs(step[3]));
    double factor = sine > 0.0 ? copysign(sin(half) / sine, step[3]) : 0.0;
    d3_scale(step, factor, step);
    step[3] = cos(half);
    d4_mul(a, step, a);
}

/* The end joint keeps its orientation or takes that of the goal; by nearest rotations where
 * matrices are not rigid. */
static inline void
pose_turn_end(pose_row *row, bool moved)
{
    double turned[3][3], present[4], wanted[4], goal[4];
    if (!row->has_end || (!moved && !row->has_goal)) {
        return;
    }
    turned_end_matrix(row, turned);
    nearest_rotation(turned, present);
    nearest_rotation(row->end_matrix, wanted);
    if (row->has_goal) {
        goal_rotation(row->end_goal, row->end_matrix, goal);
        rotation_towards(wanted, goal, clamped(row->opt.weight, 0.0, 1.0));
    }
    d3_scale(present, -1.0, present);
    d4_mul(present, wanted, goal);
    double sign = goal[3] < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++) {
        row->end_turn[i] = (real)(sign * goal[i]);
    }
    quat_finish(row->end_turn);
}

static inline void
pose_store(ik2b_array *args, const pose_row *row, double miss)
{
    const quat *turn[3] = {&row->turn.root, &row->turn.mid, &row->end_turn};
    for (int k = 0; k < (row->has_end ? 3 : 2); k++) {
        const real *q = *turn[k];
        double wide[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
        store_quaternion(&args[IK2B_POSE_OUT_ROOT + k], wide);
    }
    store_vector(&args[IK2B_POSE_OUT_POSITION], row->position);
    store_number(&args[IK2B_POSE_OUT_MISS], miss);
    store_status(&args[IK2B_POSE_OUT_STATUS], row->status);
}

typedef struct {
    ik2b_bend bend;
    ik2b_roll roll;
} pose_words;

static void
pose_solve_row(ik2b_array *args, const void *given_words)
{
    const pose_words *words = given_words;
    pose_row row;
    double off[3];
    bool valid = pose_load(args, words->bend, &row);
    pose_keep(&row);
    if (!valid) {
        row.status = IK2B_INVALID;
        pose_store(args, &row, (double)NAN);
        return;
    }
    bool moved = pose_solve(&row, words->roll);
    if (clamped(row.opt.weight, 0.0, 1.0) > 0.0) {
        pose_turn_end(&row, moved);
    }
    d3_sub(row.position, row.target, off);
    pose_store(args, &row, d3_long_norm(off));
}

/* Sixteen rows of the plain case. */
typedef struct {
    matrices root, mid;
    double end[3][IK2B_LANES];
    double target[3][IK2B_LANES], hinge[3][IK2B_LANES];
    double turn_root[4][IK2B_LANES], turn_mid[4][IK2B_LANES]; /* w, x, y, z */
    double position[3][IK2B_LANES], miss[IK2B_LANES];
    int status[IK2B_LANES], good[IK2B_LANES];
} pose_tile;

static void
load_pose_tile(const ik2b_array *args, int last, int rows, void *dest)
{
    pose_tile *tile = dest;
    load_matrices(&args[IK2B_POSE_ROOT], last, rows, &tile->root);
    load_matrices(&args[IK2B_POSE_MID], last, rows, &tile->mid);
    gather_vectors(&args[IK2B_POSE_END], last, rows, tile->end);
    gather_vectors(&args[IK2B_POSE_TARGET], last, rows, tile->target);
    gather_vectors_or_zero(&args[IK2B_POSE_OPTION + IK2B_HINGE], last, rows, tile->hinge);
}

static void
store_pose_tile(const ik2b_array *args, int last, int lane, int rows, const void *source)
{
    const pose_tile *tile = source;
    const ik2b_array *miss = &args[IK2B_POSE_OUT_MISS];
    scatter_quaternions(&args[IK2B_POSE_OUT_ROOT], last, lane, rows, tile->turn_root);
    scatter_quaternions(&args[IK2B_POSE_OUT_MID], last, lane, rows, tile->turn_mid);
    scatter_vectors(&args[IK2B_POSE_OUT_POSITION], last, lane, rows, tile->position);
    scatter(miss, 0, miss->stride[last], rows, tile->miss + lane);
    scatter_status(&args[IK2B_POSE_OUT_STATUS], last, rows, tile->status + lane);
}

IK2B_IN_LINE void
pose_lane(pose_tile *tile, int k, bool rolling)
{
    pose given;
    joints chain;
    plain new;
    turns turn;
    double target[3], hinge[3], aim[3], end[3], off[3];
    int good = pose_of_lane(&tile->root, &tile->mid, tile->end, k, &given);
    for (int i = 0; i < 3; i++) {
        target[i] = tile->target[i][k];
        hinge[i] = tile->hinge[i][k];
    }
    good &= joints_find_plainly(&given, hinge, &chain) & !equal_plainly(target, given.end);
    seen_from_root_plainly(&chain, given.root_at, target, aim);
    good &= solve_plainly(chain.upper, chain.lower, chain.end, aim, &new);
    d3_scale(new.line, new.distance, end);
    tile->good[k] = good & turn_bones_plainly(&chain, new.mid, end, new.normal, rolling, &turn);
    d33_apply(chain.frame, turn.end, end);
    d3_add(given.root_at, end, end);
    d3_sub(end, target, off);
    tile->miss[k] = d3_norm(off);
    tile->status[k] = new.status;
    for (int i = 0; i < 3; i++) {
        tile->position[i][k] = end[i];
    }
    for (int i = 0; i < 4; i++) {
        tile->turn_root[(i + 1) % 4][k] = (double)turn.root[i];
        tile->turn_mid[(i + 1) % 4][k] = (double)turn.mid[i];
    }
}

IK2B_IN_LINE void
run_pose_tile(pose_tile *tile, int rows)
{
    transpose_matrices(&tile->root);
    transpose_matrices(&tile->mid);
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        pose_lane(tile, k, false);
    }
}

IK2B_IN_LINE void
run_rolling_pose_tile(pose_tile *tile, int rows)
{
    transpose_matrices(&tile->root);
    transpose_matrices(&tile->mid);
    IK2B_LANE_LOOP
    for (int k = 0; k < rows; k++) {
        pose_lane(tile, k, true);
    }
}

IK2B_TILE_RUNNERS(pose_tile_runner, run_pose_tile, pose_tile)
IK2B_TILE_RUNNERS(rolling_pose_tile_runner, run_rolling_pose_tile, pose_tile)

void
IK2B_NAME(solve_pose)(const ik2b_extent *extent, ik2b_array *args, ik2b_bend bend, ik2b_roll roll)
{
    pose_tile tile;
    pose_words words = {bend, roll};
    bool rolling = roll == IK2B_ROLL_HINGE;
    ik2b_tiling tiling = {
        .arguments = IK2B_POSE_COUNT,
        .hinge = IK2B_POSE_OPTION + IK2B_HINGE,
        .tile = &tile,
        .good = tile.good,
        .load = load_pose_tile,
        .run = rolling ? rolling_pose_tile_runner() : pose_tile_runner(),
        .store = store_pose_tile,
        .row = pose_solve_row,
        .words = &words,
    };
    bool tiled = is_plain_call(args + IK2B_POSE_OPTION, bend) &&
                 fits_matrices(&args[IK2B_POSE_ROOT]) && fits_matrices(&args[IK2B_POSE_MID]) &&
                 !args[IK2B_POSE_ROOT_SCALE].data && !args[IK2B_POSE_MID_SCALE].data &&
                 !args[IK2B_POSE_END_MATRIX].data && !args[IK2B_POSE_END_GOAL].data;
    ik2b_run_tiles(extent, args, &tiling, tiled);
}
