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


def test_lines_mark_what_is_not_good_and_list_it(results) -> None:
    from tests.bench_motion.__main__ import closing, heading, line

    good = replace(results[0], after=replace(results[0].after, foot_pop=0.01))
    bad = replace(results[0], ground="steps", after=replace(results[0].after, foot_pop=0.5))
    assert len(line(good)) == len(heading().splitlines()[0])
    assert "0.500!" in line(bad) and "0.010 " in line(good)
    lines = closing([good, replace(bad, reason="it hops")], ["x: refused"])
    assert "refused: x: refused" in lines
    assert "clips that must be good: 1 of 2 runs good" in lines
    assert f"  {PAB} on steps: foot pop 0.500" in lines
    assert f"  {PAB}: it hops" in lines and f"  {PAB}: it hops" not in closing([replace(good, reason="it hops")], [])


def test_clip_without_judged_spans_is_listed_as_not_judged(results) -> None:
    from tests.bench_motion.__main__ import closing, line

    unjudged = replace(results[0], after=replace(results[0].after, spans=0, drift=9.0))
    assert "9.0" not in line(unjudged)
    lines = closing([unjudged], [])
    assert f"not judged, no span in which a toe stands: {PAB}" in lines
    assert "clips that must be good: 0 of 0 runs good" in lines


def test_refused_clip_is_an_error_with_a_sentence(bpy, data) -> None:
    from tests.bench_motion.clips import GROUNDS, Entry
    from tests.bench_motion.runs import run

    with pytest.raises(RuntimeError, match="no foot bone hangs under"):
        list(run(bpy, Entry("gltf/greenman.glb"), GROUNDS, data))
