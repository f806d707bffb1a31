# SPDX-License-Identifier: GPL-3.0-or-later
"""A body for any skeleton: one mesh of solids between joints, bound to the bones, with a colour for each side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from demo.solids import Solid, capsule, hull, sphere_points

Array = NDArray[np.float64]

# Colours of the body: of the trunk, of the first leg's side, and of the second leg's side.
COLOURS = {"trunk": (0.30, 0.31, 0.34, 1), "one side": (0.02, 0.22, 0.62, 1), "other side": (0.85, 0.30, 0.02, 1)}
TRUNK, ONE, OTHER = range(3)

# Lengths in legs. A side branch with a reach below LIMB_REACH is no limb but a face, fingers, twist or control bones.
LIMB_REACH, NECK_REACH, HAND_REACH, HEAD_REACH = 0.35, 0.2, 0.1, 0.25
THIGH, KNEE, ANKLE = 0.085, 0.058, 0.036
BELLY, CHEST, NECK, HEAD = 0.105, 0.125, 0.05, 0.115
SHOULDER, ELBOW, WRIST = 0.052, 0.042, 0.03
FOOT_WIDTH, TOE_THICKNESS = 0.095, 0.03


@dataclass(frozen=True)
class Foot:
    """The bone names of a leg and points of its sole: heel and ball in the foot bone's space, tip in the toe bone's."""

    thigh: str
    shin: str
    foot: str
    toe: str | None
    heel: Array
    ball: Array
    tip: Array


@dataclass
class Body:
    """A skeleton in one pose, in the armature's space, and the parts of its body: bone, colour, solid at rest."""

    pose: dict[str, Array]
    rest: dict[str, Array]
    parents: dict[str, str | None]
    children: dict[str, list[str]]
    ends: dict[str, Array]
    leg: float
    parts: list[tuple[str, int, Solid]] = field(default_factory=list)

    def head(self, bone: str) -> Array:
        """The position (3,) of the bone's joint."""
        return self.pose[bone][:3, 3]

    def add(self, bone: str, colour: int, solid: Solid) -> None:
        """Bind a solid to the bone. Its points are those of the pose."""
        back = self.rest[bone] @ np.linalg.inv(self.pose[bone])
        points = solid.points @ back[:3, :3].T + back[:3, 3]
        self.parts.append((bone, colour, Solid(points, solid.faces)))

    def rod(self, bone: str, colour: int, end: Array, start_radius: float, end_radius: float) -> None:
        """Bind a capsule from the bone's joint to `end`, with radii in legs."""
        self.add(bone, colour, capsule(self.head(bone), end, start_radius * self.leg, end_radius * self.leg))

    def below(self, bone: str) -> Iterator[str]:
        """All descendants of the bone."""
        for child in self.children[bone]:
            yield child
            yield from self.below(child)

    def furthest(self, bone: str) -> Array:
        """The vector (3,) from the bone's joint to the furthest point: its own end or the joint of a descendant."""
        points = np.array([self.ends[bone], *map(self.head, self.below(bone))]) - self.head(bone)
        return points[np.linalg.norm(points, axis=1).argmax()]

    def reach(self, bone: str) -> float:
        """The length of the longest chain that starts at the bone's joint, in legs, measured along its bones."""
        chains = [self.reach_from_parent(child) for child in self.children[bone]]
        return max(chains, default=float(np.linalg.norm(self.ends[bone] - self.head(bone))) / self.leg)

    def limbs(self, bone: str) -> list[str]:
        """The children that continue the body: the one with the longest reach, and all that are as long as a limb."""
        reach = {child: self.reach_from_parent(child) for child in self.children[bone]}
        furthest = max(reach, key=reach.__getitem__, default=None)
        return [child for child in reach if child == furthest or reach[child] > LIMB_REACH]

    def reach_from_parent(self, bone: str) -> float:
        """The length of the longest chain from the parent's joint through this bone, in legs."""
        step = self.head(bone) - self.head(self.parents[bone])
        return float(np.linalg.norm(step)) / self.leg + self.reach(bone)


def make_body(bpy, armature, feet: list[Foot]):
    """Add a body for the pose of the current frame, as one mesh that the armature deforms, and return the object."""
    body = _read(armature, feet[0])
    for colour, foot in zip((ONE, OTHER) * len(feet), feet, strict=False):
        _leg(body, foot, colour)
    legs = {foot.thigh for foot in feet}
    hips = _hips(body, legs)
    if hips is not None:
        for number, foot in enumerate(feet):
            body.rod(hips, TRUNK, body.head(foot.thigh), BELLY - 0.004 * (number + 1), THIGH - 0.003)
        # Sides come from the rest pose, because a trunk that turns may bring an arm to the other side of the hips.
        side = body.rest[feet[0].thigh][:3, 3] - body.rest[feet[1].thigh][:3, 3]
        if len(feet) == 2:
            _trunk(body, hips, legs, side / np.linalg.norm(side))
        else:
            _head_and_tail(body, feet)
    return _bind(bpy, armature, body)


def _read(armature, foot: Foot) -> Body:
    bones = armature.pose.bones
    pose = {bone.name: np.array(bone.matrix) for bone in bones}
    thigh, shin, ankle = (pose[name][:3, 3] for name in (foot.thigh, foot.shin, foot.foot))
    leg = float(np.linalg.norm(shin - thigh) + np.linalg.norm(ankle - shin))
    # The tails of last bones mean little in imported files, so no bone counts as longer than a head.
    ends = {bone.name: np.array(bone.head + (bone.tail - bone.head) * min(1, HEAD_REACH * leg / max(bone.length, 1e-9)))
            for bone in bones}  # fmt: skip
    rest = {bone.name: np.array(bone.bone.matrix_local) for bone in bones}
    parents = {bone.name: bone.parent.name if bone.parent else None for bone in bones}
    return Body(pose, rest, parents, {bone.name: [child.name for child in bone.children] for bone in bones}, ends, leg)


def _leg(body: Body, foot: Foot, colour: int) -> None:
    body.rod(foot.thigh, colour, body.head(foot.shin), THIGH, KNEE)
    body.rod(foot.shin, colour, body.head(foot.foot), KNEE, ANKLE)
    heel, ball = (_apply(body.pose[foot.foot], point) for point in (foot.heel, foot.ball))
    tip = _apply(body.pose[foot.toe or foot.foot], foot.tip)
    ankle = body.head(foot.foot)
    if np.array_equal(heel, ball):
        # A leg without a foot stands on one point.
        body.rod(foot.shin, colour, ball, KNEE, ANKLE)
        return
    along = (ball - heel) / np.linalg.norm(ball - heel)
    up = ankle - heel - along * ((ankle - heel) @ along)
    up = up / np.linalg.norm(up)
    wide = FOOT_WIDTH / 2 * body.leg * np.cross(up, along)
    high = TOE_THICKNESS * body.leg * up
    sole = [heel - 0.7 * wide, heel + 0.7 * wide, ball - wide, ball + wide, ball - wide + high, ball + wide + high]
    # Both solids include the joint of the toes, so that foot and toes stay connected wherever that joint lies.
    joint = [body.head(foot.toe) - wide, body.head(foot.toe) + wide] if foot.toe else []
    body.add(foot.foot, colour, hull(np.concatenate([sole + joint, sphere_points(ankle, ANKLE * body.leg)])))
    toes = [*joint, ball - wide, ball + wide]
    toes += [tip + sign * 0.7 * wide + rise * high for sign in (-1, 1) for rise in (0, 0.6)]
    if np.linalg.norm(tip - ball) > 0.02 * body.leg:
        body.add(foot.toe or foot.foot, colour, hull(np.array(toes)))


def _apply(matrix: Array, point: Array) -> Array:
    return matrix[:3, :3] @ point + matrix[:3, 3]


def _hips(body: Body, legs: set[str]) -> str | None:
    """The lowest bone that has both the legs and another limb below it, or None."""
    bone = body.parents[min(legs)]
    while bone is not None and not (legs <= set(body.below(bone)) and _upwards(body, bone, legs)):
        bone = body.parents[bone]
    return bone


def _upwards(body: Body, bone: str, legs: set[str]) -> list[str]:
    """The limbs under the bone that neither are legs nor lead to legs."""
    limbs = [limb for limb in body.limbs(bone) if limb not in legs and legs.isdisjoint(body.below(limb))]
    return [limb for limb in limbs if body.reach(limb) > HAND_REACH]


def _trunk(body: Body, bone: str, legs: set[str], side: Array) -> None:
    """Add the spine up to the bone where the arms branch off, then arms and neck. The middle branch is the neck."""
    limbs = _upwards(body, bone, legs)
    if len(limbs) > 1:
        long = [child for child in body.children[bone] if body.reach_from_parent(child) > NECK_REACH]
        neck = min(long, key=lambda limb: abs(_sideways(body, limb, side)))
        body.rod(bone, TRUNK, body.head(neck), NECK, NECK)
        _neck(body, neck)
        for number, arm in enumerate(limb for limb in limbs if limb != neck):
            # The radii differ because coinciding round ends of equal size would flicker.
            body.rod(bone, TRUNK, body.head(arm), CHEST - 0.004 * (number + 1), SHOULDER - 0.003)
            _arm(body, arm, ONE if _sideways(body, arm, side) > 0 else OTHER)
    elif limbs and body.reach(bone) > HEAD_REACH:
        body.rod(bone, TRUNK, body.head(limbs[0]), BELLY, CHEST)
        _trunk(body, limbs[0], legs, side)


def _head_and_tail(body: Body, feet: list[Foot]) -> None:
    """Add the branches over each of several pairs of legs: a neck over the foremost pair, tails over the others."""
    ways = [_apply(body.pose[foot.foot], foot.ball) - _apply(body.pose[foot.foot], foot.heel) for foot in feet]
    pairs = [{foot.thigh for foot in feet[first : first + 2]} for first in range(0, len(feet), 2)]
    foremost = max(pairs, key=lambda pair: sum(body.head(thigh) @ np.sum(ways, axis=0) for thigh in pair) / len(pair))
    for pair in pairs:
        bone = _hips(body, pair)
        limbs = [] if bone is None else _upwards(body, bone, {foot.thigh for foot in feet})
        if pair is foremost and limbs:
            limbs = [max(limbs, key=body.reach_from_parent)]
        for limb in limbs:
            body.rod(bone, TRUNK, body.head(limb), BELLY, NECK)
            _neck(body, limb) if pair is foremost else _arm(body, limb, TRUNK)


def _neck(body: Body, bone: str) -> None:
    limbs, way = body.limbs(bone), body.furthest(bone)
    if limbs and np.linalg.norm(way) > HEAD_REACH * body.leg:
        body.rod(bone, TRUNK, body.head(limbs[0]), NECK, NECK)
        _neck(body, limbs[0])
    else:
        centre = body.head(bone) + way * max(0.5, 1 - HEAD * body.leg / np.linalg.norm(way))
        body.rod(bone, TRUNK, centre, NECK, NECK)
        body.add(bone, TRUNK, capsule(centre, centre, HEAD * body.leg, HEAD * body.leg))


def _sideways(body: Body, limb: str, side: Array) -> float:
    """The distance at rest from the parent's joint to the mean of the limb's joints, towards the first leg's side."""
    middle = np.mean([body.rest[name][:3, 3] for name in (limb, *body.below(limb))], axis=0)
    return float((middle - body.rest[body.parents[limb]][:3, 3]) @ side)


def _arm(body: Body, bone: str, colour: int) -> None:
    limbs = body.limbs(bone)
    if limbs and body.reach(bone) > HAND_REACH:
        start, end = (SHOULDER, ELBOW) if body.reach(bone) > 0.5 else (ELBOW, WRIST)
        body.rod(bone, colour, body.head(limbs[0]), start, end)
        _arm(body, limbs[0], colour)


def _bind(bpy, armature, body: Body):
    mesh = bpy.data.meshes.new("body")
    starts = np.cumsum([0] + [len(solid.points) for _, _, solid in body.parts])
    faces = [[start + point for point in face] for start, (_, _, solid) in zip(starts, body.parts, strict=False)
             for face in solid.faces]  # fmt: skip
    mesh.from_pydata(np.concatenate([solid.points for _, _, solid in body.parts]), [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    colours = [colour for _, colour, solid in body.parts for _ in solid.faces]
    for name, colour in COLOURS.items():
        mesh.materials.append(paint(bpy, name, colour))
    mesh.polygons.foreach_set("material_index", colours)
    thing = bpy.data.objects.new("body", mesh)
    thing.matrix_world = armature.matrix_world
    thing.parent = armature
    thing.matrix_parent_inverse.identity()
    thing.matrix_basis.identity()
    bpy.context.scene.collection.objects.link(thing)
    for start, (bone, _, solid) in zip(starts, body.parts, strict=False):
        group = thing.vertex_groups.get(bone) or thing.vertex_groups.new(name=bone)
        group.add(range(start, start + len(solid.points)), 1.0, "REPLACE")
    thing.modifiers.new("bones", "ARMATURE").object = armature
    return thing


def paint(bpy, name: str, colour, *, glow: bool = False):
    """The material called `name`: matt, or with `glow` of even brightness."""
    material = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    material.diffuse_color = colour
    if not material.use_nodes:  # Always true in Blender 5.0 and later.
        material.use_nodes = True
    surface = material.node_tree.nodes["Principled BSDF"].inputs
    surface["Base Color"].default_value = (0, 0, 0, 1) if glow else colour
    surface["Roughness"].default_value = 0.7
    surface["Specular IOR Level"].default_value = 0.2
    if glow:
        surface["Emission Color"].default_value = colour
        surface["Emission Strength"].default_value = 1.0
    return material
