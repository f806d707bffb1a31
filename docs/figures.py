# SPDX-License-Identifier: MIT
"""The figures of mathematics.md, computed by the package itself: python docs/figures.py [FOLDER] draws them as SVG."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import ik2bone
import matplotlib as mpl
import numpy as np
from ik2bone.curves import smooth_between
from ik2bone.hips import SLOW
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

UPPER, LOWER = 1.0, 0.7
# What axes of lengths add to their names.
UNIT = ", upper bones"
BONE, FAINT, WISH, MARK = "#1f6f9f", "#b9b9b9", "#e9b384", "#c0392b"


def draw_cases(figure: Figure) -> None:
    """One limb, three targets: too close, within reach, too far."""
    cases = (("too close", 0.15), ("reachable", 1.2), ("too far", 2.0))
    targets = [[np.cos(0.4) * distance, -np.sin(0.4) * distance, 0.0] for _, distance in cases]
    solved = ik2bone.solve([0, 0, 0], [0.8, 0.6, 0], [1.5, 0.6, 0], targets, pole=[0, 1, 0])
    for number, (name, _) in enumerate(cases):
        axes = figure.add_subplot(1, 3, number + 1)
        for radius in (UPPER - LOWER, UPPER + LOWER):
            axes.add_patch(Circle((0, 0), radius, fill=False, color=FAINT, linestyle="--"))
        _draw_limb(axes, solved.mid[number], solved.end[number])
        axes.plot(*targets[number][:2], "x", color=MARK, label="target")
        axes.set(title=name, xlim=(-1.9, 2.1), ylim=(-1.9, 1.9), aspect="equal")
        axes.axis("off")


def draw_circle(figure: Figure) -> None:
    """The circle of mid joints round the line from root to target, with the pole's choice among them."""
    target, turns = np.array([1.3, 0.0, 0.0]), np.linspace(0.0, 2.0 * np.pi, 73)
    mids = ik2bone.solve([0, 0, 0], [0.7, 0, 0.7], [1.3, 0, 0.3], target, pole=[0, 0, 1], twist=turns).mid
    axes = figure.add_subplot(projection="3d", elev=18, azim=-60)
    for mid in mids[6::6]:
        axes.plot(*np.transpose([[0, 0, 0], mid, target]), color=FAINT, linewidth=0.7)
    axes.plot(*mids.T, color=WISH, label="circle of solutions")
    axes.plot(*np.transpose([[0, 0, 0], mids[0], target]), "o-", color=BONE, label="limb")
    axes.quiver(0.7, 0, 0.75, 0, 0, 0.35, color=MARK, label="pole")
    axes.set(xlim=(0, 1.3), ylim=(-0.65, 0.65), zlim=(-0.5, 0.9), box_aspect=(1.3, 1.3, 1.4))
    axes.axis("off")
    axes.legend(loc="upper left", frameon=False)


def draw_bends(figure: Figure) -> None:
    """A nearly straight knee whose target passes by: carried, it stays on its side; nearest, it turns over."""
    root, mid, end = np.array([[0, 0, 0], [0.06, 0, -1.0], [0, 0, -1.69]], float)
    angles = np.radians([-25, -10, 0, 10, 25])
    targets = 1.6 * np.stack([np.sin(angles), 0 * angles, -np.cos(angles)], axis=-1)
    for number, bend in enumerate(("carried", "nearest")):
        solved = ik2bone.solve(root, mid, end, targets, bend=bend)
        axes = figure.add_subplot(1, 2, number + 1)
        for row in range(len(angles)):
            _draw_limb(axes, solved.mid[row, ::2], solved.end[row, ::2], alpha=0.35 + 0.13 * row)
        axes.set(title=f"bend='{bend}'", aspect="equal", xlim=(-0.9, 0.9), ylim=(-1.75, 0.1))
        axes.axis("off")


def draw_softening(figure: Figure) -> None:
    """The distance of the end by that of the target, and the angle of the knee, with and without softening."""
    distance = np.linspace(1.2, 2.1, 400)
    targets = np.stack([distance, 0 * distance, 0 * distance], axis=-1)
    left, right = figure.subplots(1, 2)
    for soften, colour in ((1.0, FAINT), (0.95, WISH), (0.85, BONE)):
        solved = ik2bone.solve([0, 0, 0], [0.8, 0, 0.6], [1.5, 0, 0.6], targets, pole=[0, 0, 1], soften=soften)
        upper, lower = -solved.mid, solved.end - solved.mid
        cosine = (upper * lower).sum(axis=-1) / (UPPER * LOWER)
        left.plot(distance, np.linalg.norm(solved.end, axis=-1), color=colour, label=f"soften={soften}")
        right.plot(distance, np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))), color=colour)
    left.set(xlabel=f"distance of the target{UNIT}", ylabel=f"distance of the end{UNIT}")
    right.set(xlabel=f"distance of the target{UNIT}", ylabel="angle at the knee, degrees")
    left.legend(frameon=False)


def draw_rolls(figure: Figure) -> None:
    """How far the knee bends beside its own hinge, by both rolls, as the target moves sideways."""
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3], end = [0.05, 0, -1.0], np.array([0.0, 0.0, -1.69])
    side = np.linspace(0.0, 1.2, 100)
    targets = np.stack([0.3 + 0 * side, side, -1.0 + 0 * side], axis=-1)
    hinge = ik2bone.hinge_of(root, mid, end)
    axes = figure.add_subplot()
    for roll, colour in (("pose", WISH), ("hinge", BONE)):
        turn = ik2bone.solve_pose(root, mid, end, targets, hinge=hinge, roll=roll)
        beside = np.linalg.norm(np.cross(turn.mid[:, 1:], hinge), axis=-1)
        axes.plot(side, 2 * np.degrees(np.arcsin(beside)), color=colour, label=f"roll='{roll}'")
    axes.set(xlabel=f"target moved sideways{UNIT}", ylabel="turn beside the hinge, degrees")
    axes.legend(frameon=False)


def draw_hips(figure: Figure) -> None:
    """The highest places of the hips from which legs reach on stairs down, and the smoothest curve under them."""
    time = np.arange(120) / 30.0
    steps, phase = np.divmod(0.9 * time + [[0.0], [0.5]], 1.0)
    ground = -0.08 * (steps - steps[:, :1])
    highs = np.where(phase < 0.62, ground + 0.02 - 0.35 * (phase - 0.31) ** 2, np.inf)
    wish = ground.mean(axis=0)
    axes = figure.add_subplot()
    for name, high, colour in zip(("left", "right"), highs, (FAINT, WISH), strict=True):
        axes.plot(time, high, color=colour, linewidth=3, label=f"highest for the {name} leg")
    axes.plot(time, wish, ":", color=MARK, label="wish")
    axes.plot(time, smooth_between(wish, 30.0, SLOW, -np.inf, highs.min(axis=0)), color=BONE, label="hips")
    axes.set(xlabel="time, s", ylabel="height of the hips, leg lengths")
    axes.legend(frameon=False)


def draw_heel(figure: Figure) -> None:
    """The least pitch about the ball that brings the ankle within reach of the hip."""
    hip, ball, flat, reach = np.array([0.55, 1.02]), np.zeros(2), np.array([-0.15, 0.08]), 1.1
    pitch = np.linspace(0.0, 1.2, 1200)
    cosine, sine = np.cos(pitch), np.sin(pitch)
    turned = np.stack([cosine * flat[0] + sine * flat[1], cosine * flat[1] - sine * flat[0]])
    ankle = turned.T[np.argmax(np.linalg.norm(turned.T - hip, axis=1) <= reach)]
    axes = figure.add_subplot()
    axes.add_patch(Circle(hip, reach, fill=False, color=FAINT, linestyle="--"))
    axes.plot(*turned, color=WISH, linewidth=1)
    for place, colour, name in ((flat, FAINT, "flat foot: out of reach"), (ankle, BONE, "pitched by the least angle")):
        axes.plot(*np.transpose([hip, place]), color=colour)
        axes.plot(*np.transpose([place, ball, [0.08, 0.0]]), "o-", color=colour, markersize=4, label=name)
    axes.annotate("hip", hip + [0.03, 0.0])
    axes.set(aspect="equal", xlim=(-0.5, 0.9), ylim=(-0.1, 1.15))
    axes.axis("off")
    axes.legend(frameon=False, loc="upper left")


def _draw_limb(axes: Axes, mid: np.ndarray, end: np.ndarray, alpha: float = 1.0) -> None:
    axes.plot(*np.transpose([[0, 0], mid[:2], end[:2]]), "o-", color=BONE, alpha=alpha)


FIGURES: dict[str, tuple[Callable[[Figure], None], tuple[float, float]]] = {
    "math_cases": (draw_cases, (8.0, 2.8)),
    "math_circle": (draw_circle, (5.0, 4.2)),
    "math_bends": (draw_bends, (6.0, 3.6)),
    "math_softening": (draw_softening, (8.0, 3.2)),
    "math_rolls": (draw_rolls, (5.5, 3.2)),
    "math_hips": (draw_hips, (7.0, 3.2)),
    "math_heel": (draw_heel, (4.6, 4.2)),
}


def draw_all(folder: Path) -> None:
    """Draw every figure into a folder."""
    # The same names within each file, so that a figure that has not changed gives the same bytes.
    mpl.rcParams["svg.hashsalt"] = "ik2bone"
    for name, (draw, size) in FIGURES.items():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
