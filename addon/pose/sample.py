# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample the animated pose of the legs, frame by frame, into the arrays that planting reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
from ik2bone import hinge_of
from ik2bone.model import Clip
from mathutils import Matrix
from numpy.typing import NDArray

from ..errors import Refusal
from ..rig.find import Leg
from .evaluate import Array, read, stepping
from .evaluate import present as present_pose
from .palms import NO_PALM, find_palm

if TYPE_CHECKING:
    from bpy.types import Object, PoseBone

UP = np.array([0.0, 0.0, 1.0])
# A point counts as the tip of the toes when it lies before the ball, within this angle of the foot's level heading
# (cosine 0.6 is 53 degrees) and at this share of the distance from ankle to ball: 0.5 to 0.6 on the data folder's mocap
# skeletons, while the glTF importer's tails of last bones repeat the length of the bone before (1.0).
TIP_COSINE, TIP_SHARE = 0.6, (0.3, 0.8)
# Share of the level foot length by which the toes reach beyond the ball where no bone tells it.
TOES_SHARE = 1.0 / 3.0
# Share of the shin by which a foot without a ball joint and with a useless tail goes on beyond the ankle.
PAW_SHARE = 0.15
# Sine of the angle (2 degrees) by which a limb has to be bent in the rest pose for that to be meant.
MEANT = 0.035
# Volume of a bone's axes over the cube of the longest under which it has no inverse: ten times what single precision
# leaves of an axis scaled to zero.
FLAT = 1e-6


@dataclass(frozen=True)
class Sample:
    """What the depsgraph showed: the clip for planting and, by bone name, what writing keys needs.

    `basis` holds the channels as matrices (F, 4, 4) and `parent` the matrices K (F, 4, 4) with world pose =
    K @ basis, for each thigh, shin, foot, toe and the hips. `placing` (F, 3, 3), of the hips alone, tells how far in
    the world they move for each unit of their location channel; it differs from K where a bone does not inherit its
    parent's rotation or scale for its location.
    """

    clip: Clip
    frames: NDArray[np.int64]
    basis: dict[str, Array]
    parent: dict[str, Array]
    placing: Array | None

    def cut(self, rows: slice) -> Sample:
        """The same sample over some of its frames."""
        return Sample(
            clip=self.clip.cut(rows),
            frames=self.frames[rows],
            basis={name: matrices[rows] for name, matrices in self.basis.items()},
            parent={name: matrices[rows] for name, matrices in self.parent.items()},
            placing=None if self.placing is None else self.placing[rows],
        )


def sample(
    armature: Object, legs: Sequence[Leg], hips: str | None, frames: Sequence[int], *, present: bool = False
) -> Sample:
    """Evaluate the action in use on whole scene frames.

    With `present` the pose is read as it stands in the scene, hand-set channels included, instead of stepping to the
    frame; `frames` is then the current frame alone.
    """
    names = _bone_names(legs, hips)
    if present:
        rows = [_read(present_pose(armature), names, hips, frames[0])]
    else:
        with stepping(armature) as step:
            rows = [_read(step(frame), names, hips, frame) for frame in frames]
    world, basis, scale, placing = (np.array(column) for column in zip(*rows, strict=True))
    by_name = {name: index for index, name in enumerate(names)}
    poses = {name: world[:, index] for name, index in by_name.items()}
    return Sample(
        clip=_clip(armature, legs, poses, {name: scale[:, index] for name, index in by_name.items()}),
        frames=np.array(frames, np.int64),
        basis={name: basis[:, index] for name, index in by_name.items()},
        parent={name: poses[name] @ np.linalg.inv(basis[:, index]) for name, index in by_name.items()},
        placing=placing if hips is not None else None,
    )


def rest_clip(armature: Object, legs: Sequence[Leg]) -> Clip:
    """The rest pose as a clip of one frame."""
    world, bones = np.array(armature.matrix_world), armature.data.bones
    names = _bone_names(legs, None)
    poses = {name: (world @ np.array(bones[name].matrix_local))[None] for name in names}
    return _clip(armature, legs, poses, {name: np.ones((1, 3)) for name in names})


def _bone_names(legs: Sequence[Leg], hips: str | None) -> list[str]:
    names = [name for leg in legs for name in leg.bones]
    return names + [hips] if hips is not None and hips not in names else names


def _read(evaluated: Object, names: list[str], hips: str | None, frame: int) -> tuple[Array, Array, Array, Array]:
    """One frame: world poses and bases (B, 4, 4), own scales (B, 3), and the placing of the hips (3, 3)."""
    index = [evaluated.pose.bones.find(name) for name in names]
    object_world = np.array(evaluated.matrix_world)
    world = object_world @ read(evaluated, "matrix", 16)[index].reshape(-1, 4, 4).swapaxes(1, 2)
    basis = read(evaluated, "matrix_basis", 16)[index].reshape(-1, 4, 4).swapaxes(1, 2)
    scale = read(evaluated, "scale", 3)[index]
    placing = np.zeros((3, 3))
    if hips is not None:
        placing = object_world[:3, :3] @ _location_axes(evaluated.pose.bones[hips])
    if not (np.isfinite(world).all() and np.isfinite(basis).all()):
        raise Refusal(f"{_culprit(evaluated, names)} has a pose that is not a number on frame {frame}")
    if (flat := _are_flat(world) | _are_flat(basis)).any():
        raise Refusal(f"bone {names[int(np.argmax(flat))]} is scaled to nothing on frame {frame}")
    return world, basis, scale, placing


def _are_flat(matrices: Array) -> NDArray[np.bool_]:
    """Whether the axes of each matrix span no volume to speak of (B,)."""
    longest = np.linalg.norm(matrices[:, :3, :3], axis=1).max(axis=1)
    return np.abs(np.linalg.det(matrices[:, :3, :3])) <= FLAT * longest**3


def _culprit(evaluated: Object, names: list[str]) -> str:
    """The topmost bone whose own channels hold NaN; the first whose pose does, or the object, if none of theirs do."""
    for name in names:
        bone = evaluated.pose.bones[name]
        for ancestor in [*reversed(bone.parent_recursive), bone]:
            if not np.isfinite(np.array(ancestor.matrix_basis)).all():
                return f"bone {ancestor.name}"
    broken = [name for name in names if not np.isfinite(np.array(evaluated.pose.bones[name].matrix)).all()]
    return f"bone {broken[0]}" if broken else f"object {evaluated.name}"


def _location_axes(bone: PoseBone) -> Array:
    """How far the bone moves in armature space for each unit of its location channel, as columns."""
    options: dict = {}
    if bone.parent is not None:
        options = {"parent_matrix": bone.parent.matrix, "parent_matrix_local": bone.parent.bone.matrix_local}

    def place(*location: float) -> Array:
        pose = bone.bone.convert_local_to_pose(Matrix.Translation(location), bone.bone.matrix_local, **options)
        return np.array(pose.translation)

    origin = place(0, 0, 0)
    return np.stack([place(1, 0, 0) - origin, place(0, 1, 0) - origin, place(0, 0, 1) - origin], axis=1)


def _clip(armature: Object, legs: Sequence[Leg], poses: dict[str, Array], scale: dict[str, Array]) -> Clip:
    palms = [NO_PALM if leg.is_leg else find_palm(armature, leg) for leg in legs]
    balls = [
        _ball(armature, leg, poses) if leg.is_leg else _carry(poses[leg.foot], palm.point)
        for leg, palm in zip(legs, palms, strict=True)
    ]
    tips = [_tip(armature, leg, poses, ball) for leg, ball in zip(legs, balls, strict=True)]
    render = bpy.context.scene.render
    return Clip(
        # A character that was moved as a whole brings its floor with it, at the height of the object's origin.
        floors=(float(armature.matrix_world.translation.z), 0.0),
        fps=render.fps / render.fps_base,
        thigh=np.stack([poses[leg.thigh] for leg in legs], axis=1),
        shin=np.stack([poses[leg.shin] for leg in legs], axis=1),
        foot=np.stack([poses[leg.foot] for leg in legs], axis=1),
        ball=np.stack(balls, axis=1),
        tip=np.stack(tips, axis=1),
        toe=np.stack([poses[leg.toe or leg.foot] for leg in legs], axis=1),
        has_toe=np.array([leg.toe is not None for leg in legs]),
        scale=np.stack([_scales(leg, scale) for leg in legs], axis=1),
        up=UP,
        is_hand=np.array([not leg.is_leg for leg in legs]),
        palm=np.array([palm.normal for palm in palms]),
        rest_hinge=np.array([_rest_hinge(armature, leg) for leg in legs]),
    )


def _rest_hinge(armature: Object, leg: Leg) -> Array:
    """The hinge of a limb in the rest pose (3,), in the space of its lower bone; zero where it rests straight."""
    bones, world = armature.data.bones, np.array(armature.matrix_world)
    thigh, shin, foot = (world @ np.array(bones[name].matrix_local) for name in (leg.thigh, leg.shin, leg.foot))
    upper, lower = thigh[:3, 3] - shin[:3, 3], foot[:3, 3] - shin[:3, 3]
    sine = np.linalg.norm(np.cross(upper, lower)) / max(np.linalg.norm(upper) * np.linalg.norm(lower), 1e-300)
    return np.asarray(hinge_of(thigh, shin, foot[:3, 3])) if sine > MEANT else np.zeros(3)


def _scales(leg: Leg, scale: dict[str, Array]) -> Array:
    """Own scales of thigh, shin, foot and toe (F, 4, 3)."""
    toe = scale[leg.toe] if leg.toe else np.ones_like(scale[leg.foot])
    return np.stack([scale[leg.thigh], scale[leg.shin], scale[leg.foot], toe], axis=1)


def _ball(armature: Object, leg: Leg, world: dict[str, Array]) -> Array:
    """The head of the toe bone, else the tail of the foot bone, unless that points up: then the shin's line goes on."""
    if leg.toe:
        return world[leg.toe][:, :3, 3]
    foot = world[leg.foot]
    ankle, knee = foot[:, :3, 3], world[leg.shin][:, :3, 3]
    tail = _carry(foot, np.array([0.0, armature.data.bones[leg.foot].length, 0.0]))
    low = _lowest_quarter(ankle)
    if np.median((tail - ankle)[low] @ UP) < 0.0:
        return tail
    return _carry(foot, _local(foot[low], ankle[low] + PAW_SHARE * (ankle - knee)[low]))


def _tip(armature: Object, leg: Leg, world: dict[str, Array], ball: Array) -> Array:
    """The tip of the toes: the farthest plausible of the toe bone's tail and its children's heads, else a guess."""
    if leg.toe is None:
        return ball
    toe, foot = world[leg.toe], ball - world[leg.foot][:, :3, 3]
    low = _lowest_quarter(ball)
    heading, level_length = _level(foot[low])
    size = float(np.median(np.linalg.norm(foot[low], axis=-1)))
    points = [
        (_forward(_carry(toe, point)[low] - ball[low], heading, size), point) for point in _ends(armature, leg.toe)
    ]
    forward, point = max(points, key=lambda end: end[0])
    if forward <= 0.0:
        point = _local(toe[low], ball[low] + heading * (TOES_SHARE * float(np.median(level_length))))
    return _carry(toe, point)


def _forward(end: Array, heading: Array, size: float) -> float:
    """How far an end of the toes reaches along the foot's heading, zero where it cannot be their tip."""
    forward = float(np.median(np.sum(end * heading, axis=-1)))
    length = float(np.median(np.linalg.norm(end, axis=-1)))
    plausible = TIP_SHARE[0] * size < length < TIP_SHARE[1] * size and forward > TIP_COSINE * length
    return forward if plausible else 0.0


def _ends(armature: Object, toe: str) -> list[Array]:
    """The tail of the toe bone and the heads of its children in the rest pose, in the toe bone's space."""
    bone = armature.data.bones[toe]
    inverse = bone.matrix_local.inverted()
    return [np.array(inverse @ end) for end in (bone.tail_local, *(child.head_local for child in bone.children))]


def _carry(matrices: Array, point: Array) -> Array:
    """A point fixed in a bone's space, in the world (F, 3)."""
    return matrices[:, :3, :3] @ point + matrices[:, :3, 3]


def _local(matrices: Array, points: Array) -> Array:
    """The point in a bone's space (3,) that on the median frame lies where the world's points (F, 3) do."""
    homogeneous = np.append(points, np.ones((len(points), 1)), axis=1)
    return np.median(np.linalg.solve(matrices, homogeneous[..., None])[:, :3, 0], axis=0)


def _lowest_quarter(ball: Array) -> NDArray[np.int64]:
    """Frames on which the ball is lowest: there the foot is likeliest to stand, in clips that travel or do not."""
    return np.argsort(ball @ UP, kind="stable")[: max(1, len(ball) // 4)]


def _level(direction: Array) -> tuple[Array, Array]:
    """Level unit headings and level lengths; a vertical direction has no heading (zero)."""
    level = direction - (direction @ UP)[:, None] * UP
    length = np.linalg.norm(level, axis=-1)
    return level / np.maximum(length, 1e-30)[:, None], length
