/* SPDX-License-Identifier: MIT
 *
 * Both joints of a limb for a target, seen from the root: the stages in their order.
 */
#ifndef IK2B_PLACE_H
#define IK2B_PLACE_H

#include "bend.h"
#include "cone.h"

/* Mid and end joint seen from the root and the hinge of the limb there (unit). */
typedef struct {
    double mid[3], end[3], normal[3];
    bool still;
    int status;
} placement;

/* The circle of solutions with the wished bend on it. */
static inline circle
circle_at(const limb *present, const goal *where, real bend[3])
{
    circle self;
    d3_copy(where->line, self.line);
    to_double(bend, self.bend);
    d3_reject(self.bend, self.line, self.bend);
    d3_finish(self.bend, self.bend);
    limb_triangle(present, where->distance, &self.along, &self.height);
    return self;
}

static inline placement
place(const limb *present, const double target[3], bool on_end, const options *opt)
{
    placement self;
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
        circle round = circle_at(present, &where, bend);
        circle_mid(&round, self.mid);
        d3_cross(round.line, round.bend, self.normal);
        apply_cone(present, opt, &round, self.mid, self.end, self.normal, &where.status);
    }
    self.status = where.status;
    return self;
}

#endif
