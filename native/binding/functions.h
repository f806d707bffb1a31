/* SPDX-License-Identifier: MIT
 *
 * What each function takes and returns, made of the core's table of options.
 */
#ifndef IK2B_FUNCTIONS_H
#define IK2B_FUNCTIONS_H

#include <stdbool.h>

#include "ik2b.h"

/* The shape of one row of an argument: `dims` is 0 for a number, 1 for a vector, 2 for a matrix;
 * each dimension has `size` elements. `joints`: the argument has one such row for each joint. */
typedef struct {
    int dims, size;
    bool joints;
    ik2b_kind holds;  /* kind of an output; IK2B_KINDS: that of the call's results */
    const char *text; /* for messages about inputs */
} row_shape;

typedef struct {
    const char *name;
    const row_shape *row;
} parameter;

/* Options that are one word for all rows. Their choices are in the order of ik2b_bend and
 * ik2b_roll. */
enum { BEND, ROLL, WORDS };

typedef struct {
    const char *name, *choices[2];
} word;

extern const word words[WORDS];

/* The module's functions over arrays: FUNCTION(ID, name). */
#define ALL_FUNCTIONS(FUNCTION)                                                                    \
    FUNCTION(SOLVE, solve)                                                                         \
    FUNCTION(ORIENT, orient)                                                                       \
    FUNCTION(AGGREGATE, aggregate)                                                                 \
    FUNCTION(SOLVE_POSE, solve_pose)                                                               \
    FUNCTION(POLE_OF, pole_of)                                                                     \
    FUNCTION(HINGE_OF, hinge_of)                                                                   \
    FUNCTION(MULTIPLY, multiply)                                                                   \
    FUNCTION(CROSSINGS, cross_mesh)                                                                \
    FUNCTION(CAST, cast_at_mesh)                                                                   \
    FUNCTION(NEAREST, nearest_of_mesh)

#define AS_ID(ID, name) ID,
typedef enum { ALL_FUNCTIONS(AS_ID) FUNCTIONS } function_id;

/* The named tuples of functions with several results. */
typedef enum { SOLUTION, ROTATIONS, POSE_SOLUTION, HITS, RESULT_TYPES } result_type;

typedef struct {
    const char *name;
    ik2b_function *kernel;
    const parameter *parameters; /* inputs, options, outputs */
    /* How many are inputs, which may be given by position and decide the kind of the results; how
     * many are inputs or options; how many there are. Without outputs, the function returns the
     * crossings of a mesh. */
    int positional, inputs, count;
    int optional;       /* how many of the inputs, from the last one on, need not be given */
    result_type type;   /* if there are several outputs */
    bool takes_parents; /* as its first argument, before the inputs */
    bool takes_mesh;    /* as its first argument */
    bool takes_word[WORDS];
    int hinge; /* index of the input that roll='hinge' needs */
    /* Indices of the input end_matrix, and of the input end_goal and the output end, which both
     * need end_matrix. */
    int end_matrix, end_goal, out_end;
} function;

extern const function functions[FUNCTIONS];

#endif
