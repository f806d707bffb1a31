# SPDX-License-Identifier: MIT
"""The fuzz: its fast twin agrees with the readable twin and with sixty digits, and finds planted faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ik2bone
import numpy as np
import pytest

from tests.functions import functions
from tests.fuzz import __main__ as fuzz
from tests.fuzz import families, twin
from tests.fuzz.bulk import bulk_calls
from tests.fuzz.calls import Call
from tests.fuzz.trials import mesh_trial, results_of, trial

sys.path.append(str(Path(__file__).parent))  # the twin's modules import each other by their bare names
import precise  # noqa: E402
import reference  # noqa: E402
from reference_vectors import Precision, quaternion  # noqa: E402

ROWS = 300


def call_of(name: str, seed: int, number: int, rows: int = ROWS) -> Call:
    """The call of this number among those of one function, with rows that are not made hard."""
    with np.errstate(all="ignore"):
        calls = list(bulk_calls(np.random.default_rng(seed), rows, name, wild=0.0))
    return calls[number % len(calls)]


def rows_of(call: Call):
    """The arguments of each row: the positional ones, and the others by name."""
    for row in range(call.count):
        given = {name: call.rows(name)[row] for name in call.values}
        given = {name: value if value.ndim else float(value) for name, value in given.items()}
        yield [given.pop(name) for name in call.function.positional], given | call.words


def stacked(call: Call, rows: list[tuple]) -> dict[str, np.ndarray]:
    """The results of all rows by name, in the precision of the call."""
    columns = zip(call.function.outputs, zip(*rows, strict=True), strict=True)
    kinds = {name: np.dtype("u1") if name == "status" else call.kind for name in call.function.outputs}
    return {name: np.array(column, kinds[name]) for name, column in columns if column[0] is not None}


@pytest.mark.parametrize("name", ["solve", "solve_pose", "orient"])
@np.errstate(all="ignore")
def test_the_fast_twin_agrees_with_the_readable_one(name):
    """A few rows may differ, because the readable twin, in double precision, has half of its digits on the hardest."""
    checked = differing = 0
    for number in range(12):
        call = call_of(name, number, 3 * number, 60)
        twins = getattr(reference, name)
        rows = [twins(*points, precision=Precision.of(call.kind), **options) for points, options in rows_of(call)]
        results = stacked(call, rows)
        if name == "solve_pose" and "end" in results:  # joints that do not turn, for which the solver must be exact
            results["end"][np.abs(results["end"] - [1, 0, 0, 0]).max(-1) < 1e-12] = 1, 0, 0, 0
        codes = twin.judge(call, results)
        checked += call.count
        differing += np.count_nonzero((codes > 0) & (codes <= twin.PARTS + 1))
    assert differing < 0.02 * checked


def ordinary(call: Call) -> np.ndarray:
    """The rows that `precise` can solve: neither invalid nor singular, and without directions of length zero."""
    status = results_of(call, call.values)[-1]
    directions = [name for name in ("pole", "hinge", "cone_axis") if name in call.values]
    return (status & 48 == 0) & np.all([np.any(call.values[name], axis=-1) for name in directions], axis=0)


@pytest.mark.parametrize("name", ["solve", "solve_pose"])
@np.errstate(all="ignore")
def test_the_fast_twin_agrees_with_sixty_digits(name):
    """The solver in sixty digits has no status, and no answer for singular rows."""
    checked = differing = 0
    for number in range(0, 40, 4):
        call = call_of(name, 3, number, 6)
        got = {n: r for n, r in zip(call.function.outputs, results_of(call, call.values), strict=True) if r is not None}
        for row, (points, options) in enumerate(rows_of(call)):
            if not ordinary(call)[row] or (call.words.get("roll") == "hinge" and not np.any(options["hinge"])):
                continue
            try:
                exact = getattr(precise, name)(*points, straight=float(Precision.of(call.kind).straight), **options)
            except (ValueError, ZeroDivisionError):
                continue  # the row has no answer
            places = [np.array(part, float) for part in exact if part is not None]
            for key, place in zip([key for key in got if key not in ("miss", "status")], places, strict=True):
                got[key][row] = quaternion(place) if place.shape == (3, 3) else place
            checked += 1
        codes = twin.judge(call, got)
        differing += np.count_nonzero((codes > 0) & (codes <= twin.PARTS))
    assert differing < 0.02 * checked
    assert checked > 20


FAULTS = {
    "solve": ("(2 - soften) * greatest", "(2.01 - soften) * greatest"),
    "solve_pose": ("number01(r, WEIGHT) * 2 * atan2", "number01(r, WEIGHT) * 1.999 * atan2"),
    "orient": (
        "rolling * atan2(dot(axis, cross(a, b)), dot(a, b))",
        "rolling * atan2(dot(axis, cross(b, a)), dot(a, b))",
    ),
    "pole_of": ("l.bend = unit(reject(l.bend, l.line));", "l.bend = mul(1.0001, unit(reject(l.bend, l.line)));"),
    "hinge_of": ("normal = cross(root, length(line)", "normal = cross(mul(-1, root), length(line)"),
    "multiply": ("q.w * r.w - dot(q.v, r.v), v}", "q.w * r.w + dot(q.v, r.v), v}"),
}


def plant(folder: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str) -> None:
    """Let rows be judged by a copy of the twin in which one formula is wrong.

    The copy judges few rows, nearly all of which differ. So it is compiled without optimization and takes few samples.
    """
    found = 0
    for source in twin.SOURCE.parent.glob("twin*.[ch]"):
        text = source.read_text()
        found += text.count(right)
        (folder / source.name).write_text(text.replace(right, wrong))
    assert found == 1
    monkeypatch.setattr(twin, "SOURCE", folder / twin.SOURCE.name)
    monkeypatch.setattr(twin, "FLAGS", [flag for flag in twin.FLAGS if flag != "-O2"])
    monkeypatch.setattr(twin, "TWINS", ((True, 8), (False, 8)))


def test_a_folded_limb_whose_target_is_on_the_root_may_round_its_height():
    """By the first of two roundings the line turns under the upper bone, by the other the bone turns under the line."""
    values = {
        "root": [-0.06298044445532874, -0.0573974257180201, 2.1230104644399885],
        "mid": [-0.14457083738859494, -0.5075478210054463, 2.324771534529288],
        "end": [-0.06298041181916658, -0.05739724565782656, 2.1230103837355423],
        "target": [-0.06298044445532874, -0.0573974257180201, 2.1230104644399885],
        "twist": 0.0,
        "hinge": [0.0042938582662437365, -0.0015642606612227198, -0.001421840007868066],
        "soften": 0.7017189508612934,
        "weight": 0.9984715619831066,
        "min_angle": 1.3877166384679167,
        "max_angle": 1.8357371470472426,
    }
    call = Call(functions()["solve"], (1,), {name: np.array([value]) for name, value in values.items()}, {})
    assert not twin.judge(call, named(call)).any()


def test_the_flag_of_a_cone_may_be_either_where_places_are_as_uncertain_as_a_move_that_counts():
    """A folded limb, its target on the root and its upper bone on the edge of the cone, which is widened to it."""
    values = {
        "root": [-1.4891251402538488, -0.12394341238396493, 0.09923192342794604],
        "mid": [-1.491166275661857, -0.1337125907624255, 0.09986193934520031],
        "end": [-1.289093870285118, 0.8334360687080224, 0.037490363529170484],
        "target": [-1.4891251402538488, -0.12394341238396493, 0.09923192342794604],
        "weight": 0.6806311761124721,
        "min_angle": 1.1011880521261022,
        "cone_axis": [1.819483654627213, 1.0632566717327134, -0.6853645317096071],
        "cone_angle": 2.156196237286754,
    }
    call = Call(functions()["solve"], (1,), {name: np.array([value]) for name, value in values.items()}, {})
    for limited in (0, ik2bone.Status.LIMITED):
        got = named(call)
        got["status"] = got["status"] & ~np.uint8(ik2bone.Status.LIMITED) | np.uint8(limited)
        assert not twin.judge(call, got).any()


def test_the_flag_of_a_cone_is_judged_where_the_target_is_on_the_root_of_a_bent_limb():
    rng, rows = np.random.default_rng(7), 200
    values = {name: rng.normal(size=(rows, 3)) for name in ("root", "mid", "end", "cone_axis")}
    values |= dict(target=values["root"], weight=rng.uniform(0.1, 0.9, rows), cone_angle=rng.uniform(0, 1, rows))
    values = {name: values[name] for name in functions()["solve"].inputs if name in values}
    call = Call(functions()["solve"], (rows,), values, {})
    got = named(call)
    assert not twin.judge(call, got).any()
    limited = got["status"] & np.uint8(ik2bone.Status.LIMITED)
    assert np.count_nonzero(limited) > 20
    got["status"] -= limited
    assert np.array_equal(twin.judge(call, got) > 0, limited > 0)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_limb_whose_end_is_near_its_root_may_be_straight(dtype):
    """Its height is told from the line, because the lower bone leaves no digits of it."""
    rng, rows = np.random.default_rng(6), 2000
    way = families.directions(rng, rows)
    line = 10 ** rng.uniform(-12, -6, (rows, 1)) * way + 1e-16 * families.directions(rng, rows)
    values = dict(mid=0.5 * way, end=line, target=families.directions(rng, rows))
    values = {name: value.astype(dtype) for name, value in values.items()}
    call = Call(functions()["solve"], (rows,), {"root": np.zeros((rows, 3), dtype)} | values, {})
    codes = twin.judged(True, 0, call, call.values, named(call))
    assert np.count_nonzero(codes == twin.PARTS + 1) == 0


@pytest.mark.parametrize("name", FAULTS)
@np.errstate(all="ignore")
def test_a_planted_fault_is_found(name, tmp_path, monkeypatch):
    plant(tmp_path, monkeypatch, *FAULTS[name])
    calls = bulk_calls(np.random.default_rng(4), ROWS, name)
    assert any(twin.judge(call, named(call)).any() for call in calls)


def named(call: Call) -> dict[str, np.ndarray]:
    """The solver's results for a call, by name, with one row along the first axis for each row of the call."""
    shapes = call.function.outputs
    results = zip(shapes, results_of(call, call.values), strict=True)
    return {n: r.reshape(call.count, *shapes[n]) for n, r in results if r is not None}


def run(*arguments: str) -> int:
    return fuzz.main(["--build", ik2bone._core.build, "--seed", "1", "--rows", "2000", *arguments])


def test_a_finding_ends_the_run_with_its_seed_and_row(tmp_path, monkeypatch, capsys):
    assert run("--trial", "0") == 0
    name = capsys.readouterr().out.split("\n")[1].split()[1]
    plant(tmp_path, monkeypatch, *FAULTS[name])
    assert run("--trial", "0") == 1
    told = capsys.readouterr().out
    assert f"{name}: " in told
    assert ", first " in told
    assert f"python -m tests.fuzz --build {ik2bone._core.build} --seed 1 --rows 2000 --trial 0" in told


@pytest.mark.parametrize("ended, status", [(0, 0), (1, 1), (-11, 1)])
def test_a_build_that_ends_by_a_crash_is_a_finding(ended, status, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda command, env: subprocess.CompletedProcess(command, ended))
    assert fuzz.main(["--seconds", "1"]) == status


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls_are_as_the_twin_has_them(seed):
    findings = [finding for number in range(3) for _, found in trial(seed, number, 2000) for finding in found]
    assert [f"{finding.call.function.name}: {finding.law}" for finding in findings] == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_meshes_break_no_law(seed):
    assert [law for number in range(100) for law in mesh_trial(seed, number)] == []
