/* SPDX-License-Identifier: MIT
 *
 * Walking over rows of strided arrays: an odometer whose last dimension turns fastest.
 */
#include "rows.h"

bool
ik2b_walk_start(ik2b_walk *walk, const ik2b_extent *extent, ik2b_array *args, int count)
{
    walk->extent = extent;
    walk->args = args;
    walk->count = count;
    for (int d = 0; d < extent->count; d++) {
        if (extent->shape[d] == 0) {
            return false;
        }
        walk->index[d] = 0;
    }
    return true;
}

static void
step(ik2b_walk *walk, int dimension, ptrdiff_t rows)
{
    for (int i = 0; i < walk->count; i++) {
        if (walk->args[i].data) {
            walk->args[i].data += walk->args[i].stride[dimension] * rows;
        }
    }
}

bool
ik2b_walk_next(ik2b_walk *walk)
{
    for (int d = walk->extent->count - 1; d >= 0; d--) {
        if (++walk->index[d] < walk->extent->shape[d]) {
            step(walk, d, 1);
            return true;
        }
        step(walk, d, 1 - walk->extent->shape[d]);
        walk->index[d] = 0;
    }
    return false;
}
