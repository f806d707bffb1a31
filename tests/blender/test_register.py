# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension comes and goes cleanly, and says what it lacks."""

from __future__ import annotations

import importlib
import sys
from math import radians
from types import SimpleNamespace

import pytest

from demo import session


def test_disabling_takes_everything_away_and_enabling_brings_it_back(bpy):
    import addon_utils

    addon_utils.disable(session.ADDON)
    assert not hasattr(bpy.types.Scene, "ik2bone")
    assert not hasattr(bpy.types, "IK2BONE_PT_main")
    addon_utils.enable(session.ADDON)
    assert hasattr(bpy.types.Scene, "ik2bone")
    assert bpy.ops.ik2bone.plant_feet.get_rna_type().name == "Plant Feet"


def test_menus_offer_the_operators_while_the_add_on_is_enabled(bpy, addon):
    import addon_utils

    menus = addon("ui.menus")
    kinds = menus._menus()
    assert len(kinds) == 3 and all(menus._draw in kind.draw._draw_funcs for kind in kinds)
    addon_utils.disable(session.ADDON)
    assert not any(menus._draw in kind.draw._draw_funcs for kind in kinds)


def test_a_missing_package_is_said_in_panel_and_preferences_in_one_sentence(bpy, monkeypatch, capsys):
    import addon_utils

    addon_utils.disable(session.ADDON)
    monkeypatch.setitem(sys.modules, "ik2bone", None)
    module = importlib.import_module(session.ADDON)
    module.register()
    try:
        sentence = "IK2Bone cannot work without its compiled package 'ik2bone'"
        assert sentence in capsys.readouterr().err
        missing = importlib.import_module(f"{session.ADDON}.missing")
        for kind in (missing.IK2BONE_PT_missing, missing.IK2BONE_MissingPreferences):
            assert kind.is_registered
            said = []
            column = SimpleNamespace(label=lambda text, icon, said=said: said.append(text))
            kind.draw(SimpleNamespace(layout=SimpleNamespace(column=lambda align, column=column: column)), None)
            assert " ".join(said).startswith(sentence) and len(said) > 1
        assert not hasattr(bpy.types.Scene, "ik2bone")
    finally:
        module.unregister()
    assert not hasattr(bpy.types, "IK2BONE_PT_missing")
    monkeypatch.undo()
    addon_utils.enable(session.ADDON)
    assert hasattr(bpy.types, "IK2BONE_PT_main")


def test_the_operator_s_defaults_are_those_of_the_contract(bpy):
    properties = bpy.ops.ik2bone.plant_feet.get_rna_type().properties
    defaults = {p.identifier: p.default for p in properties if p.identifier != "rna_type"}
    assert defaults.pop("max_slope") == pytest.approx(radians(50.0))
    assert defaults.pop("max_drop") == pytest.approx(0.4)
    assert defaults == {
        "surface": "",
        "chains": "AUTO",
        "bones": "",
        "frame_range": "ACTION",
        "frame_start": 1,
        "frame_end": 250,
        "blend_in": 0,
        "blend_out": 0,
        "contacts": "AUTO",
        "direction": "DOWN",
        "use_hips": True,
        "gives_way": "HEEL_HIPS",
        "use_slope": True,
        "strength": 1.0,
        "output": "NEW_ACTION",
        "all_actions": False,
    }


def test_texts_follow_blender_s_rules(bpy):
    own = [name for name in dir(bpy.ops.ik2bone) if name != "add_preset"]
    assert {"plant_feet", "restore", "drag_contact", "move_anchor", "mark_feet", "show_frame"} <= set(own)
    for name in own:
        kind = getattr(bpy.ops.ik2bone, name).get_rna_type()
        own = [p for p in kind.properties if p.identifier != "rna_type" and not p.is_hidden]
        items = [item for p in own if p.type == "ENUM" for item in p.enum_items]
        for text in (kind.description, *(part.description for part in (*own, *items))):
            assert text and text[0].isupper() and not text.endswith("."), (name, text)
