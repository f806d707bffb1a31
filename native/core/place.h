/* SPDX-License-Identifier: MIT
 *
 * The stages that points and transforms share.
 */
#ifndef IK2B_PLACE_H
#define IK2B_PLACE_H

#include "limbs.h"

/* What the present limbs measure. */
void ik2b_measure(limbs *t);

/* From limbs that are measured, and aims, to the joints of the new pose. */
void ik2b_place(limbs *t);

/* Status and miss of all rows. */
void ik2b_tell(limbs *t);

#endif
