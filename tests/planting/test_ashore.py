# SPDX-License-Identifier: MIT
"""Figures that are carried by what they hold on to, and hands that hold on to what stays behind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from climb import SIDE, limbs, make_climb, wall
from grounds import Part, Parts, moving
from ik2bone.plan import plant
from ik2bone.report import figures
from test_supports import MOTIONS, carried, times
from test_touch import NEAREST, _uneven
from walk import planted

FPS, SECONDS = 30.0, 6.0
# The deck goes along x, past a quay whose wall stands before the figure; the clip was made for a wall nearer by OFF.
DECK, WALL, OFF = 0.6, 0.1, 0.03
CYCLE, HOLD = 1.8, 1.1


@pytest.mark.parametrize("kind", ["along", "turning", "rocking"])
def test_a_climb_made_on_a_ladder_that_moves_is_planted_as_on_one_at_rest(kind) -> None:
    climb = make_climb(seconds=5.0)
    motion, ladder = moving(times(climb.clip), **MOTIONS[kind]), _uneven(climb)
    still = plant(climb.clip, ladder, NEAREST)
    plan = plant(carried(climb.clip, motion), Parts((Part("Truck", ladder, motion),), down=None), NEAREST)
    assert plan.rotations == pytest.approx(still.rotations, abs=2e-3)
    assert (plan.contacts == still.contacts).all()
    assert {anchor.support for anchor in plan.anchors} == {"Truck"}


@pytest.mark.parametrize(("kind", "strength"), [("aside", 1.0), ("down and back", 0.6)])
def test_a_climb_made_for_a_ladder_at_rest_goes_along_with_one_that_moves(kind, strength) -> None:
    climb, settings = make_climb(), replace(NEAREST, strength=strength)
    motion, ladder = moving(times(climb.clip), **MOTIONS[kind]), _uneven(climb)
    ground = Parts((Part("Truck", ladder, motion),), down=None)
    still, plan = plant(climb.clip, ladder, settings), plant(climb.clip, ground, settings)
    carried_along = strength * motion[:, :3, 3]
    assert plan.rotations == pytest.approx(still.rotations, abs=1e-6) or strength < 1.0
    assert plan.hips_offset == pytest.approx(still.hips_offset + carried_along, abs=1e-6)
    assert (plan.contacts == still.contacts).all()
    after = planted(climb.clip, plan)
    assert after.ankle == pytest.approx(plan.targets.ankle, abs=1e-6)
    if strength == 1.0:
        report = figures(climb.clip, after, plan, ground)["after"]
        assert report["drift"] < 1e-6 and report["float"] < 1e-6 and report["short_frames"] == 0
    offset = np.repeat(plan.hips_offset[:, None], 4, axis=1)
    again = plant(climb.clip, ground, settings, offset=offset)
    assert again.rotations == pytest.approx(plan.rotations, abs=1e-9)
    assert (again.hips_offset == 0.0).all()


def test_a_climber_who_turns_with_the_ladder_in_place_alone_still_holds_on() -> None:
    climb = make_climb(seconds=5.0)
    ground = Parts((Part("Truck", _uneven(climb), moving(times(climb.clip), turning=0.05)),), down=None)
    plan = plant(climb.clip, ground, NEAREST)
    report = figures(climb.clip, planted(climb.clip, plan), plan, ground)["after"]
    assert report["drift"] < 1e-6 and report["short_frames"] == 0 and report["knee_pop"] < 5.0


def _pull_along(speed):
    """A figure that stands on a deck and holds on to a wall, hand after hand, while the deck goes by."""
    time = np.arange(round(SECONDS * FPS)) / FPS
    gone = speed * time
    holding = np.ones((len(time), 4), bool)
    along = gone[:, None] + SIDE
    for hand, lead in ((2, 0.0), (3, 0.5)):
        phase, count = np.modf(time / CYCLE + lead)
        swing = np.clip((phase * CYCLE - HOLD) / (CYCLE - HOLD), 0.0, 1.0)
        smooth = swing**3 * (10 - 15 * swing + 6 * swing**2)
        along[:, hand] = speed * CYCLE * (count + smooth - lead + HOLD / CYCLE / 2) + SIDE[hand]
        holding[:, hand] = swing == 0.0
    away = np.where(holding, 0.0, -0.1)
    away[:, :2] = -0.35
    height = np.broadcast_to([DECK, DECK, 1.6, 1.6], away.shape)
    point = np.stack([along, away + [0.0, 0.0, WALL, WALL], height], axis=-1)
    root = np.stack([gone[:, None] + SIDE, np.full_like(along, -0.3), [1.4, 1.4, 1.8, 1.8] + 0.0 * along], axis=-1)
    return limbs(point, root, FPS), holding


@pytest.mark.parametrize("speed", [0.1, 0.3])
def test_hands_of_a_carried_figure_hold_on_to_what_does_not_move(speed) -> None:
    clip, holding = _pull_along(speed)
    motion = moving(times(clip), speed=(speed, 0.0, 0.0))
    deck, quay = wall((0.0, 0.0, DECK), (0.0, 0.0, 1.0)), wall((0.0, WALL + OFF, 0.0), (0.0, -1.0, 0.0))
    ground = Parts((Part("Deck", deck, motion), Part("Quay", quay)), down=None)
    plan = plant(clip, ground, NEAREST)
    after = planted(clip, plan)
    assert any("moves with Deck" in str(note) for note in plan.notes)
    assert {(anchor.stance.leg > 1, anchor.support) for anchor in plan.anchors} == {(False, "Deck"), (True, "Quay")}
    assert (plan.contacts[:, 2:, 1] == holding[:, 2:]).mean() > 0.9
    report = figures(clip, after, plan, ground)["after"]
    assert report["drift"] < 1e-6 and report["float"] < 1e-6 and report["short_frames"] == 0
    assert report["foot_pop"] < 0.02 and report["knee_pop"] < 5.0
    moved = np.linalg.norm(after.ball - clip.ball, axis=-1)
    assert moved[:, 2:].max() < 2.0 * OFF and moved[:, :2].max() < OFF
