# SPDX-License-Identifier: MIT
"""Legs that are straight: which way they bend, from other frames, the rest pose or the foot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from figures import figure_of
from gaits import make_rest
from ik2bone.clip import Clip
from ik2bone.knees import find_knees
from ik2bone.limbs import solve_legs
from ik2bone.plan import Settings, plant
from ik2bone.targets.blend import Targets
from walk import HILLS, height_field, make_walk, overstretched, planted

# A step of 0.1 leg under the left foot.
CURB = height_field(lambda _, y: 0.1 * (y > 0.0))


def test_knee_that_is_straight_or_overstretched_by_noise_bends_forward() -> None:
    clip = make_walk().clip
    straight = overstretched(clip)
    after = planted(straight, plant(straight, HILLS))
    normal = np.cross(after.hip - after.knee, after.ankle - after.knee)
    bent = np.linalg.norm(normal, axis=-1) > 0.05
    assert bent.any()
    assert (normal[bent] @ np.array([0.0, -1.0, 0.0]) > 0.0).all()


def test_straight_leg_takes_its_hinge_from_the_bent_frames() -> None:
    clip = make_walk().clip
    plan = plant(clip, height_field(lambda x, y: 0.0 * x + 0.05))
    after = planted(clip, plan)
    normal = np.cross(after.knee - after.hip, after.ankle - after.knee)
    assert (normal @ np.array([0.0, 1.0, 0.0]) > 0.0).all()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_leg_that_never_bends_takes_its_hinge_from_the_rest_pose(side, monkeypatch) -> None:
    clip = replace(stiff(monkeypatch), rest_hinge=np.array([[-side, 0.0, 0.0]] * 2))
    plan = plant(clip, CURB)
    after = planted(clip, plan)
    line, bend = after.ankle - after.hip, after.knee - after.hip
    along = np.sum(bend * line, axis=-1, keepdims=True) / np.sum(line**2, axis=-1, keepdims=True)
    assert (side * (bend - along * line)[:, 0, 0] > 0.1).all()
    assert not any("never bends" in str(note) for note in plan.notes)


def test_leg_whose_side_nothing_tells_is_told(monkeypatch) -> None:
    clip = stiff(monkeypatch)
    pegs = clip.having(ball=clip.ankle, tip=clip.ankle, toe=clip.foot, has_toe=np.zeros(2, bool))
    assert any("never bends" in str(note) for note in plant(pegs, CURB).notes)
    bent, peg = make_walk(pegs.frames / pegs.fps, pegs.fps).clip, np.array([False, True])
    names = ("thigh", "shin", "foot", "toe", "ball", "tip", "scale")
    one = pegs.having(**{name: np.stack([getattr(bent, name)[:, 0], getattr(pegs, name)[:, 1]], 1) for name in names})
    for asked in (peg, ~peg):
        notes = plant(one, CURB, Settings(asked=asked)).notes
        assert any("never bends" in str(note) for note in notes) == asked[1]


@pytest.mark.parametrize("angle", [0.0, 2.0, 4.0])
def test_leg_that_never_bends_bends_ahead_of_its_foot(angle) -> None:
    clip, turn = make_walk(turn=angle).clip, np.array([np.cos(angle), np.sin(angle), 0.0])
    straight = Clip.from_points(clip.fps, clip.hip, 0.5 * (clip.hip + clip.ankle), clip.ankle, clip.ball)
    plan = plant(straight, height_field(lambda x, y: 0.0 * x + 0.05), Settings(use_hips=False))
    after = plan.apply(straight)
    ahead = (after.knee - 0.5 * (after.hip + after.ankle)) @ turn
    assert ahead.min() > -1e-9 and ahead.max() > 0.1
    assert not any("never bends" in str(note) for note in plan.notes)


def stiff(patch) -> Clip:
    """A figure that stands still on legs a little shorter than its hips are high: straight ones."""
    patch.setattr("figures.STRETCH", 1.006)
    patch.setattr("figures.HIP_HEIGHT", 2.0)
    return figure_of(make_rest(30.0, seconds=1.0), ankle_ahead=0.11)


def backward(side, mirror, off=0.004) -> Clip:
    """Legs of 0.84 that stand still, whose knees are so far off towards an angle: ahead is 0, backward is pi."""
    hip, ankle = np.tile([[0.0, 0.1, 0.92], [0.0, -0.1, 0.92]], (3, 1, 1)), np.zeros((3, 2, 3))
    ankle[:] = hip * [1.0, 1.0, 0.0] + [0.0, 0.0, 0.08]
    knee = 0.5 * (hip + ankle) + off * np.array([np.cos(side), np.sin(side), 0.0])
    legs = Clip.from_points(30, hip, knee, ankle, ankle + [0.15, 0.0, -0.06])
    seen = np.diag([1.0, mirror, 1.0, 1.0])
    return Clip(30, seen @ legs.thigh, seen @ legs.shin, seen @ legs.foot, ball=legs.ball * [1.0, mirror, 1.0])


def at_height(clip, height, strength) -> Clip:
    """The clip planted with part of the strength on a level ground of some height, its hips where they are."""
    settings = Settings(contacts="ALWAYS", use_hips=False, strength=strength)
    return plant(clip, lambda xy: np.full(len(xy), height), settings).apply(clip)


def least_cosine(clip, other) -> float:
    """By how much thighs and shins are turned at most from those of another clip: its cosine."""
    axes = [np.stack([each.thigh, each.shin])[..., :3, 0] for each in (clip, other)]
    return float(np.sum(axes[0] * axes[1], axis=-1).min())


@pytest.mark.parametrize("mirror", [1.0, -1.0])
@pytest.mark.parametrize("strength", [0.01, 0.5])
@pytest.mark.parametrize("side", [0.5, 2.0, 3.0, np.pi])
@pytest.mark.parametrize("off", [0.004, 1e-14])
def test_straight_knee_bends_forward_at_part_of_the_strength_too(off, side, strength, mirror) -> None:
    """It went aside by the weakened angle to its pole, with a bend that grows with the root of the strength: a knee
    overstretched by 4 mm pointed backward by 36 mm at a hundredth of the strength, and aside by 22 cm at half of it.
    """
    clip = backward(side, mirror, off)
    after = at_height(clip, 0.25, strength)
    bend = (after.knee - 0.5 * (after.hip + after.ankle))[0]
    assert (bend[:, 0] > 0.03).all() and (np.abs(bend[:, 1]) < 0.1 * bend[:, 0]).all()
    assert (np.sum(after.shin[..., :3, 0] * clip.shin[..., :3, 0], axis=-1) > 0.99).all()


@pytest.mark.parametrize("mirror", [1.0, -1.0])
@pytest.mark.parametrize("strength", [0.1, 0.45])
@pytest.mark.parametrize("height", [0.0, -0.02])
@pytest.mark.parametrize("side", [2.0, 3.0, np.pi])
def test_legs_do_not_turn_about_themselves_for_knees_that_keep_their_side(side, height, strength, mirror) -> None:
    # By up to 80 degrees where the hinge was that of a knee which bends forward.
    clip = backward(side, mirror)
    assert least_cosine(at_height(clip, height, strength), clip) > 0.99


@pytest.mark.parametrize("side", [0.5, 2.0, 3.0, np.pi])
def test_nearly_the_whole_strength_turns_legs_out_of_reach_as_the_whole_does(side) -> None:
    clip = backward(side, 1.0)
    down, still = Targets.of(clip).moved(-0.1 * clip.up), np.zeros((3, 2, 3))
    solved = [solve_legs(clip, down, still, still[:, 0], find_knees(clip), np.full(3, s)) for s in (1.0 - 1e-9, 1.0)]
    assert (solved[1][1] > 0.05).all()
    assert solved[0][0] == pytest.approx(solved[1][0], abs=1e-4)


@pytest.mark.parametrize("side", [0.5, 2.0, 3.0])
def test_nearly_the_whole_strength_bends_legs_under_a_sheared_thigh_as_the_whole_does(side) -> None:
    clip, thigh = backward(side, 1.0, 0.03), backward(side, 1.0, 0.03).thigh.copy()
    thigh[..., :3, :3] = [[1.0, 0.0, 0.4], [0.0, 1.0, 0.4], [0.0, 0.0, 1.0]] @ thigh[..., :3, :3]
    clip = clip.having(thigh=thigh)
    up, still = Targets.of(clip).moved(0.1 * clip.up), np.zeros((3, 2, 3))
    solved = [solve_legs(clip, up, still, still[:, 0], find_knees(clip), np.full(3, s))[0] for s in (1.0 - 1e-9, 1.0)]
    assert solved[0] == pytest.approx(solved[1], abs=1e-4)
