/* SPDX-License-Identifier: MIT
 *
 * ik2b_orient: rows of transforms and new positions in, rows of corrections out.
 */
#include "joints.h"

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
    double lower[3], height, line = d3_norm(end);
    d3_sub(end, mid, lower);
    d3_cross(end, mid, normal);
    height = d3_norm(normal);
    if (height <= IK2B_STRAIGHT * (d3_norm(mid) + d3_norm(lower)) * line) {
        d3_zero(normal);
    }
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

static inline void
orient_row(ik2b_array *args, ik2b_roll roll)
{
    joints limb;
    turns turn;
    double new_mid[3], new_end[3], normal[3];
    bool rolling = roll == IK2B_ROLL_HINGE;
    if (orient_load(args, rolling, &limb, new_mid, new_end)) {
        new_normal(new_mid, new_end, normal);
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

void
IK2B_NAME(orient)(const ik2b_extent *extent, ik2b_array *args, ik2b_roll roll)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_ORIENT_COUNT)) {
        return;
    }
    do {
        orient_row(args, roll);
    } while (ik2b_walk_next(&walk));
}
