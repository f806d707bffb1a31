# SPDX-License-Identifier: MIT
"""Random calls and their findings: many calls in bulk, and one call that is made in several ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.bulk import bulk_calls
from tests.fuzz.calls import Call, random_call
from tests.fuzz.layouts import Placed, columns, place
from tests.fuzz.mesh_laws import laws_of_mesh
from tests.fuzz.skeletons import wrong_transforms
from tests.fuzz.twin import judge, law_of
from tests.fuzz.vectors import Array, same_bits

Generator = np.random.Generator
Results = tuple[Array | None, ...]
SINGLE_ROWS = 3
MOST_IN_COLUMNS = 5000


@dataclass(frozen=True)
class Finding:
    """A law that is broken, the number of rows that break it, the first of these rows, and the call."""

    law: str
    count: int
    row: int
    call: Call


def results_of(call: Call, values: dict[str, Array], out: Any = None) -> Results:
    """The results of the call's function for these values, as a tuple."""
    results = call.function({**call.shown(values), **call.words}, out=out)
    return tuple(results) if isinstance(results, tuple) else (results,)


def output_shapes(call: Call) -> dict[str, tuple[tuple[int, ...], Any]]:
    """The shape and dtype of every output that the call returns."""
    return {
        name: ((*call.extent, *row), np.dtype("u1") if name == "status" else call.kind)
        for name, row in call.function.outputs.items()
        if not (call.function.name == "solve_pose" and name == "end" and "end_matrix" not in call.values)
    }


def placed_inputs(rng: Generator, call: Call, full: list[str]) -> dict[str, Placed]:
    """All arguments, each in its own layout, at times broadcast by strides of zero."""
    placed = {}
    for name, values in call.values.items():
        if name in call.lists:
            placed[name] = Placed(values.tolist(), None, None)
        elif name not in full and rng.random() < 0.3:
            spread = np.broadcast_to(values, (*call.extent, *call.function.inputs[name]))
            placed[name] = Placed(spread, None, None)
        else:
            placed[name] = place(rng, values)
    return placed


def layout(rng: Generator, call: Call) -> tuple[dict[str, Placed], dict[str, Placed]]:
    """Placed inputs and outputs: apart, in columns of one memory, or with some outputs in the memory of inputs."""
    outputs = {name: np.full(shape, 77, kind) for name, (shape, kind) in output_shapes(call).items()}
    lead = len(call.extent)
    full = [n for n, v in call.values.items() if n not in call.lists and v.shape[:lead] == call.extent]
    full = [n for n in full if call.values[n].ndim == lead + len(call.function.inputs[n])]
    inputs = placed_inputs(rng, call, full)
    if lead and 0 < call.count <= MOST_IN_COLUMNS and rng.random() < 0.3:
        together = columns(rng, {f"in {n}": call.values[n] for n in full} | outputs, lead)
        return inputs | {n: together[f"in {n}"] for n in full}, {n: together[n] for n in outputs}
    placed = {name: place(rng, values, output=True) for name, values in outputs.items()}
    if rng.random() < 0.3:
        for name, values in outputs.items():
            fitting = [n for n in full if call.values[n].dtype == values.dtype and call.values[n].shape == values.shape]
            fitting = [
                n for n in fitting if getattr(inputs[n].given, "flags", None) is None or inputs[n].given.flags.writeable
            ]
            if fitting:
                chosen = str(rng.choice(fitting))
                placed[name] = inputs[chosen]
                full.remove(chosen)
    return inputs, placed


def check_memory(before: dict[int, tuple[Array, Array]], outputs: dict[str, Placed]) -> bool:
    """Whether all memory is as before apart from the outputs."""
    for memory, kept in before.values():
        expected = kept.copy()
        for placed in outputs.values():
            if placed.memory is memory:
                start = placed.view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
                view = placed.view
                np.ndarray(view.shape, view.dtype, expected, start, view.strides)[...] = view
        if not np.array_equal(memory, expected):
            return False
    return True


def check_layout(rng: Generator, call: Call, plain: Results) -> Iterator[str]:
    """The laws that the call breaks in a random layout with given outputs: same bits, and no other memory written."""
    inputs, outputs = layout(rng, call)
    before = {
        id(p.memory): (p.memory, p.memory.copy()) for p in (*inputs.values(), *outputs.values()) if p.memory is not None
    }
    shown = {name: p.given for name, p in inputs.items()}
    out = tuple(outputs[name].given if name in outputs else None for name in call.function.outputs)
    results = call.function({**shown, **call.words}, out=out if len(out) > 1 else out[0])
    results = results if isinstance(results, tuple) else (results,)
    if any(a is not b for a, b in zip(results, out, strict=True)):
        yield "the given out is returned"
    if not all(same_bits(p.view[None], plain_of(call, plain, name)[None]).all() for name, p in outputs.items()):
        yield "layout and shape change no bit"
    if not check_memory(before, outputs):
        yield "memory round the outputs stays as it was"


def plain_of(call: Call, plain: Results, name: str) -> Array:
    found = plain[list(call.function.outputs).index(name)]
    assert found is not None
    return found


def check_rows(rng: Generator, call: Call, plain: Results) -> Iterator[str]:
    """The laws that the call breaks with all rows in one dimension, and with single rows: the same bits."""
    flat = {name: call.rows(name) for name in call.values if name not in call.lists}
    flat |= {name: call.values[name] for name in call.lists}
    if not call.lists or all(call.values[n].ndim == len(call.function.inputs[n]) for n in call.lists):
        whole = results_of(call, flat)
        if not all(a is None or same_bits(a, np.reshape(b, a.shape)).all() for a, b in zip(whole, plain, strict=True)):
            yield "shape changes no bit"
    for _ in range(min(SINGLE_ROWS, call.count)):
        place = tuple(int(rng.integers(size)) for size in call.extent)
        one = results_of(call, {name: call.whole(name)[place] for name in call.values})
        if not all(a is None or same_bits(a[None], b[place][None]).all() for a, b in zip(one, plain, strict=True)):
            yield "a row alone has the same bits"


def check_kinds(call: Call, plain: Results) -> Iterator[str]:
    shapes = output_shapes(call)
    for name, result in zip(call.function.outputs, plain, strict=True):
        if (result is None) != (name not in shapes):
            yield "an output is there that should not be, or is not that should"
        elif result is not None and (result.shape, result.dtype) != shapes[name]:
            yield "results have the extent's shape and the kind of the arrays"


def check_twin(call: Call, plain: Results) -> Iterator[Finding]:
    """The findings of the twin, or of the products in `skeletons` for `aggregate`."""
    if call.function.name == "aggregate":
        wrong = wrong_transforms(call, plain[0])
        if wrong.any():
            yield Finding("a transform is the product of those above", int(wrong.sum()), int(np.argmax(wrong)), call)
        return
    shapes = call.function.outputs
    results = {n: r.reshape(call.count, *shapes[n]) for n, r in zip(shapes, plain, strict=True) if r is not None}
    codes = judge(call, results)
    for code in np.unique(codes[codes > 0]):
        rows = codes == code
        yield Finding(law_of(call, int(code)), int(rows.sum()), int(np.argmax(rows)), call)


def ways(rng: Generator, call: Call, plain: Results) -> Iterator[Finding]:
    """The findings where results depend on the way in which a call is made, or where other memory is written."""
    broken = [*check_kinds(call, plain)]
    if not broken:
        broken = [*check_layout(rng, call, plain), *check_rows(rng, call, plain)]
    yield from (Finding(law, call.count, 0, call) for law in broken)


@np.errstate(all="ignore")  # calls hold NaN and infinity on purpose
def trial(seed: int, number: int, most: int) -> Iterator[tuple[Call, list[Finding]]]:
    """The calls of the trial with this number, each with its findings."""
    rng = np.random.default_rng([seed, number])
    call = random_call(rng, most)
    with np.errstate(all="ignore"):
        plain = results_of(call, call.values)
        yield call, [*ways(rng, call, plain), *(check_twin(call, plain) if call.count else ())]
        for call in bulk_calls(rng, most):
            yield call, [*check_twin(call, results_of(call, call.values))]


@np.errstate(all="ignore")
def mesh_trial(seed: int, number: int) -> list[str]:
    """The laws that the random mesh of the trial with this number breaks."""
    return [law for law, rows in laws_of_mesh(np.random.default_rng([seed, number])) if rows.any()]
