# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything in a scene that a run could change, as plain data: equal fingerprints mean an unchanged scene."""

from __future__ import annotations

import numpy as np

KEY = {
    "co": (2, np.float32),
    "handle_left": (2, np.float32),
    "handle_right": (2, np.float32),
    "interpolation": (1, np.int32),
    "easing": (1, np.int32),
    "type": (1, np.int32),
    "handle_left_type": (1, np.int32),
    "handle_right_type": (1, np.int32),
}
TRANSFORMS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale", "rotation_mode")
TYPES = ("actions", "armatures", "collections", "meshes", "objects", "scenes")


def of_scene(bpy):
    """Names, actions, poses, settings and the current frame, after all pending evaluation."""
    bpy.context.view_layer.update()
    return {
        "names": {kind: [(b.name, b.use_fake_user) for b in getattr(bpy.data, kind)] for kind in TYPES},
        "actions": {action.name: of_action(action) for action in bpy.data.actions},
        "objects": {ob.name: _object(ob) for ob in bpy.data.objects},
        "settings": {scene.name: _settings(scene) for scene in bpy.data.scenes},
        "frame": (bpy.context.scene.frame_current, bpy.context.scene.name, bpy.context.mode),
        "active": getattr(bpy.context.view_layer.objects.active, "name", None),
        "selected": [ob.name for ob in bpy.data.objects if ob.select_get()],
    }


def of_action(action):
    """The curves of all slots of an action, bit for bit, with modifiers, and its custom properties."""
    return {"curves": [_curve(curve) for curve in curves_of(action)], "custom": _custom(action)}


def curves_of(action):
    """The curves of all slots of an action."""
    return [curve for bag in bags_of(action) for curve in bag.fcurves]


def bags_of(action):
    """The channel bags of all slots of an action; the action itself in versions of Blender without slots."""
    if not hasattr(action, "slots"):
        return [action]
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def _curve(curve):
    keys = {}
    for name, (width, kind) in KEY.items():
        values = np.empty(width * len(curve.keyframe_points), kind)
        curve.keyframe_points.foreach_get(name, values)
        keys[name] = values.tobytes()
    group = curve.group.name if curve.group else None
    modifiers = [modifier.type for modifier in curve.modifiers]
    return curve.data_path, curve.array_index, group, curve.mute, curve.extrapolation, modifiers, keys


def _custom(block):
    return {key: getattr(block[key], "name", block[key]) for key in block.keys()}  # noqa: SIM118 (no iteration up to 4.5)


def _object(ob):
    data = ob.animation_data
    slot = getattr(data, "action_slot", None)
    bones = ob.pose.bones if ob.pose else ()
    return {
        "plays": (data.action.name if data and data.action else None, slot.identifier if slot else None),
        "drivers": [_driver(curve) for curve in (data.drivers if data else ())],
        "transforms": [_transforms(owner) for owner in (ob, *bones)],
        "world": np.array(ob.matrix_world).tobytes(),
        "parent": (getattr(ob.parent, "name", None), ob.parent_type),
        "custom": _custom(ob),
        "hidden": (ob.hide_get(), ob.hide_viewport),
    }


def _driver(curve):
    targets = [target for variable in curve.driver.variables for target in variable.targets]
    return curve.data_path, curve.array_index, [(getattr(each.id, "name", None), each.data_path) for each in targets]


def _transforms(owner):
    return [value if isinstance(value := getattr(owner, name), str) else tuple(value) for name in TRANSFORMS]


def _settings(scene):
    settings = scene.ik2bone
    names = [p.identifier for p in settings.bl_rna.properties if p.identifier != "rna_type"]
    values = {name: getattr(settings, name) for name in names}
    return {name: getattr(value, "name", value) for name, value in values.items()}
