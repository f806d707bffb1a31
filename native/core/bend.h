/* SPDX-License-Identifier: MIT
 *
 * Where the mid joint goes on the circle of solutions round the line: carried or nearest bend, pole
 * and twist.
 */
#ifndef IK2B_BEND_H
#define IK2B_BEND_H

#include "goal.h"

/* The bend of the limb, carried by the shortest turn of its line onto the new one: a reflection in
 * the plane between the lines, because the bend is perpendicular to the first. Opposite lines turn
 * about the hinge. */
IK2B_IN_LINE bool
carry_bend(limbs *t, int k, bool careful)
{
    double line[3], bend[3], new_line[3], half[3], dest[3];
    get3(t->line, k, line);
    get3(t->bend, k, bend);
    get3(t->new_line, k, new_line);
    d3_add(line, new_line, half);
    double square = d3_dot(half, half);
    bool opposite = square <= t->parallel * t->parallel, good = square > 1e-4;
    if (careful && opposite) {
        d3_copy(bend, half);
        square = 1.0;
    }
    d3_copy(bend, dest);
    d3_muladds(half, -2.0 * d3_dot(bend, half) / square, dest);
    if (careful && !good) {
        d3_reject(dest, new_line, dest);
        d3_unit(dest, dest);
    }
    put3(dest, k, t->new_bend);
    t->doubtful[k] = opposite ? 1.0 : t->doubtful[k];
    return good;
}

IK2B_STAGE(carry_bend, carry_bend(t, k, careful))

/* The point of the circle nearest to the present mid joint; on the line, the carried bend. */
IK2B_IN_LINE bool
find_nearest_bend(limbs *t, int k, bool careful)
{
    double mid[3], new_line[3], side[3], dest[3];
    get3(t->mid, k, mid);
    get3(t->new_line, k, new_line);
    bool good = d3_across(mid, new_line, dest);
    if (careful && !good) {
        d3_reject(mid, new_line, side);
        if (!(d3_norm(side) > t->straight * (t->upper_length[k] + t->lower_length[k]))) {
            carry_bend(t, k, true);
            t->doubtful[k] = 1.0;
            return false;
        }
        d3_unit_across(side, new_line, dest);
    }
    put3(dest, k, t->new_bend);
    t->doubtful[k] = 0.0;
    return good;
}

IK2B_STAGE(find_nearest_bend, find_nearest_bend(t, k, careful))

/* The unit bend, turned right-handed about the unit line. */
IK2B_IN_LINE void
turn_bend(const double bend[3], const double line[3], double sine, double cosine, double dest[3])
{
    double across[3];
    d3_cross(line, bend, across);
    d3_scale(bend, cosine, dest);
    d3_muladds(across, sine, dest);
}

/* Turns the bend towards the pole, the shorter way, by a part of the angle. */
IK2B_IN_LINE bool
turn_to_pole(limbs *t, int k, bool careful, bool partly)
{
    double pole[3], line[3], bend[3], side[3], across[3], sum[3], dest[3];
    double part = partly ? t->pole_part[k] : 1.0;
    get3(t->pole, k, pole);
    get3(t->new_line, k, line);
    get3(t->new_bend, k, bend);
    bool none = is_zero(pole) | (part == 0.0);
    bool good = d3_across(pole, line, side);
    if (careful && !none && !good) {
        d3_unit(pole, side);
        d3_reject(side, line, side);
        if (!(d3_norm(side) > t->parallel)) {
            t->doubtful[k] = 1.0;
            return false;
        }
        d3_unit_across(side, line, side);
    }
    d3_copy(side, dest);
    bool opposite = false;
    if (partly) {
        d3_cross(line, bend, across);
        double sine = d3_dot(across, side), cosine = d3_dot(bend, side);
        d3_add(bend, side, sum);
        opposite = d3_dot(sum, sum) <= t->parallel * t->parallel;
        part_of_angle(part, &sine, &cosine);
        turn_bend(bend, line, sine, cosine, across);
        for (int i = 0; i < 3; i++) {
            dest[i] = chosen(part == 1.0, side[i], across[i]);
        }
    }
    bool stays = none | !(good | careful);
    for (int i = 0; i < 3; i++) {
        t->new_bend[i][k] = chosen(stays, bend[i], dest[i]);
    }
    double doubtful = chosen(opposite, 1.0, t->doubtful[k]);
    t->doubtful[k] = chosen(stays, t->doubtful[k], chosen(part == 1.0, 0.0, doubtful));
    return good | none;
}

IK2B_STAGE(turn_to_pole, turn_to_pole(t, k, careful, false))
IK2B_STAGE(turn_partly_to_pole, turn_to_pole(t, k, careful, true))

IK2B_IN_LINE bool
twist_bend(limbs *t, int k)
{
    double line[3], bend[3], dest[3];
    get3(t->new_line, k, line);
    get3(t->new_bend, k, bend);
    turn_bend(bend, line, t->sine[IK2B_TWIST_ANGLE][k], t->cosine[IK2B_TWIST_ANGLE][k], dest);
    put3(dest, k, t->new_bend);
    return true;
}

IK2B_STAGE(twist_bend, ((void)careful, twist_bend(t, k)))

/* Both joints of the new pose, seen from the root. */
IK2B_IN_LINE bool
place_joints(limbs *t, int k, bool careful)
{
    double line[3], bend[3], along, height, distance = t->new_distance[k];
    get3(t->new_line, k, line);
    get3(t->new_bend, k, bend);
    d3_reject(bend, line, bend);
    d3_finish(bend, bend);
    bool good = limb_triangle(t, k, careful, distance, &along, &height);
    bool still = t->still[k] != 0.0, keeps = still | (t->keeps_upper[k] != 0.0);
    for (int i = 0; i < 3; i++) {
        t->new_mid[i][k] = chosen(keeps, t->mid[i][k], line[i] * along + bend[i] * height);
        t->new_end[i][k] = chosen(still, t->end[i][k], line[i] * distance);
    }
    put3(bend, k, t->circle_bend);
    t->new_along[k] = along;
    t->new_height[k] = height;
    t->singular[k] = chosen(keeps, t->singular[k], larger(t->singular[k], t->doubtful[k]));
    return good | keeps;
}

IK2B_STAGE(place_joints, place_joints(t, k, careful))

/* The unit hinge of the new pose. */
IK2B_IN_LINE bool
find_normal(limbs *t, int k)
{
    double line[3], bend[3];
    bool keeps = (t->still[k] != 0.0) | (t->keeps_upper[k] != 0.0);
    for (int i = 0; i < 3; i++) {
        line[i] = chosen(keeps, t->line[i][k], t->new_line[i][k]);
        bend[i] = chosen(keeps, t->bend[i][k], t->circle_bend[i][k]);
    }
    d3_cross(line, bend, line);
    put3(line, k, t->normal);
    return true;
}

IK2B_STAGE(find_normal, ((void)careful, find_normal(t, k)))

#endif
