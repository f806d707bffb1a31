/* SPDX-License-Identifier: MIT
 *
 * The position where the corrections put the end joint, and the end joint's own correction: the
 * joint keeps its orientation or takes that of a goal. The orientation of a matrix that is not
 * rigid is its nearest rotation.
 */
#include "frames.h"
#include "place.h"

/* The most steps of Newton's iteration, which finds the rotations that lanes cannot find. A nearly
 * rigid matrix takes two or three steps. Each halving of a matrix's least width takes one step
 * more; the test for singular matrices bounds how narrow a matrix can be. */
#define IK2B_POLAR_STEPS 60

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

/* Sets `turned` to the end joint's matrix after both corrections. Only its nearest rotation is
 * used. */
IK2B_IN_LINE bool
turn_end_matrix(limb *t)
{
    double m[3][3], step[3][3], turn[3][3];
    get_linear(t->given_end_matrix, m);
    d33_multiply(t->mid_inward, m, step);
    d4_matrix(t->mid_turn, turn);
    d33_multiply(turn, step, m);
    get_linear(t->mid_matrix, turn);
    d33_multiply(turn, m, step);
    d33_multiply(t->inward, step, m);
    d4_matrix(t->root_turn, turn);
    d33_multiply(turn, m, step);
    get_linear(t->root_matrix, turn);
    d33_multiply(turn, step, t->turned);
    return true;
}

/* The first step of Newton's iteration for the rotation of the polar decomposition of `m` (Higham
 * 1986). `m` may have any size; a mirrored one counts as its negative. *goes_on is set to 0 if this
 * step is enough. To decide, the determinant is compared with that of a rotation of the same size:
 * it is smaller by a share of the order of the squared differences of the singular values, and one
 * step leaves an error of that order. `enough` is the greatest share that is accepted. */
IK2B_IN_LINE bool
begin_polar(double m[3][3], bool careful, double enough, double *goes_on)
{
    double cofactor[3][3];
    double determinant = d33_cofactor(m, cofactor), square = d33_square(m);
    bool good = is_ordinary(square);
    if (careful && !good) {
        double largest = larger(larger(d3_largest(m[0]), d3_largest(m[1])), d3_largest(m[2]));
        for (int i = 0; i < 3; i++) {
            d3_scale(m[i], power_of_two_under(largest), m[i]);
        }
        determinant = d33_cofactor(m, cofactor);
        square = d33_square(m);
    }
    double third = square * (1.0 / 3.0), size = sqrt(third), volume = fabs(determinant);
    double own = copysign(0.5 / size, determinant), turned = size * (0.5 / volume);
    *goes_on = as_number(volume < (1.0 - enough) * (size * third));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = own * m[i][j] + turned * cofactor[i][j];
        }
    }
    return good;
}

/* A further step, which squares the remaining error. Returns the error of the determinant before
 * the step. */
IK2B_IN_LINE double
step_polar(double m[3][3])
{
    double cofactor[3][3];
    double determinant = d33_cofactor(m, cofactor), part = 0.5 / determinant;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = 0.5 * m[i][j] + part * cofactor[i][j];
        }
    }
    return fabs(determinant - 1.0);
}

/* Replaces an unmirrored `m` by nearly the rotation of its polar decomposition (Markley 1993). The
 * sum of the singular values is the greatest root of a quartic. Maclaurin's inequality gives a
 * bound so close to that root that four of Newton's steps from the bound leave an error of 1e-8 at
 * most, measured for widths down to 1e-7. */
IK2B_IN_LINE void
jump_polar(double m[3][3])
{
    double cofactor[3][3], factor[3][3], dest[3][3];
    double determinant = d33_cofactor(m, cofactor);
    double square = d33_square(m), area = 4.0 * d33_square(cofactor);
    double sum = sqrt(square + sqrt(3.0 * area));
    for (int step = 0; step < 4; step++) {
        double rest = sum * sum - square, slope = sum * rest - 2.0 * determinant;
        sum -= (rest * rest - (8.0 * determinant * sum + area)) / (4.0 * slope);
    }
    double middle = 0.5 * (sum * sum - square), scale = 1.0 / (middle * sum - determinant);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            factor[i][j] = (i == j ? scale * (middle + square) : 0.0) - scale * d3_dot(m[i], m[j]);
        }
    }
    d33_multiply(factor, m, dest);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m[i][j] = dest[i][j] + scale * sum * cofactor[i][j];
        }
    }
}

/* Replaces `m` by its rotation if begin_polar was not enough. Returns false if the lane needs
 * care. */
IK2B_IN_LINE bool
finish_polar(double m[3][3], bool careful, double goes_on)
{
    double dest[3][3];
    bool asked = in_pairs(goes_on) != 0.0;
    memcpy(dest, m, sizeof dest);
    jump_polar(dest);
    bool good = step_polar(dest) < 1e-7;
    if (careful && asked && !good) {
        memcpy(dest, m, sizeof dest);
        for (int step = 1; step_polar(dest) > 1e-8 && step < IK2B_POLAR_STEPS; step++) {
        }
    }
    for (int i = 0; i < 9; i++) {
        m[i / 3][i % 3] = chosen(asked, dest[i / 3][i % 3], m[i / 3][i % 3]);
    }
    return good | !asked;
}

/* Replaces `m` by the rotation nearest to it; a mirrored `m` counts as its negative. `enough`: as
 * in begin_polar. */
IK2B_APART void
find_polar(double m[3][3], double enough)
{
    double goes_on;
    begin_polar(m, true, enough, &goes_on);
    finish_polar(m, true, goes_on);
}

/* begin_polar and finish_polar in lanes. Rows of the source matrices are `pitch` numbers apart. */
IK2B_IN_LINE void
begin_polar_part(lane *source, int pitch, lane *dest, limbs *part, double enough, int lanes)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < lanes; k++) {
        double m[3][3], goes_on;
        for (int i = 0; i < 9; i++) {
            m[i / 3][i % 3] = source[i / 3 * pitch + i % 3][k];
        }
        bool good = begin_polar(m, false, enough, &goes_on);
        part->hard[k] = chosen(good, part->hard[k], 1.0);
        part->goes_on[k] = in_pairs(chosen(good, goes_on, 0.0));
        for (int i = 0; i < 9; i++) {
            dest[i][k] = m[i / 3][i % 3];
        }
    }
}

IK2B_IN_LINE void
finish_polar_part(lane *matrix, limbs *part, int lanes)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < lanes; k++) {
        double m[3][3];
        for (int i = 0; i < 9; i++) {
            m[i / 3][i % 3] = matrix[i][k];
        }
        bool good = finish_polar(m, false, part->goes_on[k]);
        part->hard[k] = chosen(good, part->hard[k], 1.0);
        for (int i = 0; i < 9; i++) {
            matrix[i][k] = m[i / 3][i % 3];
        }
    }
}

IK2B_IN_LINE lane *
from_lane(lane *lanes, int first)
{
    return (lane *)(void *)(lanes[0] + first);
}

/* find_polar in all lanes; `dest` may be `source`. Most tiles skip finish_polar, because all of
 * their matrices are rigid. */
IK2B_IN_LINE void
find_polar_lanes(limbs *t, lane *source, int pitch, lane *dest, int together)
{
    const int lanes = together < IK2B_LANES ? together : t->lanes & ~(IK2B_LANES - 1);
    for (int first = 0; first < t->lanes; first += together) {
        begin_polar_part(from_lane(source, first), pitch, from_lane(dest, first),
                         lanes_from(t, first), t->task.polar_rest, lanes);
    }
    bool any = any_lane(t->goes_on);
    for (int first = 0; any && first < t->lanes; first += together) {
        finish_polar_part(from_lane(dest, first), lanes_from(t, first), lanes);
    }
}

/* One rotation of Jacobi's method: makes h[i][j] zero and applies the rotation to the rows of
 * `vectors`. */
static inline void
jacobi_turn(double h[3][3], double vectors[3][3], int i, int j)
{
    if (h[i][j] == 0.0) {
        return;
    }
    double slope = (h[j][j] - h[i][i]) / (2.0 * h[i][j]);
    double tangent = copysign(1.0, slope) / (fabs(slope) + sqrt(slope * slope + 1.0));
    double cosine = 1.0 / sqrt(1.0 + tangent * tangent), sine = tangent * cosine;
    for (int k = 0; k < 3; k++) {
        double a = h[k][i], b = h[k][j], u = vectors[i][k], v = vectors[j][k];
        h[k][i] = cosine * a - sine * b;
        h[k][j] = sine * a + cosine * b;
        vectors[i][k] = cosine * u - sine * v;
        vectors[j][k] = sine * u + cosine * v;
    }
    for (int k = 0; k < 3; k++) {
        double a = h[i][k], b = h[j][k];
        h[i][k] = cosine * a - sine * b;
        h[j][k] = sine * a + cosine * b;
    }
}

/* A unit eigenvector of the least eigenvalue of the symmetric matrix `h`, by Jacobi's method, whose
 * sweeps each square the remaining error. Eigenvalues within 1e-5 of the greatest from the least
 * one count as equal to it; that is ten times the error that single precision leaves in a rigid
 * matrix at the end of many joints. If several are equal, the axis is the first of x, y and z that
 * is within 60 degrees of the space of their eigenvectors, projected on that space. There always is
 * such an axis. */
static inline void
least_axis(double h[3][3], double axis[3])
{
    double vectors[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int sweep = 0; sweep < 8; sweep++) {
        jacobi_turn(h, vectors, 0, 1);
        jacobi_turn(h, vectors, 0, 2);
        jacobi_turn(h, vectors, 1, 2);
    }
    double least = smaller(smaller(h[0][0], h[1][1]), h[2][2]);
    double limit = least + 1e-5 * larger(larger(h[0][0], h[1][1]), h[2][2]);
    for (int i = 0; i < 3; i++) {
        d3_zero(axis);
        for (int k = 0; k < 3; k++) {
            d3_muladds(vectors[k], h[k][k] <= limit ? vectors[k][i] : 0.0, axis);
        }
        if (d3_dot(axis, axis) > 0.25) {
            break;
        }
    }
    d3_unit(axis, axis);
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

/* The end joint's correction from the orientation `turned` to `wanted`. `partly`: to the share
 * `weight` of the shorter way from the present orientation to `wanted`. */
IK2B_IN_LINE bool
turn_end(limb *t, bool careful, bool has_goal, bool partly)
{
    double first[4], step[4], q[4];
    bool good = !has_goal || match_hands(t, careful);
    quaternion_between(t->turned, t->wanted, q);
    if (partly) {
        quaternion_between(t->turned, t->own, first);
        quaternion_between(t->own, t->wanted, step);
        double square = d3_dot(step, step), sine = sqrt(square), cosine = fabs(step[3]);
        double factor = copysign(inverse_root(square), step[3]);
        part_of_angle(t->weight, &sine, &cosine);
        d3_scale(step, factor * sine, step);
        step[3] = cosine;
        d4_mul(first, step, first);
        for (int i = 0; i < 4; i++) {
            q[i] = chosen(t->weight < 1.0, first[i], q[i]);
        }
    }
    d4_scale(q, q[3] < 0.0 ? -1.0 : 1.0);
    double stays = chosen(has_goal & (t->weight != 0.0), 0.0, t->kept);
    give_turn(t, q, stays, t->end_turn);
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

/* Finds the nearest rotations of the turned matrix, of the wanted one and, for a part of the way,
 * of the present one. */
static void
find_polars_settle(limb *t)
{
    const double enough = t->task.polar_rest;
    get_linear(is_given(&t->task, GOAL) ? t->given_end_goal : t->given_end_matrix, t->wanted);
    find_polar(t->turned, enough);
    find_polar(t->wanted, enough);
    if (is_given(&t->task, IK2B_BIT(WEIGHT))) {
        get_linear(t->given_end_matrix, t->own);
        find_polar(t->own, enough);
    }
}

IK2B_IN_LINE void
find_polars_lanes(limbs *t, int together)
{
    bool has_goal = is_given(&t->task, GOAL);
    lane *const wanted = has_goal ? t->given_end_goal[0] : t->given_end_matrix[0];
    lane *const source[] = {t->turned[0], wanted, t->given_end_matrix[0]};
    lane *const dest[] = {t->turned[0], t->wanted[0], t->own[0]};
    int count = has_goal && is_given(&t->task, IK2B_BIT(WEIGHT)) ? 3 : 2;
    for (int i = 0; i < count; i++) {
        find_polar_lanes(t, source[i], i == 0 ? 3 : 4, dest[i], together);
    }
}

IK2B_STAGE(leave_pose, IK2B_RESULTS, leave_pose(t, careful), IK2B_ALWAYS)
IK2B_STAGE(turn_end_matrix, IK2B_ENDS, turn_end_matrix(t), .all = IK2B_BIT(END_MATRIX))
IK2B_STAGE_OF(find_polars, .all = IK2B_BIT(END_MATRIX))
IK2B_STAGE(keep_end, IK2B_RESULTS, turn_end(t, careful, false, false), .all = IK2B_BIT(END_MATRIX),
           .none = GOAL)
IK2B_STAGE(turn_end, IK2B_RESULTS, turn_end(t, careful, true, false), .all = GOAL,
           .none = IK2B_BIT(WEIGHT))
IK2B_STAGE(turn_end_partly, IK2B_RESULTS, turn_end(t, careful, true, true),
           .all = GOAL | IK2B_BIT(WEIGHT))

static const ik2b_stage *const stages[] = {
    &leave_pose_stage,
    &turn_end_matrix_stage,
    &find_polars_stage,
    &keep_end_stage,
    &turn_end_stage,
    &turn_end_partly_stage,
    NULL,
};

const ik2b_stage ik2b_leave = {.stages = stages};
