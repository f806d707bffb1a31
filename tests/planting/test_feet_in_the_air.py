# SPDX-License-Identifier: MIT
"""Feet in the air, of jumps, hops and raised legs, are no contacts, however still they are."""

from __future__ import annotations

import ik2bone
import numpy as np
import pytest
from gaits import EASES
from ik2bone.contacts.detect import find_contacts
from walk import FLAT, HILLS

TIME = np.linspace(0.0, 1.25, 31)


def falling(height):
    """Heels and balls (F, L, 3) of a figure that does nothing but go up and down: by its height (F,) in leg lengths."""
    offsets = np.array([[[-0.1, 0.1, 0.0], [-0.1, -0.1, 0.02]], [[0.15, 0.1, 0.0], [0.15, -0.1, 0.02]]])
    return offsets[:, None] + np.asarray(height)[:, None, None] * [0.0, 0.0, 1.0]


def test_foot_lifted_and_held_beside_a_standing_one_does_not_stand() -> None:
    path = np.zeros((240, 2, 3))
    path[:, 1, 2] = 0.35 * np.clip(np.sin(np.linspace(-1.0, 4.0, 240)) * 3.0, 0.0, 1.0)
    found = find_contacts(path, path, fps=60, leg=1.0).any(axis=-1)
    assert found[:, 0].all()
    assert not found[path[:, 1, 2] > 0.1, 1].any()
    assert found[path[:, 1, 2] == 0.0, 1].all()


def test_feet_do_not_stand_at_the_top_of_a_jump() -> None:
    time = np.arange(180) / 120
    path = np.zeros((180, 2, 3))
    # 0.8 s in the air, at a gravity of 4 leg lengths / s^2, which is a slow one.
    path[:, :, 2] = np.maximum(0.0, 2.0 * (0.16 - (time - 0.75) ** 2))[:, None]
    found = find_contacts(path, path, fps=120, leg=1.0).any(axis=-1)
    assert not found[path[:, :, 2] > 0.1].any()
    assert found[[0, -1]].all()


def test_feet_that_hover_in_a_jump_do_not_stand() -> None:
    """As animators make jumps in place: pulled up at once, slowly sagging for a second, one foot reaching down."""
    time = np.arange(60) / 24
    up = np.clip(np.minimum(time - 0.25, 1.9 - time) / 0.15, 0.0, 1.0)
    sag = np.cos(np.pi * np.clip((time - 0.55) / 0.95, 0.0, 1.0) * 2.0)
    ball, heel = np.zeros((2, 60, 2, 3))
    ball[:, 0, 2], ball[:, 1, 2] = up * (0.27 + 0.14 * sag), up * (0.59 + 0.045 * sag)
    heel[:, :, 0], heel[:, :, 2] = -0.2, ball[:, :, 2] + 0.2 * up[:, None]
    found = find_contacts(heel, ball, fps=24, leg=1.0, exact=False)
    assert not found[up > 0.5].any()
    assert found[(time < 0.15) | (time > 2.0)].all()


@pytest.mark.parametrize(
    "height",
    [3.0 * TIME * (1.25 - TIME), 1.5 - 0.6 * TIME**2, np.where(TIME < 0.4, 1.0, 1.0 - 2.0 * (TIME - 0.4) ** 2)],
    ids=["jump", "fall", "fall after a while"],
)
@pytest.mark.parametrize("exact", [False, True])
def test_feet_that_sink_with_their_figure_did_not_stand_before(height, exact) -> None:
    assert not find_contacts(*falling(height), fps=24.0, leg=1.0, exact=exact).any()


@pytest.mark.parametrize("exact", [False, True])
def test_feet_stand_before_and_after_a_jump_alone(exact) -> None:
    height = np.maximum(0.0, 0.45 * (1.0 - ((TIME - 0.6) / 0.35) ** 2))
    found = find_contacts(*falling(height), fps=24.0, leg=1.0, exact=exact)
    assert (found == (height == 0.0)[:, None, None]).all()


def test_feet_that_go_down_one_after_the_other_stand_between() -> None:
    feet = np.stack([falling(-0.3 * np.clip(np.round(TIME / 0.6 + shift) / 2, 0, 1)) for shift in (0.0, 0.5)])
    heel, ball = (np.stack([feet[0][part][:, 0], feet[1][part][:, 1]], axis=1) for part in (0, 1))
    assert find_contacts(heel, ball, fps=24.0, leg=1.0).any(axis=-1).mean() > 0.5


def climbing(fps, rise):
    """Balls (F, L, 3) of feet that climb steps, and how far each foot is in its cycle of 1 s (F, L): it stands for 0.6.

    They come from below, as lifted ones do, and lift little over the edges.
    """
    number, phase = np.divmod(np.arange(int(6 * fps))[:, None] / fps + [0.0, 0.5], 1.0)
    strides = number + EASES["quintic"](np.clip((phase - 0.6) / 0.4, 0.0, 1.0))
    ball = np.stack([strides, np.broadcast_to([0.1, -0.1], strides.shape), 2.0 * rise * strides], axis=-1)
    ball[:, 1] -= [0.5, 0.0, rise]
    return ball, phase


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("fps", [30.0, 120.0])
@pytest.mark.parametrize("rise", [0.15, 0.2, 0.27])
def test_feet_on_high_steps_stand(fps, exact, rise) -> None:
    ball, phase = climbing(fps, rise)
    contacts = find_contacts(ball - [0.2, 0.0, 0.0], ball, fps=fps, leg=1.0, exact=exact).any(axis=-1)
    assert contacts[phase < 0.59].all()
    assert not contacts[(phase > 0.7) & (phase < 0.9)].any()


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("fps", [30.0, 120.0])
@pytest.mark.parametrize("rise", [0.15, 0.2, 0.27])
def test_foot_on_a_high_step_stands_while_the_clip_ends(fps, exact, rise) -> None:
    ball, phase = climbing(fps, rise)
    heel = ball - [0.2, 0.0, 0.0]
    # The other foot has swung for 0.25 s or more: it is no longer far below.
    for last, leg in np.argwhere((phase > 0.35) & (phase < 0.55) & (np.arange(len(phase)) > 4 * fps)[:, None])[::7]:
        rows = slice(0, last + 1)
        contacts = find_contacts(heel[rows], ball[rows], fps=fps, leg=1.0, exact=exact).any(axis=-1)
        assert contacts[-round(0.25 * fps) :, leg].all()


@pytest.mark.parametrize("exact", [True, False])
def test_feet_pulled_up_in_a_jump_do_not_stand_while_the_clip_ends(exact) -> None:
    height = np.clip((TIME - 0.25) / 0.15, 0.0, 1.0)[:, None] * [0.4, 0.6]
    ball = np.stack([0.0 * height, np.broadcast_to([0.1, -0.1], height.shape), height], axis=-1)
    for last in range(10, 21):
        path = ball[:last]
        found = find_contacts(path - [0.2, 0.0, 0.0], path, fps=24.0, leg=1.0, exact=exact)
        assert not found[height[:last] > 0.1].any() and found[:5].all()


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_foot_held_up_while_the_other_hops_does_not_stand(fps, exact) -> None:
    """It goes along ahead at 0.2 leg a second, as slow as a standing foot that slides."""
    ground, air, time = 0.45, 0.25, np.arange(int(6 * fps)) / fps
    hops, part = np.divmod(time, ground + air)
    share = np.clip((part - ground) / air, 0.0, 1.0)
    way = (ground + air) * (hops + share**2 * (3.0 - 2.0 * share))
    hopping = np.stack([0.2 * way, 0.0 * time + 0.1, 0.32 * share * (1.0 - share)], axis=-1)
    raised = np.stack([0.2 * time, 0.0 * time - 0.1, 0.0 * time + 0.3], axis=-1)
    ball = np.stack([hopping, raised], axis=1) + np.random.default_rng(0).normal(0.0, 0.001, (len(time), 2, 3))
    contacts = find_contacts(ball - [0.2, 0.0, 0.0], ball, fps=fps, leg=1.0, exact=exact)
    assert not contacts[:, 1].any()
    assert contacts[:, 0].any(axis=-1).mean() == pytest.approx(ground / (ground + air), abs=0.06)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("fps", [24.0, 60.0])
@pytest.mark.parametrize("hop", [0.0, 0.1])
@pytest.mark.parametrize("high", [0.08, 0.15])
def test_foot_lifted_and_held_while_the_other_slides_or_hops_aside_once_does_not_stand(high, hop, fps, exact) -> None:
    time, ease = np.arange(int(4 * fps)) / fps, EASES["quintic"]
    up, aside, down = (ease(np.clip((time - start) / 0.3, 0.0, 1.0)) for start in (0.9, 1.7, 2.4))
    hopping = np.stack([0.3 * aside, 0.0 * time + 0.1, 4.0 * hop * aside * (1.0 - aside)], axis=-1)
    raised = np.stack([0.0 * time, 0.0 * time - 0.1, high * (up - down)], axis=-1)
    ball = np.stack([hopping, raised], axis=1)
    contacts = find_contacts(ball - [0.2, 0.0, 0.0], ball, fps=fps, leg=1.0, exact=exact).any(axis=-1)
    assert not contacts[raised[:, 2] > 0.05, 1].any()
    assert contacts[(time < 1.6) | (time > 2.1), 0].all()


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("high", [0.08, 0.11])
def test_foot_held_still_over_the_place_where_it_stood_does_not_stand(high, exact) -> None:
    """A tread may lie as high, but there the foot would carry the figure at some time, or stay."""
    fps, ease = 60.0, EASES["quintic"]
    time = np.arange(int(5 * fps)) / fps
    up = high * (ease(np.clip((time - 1.0) / 0.25, 0.0, 1.0)) - ease(np.clip((time - 3.0) / 0.25, 0.0, 1.0)))
    ball = np.zeros((len(time), 2, 3))
    ball[:, :, 1], ball[:, 1, 2] = [0.1, -0.1], up
    contacts = find_contacts(ball - [0.2, 0.0, 0.0], ball, fps=fps, leg=1.0, exact=exact).any(axis=-1)
    assert contacts[:, 0].all()
    assert not contacts[(up > 0.9 * high), 1].any()
    assert contacts[up == 0.0, 1].mean() > 0.95


def stepping_on_the_spot(fps, lift):
    """A clip of legs of length 1 that step in place once a second: heels rise first, then balls by `lift`."""
    ease, count = EASES["quintic"], round(4 * fps)
    phase = (np.arange(count)[:, None] / fps + [0.0, 0.5]) % 1.0
    stand, swing = np.clip(phase / 0.6, 0.0, 1.0), np.clip((phase - 0.6) / 0.4, 0.0, 1.0)
    pitch = 0.4 * ease(np.clip((stand - 0.6) / 0.4, 0.0, 1.0)) * (1.0 - ease(np.clip(swing / 0.75, 0.0, 1.0)))
    ball, ankle, hip = np.zeros((3, count, 2, 3))
    ball[..., 1] = hip[..., 1] = 0.11, -0.11
    ball[..., 2], hip[..., 2] = 0.028 + lift * np.sin(np.pi * ease(swing)) ** 2, 0.95
    cos, sin, back, up = np.cos(pitch), np.sin(pitch), -0.17, 0.063
    ankle[:] = ball + np.stack([cos * back + sin * up, 0.0 * cos, cos * up - sin * back], axis=-1)
    hip[..., 0] = -0.07
    knee = ik2bone.solve(hip, hip + [0.1, 0.0, -0.5], hip + [0.0, 0.0, -0.98], ankle, pole=[1.0, 0.0, 0.0]).mid
    return ik2bone.Clip.from_points(fps, hip, knee, ankle, ball, tip=ball + [0.07, 0.0, -0.02])


@pytest.mark.parametrize("fps", [60.0, 120.0])
@pytest.mark.parametrize("lift", [0.07, 0.09])
def test_heels_do_not_stand_as_feet_are_lifted_on_the_spot(fps, lift) -> None:
    clip = stepping_on_the_spot(fps, lift)
    level, hilly = (ik2bone.plant(clip, ground) for ground in (FLAT, HILLS))
    up = clip.ball[..., 2] > 0.028 + 0.05
    assert up.any() and not level.contacts[up].any()
    assert level.report()["after"]["penetration"] < 0.003
    assert np.abs(hilly.hips_offset[:, :2]).max() < 0.1


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("joint", [0.0, 0.083])
def test_foot_on_tiptoe_stands_between_flat_stances_however_high_its_ball_joint_is(joint, exact) -> None:
    time = np.arange(210)
    swing = [60, 75, 135, 150]
    ahead, on_tiptoe = np.interp(time, swing, [0.0, 0.5, 0.5, 1.0]), np.interp(time, swing, [0.0, 1.0, 1.0, 0.0])
    lift = 0.1 * (np.sin(np.pi * np.clip((time - 60) / 15, 0, 1)) + np.sin(np.pi * np.clip((time - 135) / 15, 0, 1)))
    heel, ball = np.zeros((2, 210, 2, 3))
    heel[:, 0] = np.stack([ahead, 0 * time, lift + 0.2 * on_tiptoe], axis=1)
    ball[:, 0] = np.stack([ahead + 0.15, 0 * time, lift + joint], axis=1)
    heel[:, 1], ball[:, 1] = [0.2, 0.2, 0.0], [0.35, 0.2, joint]
    assert ik2bone.find_contacts(heel, ball, fps=60.0, leg=1.0, exact=exact)[80:130, 0, 1].all()
