# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension comes and goes cleanly, and says what it lacks."""

from __future__ import annotations

import importlib
import sys
import sysconfig
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
    assert bpy.ops.ik2bone.mark_feet.get_rna_type().name == "Pin Feet Here"
    assert len(kinds) == 3 and all(menus._draw in kind.draw._draw_funcs for kind in kinds)
    addon_utils.disable(session.ADDON)
    assert not any(menus._draw in kind.draw._draw_funcs for kind in kinds)


@pytest.fixture
def unfit(bpy, monkeypatch):
    """The add-on in a Blender that cannot import the package."""
    import addon_utils

    addon_utils.disable(session.ADDON)
    monkeypatch.setitem(sys.modules, "ik2bone", None)
    addon_utils.enable(session.ADDON)
    yield importlib.import_module(f"{session.ADDON}.misfit")
    addon_utils.disable(session.ADDON)


def test_a_package_that_does_not_fit_is_told_in_panel_and_preferences(bpy, unfit):
    import addon_utils

    assert not hasattr(bpy.types.Scene, "ik2bone")
    for place in (bpy.types.IK2BONE_PT_misfit, unfit.IK2BONE_misfit_preferences):
        lines = []
        layout = SimpleNamespace(label=lambda text, lines=lines, **_: lines.append(text))
        layout.column = lambda layout=layout, **_: layout
        place.draw(SimpleNamespace(layout=layout), bpy.context)
        assert " ".join(lines) == unfit.find_misfit()
    addon_utils.disable(session.ADDON)
    assert not hasattr(bpy.types, "IK2BONE_PT_misfit")


def test_the_sentence_names_what_wheels_are_for_and_what_this_blender_is(unfit):
    missing = unfit.find_misfit()
    assert missing.startswith("IK2Bone lacks its compiled package 'ik2bone' (") and missing.endswith("for this system")
    names = ["ik2bone-0.1.0-cp311-abi3-macosx_11_0_arm64.whl", "ik2bone-0.1.0-cp313-cp313-win_amd64.whl"]
    told = unfit.sentence(names, "no module")
    assert "is for macosx_11_0_arm64 with Python 3.11 or later or win_amd64 with Python 3.13, " in told
    assert f"this Blender is {sysconfig.get_platform()} with Python 3.{sys.version_info.minor} (no module): " in told


def test_where_the_package_fits_nothing_is_told(bpy, addon):
    assert addon("misfit").find_misfit() is None and not hasattr(bpy.types, "IK2BONE_PT_misfit")


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
        "sparse_keys": False,
    }


def test_texts_follow_blender_s_rules(bpy):
    names = [name for name in dir(bpy.ops.ik2bone) if name != "add_preset"]
    assert {"plant_feet", "restore", "drag_contact", "move_anchor", "mark_feet", "show_frame"} <= set(names)
    for name in names:
        kind = getattr(bpy.ops.ik2bone, name).get_rna_type()
        own = [p for p in kind.properties if p.identifier != "rna_type" and not p.is_hidden]
        items = [item for p in own if p.type == "ENUM" for item in p.enum_items]
        for text in (kind.description, *(part.description for part in (*own, *items))):
            assert text and text[0].isupper() and not text.endswith("."), (name, text)
