# SPDX-License-Identifier: MIT
"""Soles of skins made by formula: shoes of known shape, tilted and scaled, and what is no sole at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.plan import Settings, plant
from ik2bone.rotations import move_points
from ik2bone.sole.measure import measure_sole
from ik2bone.sole.skin import Skin, find_sole, lay_at_rest
from walk import ANKLE, BALL, FLAT, FOOT, make_walk, planted

UP, FORWARD = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
JOINT = np.array([FOOT, 0.0, BALL - ANKLE])
# In foot space of the walk: the ankle is the origin.
BACK, TIP, THICK = -0.08, FOOT + 0.1, 0.03


def shoe(thick=THICK, *, spring=0.0, heel=0.0):
    """Points of a shoe's lower side and of its upper: `spring` lifts its front, `heel` puts a block under its back."""
    x = np.linspace(BACK, TIP, 60)
    low = -ANKLE - thick + spring * np.maximum(x - FOOT, 0.0) / (TIP - FOOT)
    low = np.where(x < BACK + 0.07, low - heel, low)
    y = np.where(np.arange(60) % 2, 0.04, -0.04)
    points = np.concatenate([np.stack([x, y, low], axis=1), np.stack([x, y, 0.0 * x], axis=1)])
    toe = points[:, 0] > FOOT
    rest = np.eye(4)
    rest[:3, 3] = JOINT
    return Skin(points[~toe], points[toe] - JOINT, rest, UP)


def lying(joint=JOINT):
    """Ahead, up and the ball joint of a foot that the clip shows level."""
    return FORWARD, UP, joint


def tilted(skin, angle):
    """The same skin on a bone that is pitched by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    rest = skin.rest.copy()
    rest[:3] = turn @ rest[:3]
    return replace(skin, foot=skin.foot @ turn.T, rest=rest), turn @ JOINT


@pytest.mark.parametrize("angle", [0.0, 0.2, -0.35])
def test_a_shoe_is_laid_flat_however_its_bone_is_pitched(angle) -> None:
    skin, joint = tilted(shoe(), angle)
    sole = find_sole(skin, *lying(joint), 1.0)
    assert sole.height == pytest.approx(BALL + THICK, abs=1e-9)
    assert sole.heel == pytest.approx(BACK - FOOT, abs=1e-9) and sole.tip == pytest.approx(TIP - FOOT, abs=1e-9)
    assert sole.up == pytest.approx([np.sin(angle), 0.0, np.cos(angle)], abs=1e-9)


def test_toes_that_curve_up_are_not_all_of_the_sole() -> None:
    sole = find_sole(shoe(spring=0.05), *lying(), 1.0)
    assert sole.height == pytest.approx(BALL + THICK, abs=1e-9)
    assert 0.02 < sole.tip < 0.05


def test_a_high_heel_stands_on_heel_and_ball() -> None:
    sole = find_sole(shoe(heel=0.04), *lying(), 1.0)
    assert np.degrees(np.arccos(sole.up[2])) == pytest.approx(9.0, abs=3.0)
    assert (shoe(heel=0.04).foot - JOINT) @ sole.up == pytest.approx(-sole.height, abs=0.5)
    assert ((shoe(heel=0.04).foot - JOINT) @ sole.up).min() == pytest.approx(-sole.height, abs=1e-9)


@pytest.mark.parametrize("thick", [-0.06, 0.1])
def test_a_shoe_too_far_from_its_joint_is_not_believed(thick) -> None:
    assert find_sole(shoe(thick), *lying(), 1.0) is None


def test_a_skin_without_points_has_no_sole() -> None:
    nothing = Skin(np.zeros((0, 3)), np.zeros((0, 3)), np.eye(4), UP)
    assert find_sole(nothing, *lying(), 1.0) is None


def test_a_rest_pose_that_nobody_stands_in_gives_way_to_the_clip() -> None:
    hanging = replace(shoe(), up=FORWARD)
    assert lay_at_rest(hanging, JOINT, 1.0) is None
    sole = measure_sole(replace(make_walk().clip, skins=(hanging, hanging)))
    assert sole.source == ("mesh", "mesh") and sole.ball_height == pytest.approx([BALL + THICK] * 2, abs=1e-6)


@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_a_walk_in_shoes_stands_on_them(scale) -> None:
    skin = shoe()
    big = replace(
        skin, foot=scale * skin.foot, toe=scale * skin.toe, rest=skin.rest * ([[1, 1, 1, scale]] * 3 + [[1] * 4])
    )
    clip = replace(make_walk(scale=scale).clip, skins=(big, big))
    sole = measure_sole(clip)
    assert sole.source == ("mesh", "mesh")
    assert sole.ball_height / scale == pytest.approx([BALL + THICK] * 2, abs=1e-6)
    assert sole.floor / scale == pytest.approx(-THICK, abs=0.006)

    def ground(points, down):
        hits, normals, found = FLAT(points / scale, down)
        return hits * scale, normals, found

    plan = plant(clip, ground)
    after = planted(clip, plan)
    lows = [
        (move_points(after.foot[:, leg], point) @ UP) / scale
        for leg in range(2)
        for point in (sole.heel[leg], sole.ball[leg])
    ]
    assert min(low.min() for low in lows) > -0.004


def test_skins_go_with_the_own_scales_of_their_bones() -> None:
    clip, own, skin = make_walk().clip, np.array([1.5, 0.8, 1.2]), shoe()
    scale = clip.scale.copy()
    scale[:, :, 2:] = own
    thin = Skin(skin.foot / own, skin.toe / own, skin.rest * np.append(own, 1.0) / np.append(own, 1.0)[:, None], UP)
    wide = {name: getattr(clip, name) * np.append(own, 1.0) for name in ("foot", "toe")}
    scaled, plain = replace(clip, scale=scale, skins=(thin,) * 2, **wide), replace(clip, skins=(skin,) * 2)
    sole, other = measure_sole(scaled), measure_sole(plain)
    assert sole.source == ("mesh", "mesh")
    for point in ("heel", "ball", "ball_joint"):
        assert getattr(sole, point) * own == pytest.approx(getattr(other, point), abs=1e-9)
    assert sole.tip * own == pytest.approx(other.tip, abs=1e-9) and sole.lengths == pytest.approx(other.lengths)


def test_one_foot_without_skin_keeps_the_clip_s_measure() -> None:
    nothing = Skin(np.zeros((0, 3)), np.zeros((0, 3)), np.eye(4), UP)
    assert measure_sole(replace(make_walk().clip, skins=(shoe(), nothing))).source == ("mesh", "clip's floor")


@pytest.mark.parametrize(("is_hand", "asked"), [([False, True], [True, True]), ([False, False], [True, False])])
def test_doubts_about_skins_are_told_of_the_feet_that_were_asked_for(is_hand, asked) -> None:
    blob = Skin(np.full((9, 3), 50.0), np.zeros((0, 3)), np.eye(4), UP)
    clip = replace(make_walk(2.0).clip, skins=(blob, blob), is_hand=np.array(is_hand))
    notes = plant(clip, FLAT, Settings(asked=np.array(asked))).notes
    assert any(str(note) == "the skin of 1 of 1 feet shows no plausible sole" for note in notes)


@pytest.mark.parametrize("asked", [True, False])
def test_a_sole_by_proportion_is_told_of_feet_that_were_asked_for(asked) -> None:
    clip = make_walk(2.0).clip
    sole = replace(measure_sole(clip), source=("flattest frames", "proportion"))
    notes = plant(clip, FLAT, Settings(asked=np.array([True, asked])), sole).notes
    assert ("sole_by_proportion" in {note.code for note in notes}) == asked
