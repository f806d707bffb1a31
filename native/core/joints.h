/* SPDX-License-Identifier: MIT
 *
 * From aggregate transforms to the limb in the root's frame.
 */
#ifndef IK2B_JOINTS_H
#define IK2B_JOINTS_H

#include "matrices.h"
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
    double size = d3_largest(between) > 0x1p600 ? 0x1p-600 : 1.0; /* its products stay finite */
    d3_scale(between, size, between);
    d33_apply(self->inward, between, between);
    d3_scale_far(between, self->scale / size, dest);
}

/* The inverse without a branch; 0: it is void, as the columns lie in a plane to within rounding or
 * numbers are so large or small that d33_invert may still do it. */
IK2B_IN_LINE int
invert_plainly(const double m[3][3], double dest[3][3], double *determinant)
{
    double cofactor[3][3], square = 1.0;
    *determinant = d33_cofactor(m, cofactor);
    double inverse = 1.0 / *determinant;
    for (int j = 0; j < 3; j++) {
        square *= m[0][j] * m[0][j] + m[1][j] * m[1][j] + m[2][j] * m[2][j];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dest[i][j] = cofactor[j][i] * inverse;
        }
    }
    return (int)(*determinant * *determinant > IK2B_PARALLEL * IK2B_PARALLEL * square) &
           (int)(square > 0x1p-900) & (int)(square < 0x1p900);
}

static inline bool
invert(const double m[3][3], double dest[3][3], double *determinant)
{
    return invert_plainly(m, dest, determinant) || d33_invert(m, IK2B_PARALLEL, dest);
}

/* The hinge in the root's frame, at any length, from that in the mid joint's: an axis maps as a
 * cross product does, by the inverse's transpose, and turns round in a mirrored frame. */
IK2B_IN_LINE void
hinge_into_root(joints *self, bool mirrored)
{
    double outer[3];
    for (int i = 0; i < 3; i++) {
        outer[i] = self->mid_inward[0][i] * self->hinge_mid[0] +
                   self->mid_inward[1][i] * self->hinge_mid[1] +
                   self->mid_inward[2][i] * self->hinge_mid[2];
    }
    for (int i = 0; i < 3; i++) {
        double along = self->frame[0][i] * outer[0] + self->frame[1][i] * outer[1] +
                       self->frame[2][i] * outer[2];
        self->hinge_root[i] = mirrored ? -along : along;
    }
}

/* The bones in both frames, unscaled. */
IK2B_IN_LINE void
bones_in_frames(const pose *given, joints *self)
{
    double upper[3], lower[3], line[3];
    d3_sub(given->mid_at, given->root_at, upper);
    d3_sub(given->end, given->mid_at, lower);
    d3_sub(given->end, given->root_at, line);
    d33_apply(self->inward, upper, self->upper);
    d33_apply(self->inward, lower, self->lower);
    d33_apply(self->inward, line, self->end);
    d33_apply(self->mid_inward, upper, self->upper_mid);
    d33_apply(self->mid_inward, lower, self->lower_mid);
}

IK2B_IN_LINE void
seen_from_root_plainly(const joints *self, const double from[3], const double to[3], double dest[3])
{
    double between[3];
    d3_sub(to, from, between);
    d33_apply(self->inward, between, dest);
}

/* Lane k of a tile, joints without scales of their own; 0: not finite in the last rows. */
IK2B_IN_LINE int
pose_of_lane(const matrices *root, const matrices *mid, const double end[3][IK2B_LANES], int k,
             pose *dest)
{
    for (int i = 0; i < 3; i++) {
        dest->end[i] = end[i][k];
    }
    return matrix_of_lane(root, k, dest->root, dest->root_at) &
           matrix_of_lane(mid, k, dest->mid, dest->mid_at);
}

/* The limb of joints without scales of their own; 0: not plain, *self is void. */
IK2B_IN_LINE int
joints_find_plainly(const pose *given, const double hinge[3], joints *self)
{
    double determinant, mid_determinant;
    memcpy(self->frame, given->root, sizeof self->frame);
    memcpy(self->mid_frame, given->mid, sizeof self->mid_frame);
    int good = invert_plainly(self->frame, self->inward, &determinant) &
               invert_plainly(self->mid_frame, self->mid_inward, &mid_determinant);
    bones_in_frames(given, self);
    d3_copy(hinge, self->hinge_mid);
    hinge_into_root(self, determinant * mid_determinant < 0.0);
    self->scale = 1.0;
    return good;
}

/* The limb in the root's frame; false where a matrix is singular or a bone has no length. */
static inline bool
joints_find(const pose *given, const double hinge[3], joints *self)
{
    const double *s = given->mid_scale;
    double determinant, mid_determinant;
    if (!remove_scale(given->root, given->root_scale, self->frame) ||
        !remove_scale(given->mid, given->mid_scale, self->mid_frame) ||
        !invert(self->frame, self->inward, &determinant) ||
        !invert(self->mid_frame, self->mid_inward, &mid_determinant)) {
        return false;
    }
    bones_in_frames(given, self);
    double largest = larger(d3_largest(self->upper), d3_largest(self->lower));
    if (d3_is_zero(self->upper) || d3_is_zero(self->lower) || !isfinite(largest)) {
        return false;
    }
    self->scale = power_of_two_under(largest);
    double *bones[5] = {self->upper, self->lower, self->end, self->upper_mid, self->lower_mid};
    for (int i = 0; i < 5; i++) {
        d3_scale(bones[i], self->scale, bones[i]);
    }
    self->hinge_mid[0] = s[1] * s[2] * hinge[0];
    self->hinge_mid[1] = s[2] * s[0] * hinge[1];
    self->hinge_mid[2] = s[0] * s[1] * hinge[2];
    hinge_into_root(self, (determinant < 0.0) != (mid_determinant < 0.0));
    return true;
}

#endif
