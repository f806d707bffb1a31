/* SPDX-License-Identifier: MIT
 *
 * The stages that points and transforms share: from limbs that are measured, and aims, to the
 * joints of the new pose.
 */
#ifndef IK2B_PLACE_H
#define IK2B_PLACE_H

#include "limbs.h"

/* With care. */
void ik2b_place(limb *t);

/* Over all lanes, without. */
void ik2b_place_lanes(limbs *t);

/* Status and miss. */
IK2B_IN_LINE void
tell(limb *t)
{
    t->status = t->missed + IK2B_LIMITED * t->limited + IK2B_SINGULAR * t->singular;
}

/* The same of an invalid row. */
static inline void
refuse(limb *t)
{
    t->miss = (double)NAN;
    t->status = IK2B_INVALID;
}

#endif
