/* SPDX-License-Identifier: MIT
 *
 * Aggregate transforms of skeletons, and products of quaternions.
 */
#include "rows.h"

/* Affine transforms as twelve numbers, row by row: three of linear part, one of translation. */

static void
affine_identity(double dest[12])
{
    memset(dest, 0, 12 * sizeof *dest);
    dest[0] = dest[5] = dest[10] = 1.0;
}

/* dest may be a, and must not meet b. */
static inline void
affine_multiply(const double *a, const double *restrict b, double *dest)
{
    for (int i = 0; i < 3; i++) {
        double x = a[4 * i], y = a[4 * i + 1], z = a[4 * i + 2], at = a[4 * i + 3];
        for (int j = 0; j < 4; j++) {
            dest[4 * i + j] = x * b[j] + y * b[4 + j] + z * b[8 + j];
        }
        dest[4 * i + 3] += at;
    }
}

/* One array's element of joint j. */
static inline ik2b_array
of_joint(const ik2b_array *args, const ik2b_joints *joints, int which, ptrdiff_t j)
{
    const ik2b_array *whole = &args[which];
    ik2b_array array; /* without its strides from row to row: they are many */
    array.data = whole->data ? whole->data + j * joints->stride[which] : NULL;
    array.inner[0] = whole->inner[0];
    array.inner[1] = whole->inner[1];
    array.kind = whole->kind;
    return array;
}

static void
load_affine(const ik2b_array *array, double dest[12])
{
    double linear[3][3], translation[3];
    if (!array->data) {
        affine_identity(dest);
        return;
    }
    load_matrix(array, linear, translation);
    for (int i = 0; i < 3; i++) {
        memcpy(dest + 4 * i, linear[i], sizeof linear[i]);
        dest[4 * i + 3] = translation[i];
    }
}

static void
store_affine(const ik2b_array *array, const double m[12])
{
    static const double last[4] = {0.0, 0.0, 0.0, 1.0};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            store_element(array, array->data + i * array->inner[0] + j * array->inner[1],
                          i < 3 ? m[4 * i + j] : last[j]);
        }
    }
}

/* T(translation) R(rotation) S(scale) of one joint. */
static void
local_transform(const ik2b_array *args, const ik2b_joints *joints, ptrdiff_t j, double dest[12])
{
    ik2b_array translation = of_joint(args, joints, IK2B_AGGREGATE_TRANSLATION, j);
    ik2b_array rotation = of_joint(args, joints, IK2B_AGGREGATE_ROTATION, j);
    ik2b_array scale = of_joint(args, joints, IK2B_AGGREGATE_SCALE, j);
    double at[3], wxyz[4], own[3], turned[3][3];
    load_vector(&translation, 3, at);
    load_vector(&rotation, 4, wxyz);
    load_vector_or(&scale, 1.0, own);
    double q[4] = {wxyz[1], wxyz[2], wxyz[3], wxyz[0]};
    d4_matrix(q, turned);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            dest[4 * i + k] = turned[i][k] * own[k];
        }
        dest[4 * i + 3] = at[i];
    }
}

static void
aggregate_row(ik2b_array *args, const ik2b_joints *joints)
{
    double base[12], step[12];
    load_affine(&args[IK2B_AGGREGATE_BASE], base);
    for (ptrdiff_t j = 0; j < joints->count; j++) {
        ptrdiff_t parent = joints->parents[j];
        const double *above = parent < 0 ? base : joints->scratch[parent];
        ik2b_array rest = of_joint(args, joints, IK2B_AGGREGATE_REST, j);
        ik2b_array out = of_joint(args, joints, IK2B_AGGREGATE_OUT, j);
        double *own = joints->scratch[j];
        if (rest.data) {
            load_affine(&rest, step);
            affine_multiply(above, step, own);
            above = own;
        }
        local_transform(args, joints, j, step);
        affine_multiply(above, step, own);
        store_affine(&out, own);
    }
}

void
ik2b_aggregate(const ik2b_extent *extent, ik2b_array *args, const ik2b_joints *joints)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_AGGREGATE_COUNT)) {
        return;
    }
    do {
        aggregate_row(args, joints);
    } while (ik2b_walk_next(&walk));
}

void
ik2b_multiply(const ik2b_extent *extent, ik2b_array *args)
{
    ik2b_walk walk;
    if (!ik2b_walk_start(&walk, extent, args, IK2B_MULTIPLY_COUNT)) {
        return;
    }
    do {
        double q[4], r[4], product[4];
        load_vector(&args[IK2B_MULTIPLY_Q], 4, q);
        load_vector(&args[IK2B_MULTIPLY_R], 4, r);
        double p[4] = {q[1], q[2], q[3], q[0]}, s[4] = {r[1], r[2], r[3], r[0]};
        d4_mul(p, s, product);
        store_quaternion(&args[IK2B_MULTIPLY_OUT], product);
    } while (ik2b_walk_next(&walk));
}
