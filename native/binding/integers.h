/* SPDX-License-Identifier: MIT
 *
 * Integers of any size, as they lie in a buffer.
 */
#ifndef IK2B_INTEGERS_H
#define IK2B_INTEGERS_H

#include <Python.h>
#include <stdbool.h>

/* Whether a buffer's elements are integers that can be read as they lie; truth values are none. */
bool holds_integers(const Py_buffer *view);

/* Whether they are integers in another machine's order of bytes. */
bool holds_foreign_integers(const Py_buffer *view);

/* The integer at a place in such a buffer, clamped to what fits. */
Py_ssize_t integer_at(const Py_buffer *view, const char *place);

#endif
