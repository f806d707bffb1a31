/* SPDX-License-Identifier: MIT
 *
 * Rows into tiles and out, and tiles over all rows.
 */
#include "tile.h"

#include <cglm/mat4.h>

IK2B_BUILDS(unpacker, unpack_rows, (const char *data, ik2b_kind kind, int width, lane dest[]),
            (data, kind, width, dest, 1))
IK2B_BUILDS(packer, pack_rows, (lane source[], ik2b_kind kind, int width, char *data),
            (source, 1, kind, width, data))

/* Whether these rows are sixteen, of `width` numbers, one behind the other. */
static bool
is_packed(const ik2b_array *array, ptrdiff_t stride, int count, int width)
{
    ptrdiff_t size = size_of_kind(array->kind);
    return count == IK2B_LANES && width >= 3 && array->inner[0] == size && stride == width * size;
}

/* Lanes beyond the rows repeat the last one. */
static void
pad(lane dest, int count)
{
    for (int k = count; k < IK2B_LANES; k++) {
        dest[k] = dest[count - 1];
    }
}

void
ik2b_store(const ik2b_array *array, int last, int count, int width, lane source[])
{
    ptrdiff_t stride = array->stride[last];
    if (is_packed(array, stride, count, width)) {
        packer()(source, array->kind, width, array->data);
        return;
    }
    for (int i = 0; i < width; i++) {
        char *place = array->data + i * array->inner[0];
        for (int k = 0; k < count; k++) {
            write_number(array->kind, place + k * stride, source[i][k]);
        }
    }
}

void
ik2b_store_status(const ik2b_array *array, int last, int count, const lane source)
{
    for (int k = 0; k < count; k++) {
        *(unsigned char *)(array->data + k * array->stride[last]) = (unsigned char)source[k];
    }
}

/* Matrices */

/* One perfect shuffle of 256 numbers: the index's bits go round by one. */
IK2B_IN_LINE void
shuffle_double(const double *restrict from, double *restrict to)
{
    IK2B_LANE_LOOP
    for (int i = 0; i < 128; i++) {
        to[2 * i] = from[i];
        to[2 * i + 1] = from[i + 128];
    }
}

/* Number e of matrix k to dest[e][k]; the stride is in bytes. The same row of four matrices makes a
 * matrix for cglm, whose transpose is in vector instructions of SSE2 or NEON. */
IK2B_IN_LINE void
transpose_single(const char *data, ptrdiff_t stride, lane dest[16])
{
    _Alignas(64) float numbers[16][IK2B_LANES];
    for (int row = 0; row < 4; row++) {
        for (int first = 0; first < IK2B_LANES; first += 4) {
            mat4 block;
            for (int k = 0; k < 4; k++) {
                const char *place = data + (first + k) * stride;
                memcpy(block[k], place + row * (ptrdiff_t)sizeof *block, sizeof *block);
            }
            glm_mat4_transpose(block);
            for (int i = 0; i < 4; i++) {
                memcpy(&numbers[4 * row + i][first], block[i], sizeof *block);
            }
        }
    }
    for (int e = 0; e < 16; e++) {
        IK2B_LANE_LOOP
        for (int k = 0; k < IK2B_LANES; k++) {
            dest[e][k] = (double)numbers[e][k];
        }
    }
}

/* Number 16 * k + e to dest[e][k]: four shuffles exchange the halves of the index, and compilers
 * make vector instructions of them. */
IK2B_IN_LINE void
transpose_double(double *restrict from, double *restrict other, lane dest[16])
{
    shuffle_double(from, other);
    shuffle_double(other, from);
    shuffle_double(from, other);
    shuffle_double(other, from);
    memcpy(dest, from, 16 * sizeof *dest);
}

IK2B_BUILDS(single_transposer, transpose_single,
            (const char *data, ptrdiff_t stride, lane dest[16]), (data, stride, dest))
IK2B_BUILDS(double_transposer, transpose_double, (double *from, double *other, lane dest[16]),
            (from, other, dest))

/* One matrix whose numbers lie one behind the other. */
static void
load_matrix(ik2b_kind kind, const char *data, int k, lane dest[16])
{
    for (int e = 0; e < 16; e++) {
        dest[e][k] = kind == IK2B_F32 ? read_number(IK2B_F32, data + e * size_of_kind(IK2B_F32))
                                      : read_number(IK2B_F64, data + e * size_of_kind(IK2B_F64));
    }
}

static void
load_matrices(const ik2b_array *array, int last, int count, lane dest[16])
{
    ptrdiff_t stride = array->stride[last], size = size_of_kind(array->kind);
    bool whole = array->inner[1] == size && array->inner[0] == 4 * size;
    if (whole && count == IK2B_LANES && array->kind == IK2B_F32) {
        single_transposer()(array->data, stride, dest);
        return;
    }
    if (whole && count == IK2B_LANES) {
        _Alignas(64) double rows[256], other[256];
        for (int k = 0; k < IK2B_LANES; k++) {
            memcpy(rows + 16 * k, array->data + k * stride, 16 * sizeof *rows);
        }
        double_transposer()(rows, other, dest);
        return;
    }
    if (whole && count <= IK2B_FEW) {
        for (int k = 0; k < count; k++) {
            load_matrix(array->kind, array->data + k * stride, k, dest);
        }
        return;
    }
    for (int e = 0; e < 16; e++) {
        gather(array, e / 4 * array->inner[0] + e % 4 * array->inner[1], stride, count, dest[e]);
        pad(dest[e], count);
    }
}

void
ik2b_load(const ik2b_array *array, int last, int count, int width, lane dest[])
{
    if (width < 16 && is_packed(array, array->stride[last], count, width)) {
        unpacker()(array->data, array->kind, width, dest);
        return;
    }
    if (width == 16) {
        load_matrices(array, last, count, dest);
        return;
    }
    for (int i = 0; i < width; i++) {
        gather(array, i * array->inner[0], array->stride[last], count, dest[i]);
        pad(dest[i], count);
    }
}

/* From `rows` on along the last dimension, and back again for -rows. */
static void
shift_rows(ik2b_array *args, const ik2b_tiling *tiling, int last, ptrdiff_t rows)
{
    for (int i = 0; i < tiling->arguments; i++) {
        if (args[i].data) {
            args[i].data += rows * args[i].stride[last];
        }
    }
}

static void
run_rows(ik2b_array *args, const ik2b_tiling *tiling, int last, int count)
{
    for (int k = 0; k < count; k++) {
        tiling->run_row(args, tiling->tile);
        shift_rows(args, tiling, last, 1);
    }
}

void
ik2b_run_tiles(const ik2b_extent *given, ik2b_array *args, const ik2b_tiling *tiling)
{
    ik2b_walk walk;
    ik2b_extent extent = *given;
    ik2b_straighten(&extent, args, tiling->arguments);
    if (extent.count == 0) { /* a single row: as one of a dimension without strides */
        extent.shape[extent.count++] = 1;
        for (int i = 0; i < tiling->arguments; i++) {
            args[i].stride[0] = 0;
        }
    }
    int last = --extent.count;
    ptrdiff_t rows = extent.shape[last];
    if (rows == 0 || !ik2b_walk_start(&walk, &extent, args, tiling->arguments)) {
        return;
    }
    do {
        for (ptrdiff_t row = 0; row < rows; row += IK2B_LANES) {
            int count = rows - row < IK2B_LANES ? (int)(rows - row) : IK2B_LANES;
            if (count <= IK2B_FEW && tiling->run_row) {
                run_rows(args, tiling, last, count);
                continue;
            }
            *tiling->rows = count;
            tiling->load(args, last, tiling->tile);
            tiling->run(tiling->tile);
            tiling->store(args, last, tiling->tile);
            shift_rows(args, tiling, last, count);
        }
        shift_rows(args, tiling, last, -rows);
    } while (ik2b_walk_next(&walk));
}
