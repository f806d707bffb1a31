/* SPDX-License-Identifier: MIT
 *
 * Whether outputs share memory with anything but exactly an input. The ranges of bytes are compared
 * first. Ranges may meet although no element is shared, as those of the columns of one array do. In
 * that case the strides decide exactly: two arrays share a byte if the distance between them is a
 * sum of multiples of their strides, in which each factor is at least 0 and less than the length of
 * its axis.
 */
#include "call.h"

#include <stdint.h>
#include <string.h>

/* From 0 to `most` steps of a positive stride. */
typedef struct {
    intptr_t stride, most;
} axis;

/* The bytes of one array: from `low` to before `high`. `nested`: a step of each axis passes all
 * that the axes after it reach, so that no two elements share a byte. */
typedef struct {
    intptr_t low, high, itemsize;
    bool nested;
} range;

static inline range
find_range(const call *self, int i)
{
    const Py_buffer *view = &self->arguments[i].view;
    intptr_t size = view->itemsize, below = 0, above = size;
    bool nested = true;
    for (int d = view->ndim - 1; d >= 0; d--) {
        intptr_t stride = view->strides[d], reach = stride * (view->shape[d] - 1);
        nested &= view->shape[d] < 2 || (stride < 0 ? -stride : stride) >= above - below;
        below += reach < 0 ? reach : 0;
        above += reach < 0 ? 0 : reach;
    }
    intptr_t first = (intptr_t)self->arrays[i].data;
    return (range){first + below, first + above, size, nested};
}

/* Axes by falling strides; axes of the same stride are merged. The last axis has stride 1: single
 * bytes. */
typedef struct {
    int count;
    intptr_t reach; /* the greatest sum */
    axis axes[2 * MAX_NDIM + 1];
} sum;

static void
begin_sum(sum *self, intptr_t bytes)
{
    self->count = 1;
    self->reach = bytes;
    self->axes[0] = (axis){1, bytes};
}

/* Adds up to `most` steps along axis `d` of a view. */
static void
add_axis(sum *self, const Py_buffer *view, int d, intptr_t most)
{
    intptr_t stride = view->strides[d] < 0 ? -view->strides[d] : view->strides[d];
    int at = self->count;
    if (stride == 0 || most <= 0) {
        return;
    }
    self->reach += stride * most;
    while (at > 0 && self->axes[at - 1].stride < stride) {
        at--;
    }
    if (at > 0 && self->axes[at - 1].stride == stride) {
        self->axes[at - 1].most += most;
        return;
    }
    memmove(&self->axes[at + 1], &self->axes[at], (size_t)(self->count - at) * sizeof *self->axes);
    self->axes[at] = (axis){stride, most};
    self->count++;
}

static void
add_axes(sum *self, const Py_buffer *view, int first, intptr_t times)
{
    for (int d = first; d < view->ndim; d++) {
        add_axis(self, view, d, times * (view->shape[d] - 1));
    }
}

/* Whether steps along the axes, the last of which goes by single bytes, can add up to `total`. Only
 * few numbers of steps are possible if a step of an axis passes all that the axes after it
 * reach. */
static bool
adds_up(const axis *axes, int count, intptr_t reach, intptr_t total)
{
    if (count == 1 || total < 0 || total > reach) {
        return total >= 0 && total <= reach;
    }
    intptr_t stride = axes->stride, rest = reach - stride * axes->most;
    intptr_t least = total > rest ? (total - rest + stride - 1) / stride : 0;
    intptr_t most = total / stride < axes->most ? total / stride : axes->most;
    for (intptr_t steps = least; steps <= most; steps++) {
        if (adds_up(axes + 1, count - 1, rest, total - steps * stride)) {
            return true;
        }
    }
    return false;
}

/* Whether two arrays share a byte. If they do, steps of one lead from its first byte to the shared
 * byte, and steps of the other lead from there to the other's last byte. */
static bool
share_bytes(const call *self, int i, int j, const range *own, const range *its)
{
    sum steps;
    begin_sum(&steps, own->itemsize - 1 + its->itemsize - 1);
    add_axes(&steps, &self->arguments[i].view, 0, 1);
    add_axes(&steps, &self->arguments[j].view, 0, 1);
    return adds_up(steps.axes, steps.count, steps.reach, its->high - 1 - own->low);
}

/* Whether two different elements share a byte. Such elements differ by one or more steps along some
 * axis k, by none along the axes before it, and by any number, of either sign, along the axes after
 * it. */
static bool
meets_itself(const Py_buffer *view, intptr_t itemsize)
{
    for (int k = 0; k < view->ndim; k++) {
        intptr_t step = view->strides[k] < 0 ? -view->strides[k] : view->strides[k];
        sum steps;
        begin_sum(&steps, 2 * (itemsize - 1));
        add_axes(&steps, view, k + 1, 2);
        intptr_t back = steps.reach / 2;
        add_axis(&steps, view, k, view->shape[k] - 2);
        if (view->shape[k] > 1 && adds_up(steps.axes, steps.count, steps.reach, back - step)) {
            return true;
        }
    }
    return false;
}

static bool
is_same_memory(const call *self, int i, int j)
{
    const ik2b_array *a = &self->arrays[i], *b = &self->arrays[j];
    const row_shape *row = self->function->parameters[i].row;
    return a->data == b->data && a->kind == b->kind && row == self->function->parameters[j].row &&
           (!row->joints || self->joints.count == 1 ||
            self->joints.stride[i] == self->joints.stride[j]) &&
           memcmp(a->inner, b->inner, (size_t)row->dims * sizeof *a->inner) == 0 &&
           memcmp(a->stride, b->stride, (size_t)self->extent.count * sizeof *a->stride) == 0;
}

static int
refuse_overlap(const call *self, int output, int other)
{
    const function *f = self->function;
    PyErr_Format(PyExc_ValueError,
                 "out %s: expected memory of its own or exactly that of an input, got an overlap "
                 "with %s%s",
                 f->parameters[output].name, other >= f->inputs && other != output ? "out " : "",
                 other == output ? "itself" : f->parameters[other].name);
    return -1;
}

int
check_overlap(const call *self)
{
    range ranges[IK2B_MAX_ARGUMENTS];
    if (self->owns_outputs || !self->has_rows) {
        return 0;
    }
    for (int k = 0; k < self->acquired; k++) {
        int i = self->places[k];
        range own = ranges[k] = find_range(self, i);
        if (i < self->function->inputs) {
            continue;
        }
        if (!own.nested && meets_itself(&self->arguments[i].view, own.itemsize)) {
            return refuse_overlap(self, i, i);
        }
        for (int before = 0; before < k; before++) {
            int other = self->places[before];
            const range *its = &ranges[before];
            if (its->low < own.high && own.low < its->high &&
                !(other < self->function->inputs && is_same_memory(self, i, other)) &&
                share_bytes(self, i, other, &own, its)) {
                return refuse_overlap(self, i, other);
            }
        }
    }
    return 0;
}
