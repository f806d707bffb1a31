/* SPDX-License-Identifier: MIT
 *
 * Where the mid joint goes on the circle of solutions round the line: carried or nearest bend, pole
 * and twist. And rotations of directions.
 */
#ifndef IK2B_BEND_H
#define IK2B_BEND_H

#include "goal.h"

/* Unit vector of one that is neither very short nor very long. */
IK2B_IN_LINE void
r3_unit(real v[3], real dest[3])
{
    r3_scale(v, real_inverse_root(r3_dot(v, v)), dest);
}

static inline void
r3_reject(real v[3], real axis[3], real dest[3])
{
    real along = r3_dot(v, axis), result[3] = {v[0], v[1], v[2]};
    r3_muladds(axis, -along, result);
    r3_copy(result, dest);
}

/* v turned by the unit quaternion q. */
static inline void
rotate(quat q, real v[3], real dest[3])
{
    real axis[3] = {q[0], q[1], q[2]}, once[3], twice[3];
    r3_cross(axis, v, once);
    r3_cross(axis, once, twice);
    r3_copy(v, dest);
    r3_muladds(once, 2 * q[3], dest);
    r3_muladds(twice, (real)2, dest);
}

/* The turn about a unit axis. */
static inline void
turn_about(real axis[3], double angle, quat dest)
{
    r3_scale(axis, (real)sin(0.5 * angle), dest);
    dest[3] = (real)cos(0.5 * angle);
}

/* The angle about the unit axis from a to b, both perpendicular to it; in [-pi, pi]. */
static inline double
angle_about(real axis[3], real a[3], real b[3])
{
    real normal[3];
    r3_cross(a, b, normal);
    return atan2((double)r3_dot(axis, normal), (double)r3_dot(a, b));
}

static inline bool
are_opposite(real a[3], real b[3])
{
    real sum[3];
    r3_add(a, b, sum);
    return (double)r3_dot(sum, sum) <= IK2B_PARALLEL * IK2B_PARALLEL;
}

/* The bend of the limb, carried by the shortest turn of its line onto the new one: a reflection in
 * the plane between the lines, because the bend is perpendicular to the first. Opposite lines turn
 * about the hinge; true tells so. */
static inline bool
carry(real line[3], real bend[3], real new_line[3], real dest[3])
{
    bool opposite = are_opposite(line, new_line);
    real half[3];
    if (opposite) {
        r3_copy(bend, half);
    }
    else {
        r3_add(line, new_line, half);
        r3_unit(half, half);
    }
    real along = r3_dot(bend, half);
    r3_copy(bend, dest);
    r3_muladds(half, -2 * along, dest);
    r3_reject(dest, new_line, dest);
    r3_unit(dest, dest);
    return opposite;
}

/* The bend on the new line by the limb alone; true: something arbitrary decided it. */
static inline bool
limb_bend(const limb *self, bool nearest, const double new_line[3], real dest[3])
{
    real line[3], bend[3], target_line[3];
    if (nearest) {
        double side[3];
        d3_reject(self->mid, new_line, side);
        if (d3_norm(side) > IK2B_STRAIGHT * limb_reach(self)) {
            d3_unit_across(side, new_line, side);
            to_real(side, dest);
            return false;
        }
    }
    to_real(self->line, line);
    to_real(self->bend, bend);
    to_real(new_line, target_line);
    bool opposite = carry(line, bend, target_line, dest);
    return self->singular || opposite || nearest;
}

/* Turn the bend towards the pole, the shorter way, by a part of the angle. */
static inline bool
turn_to_pole(const double pole[3], const double line[3], double part, bool singular, real bend[3])
{
    double side[3];
    real pole_side[3], axis[3];
    quat turn;
    if (d3_is_zero(pole) || part == 0.0) {
        return singular;
    }
    d3_unit(pole, side);
    d3_reject(side, line, side);
    if (d3_norm(side) <= IK2B_PARALLEL) {
        return true;
    }
    d3_unit_across(side, line, side);
    to_real(side, pole_side);
    if (part == 1.0) {
        r3_copy(pole_side, bend);
        return false;
    }
    bool opposite = are_opposite(bend, pole_side);
    to_real(line, axis);
    turn_about(axis, part * angle_about(axis, bend, pole_side), turn);
    rotate(turn, bend, bend);
    return singular || opposite;
}

/* The bend at the goal: own, pole, twist; adds to the goal's status. */
static inline void
goal_bend(goal *self, const limb *present, const options *opt, real bend[3])
{
    real axis[3];
    quat turn;
    double weight = clamped(opt->weight, 0.0, 1.0);
    double part = weight * clamped(opt->pole_weight, 0.0, 1.0);
    bool singular = limb_bend(present, opt->nearest, self->line, bend);
    if (turn_to_pole(opt->pole, self->line, part, singular, bend)) {
        self->status |= IK2B_SINGULAR;
    }
    if (opt->twist != 0.0) {
        to_real(self->line, axis);
        turn_about(axis, weight * opt->twist, turn);
        rotate(turn, bend, bend);
    }
}

#endif
