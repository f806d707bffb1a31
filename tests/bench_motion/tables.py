# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of the runs, one of the feet and one of the body, and their summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.bench_motion.aims import ALLOWED, aims, missed
from tests.bench_motion.runs import Result
from tests.measures import GOOD, shortfalls

# The heading and number format of each column. Measures in BOTH are shown before and after planting.
FEET = {
    "drift": ("drift", ".4f"),
    "clearance": ("clearance", ".4f"),
    "slope": ("slope", ".1f"),
    "toe_under": ("toe under", ".3f"),
    "heel_under": ("heel under", ".3f"),
    "knee_pop": ("knee pop", ".1f"),
    "foot_pop": ("foot pop", ".3f"),
    "heading": ("heading", ".1f"),
    "knee_side": ("knee side", ".1f"),
}
BODY = {
    "hips_acceleration": ("pelvis", ".2f"),
    "hips_rms": ("rms", ".2f"),
    "hips": ("hips", ".3f"),
    "flexion": ("flexion", ".1f"),
    "flexion_high": ("flexion 95", ".1f"),
    "height": ("height", ".4f"),
    "reversals": ("reversals", "d"),
    "seam": ("seam", ".4f"),
    "plan_seconds": ("plan, s", ".2f"),
    "seconds": ("all, s", ".2f"),
}
COLUMNS = FEET | BODY
BOTH = ("drift", "clearance", "slope", "toe_under", "heel_under")
POPS = ("knee_pop", "foot_pop")
SPANLESS = ("drift", "clearance", "slope", "heading", "height")

Columns = Mapping[str, tuple[str, str]]


def heading(columns: Columns) -> str:
    """The names of the columns, and below them the limits of good values."""
    titles = [f"{title:>{_width(name)}}" for name, (title, _) in columns.items()]
    good = [f"{'<= ' + format(GOOD[name], 'g') if name in GOOD else '':>{_width(name)}}" for name in columns]
    return f"{'clip':34}{'ground':13}{'spans':>6}{''.join(titles)}\n{'good':53}{''.join(good)}"


def _width(name: str) -> int:
    return 18 if name in BOTH else 11


def line(result: Result, columns: Columns) -> str:
    """The line of one run: values before and after planting, or only after, with a mark on those that miss a limit."""
    bad = shortfalls(result.after) | missed(result)
    cells = [f"{_cell(result, name, '!' if name in bad else ' '):>{_width(name)}}" for name in columns]
    return f"{result.clip:34}{result.ground:13}{result.after.spans:6}{''.join(cells)}"


def _cell(result: Result, name: str, mark: str) -> str:
    if not _tells(result, name):
        return "- "
    form = COLUMNS[name][1]
    text = format(value_of(result, name), form) + mark
    return f"{format(getattr(result.before, name), form)} {text:>7}" if name in BOTH else text


def _tells(result: Result, name: str) -> bool:
    """Whether a column is meaningful for a run. Some need judged spans, and heights the clip's own flat floor."""
    return not (name in SPANLESS and not result.after.spans) and (name != "height" or result.ground == "flat")


def value_of(result: Result, name: str) -> float:
    """The value of a column: a measure after planting, or a value of the run itself."""
    value = getattr(result.after if hasattr(result.after, name) else result, name)
    # If the source pops more than the result, there is no pop.
    return max(value, 0.0) if name in POPS else value


def closing(results: Sequence[Result], refused: Sequence[str]) -> Iterator[str]:
    """The refused clips, the runs that are not good, and those that miss their aims."""
    yield from ("", *(f"refused: {sentence}" for sentence in refused))
    for title, chosen in _groups(results).items():
        yield from _tally(title, "good", [(result, shortfalls(result.after)) for result in chosen])
        reasons = {result.clip: result.reason for result in chosen if result.reason and shortfalls(result.after)}
        yield from (f"  {clip}: {reason}" for clip, reason in reasons.items())
    for gait in ALLOWED:
        chosen = [result for result in results if result.gait == gait and aims(result)]
        found = [(result, missed(result)) for result in chosen]
        yield from _tally(f"{gait}s", "as calm and upright as aimed at", found) if found else ()


def _groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    judged = [result for result in results if result.after.spans]
    return {
        "clips that must be good": [result for result in judged if result.must],
        "other clips": [result for result in judged if not result.must],
        "without a span in which a toe stands": [result for result in results if not result.after.spans],
    }


def _tally(title: str, praise: str, found: Sequence[tuple[Result, dict[str, float]]]) -> Iterator[str]:
    """The number of runs without values beyond limits, and these values of the other runs."""
    yield f"{title}: {sum(not short for _, short in found)} of {len(found)} runs {praise}"
    for result, short in found:
        listed = [f"{COLUMNS[name][0]} {format(value, COLUMNS[name][1])}" for name, value in short.items()]
        if listed:
            yield f"  {result.clip} on {result.ground}: {', '.join(listed)}"


def side_by_side(then: Sequence[Result], now: Sequence[Result]) -> Iterator[str]:
    """The mean and worst value of each column over the runs in both results, and the runs that are good in only one."""
    new = {(result.clip, result.ground): result for result in now}
    pairs = [(old, new[old.clip, old.ground]) for old in then if (old.clip, old.ground) in new]
    titles = f"{'mean then':>12}{'now':>10}{'worst then':>12}{'now':>10}   got worse most"
    yield f"\n{f'{len(pairs)} runs of both':17}{titles}"
    for name in COLUMNS:
        telling = [pair for pair in pairs if _tells(pair[1], name)]
        if telling:
            yield _change(name, telling)
    for title, good, bad in (("good then, not now", 0, 1), ("good now, not then", 1, 0)):
        runs = [pair[bad] for pair in pairs if shortfalls(pair[bad].after) and not shortfalls(pair[good].after)]
        yield f"{title}: {', '.join(f'{run.clip} on {run.ground}' for run in runs) or 'none'}"


def _change(name: str, pairs: Sequence[tuple[Result, Result]]) -> str:
    """The line of one column: means and worst values of the runs then and now, and the run that got worse most."""
    then, now = ([value_of(pair[side], name) for pair in pairs] for side in (0, 1))
    numbers = (sum(then) / len(then), sum(now) / len(now), max(then), max(now))
    cells = "".join(f"{number:>{width}.4g}" for number, width in zip(numbers, (12, 10, 12, 10), strict=True))
    worse, run = max(
        ((b - a, pair[1]) for a, b, pair in zip(then, now, pairs, strict=True)), key=lambda found: found[0]
    )
    return f"{COLUMNS[name][0]:17}{cells}" + (f"   {run.clip} on {run.ground}, by {worse:.3g}" if worse > 0 else "")
