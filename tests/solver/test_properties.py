# SPDX-License-Identifier: MIT
"""What holds for any limb and target: rigid bones, the bend's side, and no preferred place, direction, size or hand."""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from ik2bone import Status
from reference_vectors import matrix

quick = settings(max_examples=60, deadline=None)
number = st.floats(-1, 1, allow_subnormal=False)
point = arrays(np.float64, 3, elements=number)
quaternion = arrays(np.float64, 4, elements=number)
words = st.sampled_from(["carried", "nearest"])
part = st.floats(-0.1, 1.1)


@st.composite
def limb(draw):
    """Root, mid, end, target: bones longer than nothing, bent enough to have a side."""
    root, mid, end, target = (draw(point) for _ in range(4))
    upper, lower = mid - root, end - mid
    lengths = limbs.length(upper), limbs.length(lower)
    assume(min(lengths) > 1e-2)
    assume(limbs.length(np.cross(upper, lower)) > 1e-2 * max(lengths) * sum(lengths))
    assume(min(limbs.length(end - root), limbs.length(target - root)) > 1e-2)
    return root, mid, end, target


def solved(points, bend="carried", **options):
    s = ik2bone.solve(*points, bend=bend, **options)
    return s, int(s.status)


def reach(points):
    root, mid, end, _ = points
    return limbs.length(mid - root) + limbs.length(end - mid)


@st.composite
def all_options(draw):
    """All options over their ranges and a little beyond."""
    return dict(
        bend=draw(words),
        pole=draw(point),
        pole_weight=draw(part),
        twist=draw(st.floats(-4, 4)),
        soften=draw(part),
        weight=draw(part),
        min_angle=draw(st.floats(-0.1, 2)),
        max_angle=draw(st.floats(1, 3.3)),
        cone_axis=draw(point),
        cone_angle=draw(st.floats(-0.1, 3.3)),
    )


@quick
@given(limb(), all_options())
def test_bones_are_rigid_whatever_the_options(points, options):
    s = ik2bone.solve(*points, **options)
    root, mid, end, _ = points
    np.testing.assert_allclose(limbs.length(s.mid - root), limbs.length(mid - root), rtol=0, atol=1e-14)
    np.testing.assert_allclose(limbs.length(s.end - s.mid), limbs.length(end - mid), rtol=0, atol=1e-14)


TINY = -6.911e-162 * np.ones(3)


@quick
@example(
    (np.zeros(3), np.array([1.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])),
    dict(soften=0.0, min_angle=0.0, max_angle=1.0, cone_axis=TINY, cone_angle=0.0),
)
@given(limb(), all_options())
def test_limits_hold_whatever_the_options(points, options):
    """Widened to the present pose; where the minimum exceeds the maximum, the maximum wins."""
    s = ik2bone.solve(*points, **options)
    root, mid, end, _ = points
    most = np.clip(options["max_angle"], 0, np.pi)
    least, own = np.clip(options["min_angle"], 0, most), limbs.angle(root - mid, end - mid)
    # Nearly straight, an angle is only the root of what rounding leaves of a distance.
    assert min(least, own) - 1e-6 < limbs.angle(root - s.mid, s.end - s.mid) < max(most, own) + 1e-6
    if np.any(options["cone_axis"]):
        size = np.clip(options["cone_angle"], 0, np.pi)
        widened = max(size, limbs.angle(mid - root, options["cone_axis"]))
        assert limbs.angle(s.mid - root, options["cone_axis"]) < widened + 1e-6


@quick
@given(limb(), words)
def test_the_end_is_the_point_nearest_to_the_target_that_it_can_reach(points, bend):
    s, status = solved(points, bend)
    root, mid, end, target = points
    near, distance = abs(limbs.length(mid - root) - limbs.length(end - mid)), limbs.length(target - root)
    missing = max(near - distance, distance - reach(points), 0)
    np.testing.assert_allclose(s.miss, missing, rtol=0, atol=1e-14)
    assert (missing <= 1e-12 * reach(points)) == (not status & Status.MISSED)


@quick
@given(limb())
def test_the_carried_bend_stays_on_its_side(points):
    """The present line's turn onto the new one takes the hinge along."""
    s, status = solved(points)
    root, mid, end, target = points
    line, new = (v / limbs.length(v) for v in (end - root, target - root))
    assume(not status and limbs.length(line + new) > 1e-3)
    turn = np.concatenate([[1 + np.dot(line, new)], np.cross(line, new)])
    hinge = matrix(turn) @ np.cross(root - mid, end - mid)
    assert np.dot(hinge, np.cross(root - s.mid, s.end - s.mid)) >= -1e-14


@quick
@given(limb(), words, quaternion, point, st.floats(1e-3, 1e3), st.booleans())
def test_turned_moved_scaled_or_mirrored_limbs_are_solved_alike(points, bend, turn, move, size, mirror):
    s, status = solved(points, bend, twist=0.3, soften=0.9)
    assume(not status & Status.SINGULAR)
    assume(bend == "carried" or limbs.length(np.cross(points[1] - points[0], points[3] - points[0])) > 1e-2)
    linear = size * matrix(turn) @ np.diag([-1 if mirror else 1, 1, 1])
    line = (points[2] - points[0]) / limbs.length(points[2] - points[0])
    new = (points[3] - points[0]) / limbs.length(points[3] - points[0])
    assume(limbs.length(line + new) > 1e-3)
    moved = [linear @ p + move for p in points]
    other, its = solved(moved, bend, twist=-0.3 if mirror else 0.3, soften=0.9)
    assert its == status
    for mine, theirs in ((s.mid, other.mid), (s.end, other.end)):
        np.testing.assert_allclose((linear @ mine + move) / size, theirs / size, rtol=0, atol=2e-6 + 1e-13 / size)


@quick
@given(limb(), words, st.floats(0, 1), st.floats(0.5, 1))
def test_a_small_change_makes_a_small_change(points, bend, weight, soften):
    """Away from full reach, the fold and the singular targets, results move as fast as inputs, times a bound."""
    root, mid, end, target = points
    near, distance = abs(limbs.length(mid - root) - limbs.length(end - mid)), limbs.length(target - root)
    line, new = (v / limbs.length(v) for v in (end - root, target - root))
    assume(near + 0.05 < distance < 0.95 * reach(points) and limbs.length(line + new) > 0.1)
    assume(limbs.length(np.cross(mid - root, new)) > 0.05)
    s, status = solved(points, bend, weight=weight, soften=soften)
    middle = s.end - root
    assume(not status & Status.SINGULAR and near + 0.05 < limbs.length(middle) < 0.95 * reach(points))
    assume(limbs.length(np.cross(mid - root, middle)) > 0.05 * limbs.length(middle))
    other, _ = solved((root, mid, end, target + 1e-9), bend, weight=weight, soften=soften)
    assert limbs.length(other.mid - s.mid) < 1e-5
    assert limbs.length(other.end - s.end) < 1e-8


@quick
@given(limb(), words)
def test_solving_again_changes_nothing(points, bend):
    s, status = solved(points, bend)
    assume(not status)
    again, _ = solved((points[0], s.mid, s.end, s.end), bend)
    assert np.array_equal(again.mid, s.mid)
    assert np.array_equal(again.end, s.end)
