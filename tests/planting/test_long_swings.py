# SPDX-License-Identifier: MIT
"""A foot that does not stand for seconds goes by the ground below it, and is lifted only where it needs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.contacts.spans import Span, marks_of
from ik2bone.plan import plant
from ik2bone.settings import Settings
from ik2bone.sole.measure import sole_points
from ik2bone.targets.swing import clear
from walk import height_field, make_walk, planted

HILL = height_field(lambda x, y: 0.3 * np.exp(-((x - 3.0) ** 2)))
RIDGES = height_field(lambda x, y: 0.12 * np.sin(4.0 * x) ** 8)


def glider(seconds=6.0, fps=60.0):
    """A walk whose left foot, after its first standing, hovers low over the floor until its last one."""
    walk = make_walk(seconds=seconds, fps=fps)
    clip = walk.clip
    frames = np.flatnonzero(walk.standing[:, 0])
    starts = frames[np.flatnonzero(np.diff(frames) > 1)]
    swings = np.zeros(clip.frames)
    swings[starts[0] + 4 : frames[frames > starts[-1]][0] - 4] = 1.0
    lift = np.convolve(swings, np.hanning(25) / np.hanning(25).sum(), mode="same")[:, None] * [0.0, 0.0, 0.06]
    wobble = (0.6 * np.sin(np.arange(clip.frames) / fps * 9.0) * swings)[:, None] * [0.0, 0.08, 0.0]
    wobble[:, 0] = np.convolve(
        0.3 * np.sin(np.arange(clip.frames) / fps * 11.0) * swings, np.hanning(9) / 4, mode="same"
    )
    arrays = {name: getattr(clip, name).copy() for name in ("foot", "toe", "ball", "tip")}
    for name in ("foot", "toe"):
        arrays[name][:, 0, :3, 3] += lift + wobble
    for name in ("ball", "tip"):
        arrays[name][:, 0] += lift + wobble
    return replace(clip, **arrays)


def depth(clip, plan, ground) -> float:
    points = sole_points(planted(clip, plan), plan.sole)[:, 0].reshape(-1, 3)
    return float((ground(points, -clip.up)[0] - points)[:, 2].max())


def test_long_swing_follows_the_ground_below_it() -> None:
    clip = glider()
    plan = plant(clip, HILL)
    over = int(np.argmin(np.abs(clip.ball[:, 0, 0] - 3.0)))
    assert not plan.contacts[over - 60 : over + 60, 0].any()
    assert plan.targets.rise[over, 0] > 0.2
    assert plan.targets.rise[plan.contacts[:, 0, 1], 0].max() < 0.2


def test_long_swing_is_lifted_over_what_is_in_its_way() -> None:
    clip = glider()
    assert depth(clip, plant(clip, RIDGES), RIDGES) < 0.02


@pytest.mark.parametrize("fps", [1.0, 1e-3])
def test_swings_of_few_frames_get_at_most_one_anchor_a_frame(fps) -> None:
    clip = replace(make_walk(seconds=1.0).clip, fps=fps)
    spans = [Span("left", "ball", start, start + 2, "enforced") for start in (0, clip.frames - 3)]
    marks = marks_of(spans, ["left", "right"], 0, clip.frames)
    plan = plant(clip, HILL, Settings(contacts="STORED", marks=marks))
    frames = [anchor.stance.start for anchor in plan.targets.anchors if anchor.part == "swing"]
    assert clip.frames - 8 < len(frames) == len(set(frames)) < clip.frames


def test_long_lift_is_only_where_it_is_wanted() -> None:
    wanted = np.full(600, -0.2)
    wanted[100:110] = 0.05
    wanted[580:588] = 0.05
    lift = clear(wanted, 0.0, 6.0, (True, True))
    assert np.maximum(wanted - lift, 0.0).max() < 0.01
    assert np.abs(lift[250:500]).max() < 1e-6
    assert abs(lift[0]) < 0.01 and abs(lift[-1]) < 0.01


def test_feet_that_swing_over_a_gap_go_as_far_down_as_the_ground_beside_it_lies() -> None:
    clip = glider().cut(slice(30, None))

    def beside_gap(height):
        def ground(points, down):
            hits, normals, found = height_field(lambda x, _: 0.0 * x + height)(points, down)
            return hits, normals, found & ((points[:, 1] < 0.0) | (np.abs(points[:, 0] - 3.0) > 0.5))

        return ground

    here, lower = (plant(clip, beside_gap(height)) for height in (0.0, -0.7))
    assert any(anchor.part == "swing" and not anchor.found for anchor in lower.targets.anchors)
    assert lower.apply(clip).ankle == pytest.approx(here.apply(clip).ankle - [0.0, 0.0, 0.7], abs=1e-6)
