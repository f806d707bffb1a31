/* SPDX-License-Identifier: MIT
 *
 * The position where the corrections put the end joint, and the end joint's own correction: the
 * joint keeps its orientation or takes that of a goal. The orientation of a matrix that is not
 * rigid is its nearest rotation.
 */
#include "frames.h"
#include "polar.h"

/* The position where the rounded corrections put the end joint. */
IK2B_IN_LINE void
find_position(limb *t, bool careful)
{
    double frame[3][3], mid_frame[3][3], lower[3], scale = careful ? 1.0 / t->scale : 1.0;
    get_linear(t->root_matrix, frame);
    get_linear(t->mid_matrix, mid_frame);
    d4_turn(t->mid_turn, t->lower_mid, lower);
    d33_apply(mid_frame, lower, lower);
    d33_apply(t->inward, lower, lower);
    d3_add(lower, t->mid, lower);
    d4_turn(t->root_turn, lower, lower);
    d33_apply(frame, lower, lower);
    bool stays = t->kept != 0.0;
    for (int i = 0; i < 3; i++) {
        double place = t->root_matrix[i][3] + lower[i] * scale;
        t->position[i] = chosen(stays, t->end_at[i], place);
    }
}

/* `dest`, a correction (w, x, y, z) in the frame of a rigid aggregate transform, as x, y, z, w in
 * outer space, multiplied by twice the size of the transform. The vector is turned by the rotation
 * nearest to the transform, which is found as by begin_polar, with the inverse of the linear part,
 * `inward`, in place of the cofactor matrix. Returns false if the transform is not rigid, as
 * begin_polar decides it, or too large or too small. */
IK2B_IN_LINE bool
turn_outward(const limb *t, double matrix[4][4], double inward[3][3], double determinant,
             const double turn[4], double dest[4])
{
    double m[3][3];
    const double *v = turn + 1;
    get_linear(matrix, m);
    double square = d33_square(m), third = square * (1.0 / 3.0), size = sqrt(third);
    for (int i = 0; i < 3; i++) {
        double back = inward[0][i] * v[0] + inward[1][i] * v[1] + inward[2][i] * v[2];
        dest[i] = d3_dot(m[i], v) + third * back;
    }
    dest[3] = copysign(2.0 * size, determinant) * turn[0];
    bool rigid = fabs(determinant) >= (1.0 - t->task.polar_rest) * (size * third);
    return rigid & is_ordinary(square);
}

/* Begins to find the rotation nearest to a given matrix, in `own`. Returns false if the lane needs
 * care; with care, marks the row as invalid if the matrix is singular or not finite. */
IK2B_IN_LINE bool
begin_end(limb *t, bool careful, double matrix[4][4])
{
    double m[3][3], origin[3], goes_on, *last = matrix[3];
    get_linear(matrix, m);
    get_origin(matrix, origin);
    double sum = (origin[0] + origin[1] + origin[2]) + (last[0] + last[1]) + (last[2] + last[3]);
    bool good = begin_polar(m, careful, &t->task, &goes_on) & (sum - sum == 0.0);
    if (careful && !good) {
        check_matrix(t, careful, matrix);
    }
    t->goes_on = in_pairs(chosen(good | careful, goes_on, 0.0));
    memcpy(t->own, m, sizeof m);
    return good;
}

/* The same for the goal, of which `wanted` is a copy until the rotation is found. */
IK2B_IN_LINE bool
begin_goal(limb *t, bool careful)
{
    bool good = begin_end(t, careful, t->given_end_goal);
    memcpy(t->wanted, t->own, sizeof t->wanted);
    return good;
}

IK2B_IN_LINE bool
keep_goal(limb *t)
{
    memcpy(t->wanted, t->own, sizeof t->wanted);
    return true;
}

/* Sets `carried` if all matrices are rigid, else `sheared`. A correction R in a frame A turns what
 * it carries by A R A^-1. With Q the rotation nearest to A, and singular values of A that differ
 * little, this is Q R Q^-1 times a small stretch. The stretch turns what it carries only by its
 * product with the differences of the singular values of that, so these must be small, too. */
IK2B_IN_LINE bool
carry_end(limb *t)
{
    double root[4], mid[4];
    bool rigid = turn_outward(t, t->root_matrix, t->inward, t->determinant, t->root_turn, root);
    rigid &= turn_outward(t, t->mid_matrix, t->mid_inward, t->mid_determinant, t->mid_turn, mid);
    rigid &= t->goes_on == 0.0;
    d4_mul(root, mid, t->carried);
    t->sheared = as_number(!rigid);
    return true;
}

/* For matrices that are not rigid: begins to find the rotation nearest to the end joint's matrix
 * after both corrections, in `own`, and keeps the one before them in `before`. */
IK2B_IN_LINE bool
turn_end_matrix(limb *t, bool careful)
{
    double m[3][3], step[3][3], turn[3][3], goes_on;
    if (careful && t->sheared == 0.0) {
        return true;
    }
    get_linear(t->given_end_matrix, m);
    d33_multiply(t->mid_inward, m, step);
    d4_matrix(t->mid_turn, d4_double_inverse(t->mid_turn), turn);
    d33_multiply(turn, step, m);
    get_linear(t->mid_matrix, turn);
    d33_multiply(turn, m, step);
    d33_multiply(t->inward, step, m);
    d4_matrix(t->root_turn, d4_double_inverse(t->root_turn), turn);
    d33_multiply(turn, m, step);
    get_linear(t->root_matrix, turn);
    d33_multiply(turn, step, m);
    bool good = begin_polar(m, careful, &t->task, &goes_on) | (t->sheared == 0.0);
    t->goes_on = in_pairs(chosen((good | careful) & (t->sheared != 0.0), goes_on, 0.0));
    memcpy(t->before, t->own, sizeof t->before);
    memcpy(t->own, m, sizeof m);
    return good;
}

IK2B_IN_LINE double
handedness(double m[3][3])
{
    double cofactor[3][3];
    return d33_cofactor(m, cofactor) < 0.0 ? -1.0 : 1.0;
}

/* Corrects `wanted` for a joint and a goal of which only one is mirrored. Let Q H be the polar
 * decomposition of the goal, negated if it is mirrored, with Q in `wanted`. The joint must then
 * take the rotation nearest to -Q H, which is Q after a half turn about the eigenvector of the
 * least eigenvalue of H (Kabsch 1976). Overwrites `goal`. */
static inline void
turn_half_round(double goal[3][3], double wanted[3][3])
{
    double stretch[3][3], axis[3], half_turn[3][3], largest = 0.0;
    double side = handedness(goal);
    for (int i = 0; i < 3; i++) {
        largest = larger(largest, d3_largest(goal[i]));
    }
    for (int i = 0; i < 3; i++) {
        d3_scale(goal[i], side * power_of_two_under(largest), goal[i]);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            stretch[i][j] =
                wanted[0][i] * goal[0][j] + wanted[1][i] * goal[1][j] + wanted[2][i] * goal[2][j];
        }
    }
    least_axis(stretch, axis);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            half_turn[i][j] = 2.0 * axis[i] * axis[j] - (i == j ? 1.0 : 0.0);
        }
    }
    d33_multiply(wanted, half_turn, goal);
    memcpy(wanted, goal, 9 * sizeof **goal);
}

/* Corrects `wanted` if only one of joint and goal is mirrored. Returns false if the lane needs
 * care. */
IK2B_IN_LINE bool
match_hands(limb *t, bool careful)
{
    double joint[3][3], goal[3][3];
    get_linear(t->given_end_matrix, joint);
    get_linear(t->given_end_goal, goal);
    bool good = handedness(joint) == handedness(goal);
    if (careful && !good) {
        turn_half_round(goal, t->wanted);
    }
    return good;
}

/* The quaternion x, y, z, w of a^T b for two rotations, from the largest of its four components
 * (Shepperd 1978). Its length is from 2 to 4. */
IK2B_IN_LINE void
quaternion_between(double a[3][3], double b[3][3], double q[4])
{
    double m[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
        }
    }
    double x = m[0][0], y = m[1][1], z = m[2][2], w = x + y + z;
    bool of_w = w > larger(x, larger(y, z)), of_x = x > larger(y, z), of_y = y > z;
    double xy = m[0][1] + m[1][0], xz = m[0][2] + m[2][0], yz = m[1][2] + m[2][1];
    double wx = m[2][1] - m[1][2], wy = m[0][2] - m[2][0], wz = m[1][0] - m[0][1];
    double by_x[4] = {1.0 + 2.0 * x - w, xy, xz, wx}, by_y[4] = {xy, 1.0 + 2.0 * y - w, yz, wy};
    double by_z[4] = {xz, yz, 1.0 + 2.0 * z - w, wz}, by_w[4] = {wx, wy, wz, 1.0 + w};
    for (int i = 0; i < 4; i++) {
        double other = chosen(of_x, by_x[i], chosen(of_y, by_y[i], by_z[i]));
        q[i] = chosen(of_w, by_w[i], other);
    }
}

/* Sets `carried` by the nearest rotations of the end joint's matrix before and after both
 * corrections, for matrices that are not rigid, and takes back the former. */
IK2B_IN_LINE bool
carry_sheared_end(limb *t, bool careful)
{
    double after[3][3], before[3][3], q[4];
    if (careful && t->sheared == 0.0) {
        return true;
    }
    for (int i = 0; i < 9; i++) {
        after[i % 3][i / 3] = t->own[i / 3][i % 3];
        before[i % 3][i / 3] = t->before[i / 3][i % 3];
    }
    quaternion_between(after, before, q);
    for (int i = 0; i < 4; i++) {
        t->carried[i] = chosen(t->sheared != 0.0, q[i], t->carried[i]);
    }
    memcpy(t->own, t->before, sizeof t->own);
    return true;
}

/* The turn of the end joint from its present orientation to the wanted one; if `partly`, by the
 * share `weight` of the shorter way. */
IK2B_IN_LINE void
turn_to_goal(limb *t, bool partly, double step[4])
{
    double whole[4];
    quaternion_between(t->own, t->wanted, whole);
    memcpy(step, whole, sizeof whole);
    if (partly) {
        double square = d3_dot(whole, whole), sine = sqrt(square), cosine = fabs(whole[3]);
        double factor = copysign(inverse_root(square), whole[3]);
        part_of_angle(t->weight, &sine, &cosine);
        d3_scale(whole, factor * sine, step);
        step[3] = cosine;
        for (int i = 0; i < 4; i++) {
            step[i] = chosen(t->weight < 1.0, step[i], whole[i]);
        }
    }
}

/* The end joint's correction, which takes back the turn by which the joint was carried and, with a
 * goal, turns the joint towards that. */
IK2B_IN_LINE bool
turn_end(limb *t, bool careful, bool has_goal, bool partly)
{
    double step[4], q[4];
    bool good = !has_goal || match_hands(t, careful);
    for (int i = 0; i < 3; i++) {
        q[i] = -(t->own[0][i] * t->carried[0] + t->own[1][i] * t->carried[1] +
                 t->own[2][i] * t->carried[2]);
    }
    q[3] = t->carried[3];
    if (has_goal) {
        turn_to_goal(t, partly, step);
        d4_mul(q, step, q);
    }
    d4_scale(q, q[3] < 0.0 ? -1.0 : 1.0);
    double stays = chosen(has_goal & (t->weight != 0.0), 0.0, t->kept);
    give_turn(t, q, d4_square(q), stays, t->end_turn);
    return good;
}

/* Sets the end joint's position, the miss and the status. */
IK2B_IN_LINE bool
leave_pose(limb *t, bool careful)
{
    find_position(t, careful);
    return tell(t, careful);
}

#define GOAL IK2B_BIT(END_GOAL)

/* The rotations nearest to the goal, to the end joint's matrix and to that after both corrections
 * are found one after the other. Most tiles have only rigid matrices: then the first step of the
 * first two is enough. */
IK2B_STAGE(begin_goal, IK2B_ENDS, begin_goal(t, careful), .all = GOAL)
IK2B_STAGE_IF(keep_goal, any_lane(t->goes_on), IK2B_ENDS, keep_goal(t), .all = GOAL)
IK2B_STAGE(begin_own, IK2B_ENDS, begin_end(t, careful, t->given_end_matrix), IK2B_ALWAYS)
IK2B_STAGE_IF(finish_polar, any_lane(t->goes_on), IK2B_ENDS,
              finish_polar(t->own, careful, t->goes_on), IK2B_ALWAYS)
IK2B_STAGE(carry_end, IK2B_ENDS, carry_end(t), IK2B_ALWAYS)
IK2B_STAGE_IF(turn_end_matrix, any_lane(t->sheared), IK2B_ENDS, turn_end_matrix(t, careful),
              IK2B_ALWAYS)
IK2B_STAGE_IF(carry_sheared_end, any_lane(t->sheared), IK2B_ENDS, carry_sheared_end(t, careful),
              IK2B_ALWAYS)
IK2B_STAGE(keep_end, IK2B_RESULTS, turn_end(t, careful, false, false), .none = GOAL)
IK2B_STAGE(turn_end, IK2B_RESULTS, turn_end(t, careful, true, false), .all = GOAL,
           .none = IK2B_BIT(WEIGHT))
IK2B_STAGE(turn_end_partly, IK2B_RESULTS, turn_end(t, careful, true, true),
           .all = GOAL | IK2B_BIT(WEIGHT))

IK2B_STAGE(finish_end, IK2B_RESULTS, finish_turn(t->end_turn), .all = IK2B_BIT(DOUBLE))

static const ik2b_stage finish_goal_stage = {
    .settle = finish_polar_settle, .pass = finish_polar_pass, .all = GOAL};

static const ik2b_stage *const end_stages[] = {
    &begin_goal_stage,        &finish_goal_stage,
    &keep_goal_stage,         &begin_own_stage,
    &finish_polar_stage,      &carry_end_stage,
    &turn_end_matrix_stage,   &finish_polar_stage,
    &carry_sheared_end_stage, &keep_end_stage,
    &turn_end_stage,          &turn_end_partly_stage,
    &finish_end_stage,        NULL,
};
static const ik2b_stage end_stage = {.stages = end_stages, .all = IK2B_BIT(END_MATRIX)};

IK2B_STAGE(leave_pose, IK2B_RESULTS, leave_pose(t, careful), IK2B_ALWAYS)
static const ik2b_stage *const stages[] = {&leave_pose_stage, &end_stage, NULL};
const ik2b_stage ik2b_leave = {.stages = stages};
