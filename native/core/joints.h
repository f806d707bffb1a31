/* SPDX-License-Identifier: MIT
 *
 * From aggregate transforms to the limb in the root's frame.
 */
#ifndef IK2B_JOINTS_H
#define IK2B_JOINTS_H

#include "rows.h"
#include "turn.h"

/* The matrices of a row as they were given. */
typedef struct {
    double root[3][3], root_at[3], mid[3][3], mid_at[3], end[3], root_scale[3], mid_scale[3];
} pose;

static inline bool
load_pose(const ik2b_array *root, const ik2b_array *mid, const ik2b_array *end,
          const ik2b_array *root_scale, const ik2b_array *mid_scale, pose *dest)
{
    bool finite = load_matrix(root, dest->root, dest->root_at);
    finite &= load_matrix(mid, dest->mid, dest->mid_at);
    load_vector(end, 3, dest->end);
    load_vector_or(root_scale, 1.0, dest->root_scale);
    load_vector_or(mid_scale, 1.0, dest->mid_scale);
    return finite && d3_finite(dest->end) && d3_finite(dest->root_scale) &&
           d3_finite(dest->mid_scale);
}

/* The columns of an aggregate transform without the joint's own scale; false for a zero scale. */
static inline bool
remove_scale(const double m[3][3], const double scale[3], double dest[3][3])
{
    if (scale[0] == 1.0 && scale[1] == 1.0 && scale[2] == 1.0) {
        memcpy(dest, m, 9 * sizeof **m);
        return true;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = m[i][j] / scale[j];
        }
    }
    return scale[0] != 0.0 && scale[1] != 0.0 && scale[2] != 0.0;
}

/* Vector between two points, seen in the root's frame and scaled. */
static inline void
seen_from_root(const joints *self, const double from[3], const double to[3], double dest[3])
{
    double between[3];
    d3_sub(to, from, between);
    d33_apply(self->inward, between, between);
    d3_scale_far(between, self->scale, dest);
}

/* The limb in the root's frame; false where a matrix is singular or a bone has no length. */
static inline bool
joints_find(const pose *given, const double hinge[3], joints *self)
{
    double mid_frame[3][3], cofactor[3][3];
    const double *s = given->mid_scale;
    self->scale = 1.0;
    if (!remove_scale(given->root, given->root_scale, self->frame) ||
        !remove_scale(given->mid, given->mid_scale, mid_frame) ||
        !d33_invert(self->frame, IK2B_PARALLEL, self->inward) ||
        !d33_invert(mid_frame, IK2B_PARALLEL, self->inner_inverse)) {
        return false;
    }
    d33_multiply(self->inward, mid_frame, self->inner);
    double mid_inverse[3][3];
    memcpy(mid_inverse, self->inner_inverse, sizeof mid_inverse);
    d33_multiply(mid_inverse, self->frame, self->inner_inverse);

    seen_from_root(self, given->root_at, given->mid_at, self->upper);
    seen_from_root(self, given->mid_at, given->end, self->lower);
    seen_from_root(self, given->root_at, given->end, self->end);
    double largest = larger(d3_largest(self->upper), d3_largest(self->lower));
    if (d3_is_zero(self->upper) || d3_is_zero(self->lower) || !isfinite(largest)) {
        return false;
    }
    self->scale = power_of_two_under(largest);
    d3_scale(self->upper, self->scale, self->upper);
    d3_scale(self->lower, self->scale, self->lower);
    d3_scale(self->end, self->scale, self->end);

    double own[3] = {s[1] * s[2] * hinge[0], s[2] * s[0] * hinge[1], s[0] * s[1] * hinge[2]};
    d3_copy(own, self->hinge_mid);
    d33_cofactor(self->inner, cofactor);
    d33_apply(cofactor, own, self->hinge_root);
    return true;
}

#endif
