# SPDX-License-Identifier: MIT
"""The judge finds what it should: a planner with one stage taken out, or a toy in its place, is judged bad by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import ik2bone
import ik2bone.anchors.choose
import ik2bone.curves
import ik2bone.hips
import ik2bone.stages
import ik2bone.targets.blend
import ik2bone.targets.stand
import ik2bone.targets.swing
import numpy as np
import pytest
from ik2bone.anchors.footprint import slope_turns
from ik2bone.clip import Clip
from ik2bone.plan import plant
from ik2bone.sole.measure import measure_sole
from ik2bone.targets.blend import Held, Targets
from measures import GOOD, Measures, judged_spans, measure, pop, reversals, shortfalls, turning_points
from walk import FLAT, HILLS, height_field, make_walk, planted

STEPS = height_field(lambda x, y: 0.12 * (np.abs((np.floor(x / 0.9 + 0.35) + 3) % 6 - 3) - 1))
DALES = height_field(lambda x, y: 0.09 * np.sin(5.0 * x + 0.7) + 0.03 * np.cos(4.0 * y))


def walk() -> Clip:
    """Feet that slide and tremble a little, as recorded ones do."""
    return make_walk(slide=0.02, noise=0.0005, seed=1, fps=60.0).clip


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
    patch.setattr(ik2bone.stages, "draw_swings", lambda clip, ankle, *_: 0.0 * ankle)


def with_linear_blend(patch) -> None:
    """Each foot goes from one anchor to the next at an even speed, which begins and ends with a jolt."""
    for module in (ik2bone.curves, ik2bone.targets.blend, ik2bone.targets.swing):
        patch.setattr(module, "smoothstep", lambda t: np.clip(t, 0.0, 1.0))
    patch.setattr(ik2bone.curves, "come_to_rest", lambda t: 0.0 * t)
    patch.setattr(ik2bone.stages, "draw_swings", lambda clip, ankle, *_: 0.0 * ankle)
    patch.setattr(ik2bone.hips, "EASINGS", 0)


def with_raw_hips(patch) -> None:
    """The hips give on each frame exactly what the reach of that frame asks for."""

    def raw(wish, _fps, _slow, _floor=-np.inf, ceiling=np.inf, weight=1.0):
        return np.minimum(wish, ceiling)

    patch.setattr(ik2bone.hips, "smooth_between", raw)


def with_still_hips(patch) -> None:
    """The hips stay, so that heels rise as far as they go, and feet are missed."""
    patch.setattr(ik2bone.stages, "hips_offset", lambda clip, *_: np.zeros((clip.frames, 3)))


def with_snap(patch) -> None:
    """No planner at all: every foot is put on the ground below it, frame by frame, and the hips follow."""

    def stand(clip, _sole, ground, _settings, _rides):
        rise = ground(clip.ball.reshape(-1, 3), -clip.up)[0][:, 2].reshape(clip.ball.shape[:2])
        targets = replace(Targets.of(clip).moved(rise[..., None] * clip.up), rise=rise)
        contacts, locked = np.ones((clip.frames, clip.legs, 2), bool), np.zeros(clip.legs, bool)
        return Held(contacts, contacts, targets, 0.0 * rise, ~contacts[..., 0], locked, True)

    patch.setattr(ik2bone.stages, "stand", stand)
    with_raw_hips(patch)


def without_lift(patch) -> None:
    """Feet swing from anchor to anchor through whatever lies between."""
    patch.setattr(ik2bone.targets.stand, "lift_swings", lambda clip, sole, targets, *_: targets)


def without_heel(patch) -> None:
    """Ball and slope under it alone decide; the heel goes where it will."""
    patch.setattr(ik2bone.targets.stand, "raise_heels", lambda clip, sole, targets, *_: targets)

    def by_ball(axes, points, surface):
        ball = np.arange(points.shape[1]) == 0
        return slope_turns(axes, points, replace(surface, gentle=surface.gentle & ball))

    patch.setattr(ik2bone.anchors.choose, "slope_turns", by_ball)


def with_flat_soles(patch) -> None:
    """Joints are put on the ground themselves."""
    known = ik2bone.stages.measure_limbs

    def flat(clip):
        sole = known(clip)
        return replace(sole, ball_height=np.zeros(clip.legs), heel=sole.heel + sole.ball_height[:, None] * sole.up)

    patch.setattr(ik2bone.stages, "measure_limbs", flat)


def without_slope(patch) -> None:
    """Soles stay level."""
    patch.setattr(ik2bone.anchors.choose, "slope_turns", lambda axes, *_: np.tile(np.eye(3), (len(axes), 1, 1)))


CONTROLS = {
    "no blend": Control(without_blend, STEPS, ("foot_pop", "knee_pop")),
    "linear blend": Control(with_linear_blend, STEPS, ("knee_pop",)),
    "raw hips": Control(with_raw_hips, STEPS, ("hips_acceleration",)),
    "still hips": Control(with_still_hips, STEPS, ("knee_pop",)),
    "no swing lift": Control(without_lift, STEPS, ("heel_under",)),
    "no heel": Control(without_heel, DALES, ("heel_under",)),
    "sole 0": Control(with_flat_soles, HILLS, ("heel_under",)),
    "per-frame snap": Control(with_snap, STEPS, ("drift", "foot_pop", "hips_acceleration")),
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


def still(frames: int = 60, fps: float = 60.0) -> Clip:
    """A figure that stands on both level feet, one a step before the other."""
    clip = make_walk(frames / fps, fps).clip
    first = {name: getattr(clip, name)[:1] for name in ("thigh", "shin", "foot", "toe", "ball", "tip")}
    return replace(clip, **{name: np.repeat(values, frames, axis=0) for name, values in first.items()})


@pytest.mark.parametrize(("height", "legs"), [(0.2, {0, 1}), (0.3, {0})])
def test_judge_counts_no_foot_that_hangs_high_above_the_other(height, legs) -> None:
    clip = still()
    raised = np.array([[0.0], [height * clip.leg]]) * clip.up
    assert {leg for leg, _, _ in judged_spans(replace(clip, ball=clip.ball + raised))} == legs


@pytest.mark.parametrize(("rest", "spans"), [(1, 0), (2, 2)])
def test_judge_counts_the_time_between_frames_at_the_beginning_too(rest, spans) -> None:
    clip = still(24, 24.0)
    leaving = np.maximum(np.arange(clip.frames) - rest, 0)[:, None, None] * np.array([0.1, 0.0, 0.0])
    assert len(judged_spans(replace(clip, ball=clip.ball + leaving))) == spans


def pitched_slope(degrees: float, height: Callable) -> float:
    """What the judge finds of soles on a ground z = height(x), x from the ball, pitched so far towards the toes."""
    clip, angle = still(), np.radians(degrees)
    turn = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
    foot = clip.foot.copy()
    foot[..., :3, :3] = turn @ foot[..., :3, :3]
    foot[..., :3, 3] = clip.ball + (clip.ankle - clip.ball) @ turn.T
    # Balls are a step of 0.62 apart, and heels 0.23 behind them.
    ground = height_field(lambda x, y: height((x + 0.31) % 0.62 - 0.31))
    return measure(clip, replace(clip, foot=foot), ground, np.tile([-0.05, 0.0, -0.12], (2, 1))).slope


def test_sole_lies_right_along_the_line_between_heel_and_ball_and_along_the_slope_under_the_ball() -> None:
    def crest(x):
        return 0.5 - 0.8 * (x + 0.115) ** 2

    under_the_ball = np.degrees(np.arctan(1.6 * 0.115))
    assert pitched_slope(0.0, crest) < 1.0 and pitched_slope(under_the_ball, crest) < 1.0
    assert pitched_slope(-6.0, crest) == pytest.approx(6.0, abs=1.0)
    assert pitched_slope(under_the_ball + 6.0, crest) == pytest.approx(6.0, abs=1.0)


def test_sole_over_the_edge_of_a_step_does_not_lie_along_the_line_to_the_tread_below() -> None:
    def step(x):
        return np.where(x > -0.1, 0.12, 0.0)

    assert pitched_slope(0.0, step) < 1.0
    to_tread = -np.degrees(np.arctan(0.12 / 0.23))
    assert pitched_slope(to_tread, step) == pytest.approx(-to_tread, abs=1.0)


def with_hips(clip: Clip, offset: np.ndarray) -> Clip:
    """The clip with hips moved by an offset (F, 3) over feet that stay."""
    hip = clip.hip + offset[:, None]
    thigh, shin = clip.thigh.copy(), clip.shin.copy()
    thigh[..., :3, 3] = hip
    shin[..., :3, 3] = ik2bone.solve(hip, clip.knee, clip.ankle, clip.ankle, pole=[1.0, 0.0, 0.0]).mid
    return replace(clip, thigh=thigh, shin=shin)


def body_of(clip: Clip, after: Clip) -> tuple[float, ...]:
    """What is judged of the body over the feet, and the balls' height."""
    found = measure(clip, after, FLAT, measure_sole(clip).heel)
    return found.hips_acceleration, found.hips_rms, found.hips, found.flexion, found.height


def test_judge_finds_nothing_in_a_body_that_stays() -> None:
    clip = walk()
    assert body_of(clip, clip) == pytest.approx((0.0,) * 5, abs=1e-9)
    assert measure(clip, clip, FLAT, measure_sole(clip).heel).reversals == 0


def test_judge_finds_hips_that_jitter() -> None:
    clip = walk()
    swing = 0.003 * np.sin(2 * np.pi * 5.0 * np.arange(clip.frames) / clip.fps)
    peak, rms, hips, flexion, _ = body_of(clip, with_hips(clip, swing[:, None] * clip.up))
    # Differences over 1/30 s see 0.91 of the acceleration of a swing at 5 Hz.
    assert peak == pytest.approx(0.91 * 0.003 / clip.leg * (2 * np.pi * 5.0) ** 2, rel=0.02)
    assert rms == pytest.approx(peak / np.sqrt(2.0), rel=0.05)
    assert hips == pytest.approx(0.003 / clip.leg, rel=0.01) and abs(flexion) < 1.0


def test_judge_finds_a_figure_that_crouches() -> None:
    clip = walk()
    peak, _, hips, flexion, height = body_of(clip, with_hips(clip, np.tile(-0.2 * clip.up, (clip.frames, 1))))
    assert flexion > 10.0 and hips == pytest.approx(0.2 / clip.leg)
    assert peak < 1e-6 and height < 1e-9


def test_judge_finds_feet_that_stand_higher_than_in_the_clip() -> None:
    clip = walk()
    assert body_of(clip, replace(clip, ball=clip.ball + 0.01 * clip.up))[-1] == pytest.approx(0.01 / clip.leg)


def falling_knee(fps: float) -> np.ndarray:
    """An angle (F, 1) that falls from 60 to 10 degrees within 0.4 s, and stops at once as the foot strikes."""
    time = np.arange(-0.4, 1.0, 1.0 / fps)
    return (10.0 + 50.0 * np.clip(1.0 - time / 0.4, 0.0, 1.0))[:, None]


def bounce(fps: float, at: float, size: float) -> np.ndarray:
    """A smooth rise (F, 1) of so many degrees and back within 0.13 s."""
    time = np.arange(-0.4, 1.0, 1.0 / fps)
    return (size * np.cos(np.clip((time - at) / 0.13, -0.5, 0.5) * np.pi) ** 2)[:, None]


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_pop_of_the_source_excuses_none_that_comes_before_it(fps) -> None:
    knee = falling_knee(fps)
    assert pop(knee, knee, fps) < 1e-9
    assert pop(knee, knee + bounce(fps, 0.3, 20.0), fps) > 10.0
    assert pop(knee + bounce(fps, 0.3, 20.0), knee + bounce(fps, 0.3, 25.0), fps) < 3.0


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_knee_that_bounces_once_more_turns_round_twice_more(fps) -> None:
    knee, late = falling_knee(fps), bounce(fps, 0.8, 20.0)
    assert reversals(knee, knee, fps) == 0
    assert reversals(knee, knee + bounce(fps, 0.25, 30.0), fps) == 2
    # One that is missing elsewhere makes up for nothing.
    assert reversals(knee + late, knee + bounce(fps, 0.25, 30.0), fps) == 2
    assert reversals(knee + late, knee, fps) == 0
    assert reversals(knee + late, knee + bounce(fps, 0.85, 20.0), fps) == 0
    assert reversals(knee + bounce(fps, 0.8, 1.6), knee + bounce(fps, 0.8, 2.4), fps) == 0


def test_angles_turn_where_they_change_by_more_than_the_least() -> None:
    angles = np.array([0.0, 1.0, 0.0, 5.0, 9.0, 9.0, 8.0, 3.0, 4.0, 3.0, 6.0])
    assert turning_points(angles, 2.0) == [(1, 4, 6), (-1, 7, 9)]
