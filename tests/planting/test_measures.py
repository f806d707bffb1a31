# SPDX-License-Identifier: MIT
"""The judge finds what it should: a planner with one stage taken out, or a toy in its place, is judged bad by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import ik2bone.anchors.footprint
import ik2bone.hips
import ik2bone.plan
import ik2bone.targets.blend
import ik2bone.targets.lock
import ik2bone.targets.stand
import ik2bone.targets.swing
import numpy as np
import pytest
from ik2bone.anchors.footprint import Slopes
from ik2bone.model import Clip
from ik2bone.plan import Settings, plant
from ik2bone.sole.measure import measure_sole
from ik2bone.targets.blend import Held, Targets
from measures import GOOD, Measures, measure, shortfalls
from walk import HILLS, height_field, make_walk, planted

STEPS = height_field(lambda x, y: 0.12 * (np.abs((np.floor(x / 0.9 + 0.35) + 3) % 6 - 3) - 1))
DALES = height_field(lambda x, y: 0.09 * np.sin(5.0 * x + 0.7) + 0.03 * np.cos(4.0 * y))


def walk() -> Clip:
    """Feet that slide and tremble a little, as recorded ones do."""
    return make_walk(slide=0.02, noise=0.0005, fps=60.0).clip


def judged(clip: Clip, ground) -> Measures:
    """The walk planted and judged; the heel is the true one, whatever the planner takes for it."""
    return measure(clip, planted(clip, plant(clip, ground)), ground, measure_sole(clip).heel)


@dataclass(frozen=True)
class Control:
    """What is done to the planner, the ground that shows it, and the measures that must find it."""

    weaken: Callable[[pytest.MonkeyPatch], None]
    ground: Callable
    found_by: tuple[str, ...]


def without_blend(patch) -> None:
    """Each foot jumps from one anchor to the next in the middle of its swing."""
    patch.setattr(ik2bone.targets.blend, "smoothstep", lambda t: (np.asarray(t) >= 0.5).astype(float))
    patch.setattr(ik2bone.plan, "ease_knees", lambda clip, targets, *_: targets)


def with_linear_blend(patch) -> None:
    """Each foot goes from one anchor to the next at an even speed, which begins and ends with a jolt."""
    for module in (ik2bone.targets.blend, ik2bone.targets.lock, ik2bone.targets.swing):
        patch.setattr(module, "smoothstep", lambda t: np.clip(t, 0.0, 1.0))
    patch.setattr(ik2bone.targets.lock, "come_to_rest", lambda t: 0.0 * t)
    patch.setattr(ik2bone.plan, "ease_knees", lambda clip, targets, *_: targets)
    patch.setattr(ik2bone.hips, "EASINGS", 0)


def with_raw_hips(patch) -> None:
    """The hips give on each frame exactly what the reach of that frame asks for."""

    def raw(wish, ceiling, *_):
        return np.minimum(wish, ceiling)

    patch.setattr(ik2bone.hips, "smooth_below", raw)


def with_still_hips(patch) -> None:
    """The hips stay, so that heels rise as far as they go, and feet are missed."""
    patch.setattr(ik2bone.plan, "hips_offset", lambda clip, *_: np.zeros((clip.frames, 3)))


def with_snap(patch) -> None:
    """No planner at all: every foot is put on the ground below it, frame by frame, and the hips follow."""

    def stand(clip, _sole, ground, _settings, _ride):
        rise = ground(clip.ball.reshape(-1, 3), -clip.up)[0][:, 2].reshape(clip.ball.shape[:2])
        targets = replace(Targets.of(clip).moved(rise[..., None] * clip.up), rise=rise)
        contacts, locked = np.ones((clip.frames, clip.legs, 2), bool), np.zeros(clip.legs, bool)
        return Held(contacts, targets, np.zeros_like(rise), locked)

    patch.setattr(ik2bone.plan, "stand", stand)
    with_raw_hips(patch)


def without_lift(patch) -> None:
    """Feet swing from anchor to anchor through whatever lies between."""
    patch.setattr(ik2bone.targets.stand, "lift_swings", lambda clip, sole, targets, *_: targets)


def without_heel(patch) -> None:
    """Ball and slope under it alone decide; the heel goes where it will."""
    patch.setattr(ik2bone.targets.stand, "raise_heels", lambda clip, sole, targets, *_: targets)
    patch.setattr(ik2bone.anchors.footprint, "TANGENT", 100.0)


def with_flat_soles(patch) -> None:
    """Joints are put on the ground themselves."""
    known = ik2bone.plan.measure_limbs

    def flat(clip):
        sole = known(clip)
        return replace(sole, ball_height=np.zeros(clip.legs), heel=sole.heel + sole.ball_height[:, None] * sole.up)

    patch.setattr(ik2bone.plan, "measure_limbs", flat)


def without_slope(patch) -> None:
    """Soles stay level."""
    patch.setattr(Settings, "slopes", property(lambda _: Slopes(aligned=False)))


CONTROLS = {
    "no blend": Control(without_blend, STEPS, ("foot_pop", "knee_pop")),
    "linear blend": Control(with_linear_blend, STEPS, ("knee_pop",)),
    "raw hips": Control(with_raw_hips, STEPS, ("hips_acceleration",)),
    "still hips": Control(with_still_hips, STEPS, ("slope", "knee_pop")),
    "no swing lift": Control(without_lift, STEPS, ("toe_under",)),
    "no heel": Control(without_heel, DALES, ("heel_under",)),
    "sole 0": Control(with_flat_soles, HILLS, ("heel_under",)),
    "per-frame snap": Control(with_snap, STEPS, ("drift", "knee_pop", "foot_pop", "hips_acceleration")),
    "no slope": Control(without_slope, HILLS, ("slope",)),
}


@pytest.mark.parametrize("ground", [HILLS, STEPS], ids=["hills", "steps"])
def test_planted_walk_is_judged_good(ground) -> None:
    clip = walk()
    assert judged(clip, ground).spans >= 6
    assert shortfalls(judged(clip, ground)) == {}


@pytest.mark.parametrize("name", CONTROLS)
def test_weakened_planner_is_judged_bad(name, monkeypatch) -> None:
    control, clip = CONTROLS[name], walk()
    whole = shortfalls(judged(clip, control.ground))
    control.weaken(monkeypatch)
    weak = shortfalls(judged(clip, control.ground))
    for measure_name in control.found_by:
        assert measure_name not in whole
        assert weak.get(measure_name, 0.0) > 1.2 * GOOD[measure_name]


def test_judge_finds_a_foot_that_turns_and_a_knee_that_goes_aside() -> None:
    clip = walk()
    foot, shin = clip.foot.copy(), clip.shin.copy()
    c, s = np.cos(np.radians(5.0)), np.sin(np.radians(5.0))
    foot[..., :3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ foot[..., :3, :3]
    shin[..., 1, 3] += 0.3 * np.linalg.norm(clip.knee - (clip.hip + clip.ankle) / 2, axis=-1)
    sole = measure_sole(clip)
    same = measure(clip, clip, HILLS, sole.heel)
    turned = measure(clip, replace(clip, foot=foot), HILLS, sole.heel)
    aside = measure(clip, replace(clip, shin=shin), HILLS, sole.heel)
    assert same.heading == pytest.approx(0.0, abs=1e-9) and same.knee_side == pytest.approx(0.0, abs=1e-4)
    assert turned.heading == pytest.approx(5.0, abs=1e-6)
    assert aside.knee_side == pytest.approx(np.degrees(np.arctan(0.3)), rel=0.05)


def test_judge_calls_nothing_standing_in_a_clip_without_standing_feet() -> None:
    clip = walk()
    moving = np.arange(clip.frames)[:, None, None] * np.array([0.05, 0.0, 0.0])
    assert measure(clip, clip, HILLS, measure_sole(clip).heel).spans > 0
    gliding = replace(clip, ball=clip.ball + moving)
    assert measure(gliding, gliding, HILLS, measure_sole(clip).heel).spans == 0
