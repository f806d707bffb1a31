/* SPDX-License-Identifier: MIT
 *
 * Affine transforms: a single matrix, stored row by row, or sixteen in lanes, stored column by
 * column. Sixteen local transforms T(translation) R(rotation) S(scale): of sixteen joints of one
 * skeleton, or of one joint of sixteen skeletons.
 */
#ifndef IK2B_LOCAL_H
#define IK2B_LOCAL_H

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

/* The number of tiles whose numbers are collected before the first of them is used. A tile that is
 * used at once would wait until its copy has reached the cache. */
#define IK2B_AHEAD 8

/* The places of some tiles of the arguments, in bytes: `first` is the offset of the first lane of
 * the first tile from the array's data, `lane` the stride from lane to lane, `tile` that from tile
 * to tile. */
typedef struct {
    int lanes, tiles;
    ptrdiff_t first[IK2B_AGGREGATE_COUNT], lane[IK2B_AGGREGATE_COUNT], tile[IK2B_AGGREGATE_COUNT];
} tile_places;

/* The packed numbers of up to IK2B_AHEAD tiles. */
typedef struct {
    _Alignas(64) double translation[IK2B_AHEAD][3 * IK2B_LANES];
    double rotation[IK2B_AHEAD][4 * IK2B_LANES], scale[IK2B_AHEAD][3 * IK2B_LANES];
} local_numbers;

/* Packs rows of `width` numbers without conversion. Inlined: callers pass constant `kind` and
 * `width`. */
IK2B_IN_LINE void
collect_known(const ik2b_array *array, const tile_places *places, int which, ik2b_kind kind,
              int width, char *dest)
{
    const ptrdiff_t size = size_of_kind(kind), row = width * size, tile = places->tile[which];
    const ptrdiff_t pitch = width * IK2B_LANES * (ptrdiff_t)sizeof(double);
    const char *from = array->data + places->first[which];
    if (array->inner[0] == size && places->lane[which] == row && places->tiles == 1) {
        memcpy(dest, from, (size_t)(places->lanes * row));
        return;
    }
    for (int k = 0; k < places->lanes; k++, from += places->lane[which], dest += row) {
        if (array->inner[0] == size) {
            if (places->tiles == IK2B_AHEAD)
                copy_strided(from, tile, dest, pitch, IK2B_AHEAD, (size_t)row);
            else
                copy_strided(from, tile, dest, pitch, places->tiles, (size_t)row);
            continue;
        }
        for (int i = 0; i < width; i++) {
            copy_strided(from + i * array->inner[0], tile, dest + i * size, pitch, places->tiles,
                         (size_t)size);
        }
    }
}

/* Inlined: callers pass a constant `width`. */
IK2B_IN_LINE void
collect(const ik2b_array *array, const tile_places *places, int which, int width, double dest[])
{
    if (array->data && array->kind == IK2B_F32) {
        collect_known(array, places, which, IK2B_F32, width, (char *)dest);
    }
    else if (array->data) {
        collect_known(array, places, which, IK2B_F64, width, (char *)dest);
    }
}

static inline void
collect_numbers(const ik2b_array *args, const tile_places *places, local_numbers *dest)
{
    const int translation = IK2B_AGGREGATE_TRANSLATION, rotation = IK2B_AGGREGATE_ROTATION,
              scale = IK2B_AGGREGATE_SCALE;
    if (places->lanes < IK2B_LANES) {
        size_t tiles = (size_t)places->tiles;
        memset(dest->translation, 0, tiles * sizeof *dest->translation);
        memset(dest->rotation, 0, tiles * sizeof *dest->rotation);
        memset(dest->scale, 0, tiles * sizeof *dest->scale);
    }
    collect(&args[translation], places, translation, 3, dest->translation[0]);
    collect(&args[rotation], places, rotation, 4, dest->rotation[0]);
    collect(&args[scale], places, scale, 3, dest->scale[0]);
}

/* The rotation matrices of quaternions of any length; a zero quaternion is the identity. */
IK2B_IN_LINE void
rotation_lanes(double wxyz[4][IK2B_LANES], affine_lanes *dest)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        double m[3][3], w = wxyz[0][k], x = wxyz[1][k], y = wxyz[2][k], z = wxyz[3][k];
        double largest = larger(larger(fabs(x), fabs(y)), larger(fabs(z), fabs(w)));
        double scale = power_of_two_under(largest);
        double q[4] = {largest == 0.0 ? 1.0 : w * scale, x * scale, y * scale, z * scale};
        d4_matrix(q, 2.0 / (q[1] * q[1] + q[2] * q[2] + q[3] * q[3] + q[0] * q[0]), m);
        for (int i = 0; i < 9; i++) {
            dest->of[i][k] = m[i % 3][i / 3];
        }
    }
}

IK2B_IN_LINE void
scale_lanes(double scale[3][IK2B_LANES], affine_lanes *m)
{
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        for (int i = 0; i < 3; i++) {
            m->of[i][k] *= scale[0][k];
            m->of[3 + i][k] *= scale[1][k];
            m->of[6 + i][k] *= scale[2][k];
        }
    }
}

/* The local transforms of one of the collected tiles. */
IK2B_IN_LINE void
find_locals(const ik2b_array *args, local_numbers *numbers, int tile, affine_lanes *dest)
{
    const ik2b_array *scale = &args[IK2B_AGGREGATE_SCALE];
    _Alignas(64) double wxyz[4][IK2B_LANES], scales[3][IK2B_LANES];
    move_rows(numbers->rotation[tile], args[IK2B_AGGREGATE_ROTATION].kind, 4, wxyz, 1, false);
    rotation_lanes(wxyz, dest);
    if (scale->data) {
        move_rows(numbers->scale[tile], scale->kind, 3, scales, 1, false);
        scale_lanes(scales, dest);
    }
    move_rows(numbers->translation[tile], args[IK2B_AGGREGATE_TRANSLATION].kind, 3, dest->of + 9, 1,
              false);
}

#endif
