/* SPDX-License-Identifier: MIT
 *
 * Sixteen rows of three or four numbers that lie one behind the other, into a tile and out. The
 * compiler knows where each number lies and makes vector instructions of the loops.
 */
#ifndef IK2B_PACKED_H
#define IK2B_PACKED_H

#include "builds.h"
#include "rows.h"

#define IK2B_LANES 16

IK2B_IN_LINE ptrdiff_t
size_of_kind(ik2b_kind kind)
{
    return kind == IK2B_F32 ? (ptrdiff_t)sizeof(float) : (ptrdiff_t)sizeof(double);
}

/* Whether these rows are sixteen, of `width` numbers, one behind the other. */
static inline bool
is_packed(const ik2b_array *array, ptrdiff_t stride, int count, int width)
{
    ptrdiff_t size = size_of_kind(array->kind);
    return count == IK2B_LANES && array->inner[0] == size && stride == width * size;
}

/* Number i of row k to dest[i * step][k]; in line with constant kind and width. */
IK2B_IN_LINE void
unpack_known(const char *data, ik2b_kind kind, int width, double dest[][IK2B_LANES], int step)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        const char *row = data + k * width * size;
        dest[0][k] = read_number(kind, row);
        dest[step][k] = read_number(kind, row + size);
        dest[2 * step][k] = read_number(kind, row + 2 * size);
        if (width == 4) {
            dest[3 * step][k] = read_number(kind, row + 3 * size);
        }
    }
}

IK2B_IN_LINE void
unpack_rows(const char *data, ik2b_kind kind, int width, double dest[][IK2B_LANES], int step)
{
    if (kind == IK2B_F32) {
        unpack_known(data, IK2B_F32, width, dest, step);
    }
    else {
        unpack_known(data, IK2B_F64, width, dest, step);
    }
}

/* source[i * step][k] to number i of row k; in line with constant kind and width. */
IK2B_IN_LINE void
pack_known(const double source[][IK2B_LANES], int step, ik2b_kind kind, int width, char *data)
{
    const ptrdiff_t size = size_of_kind(kind);
    IK2B_LANE_LOOP
    for (int k = 0; k < IK2B_LANES; k++) {
        char *row = data + k * width * size;
        write_number(kind, row, source[0][k]);
        write_number(kind, row + size, source[step][k]);
        write_number(kind, row + 2 * size, source[2 * step][k]);
        if (width == 4) {
            write_number(kind, row + 3 * size, source[3 * step][k]);
        }
    }
}

IK2B_IN_LINE void
pack_rows(const double source[][IK2B_LANES], int step, ik2b_kind kind, int width, char *data)
{
    if (kind == IK2B_F32) {
        pack_known(source, step, IK2B_F32, width, data);
    }
    else {
        pack_known(source, step, IK2B_F64, width, data);
    }
}

/* The same by the build that the processor has; width is 3 or 4. */
void ik2b_unpack(const ik2b_array *array, int width, double dest[][IK2B_LANES]);
void ik2b_pack(const double source[][IK2B_LANES], int width, const ik2b_array *array);

#endif
