# SPDX-License-Identifier: MIT
"""A second plan takes over what its settings leave as it is, and nothing else: it is the plan of a fresh run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import ik2bone
import numpy as np
import pytest
from ik2bone.contacts.spans import Marks
from ik2bone.ground.surfaces import Surface, Surfaces
from ik2bone.kept import values_of
from ik2bone.plan import Settings, plant
from test_calibration_pose import spread_on_its_first_frame
from walk import HILLS, height_field, make_walk

CLIP = make_walk(2.0, slide=0.03).clip
ENFORCED = np.zeros((CLIP.frames, CLIP.legs, 2), bool)
ENFORCED[40:50, 0] = True
MARKS = Marks(ENFORCED, ENFORCED, np.zeros_like(ENFORCED))
OTHER = {
    "contacts": {"contacts": "ALWAYS"},
    "stored": {"contacts": "STORED", "marks": MARKS},
    "marks": {"marks": MARKS},
    "direction": {"direction": "NEAREST"},
    "use_hips": {"use_hips": False},
    "use_slope": {"use_slope": False},
    "max_slope": {"max_slope": 0.1},
    "max_drop": {"max_drop": 0.01},
    "max_drop beyond": {"max_drop": 0.3},
    "gives_way": {"gives_way": "HIPS"},
    "strength": {"strength": 0.5},
    "strength over time": {"strength": np.linspace(0.0, 1.0, CLIP.frames)},
    "asked": {"asked": np.array([True, False])},
}


def values(plan):
    """All that a plan tells."""
    told = {name: value for name, value in vars(plan).items() if name not in ("clip", "ground", "notes", "kept")}
    return {name: values_of(value) for name, value in told.items()}, [str(note) for note in plan.notes]


@dataclass(kw_only=True)
class Level:
    """A ground of a user's own class."""

    height: float

    def __call__(self, points, _down):
        return points * [1.0, 1.0, 0.0] + [0.0, 0.0, self.height], 0.0 * points + [0.0, 0.0, 1.0], points[:, 0] < np.inf


def raft(height=0.0):
    """A platform that goes along under the walk."""
    corners = np.array([[-20.0, -20.0, height], [20.0, -20.0, height], [20.0, 20.0, height], [-20.0, 20.0, height]])
    along = np.tile(np.eye(4), (CLIP.frames, 1, 1))
    along[:, 0, 3] = 0.5 * np.arange(CLIP.frames) / CLIP.fps
    return Surfaces((Surface(ik2bone.Mesh(corners, [[0, 1, 2], [0, 2, 3]]), "Raft", along),), CLIP.leg)


@pytest.mark.parametrize("other", OTHER)
@pytest.mark.parametrize("ground", [HILLS, raft()])
def test_second_plan_is_that_of_a_fresh_run(ground, other) -> None:
    first, settings = plant(CLIP, ground), Settings(**OTHER[other])
    assert values(plant(CLIP, ground, settings, previous=first)) == values(plant(CLIP, ground, settings))
    assert values(plant(CLIP, ground, previous=first)) == values(first)


def test_second_plan_of_a_carried_clip_and_after_a_calibration_pose_is_that_of_a_fresh_run() -> None:
    ground = raft()
    aboard = CLIP.moved(ground.surfaces[0].motion[:, :3, 3])
    for clip in (aboard, spread_on_its_first_frame(CLIP)):
        first, settings = plant(clip, ground), Settings(strength=0.5, max_drop=0.1)
        assert values(plant(clip, ground, settings, previous=first)) == values(plant(clip, ground, settings))


@pytest.mark.parametrize("other", OTHER)
@pytest.mark.parametrize("ground", [HILLS, raft()])
def test_report_of_a_second_plan_is_that_of_a_fresh_run(ground, other) -> None:
    first, settings = plant(CLIP, ground), Settings(**OTHER[other])
    first.report()
    assert plant(CLIP, ground, settings, previous=first).report() == plant(CLIP, ground, settings).report()


def test_how_a_source_stands_is_found_once_while_contacts_and_clip_stay() -> None:
    asked = []

    def counted(points, down):
        asked.append(len(points))
        return HILLS(points, down)

    plan = plant(replace(CLIP, foot=CLIP.foot.copy()), counted)
    numbers = [len(asked)]
    for weaker in (plan, plant(plan.clip, counted, Settings(strength=0.5), previous=plan)):
        weaker.report()
        numbers.append(len(asked))
    assert np.diff(numbers).tolist() == [2, 1]
    plan.clip.foot[20:40, :, 2, 3] += 0.1
    assert plan.report() == replace(plan, kept=None).report()


@pytest.mark.parametrize("changed", ["enforced", "supports"])
def test_how_a_source_stands_is_found_anew_where_contacts_are_parted_or_supports_move_otherwise(changed) -> None:
    plan = plant(CLIP, raft())
    plan.report()
    still = replace(plan.targets, anchors=tuple(replace(anchor, motion=None) for anchor in plan.targets.anchors))
    parted = plan.contacts & (np.arange(CLIP.frames) % 9 < 4)[:, None, None]
    other = replace(plan, **{"enforced": {"enforced": parted}, "supports": {"targets": still}}[changed])
    assert other.report() == replace(other, kept=None).report()


def test_what_settings_do_not_change_is_not_asked_for_again() -> None:
    asked = []

    def counted(points, down):
        asked.append(len(points))
        return HILLS(points, down)

    plan = plant(CLIP, counted)
    first = len(asked)
    plan = plant(replace(CLIP), counted, Settings(strength=0.5), previous=plan)
    assert len(asked) == first
    plan = plant(CLIP, counted, Settings(strength=0.5, max_drop=0.01), previous=plan)
    assert len(asked) < 1.5 * first
    kept = len(plan.kept.results)
    for slope in (0.1, 0.2, 0.3):
        plan = plant(CLIP, counted, Settings(max_slope=slope), previous=plan)
    assert len(plan.kept.results) == kept


def test_a_limit_that_hips_do_not_come_down_to_has_only_them_found_again() -> None:
    first = plant(CLIP, HILLS)
    before = dict(first.kept.results)
    second = plant(CLIP, HILLS, Settings(max_drop=0.3), previous=first)
    assert {name for name, result in second.kept.results.items() if result is not before[name]} == {"_find_hips"}


@pytest.mark.parametrize("name", ["thigh", "foot", "ball"])
def test_clip_that_was_edited_is_planned_anew(name) -> None:
    clip = replace(CLIP, **{name: getattr(CLIP, name).copy()})
    first = plant(clip, HILLS)
    getattr(clip, name)[60:, 0] = getattr(clip, name)[59, 0]
    assert values(plant(clip, HILLS, previous=first)) == values(plant(replace(clip), HILLS)) != values(first)
    assert plant(clip, HILLS).report() == plant(replace(clip), HILLS).report()


def test_editing_what_was_planned_changes_neither_its_report_nor_the_next_plan_of_an_equal_clip() -> None:
    clip, offset, sole = replace(CLIP), np.zeros_like(CLIP.hip), plant(CLIP, HILLS).sole
    sole = replace(sole, heel=sole.heel.copy())
    given = replace(CLIP), HILLS, Settings(use_slope=False), replace(sole, heel=sole.heel.copy()), offset.copy()
    first = plant(clip, HILLS, None, sole, offset)
    told = first.report()
    clip.foot[60:], offset[:], sole.heel[:] = clip.foot[59], 0.1, 0.0
    assert first.report() == told
    assert values(plant(*given, previous=first)) == values(plant(*given))


def test_other_ground_sole_or_offset_is_planned_anew() -> None:
    first, upper = plant(CLIP, HILLS), height_field(lambda x, y: 0.1 + 0.0 * x)
    offset, sole = np.full_like(CLIP.hip, -0.05), replace(first.sole, floor=first.sole.floor + 0.02)
    for given in ((upper,), (raft(),), (HILLS, None, sole), (HILLS, None, None, offset)):
        assert values(plant(CLIP, *given, previous=first)) == values(plant(CLIP, *given)) != values(first)


def test_ground_of_a_class_with_fields_by_keyword_only_is_told_apart_by_them() -> None:
    first = plant(CLIP, Level(height=0.0))
    assert plant(CLIP, Level(height=0.0), previous=first).kept is first.kept
    assert plant(CLIP, Level(height=0.05), previous=first).kept is not first.kept


def test_surface_that_moves_otherwise_is_planned_anew() -> None:
    ground = raft()
    (surface,), first = ground.surfaces, plant(CLIP, ground)
    same = replace(ground, surfaces=(replace(surface, motion=surface.motion.copy()),))
    assert plant(CLIP, same, previous=first).kept is first.kept
    for other in (raft(), replace(ground, surfaces=(replace(surface, motion=surface.motion[::-1].copy()),))):
        assert plant(CLIP, other, previous=first).kept is not first.kept


def test_edited_plan_does_not_change_the_next() -> None:
    first = plant(CLIP, HILLS)
    told = values(first)
    targets = first.targets.turn, first.targets.ankle, first.targets.to_ankle
    places = first.anchors[0].point, first.anchors[0].turn
    for array in (first.rotations, first.hips_offset, first.contacts, first.locked, first.sole.heel, *targets, *places):
        array[:] = 0
    assert values(plant(CLIP, HILLS, previous=first)) == told


def test_what_is_no_plan_is_refused() -> None:
    with pytest.raises(TypeError, match="previous: expected a Plan, got dict"):
        ik2bone.plant(CLIP, HILLS, previous={})
