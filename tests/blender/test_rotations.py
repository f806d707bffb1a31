# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation channels as quaternions and back, against Blender's own mathutils."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

ORDERS = ["".join(order) for order in permutations("XYZ")]
MODES = [*ORDERS, "QUATERNION", "AXIS_ANGLE"]
STEPS = np.linspace(0.0, 1.0, 400)


@pytest.fixture
def rotations(addon):
    return addon("keys.rotations")


def _tumble():
    """Unit quaternions of a smooth motion that turns several times about a wandering axis."""
    from mathutils import Euler

    rows = [Euler((14.0 * t, 3.0 * np.sin(9.0 * t), -8.0 * t), "YZX").to_quaternion() for t in STEPS]
    # From Blender 5.1 on, numpy takes quaternions as arrays of single precision.
    return np.array(rows, np.float64)


def _matrices(mode, channels):
    from mathutils import Euler, Matrix, Quaternion

    if mode == "QUATERNION":
        return np.array([Quaternion(row).normalized().to_matrix() for row in channels])
    if mode == "AXIS_ANGLE":
        return np.array([Matrix.Rotation(row[0], 3, row[1:]) for row in channels])
    return np.array([Euler(row, mode).to_matrix() for row in channels])


def _continued(rotations, mode, quaternions, before):
    """Channels of one bone."""
    return rotations.from_quaternions(mode, quaternions[:, None], before[None])[:, 0]


def _identity_channels(mode):
    return {"QUATERNION": np.eye(4)[0], "AXIS_ANGLE": np.array([0.0, 0.0, 1.0, 0.0])}.get(mode, np.zeros(3))


@pytest.mark.parametrize("mode", MODES)
def test_channels_of_every_mode_mean_the_rotation_that_blender_shows(bpy, rotations, mode):
    channels = _continued(rotations, mode, _tumble(), _identity_channels(mode))
    np.testing.assert_allclose(_matrices(mode, channels), _matrices("QUATERNION", _tumble()), atol=2e-6)


@pytest.mark.parametrize("mode", MODES)
def test_quaternions_of_every_mode_mean_the_rotation_that_blender_shows(bpy, rotations, mode):
    channels = np.random.default_rng(3).uniform(-7.0, 7.0, (50, len(_identity_channels(mode))))
    quaternions = rotations.to_quaternions(mode, channels)
    np.testing.assert_allclose(_matrices("QUATERNION", quaternions), _matrices(mode, channels), atol=2e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_those_that_mathutils_makes_compatible_with_the_frame_before(bpy, rotations, order):
    from mathutils import Euler, Quaternion

    previous, expected = Euler((0.0, 0.0, 0.0), order), []
    for row in _tumble():
        previous = Quaternion(row).to_euler(order, previous)
        expected.append(tuple(previous))
    channels = _continued(rotations, order, _tumble(), np.zeros(3))
    np.testing.assert_allclose(channels, expected, atol=2e-3)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
def test_a_smooth_turn_gives_smooth_channels_however_its_signs_flip(bpy, rotations, mode):
    flips = np.where(np.random.default_rng(5).random(len(STEPS)) < 0.5, -1.0, 1.0)
    channels = _continued(rotations, mode, _tumble() * flips[:, None], _identity_channels(mode))
    # The first frame does not turn at all and so has no axis of its own.
    assert np.abs(np.diff(channels[1:], axis=0)).max() < 0.1


def test_the_first_frame_continues_the_value_before(bpy, rotations):
    one = np.array([[1.0, 0.0, 0.0, 0.0]])
    whole = 2.0 * np.pi
    np.testing.assert_allclose(_continued(rotations, "QUATERNION", one, -one[0]), -one)
    np.testing.assert_allclose(_continued(rotations, "XYZ", one, np.array([whole, 0.1, -whole])), [[whole, 0, -whole]])
    turned = _continued(rotations, "AXIS_ANGLE", one, np.array([whole, 0.0, 0.0, 1.0]))
    np.testing.assert_allclose(turned, [[whole, 0.0, 0.0, 1.0]])


@pytest.mark.parametrize("order", ORDERS)
def test_gimbal_lock_keeps_the_rotation(bpy, rotations, order):
    angles = np.zeros((2, 3))
    angles[:, "XYZ".index(order[1])] = np.pi / 2, -np.pi / 2
    angles[:, "XYZ".index(order[0])] = 0.7
    angles[:, "XYZ".index(order[2])] = -0.3
    channels = _continued(rotations, order, rotations.to_quaternions(order, angles), np.zeros(3))
    np.testing.assert_allclose(_matrices(order, channels), _matrices(order, angles), atol=2e-6)
