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

void
ik2b_step(ik2b_array *args, int count, int dimension, ptrdiff_t rows)
{
    for (int i = 0; i < count; i++) {
        if (args[i].data) {
            args[i].data += args[i].stride[dimension] * rows;
        }
    }
}

bool
ik2b_walk_next(ik2b_walk *walk)
{
    for (int d = walk->extent->count - 1; d >= 0; d--) {
        if (++walk->index[d] < walk->extent->shape[d]) {
            ik2b_step(walk->args, walk->count, d, 1);
            return true;
        }
        ik2b_step(walk->args, walk->count, d, 1 - walk->extent->shape[d]);
        walk->index[d] = 0;
    }
    return false;
}

static bool
can_join(const ik2b_extent *extent, const ik2b_array *args, int count, int d)
{
    for (int i = 0; i < count; i++) {
        if (args[i].data && args[i].stride[d] != args[i].stride[d + 1] * extent->shape[d + 1]) {
            return false;
        }
    }
    return true;
}

/* Joins dimensions d and d + 1 into one. */
static void
join(ik2b_extent *extent, ik2b_array *args, int count, int d)
{
    extent->shape[d] *= extent->shape[d + 1];
    extent->count--;
    size_t rest = (size_t)(extent->count - d);
    memmove(&extent->shape[d + 1], &extent->shape[d + 2], (rest - 1) * sizeof *extent->shape);
    for (int i = 0; i < count; i++) {
        memmove(&args[i].stride[d], &args[i].stride[d + 1], rest * sizeof *args[i].stride);
    }
}

static void
exchange(ptrdiff_t *a, ptrdiff_t *b)
{
    ptrdiff_t kept = *a;
    *a = *b;
    *b = kept;
}

void
ik2b_straighten(ik2b_extent *extent, ik2b_array *args, int count)
{
    int last, longest = 0;
    for (int d = extent->count - 2; d >= 0; d--) {
        if (can_join(extent, args, count, d)) {
            join(extent, args, count, d);
        }
    }
    last = extent->count - 1;
    for (int d = 0; d <= last; d++) {
        longest = extent->shape[d] >= extent->shape[longest] ? d : longest;
    }
    if (longest == last || last < 0) {
        return;
    }
    exchange(&extent->shape[longest], &extent->shape[last]);
    for (int i = 0; i < count; i++) {
        if (args[i].data) {
            exchange(&args[i].stride[longest], &args[i].stride[last]);
        }
    }
}
