# SPDX-License-Identifier: GPL-3.0-or-later
"""Making clips for planting from poses of bones: balls, tips of toes, palms, and hinges of the rest pose."""

from collections.abc import Iterable, Iterator, Sequence

import bpy
import numpy as np
from bpy.types import Bone, Object
from ik2bone import hinge_of
from ik2bone.arrays import Array
from ik2bone.clip import Clip
from ik2bone.rotations import inverse_of, length_of, level_part, move_points, unit

from ..rig.limb import Limb

UP, UNKNOWN = np.array([0.0, 0.0, 1.0]), np.zeros(3)
# A point may be the tip of the toes if it lies ahead of the ball, within this angle of the foot's level heading (cosine
# 0.6 is 53 degrees), at a distance between these shares of that from ankle to ball. Mocap skeletons of the data folder
# have 0.5 to 0.6; tails that the glTF importer makes up repeat the length of the bone before (1.0).
TIP_COSINE, TIP_SHARE = 0.6, (0.3, 0.8)
# The length of the toes ahead of the ball, as a share of the level foot length, where no bone shows it.
TOES_SHARE = 1.0 / 3.0
# The length of a foot beyond the ankle, as a share of the shin, where it has no ball joint and its tail points up.
PAW_SHARE = 0.15
# Such a tail points up if it lies within this angle of the way back to the knee (cosine of 60 degrees). In the data
# folder, the tails of a robot's feet are 81 degrees off, those that an importer invents for a fox's paws 35.
UPWARD = 0.5
# A limb has a hinge in the rest pose if it is bent by more than this sine (2 degrees).
MEANT = 0.035
# A knuckle is the first joint of a finger at a distance of at least KNUCKLES from the wrist, as a share of the forearm.
# Knuckles of the data folder's figures lie at 0.3 to 0.5, bones of the palm start at 0.15. The last joint of a finger
# that ends before counts from NEAREST on, and nothing beyond FARTHEST.
KNUCKLES, NEAREST, FARTHEST = 0.28, 0.12, 0.8
# A knuckle whose direction differs from the median by more than this (cosine of 35 degrees) is the thumb's.
BESIDE = 0.82
# Without knuckles the palm is at the bone's tail if its length is within TAIL, else AHEAD (shares of the forearm).
TAIL, AHEAD = (0.1, 0.7), 0.3
# The plane of a palm is known from at least this number of knuckles (one of two may be the thumb's) with a spread of at
# least this share of their distance from the wrist.
FINGERS, SPREAD = 3, 0.3


def clip_of(
    armature: Object, limbs: Sequence[Limb], poses: dict[str, Array], scale: dict[str, Array], origin: Array
) -> Clip:
    """Make a clip of limbs from world-space poses (F, 4, 4) and own scales (F, 3) of bones by name. `origin` (3,) is
    that of the armature on the first frame, whatever frame the scene shows.
    """
    posed, render = _posed(armature, limbs, poses, scale), bpy.context.scene.render
    tips = [_tip(armature, limb, poses, posed["ball"][:, number]) for number, limb in enumerate(limbs)]
    palms = [UNKNOWN if limb.is_leg else find_palm(armature, limb)[1] for limb in limbs]
    return Clip(
        # The floor of a character that was moved as a whole lies at the height of the object's origin.
        floors=(float(origin @ UP), 0.0),
        fps=render.fps / render.fps_base,
        **posed,
        tip=np.stack(tips, axis=1),
        has_toe=np.array([limb.toe is not None for limb in limbs]),
        up=UP,
        is_hand=np.array([not limb.is_leg for limb in limbs]),
        palm=np.array(palms),
        rest_hinge=np.array([_rest_hinge(armature, limb) for limb in limbs]),
    )


def clip_again(
    before: Clip, armature: Object, limbs: Sequence[Limb], poses: dict[str, Array], scale: dict[str, Array]
) -> Clip:
    """As `clip_of`, for limbs that have a clip from `before` they were keyed, whose tips of toes are kept."""
    posed = _posed(armature, limbs, poses, scale)
    tip = move_points(posed["toe"] @ inverse_of(before.toe[:1]), before.tip[:1])
    return before.having(**posed, tip=np.where(before.has_toe[:, None], tip, posed["ball"]))


def _posed(
    armature: Object, limbs: Sequence[Limb], poses: dict[str, Array], scale: dict[str, Array]
) -> dict[str, Array]:
    """The parts of a clip that depend on the poses and scales of bones."""
    feet = [_foot(limb, poses) for limb in limbs]
    rows = {
        "thigh": [poses[limb.thigh] for limb in limbs],
        "shin": [poses[limb.shin] for limb in limbs],
        "foot": feet,
        "toe": [poses[limb.toe] if limb.toe else foot for limb, foot in zip(limbs, feet, strict=True)],
        "ball": [_ball(armature, limb, poses) for limb in limbs],
        "scale": [_scales(limb, scale) for limb in limbs],
    }
    return {name: np.stack(values, axis=1) for name, values in rows.items()}


def rest_clip(armature: Object, limbs: Sequence[Limb], placed: Array) -> Clip:
    """The rest pose as a clip of one frame, of an armature that is `placed` (4, 4) in the world."""
    poses = _rest_poses(armature, [name for limb in limbs for name in limb.bones], placed)
    ones = {name: np.ones((1, 3)) for name in poses}
    return clip_of(armature, limbs, poses, ones, placed[:3, 3])


def _rest_poses(armature: Object, names: Iterable[str], placed: Array) -> dict[str, Array]:
    bones = armature.data.bones
    return {name: (placed @ np.array(bones[name].matrix_local, float))[None] for name in names}


def _foot(limb: Limb, poses: dict[str, Array]) -> Array:
    """The poses (F, 4, 4) of the foot; for a leg without a foot, its end with axes of the world."""
    if limb.end is None:
        return poses[limb.foot]
    foot = np.tile(np.eye(4), (len(poses[limb.shin]), 1, 1))
    foot[:, :3, 3] = move_points(poses[limb.shin], np.array(limb.end))
    return foot


def _rest_hinge(armature: Object, limb: Limb) -> Array:
    """The hinge (3,) of a limb in the rest pose, in the space of its lower bone; zero for a straight limb."""
    rest = _rest_poses(armature, limb.turned, np.array(armature.matrix_world, float))
    thigh, shin, foot = rest[limb.thigh][0], rest[limb.shin][0], _foot(limb, rest)[0]
    upper, lower = thigh[:3, 3] - shin[:3, 3], foot[:3, 3] - shin[:3, 3]
    sine = np.linalg.norm(np.cross(upper, lower)) / max(np.linalg.norm(upper) * np.linalg.norm(lower), 1e-300)
    return np.asarray(hinge_of(thigh, shin, foot[:3, 3])) if sine > MEANT else np.zeros(3)


def _scales(limb: Limb, scale: dict[str, Array]) -> Array:
    """The own scales (F, 4, 3) of thigh, shin, foot and toe."""
    ones = np.ones_like(scale[limb.shin])
    foot, toe = ones if limb.end else scale[limb.foot], scale[limb.toe] if limb.toe else ones
    return np.stack([scale[limb.thigh], scale[limb.shin], foot, toe], axis=1)


def _ball(armature: Object, limb: Limb, world: dict[str, Array]) -> Array:
    """The path (F, 3) of the ball: the head of the toe bone, or the tail of the foot bone.

    A tail that points up along the shin in the rest pose is replaced by a point on the line of the shin. A toe bone
    under the foot gives a point that is fixed to the foot. The ball of a leg without a foot is the leg's end, and that
    of a hand its palm.
    """
    if not limb.is_leg:
        return move_points(world[limb.foot], find_palm(armature, limb)[0])
    if limb.end is not None:
        return _foot(limb, world)[:, :3, 3]
    foot = world[limb.foot]
    if limb.toe:
        head, follows = world[limb.toe][:, :3, 3], armature.data.bones[limb.toe].parent.name == limb.foot
        return move_points(foot, _local(foot, head)) if follows else head
    bone, bones = armature.data.bones[limb.foot], armature.data.bones
    knee = bone.matrix_local.inverted() @ bones[limb.shin].head_local
    points_up = knee.y > UPWARD * knee.length
    return move_points(foot, np.array(-PAW_SHARE * knee if points_up else (0.0, bone.length, 0.0), float))


def _tip(armature: Object, limb: Limb, world: dict[str, Array], ball: Array) -> Array:
    """The path (F, 3) of the tip of the toes: the foremost plausible end of the toe bone, or a guess."""
    if limb.toe is None:
        return ball
    toe, foot = world[limb.toe], ball - world[limb.foot][:, :3, 3]
    # The quarter of the frames on which the ball is lowest, where a foot most probably stands.
    low = np.argsort(ball @ UP, kind="stable")[: max(1, len(ball) // 4)]
    level = level_part(foot[low], UP)
    heading = unit(level)
    size = np.median(length_of(foot[low]))
    points = _ends(armature, limb.toe)
    ends = np.stack([move_points(toe[low], point) - ball[low] for point in points])
    forward, length = (np.median(each, axis=1) for each in (np.sum(ends * heading, axis=-1), length_of(ends)))
    is_far_enough = (TIP_SHARE[0] * size < length) & (length < TIP_SHARE[1] * size)
    forward = np.where(is_far_enough & (forward > TIP_COSINE * length), forward, 0.0)
    point = points[forward.argmax()]
    if forward.max() <= 0.0:
        point = _local(toe[low], ball[low] + heading * (TOES_SHARE * np.median(length_of(level))))
    return move_points(toe, point)


def _ends(armature: Object, toe: str) -> list[Array]:
    """The tail of the toe bone and the heads of its children in the rest pose, in the space of the toe bone."""
    bone = armature.data.bones[toe]
    inverse = bone.matrix_local.inverted()
    return [np.array(inverse @ end, float) for end in (bone.tail_local, *(child.head_local for child in bone.children))]


def _local(matrices: Array, points: Array) -> Array:
    """World-space points (F, 3) in a bone's space, as the median (3,) over the frames."""
    return np.median(move_points(inverse_of(matrices), points), axis=0)


def find_palm(armature: Object, limb: Limb) -> tuple[Array, Array]:
    """The touching point (3,) of a hand in its bone's space, and the palm's normal (3,) there, zero if unknown.

    The point is the middle of the knuckles in the rest pose; for a hand without fingers, a point on the bone's line.
    """
    bone, above = armature.data.bones[limb.foot], armature.data.bones[limb.shin]
    lower = float((bone.head_local - above.head_local).length)
    knuckles = np.array(list(_knuckles(bone, lower))).reshape(-1, 3)
    if len(knuckles):
        return _palm(knuckles)
    if TAIL[0] * lower < bone.length < TAIL[1] * lower:
        return np.array([0.0, bone.length, 0.0]), UNKNOWN
    along = np.array(bone.matrix_local.to_3x3().transposed() @ (bone.head_local - above.head_local), float)
    return AHEAD * along, UNKNOWN


def _knuckles(hand: Bone, lower: float) -> Iterator[Array]:
    """The knuckle (3,) of each finger, in the space of the hand."""
    inverse = hand.matrix_local.inverted()
    ahead = list(hand.children)
    while ahead:
        bone = ahead.pop()
        head = inverse @ bone.head_local
        if head.length < KNUCKLES * lower and bone.children:
            ahead += bone.children
        elif NEAREST * lower < head.length < FARTHEST * lower:
            yield np.array(head, float)


def _palm(knuckles: Array) -> tuple[Array, Array]:
    directions = unit(knuckles)
    fingers = knuckles[directions @ unit(np.median(directions, axis=0)) > BESIDE]
    fingers = fingers if len(fingers) else knuckles
    point = fingers.mean(axis=0)
    across = fingers[:, None] - fingers
    widest = across.reshape(-1, 3)[length_of(across).argmax()]
    normal = np.cross(point, widest)
    size = np.linalg.norm(normal)
    known = len(fingers) >= FINGERS and size > SPREAD * float(point @ point)
    return point, normal / size if known else UNKNOWN
