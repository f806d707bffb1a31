/* SPDX-License-Identifier: MIT
 *
 * Rows and options into limbs, through a function, and out. What has one value for all rows is
 * handled once a call, and an option at its default not at all.
 */
#ifndef IK2B_OPTIONS_H
#define IK2B_OPTIONS_H

#include "limbs.h"

/* Where in the arguments of each function the options are, -1 for those that it does not take. */
extern const signed char ik2b_solve_places[], ik2b_orient_places[], ik2b_pose_places[],
    ik2b_pole_of_places[], ik2b_hinge_of_places[];

/* The place of a number among those of a limb, and of its lane among those of a tile. */
#define IK2B_AT(name) ((int)(offsetof(limb, name) / sizeof(double)))

/* An argument's numbers and where they lie: 1, 3, 4, or the 16 of a matrix. */
typedef struct {
    int argument, width, place;
} ik2b_move;

/* A function that works on limbs. */
typedef struct {
    const ik2b_move *moves; /* inputs, then outputs; the status is of bytes */
    int inputs, count;
    int arguments; /* of the function */
    const signed char *options;
    bool framed;
    void (*settle)(limb *t); /* all stages with care; own scales are taken from the matrices */
    void (*run)(limbs *t);   /* all passes */
} ik2b_solver;

/* All rows. Moves args. */
void ik2b_run_solver(const ik2b_solver *solver, const ik2b_extent *extent, ik2b_array *args,
                     ik2b_kind kind, ik2b_bend bend, ik2b_roll roll);

#endif
