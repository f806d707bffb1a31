# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of F-curves are evaluated as Blender does it, whatever their handles, and keep their shape when cut."""

from __future__ import annotations

import numpy as np
import pytest

HANDLES = [(4.0, 4.0), (8.0, 8.0), (10.0, 10.0), (15.0, 3.0), (15.0, 15.0), (0.0, 30.0)]


@pytest.fixture
def curve(bpy, addon):
    """A curve with two keys ten frames apart."""
    actions = addon("keys.actions")
    curve = actions.new(bpy.data.objects.new("Any", None), "Action").curves.ensure("location", 0, "")
    curve.keyframe_points.add(2)
    return curve


def set_keys(curve, start, left, right):
    """Keys with handles of these lengths, and the points of the piece between."""
    points = np.array([(start, 0.0), (start + left, 0.3), (start + 10.0 - right, -0.2), (start + 10.0, 0.5)])
    for point, (key, handle) in zip(curve.keyframe_points, ((0, 1), (3, 2)), strict=True):
        point.interpolation, point.handle_left_type, point.handle_right_type = "BEZIER", "FREE", "FREE"
        point.co = point.handle_left = point.handle_right = points[key]
        setattr(point, "handle_right" if key == 0 else "handle_left", points[handle])
    return points


@pytest.mark.parametrize("start", [0.0, 508.25])
@pytest.mark.parametrize(("left", "right"), HANDLES)
def test_a_piece_has_the_values_that_blender_evaluates(addon, curve, start, left, right):
    splines = addon("keys.splines")
    points = set_keys(curve, start, left, right)
    frames = start + np.arange(0.25, 10.0, 0.25)
    expected = [curve.evaluate(frame) for frame in frames]
    np.testing.assert_allclose(splines._values(splines.shortened(points), frames), expected, atol=3e-6)


@pytest.mark.parametrize(("left", "right"), HANDLES[:2])
def test_both_parts_of_a_cut_piece_keep_its_shape(addon, curve, left, right):
    splines = addon("keys.splines")
    points = set_keys(curve, 100.0, left, right)
    for part in splines.split(points, 106.0):
        assert splines.has_room(part) and (part[1:3, 0] == part[1:3, 0].astype(np.float32)).all()
        frames = np.linspace(part[0, 0], part[3, 0], 21)[1:-1]
        expected = [curve.evaluate(frame) for frame in frames]
        np.testing.assert_allclose(splines._values(part, frames), expected, atol=1e-6)


def test_parts_of_a_piece_with_very_long_handles_have_no_room_for_theirs(addon, curve):
    splines = addon("keys.splines")
    first, second = splines.halves(set_keys(curve, 0.0, 15.0, 15.0), 5.5)
    assert not splines.has_room(first) and splines.has_room(second)


def test_pieces_between_rows_are_nearest_to_all_values(addon):
    splines = addon("keys.splines")
    t = np.linspace(-1.0, 1.0, 21)
    cubic = np.column_stack([t**3 - t, 2.0 * t**2 + 1.0])
    inner, shown = splines.fit(cubic, np.array([0, 20]))
    np.testing.assert_allclose(shown, cubic, atol=1e-12)
    # A cubic's inner control values: the ends and a third of the slope there.
    np.testing.assert_allclose(inner[0, :, 0], [4.0 / 3.0, -4.0 / 3.0], atol=1e-12)
    rough = np.random.default_rng(1).normal(size=(21, 1))
    best, nearby = splines.fit(rough, np.array([0, 20]))[1], np.interp(t, t[[0, 20]], rough[[0, 20], 0])
    assert np.abs(best[[0, 20]] - rough[[0, 20]]).max() < 1e-12
    assert np.square(best - rough).sum() < np.square(nearby - rough[:, 0]).sum()


def test_pieces_of_one_and_two_frames_pass_through_all_values(addon):
    splines = addon("keys.splines")
    values = np.array([[0.0], [1.0], [3.0], [2.0]])
    assert np.abs(splines.fit(values, np.array([0, 2, 3]))[1] - values).max() < 1e-12
