# SPDX-License-Identifier: GPL-3.0-or-later
"""How calm and upright the body stays over planted feet: what walks, runs and jumps are to keep to.

A planting without feet that reach, a running minimum of the hips' ceiling averaged over 0.45 s, has the accelerations
of the hills and steps; the flexion is that of heels which rise and hips which shift besides.
"""

from __future__ import annotations

from tests.bench_motion.clips import MADE_HILLS
from tests.bench_motion.runs import Result

NAMES = ("hips_acceleration", "hips_rms", "flexion", "hips", "height")
# Largest values for walks by the beginning of the ground's name, in the order of the names; lengths are shares of the
# leg. Only on its own flat floor a figure is to stay where it is.
AIMS = {
    f"hills-{MADE_HILLS}": (2.2, 0.8, 5.0),
    "steps": (3.5, 1.2, 10.0),
    "slope": (4.0, 1.5, 10.0),
    "flat": (1.0, 0.3, 2.0, 0.02, 0.004),
}
# How many times those of a walk each gait may have. The floor of an uneven walk is none of these grounds.
ALLOWED = {"walk": 1.0, "uneven walk": 1.0, "run": 2.0, "jump": 2.0}


def aims(result: Result) -> dict[str, float]:
    """The largest values that are aimed at, by name; none for dances."""
    if result.gait not in ALLOWED or (result.gait, result.ground) == ("uneven walk", "flat"):
        return {}
    wanted = next((row for ground, row in AIMS.items() if result.ground.startswith(ground)), ())
    return {name: ALLOWED[result.gait] * value for name, value in zip(NAMES, wanted, strict=False)}


def missed(result: Result) -> dict[str, float]:
    """The values of a run that are larger than aimed at, by name."""
    return {
        name: getattr(result.after, name) for name, aim in aims(result).items() if getattr(result.after, name) > aim
    }
