# SPDX-License-Identifier: MIT
"""The package's names, docstrings and types say what the compiled module does."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import ik2bone
import numpy as np
import pytest
from ik2bone import Status

FUNCTIONS = ("solve", "orient", "aggregate", "solve_pose", "pole_of", "hinge_of", "multiply")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_shows_signature_and_docstring(name):
    function = getattr(ik2bone, name)
    parameters = inspect.signature(function).parameters
    assert parameters["out"].default is None
    assert parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    assert len(function.__doc__.splitlines()[0]) > 30


def test_status_names_its_bits():
    assert Status(0) is Status.REACHED
    bits = [Status.TOO_FAR, Status.TOO_CLOSE, Status.SOFTENED, Status.LIMITED, Status.SINGULAR, Status.INVALID]
    assert [int(bit) for bit in bits] == [1, 2, 4, 8, 16, 32]
    assert Status.MISSED == 47
    assert not Status.MISSED & Status.SINGULAR


@pytest.mark.parametrize("kind", [int, np.uint8, np.array])
def test_every_combination_of_flags_is_a_status_as_arrays_have_it(kind):
    for flags in range(64):
        assert Status(kind(flags)) == flags and isinstance(Status(kind(flags)), Status)
    with pytest.raises(TypeError, match="integer"):
        Status(0.5)


def test_results_are_named_tuples():
    assert ik2bone.Solution._fields == ("mid", "end", "miss", "status")
    assert ik2bone.Rotations._fields == ("root", "mid")
    assert ik2bone.PoseSolution._fields == ("root", "mid", "end", "position", "miss", "status")
    assert ik2bone.Crossings._fields == ("row", "distance", "triangle")
    assert ik2bone.Hits._fields == ("point", "normal", "triangle")


def test_the_mesh_shows_signatures_and_docstrings():
    assert list(inspect.signature(ik2bone.Mesh).parameters) == ["vertices", "triangles"]
    for name in ("crossings", "cast", "nearest"):
        method = getattr(ik2bone.Mesh, name)
        assert all(
            parameter in method.__doc__ for parameter in inspect.signature(method).parameters if parameter != "self"
        )
    assert ik2bone.Mesh.bounds.__doc__ and ik2bone.Mesh.normals.__doc__


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_told_of_beside_the_signature(name):
    """The options of solve and orient are told of once, there."""
    function = getattr(ik2bone, name)
    text = function.__doc__ + ik2bone.solve.__doc__ + (ik2bone.orient.__doc__ if name == "solve_pose" else "")
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"\b{parameter}\b", text), parameter


def test_the_stub_names_parameters_in_the_order_of_the_functions():
    stub = ast.parse((Path(ik2bone.__file__).parent / "_core.pyi").read_text())
    told = {node.name: node.args for node in stub.body if isinstance(node, ast.FunctionDef)}
    for name in FUNCTIONS:
        names = [a.arg for a in (*told[name].posonlyargs, *told[name].args, *told[name].kwonlyargs)]
        assert names == list(inspect.signature(getattr(ik2bone, name)).parameters), name


def test_everything_public_is_listed_loaded_or_not():
    assert set(ik2bone.__all__) <= set(dir(ik2bone))


def test_the_module_is_named_and_documented():
    assert ik2bone._core.__name__ == "ik2bone._core"
    assert ik2bone._core.__doc__
