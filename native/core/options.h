/* SPDX-License-Identifier: MIT
 *
 * Options into tiles. What has one value for all rows is handled once a call, and an option at its
 * default not at all.
 */
#ifndef IK2B_OPTIONS_H
#define IK2B_OPTIONS_H

#include "limbs.h"

/* Where in the arguments of each function the options are, -1 for those that it does not take. */
extern const signed char ik2b_solve_places[], ik2b_orient_places[], ik2b_pose_places[],
    ik2b_pole_of_places[];

/* Prepares a tile for a call; `places` are those of its function. */
void ik2b_begin(limbs *t, ik2b_kind kind, const ik2b_array *args, const signed char *places,
                const ik2b_extent *extent);

/* Options that differ from row to row, for the tile's rows. */
void ik2b_load_options(limbs *t, const ik2b_array *args, const signed char *places, int last);

#endif
