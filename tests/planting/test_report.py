# SPDX-License-Identifier: MIT
"""The report per foot and per contact: as data, as text, and as a plot."""

from __future__ import annotations

import builtins
import importlib
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from ik2bone.contacts.spans import Marks
from ik2bone.plan import Settings, plant
from ik2bone.report import figures, foot_names, summary, table, text
from ik2bone.report.measures import VISIBLE
from ik2bone.rotations import move_points
from walk import HILLS, make_walk, planted

START = 101


@pytest.fixture(scope="module")
def walked():
    """A walk on hills whose hips may not move, so that feet stay short and knees pop, and its report."""
    clip = make_walk(slide=0.04).clip
    plan = plant(clip, HILLS, Settings(use_hips=False))
    after = planted(clip, plan)
    return clip, after, plan, figures(clip, after, plan, HILLS, frames=range(START, START + clip.frames))


@pytest.fixture
def report(walked):
    """A copy of its own, as it comes back from where it is stored, with names of bones and surfaces."""
    told = json.loads(json.dumps(walked[3]))
    for foot, name in zip(told["feet"], ("foot.L", "foot.R"), strict=True):
        foot["bone"] = name
    for span in told["spans"]:
        span["support"] = "Hills"
    return told


@pytest.mark.parametrize("side", ["before", "after"])
def test_feet_tell_the_worst_of_their_contacts_and_all_the_worst_of_the_feet(walked, side) -> None:
    report = walked[3]
    for name in ("drift", "penetration", "float"):
        for leg, foot in enumerate(report[side]["feet"]):
            assert foot[name] == max(span[side][name] for span in report["spans"] if span["leg"] == leg)
        assert report[side][name] == max(foot[name] for foot in report[side]["feet"])


@pytest.mark.parametrize("side", [0, 1])
def test_contacts_tell_how_deep_and_how_high_they_are(walked, side) -> None:
    clip, plan, report = walked[side], walked[2], walked[3]
    heel, ball = move_points(clip.foot, plan.sole.heel), move_points(clip.foot, plan.sole.ball)
    for span in report["spans"]:
        leg, rows = span["leg"], slice(span["start"] - START, span["end"] - START + 1)
        own = span[("before", "after")[side]]
        deep = max(0.0, *(-_height(points[rows, leg]).min() for points in (heel, ball)))
        stands = heel[rows, leg] if span["part"] == "heel" else clip.ball[rows, leg]
        less = 0.0 if span["part"] == "heel" else plan.sole.ball_height[leg]
        assert own["penetration"] == pytest.approx(deep, abs=1e-12)
        assert own["float"] == pytest.approx(max(0.0, _height(stands).max() - less), abs=1e-12)


def _height(points):
    hits, normals, _ = HILLS(points, np.array([0.0, 0.0, -1.0]))
    return np.sum((points - hits) * normals, axis=-1)


def test_feet_tell_when_they_are_out_of_reach(walked) -> None:
    clip, plan, report = walked[0], walked[2], walked[3]
    for leg, foot in enumerate(report["after"]["feet"]):
        rows = np.zeros(clip.frames, bool)
        for event in foot["short_at"]:
            at = slice(event["start"] - START, event["end"] - START + 1)
            rows[at] = True
            assert event["worst"] == pytest.approx(plan.miss[at, leg].max(), rel=1e-6)
        assert (rows == (plan.miss[:, leg] > 1e-4 * clip.leg)).all()
        assert foot["short_frames"] == rows.sum() > 0
    assert report["before"]["feet"][0]["short_at"] == []


def test_a_knee_that_pops_is_told_on_the_frames_round_the_pop(walked) -> None:
    clip, after, plan, _ = walked
    frame, step = 50, round(clip.fps / 30)
    knee = after.knee.copy()
    knee[frame] += 0.1 * clip.leg * np.array([1.0, 0.0, 0.0])
    popped = figures(clip, _with_knee(after, knee), plan, HILLS)["after"]["feet"][0]["knee_pop_at"]
    frames = {at for event in popped for at in range(event["start"], event["end"] + 1)}
    calm = {
        at for event in walked[3]["after"]["feet"][0]["knee_pop_at"] for at in range(event["start"], event["end"] + 1)
    }
    assert frame in frames and frames - {at - START for at in calm} <= {frame - step, frame, frame + step}


def test_worst_frames_are_those_of_the_largest_figures(walked) -> None:
    clip, after, plan, report = walked
    worst = report["worst"]
    assert worst["short"] - START == plan.miss.max(axis=1).argmax()
    drifts = [span for span in report["spans"] if span["after"]["drift"] == report["after"]["drift"]]
    assert any(span["start"] <= worst["drift"] <= span["end"] for span in drifts)
    frame = 50
    knee = after.knee.copy()
    knee[frame] += 0.3 * clip.leg * np.array([1.0, 0.0, 0.0])
    popped = figures(clip, _with_knee(after, knee), plan, HILLS)["worst"]["knee_pop"]
    assert abs(popped - frame) <= round(clip.fps / 30)


def _with_knee(clip, knee):
    shin = clip.shin.copy()
    shin[..., :3, 3] = knee
    return replace(clip, shin=shin)


def test_text_tells_of_all_of_every_foot_and_of_every_contact(report) -> None:
    lines = text(report | {"told": ["the sole is a guess"]}).splitlines()
    assert sum(line.startswith("drift ") for line in lines) == 3
    assert sum(line.startswith("hips, offset") for line in lines) == 1
    rows = [line.split() for line in lines if line.endswith("automatic, Hills")]
    assert len(rows) == len(report["spans"])
    span = min(report["spans"], key=lambda span: (span["leg"], span["start"], span["part"]))
    assert rows[0][:5] == ["foot.L", span["part"], str(span["start"]), "to", str(span["end"])]
    assert float(rows[0][5]) == pytest.approx(span["before"]["drift"], rel=1e-3, abs=1e-6)
    assert float(rows[0][8]) == pytest.approx(span["after"]["penetration"], rel=1e-3, abs=1e-6)
    assert lines[-1] == "the sole is a guess"
    assert any(line.startswith("Lengths are in the units of the clip, ") for line in lines)


@pytest.mark.parametrize(("drift", "shown"), [(0.5e-6, "0"), (-0.5e-6, "0"), (2e-6, "2e-06")])
def test_tables_show_lengths_that_are_rounding_alone_as_none(report, drift, shown) -> None:
    leg = 100.0
    sides = {side: report[side] | {"drift": drift * leg, "knee_pop": 0.5e-6} for side in ("before", "after")}
    lines = table(report | sides | {"leg": leg}).splitlines()
    assert lines[1].split() == ["drift", *[f"{float(shown) * leg:g}"] * 2]
    assert lines[6].split() == ["knee", "pop,", "degrees", "5e-07", "5e-07"]


def test_plot_does_not_enlarge_a_drift_that_nobody_sees(report) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; pip install .[plot]")
    from ik2bone.report.plot import plot

    for span in report["spans"]:
        span["drift"] = span["before"]["drift"] = span["after"]["drift"] = 1e-9
    assert [axes.get_ylim()[1] for axes in plot(report).axes[1::3]] == [VISIBLE * report["leg"]] * 2


def test_summary_counts_how_often_feet_stand_whatever_part_or_mark_holds_them() -> None:
    clip = make_walk(3.0, roll=0.4).clip
    plan = plant(clip, HILLS)
    pinned, nothing = np.zeros_like(plan.contacts), np.zeros_like(plan.contacts)
    first = int(np.flatnonzero(plan.contacts[:, 1].all(axis=-1))[0])
    pinned[first + 2 : first + 4, 1, 1] = True
    lifted = np.broadcast_to([False, True], pinned.shape)
    for marks in (None, Marks(nothing, pinned, nothing), Marks(nothing, nothing, lifted)):
        plan = plant(clip, HILLS, Settings(marks=marks))
        assert summary(plan.report()).startswith(f"Planted 2 feet, {len(plan.anchors)} contacts: ")


def test_limbs_without_bones_are_numbered(walked) -> None:
    assert foot_names(walked[3]) == ["foot 1", "foot 2"]


def test_plot_shows_contacts_figures_and_trouble_of_every_foot(report, tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; pip install .[plot]")
    from ik2bone.report.plot import EVENT_COLOURS, SIDE_COLOURS, STATE_COLOURS, plot

    report["spans"][0]["state"] = "enforced"
    figure = plot(report)
    contacts, drift, heights = (figure.axes[row::3] for row in range(3))
    assert [axes.get_title(loc="left") for axes in contacts] == ["foot.L", "foot.R"]
    spans = report["spans"]
    drawn = [_bars(axes, *STATE_COLOURS.values()) for axes in contacts]
    wanted = [[(s["start"] - 0.5, s["end"] + 0.5) for s in spans if s["leg"] == leg] for leg in range(2)]
    assert [sorted((left, right) for left, right, *_ in bars) for bars in drawn] == [sorted(row) for row in wanted]
    assert len(_bars(contacts[spans[0]["leg"]], STATE_COLOURS["enforced"])) == 1
    for leg, foot in enumerate(report["after"]["feet"]):
        assert len(_bars(contacts[leg], EVENT_COLOURS["short"])) == len(foot["short_at"])
    worst = max(high for axes in drift for *_, high in _bars(axes, SIDE_COLOURS["after"]))
    assert worst == pytest.approx(report["after"]["drift"])
    deepest = min(low for axes in heights for *_, low, _high in _bars(axes, SIDE_COLOURS["before"]))
    assert deepest == pytest.approx(-report["before"]["penetration"])
    figure.savefig(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 10_000
    assert figure._repr_png_().startswith(b"\x89PNG")


def _bars(axes, *colours):
    """Left, right, bottom and top of bars that are filled with one of some colours."""
    from matplotlib.colors import to_hex

    boxes = [
        path.get_extents()
        for bars in axes.collections
        if len(bars.get_facecolor()) and to_hex(bars.get_facecolor()[0]) in colours
        for path in bars.get_paths()
    ]
    return [(box.x0, box.x1, box.y0, box.y1) for box in boxes]


def test_plot_of_a_report_without_contacts_or_held_spots_says_so(report) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; pip install .[plot]")
    from ik2bone.report.plot import plot

    report["spans"] = [span for span in report["spans"] if span["leg"] == 1]
    for span in report["spans"]:
        span["drift"] = span["before"]["drift"] = span["after"]["drift"] = None
    written = [words.get_text() for axes in plot(report).axes for words in axes.texts]
    assert "no contacts" in written and "no anchor is held" in written


def test_missing_matplotlib_gets_one_sentence(monkeypatch) -> None:
    import_module = builtins.__import__

    def refuse(name, *arguments):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return import_module(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.delitem(sys.modules, "ik2bone.report.plot", raising=False)
    with pytest.raises(ImportError, match=r"plotted by matplotlib, which is missing: pip install matplotlib"):
        importlib.import_module("ik2bone.report.plot")
