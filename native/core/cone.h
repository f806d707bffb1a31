/* SPDX-License-Identifier: MIT
 *
 * The cone: the upper bone stays within an angle of an axis. The circle of solutions meets the cone
 * in an arc, or not at all.
 */
#ifndef IK2B_CONE_H
#define IK2B_CONE_H

#include "bend.h"

/* Some roundings of double precision, in which lanes compute whatever the kind of the results. */
#define IK2B_CONE_ROUNDING 0x1p-48

/* The unit axis, and the greatest legal angle between it and the upper bone, which is widened to
 * that of the present pose. In these stages an angle is its cosine times the length of the upper
 * bone, and the square of its sine times that length. */
typedef struct {
    double axis[3], angle[2];
} cone;

/* By how much the cosine of `a` is above that of `b`, as a quotient dest[0] / dest[1] of which
 * dest[1] is positive. Cosines near 1 or -1 do not tell angles apart: there the difference is that
 * of the squares of the sines, divided by the sum of the cosines. */
IK2B_IN_LINE void
cosines_apart(const double a[2], const double b[2], double upper, double dest[2])
{
    double sum = a[0] + b[0], size = fabs(sum), squares = b[1] - a[1];
    dest[0] = chosen(size > upper, copysign(1.0, sum) * squares, (a[0] - b[0]) * upper);
    dest[1] = larger(size, upper);
}

/* Finds the cone of a limb; *none is set if the axis is zero or the angle is pi. Returns false if
 * the lane needs care. */
IK2B_IN_LINE bool
find_cone(limb *t, bool careful, cone *self, bool *none)
{
    double across[3], wider[2], size, inverse, upper = t->upper_length;
    double sine = upper * t->sine[IK2B_CONE_OPENING];
    double opening[2] = {upper * t->cosine[IK2B_CONE_OPENING], sine * sine};
    d3_copy(t->cone_axis, self->axis);
    bool good = d3_measure(self->axis, careful, &size, &inverse) & (size < 0x1p62);
    *none = d3_is_zero(self->axis) | (t->cone_angle >= IK2B_PI);
    d3_scale(self->axis, inverse, self->axis);
    if (careful && !good && !*none) {
        d3_unit(t->cone_axis, self->axis);
    }
    d3_cross(self->axis, t->mid, across);
    double own[2] = {d3_dot(self->axis, t->mid), d3_dot(across, across)};
    cosines_apart(opening, own, upper, wider);
    for (int i = 0; i < 2; i++) {
        self->angle[i] = chosen(wider[0] > 0.0, own[i], opening[i]);
    }
    return good | *none;
}

/* Turns the bend along the circle to the nearest end of the legal arc. The mid joint's component
 * along the axis is ahead + swing * cos(angle from the arc's centre). A row whose circle does not
 * meet the cone stays as it is and is marked by `apart`. */
IK2B_IN_LINE bool
turn_into_cone(limb *t, bool careful)
{
    cone limit;
    bool none;
    double across[3], bend[3], outside[2], inside[2], beyond[2], new[3], mid[3], normal[3];
    double along = t->new_along, height = t->new_height, upper = t->upper_length;
    bool good = find_cone(t, careful, &limit, &none);
    d3_cross(t->new_line, t->new_bend, across);
    d3_scale(across, 1.5 - 0.5 * d3_dot(across, across), across);
    d3_cross(across, t->new_line, bend); /* unit, and across the line */
    double x = d3_dot(bend, limit.axis), y = d3_dot(across, limit.axis);
    double square = x * x + y * y, inverse = inverse_root(square), tilt = square * inverse;
    double straight = d3_dot(t->new_line, limit.axis), ahead = along * straight;
    double turned = along * x - height * straight, swing = height * tilt;
    double near = along * tilt - height * straight, far = along * tilt + height * straight;
    double wished[2] = {ahead + height * x, turned * turned + upper * y * (upper * y)};
    double nearest[2] = {ahead + swing, near * near}, farthest[2] = {ahead - swing, far * far};
    cosines_apart(limit.angle, wished, upper, outside);
    cosines_apart(nearest, limit.angle, upper, inside);
    cosines_apart(limit.angle, farthest, upper, beyond);

    /* Where the wished angle is legal to within rounding, as that of the present pose is, to which
     * the cone is widened, rounding must not choose an arc of the circle. The root of the sum of
     * both squared sines stands for the sum of both sines. */
    double sines = limit.angle[1] + wished[1], slack = IK2B_CONE_ROUNDING * outside[1];
    bool moves = (t->still + t->keeps_upper == 0.0) & !none &
                 (outside[0] * fabs(outside[0]) > slack * slack * sines);
    bool apart = inside[0] < 0.0;

    /* The angle by which the bend turns: the angle to the arc's centre, less half the arc on the
     * side of the bend. `rest` is 1 less the cosine of half the arc, or of half the other arc if
     * that is the shorter one. */
    double cosine = x * inverse, sine = y * inverse;
    double legal = inside[0] * beyond[1], illegal = beyond[0] * inside[1];
    double whole = larger(swing * (inside[1] * beyond[1]), DBL_MIN);
    double rest = larger(smaller(legal, illegal), 0.0) / whole;
    double half_cosine = legal < illegal ? 1.0 - rest : rest - 1.0;
    double half_sine = copysign(1.0, y) * sqrt(rest * (2.0 - rest));
    turn_bend(bend, t->new_line, sine * half_cosine - cosine * half_sine,
              cosine * half_cosine + sine * half_sine, new);
    d3_scale(t->new_line, along, mid);
    d3_muladds(new, height, mid);
    d3_cross(t->new_line, new, normal);
    bool turns = moves & !apart, opposite = (x < 0.0) & (fabs(y) <= t->task.parallel * -x);
    bool shaky = turns & !(square >= IK2B_LEAST_SQUARE);
    good = (good & !shaky) | none;
    turns &= good | careful;
    for (int i = 0; i < 3; i++) {
        t->new_mid[i] = turns ? mid[i] : t->new_mid[i];
        t->normal[i] = turns ? normal[i] : t->normal[i];
    }
    t->singular = in_pairs((turns & opposite) ? 1.0 : t->singular);
    t->apart = in_pairs((moves & apart) ? 1.0 : 0.0);
    return good;
}

/* Finds `up`, the unit legal upper bone nearest to the circle: it lies on the cone, in the plane of
 * axis and line. Returns false if the lane needs care. */
IK2B_IN_LINE bool
nearest_legal_bone(limb *t, bool careful, const cone *limit, double up[3])
{
    double towards[3];
    bool good = d3_across(t->new_line, limit->axis, towards), alike = false;
    if (careful && !good) {
        d3_reject(t->new_line, limit->axis, towards);
        if (d3_norm(towards) <= t->task.parallel) { /* all sides miss alike: take the wished side */
            t->singular = 1.0;
            d3_scale(towards, t->new_along, towards);
            d3_muladds(t->new_bend, t->new_height, towards);
            if (d3_norm(towards) <= IK2B_CONE_ROUNDING * t->upper_length) {
                d3_copy(t->new_bend, towards); /* rounding left nothing of the mid joint */
            }
            d3_reject(towards, limit->axis, towards);
            alike = true;
        }
        d3_unit_across(towards, limit->axis, towards);
    }
    double sine = d3_dot(towards, t->new_line), cosine = d3_dot(limit->axis, t->new_line);
    bool within = (sine * t->new_along - cosine * t->new_height > 0.0) | alike;
    double part = 1.0 / t->upper_length, side = sqrt(limit->angle[1]) * part;
    d3_scale(limit->axis, limit->angle[0] * part, up);
    d3_muladds(towards, within ? side : -side, up);
    return good;
}

/* Whether the angle of `a` is larger than that of `b`; both are (cosine, sine) of an angle from 0
 * to pi. */
IK2B_IN_LINE bool
is_larger_angle(const double a[2], const double b[2])
{
    double turned = a[1] * b[0] - a[0] * b[1], along = a[0] * b[0] + a[1] * b[1];
    return ((along > 0.0) & (turned > 0.0)) | (!(along > 0.0) & (a[0] < b[0]));
}

/* Clamps an inner angle, given as (cosine, sine), to the limits, which are widened to the present
 * angle. */
IK2B_IN_LINE void
clamp_angle(limb *t, double angle[2])
{
    double least_sine = t->sine[IK2B_HALF_LEAST], most_sine = t->sine[IK2B_HALF_MOST];
    double least[2] = {1.0 - 2.0 * least_sine * least_sine,
                       2.0 * least_sine * t->cosine[IK2B_HALF_LEAST]};
    double most[2] = {1.0 - 2.0 * most_sine * most_sine,
                      2.0 * most_sine * t->cosine[IK2B_HALF_MOST]};
    double size = 1.0 / (t->upper_length * t->lower_length);
    double own[2] = {-d3_dot(t->mid, t->lower) * size, t->distance * t->height * size};
    bool wider = is_larger_angle(least, own), further = is_larger_angle(own, most);
    for (int i = 0; i < 2; i++) {
        least[i] = wider ? own[i] : least[i];
        most[i] = further ? own[i] : most[i];
    }
    bool below = is_larger_angle(least, angle), above = is_larger_angle(angle, most);
    for (int i = 0; i < 2; i++) {
        angle[i] = above ? most[i] : below ? least[i] : angle[i];
    }
}

/* Finds `end`, the end of a lower bone that follows the unit upper bone `up` and points at the goal
 * as far as the angle limits allow. Returns false if the lane needs care. */
IK2B_IN_LINE bool
point_lower_bone(limb *t, bool careful, const double up[3], const double goal[3], double end[3])
{
    double aim[3], across[3], normal[3], size, inverse, lower = t->lower_length;
    d3_copy(goal, aim);
    d3_muladds(up, -t->upper_length, aim);
    bool good = d3_measure(aim, careful, &size, &inverse);
    d3_scale(aim, inverse, aim);
    if (careful && size == 0.0) {
        t->singular = 1.0;
    }
    good &= d3_across(aim, up, across);
    double angle[2] = {-d3_dot(aim, up), d3_dot(across, aim)};
    if (careful && !good) {
        d3_reject(aim, up, across);
        double height = d3_norm(across);
        angle[1] = height;
        if (height * size <= t->task.parallel * lower) {
            d3_copy(t->normal, normal);
            d3_cross(up, normal, across);
        }
        d3_unit_across(across, up, across);
    }
    if (careful && size == 0.0) {
        angle[0] = 1.0; /* the angle 0, as atan2(0, 0) */
        angle[1] = 0.0;
    }
    clamp_angle(t, angle);
    d3_scale(up, t->upper_length - lower * angle[0], end);
    d3_muladds(across, lower * angle[1], end);
    return good;
}

/* For a row whose circle does not meet the cone: takes the legal upper bone with the least miss. */
IK2B_IN_LINE bool
miss_by_cone(limb *t, bool careful)
{
    cone limit;
    bool none;
    double up[3], mid[3], end[3], goal[3], off[3], normal[3], own[3];
    double reach = t->upper_length + t->lower_length;
    bool apart = t->apart != 0.0, good = find_cone(t, careful, &limit, &none);
    if (careful && !apart) {
        return true;
    }
    d3_scale(t->new_line, t->new_distance, goal);
    d3_copy(t->normal, own);
    good &= nearest_legal_bone(t, careful, &limit, up);
    good &= point_lower_bone(t, careful, up, goal, end);
    d3_scale(up, t->upper_length, mid);
    d3_sub(end, goal, off);
    bool moved = d3_dot(off, off) > t->task.moved * t->task.moved * reach * reach;
    d3_cross(end, mid, normal);
    double square = d3_dot(normal, normal), bound = t->task.straight * reach;
    bool bent = square > bound * bound * d3_dot(end, end);
    d3_scale(normal, inverse_root(square), normal);
    bool settled = apart & (good | careful);
    for (int i = 0; i < 3; i++) {
        t->new_mid[i] = settled ? mid[i] : t->new_mid[i];
        t->new_end[i] = settled ? end[i] : t->new_end[i];
        t->normal[i] = (settled & bent) ? normal[i] : own[i];
    }
    t->limited = in_pairs((settled & moved) ? 1.0 : t->limited);
    return !apart | good;
}

#endif
