/* SPDX-License-Identifier: MIT
 *
 * Options of limbs. What has one value for all rows is handled once a call, and an option at its
 * default not at all.
 */
#ifndef IK2B_OPTIONS_H
#define IK2B_OPTIONS_H

#include "limbs.h"

/* So many numbers, from this place in a limb on, each of which counts as this where it is missing.
 */
typedef struct {
    int width, place;
    double missing;
} ik2b_option;

extern const ik2b_option ik2b_options[IK2B_OPTIONS];

static inline double *
numbers_at(limb *t, int place)
{
    return (double *)t + place;
}

static inline lane *
lanes_at(limbs *t, int place)
{
    return (lane *)t + place;
}

/* The options that have one value for all rows; the task tells which others vary. `places` tells
 * where in a function's arguments they are, 0 for those that it does not take. */
void ik2b_begin_options(limb *t, const ik2b_array *args, const signed char *places,
                        const ik2b_extent *extent);

/* What follows from the options of one row, with care, and from those that vary within a tile.
 * bad_options is NaN where an option of all rows is not finite, else zero. */
void ik2b_prepare(limb *t);
void ik2b_prepare_tile(limbs *t, double bad_options);

#endif
