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

/* Squares of lengths between this and its inverse need no scaling: all that is made of them stays
 * ordinary. */
#define IK2B_PLAIN_SQUARE 0x1p-40

/* A limb and its target seen from the root, and what solve makes of them. */
typedef struct {
    double line[3], distance; /* of the end after */
    double mid[3], normal[3]; /* after; normal is unit */
    int status;
} plain;

IK2B_IN_LINE int
equal_plainly(const double a[3], const double b[3])
{
    return (int)(a[0] == b[0]) & (int)(a[1] == b[1]) & (int)(a[2] == b[2]);
}

/* 0: not plain, length and inverse are void. */
IK2B_IN_LINE int
measure_plainly(const double v[3], double *length, double *inverse)
{
    double square = d3_dot(v, v);
    *inverse = inverse_root(square);
    *length = square * *inverse;
    return is_between(square, IK2B_PLAIN_SQUARE);
}

IK2B_IN_LINE int
is_finite_plainly(const double v[3])
{
    return (v[0] - v[0]) + (v[1] - v[1]) + (v[2] - v[2]) == 0.0;
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
    *opposite = (double)r3_dot(half, half) <= IK2B_PARALLEL * IK2B_PARALLEL;
    r3_unit(half, half);
    r3_muladds(half, -2 * r3_dot(side, half), side);
    r3_reject(side, to, side);
    r3_unit(side, side);
    to_double(side, dest);
    d3_reject(dest, new_line, dest);
    d3_finish(dest, dest);
}

/* Mid and end are seen from the root, lower goes from mid to end. 0: not plain, *self is void. */
IK2B_IN_LINE int
solve_plainly(const double mid[3], const double lower[3], const double end[3], const double aim[3],
              plain *self)
{
    double line[3], normal[3], bend[3];
    double upper_length, lower_length, present, wanted, inverse, inverse_wanted;
    bool opposite;
    int ordinary = measure_plainly(mid, &upper_length, &inverse) &
                   measure_plainly(lower, &lower_length, &inverse) &
                   measure_plainly(aim, &wanted, &inverse_wanted) &
                   measure_plainly(end, &present, &inverse);
    double total = upper_length + lower_length, difference = upper_length - lower_length;

    d3_scale(end, inverse, line);
    limb_normal(mid, lower, lower_length, end, present, normal);
    d3_scale(normal, inverse, normal);
    double along = d3_dot(mid, line), square = d3_dot(normal, normal);
    inverse = inverse_root(square);
    double height = square * inverse;
    d3_cross(line, normal, bend);
    d3_scale(bend, inverse, bend);

    double moved = IK2B_MOVED * total, bare = larger(smaller(wanted, total), fabs(difference));
    double least = smaller(fabs(difference), present), greatest = larger(total, present);
    double distance = smaller(larger(wanted, least), greatest);
    /* Added in double precision: SSE2 has no other way from comparisons of doubles to integers. */
    self->status = (int)((wanted - total > moved ? (double)IK2B_TOO_FAR : 0.0) +
                         (fabs(difference) - wanted > moved ? (double)IK2B_TOO_CLOSE : 0.0) +
                         (fabs(distance - bare) > moved ? (double)IK2B_LIMITED : 0.0));

    triangle_sides new = triangle(total, difference, distance);
    ordinary &= (int)is_ordinary(new.height_square) | (int)(new.height_square == 0.0);
    double new_along = distance == present ? along : new.along;
    double new_height = distance == present ? height : ordinary_root(new.height_square);

    d3_scale(aim, inverse_wanted, self->line);
    carry_plainly(line, bend, self->line, bend, &opposite);
    d3_cross(self->line, bend, self->normal);
    d3_scale(self->line, new_along, self->mid);
    d3_muladds(bend, new_height, self->mid);
    self->distance = distance;
    return ordinary & !opposite & (int)(height > IK2B_STRAIGHT * total);
}

#endif
