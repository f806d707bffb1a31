# SPDX-License-Identifier: MIT
"""Results change by no more than a factor times the change of the inputs, outside of the contract's singularities.

Sampled paths of targets and options through full reach, near the pole, in and out of limits and cone. A jump would be
the change of a step divided by the step, hundreds of times the factor.
"""

from __future__ import annotations

import ik2bone
import limbs
import numpy as np
import paths
import pytest

ROWS, SEEDS = 8000, 3
AWAY = 0.2  # reaches or radians from a singularity
EDGE = 0.02  # reaches from where the slope is infinite
FACTOR = 15  # of positions; the worst seen is 12.7
KINDS = (
    ("soften",),
    ("weight",),
    ("pole",),
    ("pole", "pole_weight"),
    ("twist",),
    ("limits",),
    ("cone",),
    ("limits", "cone"),
    ("soften", "weight"),
    ("soften", "cone"),
    tuple(paths.OPTIONS),
)
BENDS = pytest.mark.parametrize("bend", ["carried", "nearest"])
PATHS = pytest.mark.parametrize("kinds", [(), *KINDS], ids="+".join)


def moved(points):
    """The largest step of any of these points, row by row."""
    return np.max([limbs.length(np.diff(p.astype(np.float64), axis=0)) for p in points], axis=0)


def both(rows):
    """Steps whose two rows are so."""
    return rows[1:] & rows[:-1]


@BENDS
@PATHS
def test_joints_move_no_faster_than_a_factor(kinds, bend):
    steps = 0
    for seed in range(SEEDS):
        path = paths.path(seed, ROWS, kinds, bend)
        outside = both((paths.from_singularities(path) > AWAY) & (paths.from_edges(path) > EDGE))
        s = path.solved()
        steps += outside.sum()
        assert np.all((moved((s.mid, s.end)) <= FACTOR * path.change)[outside])
    assert steps > 0.5 * SEEDS * ROWS


@BENDS
@PATHS
def test_joints_are_continuous_where_the_slope_is_infinite(kinds, bend):
    """Through full reach, the fold and the edge where circle and cone part, like a square root."""
    for seed in range(SEEDS):
        path = paths.path(seed, ROWS, kinds, bend)
        outside = both(paths.from_singularities(path) > AWAY)
        s = path.solved()
        assert np.all((moved((s.mid, s.end)) <= FACTOR * path.change + np.sqrt(path.change))[outside])


@PATHS
def test_joints_in_single_precision_move_no_faster(kinds):
    for seed in range(SEEDS):
        path = paths.path(seed, ROWS, kinds)
        outside = both((paths.from_singularities(path) > AWAY) & (paths.from_edges(path) > EDGE))
        s = path.solved(np.float32)
        assert np.all((moved((s.mid, s.end)) <= FACTOR * path.change + 1e-6)[outside])


@pytest.mark.parametrize("kinds", [("pole", "pole_weight"), ("limits", "cone")], ids="+".join)
def test_the_excluded_neighbourhoods_hold_jumps(kinds):
    """Else the tests above would pass whatever the solver did."""
    jumps = 0
    for seed in range(SEEDS):
        path = paths.path(seed, ROWS, kinds)
        s = path.solved()
        jumps += np.sum(moved((s.mid, s.end)) > 0.1)
    assert jumps > 0


# Corrections

TURN_FACTOR = {"pose": 60, "hinge": 25}  # radians; the worst of 30 paths of each kind are 42 and 18
STEEP = 20  # radians over the root of a reach; the worst is 14
ANCESTORS = ("rigid", "sheared", "mirrored")
ROLLS = pytest.mark.parametrize("roll", ["pose", "hinge"])


def away_from_singularities(posed, roll):
    return np.minimum(paths.from_singularities(posed.path), paths.from_turning_singularities(posed, roll)) > AWAY


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@ROLLS
@PATHS
def test_corrections_turn_no_faster_than_a_factor(kinds, roll, dtype):
    steps = 0
    for seed in range(SEEDS):
        posed = paths.posed(paths.path(seed, ROWS, kinds), seed, ANCESTORS[seed % 3])
        outside = both(away_from_singularities(posed, roll) & (paths.from_edges(posed.path) > EDGE))
        steps += outside.sum()
        s = posed.solved(roll, dtype)
        noise = 1e-5 if dtype == np.float32 else 0
        assert np.all((paths.turned(s[:3]) <= TURN_FACTOR[roll] * posed.change + noise)[outside])
        position = s.position @ np.linalg.inv(posed.frame).T
        assert np.all((moved([position]) <= FACTOR * posed.change + noise)[outside])
    assert steps > 0.4 * SEEDS * ROWS


@pytest.mark.parametrize(
    ("kinds", "roll"),
    [(kinds, "pose") for kinds in KINDS]
    + [(kinds, "hinge") for kinds in KINDS if "cone" not in kinds or "limits" in kinds],
)
def test_corrections_are_continuous_where_the_slope_is_infinite(kinds, roll):
    for seed in range(SEEDS):
        posed = paths.posed(paths.path(seed, ROWS, kinds), seed, ANCESTORS[seed % 3])
        outside = both(away_from_singularities(posed, roll))
        bound = TURN_FACTOR[roll] * posed.change + STEEP * np.sqrt(posed.change)
        assert np.all((paths.turned(posed.solved(roll)[:3]) <= bound)[outside])


@pytest.mark.parametrize("distance", [0.1, 2.0])
def test_a_limb_straight_or_folded_at_its_cones_edge_keeps_its_joints_but_not_its_roll(distance):
    """Outside, the shin has but one way to point at the goal, and the thigh turns until the knee bends that way.

    Inside, the limb was straight, its roll that of the wish. A knee that is never quite straight or folded turns on.
    """
    root, mid = np.eye(4), np.eye(4)
    mid[:3, 3], end = [0, 0.3, -0.5], [0, 0.1, -0.8]
    aside = np.linspace(0.55, 0.65, 20001)
    target = distance * np.stack([np.sin(aside), 0 * aside, -np.cos(aside)], -1)
    options = dict(cone_axis=[0, 0, -1.0], cone_angle=0.6, hinge=ik2bone.hinge_of(root, mid, end), roll="hinge")
    s = ik2bone.solve_pose(root, mid, end, target, **options)
    step = distance * 0.1 / 20000
    assert moved([s.position]).max() < FACTOR * step + np.sqrt(step)
    assert paths.turned([s.root]).max() > 1
    s = ik2bone.solve_pose(root, mid, end, target, min_angle=0.3, max_angle=2.9, **options)
    assert paths.turned([s.root]).max() < 25 * step + STEEP * np.sqrt(step)
