# SPDX-License-Identifier: MIT
"""The demo's walking stride, judged by forward kinematics of its angles."""

from __future__ import annotations

import numpy as np
import pytest

from demo import gait

LEG = gait.Leg(thigh=0.5, shin=0.45, heel=-0.05 - 0.08j, ball=0.12 - 0.08j, tip=0.19 - 0.08j)
REACH = LEG.thigh + LEG.shin
PHASES = 200


@pytest.fixture(scope="module")
def stride() -> gait.Stride:
    return gait.walk(LEG, np.zeros(PHASES, complex))


@pytest.fixture(scope="module")
def sole(stride: gait.Stride) -> np.ndarray:
    """The paths (3, PHASES) of heel, ball and tip of the toes over the stride."""
    thigh, shin, foot = (np.exp(1j * pitch) for pitch in (stride.thigh, stride.shin, stride.foot))
    ankle = stride.hips - 1j * LEG.thigh * thigh - 1j * LEG.shin * shin
    ball = ankle + LEG.ball * foot
    return np.stack([ankle + LEG.heel * foot, ball, ball + (LEG.tip - LEG.ball) * foot * np.exp(1j * stride.toes)])


def standing(start: float, end: float) -> slice:
    return slice(round(start * PHASES), round(end * PHASES))


def test_the_heel_keeps_its_spot_from_heel_strike_until_it_rises(sole):
    heel = sole[0, standing(0.0, 0.4)]
    assert np.abs(heel - heel.mean()).max() < 0.005 * REACH


def test_the_ball_keeps_its_spot_until_toe_off(sole):
    ball = sole[1, standing(0.12, 0.6)]
    assert np.abs(ball - ball.mean()).max() < 0.001 * REACH


def test_the_sole_touches_the_floor_all_through_stance_and_never_sinks(sole):
    lowest = sole.imag.min(axis=0)
    assert np.abs(lowest[standing(0.0, 0.6)]).max() < 0.001 * REACH
    assert lowest.min() > -0.005 * REACH


def test_the_swinging_foot_clears_the_floor(sole):
    assert sole.imag.min(axis=0)[standing(0.7, 0.9)].min() > 0.005 * REACH


def test_the_next_stride_begins_where_this_one_ends(stride, sole):
    assert abs(sole[0, -1] - (sole[0, 0] + stride.length)) < 0.01 * REACH
    assert np.abs(np.diff(stride.foot, append=stride.foot[0])).max() < np.radians(6)


def test_both_halves_of_the_stride_move_the_hips_alike(stride):
    half = PHASES // 2
    assert np.allclose(stride.hips[half:], stride.hips[:half] + stride.length / 2)


def test_people_walk_at_this_length_of_stride(stride):
    # The two recorded walks to which the curves are fitted have strides of 1.54 and 1.86 legs.
    assert 1.54 < stride.length / REACH < 1.86


@pytest.mark.parametrize(
    ("terms", "joint", "worst", "mean"), [(gait.THIGH, "thigh", 11, 6), (gait.KNEE, "knee", 25, 10)]
)
def test_joint_angles_stay_near_the_measured_curves(stride, terms, joint, worst, mean):
    """The angles are as near as those of people are to each other. Flat feet and legs within reach cause the rest."""
    angle = np.degrees({"thigh": stride.thigh, "knee": stride.thigh - stride.shin}[joint])
    error = np.abs(angle - gait.curve(terms, PHASES))
    assert error.max() < worst
    assert error.mean() < mean


def test_hips_go_on_at_a_speed_that_swings_by_a_tenth(stride):
    speed = np.diff(stride.hips.real) * PHASES / stride.length
    assert 0.08 < np.ptp(speed) / 2 < 0.12


def test_knees_never_bend_backwards(stride):
    assert (stride.thigh - stride.shin).min() > np.radians(2)
