# SPDX-License-Identifier: MIT
"""Smooth closed paths of targets and options, and their distances from the singularities of the contract."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi

import ik2bone
import limbs
import numpy as np


def curve(rng, count, dims):
    """`count` points of a random closed curve of three harmonics, of a size near 1."""
    s = np.linspace(0, 2 * pi, count, endpoint=False)[:, None]
    sines, cosines = rng.normal(size=(2, 3, dims)) / np.sqrt([[1.0], [2], [3]]) / 2
    return 0.3 * rng.normal(size=dims) + sum(
        sines[k] * np.sin((k + 1) * s) + cosines[k] * np.cos((k + 1) * s) for k in range(3)
    )


def number(rng, count, least, greatest):
    """A path of numbers that goes over the whole range from `least` to `greatest`."""
    return least + (greatest - least) * (0.5 - 0.5 * np.cos(3 * curve(rng, count, 1)[:, 0]))


def unit(v):
    return v / limbs.length(v)[..., None]


def reject(v, axis):
    return v - (v * axis).sum(-1, keepdims=True) * axis


def angle(a, b):
    return np.arctan2(limbs.length(np.cross(a, b)), (a * b).sum(-1))


OPTIONS = {
    "soften": lambda rng, count: dict(soften=number(rng, count, 0.5, 0.95)),
    "weight": lambda rng, count: dict(weight=number(rng, count, 0, 1)),
    "pole": lambda rng, count: dict(pole=unit(curve(rng, count, 3))),
    "pole_weight": lambda rng, count: dict(pole_weight=number(rng, count, 0, 1)),
    "twist": lambda rng, count: dict(twist=number(rng, count, -3, 3)),
    "limits": lambda rng, count: dict(min_angle=number(rng, count, 0.5, 1.5), max_angle=number(rng, count, 1.7, 2.9)),
    "cone": lambda rng, count: dict(cone_axis=unit(curve(rng, count, 3)), cone_angle=number(rng, count, 0.3, 1.5)),
}


@dataclass(frozen=True)
class Path:
    """A limb of reach 1 at the origin, and the targets and options of each row."""

    mid: np.ndarray
    end: np.ndarray
    target: np.ndarray
    options: dict[str, np.ndarray]
    bend: str = "carried"

    def arguments(self, dtype=np.float64):
        numbers = {name: value.astype(dtype) for name, value in self.options.items()}
        points = (np.zeros(3), self.mid, self.end, self.target)
        return [p.astype(dtype) for p in points], numbers | dict(bend=self.bend)

    def solved(self, dtype=np.float64):
        points, options = self.arguments(dtype)
        return ik2bone.solve(*points, **options)

    def without(self, *names):
        return replace(self, options={k: v for k, v in self.options.items() if not k.startswith(names)})

    @cached_property
    def change(self):
        """The sum of the changes of all inputs from row to row, in reaches, radians and shares of weights."""
        inputs = (self.target, *self.options.values())
        return sum(limbs.length(np.diff(value, axis=0).reshape(len(value) - 1, -1)) for value in inputs)

    @cached_property
    def weight(self):
        return self.options.get("weight", np.ones(len(self.target)))

    @cached_property
    def goal(self):
        """The wanted place of the end, before the cone limit."""
        full = self.without("weight", "pole", "twist", "cone").solved().end
        return self.end + self.weight[:, None] * (full - self.end)

    @cached_property
    def line(self):
        return unit(self.goal)

    @cached_property
    def own_bend(self):
        """The limb's bend on the new line: the nearest bend, or the old one turned by Rodrigues' formula."""
        if self.bend == "nearest":
            return unit(reject(self.mid, self.line))
        line, across = unit(self.end), np.cross(unit(self.end), self.line)
        bend = unit(reject(self.mid, line))
        once = np.cross(across, bend)
        return bend + once + np.cross(across, once) / (1 + (line * self.line).sum(-1))[:, None]


def path(seed, rows, kinds, bend="carried"):
    """A random bent limb, with random paths of targets and of the options of these `kinds`."""
    rng = np.random.default_rng(seed)
    while True:
        root, mid, end = (p[0] for p in limbs.positions(rng, 1, (0.3, 0.7)))
        mid, end = mid - root, end - root
        if limbs.length(end) > 0.3 and limbs.length(reject(mid, unit(end))) > 0.1:
            break
    target = curve(rng, rows, 3)
    return Path(mid, end, target, {k: v for kind in kinds for k, v in OPTIONS[kind](rng, rows).items()}, bend)


# Functions of the distances of each row, in reaches and radians


def from_singularities(path):
    """The distance of each row from the nearest singularity.

    Singularities are a target or goal on the root, opposite lines, a pole along the line or opposite to the bend, the
    nearest bend on the line, and those of the cone.
    """
    part = path.weight * path.options.get("pole_weight", 1.0) if "pole" in path.options else np.zeros(len(path.line))
    distances = [limbs.length(path.target), limbs.length(path.goal)]
    if path.bend == "nearest":
        distances.append(limbs.length(reject(path.mid, path.line)))
    elif np.any(part < 1):
        distances.append(pi - angle(path.line, path.end))
    if "pole" in path.options:
        aside = angle(path.line, path.options["pole"])
        opposite = pi - angle(path.own_bend, reject(path.options["pole"], path.line))
        distances += [np.minimum(aside, pi - aside), np.where(part == 1, pi, opposite)]
    if "cone_axis" in path.options:
        distances += cone_distances(path)[:2]
    return np.min(distances, axis=0)


def cone_distances(path):
    """The distances of the cone's axis from the line, of the bend from opposite to the axis, and of the circle of mid
    joints from parting from the cone.

    The first two are half a turn where the wished mid joint is inside the cone.
    """
    axis, line, wished = path.options["cone_axis"], path.line, path.without("cone").solved().mid
    size = np.maximum(path.options["cone_angle"], angle(path.mid, axis))
    inside, upper = angle(wished, axis) <= size, limbs.length(path.mid)
    across, aside = reject(wished, line), angle(axis, line)
    swing = limbs.length(across) * np.sin(aside)
    needed = upper * np.cos(size) - (wished * line).sum(-1) * np.cos(aside)
    opposite = np.where(swing >= needed, pi - angle(across, reject(axis, line)), pi)
    return [*(np.where(inside, pi, d) for d in (np.minimum(aside, pi - aside), opposite)), abs(swing - needed)]


def from_edges(path):
    """The distance of each row from full reach without softening, from the fold, and from where circle and cone part.

    Angle limits keep a limb from full reach and from the fold.
    """
    upper, lower = limbs.length(path.mid), limbs.length(path.end - path.mid)
    far = limbs.length(path.goal if "weight" in path.options else path.target)
    distances = [np.ones_like(far)]
    if "max_angle" not in path.options:
        distances.append(abs(far - abs(upper - lower)))
        if "soften" not in path.options or "weight" in path.options:
            distances.append(abs(far - upper - lower))
    if "cone_axis" in path.options:
        distances.append(cone_distances(path)[2])
    return np.min(distances, axis=0)


# The same path for transforms


def angle_of(q):
    """The angle of the rotation of a unit quaternion."""
    return 2 * np.arctan2(limbs.length(q[..., 1:]), abs(q[..., 0]))


def turn_between(q, r):
    return angle_of(ik2bone.multiply(q * [1, -1, -1, -1], np.asarray(r, np.float64)))


@dataclass(frozen=True)
class Posed:
    """The limb of a path under an ancestor, with a hinge in mid-joint space and end goals as quaternions."""

    path: Path
    frame: np.ndarray
    own: np.ndarray  # rotations of root, mid and end joint, seen in the frame; the root's is the identity
    hinge: np.ndarray
    goal: np.ndarray

    @cached_property
    def side(self):
        return np.sign(np.linalg.det(self.frame))

    def solved(self, roll, dtype=np.float64):
        path, out = self.path, self.frame.T
        matrices = limbs.affine(self.frame @ self.own, np.array([np.zeros(3), path.mid, path.end]) @ out)
        goal = limbs.affine(self.side * limbs.rotation_matrix(self.goal), np.zeros((len(self.goal), 3)))
        options = {k: v @ out if k in ("pole", "cone_axis") else v for k, v in path.options.items()}
        options |= dict(hinge=self.hinge, end_matrix=matrices[2], end_goal=goal)
        points = (matrices[0], matrices[1], path.end @ out, path.target @ out)
        options = {name: value.astype(dtype) for name, value in options.items()}
        return ik2bone.solve_pose(*(p.astype(dtype) for p in points), **options, bend=path.bend, roll=roll)

    @cached_property
    def change(self):
        return self.path.change + turned([self.goal])


def posed(path, seed, ancestor):
    """The limb of a `path` under a random ancestor of a kind, with a hinge that lies along neither bone."""
    rng = np.random.default_rng(1000 + seed)
    frame, own = limbs.ancestor(rng, 1, ancestor)[0], limbs.rotations(rng, 3)
    own[0] = np.eye(3)
    hinges = limbs.directions(rng, 100)
    aside = [np.sin(angle(hinges @ own[1].T, bone)) for bone in (path.mid, path.end - path.mid)]
    hinge = hinges[np.argmax(np.min(aside, axis=0) > 0.3)]
    goal = curve(rng, len(path.target), 4)
    return Posed(path, frame, own, hinge, goal / limbs.length(goal)[:, None])


def turned(corrections):
    """The largest turn from row to row among these corrections."""
    wide = [np.asarray(q, np.float64) for q in corrections]
    return np.max([turn_between(q[:-1], q[1:]) for q in wide], axis=0)


def from_turning_singularities(posed, roll):
    """The distance of each row from the nearest singularity of the turns.

    Singularities are bones opposite to their old directions. At partial weight they are also a roll or an end goal half
    a turn away, and a lower bone along its hinge, about which no turn is defined.
    """
    s = posed.solved("pose")
    opposite = [pi - angle_of(s.root), pi - angle_of(s.mid)]
    if "weight" not in posed.path.options:
        return np.min(opposite, axis=0) if roll == "pose" else np.full(len(s.mid), pi)
    left, _, right = np.linalg.svd(posed.side * posed.frame @ posed.own[2])
    trace = np.trace(limbs.rotation_matrix(posed.goal) @ (left @ right).T, axis1=1, axis2=2)
    distances = [*opposite, pi - np.arccos(np.clip((trace - 1) / 2, -1, 1))]
    if roll == "hinge":
        hinged = posed.solved("hinge")
        whole = turn_between(s.root, hinged.root) / np.maximum(posed.path.weight, 1e-3)
        into = posed.own[1].T
        axis = unit(reject(posed.hinge, unit(into @ posed.path.mid)))
        lower = limbs.rotation_matrix(hinged.mid) @ unit(into @ (posed.path.end - posed.path.mid))
        distances += [pi - whole, limbs.length(reject(lower, axis))]
    return np.min(distances, axis=0)
