/* SPDX-License-Identifier: MIT
 *
 * Integers of any size, as they lie in a buffer.
 */
#include "integers.h"

#include <stdint.h>
#include <string.h>

/* The letter of the elements' type; '\0' where they are not in this machine's order of bytes, or
 * are more than a single number. */
static char
letter_of(const Py_buffer *view)
{
    const char *code = view->format ? view->format : "B";
    int one = 1;
    char native = *(char *)&one ? '<' : '>';
    if (*code == '@' || *code == '=' || *code == native) {
        code++;
    }
    return *code && !code[1] ? *code : '\0';
}

static const char letters[] = "bBhHiIlLqQnN";

bool
holds_integers(const Py_buffer *view)
{
    char letter = letter_of(view);
    return letter && strchr(letters, letter);
}

bool
holds_foreign_integers(const Py_buffer *view)
{
    const char *code = view->format;
    return code && strchr("<>!", code[0]) && code[0] && code[1] && !code[2] &&
           strchr(letters, code[1]) && !holds_integers(view);
}

static Py_ssize_t
clamped(int64_t number)
{
    return number < PY_SSIZE_T_MIN   ? PY_SSIZE_T_MIN
           : number > PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX
                                     : (Py_ssize_t)number;
}

Py_ssize_t
integer_at(const Py_buffer *view, const char *place)
{
    bool has_sign = letter_of(view) >= 'a';
    uint64_t whole;
    uint32_t half;
    uint16_t quarter;
    switch (view->itemsize) {
    case 1:
        return has_sign ? *(const signed char *)place : *(const unsigned char *)place;
    case 2:
        memcpy(&quarter, place, sizeof quarter);
        return has_sign ? (int16_t)quarter : quarter;
    case 4:
        memcpy(&half, place, sizeof half);
        return has_sign ? clamped((int32_t)half) : clamped(half);
    default:
        memcpy(&whole, place, sizeof whole);
        return !has_sign && whole > INT64_MAX ? PY_SSIZE_T_MAX : clamped((int64_t)whole);
    }
}
