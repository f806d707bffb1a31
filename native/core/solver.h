/* SPDX-License-Identifier: MIT
 *
 * All rows of a call through the stages of a function that works on limbs.
 */
#ifndef IK2B_SOLVER_H
#define IK2B_SOLVER_H

#include "options.h"

/* A function that works on limbs. */
typedef struct {
    const ik2b_move *moves; /* inputs, then outputs; the status is of bytes */
    int inputs, count;
    int arguments; /* of the function */
    const signed char *options;
    const ik2b_stage *const *stages;
    ik2b_pass *(*plain)(void); /* all stages of a call without options, or NULL */
} ik2b_solver;

/* All rows. Moves args. */
void ik2b_run_solver(const ik2b_solver *solver, const ik2b_extent *extent, ik2b_array *args,
                     const ik2b_call *call);

#endif
