/* SPDX-License-Identifier: MIT
 *
 * The plain case of solve, without a branch, so that compilers run it over many limbs at once: a
 * bent limb, a target off the root and off the end, numbers of ordinary size, no option but a
 * hinge. All else it declares not plain, and leaves it to the stages in place.h, whose formulas
 * these are.
 */
#ifndef IK2B_PLAIN_H
#define IK2B_PLAIN_H

#include "bend.h"

/* Lengths between this and its inverse need no scaling: their fourth powers stay ordinary. */
#define IK2B_ORDINARY 0x1p-100

/* A limb and its target seen from the root, and what solve makes of them. */
typedef struct {
    double upper_length, lower_length, present_distance; /* lengths before */
    double line[3], distance;                            /* of the end after */
    double mid[3], normal[3];                            /* after; normal is unit */
    int status;
} plain;

IK2B_IN_LINE bool
is_ordinary(double number)
{
    return (int)(number >= IK2B_ORDINARY) & (int)(number <= 1.0 / IK2B_ORDINARY);
}

/* The bend carried from line to new_line, as by carry(), which also knows opposite lines. */
IK2B_IN_LINE void
carry_plainly(const double line[3], const double bend[3], const double new_line[3], double dest[3],
              bool *opposite)
{
    real from[3], to[3], side[3], half[3];
    to_real(line, from);
    to_real(new_line, to);
    to_real(bend, side);
    r3_add(from, to, half);
    real norm = r3_norm(half);
    *opposite = (double)norm <= IK2B_PARALLEL;
    r3_scale(half, (real)1 / norm, half);
    r3_muladds(half, -2 * r3_dot(side, half), side);
    r3_reject(side, to, side);
    r3_unit(side, side);
    to_double(side, dest);
    d3_reject(dest, new_line, dest);
    d3_scale(dest, 1.0 / d3_norm(dest), dest);
}

/* Mid and end are seen from the root, lower goes from mid to end. False: not plain, *self is void.
 */
IK2B_IN_LINE bool
solve_plainly(const double mid[3], const double lower[3], const double end[3], const double aim[3],
              plain *self)
{
    double line[3], normal[3], bend[3];
    double upper_length = d3_norm(mid), lower_length = d3_norm(lower), present = d3_norm(end);
    double wanted = d3_norm(aim), total = upper_length + lower_length;
    double difference = upper_length - lower_length;
    bool opposite;
    int ordinary = (int)is_ordinary(upper_length) & (int)is_ordinary(lower_length) &
                   (int)is_ordinary(present) & (int)is_ordinary(wanted);

    d3_scale(end, 1.0 / present, line);
    d3_cross(mid, lower, normal);
    double along = d3_dot(mid, line), height = d3_norm(normal) / present;
    d3_cross(line, normal, bend);
    d3_scale(bend, 1.0 / d3_norm(bend), bend);

    double moved = IK2B_MOVED * total, bare = larger(smaller(wanted, total), fabs(difference));
    double least = smaller(fabs(difference), present), greatest = larger(total, present);
    double distance = smaller(larger(wanted, least), greatest);
    self->status = (wanted - total > moved) * IK2B_TOO_FAR |
                   (fabs(difference) - wanted > moved) * IK2B_TOO_CLOSE |
                   (fabs(distance - bare) > moved) * IK2B_LIMITED;

    double outer = larger(total - distance, 0.0) * (total + distance);
    double inner = larger(distance - difference, 0.0) * larger(distance + difference, 0.0);
    double new_along = 0.5 * (distance + difference * (total / distance));
    double new_height = sqrt(outer * inner) / (2.0 * distance);
    new_along = distance == present ? along : new_along;
    new_height = distance == present ? height : new_height;

    d3_scale(aim, 1.0 / wanted, self->line);
    carry_plainly(line, bend, self->line, bend, &opposite);
    d3_cross(self->line, bend, self->normal);
    d3_scale(self->line, new_along, self->mid);
    d3_muladds(bend, new_height, self->mid);
    self->distance = distance;
    return ordinary & (int)!opposite & (int)(height > IK2B_STRAIGHT * total);
}

#endif
