# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to move bones and objects other than by F-curves of bones, and the error of a sample against the scene."""

from __future__ import annotations

import biped
import fingerprint
import numpy as np

FRAMES = range(1, biped.LAST + 1)
# The error of single precision, at coordinates of up to two metres and scales of up to two.
SINGLE = 2e-6
# The place of the empties that move bones or objects.
AWAY = (0.5, 0.3, 0.4)


def limbs(addon):
    """The walker's legs by names of bones, so that changes of the scene do not decide which legs are found."""
    return tuple(addon("rig.limb").Limb(*(f"{part}.{side}" for part in biped.LEG)) for side in biped.SIDES)


def sampled(addon, walker):
    return addon("pose.sample").sample(walker, limbs(addon), "hips", FRAMES)


def error(bpy, walker, sample):
    """The largest difference of a sample's matrices from those of the stepped scene, over all frames and bones."""
    worst = 0.0
    for row, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(frame)
        for column, name in enumerate(sample.names):
            bone = walker.pose.bones[name]
            world = np.array(walker.matrix_world @ bone.matrix)
            worst = max(worst, np.abs(sample.poses.world[row, column] - world).max())
            worst = max(worst, np.abs(sample.poses.basis[row, column] - np.array(bone.matrix_basis)).max())
    return worst


def curve_of(walker, bone, name, index):
    path = walker.pose.bones[bone].path_from_id(name)
    curves = fingerprint.curves_of(walker.animation_data.action)
    return next(curve for curve in curves if curve.data_path == path and curve.array_index == index)


def key(owner, name, values):
    """Key a property on three frames: the first value, the second, and the first again."""
    for frame, value in zip((FRAMES[0], FRAMES[30], FRAMES[-1]), (*values, values[0]), strict=True):
        # A custom property is named by its path.
        if name.startswith("["):
            owner[name[2:-2]] = value
        else:
            setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)


def constrain(bpy, walker, bone, kind="COPY_ROTATION", **values):
    constraint = walker.pose.bones[bone].constraints.new(kind)
    constraint.target = biped.make_empty(bpy, "Goal", AWAY)
    constraint.target.rotation_euler = (0.4, 0.3, 0.2)
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


def drive(owner, name, expression="frame / 50", index=-1):
    driver = owner.driver_add(name, index) if index >= 0 else owner.driver_add(name)
    driver.driver.expression = expression


def drive_by_scene(owner, name, scene, path, index=-1, context=None):
    """Drive a property by one of a scene, or of the scene that a `context` property names; return the target."""
    driver = owner.driver_add(name, index).driver
    variable, driver.expression = driver.variables.new(), "var / 50"
    variable.type = "CONTEXT_PROP" if context else "SINGLE_PROP"
    target = variable.targets[0]
    if context:
        target.context_property = context
    else:
        target.id_type, target.id = "SCENE", scene
    target.data_path = path
    return target


def add_track(walker, *, muted=False, shift=0.3):
    """Add an NLA track with a copy of the action in which all keys have values higher by `shift`."""
    action = walker.animation_data.action
    other = action.copy()
    for curve in fingerprint.curves_of(other):
        for point in curve.keyframe_points:
            point.co.y += shift
    track = walker.animation_data.nla_tracks.new()
    strip = track.strips.new("Other", 1, other)
    if hasattr(strip, "action_slot"):
        strip.action_slot = other.slots[0]
    track.mute = muted
    return strip


def move_the_object(bpy, walker):
    key(walker, "location", [(0, 0, 0), (1, 0.5, 0.2)])
    key(walker, "scale", [(1, 1, 1), (1, 2, 0.7)])


def drive_the_object(bpy, walker):
    drive(walker, "location", index=2)


def constrain_the_object(bpy, walker):
    goal = biped.make_empty(bpy, "Goal", AWAY)
    key(goal, "location", [(0, 0, 0), (1, 0.5, 0.2)])
    walker.constraints.new("COPY_LOCATION").target = goal


def parent_to_a_moving_empty(bpy, walker):
    walker.parent = biped.make_empty(bpy, "Goal", AWAY)
    key(walker.parent, "rotation_euler", [(0, 0, 0), (0.2, 0, 1)])


def parent_to_a_bone(bpy, walker):
    cart = biped.make_walker(bpy, "Cart")
    walker.parent, walker.parent_type, walker.parent_bone = cart, "BONE", "shin.L"
