/* SPDX-License-Identifier: MIT
 *
 * ik2bone._core: the seven functions of the package over any buffers, and its mesh. As Python:
 *
 *     def solve(root, mid, end, target, *, bend="carried", ..., out=None):
 *         arrays = acquire(root, mid, ...)       # TypeError, ValueError name the argument
 *         rows = broadcast(arrays)
 *         results = out or new numpy arrays
 *         check that outputs overlap nothing but an input as a whole
 *         without the GIL, if there are rows: ik2b_solve(rows, arrays, results)
 *         return Solution(*results)
 */
#include "docstrings.h"
#include "mesh_type.h"
#include "parameters.h"
#include "results.h"
#include "signature.h"
#include "smoothing.h"

#include <stdlib.h>

#include "builds.h"

enum { SOLVE, ORIENT, SOLVE_POSE, POLE_OF, HINGE_OF, MULTIPLY, AGGREGATE, FUNCTIONS };

static const signature signatures[FUNCTIONS] = {
    [SOLVE] = {"solve",
               4,
               4,
               {"root", "mid", "end", "target", "pole", "pole_weight", "twist", "hinge", "soften",
                "weight", "min_angle", "max_angle", "cone_axis", "cone_angle", "bend", "out"}},
    [ORIENT] = {"orient",
                5,
                5,
                {"root_matrix", "mid_matrix", "end", "new_mid", "new_end", "hinge", "root_scale",
                 "mid_scale", "roll", "out"}},
    [SOLVE_POSE] = {"solve_pose", 4, 4, {"root_matrix", "mid_matrix",  "end",        "target",
                                         "pole",        "pole_weight", "twist",      "hinge",
                                         "soften",      "weight",      "min_angle",  "max_angle",
                                         "cone_axis",   "cone_angle",  "root_scale", "mid_scale",
                                         "end_matrix",  "end_goal",    "bend",       "roll",
                                         "out"}},
    [POLE_OF] = {"pole_of", 3, 3, {"root", "mid", "end", "hinge", "out"}},
    [HINGE_OF] = {"hinge_of", 3, 3, {"root_matrix", "mid_matrix", "end", "out"}},
    [MULTIPLY] = {"multiply", 2, 2, {"q", "r", "out"}},
    [AGGREGATE] = {"aggregate",
                   4,
                   3,
                   {"parents", "translation", "rotation", "scale", "rest", "base", "out"}},
};

typedef struct {
    mesh_names mesh; /* first: its type finds it there */
    PyObject *solution, *rotations, *pose_solution;
    interned names[FUNCTIONS];
    numpy_parts numpy;
} module_state;

typedef void plain_kernel(const ik2b_extent *, ik2b_array *, ik2b_kind);

/* Functions */

static PyObject *
core_solve(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    enum { BEND = IK2B_SOLVE_OUT_MID, OUT, OBJECTS, RESULTS = IK2B_SOLVE_COUNT - BEND };
    PyObject *objects[OBJECTS], *results[RESULTS] = {NULL};
    module_state *state = PyModule_GetState(module);
    call self;
    bool done = false;

    if (parse(&signatures[SOLVE], &state->names[SOLVE], args, given, keywords, objects) < 0) {
        return NULL;
    }
    begin_call(&self, solve_parameters, IK2B_SOLVE_COUNT, &state->numpy);
    int bend = parse_bend(objects[BEND]);
    if (bend < 0 || prepare(&self, objects, BEND, objects[OUT], results) < 0) {
        goto exit;
    }
    PyThreadState *thread = release_gil(&self);
    ik2b_solve(&self.extent, self.arrays, self.kind, (ik2b_bend)bend);
    restore_gil(thread);
    done = true;
exit:
    return finish(&self, state->solution, objects[OUT], results, RESULTS, done);
}

static PyObject *
core_orient(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    enum { ROLL = IK2B_ORIENT_OUT_ROOT, OUT, OBJECTS, RESULTS = IK2B_ORIENT_COUNT - ROLL };
    PyObject *objects[OBJECTS], *results[RESULTS] = {NULL};
    module_state *state = PyModule_GetState(module);
    call self;
    bool done = false;

    if (parse(&signatures[ORIENT], &state->names[ORIENT], args, given, keywords, objects) < 0) {
        return NULL;
    }
    begin_call(&self, orient_parameters, IK2B_ORIENT_COUNT, &state->numpy);
    int roll = parse_roll(objects[ROLL], objects[IK2B_ORIENT_HINGE]);
    if (roll < 0 || prepare(&self, objects, ROLL, objects[OUT], results) < 0) {
        goto exit;
    }
    PyThreadState *thread = release_gil(&self);
    ik2b_orient(&self.extent, self.arrays, self.kind, (ik2b_roll)roll);
    restore_gil(thread);
    done = true;
exit:
    return finish(&self, state->rotations, objects[OUT], results, RESULTS, done);
}

static PyObject *
core_solve_pose(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    enum { BEND = IK2B_POSE_OUT_ROOT, ROLL, OUT, OBJECTS, RESULTS = IK2B_POSE_COUNT - BEND };
    PyObject *objects[OBJECTS], *results[RESULTS] = {NULL};
    module_state *state = PyModule_GetState(module);
    call self;
    bool done = false;

    if (parse(&signatures[SOLVE_POSE], &state->names[SOLVE_POSE], args, given, keywords, objects) <
        0) {
        return NULL;
    }
    PyObject *end_matrix = objects[IK2B_POSE_END_MATRIX];
    bool has_end = end_matrix && end_matrix != Py_None;
    begin_call(&self, has_end ? pose_parameters : endless_pose_parameters, IK2B_POSE_COUNT,
               &state->numpy);
    int bend = parse_bend(objects[BEND]);
    int roll = bend < 0 ? -1 : parse_roll(objects[ROLL], objects[IK2B_POSE_OPTION + IK2B_HINGE]);
    if (roll < 0 || prepare(&self, objects, BEND, objects[OUT], results) < 0) {
        goto exit;
    }
    PyThreadState *thread = release_gil(&self);
    ik2b_solve_pose(&self.extent, self.arrays, self.kind, (ik2b_bend)bend, (ik2b_roll)roll);
    restore_gil(thread);
    done = true;
exit:
    return finish(&self, state->pose_solution, objects[OUT], results, RESULTS, done);
}

/* The functions of one result and no words: inputs, out. */
static PyObject *
run_plain(PyObject *module, int function, const parameter *parameters, int inputs,
          PyObject *const *args, Py_ssize_t given, PyObject *keywords, plain_kernel *kernel)
{
    PyObject *objects[MAX_ARGUMENTS], *results[1] = {NULL};
    module_state *state = PyModule_GetState(module);
    call self;
    bool done = false;
    begin_call(&self, parameters, inputs + 1, &state->numpy);
    if (parse(&signatures[function], &state->names[function], args, given, keywords, objects) ==
            0 &&
        prepare(&self, objects, inputs, objects[inputs], results) == 0) {
        PyThreadState *thread = release_gil(&self);
        kernel(&self.extent, self.arrays, self.kind);
        restore_gil(thread);
        done = true;
    }
    return finish(&self, NULL, NULL, results, 1, done);
}

static PyObject *
core_pole_of(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return run_plain(module, POLE_OF, pole_of_parameters, IK2B_POLE_OF_OUT, args, given, keywords,
                     ik2b_pole_of);
}

static PyObject *
core_hinge_of(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return run_plain(module, HINGE_OF, hinge_of_parameters, IK2B_HINGE_OF_OUT, args, given,
                     keywords, ik2b_hinge_of);
}

static PyObject *
core_multiply(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    return run_plain(module, MULTIPLY, multiply_parameters, IK2B_MULTIPLY_OUT, args, given,
                     keywords, ik2b_multiply);
}

/* Aggregate transforms */

static PyObject *
core_aggregate(PyObject *module, PyObject *const *args, Py_ssize_t given, PyObject *keywords)
{
    PyObject *objects[IK2B_AGGREGATE_COUNT + 1], *results[1] = {NULL};
    module_state *state = PyModule_GetState(module);
    call self;
    ik2b_joints joints = {.count = 0};
    ptrdiff_t *parents = NULL;
    bool done = false;

    begin_call(&self, aggregate_parameters, IK2B_AGGREGATE_COUNT, &state->numpy);
    if (parse(&signatures[AGGREGATE], &state->names[AGGREGATE], args, given, keywords, objects) <
            0 ||
        !(parents = parse_parents(objects[0], &self.joints)) ||
        prepare(&self, objects + 1, IK2B_AGGREGATE_OUT, objects[IK2B_AGGREGATE_OUT + 1], results) <
            0) {
        goto exit;
    }
    joints.count = self.joints;
    joints.parents = parents;
    joints.scratch = PyMem_New(double, (size_t)ik2b_aggregate_scratch(&self.extent, joints.count));
    if (!joints.scratch) {
        PyErr_NoMemory();
        goto exit;
    }
    for (int k = 0; k < self.acquired; k++) {
        joints.stride[self.places[k]] = self.arguments[self.places[k]].joint_stride;
    }
    Py_BEGIN_ALLOW_THREADS
        ik2b_aggregate(&self.extent, self.arrays, &joints);
    Py_END_ALLOW_THREADS
    done = true;
exit:
    PyMem_Free(parents);
    PyMem_Free(joints.scratch);
    return finish(&self, NULL, NULL, results, 1, done);
}

/* Module */

static PyMethodDef methods[] = {
    {"solve", (PyCFunction)(void (*)(void))core_solve, METH_FASTCALL | METH_KEYWORDS, solve_doc},
    {"orient", (PyCFunction)(void (*)(void))core_orient, METH_FASTCALL | METH_KEYWORDS, orient_doc},
    {"aggregate", (PyCFunction)(void (*)(void))core_aggregate, METH_FASTCALL | METH_KEYWORDS,
     aggregate_doc},
    {"solve_pose", (PyCFunction)(void (*)(void))core_solve_pose, METH_FASTCALL | METH_KEYWORDS,
     solve_pose_doc},
    {"pole_of", (PyCFunction)(void (*)(void))core_pole_of, METH_FASTCALL | METH_KEYWORDS,
     pole_of_doc},
    {"hinge_of", (PyCFunction)(void (*)(void))core_hinge_of, METH_FASTCALL | METH_KEYWORDS,
     hinge_of_doc},
    {"multiply", (PyCFunction)(void (*)(void))core_multiply, METH_FASTCALL | METH_KEYWORDS,
     multiply_doc},
    {"smooth_within", (PyCFunction)(void (*)(void))core_smooth_within, METH_FASTCALL,
     smooth_within_doc},
    {"fill_dips", (PyCFunction)(void (*)(void))core_fill_dips, METH_FASTCALL, fill_dips_doc},
    {NULL, NULL, 0, NULL},
};

static int
add_build(PyObject *module)
{
    if (!ik2b_build_is_known()) {
        PyErr_Format(PyExc_ImportError,
                     "IK2BONE_BUILD: expected 'plain', 'avx2' or 'avx512', as far as this processor "
                     "has it, got '%s'",
                     getenv("IK2BONE_BUILD"));
        return -1;
    }
    return PyModule_AddStringConstant(module, "build", ik2b_build_name(ik2b_build_in_use()));
}

static int
core_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    if (add_build(module) < 0) {
        return -1;
    }
    PyObject *results = PyImport_ImportModule("ik2bone.results");
    if (!results) {
        return -1;
    }
    bool good = (state->solution = PyObject_GetAttrString(results, "Solution")) &&
                (state->rotations = PyObject_GetAttrString(results, "Rotations")) &&
                (state->pose_solution = PyObject_GetAttrString(results, "PoseSolution"));
    good = good && add_mesh(module, &state->mesh, &state->numpy, results) == 0;
    Py_DECREF(results);
    for (int i = 0; good && i < FUNCTIONS; i++) {
        good = intern_names(&signatures[i], &state->names[i]) == 0;
    }
    return good ? 0 : -1;
}

static int
core_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    if (state) {
        Py_VISIT(state->solution);
        Py_VISIT(state->rotations);
        Py_VISIT(state->pose_solution);
        Py_VISIT(state->numpy.array);
        Py_VISIT(state->numpy.empty);
        Py_VISIT(state->numpy.dtype);
        Py_VISIT(state->mesh.crossings);
        Py_VISIT(state->mesh.hits);
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
        for (int i = 0; i < FUNCTIONS; i++) {
            clear_names(&state->names[i]);
        }
        clear_numpy(&state->numpy);
        clear_mesh_names(&state->mesh);
    }
    return 0;
}

static void
core_free(void *module)
{
    core_clear((PyObject *)module);
}

/* All state is in the module, so each interpreter may have one under a GIL of its own, or none.
 * Python 3.11, which abi3 is built for, does not know these slots: there the list starts after
 * them. */
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
