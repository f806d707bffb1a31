/* SPDX-License-Identifier: MIT
 *
 * All rows of a call through the stages of a function that works on limbs, by its options: what has
 * one value for all rows is handled once a call, and an option at its default not at all.
 */
#ifndef IK2B_SOLVER_H
#define IK2B_SOLVER_H

#include "limbs.h"

/* A function that works on limbs. Its arguments are its inputs, its options, its outputs. */
typedef struct {
    const ik2b_move *moves; /* inputs, then outputs; the status is of bytes */
    int inputs, count;
    const signed char *options; /* which they are, in the order of its arguments */
    int option_count;
    const ik2b_stage *const *stages;
    const ik2b_stage *plain; /* all stages of a call without options in one, or NULL */
} ik2b_solver;

/* Members of the list of a function's options. */
#define IK2B_OPTION_ID(NAME, name, KIND, missing) IK2B_##NAME,

/* All rows. Moves args. */
void ik2b_run_solver(const ik2b_solver *solver, const ik2b_extent *extent, ik2b_array *args,
                     const ik2b_call *call);

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

/* The options that have one value for all rows; the task tells which others vary. `args` are those
 * of the options, `which` tells what they are. */
void ik2b_begin_options(limb *t, const ik2b_array *args, const signed char *which, int count,
                        const ik2b_extent *extent);

/* What follows from the options of one row, with care, and from those that vary within a tile.
 * bad_options is NaN where an option of all rows is not finite, else zero. */
void ik2b_prepare(limb *t);
void ik2b_prepare_tile(limbs *t, double bad_options);

#endif
