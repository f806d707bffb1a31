# SPDX-License-Identifier: GPL-3.0-or-later
"""The generated climb: Rigify's human metarig climbs a ladder, two limbs at a time, keyed in quaternions."""

from __future__ import annotations

from dataclasses import dataclass

import ik2bone
import numpy as np
from numpy.typing import NDArray

from demo.solids import Solid, add_object, box, prism
from demo.walker import add_metarig, new_curves, write_channel

Array = NDArray[np.float64]

FPS, SECONDS = 30, 8
# The duration of a cycle (s), in which each limb goes up two rungs, and the share of it for which the limb holds on.
CYCLE, HOLD = 1.6, 0.66
SPACING, RADIUS, RUNGS = 0.28, 0.017, 19
WIDTH, SIDES = 0.27, 24  # Half of a rung's length, and the number of its flat sides.
LADDER = -0.42  # Y of the rungs' axes; the figure faces -Y. Lengths are in metres, like those of the metarig.
LEAN, SWAY = np.radians(10.0), 0.02
PULL = 0.11  # The distance by which limbs move back from the ladder in mid-swing.
HANG = 0.25  # How much higher than in the rest pose the hips' bone is when the climb begins.


@dataclass(frozen=True)
class Limb:
    """A limb of the climb: its bones from the root down, its touching point, and when it moves.

    side   1 for left, -1 for right
    place  X of the touching point, and its Y and Z relative to the rung's axis
    first  height of the touching point over the hips' bone when the limb takes hold
    phase  share of the limb's cycle that has passed at time 0; a cycle begins when the limb takes hold
    pole   direction to which the knee or elbow points
    """

    bones: tuple[str, str, str]
    side: int
    place: tuple[float, float, float]
    first: float
    phase: float
    pole: tuple[float, float, float]


def limbs() -> list[Limb]:
    """The legs, then the arms, left before right. Each foot moves together with the hand of the other side."""
    found = []
    for side, name in ((1, "L"), (-1, "R")):
        bones = tuple(f"{bone}.{name}" for bone in ("thigh", "shin", "foot"))
        found.append(Limb(bones, side, (0.1 * side, 0.0, RADIUS), -0.44, 0.25 * (1 - side), (side, -0.35, 0.0)))
    for side, name in ((1, "L"), (-1, "R")):
        bones = tuple(f"{bone}.{name}" for bone in ("upper_arm", "forearm", "hand"))
        pole = (0.6 * side, 0.3, -0.75)
        found.append(Limb(bones, side, (0.19 * side, RADIUS, 0.0), 0.98, 0.25 * (1 + side), pole))
    return found


def make_climb(bpy):
    """Add the metarig, key the climb, set the scene's range and rate, and return the armature object."""
    armature = add_metarig(bpy)
    armature.name = "climb"
    rest = {bone.name: np.array(bone.matrix_local) for bone in armature.data.bones}
    time = np.arange(SECONDS * FPS + 1) / FPS
    body = _body(rest, time)
    curves = new_curves(armature, "climb")
    for limb in limbs():
        for name, turn in zip(limb.bones, _turns(armature, rest, limb, time, body), strict=True):
            write_channel(curves, armature.pose.bones[name], "rotation_quaternion", _same_side(turn))
    local = np.linalg.inv(rest["spine"]) @ body @ rest["spine"]
    lean = np.tile([np.cos(LEAN / 2), *(np.sin(LEAN / 2) * rest["spine"][0, :3])], (len(time), 1))
    write_channel(curves, armature.pose.bones["spine"], "rotation_quaternion", lean)
    write_channel(curves, armature.pose.bones["spine"], "location", local[:, :3, 3])
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, 1, len(time)
    scene.frame_set(1)
    return armature


def make_ladder(bpy, offsets: Array, depth: float = 0.0):
    """Add a ladder whose rungs are moved from those of the climb, and return its rungs, left rail and right rail.

    Each rung is moved up by its own of the `offsets` (RUNGS,), and all away from the figure by `depth`.
    """
    heights = SPACING * np.arange(1, RUNGS + 1) + offsets
    rungs = [_rung(LADDER - depth, height) for height in heights]
    rails = [_rail(0.285 * side, LADDER - depth) for side in (1, -1)]
    named = (("rungs", rungs), ("left rail", rails[:1]), ("right rail", rails[1:]))
    return [add_object(bpy, name, solids) for name, solids in named]


def _body(rest: dict[str, Array], time: Array) -> Array:
    """The motion (F, 4, 4) of the hips' bone from its rest pose, in armature space: up, sideways and with a lean."""
    height = HANG + 2 * SPACING / CYCLE * time
    sway = SWAY * np.sin(2 * np.pi * time / CYCLE)
    moved = np.tile(np.eye(4), (len(time), 1, 1))
    cosine, sine = np.cos(LEAN), np.sin(LEAN)
    moved[:, 1:3, 1:3] = [[cosine, -sine], [sine, cosine]]
    pivot = rest["spine"][:3, 3]
    moved[:, :3, 3] = pivot - moved[:, :3, :3] @ pivot + np.stack([sway, 0 * time, height], axis=1)
    return moved


def touching_points(limb: Limb, time: Array, hips: Array) -> Array:
    """The path (F, 3) of the limb's touching point; `hips` (F,) are the heights of the hips' bone."""
    phase, count = np.modf(time / CYCLE + limb.phase + 4.0)
    swing = np.clip((phase - HOLD) / (1 - HOLD), 0.0, 1.0)
    smooth = swing**3 * (10 - 15 * swing + 6 * swing**2)
    start = hips[0] + limb.first - 2 * SPACING * limb.phase
    rung = SPACING * np.round(start / SPACING) + 2 * SPACING * (count - 4.0 + smooth)
    away = PULL * np.sin(np.pi * swing) ** 2
    x, y, z = limb.place
    return np.stack([np.full_like(away, x), LADDER + y + away, rung + z], axis=1)


def _turns(armature, rest: dict[str, Array], limb: Limb, time: Array, body: Array) -> list[Array]:
    """The local rotations (F, 4) of the limb's three bones that bring its touching point onto its path."""
    root, mid, end = (body @ rest[name] for name in limb.bones)
    is_leg = limb.bones[0].startswith("thigh")
    goal = end.copy()
    goal[:, :3, :3] = rest[limb.bones[2]][:3, :3] if is_leg else _grip(rest[limb.bones[2]])
    point = _sole(armature, limb) if is_leg else _palm(armature, limb)
    hips = (body @ rest["spine"])[:, 2, 3]
    target = touching_points(limb, time, hips) - goal[:, :3, :3] @ point
    solution = ik2bone.solve_pose(
        root, mid, end[:, :3, 3], target, end_matrix=end, end_goal=goal,
        hinge=ik2bone.hinge_of(root, mid, end[:, :3, 3]), roll="hinge", pole=limb.pole,
    )  # fmt: skip
    return [solution.root, solution.mid, solution.end]


def _sole(armature, limb: Limb) -> Array:
    """The point (3,) below the ball on the floor, where the metarig stands at rest, in the space of the foot bone."""
    foot, toe = armature.data.bones[limb.bones[2]], armature.data.bones[limb.bones[2].replace("foot", "toe")]
    head = toe.head_local
    return np.array(foot.matrix_local.inverted() @ type(head)((head.x, head.y, 0.0)))


def _palm(armature, limb: Limb) -> Array:
    """The middle (3,) of the knuckles, in the space of the hand bone."""
    hand = armature.data.bones[limb.bones[2]]
    names = [f"f_{finger}.01.{limb.bones[2][-1]}" for finger in ("index", "middle", "ring", "pinky")]
    knuckles = [hand.matrix_local.inverted() @ armature.data.bones[name].head_local for name in names]
    return np.mean(knuckles, axis=0)


def _grip(hand: Array) -> Array:
    """The axes (3, 3) of a hand that points up, with its palm on a rung; at rest, in `hand`, the palm faces down."""
    along, palm = np.array([0.0, -0.35, 0.94]), np.array([0.0, -0.94, -0.35])
    along, palm = along / np.linalg.norm(along), palm / np.linalg.norm(palm)
    first = palm if hand[2, 0] < 0 else -palm
    return np.stack([first, along, np.cross(first, along)], axis=1)


def _same_side(quaternions: Array) -> Array:
    """The same rotations (F, 4) as quaternions whose signs do not jump from frame to frame."""
    apart = np.sum(quaternions[1:] * quaternions[:-1], axis=1) < 0
    return quaternions * np.where(np.cumsum(np.concatenate([[False], apart])) % 2 == 1, -1.0, 1.0)[:, None]


def _rung(y: float, z: float) -> Solid:
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    # The geometric mean of the radii at the corners and at the middles of the flat sides is RADIUS.
    ring = RADIUS / np.cos(np.pi / SIDES) ** 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return prism(ring + [y, z], 0, -WIDTH, WIDTH)


def _rail(x: float, y: float) -> Solid:
    half = np.array([0.014, 0.03, 0.5 * SPACING * (RUNGS + 1)])
    centre = np.array([x, y, half[2]])
    return box(centre - half, centre + half)
