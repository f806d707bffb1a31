# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the matrix in one Blender, with only the add-on and wheel of the zip: steps.py ZIP REPORT."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import biped
import bpy
import control_rig
import numpy as np

ADDON = "bl_ext.user_default.ik2bone"
# The height of a standing ball over the floor, and the greatest error of this height on a slope.
BALL, NEAR = 0.02, 0.01
RISE = 0.1


class Layout:
    """A stand-in for a panel's layout, which fails on properties and operators that this Blender does not know."""

    def __init__(self) -> None:
        """Make a layout in which nothing is drawn yet."""
        self.drawn = 0

    def __getattr__(self, _name: str) -> Callable[..., Layout]:
        self.drawn += 1
        return lambda *_arguments, **_options: self

    def prop(self, owner: Any, name: str, **_options: Any) -> None:
        """Draw a property, which has to exist."""
        self.drawn += 1
        assert name in owner.bl_rna.properties, f"{owner} has no property {name}"

    def operator(self, name: str, **_options: Any) -> SimpleNamespace:
        """Draw a button, whose operator has to exist."""
        self.drawn += 1
        category, _, verb = name.partition(".")
        getattr(getattr(bpy.ops, category), verb).get_rna_type()
        return SimpleNamespace()

    operator_menu_enum = operator


class Drawn:
    """A stand-in for the instance of a panel while it draws: its attributes and methods are those of the panel."""

    def __init__(self, panel: type, layout: Layout) -> None:
        """Make an instance for a `panel` class, whose name Blender takes for a missing `bl_idname`."""
        self.panel, self.layout = panel, layout
        self.bl_idname = getattr(panel, "bl_idname", panel.__name__)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.panel, name)
        return MethodType(found, self) if isinstance(found, FunctionType) else found


def module(name: str) -> Any:
    """A module of the installed add-on."""
    return importlib.import_module(f"{ADDON}.{name}")


def start() -> Any:
    """A walker on a slope in an otherwise empty scene."""
    empty()
    biped.make_slope(bpy, rise=RISE)
    return biped.make_walker(bpy)


def empty() -> None:
    """Remove all objects, actions, armatures and meshes."""
    for kind in (bpy.data.objects, bpy.data.actions, bpy.data.armatures, bpy.data.meshes):
        bpy.data.batch_remove(list(kind))


def plant(**given: Any) -> None:
    """Run the operator as scripts do."""
    assert bpy.ops.ik2bone.plant_feet(**given) == {"FINISHED"}


def standing(armature: Any) -> bool:
    """Whether the lower foot stands on the slope on every frame, as Blender evaluates it."""
    gaps = []
    for frame in range(5, biped.LAST - 5):
        bpy.context.scene.frame_set(frame)
        balls = [armature.matrix_world @ armature.pose.bones[name].head for name in ("toe.L", "toe.R")]
        gaps.append(min(ball.z - RISE * ball.y for ball in balls))
    return bool(np.abs(np.array(gaps) - BALL).max() < NEAR)


def install(archive: Path) -> None:
    """Check that the zip can be installed with its wheel and enabled."""
    options = {"repo": "user_default", "enable_on_install": True}
    bpy.ops.extensions.package_install_files(filepath=str(archive), **options)
    import ik2bone

    user = Path(os.environ["BLENDER_USER_RESOURCES"]).resolve()
    for found in (ik2bone, sys.modules[ADDON]):
        assert user in Path(found.__file__).resolve().parents, f"{found.__name__} comes from {found.__file__}"


def panels() -> None:
    """Check that all panels draw, before and after planting."""
    start()
    drawn = draw_all()
    plant()
    assert drawn > 10 and draw_all() > drawn


def draw_all() -> int:
    """The number of items that all panels of the add-on draw."""
    layout, every = Layout(), bpy.types.Panel.__subclasses__()
    for panel in (panel for panel in every if panel.__module__.startswith(ADDON)):
        if not hasattr(panel, "poll") or panel.poll(bpy.context):
            panel.draw(Drawn(panel, layout), bpy.context)
    return layout.drawn


def new_action() -> None:
    """Check that feet stand by a derived action."""
    walker = start()
    assert not standing(walker)
    plant()
    assert walker.animation_data.action.name == "walk.planted" and standing(walker)


def in_place() -> None:
    """Check that feet stand by the action itself."""
    walker = start()
    plant(output="IN_PLACE")
    assert walker.animation_data.action.name == "walk" and standing(walker)


def layer() -> None:
    """Check that feet stand by a strip, and no longer without its influence."""
    walker = start()
    plant(output="NLA_LAYER")
    assert standing(walker)
    strip = walker.animation_data.nla_tracks[-1].strips[0]
    strip.influence = 0.0
    assert not standing(walker)


def restore() -> None:
    """Check that the source plays again after both outputs that keep a source."""
    for output in ("NEW_ACTION", "NLA_LAYER"):
        walker = start()
        plant(output=output)
        assert bpy.ops.ik2bone.restore() == {"FINISHED"}
        assert walker.animation_data.action.name == "walk" and not walker.animation_data.nla_tracks
        assert not standing(walker)


def control_rigs() -> None:
    """Check that legs follow controls made by hand, with dense and sparse keys, and controls made by Rigify."""
    empty()
    biped.make_slope(bpy, rise=RISE)
    walker = control_rig.make_ik_walker(bpy, pole="aside")
    for sparse in (False, True):
        plant(sparse_keys=sparse)
        assert standing(walker)
    empty()
    biped.make_slope(bpy, rise=-RISE)
    rig = control_rig.make_rigify_walker(bpy)
    plant()
    report, leg = json.loads(rig.animation_data.action["ik2bone"])["report"], control_rig.rigify_leg(rig)
    assert report["after"]["penetration"] < 1e-3 * leg and report["after"]["drift"] < 1e-3 * leg
    assert all(max(foot["off"]["ankle"], foot["off"]["ball"]) < 1e-3 * leg for foot in report["feet"])


def contacts() -> None:
    """Check that the next run keeps a contact that was made longer in the list."""
    walker = start()
    plant()
    module("ui.contact_list").show_rows()
    row = bpy.context.scene.ik2bone_contacts.rows[1]
    row.end += 2
    wanted = (row.start, row.end)
    plant(contacts="STORED")
    stored = json.loads(walker.animation_data.action["ik2bone"])["contacts"]
    assert wanted in {(each["start"], each["end"]) for each in stored if each["state"] == "enforced"}


def all_actions() -> None:
    """Check that a second, unassigned action is planted too, also if only an NLA strip plays the first action."""
    for in_strip in (False, True):
        walker = start()
        data, action = walker.animation_data, walker.animation_data.action
        copy = action.copy()
        copy.name, copy.use_fake_user = "second", True
        if in_strip:
            data.nla_tracks.new().strips.new("Walk", 1, action)
            data.action = None
        plant(all_actions=True)
        assert {"walk.planted", "second.planted"} <= set(bpy.data.actions.keys()) and standing(walker)


def batch() -> None:
    """Check that the command plants a file on a ground from another file."""
    walker, folder = start(), Path.cwd()
    bpy.ops.export_anim.bvh(filepath=str(folder / "walk.bvh"), frame_end=biped.LAST, rotate_mode="NATIVE")
    bpy.data.objects["Slope"].select_set(True)
    walker.select_set(False)
    bpy.ops.wm.obj_export(filepath=str(folder / "slope.obj"), export_selected_objects=True)
    arguments = [str(folder / "walk.bvh"), "--ground", str(folder / "slope.obj"), "--output", str(folder / "out")]
    assert module("batch.command").run(arguments) == 0
    told = json.loads((folder / "out" / "walk.json").read_text())
    assert told["actions"][0]["report"]["after"]["penetration"] < 1e-3 and (folder / "out" / "walk.blend").exists()


def remove() -> None:
    """Check that nothing of the add-on stays in Blender."""
    repositories = bpy.context.preferences.extensions.repos
    number = next(number for number, each in enumerate(repositories) if each.module == "user_default")
    assert bpy.ops.extensions.package_uninstall(repo_index=number, pkg_id="ik2bone") == {"FINISHED"}
    assert not hasattr(bpy.types.Scene, "ik2bone") and not hasattr(bpy.types, "IK2BONE_PT_main")


def main(archive: Path, report: Path) -> None:
    """Run all steps and write their outcomes after each step, so that they outlive a step that ends the process."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    told: dict[str, Any] = {"build": {"blender": bpy.app.version_string, "python": sys.version.split()[0]}, "steps": {}}
    steps = (panels, new_action, in_place, layer, restore, control_rigs, contacts, all_actions, batch, remove)
    for name, step in (("install", lambda: install(archive)), *((step.__name__, step) for step in steps)):
        report.write_text(json.dumps(told | {"doing": name}))
        told["steps"][name] = outcome_of(step)
        if not told["steps"]["install"]["ok"]:
            break
    report.write_text(json.dumps(told))


def outcome_of(step: Callable[[], None]) -> dict[str, Any]:
    """Whether a step worked, and the reason if it did not."""
    try:
        step()
    except Exception as error:
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
        return {"ok": False, "why": f"{type(error).__name__} at {where}: {' '.join(str(error).split())}"}
    return {"ok": True}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
    # This skips Blender's destructors, in which some versions crash.
    sys.stdout.flush()
    os._exit(0)
