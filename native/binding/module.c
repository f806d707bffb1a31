/* SPDX-License-Identifier: MIT
 *
 * ik2bone._core: the seven functions of the package over any buffers. As Python:
 *
 *     def solve(root, mid, end, target, *, bend="carried", ..., out=None):
 *         arrays = acquire(root, mid, ...)       # TypeError, ValueError name the argument
 *         rows = broadcast(arrays)
 *         results = out or new numpy arrays
 *         check that outputs overlap nothing but an input as a whole
 *         without the GIL, if there are rows: ik2b_solve(rows, arrays, results)
 *         return Solution(*results)
 */
#include "call.h"
#include "docstrings.h"
#include "own.h"

#include <stdlib.h>

#include "builds.h"

#define AS_WRAPPER(ID, name)                                                                       \
    static PyObject *core_##name(PyObject *module, PyObject *const *args, Py_ssize_t given,        \
                                 PyObject *keywords)                                               \
    {                                                                                              \
        return run(ID, module, args, given, keywords);                                             \
    }

ALL_FUNCTIONS(AS_WRAPPER)

/* Module */

#define METHOD(name, flags)                                                                        \
    {#name, (PyCFunction)(void (*)(void))core_##name, METH_FASTCALL | (flags), name##_doc}
#define AS_METHOD(ID, name) METHOD(name, METH_KEYWORDS),

static PyMethodDef methods[] = {
    ALL_FUNCTIONS(AS_METHOD) METHOD(build_mesh, 0),
    METHOD(measure_mesh, 0),
    METHOD(smooth_within, 0),
    METHOD(smooth_path, 0),
    METHOD(fill_dips, 0),
    {NULL, NULL, 0, NULL},
};

static int
find_parts(module_state *state)
{
    static const char *const names[RESULT_TYPES] = {[SOLUTION] = "Solution",
                                                    [ROTATIONS] = "Rotations",
                                                    [POSE_SOLUTION] = "PoseSolution",
                                                    [HITS] = "Hits"};
    PyObject *results = PyImport_ImportModule("ik2bone.results");
    bool good = results != NULL;
    for (int i = 0; good && i < RESULT_TYPES; i++) {
        good = (state->types[i] = PyObject_GetAttrString(results, names[i])) != NULL;
    }
    PyObject *convert = good ? PyImport_ImportModule("ik2bone.convert") : NULL;
    state->numbers_of = convert ? PyObject_GetAttrString(convert, "numbers_of") : NULL;
    Py_XDECREF(results);
    Py_XDECREF(convert);
    return state->numbers_of ? 0 : -1;
}

static int
core_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    const char *build = ik2b_choose_build();
    if (!build) {
        PyErr_Format(
            PyExc_ImportError,
            "IK2BONE_BUILD: expected 'plain', 'avx2' or 'avx512', as far as this processor "
            "has it, got '%s'",
            getenv("IK2BONE_BUILD"));
        return -1;
    }
    return PyModule_AddStringConstant(module, "build", build) < 0 || find_parts(state) < 0 ||
                   intern_names(state) < 0
               ? -1
               : 0;
}

/* The module needs no traversal for garbage collection: nothing that the state holds refers back to
 * the module. */
static void
core_free(void *module)
{
    module_state *state = PyModule_GetState(module);
    if (!state) {
        return;
    }
    for (int i = 0; i < RESULT_TYPES; i++) {
        Py_XDECREF(state->types[i]);
    }
    Py_XDECREF(state->numbers_of);
    for (int i = 0; i < FUNCTIONS * SLOTS; i++) {
        Py_XDECREF(state->names[i / SLOTS][i % SLOTS]);
    }
    free_numpy(state->numpy);
}

/* All state is in the module, so each interpreter may have its own module, under its own GIL or
 * without a GIL. */
#ifndef Py_mod_multiple_interpreters
#define Py_mod_multiple_interpreters 3
#define Py_MOD_PER_INTERPRETER_GIL_SUPPORTED ((void *)2)
#endif

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, SLOT_CAST(void *) core_exec},
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "ik2bone._core",
    .m_doc = "Two-bone inverse kinematics over arrays; use it through the package ik2bone.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_free = core_free,
};

PyMODINIT_FUNC
PyInit__core(void)
{
    /* Python 3.11, for which abi3 is built, knows no slots of modules but Py_mod_exec. */
    if (Py_Version < 0x030C0000) {
        slots[1] = (PyModuleDef_Slot){0, NULL};
    }
    return PyModuleDef_Init(&definition);
}
