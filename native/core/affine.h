/* SPDX-License-Identifier: MIT
 *
 * Affine transforms: one as a matrix row by row, or sixteen in lanes column by column.
 */
#ifndef IK2B_AFFINE_H
#define IK2B_AFFINE_H

#include "tile.h"

/* A 4 x 4 matrix whose last row is 0 0 0 1. */
typedef double affine[16];

/* Element i of column j at [3 * j + i]. On whole lines of the cache: vectors of sixty-four bytes
 * that lie across two of them cost twice. */
typedef struct {
    _Alignas(64) double of[12][IK2B_LANES];
} affine_lanes;

static inline void
affine_identity(affine dest)
{
    memset(dest, 0, sizeof(affine));
    dest[0] = dest[5] = dest[10] = dest[15] = 1.0;
}

/* b is three rows of four numbers, so far from each other. dest may be a, must not meet b, and
 * keeps its last row. */
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

/* The same in each lane; dest must meet neither. */
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

/* The same with one b for all lanes, row by row. */
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

/* Of a matrix whose last row is not looked at; identity where the array is missing. */
static void
load_affine(const ik2b_array *array, ptrdiff_t offset, affine dest)
{
    affine_identity(dest);
    for (int i = 0; array->data && i < 3; i++) {
        const char *row = array->data + offset + i * array->inner[0];
        for (int j = 0; j < 4; j++) {
            dest[4 * i + j] = load_element(array, row + j * array->inner[1]);
        }
    }
}

/* The same in all lanes. */
IK2B_IN_LINE void
spread_affine(const affine m, affine_lanes *dest)
{
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 3; i++) {
            IK2B_LANE_LOOP
            for (int k = 0; k < IK2B_LANES; k++) {
                dest->of[3 * j + i][k] = m[4 * i + j];
            }
        }
    }
}

/* Reads one element of `count` rows. */
static inline void
gather(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count, double dest[])
{
    const char *place = array->data + offset;
    if (array->kind == IK2B_F32) {
        for (int k = 0; k < count; k++) {
            dest[k] = read_number(IK2B_F32, place + k * stride);
        }
        return;
    }
    for (int k = 0; k < count; k++) {
        dest[k] = read_number(IK2B_F64, place + k * stride);
    }
}

/* Matrices of `count` lanes, so many bytes from each other. */
static void
gather_affine(const ik2b_array *array, ptrdiff_t offset, ptrdiff_t stride, int count,
              affine_lanes *dest)
{
    memset(dest, 0, sizeof *dest);
    for (int j = 0; j < 4; j++) {
        for (int i = 0; i < 3; i++) {
            gather(array, offset + i * array->inner[0] + j * array->inner[1], stride, count,
                   dest->of[3 * j + i]);
        }
    }
}

/* Whether the sixteen numbers of a matrix lie one behind the other. */
static inline bool
is_whole(const ik2b_array *array)
{
    ptrdiff_t size = size_of_kind(array->kind);
    return array->inner[1] == size && array->inner[0] == 4 * size;
}

/* In line with a constant kind. */
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
        for (int i = 0; i < 16; i++) {
            ptrdiff_t element = i / 4 * array->inner[0] + i % 4 * array->inner[1];
            store_element(array, array->data + offset + element, m[i]);
        }
    }
}

/* Twelve numbers of sixteen matrices, packed by their rows. */
typedef struct {
    _Alignas(64) double row[3][4 * IK2B_LANES];
} packed_matrices;

IK2B_IN_LINE void
pack_matrices(affine_lanes *m, ik2b_kind kind, packed_matrices *dest)
{
    for (int i = 0; i < 3; i++) {
        pack_rows(m->of + i, 3, kind, 4, (char *)dest->row[i]);
    }
}

/* Whole matrices of `count` lanes, so many bytes from each other; in line with a constant kind. */
IK2B_IN_LINE void
store_known_matrices(const packed_matrices *packed, ik2b_kind kind, char *place, ptrdiff_t stride,
                     int count)
{
    static const double last[4] = {0.0, 0.0, 0.0, 1.0};
    static const float last_single[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    const size_t row = 4 * (size_t)size_of_kind(kind);
    for (size_t k = 0; k < (size_t)count; k++, place += stride) {
        for (size_t i = 0; i < 3; i++) {
            memcpy(place + i * row, (const char *)packed->row[i] + k * row, row);
        }
        memcpy(place + 3 * row, kind == IK2B_F32 ? (const void *)last_single : last, row);
    }
}

IK2B_IN_LINE void
store_matrices(const packed_matrices *packed, ik2b_kind kind, char *place, ptrdiff_t stride,
               int count)
{
    if (kind == IK2B_F32) {
        store_known_matrices(packed, IK2B_F32, place, stride, count);
    }
    else {
        store_known_matrices(packed, IK2B_F64, place, stride, count);
    }
}

/* Copies one number each of `count` rows; in line with a constant kind. */
IK2B_IN_LINE void
copy_numbers(const char *from, ptrdiff_t from_stride, char *to, ptrdiff_t to_stride, ik2b_kind kind,
             int count)
{
    for (int k = 0; k < count; k++) {
        memcpy(to + k * to_stride, from + k * from_stride, (size_t)size_of_kind(kind));
    }
}

/* The same where the numbers of a matrix do not lie one behind the other. */
static void
scatter_matrices(const packed_matrices *packed, const ik2b_array *array, ptrdiff_t offset,
                 ptrdiff_t stride, int count)
{
    const ptrdiff_t size = size_of_kind(array->kind);
    double last[2];
    write_number(array->kind, (char *)&last[0], 0.0);
    write_number(array->kind, (char *)&last[1], 1.0);
    for (int e = 0; e < 16; e++) {
        char *to = array->data + offset + e / 4 * array->inner[0] + e % 4 * array->inner[1];
        const char *from =
            e < 12 ? (const char *)packed->row[e / 4] + e % 4 * size : (const char *)&last[e == 15];
        ptrdiff_t from_stride = e < 12 ? 4 * size : 0;
        if (array->kind == IK2B_F32) {
            copy_numbers(from, from_stride, to, stride, IK2B_F32, count);
        }
        else {
            copy_numbers(from, from_stride, to, stride, IK2B_F64, count);
        }
    }
}

#endif
