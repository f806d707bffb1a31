# SPDX-License-Identifier: MIT
"""Every build of the loops gives the same digits: the best one of this processor, and those that older ones get."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import ik2bone
import numpy as np
import pytest
from functions import FUNCTIONS

BUILDS = ("plain", "avx2", "avx512")
ROWS = 2000
FOLDERS = [str(Path(ik2bone.__file__).parents[1]), str(Path(__file__).parents[1])]


def arguments(function, rng, dtype):
    """Random numbers for all arguments; every tenth row holds a NaN or infinity somewhere, some are not to move."""
    given = {name: rng.normal(size=(ROWS, *row)).astype(dtype) for name, row in function.inputs.items()}
    for array in given.values():
        bad = rng.random(ROWS) < 0.1 / len(given)
        array[bad, ...] = rng.choice([np.nan, np.inf])
    if "target" in given:
        given["target"][::17] = given["end"][::17]
    return given


def calls():
    """Each function plain, with each option alone, and with all of them, in both precisions."""
    for function in FUNCTIONS.values():
        options = list(function.options)
        for chosen in ([], *([name] for name in options), options):
            for words in ({}, {name: choices[1] for name, choices in function.words.items()}):
                for dtype in (np.float32, np.float64):
                    yield function, set(chosen), words, dtype


def digest():
    """One number for the bytes of all results of all calls."""
    rng, found = np.random.default_rng(0), hashlib.sha256()
    for function, chosen, words, dtype in calls():
        given = arguments(function, rng, dtype)
        needed = {"hinge"} if words.get("roll") == "hinge" else set()
        needed |= {"end_matrix"} if "end_goal" in chosen else set()
        kept = {*function.positional, *chosen, *needed}
        result = function({name: value for name, value in given.items() if name in kept} | words)
        for part in result if isinstance(result, tuple) else (result,):
            # The sign of a NaN is no digit.
            found.update(b"" if part is None else np.where(np.isnan(part), np.nan, part).tobytes())
    return found.hexdigest()


def run(build, code):
    """The answer of a fresh interpreter in which this build is asked for."""
    environment = os.environ | dict(IK2BONE_BUILD=build, PYTHONPATH=os.pathsep.join([*FOLDERS, *sys.path]))
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def test_every_build_of_this_processor_gives_the_same_digits():
    code = "import solver.test_builds as t; from ik2bone import _core; print(_core.build, t.digest())"
    best = BUILDS.index(ik2bone._core.build)
    told = {}
    for build in BUILDS[: best + 1]:
        answer = run(build, code)
        assert answer.returncode == 0, answer.stderr
        used, told[build] = answer.stdout.split()
        assert used == build
    assert len(set(told.values())) == 1, told
    if best == 0:
        pytest.skip("this processor has one build alone")


def test_an_empty_name_is_as_none():
    answer = run("", "from ik2bone import _core; print(_core.build)")
    assert answer.stdout.strip() in BUILDS, answer.stderr


def test_a_build_that_there_is_not_is_refused():
    answer = run("mmx", "import ik2bone")
    assert answer.returncode != 0
    assert "IK2BONE_BUILD: expected 'plain', 'avx2' or 'avx512', as far as this processor has it, got 'mmx'" in (
        answer.stderr
    )
