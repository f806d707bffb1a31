# SPDX-License-Identifier: MIT
"""Places of a foot chosen together: nearest where there is time, on one level where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from ik2bone.anchors import search
from ik2bone.anchors.search import chain_costs
from ik2bone.plan import plant
from walk import STEP, height_field, make_walk, planted

# Two standings on a lower step, the second as well on the upper one, where it costs less.
LOWER, UPPER = np.array([[0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 0.18], [0.1, 0.0, 0.0]])


def cheapest(times, moves, costs, leg: float = 1.0) -> list[int]:
    return [int(np.argmin(each)) for each in chain_costs(times, moves, costs, leg)]


def chosen(gap: float, leg: float = 1.0) -> list[int]:
    return cheapest([gap], [leg * LOWER, leg * UPPER], [np.zeros(1), np.array([0.05, 0.1])], leg)


def test_each_standing_takes_its_cheapest_place_where_there_is_time() -> None:
    assert chosen(0.8) == [0, 0]


def test_foot_that_steps_on_at_once_stays_on_its_level() -> None:
    assert chosen(0.1) == [0, 1]


def test_choice_does_not_depend_on_the_unit() -> None:
    assert chosen(0.1, 100.0) == [0, 1] and chosen(0.8, 0.01) == [0, 0]


def test_chain_of_one_takes_the_cheapest() -> None:
    assert cheapest([], [UPPER], [np.array([0.3, 0.2])]) == [1]


def test_choice_is_the_best_of_all_chains() -> None:
    random = np.random.default_rng(1)
    times = [0.16, 0.12, 0.08]
    moves, costs = random.normal(0, 0.2, (4, 3, 3)), random.uniform(0, 1, (4, 3))

    def cost(chain) -> float:
        total = sum(costs[i][k] for i, k in enumerate(chain))
        for i in range(3):
            total += cost_of_change(moves[i][chain[i]], moves[i + 1][chain[i + 1]], times[i])
        return total

    best = min(np.ndindex(3, 3, 3, 3), key=cost)
    assert [each.min() for each in chain_costs(times, list(moves), list(costs), 1.0)] == pytest.approx([cost(best)] * 4)
    assert cheapest(times, list(moves), list(costs)) == list(best)


def cost_of_change(before, after, time: float) -> float:
    """A quintic over the time has its peak of acceleration at 10 / sqrt(3) of way over time squared."""
    change = np.linalg.norm(after - before)
    return (10 / np.sqrt(3) * change / time**2 / 20.0) ** 2


def test_walk_over_a_riser_leaves_no_sole_across_it() -> None:
    clip = make_walk().clip
    steps = height_field(lambda x, y: 0.15 * np.floor(x / 0.9 + 0.5))
    plan = plant(clip, steps)
    after = planted(clip, plan)
    for anchor in plan.anchors:
        frame, leg = (anchor.stance.start + anchor.stance.end) // 2, anchor.stance.leg
        sole = np.stack(
            [after.ball[frame, leg], after.foot[frame, leg, :3, :3] @ plan.sole.heel[leg] + after.ankle[frame, leg]]
        )
        levels = steps(sole, -clip.up)[0][:, 2]
        assert np.ptp(levels) < 1e-9


@pytest.mark.parametrize("ahead", [0.04, 0.1])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_ledge_hardly_longer_than_a_foot_is_found_near_by(side, ahead) -> None:
    """On the treads of stairs feet leapt over such a place to the next ledge, or stayed where they were."""
    ledges = height_field(lambda x, y: np.where(np.mod(x - 0.34 - side * ahead, STEP) < 0.38, 0.0, -0.15))
    ways = [side * anchor.move[0] for anchor in plant(make_walk(seconds=3.0).clip, ledges).anchors]
    # Edges are kept off by 0.03 leg from heel and tip, which are 0.294 apart: this leaves 0.013 to both sides.
    assert ways[2:-1] == pytest.approx([ahead - 0.013] * len(ways[2:-1]), abs=0.005)


@pytest.mark.parametrize("tread", [0.31, 0.33, 0.35])
def test_toes_do_not_stand_in_risers_of_short_treads(tread) -> None:
    """Feet are 0.294 long, and ends keep off edges by 0.03: there is no room for both. A heel may be over an edge."""
    for edge in np.arange(6) * tread / 6:
        stairs = height_field(lambda x, y, edge=edge: 0.1 * np.ceil((x - edge) / tread))
        plan = plant(make_walk(seconds=4.0).clip, stairs)
        balls = np.array([anchor.point[0] for anchor in plan.anchors if anchor.part == "ball"])
        ahead = tread - np.mod(balls - edge, tread)
        assert (ahead > plan.sole.lengths[0, 1] - 0.003).all()


@pytest.mark.parametrize("height", [0.025, 0.03, 0.0325])
def test_feet_that_do_not_look_for_better_places_would_find_none(monkeypatch, height) -> None:
    plain, looked, spared = search.Search, [], []

    class Thorough(plain):
        def best(self):
            every = np.arange(len(self.moves))
            whole, own = plain(**{**vars(self), "free": every}).best(), super().best()
            assert not np.delete(whole, self.free, axis=0).any()
            assert own == pytest.approx(whole[self.free], abs=1e-12)
            looked.append(len(self.free))
            spared.append(len(every) - len(self.free))
            return own

    def rough(x, y):
        return height * (np.sin(7.0 * x) + (np.sin(3.0 * x + 2.0 * y) > 0.3))

    monkeypatch.setattr(search, "Search", Thorough)
    plant(make_walk(seconds=6.0).clip, height_field(rough))
    assert looked[0] > 0 and spared[0] > 0
