# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on computes in double precision in every version of Blender.

In 5.2, numpy makes arrays of single precision from matrices and vectors if no type is named. Products of such arrays
are of single precision, too.
"""

from __future__ import annotations

import sys

import control_rig
import numpy as np
import pytest
from biped import LAST, SIDES, editing
from planted import plant
from test_skins import boot


@pytest.fixture
def untyped(monkeypatch):
    """The places in the add-on at which arrays are made of Blender's numbers without a type, filled in as it runs."""
    from mathutils import Euler, Matrix, Quaternion, Vector

    places = set()

    def watched(function):
        def made(value, *rest, **named):
            caller, first = sys._getframe(1), value
            while isinstance(first, list | tuple) and first:
                first = first[0]
            if isinstance(first, Euler | Matrix | Quaternion | Vector) and not rest and "dtype" not in named:
                places.add((caller.f_globals["__name__"], caller.f_lineno))
            return function(value, *rest, **named)

        return made

    for name in ("array", "asarray"):
        monkeypatch.setattr(np, name, watched(getattr(np, name)))
    return lambda: sorted(place for place in places if ".ik2bone." in place[0])


def test_a_walk_in_boots_on_ground_that_moves_is_planted_in_double_precision(bpy, walker, slope, untyped):
    for side in SIDES:
        boot(bpy, walker, side)
    for frame, place in ((1, 0.0), (LAST, 0.5)):
        slope.location.x = place
        slope.keyframe_insert("location", frame=frame)
    plant(bpy)
    plant(bpy, frame_range="CURRENT")
    assert untyped() == []


def test_a_rig_with_controls_is_planted_in_double_precision(bpy, slope, untyped):
    control_rig.make_ik_walker(bpy)
    plant(bpy)
    assert untyped() == []


@pytest.mark.parametrize("length", [0.1, 0.3])
def test_hands_and_feet_touch_in_double_precision(bpy, slope, untyped, length):
    """A hand that is longer than its forearm touches behind its wrist, not at its tail."""
    walker = control_rig.make_ik_walker(bpy)
    control_rig.add_arms(bpy, walker)
    with editing(bpy, walker) as bones:
        for side in SIDES:
            bones[f"hand.{side}"].length = length
    plant(bpy, bones="hand.L, hand.R, foot.L, foot.R", direction="NEAREST")
    assert untyped() == []
