/* SPDX-License-Identifier: MIT
 *
 * Sixteen 4 x 4 matrices into a tile and out.
 */
#ifndef IK2B_MATRICES_H
#define IK2B_MATRICES_H

#include "real.h"
#include "tile.h"

/* Element e of matrix k at [e][k]; on the way there at [k][e], where they come as whole rows. */
typedef struct {
    _Alignas(64) real element[16][IK2B_LANES];
    bool by_rows;
} matrices;

/* Whether a tile holds this array's numbers as they are. */
static inline bool
fits_matrices(const ik2b_array *array)
{
    return array->kind == IK2B_KIND || IK2B_KIND == IK2B_F64;
}

static inline void
load_matrices(const ik2b_array *array, int last, int count, matrices *self)
{
    ptrdiff_t stride = array->stride[last], size = sizeof(real);
    self->by_rows = count == IK2B_LANES && array->kind == IK2B_KIND && array->inner[1] == size &&
                    array->inner[0] == 4 * size;
    for (int k = 0; self->by_rows && k < IK2B_LANES; k++) {
        memcpy(self->element[k], array->data + k * stride, sizeof self->element[k]);
    }
    for (int e = 0; !self->by_rows && e < 16; e++) {
        const char *place = array->data + e / 4 * array->inner[0] + e % 4 * array->inner[1];
        for (int k = 0; k < count; k++) {
            self->element[e][k] = (real)load_element(array, place + k * stride);
        }
    }
}

/* One perfect shuffle of 256 numbers: the index's bits go round by one. */
IK2B_IN_LINE void
shuffle_matrices(const real *restrict from, real *restrict to)
{
    for (int i = 0; i < 8 * IK2B_LANES; i++) {
        to[2 * i] = from[i];
        to[2 * i + 1] = from[i + 8 * IK2B_LANES];
    }
}

/* To [e][k]: four shuffles exchange the halves of the index, and compilers make vector instructions
 * of them. */
IK2B_IN_LINE void
transpose_matrices(matrices *self)
{
    _Alignas(64) real other[16][IK2B_LANES];
    if (self->by_rows) {
        shuffle_matrices(self->element[0], other[0]);
        shuffle_matrices(other[0], self->element[0]);
        shuffle_matrices(self->element[0], other[0]);
        shuffle_matrices(other[0], self->element[0]);
    }
}

/* The affine part of matrix k; 0 where the last row is not finite. */
IK2B_IN_LINE int
matrix_of_lane(const matrices *self, int k, double linear[3][3], double translation[3])
{
    real bottom = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            linear[i][j] = (double)self->element[4 * i + j][k];
        }
        translation[i] = (double)self->element[4 * i + 3][k];
    }
    for (int j = 0; j < 4; j++) {
        bottom += self->element[12 + j][k] - self->element[12 + j][k];
    }
    return bottom == 0;
}

#endif
