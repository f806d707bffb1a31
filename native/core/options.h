/* SPDX-License-Identifier: MIT
 *
 * Options of limbs. What has one value for all rows is handled once a call, and an option at its
 * default not at all.
 */
#ifndef IK2B_OPTIONS_H
#define IK2B_OPTIONS_H

#include "limbs.h"

/* Where in the arguments of each function the options are, -1 for those that it does not take. */
extern const signed char ik2b_solve_places[], ik2b_orient_places[], ik2b_pose_places[],
    ik2b_pole_of_places[], ik2b_hinge_of_places[];

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

/* Where the numbers of an option lie in a limb, and how many there are: 1, 3, or the 16 of a
 * matrix. */
int ik2b_place_of(const ik2b_task *task, int which);
int ik2b_width_of(int which);

/* The options that have one value for all rows; the task tells which others vary. */
void ik2b_begin_options(limb *t, const ik2b_array *args, const signed char *places,
                        const ik2b_extent *extent);

/* What follows from the options of one row, with care, and from those that vary within a tile.
 * bad_options is NaN where an option of all rows is not finite, else zero. */
void ik2b_prepare(limb *t);
void ik2b_prepare_tile(limbs *t, double bad_options);

#endif
