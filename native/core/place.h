/* SPDX-License-Identifier: MIT
 *
 * Stages that are lists of stages.
 */
#ifndef IK2B_PLACE_H
#define IK2B_PLACE_H

#include "limbs.h"

/* From measured limbs and their aims to the joints of the new pose. */
extern const ik2b_stage ik2b_place;

/* From limbs in their frames and new joints to the corrections of root and mid joint. */
extern const ik2b_stage ik2b_turn;

/* The position where the corrections put the end joint, and the end joint's own correction if its
 * matrix is given. */
extern const ik2b_stage ik2b_leave;

/* Sets the status, and the miss of the end's position. */
IK2B_IN_LINE bool
tell(limb *t, bool careful)
{
    double off[3];
    d3_sub(t->position, t->target, off);
    double square = d3_dot(off, off);
    bool good = (square == 0.0) | is_between(square, 0x1p-900);
    t->miss = careful && !good ? d3_long_norm(off) : sqrt(square);
    double status = t->missed + IK2B_LIMITED * t->limited + IK2B_SINGULAR * t->singular;
    t->status = as_single(status); /* as in_pairs, without the added 0, which took 7 % of solve */
    return good;
}

#endif
