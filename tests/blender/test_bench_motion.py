# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of real clips on real grounds: what a run tells, and what the lines say of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

PAB = "ozz_pab_walk"


@pytest.fixture
def results(bpy, data):
    from tests.bench_motion.clips import CLIPS, Place
    from tests.bench_motion.runs import run

    entry = next(entry for entry in CLIPS if entry.name == PAB)
    return list(run(bpy, entry, [Place("flat"), Place("hills", 1, 0.2)], data))


def test_run_judges_the_same_source_on_each_ground(results) -> None:
    flat, hills = results
    assert (flat.ground, hills.ground) == ("flat", "hills-0.2-1")
    assert flat.before.spans == hills.after.spans > 0
    assert flat.before.drift == hills.before.drift > hills.after.drift
    assert hills.before.clearance > flat.before.clearance
    assert flat.before.slope < 0.1 < hills.before.slope


def test_run_tells_the_seconds_of_the_plan_within_those_of_the_operator(results) -> None:
    for result in results:
        assert 0.0 < result.plan_seconds < result.seconds


def with_after(result, **values):
    return replace(result, after=replace(result.after, **values))


def test_lines_mark_what_is_not_good_and_list_it(results) -> None:
    from tests.bench_motion.tables import FEET, closing, heading, line

    good = with_after(results[0], foot_pop=0.01)
    bad = replace(with_after(results[0], foot_pop=0.5), ground="steps", reason="it hops")
    assert len(line(good, FEET)) == len(heading(FEET).splitlines()[0])
    assert "0.500!" in line(bad, FEET) and "0.010 " in line(good, FEET)
    lines = list(closing([good, bad], ["x: refused"]))
    assert "refused: x: refused" in lines
    assert "clips that must be good: 1 of 2 runs good" in lines
    assert f"  {PAB} on steps: foot pop 0.500" in lines
    assert f"  {PAB}: it hops" in lines and f"  {PAB}: it hops" not in closing([replace(good, reason="it hops")], [])


def test_lines_mark_bodies_that_are_less_calm_than_aimed_at(results) -> None:
    from tests.bench_motion.tables import BODY, closing, heading, line

    calm = with_after(results[0], hips_acceleration=0.9, hips_rms=0.2, flexion=1.0, hips=0.01, height=0.001)
    walk, run = (replace(with_after(calm, flexion=3.0), gait=gait) for gait in ("walk", "run"))
    assert len(line(calm, BODY)) == len(heading(BODY).splitlines()[0])
    assert "3.0!" in line(walk, BODY) and "3.0 " in line(run, BODY) and "!" not in line(calm, BODY)
    lines = list(closing([calm, walk, run], []))
    assert "walks: 1 of 2 runs as calm and upright as aimed at" in lines
    assert "runs: 1 of 1 runs as calm and upright as aimed at" in lines
    assert f"  {PAB} on flat: flexion 3.0" in lines


def test_height_is_shown_on_flat_ground_alone(results) -> None:
    from tests.bench_motion.tables import BODY, line

    flat, hills = (line(with_after(result, height=0.0123), BODY) for result in results)
    assert "0.0123" in flat and "0.0123" not in hills


def test_clip_without_judged_spans_is_listed_apart(results) -> None:
    from tests.bench_motion.tables import FEET, closing, line

    unjudged = with_after(results[0], spans=0, drift=9.0)
    assert "9.0" not in line(unjudged, FEET)
    lines = list(closing([with_after(unjudged, drift=0.0)], []))
    assert "clips that must be good: 0 of 0 runs good" in lines
    assert "without a span in which a toe stands: 1 of 1 runs good" in lines


def test_kept_results_stand_beside_those_of_now(results, tmp_path) -> None:
    from tests.bench_motion.__main__ import keep, read
    from tests.bench_motion.tables import side_by_side

    keep(results, tmp_path / "then.json")
    then = read(tmp_path / "then.json")
    assert then == results
    lines = list(side_by_side(then, [with_after(results[0], foot_pop=0.5), results[1]]))
    assert "2 runs of both" in lines[0]
    worse = f"{PAB} on flat, by {0.5 - results[0].after.foot_pop:.3g}"
    assert any(text.startswith("foot pop") and text.endswith(worse) for text in lines), lines
    assert f"good then, not now: {PAB} on flat" in lines and "good now, not then: none" in lines


def test_refused_clip_is_an_error_with_a_sentence(bpy, data) -> None:
    from tests.bench_motion.clips import GROUNDS, Entry
    from tests.bench_motion.runs import run

    with pytest.raises(RuntimeError, match="plays no action"):
        list(run(bpy, Entry("fbx/ozz_pab_arnaud_mesh.fbx"), GROUNDS, data))
