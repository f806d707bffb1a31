/* SPDX-License-Identifier: MIT
 *
 * Runs all rows of a call through the stages of a function that works on limbs. An option with one
 * value for all rows is prepared once for each call; an option at its default runs no stage.
 */
#ifndef IK2B_SOLVER_H
#define IK2B_SOLVER_H

#include "limbs.h"

/* A function that works on limbs. Its arguments are inputs, options, outputs, in this order. */
typedef struct {
    const ik2b_move *moves; /* inputs, then outputs; the status is stored as a byte */
    int inputs, count;
    const signed char *options; /* their indices in ik2b_options, in the order of the arguments */
    int option_count;
    const ik2b_stage *const *stages;
    const ik2b_stage *plain; /* all stages of a call without options in one, or NULL */
} ik2b_solver;

/* Runs all rows. Moves the data pointers of `args`. */
void ik2b_run_solver(const ik2b_solver *solver, const ik2b_extent *extent, ik2b_array *args,
                     const ik2b_call *call);

/* The body of a function, whose arguments are those of the table FUNCTION in ik2b.h: a list of
 * stages, and `plain`, as in ik2b_solver. */
#define IK2B_AS_MOVE(NAME, name, KIND, place) {IK2B_##NAME, IK2B_##KIND, IK2B_AT(place)},
#define IK2B_AS_ONE(NAME, name, KIND, place) +1
#define IK2B_RUN(FUNCTION, stages, plain)                                                          \
    static const ik2b_move moves[] = {IK2B_INPUTS_OF_##FUNCTION(IK2B_AS_MOVE)                      \
                                          IK2B_OUTPUTS_OF_##FUNCTION(IK2B_AS_MOVE)};               \
    static const signed char options[] = {IK2B_OPTIONS_OF_##FUNCTION(IK2B_OF_ALL) - 1};            \
    static const ik2b_solver solver = {moves,                                                      \
                                       0 IK2B_INPUTS_OF_##FUNCTION(IK2B_AS_ONE),                   \
                                       sizeof moves / sizeof *moves,                               \
                                       options,                                                    \
                                       sizeof options - 1,                                         \
                                       stages,                                                     \
                                       plain};                                                     \
    ik2b_run_solver(&solver, extent, args, call)

/* An option: `width` numbers of a limb from the index `place` on, each `missing` by default. */
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

/* Loads the options that have one value for all rows, and sets `given` and `varying` of the task.
 * `args` are the arguments of the options, `which` their indices in ik2b_options. */
void ik2b_begin_options(limb *t, const ik2b_array *args, const signed char *which, int count,
                        const ik2b_extent *extent);

/* Derive numbers from options: ik2b_prepare from those of one row, with care; ik2b_prepare_tile
 * from those that vary within a tile. bad_options is NaN if an option with one value for all rows
 * is not finite, else zero. */
void ik2b_prepare(limb *t);
void ik2b_prepare_tile(limbs *t, double bad_options);

#endif
