/* SPDX-License-Identifier: MIT
 *
 * Stages that are lists of stages.
 */
#ifndef IK2B_PLACE_H
#define IK2B_PLACE_H

#include "limbs.h"

/* From limbs that are measured, and aims, to the joints of the new pose. */
extern const ik2b_stage ik2b_place;

/* From limbs in their frames, and new joints, to the corrections of root and mid joint. */
extern const ik2b_stage ik2b_turn;

/* Where the corrections put the end joint; its own, where it is wanted. */
extern const ik2b_stage ik2b_leave;

/* Status and miss of a position. */
IK2B_IN_LINE bool
tell(limb *t, bool careful)
{
    double off[3];
    d3_sub(t->position, t->target, off);
    double square = d3_dot(off, off);
    bool good = (square == 0.0) | is_between(square, 0x1p-900);
    t->miss = careful && !good ? d3_long_norm(off) : sqrt(square);
    double status = t->missed + IK2B_LIMITED * t->limited + IK2B_SINGULAR * t->singular;
    t->status = as_single(status); /* in pairs; to add 0 took 7 % of solve */
    return good;
}

#endif
