/* SPDX-License-Identifier: MIT
 *
 * What each function takes and gives, out of the core's table of options.
 */
#ifndef IK2B_FUNCTIONS_H
#define IK2B_FUNCTIONS_H

#include <stdbool.h>

#include "ik2b.h"

/* What one row of an argument looks like: dims 0 is a number, 1 a vector, 2 a matrix, of this size;
 * joints: one of them for each joint. */
typedef struct {
    int dims, size;
    bool joints;
    const char *text; /* for messages */
} row_shape;

typedef struct {
    const char *name;
    const row_shape *row;
    ik2b_kind holds; /* of an output; IK2B_KINDS is the kind of the results */
} parameter;

/* Options that are one word for all rows: the values of ik2b_bend and ik2b_roll. */
enum { BEND, ROLL, WORDS };

typedef struct {
    const char *name, *choices[2];
} word;

extern const word words[WORDS];

typedef enum {
    SOLVE,
    ORIENT,
    SOLVE_POSE,
    POLE_OF,
    HINGE_OF,
    MULTIPLY,
    AGGREGATE,
    CROSSINGS,
    CAST,
    NEAREST,
    FUNCTIONS
} function_id;

/* The named tuples of several results. */
typedef enum { SOLUTION, ROTATIONS, POSE_SOLUTION, HITS, RESULT_TYPES } result_type;

typedef struct {
    const char *name;
    ik2b_function *kernel;
    const parameter *parameters; /* inputs, then outputs, in the order of the core's enum */
    int inputs, count;
    /* So many may be given by position, which decide the kind of the results, and so many must. */
    int positional, required;
    result_type type;   /* of several outputs */
    bool takes_parents; /* before its inputs */
    bool takes_mesh;    /* before all */
    bool takes_word[WORDS];
    int hinge; /* the input that roll='hinge' needs */
    /* The input that a goal of the end and its correction need, which mean nothing without it. */
    int end_matrix, end_goal, out_end;
} function;

extern const function functions[FUNCTIONS];

#endif
