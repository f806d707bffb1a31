/* SPDX-License-Identifier: MIT
 *
 * Whether outputs share memory with anything they must not. Ranges are compared first; where they
 * meet (columns interleaved in one array do, without sharing an element) a map of the output's
 * bytes decides exactly.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

#define MAX_AXES (IK2B_MAX_DIMS + 3)

static const unsigned char item_sizes[] = {
    [IK2B_F32] = 4, [IK2B_F64] = 8, [IK2B_U8] = 1, [IK2B_I64] = 8};

/* The elements of one array: each axis with more than one. */
typedef struct {
    const char *data;
    size_t itemsize;
    int count;
    bool empty;
    ptrdiff_t size[MAX_AXES], stride[MAX_AXES];
} layout;

typedef struct {
    const char *low, *high; /* first byte, and the one after the last */
    unsigned char *bits;
} byte_map;

static void
add_axis(layout *self, ptrdiff_t size, ptrdiff_t stride)
{
    self->empty |= size == 0;
    if (size > 1) {
        self->size[self->count] = size;
        self->stride[self->count++] = stride;
    }
}

/* An input that is broadcast is walked once: its stride there is zero. */
static layout
layout_of(const call *self, int i)
{
    const parameter *p = &self->parameters[i];
    const ik2b_array *array = &self->arrays[i];
    layout result; /* large: only as many axes as there are get values */
    result.data = array->data;
    result.count = 0;
    result.empty = false;
    result.itemsize = item_sizes[array->kind];
    for (int d = 0; d < self->extent.count; d++) {
        bool broadcast = p->role != OUTPUT && array->stride[d] == 0;
        add_axis(&result, broadcast ? 1 : self->extent.shape[d], array->stride[d]);
    }
    if (p->joints) {
        add_axis(&result, self->joints, self->arguments[i].joint_stride);
    }
    for (int d = 0; d < p->dims; d++) {
        add_axis(&result, p->size, array->inner[d]);
    }
    return result;
}

static void
range_of(const layout *self, const char **low, const char **high)
{
    *low = *high = self->data;
    for (int a = 0; a < self->count; a++) {
        ptrdiff_t reach = (self->size[a] - 1) * self->stride[a];
        *(reach < 0 ? low : high) += reach;
    }
    *high += self->itemsize;
}

/* Tests the bytes of one element, and marks them where asked to. */
static bool
touch_element(byte_map *map, const char *element, size_t itemsize, bool mark)
{
    for (size_t b = 0; b < itemsize; b++) {
        const char *byte = element + b;
        if (byte < map->low || byte >= map->high) {
            continue;
        }
        size_t at = (size_t)(byte - map->low);
        unsigned char bit = (unsigned char)(1u << (at & 7));
        if (map->bits[at >> 3] & bit) {
            return true;
        }
        if (mark) {
            map->bits[at >> 3] |= bit;
        }
    }
    return false;
}

/* Whether any element from this axis on was marked before. */
static bool
touch(byte_map *map, const layout *self, int axis, const char *at, bool mark)
{
    if (axis == self->count) {
        return touch_element(map, at, self->itemsize, mark);
    }
    for (ptrdiff_t i = 0; i < self->size[axis]; i++) {
        if (touch(map, self, axis + 1, at + i * self->stride[axis], mark)) {
            return true;
        }
    }
    return false;
}

static inline ptrdiff_t
magnitude(ptrdiff_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Whether each axis steps over all that smaller ones reach: then no two elements can meet. */
static bool
is_nested(const layout *self)
{
    bool used[MAX_AXES] = {false};
    ptrdiff_t reach = (ptrdiff_t)self->itemsize;
    for (int k = 0; k < self->count; k++) {
        int least = -1;
        for (int a = 0; a < self->count; a++) {
            if (!used[a] &&
                (least < 0 || magnitude(self->stride[a]) < magnitude(self->stride[least]))) {
                least = a;
            }
        }
        ptrdiff_t stride = magnitude(self->stride[least]);
        if (stride < reach) {
            return false;
        }
        used[least] = true;
        reach += stride * (self->size[least] - 1);
    }
    return true;
}

static bool
is_same_memory(const call *self, int i, int j)
{
    const ik2b_array *a = &self->arrays[i], *b = &self->arrays[j];
    const parameter *p = &self->parameters[i], *q = &self->parameters[j];
    return a->data == b->data && a->kind == b->kind && p->dims == q->dims && p->size == q->size &&
           p->joints == q->joints &&
           self->arguments[i].joint_stride == self->arguments[j].joint_stride &&
           memcmp(a->inner, b->inner, (size_t)p->dims * sizeof *a->inner) == 0 &&
           memcmp(a->stride, b->stride, (size_t)self->extent.count * sizeof *a->stride) == 0;
}

static bool
ranges_meet(const byte_map *map, const layout *other)
{
    const char *low, *high;
    range_of(other, &low, &high);
    return low < map->high && map->low < high;
}

/* The other argument that this output meets, the output itself included; -1 none, -2 error. */
static int
find_overlap(const call *self, int output, int first_output)
{
    layout own = layout_of(self, output);
    byte_map map = {NULL, NULL, NULL};
    int found = -1;
    range_of(&own, &map.low, &map.high);
    bool nested = is_nested(&own);

    for (int i = -1; i < self->count && found == -1; i++) {
        int other = i < 0 ? output : i;
        if ((i == output) || !self->arrays[other].data || (i < 0 && nested)) {
            continue;
        }
        layout its = layout_of(self, other);
        bool allowed = other < first_output && is_same_memory(self, output, other);
        if (own.empty || its.empty || allowed || !ranges_meet(&map, &its)) {
            continue;
        }
        if (!map.bits) {
            map.bits = PyMem_Calloc((size_t)(map.high - map.low) / 8 + 1, 1);
            if (!map.bits) {
                PyErr_NoMemory();
                return -2;
            }
            if (touch(&map, &own, 0, own.data, true)) {
                found = output;
                break;
            }
        }
        if (other != output && touch(&map, &its, 0, its.data, false)) {
            found = other;
        }
    }
    PyMem_Free(map.bits);
    return found;
}

/* The bytes from low to before high, as numbers, and whether each axis steps over all that those
 * inside it reach: then no two elements meet. */
typedef struct {
    intptr_t low, high;
    bool nested;
} span;

static inline void
widen_span(span *self, ptrdiff_t size, ptrdiff_t stride)
{
    if (size > 1) {
        ptrdiff_t reach = (size - 1) * stride;
        self->nested &= magnitude(stride) >= self->high - self->low;
        self->low += reach < 0 ? reach : 0;
        self->high += reach < 0 ? 0 : reach;
    }
}

static inline span
span_of(const call *self, int i)
{
    const parameter *p = &self->parameters[i];
    const ik2b_array *array = &self->arrays[i];
    intptr_t first = (intptr_t)array->data;
    span result = {first, first + item_sizes[array->kind], true};
    if (p->dims > 0) {
        widen_span(&result, p->size, array->inner[p->dims - 1]);
    }
    if (p->dims > 1) {
        widen_span(&result, p->size, array->inner[0]);
    }
    if (p->joints) {
        widen_span(&result, self->joints, self->arguments[i].joint_stride);
    }
    for (int d = self->extent.count - 1; d >= 0; d--) {
        widen_span(&result, self->extent.shape[d], array->stride[d]);
    }
    return result;
}

/* Whether all outputs stay clear of themselves and all else by their spans alone, as nearly always.
 */
static bool
are_apart(const call *self, int first_output)
{
    intptr_t low[MAX_ARGUMENTS], high[MAX_ARGUMENTS], met = 0;
    int count = self->acquired;
    for (int k = 0; k < count; k++) {
        int i = self->places[k];
        span own = span_of(self, i);
        low[k] = own.low;
        high[k] = own.high;
        if (i < first_output) {
            continue;
        }
        met |= own.nested ? 0 : -1;
        for (int other = 0; other < k; other++) { /* negative where both differences are */
            met |= (low[other] - own.high) & (own.low - high[other]);
        }
    }
    return met >= 0;
}

int
check_overlap(const call *self, int first_output)
{
    if (self->owns_outputs || are_apart(self, first_output)) {
        return 0;
    }
    for (int output = first_output; output < self->count; output++) {
        int other = self->arrays[output].data ? find_overlap(self, output, first_output) : -1;
        if (other == -2) {
            return -1;
        }
        if (other >= 0) {
            PyErr_Format(PyExc_ValueError,
                         "out %s: expected memory of its own or exactly that of an input, got an "
                         "overlap with %s%s",
                         self->parameters[output].name,
                         other >= first_output && other != output ? "out " : "",
                         other == output ? "itself" : self->parameters[other].name);
            return -1;
        }
    }
    return 0;
}
