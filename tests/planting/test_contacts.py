# SPDX-License-Identifier: MIT
"""Contact detection: what stands is found, at any scale, rate and unit, on any ground, and to the frame."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from gaits import EASES, STYLES, make_gait, make_loose_gait, make_rest, on_treadmill, retargeted
from ik2bone.contacts.detect import find_contacts, hysteresis
from ik2bone.contacts.paths import noise_of, observe
from ik2bone.contacts.stance import stances
from ik2bone.contacts.treadmill import floor_velocities
from ik2bone.curves import runs
from runs import RUNS, make_run

UP = np.array([0.0, 0.0, 1.0])
WALKS = ("walk", "gentle walk", "flat-footed walk", "slow walk", "fast walk", "backward walk")
OTHERS = tuple(sorted(set(STYLES) - set(WALKS)))
RATES = (30, 60, 120)
# On their toes heels hover; nothing tells them from standing ones.
TIPTOE = ("run on the balls", "walk on tiptoe")
# A millimetre of a leg of 0.9 m.
MILLIMETRE = 0.0011
SLIDES = ({}, {"slide": 0.05, "sink": 0.02}, {"slide": -0.02, "leg": 0.8}, {"sink": 0.03, "leg": 1.2})


def contacts_of(gait, **options):
    return find_contacts(gait.heel, gait.ball, fps=gait.fps, leg=gait.leg, **options)


def agreement(found, truth) -> float:
    """F1 of what stands."""
    return 2 * (found & truth).sum() / (found.sum() + truth.sum())


def agreements(gait) -> tuple[float, float]:
    """F1 of feet that stand by either part, and of the parts."""
    found = contacts_of(gait)
    return agreement(found.any(axis=-1), gait.standing.any(axis=-1)), agreement(found, gait.standing)


def boundary_errors(found, truth) -> list[int]:
    """How many frames the start and end of each true contact lie from the nearest found; those of the clip are left."""
    errors = []
    for leg, part in np.ndindex(*truth.shape[1:]):
        for side in range(2):
            places = np.array([run[side] for run in runs(found[:, leg, part])] or [-len(truth)])
            sides = [run[side] for run in runs(truth[:, leg, part])]
            errors += [int(np.abs(places - at).min()) for at in sides if 0 < at < len(truth)]
    return errors


@pytest.mark.parametrize("style", WALKS)
def test_walks_are_found_to_the_frame_whatever_slides_and_sinks(style) -> None:
    errors, found = [], []
    for fps in RATES:
        for change in SLIDES:
            gait = make_gait(style, fps, **change)
            errors += boundary_errors(contacts_of(gait), gait.standing)
            found.append(agreements(gait))
    assert (np.min(found, axis=0) >= [0.98, 0.945]).all()
    assert (np.mean(found, axis=0) >= [0.99, 0.98]).all()
    assert np.median(errors) <= 1


@pytest.mark.parametrize("ease", EASES)
def test_heels_and_balls_that_swing_by_themselves_do_not_roll(ease) -> None:
    for fps in RATES:
        for bump in ("sine", "squared sine"):
            assert min(agreements(make_loose_gait(fps, ease=ease, bump=bump))) >= 0.98
            assert min(agreements(make_loose_gait(fps, ease=ease, bump=bump, noise=2 * MILLIMETRE))) >= 0.91


@pytest.mark.parametrize("style", WALKS)
def test_walks_that_tremble_are_found(style) -> None:
    errors = []
    for fps in RATES:
        for millimetres in (1, 3, 5):
            gait = make_gait(style, fps, slide=0.02, noise=millimetres * MILLIMETRE, seed=millimetres)
            either, part = agreements(gait)
            assert either >= 0.95
            assert part >= 0.94
            errors += boundary_errors(contacts_of(gait), gait.standing)
    assert np.median(errors) <= 1


@pytest.mark.parametrize("style", OTHERS)
def test_runs_stairs_turns_and_shuffles_are_found(style) -> None:
    for fps in RATES:
        for noise in (0.0, 3 * MILLIMETRE):
            either, part = agreements(make_gait(style, fps, slide=0.01, noise=noise, seed=3))
            assert either >= 0.92
            assert style in TIPTOE or part >= 0.92


@pytest.mark.parametrize("style", RUNS)
def test_measured_runs_agree_with_force_plates(style) -> None:
    """Shoes slide and give way as they strike: speeds alone begin contacts 25 to 50 ms late, 0.92 of the frames."""
    for fps in RATES:
        run = make_run(style, fps)
        found, truth = contacts_of(run).any(axis=-1), run.standing.any(axis=-1)
        assert (found == truth).mean() >= 0.945
        assert found.mean() == pytest.approx(truth.mean(), abs=0.06)


@pytest.mark.parametrize("noise", [0.0, MILLIMETRE, 5 * MILLIMETRE])
def test_figure_at_rest_stands_on_every_frame(noise) -> None:
    for fps in (24, 30, 60, 120):
        assert contacts_of(make_rest(fps, noise=noise)).all()


@pytest.mark.parametrize("sinks", [False, True])
def test_foot_that_rests_and_then_settles_by_hardly_anything_stands_on_every_frame(sinks) -> None:
    """An animator's idle figure shifts its weight: the foot slides by 0.004 leg, and comes down by 0.003."""
    ball = np.zeros((34, 2, 3))
    ball[:, :, 1] = [0.1, -0.1]
    share = EASES["quintic"](np.clip((np.arange(34) - 10) / 28, 0.0, 1.0))
    ball[:, 1] += share[:, None] * [0.004, 0.0, -0.003 * sinks]
    assert find_contacts(ball - [0.2, 0.0, 0.0], ball, fps=24.0, leg=1.0, exact=False).all()


@pytest.mark.parametrize("style", ["walk", "slow walk", "run"])
def test_small_changes_of_speeds_change_few_frames(style) -> None:
    gait = make_gait(style, noise=MILLIMETRE, slide=0.02)
    for exact in (True, False):
        found = [contacts_of(gait, exact=exact, enter=0.25 * change, leave=0.45 * change) for change in (0.97, 1.03)]
        assert (found[0] != found[1]).mean() <= 0.01


@pytest.mark.parametrize("exact", [True, False])
def test_frames_before_and_after_change_no_contact_between(exact) -> None:
    gait = make_gait("walk", noise=MILLIMETRE, slide=0.02)
    whole, cut = contacts_of(gait, exact=exact), slice(60, 300)
    part = replace(gait, heel=gait.heel[cut], ball=gait.ball[cut])
    inside = slice(20, -20)
    assert (contacts_of(part, exact=exact)[inside] != whole[cut][inside]).mean() <= 0.01


def test_contacts_depend_neither_on_place_nor_on_heading_nor_on_unit_nor_on_which_axis_is_up() -> None:
    gait = make_gait("upstairs")
    turn = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    heel, ball = (100.0 * path @ turn.T + [40.0, -7.0, 900.0] for path in (gait.heel, gait.ball))
    assert (find_contacts(heel, ball, fps=60.0, leg=100.0, up=3.0 * turn @ UP) == contacts_of(gait)).all()


@pytest.mark.parametrize("style", ["walk", "slow walk", "run", "shuffle"])
def test_contacts_start_and_end_at_the_same_time_at_any_frame_rate(style) -> None:
    for exact in (True, False):
        reference = stances(contacts_of(make_gait(style, 60, seconds=5.7), exact=exact))
        for fps in (24, 30, 120):
            other = stances(contacts_of(make_gait(style, fps, seconds=5.7), exact=exact))
            assert len(reference) == len(other)
            times = np.array([[(a.start / 60, b.start / fps), (a.end / 60, b.end / fps)] for a, b in zip(
                reference, other, strict=True)])  # fmt: skip
            assert np.abs(np.diff(times, axis=-1)).max() <= 2.01 / min(fps, 60)


def floor_of(gait) -> tuple[np.ndarray, bool]:
    """The mean velocity (3,) of the floor, leg lengths a second, and whether it carries feet back."""
    floor, carried = floor_velocities(observe(np.stack([gait.heel, gait.ball], axis=2) / gait.leg, gait.fps, UP))
    return floor.mean(axis=0), carried


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"upstairs", "downstairs", "turn on the spot"}))
def test_treadmill_is_recognised_and_feet_stand_on_it(style) -> None:
    gait = make_gait(style, noise=MILLIMETRE)
    carried = on_treadmill(gait, style)
    floor, back = floor_of(carried)
    assert back
    assert floor == pytest.approx([-STYLES[style].stride / STYLES[style].cycle, 0.0, 0.0], abs=0.1)
    assert agreement(contacts_of(carried).any(axis=-1), contacts_of(gait).any(axis=-1)) >= 0.97


@pytest.mark.parametrize("style", ["walk", "slow walk", "backward walk", "run"])
def test_feet_that_slide_evenly_under_hips_of_longer_or_shorter_legs_stand(style) -> None:
    for fps, radius in ((30, np.inf), (60, 3.0), (120, np.inf)):
        for scale in (0.75, 0.9, 1.1, 1.3):
            gait = make_gait(style, fps, noise=2 * MILLIMETRE, slide=0.02)
            scaled = retargeted(gait, style, scale, radius)
            either, part = agreements(scaled)
            assert either >= 0.95
            assert part >= (0.94 if style != "run" else 0.9)
            assert not floor_of(scaled)[1]


def test_feet_that_hang_from_hips_of_longer_or_shorter_legs_are_found_nearly_to_the_frame() -> None:
    feet = [
        agreements(retargeted(make_gait(style, 60, slide=0.02), style, scale, radius, bob))[0]
        for style in (*WALKS, "run")
        for scale in (0.8, 1.2)
        for radius, bob in ((np.inf, 0.0), (3.0, 0.02))
    ]
    assert min(feet) >= 0.9
    assert np.mean(feet) >= 0.985


@pytest.mark.parametrize("glide", [2.0, 4.0, -1.0])
def test_feet_that_glide_with_the_figure_do_not_stand(glide) -> None:
    gait = make_gait("fast walk")
    way = glide * np.arange(len(gait.heel))[:, None, None] / 60.0 * np.array([1.0, 0.0, 0.0])
    assert not find_contacts(gait.heel + way, gait.ball + way, fps=60.0, leg=1.0).any()


@pytest.mark.parametrize("noise", [0.0, 5 * MILLIMETRE])
def test_floor_of_a_gait_over_ground_rests(noise) -> None:
    for style in STYLES:
        assert not floor_of(make_gait(style, slide=0.05, noise=noise))[0].any(), style


@pytest.mark.parametrize("cycle", [8.0, 12.0])
def test_steps_as_slow_as_in_tai_chi_are_no_contacts(cycle) -> None:
    """Their feet are slower than those that creep as they land: the figure was held on its first two footprints."""
    slow = replace(STYLES["flat-footed walk"], cycle=cycle, stride=0.6, lift=0.08)
    gait = make_gait(slow, seconds=4.0 * cycle)
    stands = find_contacts(gait.heel, gait.ball, fps=gait.fps, leg=1.0, exact=False)
    assert gait.standing[stands].mean() > 0.9 and stands[gait.standing].all()


@pytest.mark.parametrize("slide", [0.28, 0.4])
@pytest.mark.parametrize("exact", [True, False])
def test_feet_that_slide_far_as_they_stand_keep_their_contacts(slide, exact) -> None:
    """They get as far as steps in slow motion do, but have no slower part: nothing was left of them."""
    gait = make_gait("dragged feet", slide=slide, seconds=12.0)
    stands = find_contacts(gait.heel, gait.ball, fps=gait.fps, leg=1.0, exact=exact)
    assert stands[gait.standing].mean() > 0.9


def test_foot_that_stays_is_one_contact() -> None:
    still = np.zeros((40, 1, 3))
    assert find_contacts(still, still, fps=30, leg=1.0).all()


@pytest.mark.parametrize("fps", RATES)
def test_ball_above_its_heel_does_not_stand_where_the_clip_is_cut_as_the_foot_strikes(fps) -> None:
    """As in a cycle from one contact pose to the next. The foot comes to rest on its heel before the toes come down: a
    ball that was slow on the last two frames stood, 0.1 leg over the floor, and its heel did not.
    """
    for frames in range(round(0.1 * fps)):
        time = (np.arange(fps) - fps + 1 + frames) / fps
        way, slap = 10.0 * np.clip(-time, 0.0, 0.3) ** 2, np.clip(time / 0.1, 0.0, 1.0)
        heel = np.zeros((fps, 2, 3))
        heel[:, 0, 0], heel[:, 0, 2] = -way, 0.3 * way
        ball = heel + [0.2, 0.0, 0.0]
        ball[:, 0, 2] += 0.1 * (1.0 - slap**2)
        for step in (1, -1):
            found = find_contacts(heel[::step], ball[::step], fps=fps, leg=1.0, exact=False)[::step]
            assert not found[ball[:, 0, 2] > 0.05, 0, 1].any()


def test_height_of_the_ball_joint_over_the_sole_does_not_take_a_contact_where_the_clip_is_cut() -> None:
    """A ball joint 0.1 leg over the sole, as of a cartoon's foot, counted as a ball that has not come down yet."""
    gait = make_gait("flat-footed walk")
    for first in range(40):
        heel, ball = (path[first : first + 30] for path in (gait.heel, gait.ball))
        low, high = (
            find_contacts(heel, ball + height * gait.leg * UP, fps=gait.fps, leg=gait.leg, exact=False).any(axis=-1)
            for height in (0.0, 0.1)
        )
        assert not (low & ~high).any()


def test_stool_counts_as_ground_while_a_figure_stands_on_it() -> None:
    time = np.arange(300) / 60
    up = np.clip((time - np.array([1.0, 2.0])[:, None]) / 0.5, 0.0, 1.0).T
    path = np.zeros((300, 2, 3))
    path[:, :, 2] = 0.4 * up * up * (3 - 2 * up) + 0.1 * np.sin(np.pi * up) ** 2
    path[:, :, 0] = 0.5 * up
    found = find_contacts(path, path, fps=60, leg=1.0).any(axis=-1)
    assert found[-100:].all()
    assert found[time < 0.95].all()


def test_short_touch_is_no_contact() -> None:
    path = np.zeros((60, 1, 3))
    path[:, 0, 0] = np.abs(np.arange(60) - 30) * 0.1
    assert not find_contacts(path, path, fps=30, leg=1.0).any()


def stop_for(stands: float, fps: float, late: float) -> np.ndarray:
    """Path of a point that stops for so long (s) and then goes on, with 20 leg lengths / s^2, seen from a part of a
    frame `late` on.
    """
    after = (np.arange(round(1.2 * fps)) + late) / fps - 0.6
    moving = np.maximum(np.abs(after) - 0.5 * stands, 0.0)
    way = np.where(moving < 0.075, 10.0 * moving**2, 1.5 * moving - 0.05625)
    return np.stack([np.sign(after) * way, 0.0 * way, 0.3 * np.minimum(way, 0.3)], axis=-1)[:, None]


@pytest.mark.parametrize(("stands", "lasts"), [(0.025, False), (0.045, True)])
def test_short_contact_counts_or_does_not_at_any_frame_rate(stands, lasts) -> None:
    for fps in (24, 30, 50, 60, 120):
        for late in (0.0, 0.25, 0.5, 0.75):
            ball = stop_for(stands, fps, late)
            found = find_contacts(ball - [0.2, 0.0, 0.0], ball, fps=fps, leg=1.0, exact=False)
            assert found.any() == lasts


def test_motion_is_not_taken_for_noise() -> None:
    for fps in (25, 30, 60, 120):
        time = np.arange(4 * fps) / fps
        path = 0.2 * np.sin(6.0 * time) + 0.05 * np.sin(14.0 * time + 1.0)
        path = path[:, None] * [0.6, 0.0, 0.8]
        assert noise_of(path) < 1e-3
        noisy = path + np.random.default_rng(1).normal(0.0, 0.004, path.shape)
        assert noise_of(noisy) == pytest.approx(0.004, rel=0.35)


def test_one_and_two_frames_are_taken() -> None:
    for count in (1, 2):
        still = np.zeros((count, 2, 3))
        assert find_contacts(still, still, fps=30, leg=1.0).all()


@pytest.mark.parametrize("shape", [(0, 2, 3), (5, 0, 3)])
def test_without_frames_or_legs_nothing_stands(shape) -> None:
    nothing = np.zeros(shape)
    assert find_contacts(nothing, nothing, fps=30, leg=1.0).shape == (*shape[:2], 2)


def force_plates(data):
    """Time, names and paths of markers (mm, walking over ground) of gait2354 by Delp, Thelen, Anderson, Seth and
    co-authors (CC BY 3.0), and when right and left foot stand on their plates.
    """
    lines = (data / "contacts" / "gait2354_walk1_markers.trc").read_text().splitlines()
    names = [name for name in lines[3].split("\t") if name][2:]
    rows = np.array(
        [[float(cell) for cell in line.split("\t")[: 2 + 3 * len(names)]] for line in lines[5:] if line.strip()]
    )
    time, markers = rows[:, 1], rows[:, 2:].reshape(len(rows), -1, 3)
    truth = np.zeros((len(time), 2), bool)
    with (data / "contacts" / "gait2354_walk1_contacts.csv").open() as file:
        for row in csv.DictReader(file):
            stands = (time >= float(row["contact_start_s"])) & (time <= float(row["contact_end_s"]))
            truth[:, "RL".index(row["foot"])] |= stands
    return time, names, markers, truth


@pytest.mark.parametrize(("toe", "least"), [("Toe.Tip", 0.98), ("Toe.Lat", 0.97), ("Toe.Med", 0.97)])
@pytest.mark.parametrize("treadmill", [False, True])
def test_contacts_agree_with_force_plates(data, toe, least, treadmill) -> None:
    time, names, markers, truth = force_plates(data)
    if not treadmill:
        markers = markers + time[:, None, None] * np.array([1115.0, 0.0, 0.0])
    heel, ball = (markers[:, [names.index(f"{side}.{part}") for side in "RL"]] for part in ("Heel", toe))
    for leg in (800.0, 850.0, 900.0, 950.0, 1000.0):
        found = find_contacts(heel, ball, fps=60.0, leg=leg, up=(0.0, 1.0, 0.0)).any(axis=-1)
        assert (found == truth).mean() >= least


def test_foot_that_rests_where_it_carried_the_figure_stands_though_the_other_is_lower() -> None:
    fps, time = 60.0, np.arange(360) / 60.0
    path = np.zeros((360, 2, 3))
    path[:, 1, 1] = 0.2
    # The right foot stands at 0.15 on its own, hops, and stands at 0.16 beside the left one, on its floor at last.
    path[:, 1, 2] = 0.15 + 0.3 * np.exp(-(((time - 2.5) / 0.25) ** 2)) + 0.01 * (time > 2.5)
    path[:, 0, 2] = np.interp(time, [0.0, 4.0, 4.3, 6.0], [0.9, 0.9, 0.0, 0.0]) + np.where(
        time < 4, 0.3 * np.sin(9 * time), 0
    )
    contacts = find_contacts(path, path + [0.15, 0.0, 0.0], fps=fps, leg=1.0)
    assert contacts[30:100, 1].all() and contacts[280:350, 1].all()
    assert contacts[280:350, 0].all() and not contacts[:230, 0].any()


@pytest.mark.parametrize("shape", [(40,), (40, 3), (40, 2, 2)])
def test_hysteresis_keeps_the_runs_that_are_entered(shape) -> None:
    random = np.random.default_rng(20261122)
    slow = random.random(shape) < 0.7
    still = slow & (random.random(shape) < 0.2)
    wanted = np.zeros_like(slow)
    for column in np.ndindex(*shape[1:]):
        for start, end in runs(slow[(slice(None), *column)]):
            wanted[(slice(start, end), *column)] = still[(slice(start, end), *column)].any()
    np.testing.assert_array_equal(hysteresis(slow, still), wanted)
