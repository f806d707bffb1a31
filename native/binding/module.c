/* SPDX-License-Identifier: MIT
 *
 * ik2bone._core: the seven functions of the package over any buffers. As Python:
 *
 *     def solve(root, mid, end, target, *, bend="carried", ..., out=None):
 *         arrays = acquire(root, mid, ...)       # TypeError, ValueError name the argument
 *         rows = broadcast(arrays)
 *         results = out or new numpy arrays
 *         check that outputs overlap nothing but an input as a whole
 *         without the GIL: ik2b_solve(rows, arrays, results)
 *         return Solution(*results)
 */
#include "arguments.h"

#include <math.h>
#include <string.h>

typedef struct {
    PyObject *solution, *rotations, *pose_solution;
} module_state;

/* Parameters: positional ones, options, outputs; in the order of the core's enums. */

#define POINT(name) {name, POSITIONAL, 1, 3, false, false, false, NULL}
#define MATRIX(name) {name, POSITIONAL, 2, 4, false, false, false, NULL}
#define DIRECTION(name) {name, OPTION, 1, 3, false, true, false, NULL}
#define NUMBER(name) {name, OPTION, 0, 0, false, false, false, NULL}
#define OPTIONAL_MATRIX(name) {name, OPTION, 2, 4, false, true, false, NULL}
#define OUT_POINT(name) {name, OUTPUT, 1, 3, false, false, false, NULL}
#define OUT_QUATERNION(name) {name, OUTPUT, 1, 4, false, false, false, NULL}
#define OUT_NUMBER(name) {name, OUTPUT, 0, 0, false, false, false, NULL}
#define OUT_FLAGS(name) {name, OUTPUT, 0, 0, false, false, true, NULL}
#define SOLVE_OPTION_PARAMETERS                                                                    \
    DIRECTION("pole"), NUMBER("pole_weight"), NUMBER("twist"), DIRECTION("hinge"),                 \
        NUMBER("soften"), NUMBER("weight"), NUMBER("min_angle"), NUMBER("max_angle"),              \
        DIRECTION("cone_axis"), NUMBER("cone_angle")

static const parameter solve_parameters[IK2B_SOLVE_COUNT] = {
    POINT("root"), POINT("mid"), POINT("end"), POINT("target"), SOLVE_OPTION_PARAMETERS,
    OUT_POINT("mid"), OUT_POINT("end"), OUT_NUMBER("miss"), OUT_FLAGS("status"),
};

static const parameter orient_parameters[IK2B_ORIENT_COUNT] = {
    MATRIX("root_matrix"), MATRIX("mid_matrix"), POINT("end"), POINT("new_mid"), POINT("new_end"),
    DIRECTION("hinge"), DIRECTION("root_scale"), DIRECTION("mid_scale"),
    OUT_QUATERNION("root"), OUT_QUATERNION("mid"),
};

static const parameter pose_parameters[IK2B_POSE_COUNT] = {
    MATRIX("root_matrix"), MATRIX("mid_matrix"), POINT("end"), POINT("target"),
    SOLVE_OPTION_PARAMETERS, DIRECTION("root_scale"), DIRECTION("mid_scale"),
    OPTIONAL_MATRIX("end_matrix"), OPTIONAL_MATRIX("end_goal"),
    OUT_QUATERNION("root"), OUT_QUATERNION("mid"), OUT_QUATERNION("end"), OUT_POINT("position"),
    OUT_NUMBER("miss"), OUT_FLAGS("status"),
};

static const parameter pole_of_parameters[IK2B_POLE_OF_COUNT] = {
    POINT("root"), POINT("mid"), POINT("end"), DIRECTION("hinge"), OUT_POINT("pole"),
};

static const parameter hinge_of_parameters[IK2B_HINGE_OF_COUNT] = {
    MATRIX("root_matrix"), MATRIX("mid_matrix"), POINT("end"), OUT_POINT("hinge"),
};

static const parameter multiply_parameters[IK2B_MULTIPLY_COUNT] = {
    {"q", POSITIONAL, 1, 4, false, false, false, NULL},
    {"r", POSITIONAL, 1, 4, false, false, false, NULL},
    OUT_QUATERNION("product"),
};

static const parameter aggregate_parameters[IK2B_AGGREGATE_COUNT] = {
    {"translation", POSITIONAL, 1, 3, true, false, false, NULL},
    {"rotation", POSITIONAL, 1, 4, true, false, false, NULL},
    {"scale", POSITIONAL, 1, 3, true, true, false, NULL},
    {"rest", OPTION, 2, 4, true, true, false, NULL},
    {"base", OPTION, 2, 4, false, true, false, NULL},
    {"matrices", OUTPUT, 2, 4, true, false, false, NULL},
};

/* Parsing: objects in the order of names; NULL where one is not given. */

typedef struct {
    const char *function;
    int positional; /* so many names may be given by position, */
    int required;   /* and so many must be given */
    const char *const *names;
} signature;

static int
name_index(const signature *s, PyObject *name)
{
    for (int i = 0; s->names[i]; i++) {
        if (PyUnicode_CompareWithASCIIString(name, s->names[i]) == 0) {
            return i;
        }
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", s->function, name);
    return -1;
}

static int
parse(const signature *s, PyObject *args, PyObject *kwargs, PyObject *objects[])
{
    Py_ssize_t given = PyTuple_Size(args), position = 0;
    PyObject *name, *value;
    if (given > s->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments but %zd were given",
                     s->function, s->positional, given);
        return -1;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        objects[i] = PyTuple_GetItem(args, i);
    }
    while (kwargs && PyDict_Next(kwargs, &position, &name, &value)) {
        int i = name_index(s, name);
        if (i >= 0 && objects[i]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", s->function,
                         s->names[i]);
        }
        if (i < 0 || objects[i]) {
            return -1;
        }
        objects[i] = value;
    }
    for (int i = 0; i < s->required; i++) {
        if (!objects[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%s'", s->function,
                         s->names[i]);
            return -1;
        }
    }
    return 0;
}

/* 0 for the first word, which is the default, 1 for the second, -1 with an exception set. */
static int
parse_word(const char *name, PyObject *word, const char *first, const char *second)
{
    if (!word) {
        return 0;
    }
    if (!PyUnicode_Check(word)) {
        PyErr_Format(PyExc_TypeError, "%s: expected '%s' or '%s', got %R", name, first, second, word);
        return -1;
    }
    if (PyUnicode_CompareWithASCIIString(word, first) == 0) {
        return 0;
    }
    if (PyUnicode_CompareWithASCIIString(word, second) == 0) {
        return 1;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected '%s' or '%s', got %R", name, first, second, word);
    return -1;
}

static int
parse_bend(PyObject *word)
{
    return parse_word("bend", word, "carried", "nearest");
}

/* objects[hinge] tells whether there is one. */
static int
parse_roll(PyObject *word, PyObject *hinge)
{
    int roll = parse_word("roll", word, "pose", "hinge");
    if (roll == IK2B_ROLL_HINGE && (!hinge || hinge == Py_None)) {
        PyErr_SetString(PyExc_ValueError, "hinge: expected a direction for roll='hinge', got None");
        return -1;
    }
    return roll;
}

/* Results */

static PyObject *
pack(PyObject *type, PyObject *results[], int count)
{
    PyObject *packed = NULL, *tuple = PyTuple_New(count);
    if (tuple) {
        for (int i = 0; i < count; i++) {
            PyTuple_SetItem(tuple, i, Py_NewRef(results[i]));
        }
        packed = PyObject_CallObject(type, tuple);
        Py_DECREF(tuple);
    }
    return packed;
}

/* Releases the call and the results; a single result is the answer itself. */
static PyObject *
finish(call *self, PyObject *type, PyObject *results[], int count, bool done)
{
    PyObject *answer = NULL;
    if (done) {
        answer = type ? pack(type, results, count) : Py_NewRef(results[0]);
    }
    release_call(self);
    for (int i = 0; i < count; i++) {
        Py_XDECREF(results[i]);
    }
    return answer;
}

/* Acquires inputs and outputs and checks their memory; first is the index of the first output. */
static int
prepare(call *self, PyObject *const objects[], int first, PyObject *out, PyObject *results[])
{
    if (acquire_inputs(self, objects, first) < 0 ||
        acquire_outputs(self, first, out, results) < 0) {
        return -1;
    }
    return check_overlap(self, first);
}

PyDoc_STRVAR(solve_doc,
"solve(root, mid, end, target, *, bend='carried', pole=None, pole_weight=1.0, twist=0.0, hinge=None,\n"
"      soften=1.0, weight=1.0, min_angle=0.0, max_angle=3.141592653589793, cone_axis=None,\n"
"      cone_angle=3.141592653589793, out=None)\n"
"--\n\n"
"Move the end of a two-bone chain to the target: Solution(mid, end, miss, status).\n\n"
"Points (..., 3) in one space, of any length unit. Leading dimensions broadcast, options included.");

static PyObject *
core_solve(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "root", "mid", "end", "target", "pole", "pole_weight", "twist", "hinge", "soften", "weight",
        "min_angle", "max_angle", "cone_axis", "cone_angle", "bend", "out", NULL};
    static const signature s = {"solve", 4, 4, names};
    enum { BEND = IK2B_SOLVE_OUT_MID, OUT, OBJECTS, RESULTS = IK2B_SOLVE_COUNT - BEND };
    PyObject *objects[OBJECTS] = {NULL}, *results[RESULTS] = {NULL};
    call self = {.parameters = solve_parameters, .count = IK2B_SOLVE_COUNT};
    bool done = false;

    if (parse(&s, args, kwargs, objects) < 0) {
        return NULL;
    }
    int bend = parse_bend(objects[BEND]);
    if (bend < 0 || prepare(&self, objects, BEND, objects[OUT], results) < 0) {
        goto exit;
    }
    Py_BEGIN_ALLOW_THREADS
    (self.kind == IK2B_F32 ? ik2b_solve_f32 : ik2b_solve_f64)(&self.extent, self.arrays,
                                                              (ik2b_bend)bend);
    Py_END_ALLOW_THREADS
    done = true;
exit:
    return finish(&self, ((module_state *)PyModule_GetState(module))->solution, results, RESULTS,
                  done);
}

PyDoc_STRVAR(orient_doc,
"orient(root_matrix, mid_matrix, end, new_mid, new_end, *, roll='pose', hinge=None, root_scale=None,\n"
"       mid_scale=None, out=None)\n"
"--\n\n"
"Corrections that turn the present bones into new positions: Rotations(root, mid).\n\n"
"Each is multiplied on the right of its joint's present local rotation.");

static PyObject *
core_orient(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"root_matrix", "mid_matrix", "end", "new_mid", "new_end",
                                        "hinge", "root_scale", "mid_scale", "roll", "out", NULL};
    static const signature s = {"orient", 5, 5, names};
    enum { ROLL = IK2B_ORIENT_OUT_ROOT, OUT, OBJECTS, RESULTS = IK2B_ORIENT_COUNT - ROLL };
    PyObject *objects[OBJECTS] = {NULL}, *results[RESULTS] = {NULL};
    call self = {.parameters = orient_parameters, .count = IK2B_ORIENT_COUNT};
    bool done = false;

    if (parse(&s, args, kwargs, objects) < 0) {
        return NULL;
    }
    int roll = parse_roll(objects[ROLL], objects[IK2B_ORIENT_HINGE]);
    if (roll < 0 || prepare(&self, objects, ROLL, objects[OUT], results) < 0) {
        goto exit;
    }
    Py_BEGIN_ALLOW_THREADS
    (self.kind == IK2B_F32 ? ik2b_orient_f32 : ik2b_orient_f64)(&self.extent, self.arrays,
                                                                (ik2b_roll)roll);
    Py_END_ALLOW_THREADS
    done = true;
exit:
    return finish(&self, ((module_state *)PyModule_GetState(module))->rotations, results, RESULTS,
                  done);
}

PyDoc_STRVAR(solve_pose_doc,
"solve_pose(root_matrix, mid_matrix, end, target, *, bend='carried', roll='pose', pole=None,\n"
"           pole_weight=1.0, twist=0.0, hinge=None, soften=1.0, weight=1.0, min_angle=0.0,\n"
"           max_angle=3.141592653589793, cone_axis=None, cone_angle=3.141592653589793,\n"
"           root_scale=None, mid_scale=None, end_matrix=None, end_goal=None, out=None)\n"
"--\n\n"
"solve and orient in one pass, in the root's own frame:\n"
"PoseSolution(root, mid, end, position, miss, status).\n\n"
"Target, pole and cone axis are in the space of the matrices, the hinge in mid-joint space.\n"
"With end_matrix, end is the end joint's correction: it keeps its orientation or takes end_goal's.");

static PyObject *
core_solve_pose(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "root_matrix", "mid_matrix", "end", "target", "pole", "pole_weight", "twist", "hinge",
        "soften", "weight", "min_angle", "max_angle", "cone_axis", "cone_angle", "root_scale",
        "mid_scale", "end_matrix", "end_goal", "bend", "roll", "out", NULL};
    static const signature s = {"solve_pose", 4, 4, names};
    enum { BEND = IK2B_POSE_OUT_ROOT, ROLL, OUT, OBJECTS, RESULTS = IK2B_POSE_COUNT - BEND };
    PyObject *objects[OBJECTS] = {NULL}, *results[RESULTS] = {NULL};
    parameter parameters[IK2B_POSE_COUNT];
    call self = {.parameters = parameters, .count = IK2B_POSE_COUNT};
    bool done = false;

    memcpy(parameters, pose_parameters, sizeof parameters);
    if (parse(&s, args, kwargs, objects) < 0) {
        return NULL;
    }
    PyObject *end_matrix = objects[IK2B_POSE_END_MATRIX];
    if (!end_matrix || end_matrix == Py_None) {
        parameters[IK2B_POSE_OUT_END].needs = "end_matrix";
    }
    int bend = parse_bend(objects[BEND]);
    int roll = bend < 0 ? -1 : parse_roll(objects[ROLL], objects[IK2B_POSE_OPTION + IK2B_HINGE]);
    if (roll < 0 || prepare(&self, objects, BEND, objects[OUT], results) < 0) {
        goto exit;
    }
    Py_BEGIN_ALLOW_THREADS
    (self.kind == IK2B_F32 ? ik2b_solve_pose_f32 : ik2b_solve_pose_f64)(
        &self.extent, self.arrays, (ik2b_bend)bend, (ik2b_roll)roll);
    Py_END_ALLOW_THREADS
    done = true;
exit:
    return finish(&self, ((module_state *)PyModule_GetState(module))->pose_solution, results,
                  RESULTS, done);
}

/* The functions of one result and no words: inputs, out. */
typedef void (*plain_kernel)(const ik2b_extent *, ik2b_array *);

static PyObject *
run_plain(const signature *s, const parameter *parameters, int inputs, PyObject *args,
          PyObject *kwargs, plain_kernel single, plain_kernel wide)
{
    PyObject *objects[MAX_ARGUMENTS] = {NULL}, *results[1] = {NULL};
    call self = {.parameters = parameters, .count = inputs + 1};
    bool done = false;
    if (parse(s, args, kwargs, objects) == 0 &&
        prepare(&self, objects, inputs, objects[inputs], results) == 0) {
        Py_BEGIN_ALLOW_THREADS
        (self.kind == IK2B_F32 ? single : wide)(&self.extent, self.arrays);
        Py_END_ALLOW_THREADS
        done = true;
    }
    return finish(&self, NULL, results, 1, done);
}

PyDoc_STRVAR(pole_of_doc,
"pole_of(root, mid, end, *, hinge=None, out=None)\n"
"--\n\n"
"The pole that keeps the pose: unit directions from the line root-end to the mid joint (..., 3).\n\n"
"A straight limb is told by its hinge; without one its pole is zero.");

static PyObject *
core_pole_of(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"root", "mid", "end", "hinge", "out", NULL};
    static const signature s = {"pole_of", 3, 3, names};
    return run_plain(&s, pole_of_parameters, IK2B_POLE_OF_OUT, args, kwargs, ik2b_pole_of_f32,
                     ik2b_pole_of_f64);
}

PyDoc_STRVAR(hinge_of_doc,
"hinge_of(root_matrix, mid_matrix, end, *, out=None)\n"
"--\n\n"
"The hinge of a bent pose: unit cross(root - mid, end - mid) in mid-joint space (..., 3).\n\n"
"Zero for a straight limb.");

static PyObject *
core_hinge_of(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"root_matrix", "mid_matrix", "end", "out", NULL};
    static const signature s = {"hinge_of", 3, 3, names};
    return run_plain(&s, hinge_of_parameters, IK2B_HINGE_OF_OUT, args, kwargs, ik2b_hinge_of_f32,
                     ik2b_hinge_of_f64);
}

PyDoc_STRVAR(multiply_doc,
"multiply(q, r, *, out=None)\n"
"--\n\n"
"The quaternion product q r (..., 4), w first: the rotation r followed by q.");

static PyObject *
core_multiply(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"q", "r", "out", NULL};
    static const signature s = {"multiply", 2, 2, names};
    return run_plain(&s, multiply_parameters, IK2B_MULTIPLY_OUT, args, kwargs, ik2b_multiply,
                     ik2b_multiply);
}

/* Aggregate transforms */

static int
check_parent(Py_ssize_t j, Py_ssize_t parent)
{
    if (parent >= -1 && parent < j) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "parents[%zd]: expected -1 or the index of an earlier joint, got %zd",
                 j, parent);
    return -1;
}

/* A new array of the parents' indices, or NULL with an exception set. */
static ptrdiff_t *
acquire_parents(PyObject *object, Py_ssize_t *count)
{
    ptrdiff_t *parents = NULL;
    if (PyUnicode_Check(object) || !PySequence_Check(object)) {
        PyObject *type = PyType_GetName(Py_TYPE(object));
        PyErr_Format(PyExc_TypeError, "parents: expected a sequence of integers, got %U", type);
        Py_XDECREF(type);
        return NULL;
    }
    *count = PySequence_Size(object);
    if (*count < 0 || !(parents = PyMem_Calloc((size_t)*count + 1, sizeof *parents))) {
        return NULL;
    }
    for (Py_ssize_t j = 0; j < *count; j++) {
        PyObject *item = PySequence_GetItem(object, j);
        bool nested = item && PySequence_Check(item);
        Py_ssize_t parent = item && !nested ? PyNumber_AsSsize_t(item, PyExc_OverflowError) : -1;
        if (nested) {
            PyErr_SetString(PyExc_ValueError, "parents: expected shape (joints,), got more dimensions");
        }
        else if (item && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError, "parents: expected integers, got %R", item);
        }
        Py_XDECREF(item);
        if (PyErr_Occurred() || check_parent(j, parent) < 0) {
            PyMem_Free(parents);
            return NULL;
        }
        parents[j] = parent;
    }
    return parents;
}

PyDoc_STRVAR(aggregate_doc,
"aggregate(parents, translation, rotation, scale=None, *, rest=None, base=None, out=None)\n"
"--\n\n"
"Aggregate transforms (..., joints, 4, 4) of a skeleton from local ones, parents before children:\n"
"A[j] = A[parents[j]] * rest[j] * T(translation) * R(rotation) * S(scale), with base above the roots.");

static PyObject *
core_aggregate(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"parents", "translation", "rotation", "scale",
                                        "rest", "base", "out", NULL};
    static const signature s = {"aggregate", 4, 3, names};
    PyObject *objects[IK2B_AGGREGATE_COUNT + 1] = {NULL}, *results[1] = {NULL};
    call self = {.parameters = aggregate_parameters, .count = IK2B_AGGREGATE_COUNT};
    ik2b_joints joints = {.count = 0};
    ptrdiff_t *parents = NULL;
    bool done = false;

    if (parse(&s, args, kwargs, objects) < 0 ||
        !(parents = acquire_parents(objects[0], &self.joints)) ||
        prepare(&self, objects + 1, IK2B_AGGREGATE_OUT, objects[IK2B_AGGREGATE_OUT + 1],
                results) < 0) {
        goto exit;
    }
    joints.count = self.joints;
    joints.parents = parents;
    joints.scratch = PyMem_Calloc((size_t)joints.count + 1, sizeof *joints.scratch);
    if (!joints.scratch) {
        PyErr_NoMemory();
        goto exit;
    }
    for (int i = 0; i < IK2B_AGGREGATE_COUNT; i++) {
        joints.stride[i] = self.arguments[i].joint_stride;
    }
    Py_BEGIN_ALLOW_THREADS
    ik2b_aggregate(&self.extent, self.arrays, &joints);
    Py_END_ALLOW_THREADS
    done = true;
exit:
    PyMem_Free(parents);
    PyMem_Free(joints.scratch);
    return finish(&self, NULL, results, 1, done);
}

/* Module */

static PyMethodDef methods[] = {
    {"solve", (PyCFunction)(void (*)(void))core_solve, METH_VARARGS | METH_KEYWORDS, solve_doc},
    {"orient", (PyCFunction)(void (*)(void))core_orient, METH_VARARGS | METH_KEYWORDS, orient_doc},
    {"aggregate", (PyCFunction)(void (*)(void))core_aggregate, METH_VARARGS | METH_KEYWORDS,
     aggregate_doc},
    {"solve_pose", (PyCFunction)(void (*)(void))core_solve_pose, METH_VARARGS | METH_KEYWORDS,
     solve_pose_doc},
    {"pole_of", (PyCFunction)(void (*)(void))core_pole_of, METH_VARARGS | METH_KEYWORDS, pole_of_doc},
    {"hinge_of", (PyCFunction)(void (*)(void))core_hinge_of, METH_VARARGS | METH_KEYWORDS,
     hinge_of_doc},
    {"multiply", (PyCFunction)(void (*)(void))core_multiply, METH_VARARGS | METH_KEYWORDS,
     multiply_doc},
    {NULL, NULL, 0, NULL},
};

static int
core_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    PyObject *results = PyImport_ImportModule("ik2bone.results");
    if (!results) {
        return -1;
    }
    state->solution = PyObject_GetAttrString(results, "Solution");
    state->rotations = PyObject_GetAttrString(results, "Rotations");
    state->pose_solution = PyObject_GetAttrString(results, "PoseSolution");
    Py_DECREF(results);
    return state->solution && state->rotations && state->pose_solution ? 0 : -1;
}

static int
core_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    if (state) {
        Py_VISIT(state->solution);
        Py_VISIT(state->rotations);
        Py_VISIT(state->pose_solution);
    }
    return 0;
}

static int
core_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    if (state) {
        Py_CLEAR(state->solution);
        Py_CLEAR(state->rotations);
        Py_CLEAR(state->pose_solution);
    }
    return 0;
}

static void
core_free(void *module)
{
    core_clear((PyObject *)module);
}

/* All state is in the module, so each interpreter may have one under a GIL of its own, or none. Python
 * 3.11, which abi3 is built for, does not know these slots: there the list starts after them. */
#ifndef Py_mod_multiple_interpreters
#define Py_mod_multiple_interpreters 3
#define Py_MOD_PER_INTERPRETER_GIL_SUPPORTED ((void *)2)
#endif

static PyModuleDef_Slot slots[] = {
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {Py_mod_exec, (void *)core_exec},
    {0, NULL},
};

#ifdef Py_mod_gil
#define SLOTS_OF_3_11 (slots + 2)
#else
#define SLOTS_OF_3_11 (slots + 1)
#endif

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ik2bone._core",
    .m_doc = "Two-bone inverse kinematics over arrays; use it through the package ik2bone.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = SLOTS_OF_3_11,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
    .m_free = core_free,
};

PyMODINIT_FUNC
PyInit__core(void)
{
    if (Py_Version >= 0x030C0000) {
        definition.m_slots = slots;
    }
    return PyModuleDef_Init(&definition);
}
