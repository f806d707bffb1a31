/* SPDX-License-Identifier: MIT
 *
 * The end joint's correction: it keeps its orientation or takes that of a goal, by the nearest
 * rotations where matrices are not rigid.
 */
#ifndef IK2B_END_H
#define IK2B_END_H

#include "frames.h"
#include "turn.h"

/* Newton's iteration for the rotation of a polar decomposition (Higham 1986) is quadratic: two or
 * three steps for a matrix that is nearly rigid, a step more for each halving of its narrowness,
 * which the test for singular matrices bounds. */
#define IK2B_POLAR_STEPS 60

IK2B_IN_LINE double
handedness(double m[3][3])
{
    double cofactor[3][3];
    return d33_cofactor(m, cofactor) < 0.0 ? -1.0 : 1.0;
}

/* Whether the end joint's matrix, or its goal, can be turned at all. */
IK2B_IN_LINE bool
check_end(limb *t, bool careful, const double matrix[16])
{
    double linear[3][3], inverse[3][3], determinant;
    get44(matrix, linear);
    bool good = invert(t, linear, inverse, &determinant);
    double excess = bottom_excess(matrix);
    for (int i = 0; i < 3; i++) {
        excess += matrix[4 * i + 3] - matrix[4 * i + 3];
    }
    if (careful) {
        if (excess != 0.0 || (!good && !d33_invert(linear, t->task.parallel, inverse))) {
            t->invalid = 1.0;
        }
    }
    return good & (excess == 0.0);
}

/* What the corrections of root and mid joint have done to the end joint's matrix, up to its size;
 * mirrored ones count as their negatives. */
IK2B_IN_LINE bool
turn_end_matrix(limb *t)
{
    double m[3][3], step[3][3], by[3][3];
    get44(t->end_matrix, m);
    get33(t->mid_inward, by);
    d33_multiply(by, m, step);
    turn_matrix(t->mid_turn, by);
    d33_multiply(by, step, m);
    get44(t->mid_matrix, by);
    d33_multiply(by, m, step);
    get33(t->inward, by);
    d33_multiply(by, step, m);
    turn_matrix(t->root_turn, by);
    d33_multiply(by, m, step);
    get44(t->root_matrix, by);
    d33_multiply(by, step, m);
    put33(m, t->rotation);
    return true;
}

/* Where the iteration begins: det > 0 and a size near that of a rotation. */
IK2B_IN_LINE bool
begin_polar(limb *t, bool careful)
{
    double m[3][3], square = 0.0;
    get33(t->rotation, m);
    double side = handedness(m);
    for (int i = 0; i < 3; i++) {
        square += d3_dot(m[i], m[i]);
    }
    bool good = is_ordinary(square);
    if (careful && !good) {
        double largest = larger(larger(d3_largest(m[0]), d3_largest(m[1])), d3_largest(m[2]));
        double scale = power_of_two_under(largest);
        square = 0.0;
        for (int i = 0; i < 3; i++) {
            d3_scale(m[i], scale, m[i]);
            square += d3_dot(m[i], m[i]);
        }
        side = handedness(m);
    }
    double scale = (good | careful) ? side * inverse_root(square / 3.0) : 1.0;
    for (int i = 0; i < 3; i++) {
        d3_scale(m[i], scale, m[i]);
    }
    put33(m, t->rotation);
    t->polar_goes_on = as_number(good | careful);
    return good;
}

/* One step, where one is needed. */
IK2B_IN_LINE void
step_polar(limb *t)
{
    double x[3][3], cofactor[3][3], change = 0.0;
    get33(t->rotation, x);
    double inverse = 0.5 / d33_cofactor(x, cofactor);
    bool goes_on = t->polar_goes_on != 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double next = 0.5 * x[i][j] + cofactor[i][j] * inverse;
            change = larger(change, fabs(next - x[i][j]));
            t->rotation[3 * i + j] = chosen(goes_on, next, x[i][j]);
        }
    }
    t->polar_goes_on = as_number(goes_on & (change > t->task.polar_change));
}

/* The rotation nearest to a linear part; a mirrored one counts as its negative. */
IK2B_APART void
find_polar(limb *t)
{
    begin_polar(t, true);
    for (int step = 0; t->polar_goes_on != 0.0 && step < IK2B_POLAR_STEPS; step++) {
        step_polar(t);
    }
}

IK2B_PASS(begin_polar, IK2B_ENDS, begin_polar(&one, false))
IK2B_PASS(step_polar, IK2B_ENDS, (step_polar(&one), true))

IK2B_IN_LINE void
find_polar_lanes(limbs *t, int together)
{
    begin_polar_lanes(t, together);
    for (int step = 0; any_lane(t->polar_goes_on) && step < IK2B_POLAR_STEPS; step++) {
        step_polar_lanes(t, together);
    }
}

/* One of Jacobi's rotations: makes h[i][j] zero and turns the rows of `vectors` along. */
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

/* A unit eigenvector of the least eigenvalue of a symmetric matrix, by Jacobi's method, which
 * squares the rest in each sweep. Where eigenvalues are equal to 1e-5 of the greatest, ten times
 * what single precision leaves of a rigid matrix at the end of many joints: the first of the axes
 * x, y, z within 60 degrees of their vectors, brought among them; there always is one. */
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

/* Where only one of joint and goal is mirrored, the goal counts as -Q H, with Q the polar rotation
 * of its negative; nearest to it is Q turned half round about the least axis of H (Kabsch 1976). */
static inline void
turn_half_round(limb *t, double goal[3][3], double wanted[3][3])
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
    put33(goal, t->wanted);
}

/* The goal's rotation for a joint that is mirrored where the goal is not, or the other way round.
 */
IK2B_IN_LINE bool
match_hands(limb *t, bool careful)
{
    double joint[3][3], goal[3][3], wanted[3][3];
    get44(t->end_matrix, joint);
    get44(t->end_goal, goal);
    bool good = handedness(joint) == handedness(goal);
    if (careful && !good) {
        get33(t->wanted, wanted);
        turn_half_round(t, goal, wanted);
    }
    return good;
}

/* The quaternion of a^T b of two rotations, from the largest of its four components (Shepperd
 * 1978). */
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
    bool of_w = (w > x) & (w > y) & (w > z), of_x = (x > y) & (x > z), of_y = y > z;
    double xy = m[0][1] + m[1][0], xz = m[0][2] + m[2][0], yz = m[1][2] + m[2][1];
    double wx = m[2][1] - m[1][2], wy = m[0][2] - m[2][0], wz = m[1][0] - m[0][1];
    double by_x[4] = {1.0 + 2.0 * x - w, xy, xz, wx}, by_y[4] = {xy, 1.0 + 2.0 * y - w, yz, wy};
    double by_z[4] = {xz, yz, 1.0 + 2.0 * z - w, wz}, by_w[4] = {wx, wy, wz, 1.0 + w};
    for (int i = 0; i < 4; i++) {
        double other = chosen(of_x, by_x[i], chosen(of_y, by_y[i], by_z[i]));
        q[i] = chosen(of_w, by_w[i], other);
    }
    double inverse = inverse_root(d3_dot(q, q) + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        q[i] *= inverse;
    }
}

/* From the present orientation towards that of the goal, the shorter way, by the weight; then the
 * correction from the turned one. */
IK2B_IN_LINE bool
turn_end(limb *t, bool partly)
{
    double turned[3][3], wanted[3][3], own[3][3], step[4], first[4], whole[4], q[4];
    get33(t->turned, turned);
    get33(t->wanted, wanted);
    quaternion_between(turned, wanted, q);
    if (partly) {
        double weight = t->weight;
        get33(t->own, own);
        quaternion_between(own, wanted, step);
        quaternion_between(turned, own, first);
        double sine = sqrt(d3_dot(step, step)), cosine = fabs(step[3]);
        double factor = sine > 0.0 ? (step[3] < 0.0 ? -1.0 : 1.0) / sine : 0.0;
        part_of_angle(weight, &sine, &cosine);
        d3_scale(step, factor * sine, step);
        step[3] = cosine;
        d4_mul(first, step, whole);
        for (int i = 0; i < 4; i++) {
            q[i] = chosen(weight < 1.0, whole[i], q[i]);
        }
    }
    double sign = q[3] < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++) {
        q[i] *= sign;
    }
    d4_finish(q);
    put4(q, t->end_turn);
    return true;
}

/* Where nothing turns the end joint: identity. */
IK2B_IN_LINE void
clear_end_turn(limb *t, bool has_goal)
{
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    bool kept = (t->weight == 0.0) | ((t->kept != 0.0) & !has_goal);
    for (int i = 0; i < 4; i++) {
        t->end_turn[i] = chosen(kept, identity[i], t->end_turn[i]);
    }
}

/* Whether the end joint goes a part of the way to its goal. */
IK2B_IN_LINE bool
goes_partly(const ik2b_task *task)
{
    return is_given(task, IK2B_BIT(END_GOAL)) && is_given(task, IK2B_BIT(WEIGHT));
}

/* The turn of the end joint, rounded. */
IK2B_IN_LINE bool
finish_end(limb *t, bool careful, bool has_goal, bool partly)
{
    bool good = !has_goal || match_hands(t, careful);
    turn_end(t, partly);
    round_turn(t, t->end_turn);
    clear_end_turn(t, has_goal);
    return good;
}

/* The linear part of a 4 x 4 matrix, to be made a rotation. */
static inline void
take_linear(limb *t, const double source[16])
{
    double linear[3][3];
    get44(source, linear);
    put33(linear, t->rotation);
}

static inline void
correct_end(limb *t)
{
    bool has_goal = is_given(&t->task, IK2B_BIT(END_GOAL));
    bool partly = goes_partly(&t->task);
    turn_end_matrix(t);
    find_polar(t);
    memcpy(t->turned, t->rotation, sizeof t->rotation);
    take_linear(t, has_goal ? t->end_goal : t->end_matrix);
    find_polar(t);
    memcpy(t->wanted, t->rotation, sizeof t->rotation);
    if (partly) {
        take_linear(t, t->end_matrix);
        find_polar(t);
        memcpy(t->own, t->rotation, sizeof t->rotation);
    }
    finish_end(t, true, has_goal, partly);
}

IK2B_PASS(turn_end_matrix, IK2B_ENDS, turn_end_matrix(&one))
IK2B_PASS(keep_end, IK2B_RESULTS, finish_end(&one, false, false, false))
IK2B_PASS(turn_end, IK2B_RESULTS, finish_end(&one, false, true, false))
IK2B_PASS(turn_end_partly, IK2B_RESULTS, finish_end(&one, false, true, true))

IK2B_IN_LINE void
finish_ends_lanes(limbs *t, int together)
{
    if (goes_partly(&t->task)) {
        turn_end_partly_lanes(t, together);
    }
    else if (is_given(&t->task, IK2B_BIT(END_GOAL))) {
        turn_end_lanes(t, together);
    }
    else {
        keep_end_lanes(t, together);
    }
}

IK2B_BUILDS(end_turner, turn_end_matrix_lanes, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(polar_finder, find_polar_lanes, (limbs * t), (t, IK2B_TOGETHER))
IK2B_BUILDS(end_finisher, finish_ends_lanes, (limbs * t), (t, IK2B_TOGETHER))

/* The rotations nearest to the linear parts of matrices. */
static void
nearest_rotations(limbs *t, lane source[16], lane dest[9])
{
    for (int i = 0; i < 3; i++) {
        memcpy(t->rotation + 3 * i, source + 4 * i, 3 * sizeof *source);
    }
    polar_finder()(t);
    memcpy(dest, t->rotation, sizeof t->rotation);
}

static inline void
correct_ends(limbs *t)
{
    bool has_goal = is_given(&t->task, IK2B_BIT(END_GOAL));
    end_turner()(t);
    polar_finder()(t);
    memcpy(t->turned, t->rotation, sizeof t->rotation);
    nearest_rotations(t, has_goal ? t->end_goal : t->end_matrix, t->wanted);
    if (goes_partly(&t->task)) {
        nearest_rotations(t, t->end_matrix, t->own);
    }
    end_finisher()(t);
}

#endif
