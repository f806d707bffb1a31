# SPDX-License-Identifier: MIT
"""The formulas of docs/mathematics.md, written down once more as they stand there, give what the solver gives."""

from __future__ import annotations

import ik2bone
import numpy as np
import pytest

ROWS = 200


def unit(vectors):
    """Unit vectors (..., 3)."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def dot(a, b):
    """Products (..., 1)."""
    return (a * b).sum(axis=-1, keepdims=True)


def across(vectors, line):
    """The unit part of vectors perpendicular to a unit line."""
    return unit(vectors - dot(vectors, line) * line)


@pytest.fixture
def limb():
    """Root, mid joint and end of random limbs, and targets that they reach."""
    random = np.random.default_rng(1)
    a, b, c, way = random.normal(size=(4, ROWS, 3))
    upper, lower = (np.linalg.norm(bone, axis=-1, keepdims=True) for bone in (b - a, c - b))
    share = random.uniform(0.05, 0.95, (ROWS, 1))
    return a, b, c, a + unit(way) * (abs(upper - lower) + share * 2 * np.minimum(upper, lower))


def circle(a, b, c, t):
    """Line, place along it and height of the mid joint over it."""
    upper, lower = (np.linalg.norm(bone, axis=-1, keepdims=True) for bone in (b - a, c - b))
    d = np.linalg.norm(t - a, axis=-1, keepdims=True)
    s, difference = upper + lower, upper - lower
    along = 0.5 * (d + difference * s / d)
    height = np.sqrt((s - d) * (s + d) * (d - difference) * (d + difference)) / (2 * d)
    return (t - a) / d, along, height


def bend_of(a, b, c):
    """The present line and bend."""
    line = unit(c - a)
    return line, across(b - a, line)


def carried(a, b, c, u):
    """The present bend, reflected."""
    line, n = bend_of(a, b, c)
    g = line + u
    return n - 2 * dot(n, g) / dot(g, g) * g


def test_the_mid_joint_lies_on_the_circle_at_the_carried_bend(limb):
    a, b, c, t = limb
    u, along, height = circle(*limb)
    expected = a + along * u + height * carried(a, b, c, u)
    assert np.allclose(ik2bone.solve(*limb).mid, expected, atol=1e-9)


def test_the_nearest_bend_is_the_part_of_the_upper_bone_across_the_line(limb):
    a, b, c, t = limb
    u, along, height = circle(*limb)
    expected = a + along * u + height * across(b - a, u)
    assert np.allclose(ik2bone.solve(*limb, bend="nearest").mid, expected, atol=1e-9)


def test_pole_and_twist_turn_the_bend_about_the_line(limb):
    a, b, c, t = limb
    u, along, height = circle(*limb)
    v, s = carried(a, b, c, u), across(np.array([0.3, 0.2, 1.0]), u)
    theta = np.arctan2(dot(np.cross(u, v), s), dot(v, s))
    alpha = 0.4 * theta + 0.7
    bend = np.cos(alpha) * v + np.sin(alpha) * np.cross(u, v)
    solved = ik2bone.solve(*limb, pole=[0.3, 0.2, 1.0], pole_weight=0.4, twist=0.7)
    assert np.allclose(solved.mid, a + along * u + height * bend, atol=1e-9)


def test_the_hinge_and_the_line_give_the_bend(limb):
    a, b, c, _ = limb
    line, n = bend_of(a, b, c)
    hinge = np.cross(a - b, c - b)
    assert np.allclose(unit(np.cross(hinge, line)), n, atol=1e-9)
    assert np.allclose(ik2bone.pole_of(a, b, c), n, atol=1e-9)


def test_softening_follows_the_parabola():
    distance, greatest, soften = np.linspace(1.0, 2.2, 60), 1.7, 0.9
    t = distance[:, None] * [1.0, 0.0, 0.0]
    solved = ik2bone.solve([0, 0, 0], [0.8, 0.6, 0], [1.5, 0.6, 0], t, soften=soften)
    over = np.maximum(distance - soften * greatest, 0.0)
    soft = distance - over**2 / (4 * (1 - soften) * greatest)
    expected = np.where(distance >= (2 - soften) * greatest, greatest, soft)
    assert np.allclose(solved.end[:, 0], expected, atol=1e-12)


def test_an_angle_limit_is_a_limit_of_the_distance():
    upper, lower, least = 1.0, 0.7, np.radians(60.0)
    solved = ik2bone.solve([0, 0, 0], [0.8, 0.6, 0], [1.5, 0.6, 0], [0.4, 0, 0], min_angle=least)
    expected = np.sqrt((upper - lower) ** 2 + 4 * upper * lower * np.sin(least / 2) ** 2)
    assert solved.end[0] == pytest.approx(expected, abs=1e-12)


def test_the_correction_of_the_root_is_the_shortest_turn_of_the_upper_bone(limb):
    a, b, c, t = limb
    frames = np.broadcast_to(np.eye(4), (2, ROWS, 4, 4)).copy()
    frames[0, :, :3, 3], frames[1, :, :3, 3] = a, b
    e, new = b - a, ik2bone.solve(*limb).mid - a
    real = dot(e, e) + dot(e, new)
    expected = np.concatenate([real, np.cross(e, new)], axis=-1) / np.sqrt(2 * dot(e, e) * real)
    found = ik2bone.solve_pose(*frames, c, t).root
    assert np.allclose(found * np.sign(found[:, :1]), expected, atol=1e-9)


def test_by_the_roll_of_the_hinge_the_mid_joint_turns_about_its_hinge_alone(limb):
    a, b, c, t = limb
    frames = np.broadcast_to(np.eye(4), (2, ROWS, 4, 4)).copy()
    frames[0, :, :3, 3], frames[1, :, :3, 3] = a, b
    hinge = ik2bone.hinge_of(*frames, c)
    by_hinge, by_pose = (ik2bone.solve_pose(*frames, c, t, hinge=hinge, roll=roll).mid for roll in ("hinge", "pose"))
    assert np.abs(np.cross(by_hinge[:, 1:], hinge)).max() < 1e-9
    assert np.abs(np.cross(by_pose[:, 1:], hinge)).max() > 0.1
