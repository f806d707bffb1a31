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
carry_bend(limb *t, bool careful)
{
    double half[3], dest[3];
    d3_add(t->line, t->new_line, half);
    double square = d3_dot(half, half);
    bool good = square > 1e-4;
    bool opposite = careful && square <= t->task.parallel * t->task.parallel;
    if (opposite) {
        d3_copy(t->bend, half);
        square = 1.0;
    }
    d3_copy(t->bend, dest);
    d3_muladds(half, -2.0 * d3_dot(t->bend, half) / square, dest);
    if (careful && !good) {
        d3_reject(dest, t->new_line, dest);
        d3_unit(dest, dest);
    }
    d3_copy(dest, t->new_bend);
    t->unsure = opposite ? 1.0 : t->doubtful;
    return good;
}

/* The point of the circle nearest to the present mid joint; on the line, the carried bend. */
IK2B_IN_LINE bool
find_nearest_bend(limb *t, bool careful)
{
    double side[3], dest[3];
    double least = t->task.straight * (t->upper_length + t->lower_length);
    bool good = d3_nearly_across(t->mid, t->new_line, dest);
    good &= d3_dot(t->mid, dest) > least; /* the part across */
    if (careful && !good) {
        d3_reject(t->mid, t->new_line, side);
        if (!(d3_norm(side) > least)) {
            carry_bend(t, true);
            t->unsure = 1.0;
            return false;
        }
        d3_unit_across(side, t->new_line, dest);
    }
    d3_copy(dest, t->new_bend);
    t->unsure = 0.0;
    return good;
}

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
turn_to_pole(limb *t, bool careful, bool partly)
{
    double bend[3], side[3], across[3], sum[3], dest[3];
    double part = partly ? t->pole_part : 1.0;
    d3_copy(t->new_bend, bend);
    bool none = d3_is_zero(t->pole) | (part == 0.0);
    bool good = d3_nearly_across(t->pole, t->new_line, side); /* place_joints does the rest */
    t->still = partly ? t->still : chosen(none, t->still, 0.0);
    if (careful && !none && !good) {
        d3_unit(t->pole, side);
        d3_reject(side, t->new_line, side);
        if (!(d3_norm(side) > t->task.parallel)) {
            t->unsure = 1.0;
            return false;
        }
        d3_unit_across(side, t->new_line, side);
    }
    d3_copy(side, dest);
    bool opposite = false;
    if (partly) {
        d3_cross(t->new_line, bend, across);
        double sine = d3_dot(across, side), cosine = d3_dot(bend, side);
        d3_add(bend, side, sum);
        opposite = d3_dot(sum, sum) <= t->task.parallel * t->task.parallel;
        part_of_angle(part, &sine, &cosine);
        turn_bend(bend, t->new_line, sine, cosine, across);
        for (int i = 0; i < 3; i++) {
            dest[i] = part == 1.0 ? side[i] : across[i];
        }
    }
    bool stays = none | !(good | careful);
    for (int i = 0; i < 3; i++) {
        t->new_bend[i] = stays ? bend[i] : dest[i];
    }
    double unsure = opposite ? 1.0 : t->unsure;
    t->unsure = in_pairs(stays ? t->unsure : part == 1.0 ? 0.0 : unsure);
    return good | none;
}

IK2B_IN_LINE bool
twist_bend(limb *t)
{
    double bend[3], dest[3];
    d3_copy(t->new_bend, bend);
    turn_bend(bend, t->new_line, t->sine[IK2B_TWIST_ANGLE], t->cosine[IK2B_TWIST_ANGLE], dest);
    d3_copy(dest, t->new_bend);
    t->still = chosen(t->angle[IK2B_TWIST_ANGLE] == 0.0, t->still, 0.0);
    return true;
}

/* Both joints of the new pose, seen from the root. `part` and `share` remove what rounding has left
 * of the bend along the line and of its difference from unit length. */
IK2B_IN_LINE bool
place_joints(limb *t, bool careful)
{
    double along, height, distance = t->new_distance;
    const double *bend = t->new_bend, *line = t->new_line;
    bool good = limb_triangle(t, careful, distance, &along, &height);
    double lean = d3_dot(bend, line), square = d3_dot(bend, bend) - lean * lean;
    double share = height * (1.5 - 0.5 * square), part = along - share * lean;
    bool still = t->still != 0.0, keeps = t->still != t->keeps_upper; /* never both */
    for (int i = 0; i < 3; i++) {
        t->new_mid[i] = chosen(keeps, t->mid[i], line[i] * part + bend[i] * share);
        t->new_end[i] = chosen(still, t->end[i], line[i] * distance);
    }
    t->new_along = along;
    t->new_height = height;
    t->singular = keeps ? t->singular : larger(t->singular, t->unsure);
    return good | keeps;
}

/* The unit hinge of the new pose. */
IK2B_IN_LINE bool
find_normal(limb *t)
{
    double line[3], bend[3];
    bool keeps = t->still != t->keeps_upper; /* with |, gcc makes no vectors of SSE2 */
    for (int i = 0; i < 3; i++) {
        line[i] = chosen(keeps, t->line[i], t->new_line[i]);
        bend[i] = chosen(keeps, t->bend[i], t->new_bend[i]);
    }
    d3_cross(line, bend, line);
    d3_copy(line, t->normal);
    return true;
}

#endif
