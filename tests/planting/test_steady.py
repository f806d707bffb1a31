# SPDX-License-Identifier: MIT
"""Trembling feet are steadied about their ankles; feet that move are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ik2bone.contacts.steady import steady_feet, trembling
from ik2bone.plan import plant
from ik2bone.report import knee_angle
from ik2bone.rotations import matrix_from_vector
from walk import FLAT, make_walk, planted


def shaken(clip, degrees, frames=slice(None), seed=0):
    """The clip with its left foot turned about the ankle by noise of so many degrees."""
    noise = np.zeros((clip.frames, 2, 3))
    noise[frames, 0, 1] = np.random.default_rng(seed).normal(0, np.radians(degrees), noise[frames, 0, 1].shape)
    turn = matrix_from_vector(noise)
    foot, toe = clip.foot.copy(), clip.toe.copy()
    for matrices in (foot, toe):
        matrices[..., :3, :3] = turn @ matrices[..., :3, :3]
    carry = lambda points: clip.ankle + np.einsum("flij,flj->fli", turn, points - clip.ankle)  # noqa: E731
    toe[..., :3, 3] = carry(clip.toe[..., :3, 3])
    return replace(clip, foot=foot, toe=toe, ball=carry(clip.ball), tip=carry(clip.tip))


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_steady_walk_is_not_touched(fps) -> None:
    clip = make_walk(fps=fps).clip
    steady, turn = steady_feet(clip)
    assert steady is clip
    assert (turn == np.eye(3)).all()


def test_trembling_foot_is_found_where_it_trembles() -> None:
    share = trembling(shaken(make_walk(fps=60.0).clip, 4.0, slice(100, 200)))
    assert share[115:185, 0].mean() > 0.7
    assert share[:90, 0].max() < 0.01 and share[210:, 0].max() < 0.01
    assert share[:, 1].max() == 0.0


@pytest.mark.parametrize("tremble", [0.0, 1.5])
def test_foot_that_pivots_fast_is_steadied_only_where_it_trembles(tremble) -> None:
    clip = make_walk(fps=60.0).clip
    pivot = np.radians(40.0) * np.sin(2 * np.pi * np.arange(clip.frames) / 30.0)
    away = np.zeros((clip.frames, 2, 3))
    away[:, 0, 2] = pivot
    turn = matrix_from_vector(away)
    pivoting = replace(clip, ball=clip.ankle + np.einsum("flij,flj->fli", turn, clip.ball - clip.ankle))
    share = trembling(shaken(pivoting, tremble) if tremble else pivoting)[30:-30, 0]
    assert share.mean() > 0.6 if tremble else share.max() == 0.0


def test_steadied_foot_trembles_less_and_keeps_its_ankle_and_shape() -> None:
    clip = make_walk(fps=60.0).clip
    shaking = shaken(clip, 4.0)
    steady, turn = steady_feet(shaking)
    assert (steady.ankle == shaking.ankle).all()
    off = [np.linalg.norm(c.ball - clip.ball, axis=-1)[:, 0].mean() for c in (shaking, steady)]
    assert off[1] < 0.6 * off[0]
    lengths = [np.linalg.norm(c.ball - c.ankle, axis=-1) for c in (shaking, steady)]
    assert lengths[1] == pytest.approx(lengths[0])
    assert turn @ shaking.foot[..., :3, :3] == pytest.approx(steady.foot[..., :3, :3])


def test_tremble_of_a_pinned_foot_does_not_reach_the_knee() -> None:
    clip = make_walk(fps=60.0).clip
    shaking = shaken(clip, 4.0)
    plan = plant(shaking, FLAT)
    angles = [knee_angle(planted(c, plant(c, FLAT)))[:, 0] for c in (clip, shaking)]
    second = [np.abs(a[4:] - 2 * a[2:-2] + a[:-4]) for a in angles]
    assert second[1].max() < second[0].max() + 5.0
    assert plan.miss.max() < 1e-9
