# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits on the motion of hips and knees over planted feet, for walks, runs and jumps.

The accelerations for hills and steps are those of a planting without feet that reach, whose hips follow a running
minimum of their ceiling, averaged over 0.45 s. The flexion is that of a planting in which heels rise and hips shift
besides.
"""

from __future__ import annotations

from tests.bench_motion.clips import MADE_HILLS
from tests.bench_motion.runs import Result

NAMES = ("hips_acceleration", "hips_rms", "flexion", "hips", "height")
# The largest values for walks, in the order of NAMES, by the beginning of the ground's name; lengths are shares of the
# leg. Offsets of hips and heights have a limit only on a flat floor, where a figure should not move.
AIMS = {
    f"hills-{MADE_HILLS}": (2.2, 0.8, 5.0),
    "steps": (3.5, 1.2, 10.0),
    "slope": (4.0, 1.5, 10.0),
    "flat": (1.0, 0.3, 2.0, 0.02, 0.004),
}
# The limits of each gait, as multiples of those of a walk. An uneven walk has no limits on the flat ground, which
# differs from its own floor.
ALLOWED = {"walk": 1.0, "uneven walk": 1.0, "run": 2.0, "jump": 2.0}


def aims(result: Result) -> dict[str, float]:
    """The largest values that are aimed at, by name. Dances have none."""
    if result.gait not in ALLOWED or (result.gait, result.ground) == ("uneven walk", "flat"):
        return {}
    wanted = next((row for ground, row in AIMS.items() if result.ground.startswith(ground)), ())
    return {name: ALLOWED[result.gait] * value for name, value in zip(NAMES, wanted, strict=False)}


def missed(result: Result) -> dict[str, float]:
    """The values of a run that exceed its aims, by name."""
    return {
        name: getattr(result.after, name) for name, aim in aims(result).items() if getattr(result.after, name) > aim
    }
