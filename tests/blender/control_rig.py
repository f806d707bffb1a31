# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers with control rigs: made by hand with inverse kinematics, made by Rigify, and named as in Auto-Rig Pro."""

from __future__ import annotations

import biped
import numpy as np

KNEE = 0.06
SIDES = biped.SIDES
# Descriptions of rigs with the options that make them.
HAND_MADE = {
    "pole ahead": {},
    "pole aside": {"pole": "aside"},
    "no pole": {"pole": None},
    "foot rolls under its control": {"foot": "rolled"},
    "foot keyed under the shin": {"foot": "forward"},
    "the foot is the target": {"foot": "apart"},
    "hips under a control": {"hips": "copied"},
    "toe under a control": {"toe": "copied"},
    "foot controls under the hips": {"rides": "PARENT"},
    "foot controls that ride on the hips": {"rides": "CHILD_OF"},
    "Euler angles": {"mode": "XYZ"},
    "axis and angle": {"mode": "AXIS_ANGLE"},
}
RIGIFY = {
    "inverse kinematics": {},
    "a pole": {"pole": True},
    "no stretch": {"stretch": 0.0},
    "feet that go with the torso": {"parent": 2},
    "forward kinematics": {"forward": 1.0},
}


def make_ik_walker(
    bpy, *, pole="ahead", foot="copied", hips="free", toe="free", switch=False, mode="QUATERNION", rides=None
):
    """An armature made by hand that walks on the floor z = 0 from frame 1 to LAST, by the action `walk`.

    The `foot` is "copied" (it copies the rotation of the foot control), "rolled" (it copies the rotation of a bone that
    rolls over the ball under the foot control), "forward" (it hangs under the shin and has its own keys) or "apart" (it
    hangs under no shin and is the target of the leg). The `hips` are "free", or "copied" from a control. With a
    `switch`, a property of the hips turns inverse kinematics off. The `pole` is "ahead" of the knee, or ahead and
    "aside"; without a pole Blender's solver decides the bend of the knee. A "copied" `toe` copies the rotation of a
    bone under the foot control. Foot controls may ride on the hips by a constraint ("CHILD_OF"), or as children of the
    hips ("PARENT").
    """
    armature = biped.make_bones(bpy, "Walker", _bones(pole, foot, hips, toe, rides))
    _set_rolls(bpy, armature)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    _constrain(armature, pole, foot, hips, toe, rides)
    bpy.context.view_layer.update()
    biped.animate(bpy, armature, lambda rig, frame: _key_frame(rig, frame, foot, hips, rides))
    if switch:
        _add_switch(armature)
    bpy.context.scene.frame_set(1)
    return armature


def _bones(pole, foot, hips, toe, rides):
    top, knee = biped.HIP, biped.ANKLE + biped.SHIN
    yield "root", None, (0, 0, 0), (0, 0.4, 0)
    if hips == "copied":
        yield "cog", "root", (0, -0.1, top), (0, 0.3, top)
    yield "hips", "root", (0, 0, top), (0, 0, top + 0.15)
    yield "chest", "hips", (0, 0, top + 0.15), (0, 0, top + 0.5)
    yield "head", "chest", (0, 0, top + 0.5), (0, 0, top + 0.7)
    for side, x in SIDES.items():
        ankle, ball, tip = (x, 0, biped.ANKLE), (x, 0.14, 0.02), (x, 0.21, 0.02)
        yield f"thigh.{side}", "hips", (x, 0, top), (x, KNEE, knee)
        yield f"shin.{side}", f"thigh.{side}", (x, KNEE, knee), ankle
        if foot == "apart":
            yield f"foot.{side}", "root", ankle, ball
        else:
            yield f"foot.{side}", f"shin.{side}", ankle, ball
            yield f"foot_ik.{side}", "hips" if rides == "PARENT" else "root", ankle, ball
        yield f"toe.{side}", f"foot.{side}", ball, tip
        if toe == "copied":
            yield f"toe_turn.{side}", f"foot_ik.{side}", ball, tip
        if foot == "rolled":
            yield f"roll.{side}", f"foot_ik.{side}", ball, (x, 0.0, 0.02)
            yield f"target.{side}", f"roll.{side}", ankle, ball
        if pole:
            aside = 4.0 * x if pole == "aside" else 0.0
            yield f"knee.{side}", "root", (x + aside, 0.6, knee), (x + aside, 0.7, knee)


def _set_rolls(bpy, armature):
    """Roll the bones of legs so that their Z axes point ahead, as people do for poles."""
    with biped.editing(bpy, armature) as bones:
        for bone in bones:
            if bone.name.startswith(("thigh", "shin")):
                bone.align_roll((0, 1, 0))


def _goal(foot, side):
    return {"apart": f"foot.{side}", "rolled": f"target.{side}"}.get(foot, f"foot_ik.{side}")


def _constrain(armature, pole, foot, hips, toe, rides):
    bones = armature.pose.bones
    for side in SIDES:
        ik = bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = armature, _goal(foot, side), 2
        if pole:
            ik.pole_target, ik.pole_subtarget, ik.pole_angle = armature, f"knee.{side}", np.radians(90.0)
        if foot in ("copied", "rolled"):
            copy = bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
            copy.target, copy.subtarget = armature, _goal(foot, side)
        if toe == "copied":
            copy = bones[f"toe.{side}"].constraints.new("COPY_ROTATION")
            copy.target, copy.subtarget = armature, f"toe_turn.{side}"
        if rides == "CHILD_OF":
            child = bones[f"foot_ik.{side}"].constraints.new("CHILD_OF")
            child.target, child.subtarget = armature, "hips"
            child.inverse_matrix = bones["hips"].bone.matrix_local.inverted()
    if hips == "copied":
        child = bones["hips"].constraints.new("COPY_TRANSFORMS")
        child.target, child.subtarget = armature, "cog"


def _key_frame(armature, frame, foot, hips, rides):
    time, bones = (frame - 1) / biped.STRIDE_FRAMES, armature.pose.bones
    _move(bones["cog" if hips == "copied" else "hips"], (0.0, biped.STRIDE * time, -0.1), frame)
    for side, place in biped.ankles(time):
        ankle = place - (0.0, biped.ANKLE)
        carried = (biped.STRIDE * time, -0.1) if rides else (0.0, 0.0)
        _move(bones["foot." + side if foot == "apart" else "foot_ik." + side], (0.0, *(ankle - carried)), frame)
        if f"knee.{side}" in bones:
            _move(bones[f"knee.{side}"], (0.0, ankle[0], 0.0), frame)


def _move(bone, way, frame):
    """Move a bone along the armature's axes, and key its location and rotation."""
    biped.move(bone, way, frame)
    bone.keyframe_insert(biped.rotation_of(bone), frame=frame, group=bone.name)


def _add_switch(armature):
    """Add a property of the hips that turns inverse kinematics off at 1; it is 0 at first."""
    hips = armature.pose.bones["hips"]
    hips["fk"] = 0.0
    for side in SIDES:
        for bone, constraint in ((f"shin.{side}", "IK"), (f"foot.{side}", "Copy Rotation")):
            if constraint in armature.pose.bones[bone].constraints:
                path = 'pose.bones["hips"]["fk"]'
                _drive(armature, armature.pose.bones[bone].constraints[constraint], "1 - fk", path, "fk")


def add_arms(bpy, armature):
    """Give a walker arms. Their hands are drawn to controls that move along with the hips at a constant height."""
    with biped.editing(bpy, armature) as bones:
        top = biped.HIP + 0.45
        for side, x in SIDES.items():
            joints = [(2.0 * x, y, z) for y, z in ((0.0, top), (-0.03, top - 0.28), (0.2, top - 0.4), (0.3, top - 0.4))]
            rows = (("upper_arm", "chest", 0), ("forearm", f"upper_arm.{side}", 1), ("hand", f"forearm.{side}", 2))
            for name, above, joint in (*rows, ("hand_ik", "root", 2)):
                bone = bones.new(f"{name}.{side}")
                bone.head, bone.tail, bone.parent = joints[joint], joints[joint + 1], bones[above]
    for side in SIDES:
        for bone, kind in (("forearm", "IK"), ("hand", "COPY_ROTATION")):
            constraint = armature.pose.bones[f"{bone}.{side}"].constraints.new(kind)
            constraint.target, constraint.subtarget = armature, f"hand_ik.{side}"
        armature.pose.bones[f"forearm.{side}"].constraints["IK"].chain_count = 2
        for frame in range(1, biped.LAST + 1):
            way = biped.STRIDE * (frame - 1) / biped.STRIDE_FRAMES
            _move(armature.pose.bones[f"hand_ik.{side}"], (0.0, way, 0.0), frame)


def make_rigify_walker(bpy, *, forward=0.0, pole=False, stretch=1.0, parent=1):
    """A rig that Rigify generates from its basic human metarig, with keys on its controls to walk along -Y.

    The properties of its legs are `forward` (the switch to FK), `pole`, `stretch` and `parent` (of the IK feet).
    """
    rig = make_rigify(bpy, "basic_human")
    for side in SIDES:
        properties = rig.pose.bones[f"thigh_parent.{side}"]
        properties["IK_FK"], properties["pole_vector"] = forward, pole
        properties["IK_Stretch"], properties["IK_parent"] = stretch, parent
    return biped.animate(bpy, rig, _key_rigify)


def make_rigify(bpy, kind):
    """The rig that Rigify generates from one of its metarigs."""
    import addon_utils

    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(metarig)
    return bpy.context.object


def _key_rigify(rig, frame):
    """Key a frame of a walk on torso, feet and poles of a generated rig, and the same walk on its FK legs."""
    bones, time = rig.pose.bones, (frame - 1) / biped.STRIDE_FRAMES
    size = rigify_leg(rig) / (biped.THIGH + biped.SHIN)
    _move(bones["torso"], (0.0, -size * biped.STRIDE * time, -0.1 * size), frame)
    for side, ankle in biped.ankles(time):
        ahead, up = size * (ankle - (0.0, biped.ANKLE))
        carried = size * np.array([-biped.STRIDE * time, -0.1])
        rides = bones[f"thigh_parent.{side}"]["IK_parent"] == 2
        _move(bones[f"foot_ik.{side}"], (0.0, *((-ahead, up) - carried * rides)), frame)
        _move(bones[f"thigh_ik_target.{side}"], (0.0, -ahead, 0.0), frame)
        turns = biped.leg_turns(ankle - (biped.STRIDE * time, -0.1 + biped.HIP))
        for part, angle in zip(("thigh", "shin", "foot"), turns, strict=True):
            biped.key_turn(bones[f"{part}_fk.{side}"], -angle, frame)


def rigify_leg(rig):
    """The length of a leg of a generated rig."""
    hip, ankle = (rig.data.bones[f"DEF-{name}.L"].head_local for name in ("thigh", "foot"))
    return hip.z - ankle.z


def make_auto_rig_walker(bpy, *, forward=0.0):
    """A walker made by hand whose bones, constraints and switch have the names of Auto-Rig Pro.

    `forward` is the value of the switch: 0 for inverse kinematics, 1 for forward kinematics.
    """
    armature = biped.make_bones(bpy, "Walker", _auto_rig_bones())
    _set_rolls(bpy, armature)
    for side in ("l", "r"):
        armature.pose.bones[f"c_foot_ik.{side}"]["ik_fk_switch"] = forward
        _constrain_auto_rig(armature, side)
    return biped.animate(bpy, armature, _key_auto_rig)


def _auto_rig_bones():
    top, knee = biped.HIP, biped.ANKLE + biped.SHIN
    yield "c_root_master.x", None, (0, 0, top), (0, 0.2, top)
    yield "root.x", "c_root_master.x", (0, 0, top), (0, 0, top + 0.15)
    yield "spine_01.x", "root.x", (0, 0, top + 0.15), (0, 0, top + 0.6)
    for side, x in (("l", 0.1), ("r", -0.1)):
        hip, mid, ankle, ball, tip = (x, 0, top), (x, KNEE, knee), (x, 0, biped.ANKLE), (x, 0.14, 0.02), (x, 0.21, 0.02)
        for names in (("thigh", "leg", "foot", "toes_01"), ("c_thigh_fk", "c_leg_fk", "c_foot_fk", "c_toes_fk")):
            above = "root.x"
            for name, head, tail in zip(names, (hip, mid, ankle, ball), (mid, ankle, ball, tip), strict=True):
                yield f"{name}.{side}", above, head, tail
                above = f"{name}.{side}"
        yield f"thigh_ik.{side}", "root.x", hip, mid
        yield f"leg_ik.{side}", f"thigh_ik.{side}", mid, ankle
        yield f"c_foot_ik.{side}", None, ankle, ball
        yield f"c_toes_ik.{side}", f"c_foot_ik.{side}", ball, tip
        yield f"c_leg_pole.{side}", None, (x, 0.6, knee), (x, 0.7, knee)


def _constrain_auto_rig(armature, side):
    bones = armature.pose.bones
    ik = bones[f"leg_ik.{side}"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = armature, f"c_foot_ik.{side}", 2
    ik.pole_target, ik.pole_subtarget, ik.pole_angle = armature, f"c_leg_pole.{side}", np.radians(90.0)
    solved = ("thigh_ik", "leg_ik", "c_foot_ik", "c_toes_ik")
    forward = ("c_thigh_fk", "c_leg_fk", "c_foot_fk", "c_toes_fk")
    for name, by_ik, by_fk in zip(("thigh", "leg", "foot", "toes_01"), solved, forward, strict=True):
        for kind, source, expression in (("rotIK", by_ik, "1 - var"), ("rotFK", by_fk, "var")):
            copy = bones[f"{name}.{side}"].constraints.new("COPY_ROTATION")
            copy.name, copy.target, copy.subtarget = kind, armature, f"{source}.{side}"
            _drive(armature, copy, expression, f'pose.bones["c_foot_ik.{side}"]["ik_fk_switch"]', "var")


def _drive(armature, constraint, expression, path, name):
    driver = constraint.driver_add("influence").driver
    driver.type, driver.expression = "SCRIPTED", expression
    variable = driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = name, armature, path


def _key_auto_rig(armature, frame):
    bones, time = armature.pose.bones, (frame - 1) / biped.STRIDE_FRAMES
    _move(bones["c_root_master.x"], (0.0, biped.STRIDE * time, -0.1), frame)
    for side, ankle in zip("lr", (ankle for _, ankle in biped.ankles(time)), strict=True):
        _move(bones[f"c_foot_ik.{side}"], (0.0, *(ankle - (0.0, biped.ANKLE))), frame)
        _move(bones[f"c_leg_pole.{side}"], (0.0, ankle[0], 0.0), frame)
        turns = biped.leg_turns(ankle - (biped.STRIDE * time, -0.1 + biped.HIP))
        for part, angle in zip(("thigh", "leg", "foot"), turns, strict=True):
            biped.key_turn(bones[f"c_{part}_fk.{side}"], angle, frame)


def make_rigify_quadruped(bpy, *, forward=0.0, pole=False):
    """A rig that Rigify generates from its basic quadruped metarig, with keys on its IK controls to trot along -Y.

    `forward` is the switch of its legs to FK. The FK controls are not keyed, so that FK legs keep their rest pose.
    """
    rig = make_rigify(bpy, "basic_quadruped")
    for side, name in ((side, name) for side in SIDES for name in ("thigh", "front_thigh")):
        properties = rig.pose.bones[f"{name}_parent.{side}"]
        properties["IK_FK"], properties["pole_vector"] = forward, pole
    return biped.animate(bpy, rig, _key_paws, "trot")


def _key_paws(rig, frame):
    """Key torso and paws of a frame: the paws of a diagonal together, the two diagonals half a stride apart."""
    size = 0.5 * rig.data.bones["DEF-thigh.L"].head_local.z / biped.HIP
    time = (frame - 1) / biped.STRIDE_FRAMES
    _move(rig.pose.bones["torso"], (0.0, -size * biped.STRIDE * time, -0.05), frame)
    diagonals = ("foot_ik.L", "front_foot_ik.R"), ("foot_ik.R", "front_foot_ik.L")
    for names, (_, ankle) in zip(diagonals, biped.ankles(time), strict=True):
        ahead, up = size * (ankle - (0.0, biped.ANKLE))
        for name in names:
            _move(rig.pose.bones[name], (0.0, -ahead, up), frame)
