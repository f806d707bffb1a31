/* SPDX-License-Identifier: MIT
 *
 * Packed rows into a tile and out, each kind and width in a loop of its own.
 */
#include "packed.h"

IK2B_IN_LINE void
unpack(const ik2b_array *array, int width, double dest[][IK2B_LANES])
{
    if (array->kind == IK2B_F32 && width == 3) {
        unpack_rows(array->data, IK2B_F32, 3, dest);
    }
    else if (array->kind == IK2B_F32) {
        unpack_rows(array->data, IK2B_F32, 4, dest);
    }
    else if (width == 3) {
        unpack_rows(array->data, IK2B_F64, 3, dest);
    }
    else {
        unpack_rows(array->data, IK2B_F64, 4, dest);
    }
}

IK2B_BUILDS(unpacker, unpack, (const ik2b_array *array, int width, double dest[][IK2B_LANES]),
            (array, width, dest))

void
ik2b_unpack(const ik2b_array *array, int width, double dest[][IK2B_LANES])
{
    unpacker()(array, width, dest);
}

IK2B_IN_LINE void
pack(const double source[][IK2B_LANES], int width, const ik2b_array *array)
{
    if (array->kind == IK2B_F32 && width == 3) {
        pack_rows(source, IK2B_F32, 3, array->data);
    }
    else if (array->kind == IK2B_F32) {
        pack_rows(source, IK2B_F32, 4, array->data);
    }
    else if (width == 3) {
        pack_rows(source, IK2B_F64, 3, array->data);
    }
    else {
        pack_rows(source, IK2B_F64, 4, array->data);
    }
}

IK2B_BUILDS(packer, pack, (const double source[][IK2B_LANES], int width, const ik2b_array *array),
            (source, width, array))

void
ik2b_pack(const double source[][IK2B_LANES], int width, const ik2b_array *array)
{
    packer()(source, width, array);
}
