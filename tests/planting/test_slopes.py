# SPDX-License-Identifier: MIT
"""Soles on slopes: laid along them, left level, or left where it is too steep."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.plan import Settings, plant
from ik2bone.rotations import inverse_of
from ik2bone.sole.measure import sole_points
from walk import HILLS, height_field, in_place, make_walk


def test_feet_lie_along_the_slope_with_their_heading() -> None:
    clip, slope = make_walk(turn=0.6).clip, np.radians(12.0)
    plan = plant(clip, height_field(lambda x, y: np.tan(slope) * x))
    normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    anchor = plan.anchors[0]
    assert anchor.turn @ clip.up == pytest.approx(normal, abs=1e-6)
    forward = clip.foot[anchor.stance.start + 10, anchor.stance.leg, :3, 0]
    turned = anchor.turn @ forward
    assert np.arctan2(turned[1], turned[0]) == pytest.approx(np.arctan2(forward[1], forward[0]), abs=1e-3)


def test_soles_stay_level_without_slope() -> None:
    plan = plant(make_walk().clip, HILLS, Settings(use_slope=False))
    assert all((anchor.turn == np.eye(3)).all() for anchor in plan.anchors)


@pytest.mark.parametrize("rise", [-0.2, 0.1])
def test_feet_without_slope_keep_their_turn_and_touch_the_ground_with_what_comes_first(rise) -> None:
    clip = make_walk().clip
    plan = plant(clip, height_field(lambda x, y: rise * x), Settings(use_slope=False, gives_way="HIPS"))
    stands, after = plan.contacts.any(axis=-1), plan.report()["after"]
    turns = np.einsum("flij,fljk->flik", plan.apply(clip).foot, inverse_of(clip.foot))[stands][:, :3, :3]
    assert np.abs(turns - np.eye(3)).max() < 1e-6
    assert max(after["drift"], after["penetration"]) < 1e-6 * clip.leg
    lowest = sole_points(plan.apply(clip), plan.sole)[:, :, :2] @ [-rise, 0.0, 1.0]
    both = plan.contacts.all(axis=-1) if rise < 0.0 else stands
    assert np.abs(lowest[both].min(axis=-1)).max() < 0.002 * clip.leg


@pytest.mark.parametrize(("limit", "tilt"), [(40.0, 30.0), (20.0, 0.0)])
def test_soles_are_not_laid_on_what_is_steeper_than_the_steepest_slope(limit, tilt) -> None:
    ground = height_field(lambda x, y: np.tan(np.radians(30.0)) * y)
    plan = plant(make_walk().clip, ground, Settings(max_slope=np.radians(limit)))
    tilts = [np.degrees(np.arccos((anchor.turn @ [0.0, 0.0, 1.0])[2])) for anchor in plan.anchors]
    assert tilts == pytest.approx([tilt] * len(tilts), abs=0.1)


@pytest.mark.parametrize("steep", [30.0, 55.0])
def test_feet_stand_where_they_are_on_ground_that_is_too_steep_all_about_and_that_is_told(steep) -> None:
    slope, walk = np.tan(np.radians(steep)), make_walk().clip
    plan = plant(walk, height_field(lambda x, y: slope * x), Settings(max_slope=np.radians(steep - 5.0)))
    assert plan.anchors
    for anchor in plan.anchors:
        np.testing.assert_allclose(anchor.point[:2], anchor.origin[:2], atol=1e-9)
    (told,) = [sentence for sentence in map(str, plan.notes) if "steeper" in sentence]
    count = sum(anchor.part != "swing" for anchor in plan.anchors)
    assert told.startswith(f"{count} of {count} contacts lie on ground steeper than {steep - 5.0:g} degrees")
    gentle = plant(walk, height_field(lambda x, y: slope * x), Settings(max_slope=np.radians(steep + 5.0)))
    assert not any("steeper" in str(note) for note in gentle.notes)


@pytest.mark.parametrize("contacts", ["ALWAYS", "AUTO"])
def test_feet_that_follow_the_ground_tell_where_it_is_too_steep(contacts) -> None:
    clip = in_place(make_walk().clip)
    steep, gentle = height_field(lambda x, y: 0.5 * x), height_field(lambda x, y: 0.1 * x)
    limit = np.radians(20.0)
    notes = [plant(clip, ground, Settings(contacts=contacts, max_slope=limit)).notes for ground in (steep, gentle)]
    (note,) = [note for note in notes[0] if note.code == "steep_frames"]
    assert note.data == pytest.approx({"frames": clip.frames, "degrees": 20.0})
    assert not any("steeper" in str(note) for note in notes[1])
