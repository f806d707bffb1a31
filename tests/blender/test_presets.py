# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets and preferences: what they set, what they leave, and that nothing of them stays behind."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from planted import plant

from demo import session


@pytest.fixture
def presets(bpy, addon):
    """The files that the menu lists, by their names."""
    folders = bpy.utils.preset_paths(addon("ui.menus").PRESETS)
    return {path.stem: path for folder in folders for path in Path(folder).glob("*.py")}


def use(bpy, path):
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="IK2BONE_PT_presets")


def values(bpy, addon):
    settings = bpy.context.scene.ik2bone
    return {name: getattr(settings, name) for name in addon("ui.menus").KEPT}


def test_the_usual_motions_have_presets_that_differ_and_plant(bpy, walker, slope, addon, presets):
    assert set(presets) == {"Walk_on_Terrain", "Run", "Dance", "Climb", "In_Place"}
    default, told = values(bpy, addon), []
    for path in presets.values():
        use(bpy, path)
        told.append(values(bpy, addon))
    assert all(one not in told[:number] for number, one in enumerate(told))
    use(bpy, presets["Walk_on_Terrain"])
    assert values(bpy, addon) == pytest.approx(default)
    use(bpy, presets["Dance"])
    plant(bpy, **values(bpy, addon))


def test_presets_leave_frames_bones_and_output_alone(bpy, presets):
    settings = bpy.context.scene.ik2bone
    settings.frame_range, settings.bones, settings.output, settings.strength = "SCENE", "foot.L", "IN_PLACE", 0.4
    for path in presets.values():
        use(bpy, path)
    assert (settings.frame_range, settings.bones, settings.output) == ("SCENE", "foot.L", "IN_PLACE")
    assert settings.strength == pytest.approx(0.4)


def test_settings_are_saved_as_a_preset_and_come_back(bpy, addon):
    settings = bpy.context.scene.ik2bone
    settings.max_drop, settings.gives_way = 0.3, "HIPS"
    assert bpy.ops.ik2bone.add_preset(name="My Steps") == {"FINISHED"}
    settings.max_drop, settings.gives_way = 0.1, "HEEL_HIPS"
    folder = bpy.utils.user_resource("SCRIPTS", path="presets/ik2bone")
    saved = Path(folder) / "My_Steps.py"
    try:
        use(bpy, saved)
        assert settings.max_drop == pytest.approx(0.3) and settings.gives_way == "HIPS"
    finally:
        saved.unlink()


def test_the_presets_go_with_the_add_on(bpy, addon):
    import addon_utils

    folder = str(addon("ui.menus").FOLDER)
    assert any(path.startswith(folder) for path in bpy.utils.preset_paths("ik2bone"))
    addon_utils.disable(session.ADDON)
    assert not any(path.startswith(folder) for path in bpy.utils.preset_paths("ik2bone"))


@pytest.fixture
def preferences(bpy, addon):
    given = addon("ui.preferences").preferences_in(bpy.context)
    yield given
    for name in ("strength", "gives_way", "live"):
        given.property_unset(name)


def test_new_files_start_with_the_preferences(bpy, preferences):
    preferences.strength, preferences.gives_way, preferences.live = 0.7, "HIPS", True
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    assert (scene.ik2bone.gives_way, scene.ik2bone_contacts.live) == ("HIPS", True)
    assert scene.ik2bone.strength == pytest.approx(0.7)


def test_saved_files_keep_their_settings(bpy, preferences, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "mine.blend"))
    preferences.strength = 0.7
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "mine.blend"))
    assert bpy.context.scene.ik2bone.strength == 1.0


def test_a_scene_can_be_given_the_preferences(bpy, preferences):
    preferences.gives_way = "HIPS"
    bpy.context.scene.ik2bone.gives_way = "HIPS_HEEL"
    assert bpy.ops.ik2bone.use_defaults() == {"FINISHED"}
    assert bpy.context.scene.ik2bone.gives_way == "HIPS"


def test_the_operator_s_own_defaults_are_nobody_s_preference(bpy, preferences):
    preferences.gives_way = "HIPS"
    assert bpy.ops.ik2bone.plant_feet.get_rna_type().properties["gives_way"].default == "HEEL_HIPS"


def test_the_preferences_show_what_does_not_depend_on_the_scene(bpy, addon, preferences):
    shown = []

    class Layout(SimpleNamespace):
        def prop(self, _owner, name, **_options):
            shown.append(name)

        def column(self, **_options):
            return self

        row = column

        def label(self, *_name, **_options):
            pass

        operator = label

    given = {name: getattr(preferences, name) for name in addon("properties").OPTIONS}
    addon("ui.preferences").IK2BONE_Preferences.draw(SimpleNamespace(layout=Layout(), **given), None)
    scene_s = {"bones", "frame_range", "frame_start", "frame_end", "blend_in", "blend_out"}
    assert set(shown) == {*addon("properties").OPTIONS, "live", "overlay", "bars"} - scene_s
