/* SPDX-License-Identifier: MIT
 *
 * Affine transforms: a single matrix, stored row by row, or sixteen in lanes, stored column by
 * column.
 */
#ifndef IK2B_AFFINE_H
#define IK2B_AFFINE_H

#include "tile.h"

/* A 4 x 4 matrix whose last row is 0 0 0 1. */
typedef double affine[16];

/* Element i of column j of sixteen affine transforms is of[3 * j + i]. It is aligned to cache
 * lines: a vector of 64 bytes that straddles two lines takes twice as long. */
typedef struct {
    _Alignas(64) double of[12][IK2B_LANES];
} affine_lanes;

/* dest = a * b. `b` points to three rows of four numbers, `pitch` numbers apart. `dest` may be `a`
 * but must not overlap `b`; its last row stays as it is. */
IK2B_IN_LINE void
affine_multiply(const affine a, const double *restrict b, ptrdiff_t pitch, affine dest)
{
    for (int i = 0; i < 12; i += 4) {
        double x = a[i], y = a[i + 1], z = a[i + 2], at = a[i + 3];
        IK2B_LANE_LOOP
        for (int j = 0; j < 4; j++) {
            dest[i + j] = x * b[j] + y * b[pitch + j] + z * b[2 * pitch + j];
        }
        dest[i + 3] += at;
    }
}

/* dest = a * b in each lane; `dest` must overlap neither. */
IK2B_IN_LINE void
affine_multiply_lanes(const affine_lanes *a, const affine_lanes *b, affine_lanes *dest)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        double right[12];
        for (int i = 0; i < 12; i++) {
            right[i] = b->of[i][k];
        }
        for (int i = 0; i < 3; i++) {
            double x = a->of[i][k], y = a->of[3 + i][k], z = a->of[6 + i][k], at = a->of[9 + i][k];
            dest->of[i][k] = x * right[0] + y * right[1] + z * right[2];
            dest->of[3 + i][k] = x * right[3] + y * right[4] + z * right[5];
            dest->of[6 + i][k] = x * right[6] + y * right[7] + z * right[8];
            dest->of[9 + i][k] = x * right[9] + y * right[10] + z * right[11] + at;
        }
    }
}

/* As affine_multiply_lanes, with one matrix `b`, stored row by row, for all lanes. */
IK2B_IN_LINE void
affine_multiply_lanes_by(const affine_lanes *a, const affine b, affine_lanes *dest)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        for (int i = 0; i < 3; i++) {
            double x = a->of[i][k], y = a->of[3 + i][k], z = a->of[6 + i][k], at = a->of[9 + i][k];
            dest->of[i][k] = x * b[0] + y * b[4] + z * b[8];
            dest->of[3 + i][k] = x * b[1] + y * b[5] + z * b[9];
            dest->of[6 + i][k] = x * b[2] + y * b[6] + z * b[10];
            dest->of[9 + i][k] = x * b[3] + y * b[7] + z * b[11] + at;
        }
    }
}

/* The transform at `offset` bytes from the array's data; the identity if the array is missing. The
 * last row in memory is ignored: `dest` gets 0 0 0 1. */
IK2B_APART void
load_affine(const ik2b_array *array, ptrdiff_t offset, affine dest)
{
    static const affine identity = {[0] = 1.0, [5] = 1.0, [10] = 1.0, [15] = 1.0};
    memcpy(dest, identity, sizeof identity);
    if (array->data) {
        load_row(array, array->data + offset, 16, dest);
        memcpy(dest + 12, identity + 12, 4 * sizeof *dest);
    }
}

/* Loads `count` matrices, `stride` bytes apart, into lanes. The other lanes repeat the last
 * matrix. */
IK2B_APART void
load_lanes(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count,
           affine_lanes *dest)
{
    affine m;
    load_affine(array, offset, m);
    for (int k = 0; k < IK2B_LANES; k++) {
        if (0 < k && k < count && stride != 0) {
            load_affine(array, offset + k * stride, m);
        }
        for (int i = 0; i < 12; i++) {
            dest->of[3 * (i % 4) + i / 4][k] = m[i];
        }
    }
}

/* Whether the sixteen numbers of a matrix are contiguous, row by row. */
static inline bool
is_whole(const ik2b_array *array)
{
    ptrdiff_t size = size_of_kind(array->kind);
    return array->inner[1] == size && array->inner[0] == 4 * size;
}

/* Inlined: callers pass a constant `kind`. */
IK2B_IN_LINE void
store_whole(const affine m, ik2b_kind kind, char *place)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int i = 0; i < 16; i++) {
        write_number(kind, place + i * size, m[i]);
    }
}

IK2B_IN_LINE void
store_affine(const ik2b_array *array, ptrdiff_t offset, const affine m)
{
    if (is_whole(array) && array->kind == IK2B_F32) {
        store_whole(m, IK2B_F32, array->data + offset);
    }
    else if (is_whole(array)) {
        store_whole(m, IK2B_F64, array->data + offset);
    }
    else {
        store_row(array, array->data + offset, 16, m);
    }
}

/* Inlined: callers pass a constant `bytes`. */
IK2B_IN_LINE void
copy_strided(const char *from, ptrdiff_t from_stride, char *to, ptrdiff_t to_stride, int count,
             size_t bytes)
{
    for (int i = 0; i < count; i++) {
        memcpy(to + i * to_stride, from + i * from_stride, bytes);
    }
}

/* Sixteen matrices of the kind of the output: row[i] holds row i of each matrix, which is always
 * 0 0 0 1 for i = 3. */
typedef struct {
    _Alignas(64) double row[4][4 * IK2B_LANES];
} packed_matrices;

static inline void
begin_packed(packed_matrices *self, ik2b_kind kind)
{
    for (int i = 0; i < 4 * IK2B_LANES; i++) {
        write_number(kind, (char *)self->row[3] + i * size_of_kind(kind), i % 4 == 3 ? 1.0 : 0.0);
    }
}

/* Stores `count` packed matrices, `stride` bytes apart, from `place` on. `whole`: the sixteen
 * numbers of a matrix are contiguous. Inlined: callers pass a constant `kind`. */
IK2B_IN_LINE void
store_known_matrices(const packed_matrices *packed, const ik2b_array *array, ik2b_kind kind,
                     char *place, ptrdiff_t stride, int count, bool whole)
{
    const ptrdiff_t size = size_of_kind(kind);
    if (whole) {
        for (int k = 0; k < count; k++) {
            copy_strided((const char *)packed->row[0] + 4 * k * size, sizeof packed->row[0],
                         place + k * stride, 4 * size, 4, (size_t)(4 * size));
        }
        return;
    }
    for (int i = 0; i < 16; i++) {
        copy_strided((const char *)packed->row[i / 4] + i % 4 * size, 4 * size,
                     place + offset_of(array->inner, 16, i), stride, count, (size_t)size);
    }
}

/* Stores `count` lanes as matrices, `stride` bytes apart. `whole`: as in store_known_matrices. */
IK2B_IN_LINE void
store_lanes(affine_lanes *m, packed_matrices *packed, const ik2b_array *array, ptrdiff_t offset,
            ptrdiff_t stride, int count, bool whole)
{
    char *place = array->data + offset;
    for (int i = 0; i < 3; i++) {
        move_rows(packed->row[i], array->kind, 4, m->of + i, 3, true);
    }
    if (array->kind == IK2B_F32) {
        store_known_matrices(packed, array, IK2B_F32, place, stride, count, whole);
    }
    else {
        store_known_matrices(packed, array, IK2B_F64, place, stride, count, whole);
    }
}

#endif
