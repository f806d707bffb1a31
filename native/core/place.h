/* SPDX-License-Identifier: MIT
 *
 * Both joints of a limb for a target, seen from the root: the stages in their order.
 */
#ifndef IK2B_PLACE_H
#define IK2B_PLACE_H

#include "bend.h"

/* Mid and end joint seen from the root and the hinge of the limb there (unit). */
typedef struct {
    double mid[3], end[3], normal[3];
    bool still;
    int status;
} placement;

static inline placement
place(const limb *present, const double target[3], bool on_end, const options *opt)
{
    placement self;
    double along, height, side[3];
    real bend[3];

    goal where = goal_find(present, target, on_end, opt);
    self.still = where.still;
    d3_copy(present->mid, self.mid);
    d3_copy(present->end, self.end);
    d3_cross(present->line, present->bend, self.normal);
    if (!where.still) {
        d3_scale(where.line, where.distance, self.end);
    }
    if (!where.still && !where.keeps_upper) {
        goal_bend(&where, present, opt, bend);
        to_double(bend, side);
        d3_reject(side, where.line, side);
        d3_unit(side, side);
        limb_triangle(present, where.distance, &along, &height);
        d3_scale(where.line, along, self.mid);
        d3_muladds(side, height, self.mid);
        d3_cross(where.line, side, self.normal);
    }
    self.status = where.status;
    return self;
}

#endif
