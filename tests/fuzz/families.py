# SPDX-License-Identifier: MIT
"""Random rows: generic limbs, and wild ones that are straight, folded, opposite, huge, tiny, too far or not finite.

All numbers are made in float64, and the caller rounds them. `wild` is the share of rows that are not generic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.fuzz.vectors import Array, affine, apply, inverse, length, rotation, same, unit

Generator = np.random.Generator


def directions(rng: Generator, count: int) -> Array:
    return unit(rng.normal(size=(count, 3)) + 1e-30)


def rotations(rng: Generator, count: int) -> Array:
    q = rng.normal(size=(count, 4)) + 1e-30
    return rotation(q / np.sqrt((q * q).sum(1))[:, None])


def deviations(rng: Generator, count: int) -> Array:
    """Lengths from 1e-18 to 0.3, distributed evenly over the orders of magnitude; some are zero."""
    size = 10 ** rng.uniform(-18, -0.5, count)
    return np.where(rng.random(count) < 0.15, 0.0, size)[:, None]


def near(rng: Generator, v: Array) -> Array:
    """The vectors with small deviations, some of them zero."""
    return v + deviations(rng, len(v)) * length(v)[:, None] * directions(rng, len(v))


def bones(rng: Generator, count: int, wild: float) -> tuple[Array, Array]:
    """The upper and lower bones of limbs of reach 1. Wild limbs are nearly straight, folded, equal or 100 : 1."""
    part = rng.uniform(0.2, 0.8, count)
    kind = rng.integers(0, 6, count)
    odd = rng.random(count) < wild
    part = np.where(odd & (kind % 2 == 0), rng.choice([0.5, 0.01, 0.99, 0.4999999], count), part)
    upper, lower = directions(rng, count), directions(rng, count)
    bent = np.where((kind < 3)[:, None], near(rng, upper), near(rng, -upper))
    lower = np.where((odd & (kind != 5))[:, None], unit(bent), lower)
    return part[:, None] * upper, (1 - part)[:, None] * lower


def on_the_edge(rng: Generator, upper: Array, lower: Array) -> Array:
    """Targets near full reach or the fold, on either side."""
    u, v = length(upper), length(lower)
    edge = np.where(rng.random(len(u)) < 0.5, u + v, abs(u - v))
    return (edge[:, None] + deviations(rng, len(u)) * rng.choice([-1, 1], (len(u), 1))) * directions(rng, len(u))


TARGETS: tuple[Callable[[Generator, Array, Array], Array], ...] = (
    lambda rng, upper, lower: upper + lower,
    lambda rng, upper, lower: near(rng, upper + lower),
    lambda rng, upper, lower: near(rng, -(upper + lower)) * rng.uniform(0, 2, (len(upper), 1)),
    lambda rng, upper, lower: np.zeros_like(upper),
    lambda rng, upper, lower: deviations(rng, len(upper)) * directions(rng, len(upper)),
    on_the_edge,
    lambda rng, upper, lower: near(rng, upper) * rng.uniform(0, 2, (len(upper), 1)),
    lambda rng, upper, lower: directions(rng, len(upper)) * 10 ** rng.uniform(0, 18, (len(upper), 1)),
)


def targets(rng: Generator, upper: Array, lower: Array, wild: float) -> Array:
    """Targets relative to the root. Generic ones are in reach, wild ones near singularities or edges, or far away."""
    count = len(upper)
    u, v = length(upper), length(lower)
    least = abs(u - v)
    result = (least + rng.random(count) * (u + v - least))[:, None] * directions(rng, count)
    kind = np.where(rng.random(count) < wild, rng.integers(0, len(TARGETS), count), -1)
    for which, make in enumerate(TARGETS):
        rows = np.flatnonzero(kind == which)
        result[rows] = make(rng, upper[rows], lower[rows])
    return result


def sizes(rng: Generator, count: int, wild: float) -> Array:
    """Units of length: mostly 1, else from 1e-15 to 1e15."""
    size = 10 ** rng.uniform(-15, 15, (count, 1))
    return np.where(rng.random((count, 1)) < wild / 2, size, 1.0)


def offsets(rng: Generator, count: int) -> Array:
    """The places of roots, in units of the reach."""
    return rng.normal(size=(count, 3)) * rng.choice([0.0, 1.0, 1.0, 1000.0])


def limbs(rng: Generator, count: int, wild: float) -> dict[str, Array]:
    """The positions of root, mid, end and target by name."""
    upper, lower = bones(rng, count, wild)
    aim = targets(rng, upper, lower, wild)
    root, size = offsets(rng, count), sizes(rng, count, wild)
    return dict(
        root=root * size,
        mid=(root + upper) * size,
        end=(root + upper + lower) * size,
        target=np.where(same(aim, upper + lower)[:, None], root + upper + lower, root + aim) * size,
    )


SPACES = ("identity", "rigid", "nearly rigid", "scaled", "stretched", "sheared", "mirrored", "narrow")


def spaces(rng: Generator, count: int, kind: str) -> Array:
    """The linear parts of ancestors' transforms. Those of the kind "narrow" are nearly singular."""
    turn = rotations(rng, count)
    if kind == "identity":
        return np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
    if kind == "rigid":
        return turn
    if kind == "nearly rigid":
        return turn @ (np.eye(3) + deviations(rng, count)[:, :, None] * rng.uniform(-1, 1, (count, 3, 3)))
    if kind == "scaled":
        return turn * rng.uniform(0.5, 2, (count, 1, 1))
    if kind == "narrow":
        return turn * 10 ** rng.uniform(-4, 0, (count, 1, 3)) @ rotations(rng, count)
    stretch = rng.uniform(0.6, 1.7, (count, 1, 3))
    if kind == "mirrored":
        stretch *= rng.choice([-1.0, 1.0], (count, 1, 3))
    return turn * stretch if kind == "stretched" else turn * stretch @ rotations(rng, count)


def scales(rng: Generator, count: int, wild: float) -> Array:
    """The own scales of a joint. A few of the wild ones are zero."""
    scale = rng.uniform(0.5, 2, (count, 3)) * rng.choice([-1.0, 1.0], (count, 3))
    scale[rng.random(count) < 0.3] = 1.0
    scale[rng.random(count) < 0.02 * wild, 0] = 0.0
    return scale


def poses(rng: Generator, count: int, wild: float, scaled: bool) -> dict[str, Array]:
    """The aggregate transforms of root, mid and end joint, the end and the target.

    If `scaled`, root and mid joint have own scales.
    """
    above = spaces(rng, count, str(rng.choice(SPACES)))
    upper, lower = bones(rng, count, wild)
    aim = targets(rng, upper, lower, wild)
    inner, tip = rotations(rng, count), rotations(rng, count)
    if rng.random() < 0.2:
        inner = inner @ spaces(rng, count, "sheared")  # non-uniform between root and mid
    if rng.random() < 0.5:
        tip = spaces(rng, count, "sheared")
    own = [scales(rng, count, wild) if scaled else np.ones((count, 3)) for _ in range(2)]
    at, size = offsets(rng, count), sizes(rng, count, wild)
    linear = above * (size if rng.random() < 0.5 else np.ones_like(size))[:, :, None]
    place = lambda point: (at + apply(above, point)) * size  # noqa: E731
    end = place(upper + lower)
    return dict(
        root_matrix=affine(linear * own[0][:, None], at * size),
        mid_matrix=affine(linear @ inner * own[1][:, None], place(upper)),
        end=end,
        end_matrix=affine(linear @ inner @ tip, end),
        target=np.where(same(aim, upper + lower)[:, None], end, place(aim)),
        root_scale=own[0],
        mid_scale=own[1],
    )


def turned(rng: Generator, bone: Array, wild: float) -> Array:
    """Bones in new directions. Wild bones have the old or the opposite direction, some with small deviations."""
    odd = rng.random((len(bone), 1)) < wild
    back = near(rng, bone * rng.choice([-1.0, 1.0], (len(bone), 1)))
    kept = back * (length(bone) / length(back))[:, None]
    return np.where(odd, kept, length(bone)[:, None] * directions(rng, len(bone)))


def turned_bones(rng: Generator, pose: dict[str, Array], wild: float) -> dict[str, Array]:
    """New positions of mid and end joint for `orient`, with the lengths of the bones in the root's frame."""
    root, mid, end = pose["root_matrix"], pose["mid_matrix"][:, :3, 3], pose["end"]
    frame = root[:, :3, :3] / pose["root_scale"][:, None]
    inward = inverse(frame)
    upper = turned(rng, apply(inward, mid - root[:, :3, 3]), wild)
    lower = turned(rng, apply(inward, end - mid), wild)
    new_mid = root[:, :3, 3] + apply(frame, upper)
    return dict(new_mid=new_mid, new_end=new_mid + apply(frame, lower))


NUMBERS: dict[str, tuple[float, float, tuple[float, ...]]] = {
    "pole_weight": (-0.2, 1.2, (0.0, 1.0)),
    "twist": (-4.0, 4.0, (0.0,)),
    "soften": (0.3, 1.1, (0.0, 1.0, 0.001)),
    "weight": (-0.2, 1.2, (0.0, 1.0)),
    "min_angle": (-0.1, 1.5, (0.0, 3.0)),
    "max_angle": (1.0, 3.3, (np.pi, 0.0)),
    "cone_angle": (-0.1, 3.3, (0.0, np.pi)),
}


def numbers(rng: Generator, name: str, count: int) -> Array:
    """Values of an option over its range and a little beyond, including its special values."""
    least, greatest, special = NUMBERS[name]
    anything = rng.uniform(least, greatest, count)
    return np.where(rng.random(count) < 0.2, rng.choice(special, count), anything)


def option_directions(rng: Generator, count: int, along: Array, wild: float) -> Array:
    """Poles, hinges and axes of any length, some of them zero; wild ones may lie nearly along or against `along`."""
    result = directions(rng, count) * 10 ** rng.uniform(-3, 3, (count, 1))
    odd = rng.random(count) < wild / 2
    result = np.where(odd[:, None], near(rng, along * rng.choice([-1.0, 1.0], (count, 1))), result)
    result[rng.random(count) < 0.05] = 0.0
    return result


def quaternions(rng: Generator, count: int, wild: float) -> Array:
    """Quaternions of unit length. Wild ones have any length, including zero."""
    q = rng.normal(size=(count, 4)) + 1e-30
    q /= np.sqrt((q * q).sum(1))[:, None]
    odd = rng.random((count, 1)) < wild
    return np.where(odd, q * np.where(rng.random((count, 1)) < 0.1, 0.0, sizes(rng, count, 1.0)), q)


def spoil(rng: Generator, values: Array, most: float = 0.5) -> None:
    """Put NaN or infinity into some rows of `values` (rows, numbers), in place."""
    hit = np.flatnonzero(rng.random(len(values)) < rng.choice([0.001, most / 10, most]))
    values[hit, rng.integers(0, values.shape[1], len(hit))] = rng.choice([np.nan, np.inf, -np.inf], len(hit))
