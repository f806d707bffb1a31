/* SPDX-License-Identifier: MIT
 *
 * Packed rows into a tile and out, by the build that the processor has.
 */
#include "packed.h"

IK2B_BUILDS(unpacker, unpack_rows,
            (const char *data, ik2b_kind kind, int width, double dest[][IK2B_LANES], int step),
            (data, kind, width, dest, step))

void
ik2b_unpack(const ik2b_array *array, int width, double dest[][IK2B_LANES])
{
    unpacker()(array->data, array->kind, width, dest, 1);
}

IK2B_BUILDS(packer, pack_rows,
            (const double source[][IK2B_LANES], int step, ik2b_kind kind, int width, char *data),
            (source, step, kind, width, data))

void
ik2b_pack(const double source[][IK2B_LANES], int width, const ik2b_array *array)
{
    packer()(source, 1, array->kind, width, array->data);
}
