# SPDX-License-Identifier: MIT
"""Knees do not snap, neither swinging nor as they land, and no foot is pushed away from its hip."""

from __future__ import annotations

import numpy as np
import pytest
from figures import figure_of
from gaits import make_gait
from ik2bone.knees.snap import ease_knees
from ik2bone.plan import plant
from ik2bone.targets.blend import Targets
from measures import measure
from walk import height_field, make_walk, planted

FPS = 60.0


def snapping(drop: float):
    """A walk whose swinging feet are pushed down for a moment, in the middle of each swing, by `drop`."""
    walk = make_walk(fps=FPS)
    clip = walk.clip
    phase = (np.arange(clip.frames)[:, None] / FPS / 1.1 + np.array([0.0, 0.5])) % 1.0
    push = -drop * np.exp(-(((phase - 0.81) / 0.015) ** 2))[..., None] * clip.up
    targets = Targets.of(clip).moved(push)
    return clip, targets, walk.standing


def reached(clip, targets):
    """The targets' legs as a clip, its knees by the law of cosines."""
    line = np.linalg.norm(targets.ankle - clip.hip, axis=-1)
    upper, lower = (np.linalg.norm(b - a, axis=-1) for a, b in ((clip.hip, clip.knee), (clip.knee, clip.ankle)))
    cosine = (line**2 - upper**2 - lower**2) / (2 * upper * lower)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def test_snap_in_a_swing_is_eased() -> None:
    clip, targets, standing = snapping(0.12)
    eased = ease_knees(clip, targets, clip.hip, ~standing)
    before, after = (reached(clip, t) for t in (targets, eased))
    second = [np.abs(a[4:] - 2 * a[2:-2] + a[:-4]).max() for a in (before, after)]
    assert second[1] < 0.6 * second[0]


def test_standing_feet_keep_their_targets() -> None:
    clip, targets, standing = snapping(0.12)
    eased = ease_knees(clip, targets, clip.hip, ~standing)
    assert (eased.ankle[standing] == targets.ankle[standing]).all()
    assert (eased.ball[standing] == targets.ball[standing]).all()


def test_feet_are_only_drawn_towards_their_hips() -> None:
    clip, targets, standing = snapping(0.12)
    eased = ease_knees(clip, targets, clip.hip, ~standing)
    lengths = [np.linalg.norm(t.ankle - clip.hip, axis=-1) for t in (targets, eased)]
    assert (lengths[1] <= lengths[0] + 1e-12).all() and (lengths[1] < lengths[0] - 1e-3).any()
    assert eased.ball - eased.ankle == pytest.approx(targets.ball - targets.ankle, abs=1e-12)


def test_motion_of_the_clip_itself_is_left_alone() -> None:
    clip, targets, standing = snapping(0.0)
    assert ease_knees(clip, targets, clip.hip, ~standing).ankle == pytest.approx(clip.ankle, abs=1e-12)


@pytest.mark.parametrize("height", [0.12, 0.18])
def test_hips_come_down_so_that_knees_do_not_snap_as_feet_land_on_lower_steps(height) -> None:
    steps = height_field(lambda x, _: height * (np.abs((np.floor(x / 0.9 + 0.35) + 3) % 6 - 3) - 1))
    clip = figure_of(make_gait("fast walk", 30.0))
    plan = plant(clip, steps)
    judged = measure(clip, planted(clip, plan), steps, plan.sole.heel)
    assert judged.knee_pop <= 10.0
    assert judged.hips_acceleration <= 4.6
    assert plan.miss.max() < 1e-6
