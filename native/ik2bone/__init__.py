# SPDX-License-Identifier: MIT
"""Plants the feet of animated figures on uneven ground, and solves two-bone inverse kinematics of whole animations.

Plant feet, from joint positions (frames, legs, 3), on a ground whose heights are a function of x and y:

    clip = ik2bone.Clip.from_points(fps, hip, knee, ankle, ball)
    plan = ik2bone.plant(clip, lambda xy: 0.1 * numpy.sin(xy[:, 0]))
    planted = plan.apply(clip)  # planted.knee, planted.ankle, ...
    print(ik2bone.report.text(plan.report()))

`Clip(fps, thigh, shin, foot, ...)` takes world transforms instead of points; `plan.rotations` are then the corrections
of its joints. `plant(clip, ground, settings, previous=plan)` computes again only what depends on changed settings.
`find_contacts` finds when feet stand. See also help(ik2bone.plant), help(ik2bone.Clip) and help(ik2bone.Settings).

Bring limbs to targets: `solve` computes positions, `orient` turns positions into rotations, `solve_pose` does both.
`aggregate`, `pole_of`, `hinge_of` and `multiply` are their helpers. The help of each function explains its options.

Points and directions are (..., 3), matrices (..., 4, 4) with column vectors, quaternions (..., 4) as w, x, y, z, angles
radians, lengths in any one unit. Leading dimensions broadcast, options included. A correction is multiplied on the
right of a joint's present local rotation. A hinge is cross(root - mid, end - mid) of a limb bent to its natural side.

Besides these names, the modules `contacts.spans`, `ground.query`, `sole.skin`, `report` and `report.plot` are for use.
All other modules are internal.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ik2bone._core import aggregate, hinge_of, multiply, orient, pole_of, solve, solve_pose
from ik2bone.results import Crossings, Hits, PoseSolution, Rotations, Solution, Status

if TYPE_CHECKING:
    from ik2bone import report
    from ik2bone.clip import Clip
    from ik2bone.contacts.detect import find_contacts
    from ik2bone.ground.query import NoGround
    from ik2bone.mesh import Mesh
    from ik2bone.model import Plan
    from ik2bone.notes import Note
    from ik2bone.plan import plant
    from ik2bone.settings import Settings

__version__ = "0.1.0"
__all__ = [
    "Clip",
    "Crossings",
    "Hits",
    "Mesh",
    "NoGround",
    "Note",
    "Plan",
    "PoseSolution",
    "Rotations",
    "Settings",
    "Solution",
    "Status",
    "aggregate",
    "find_contacts",
    "hinge_of",
    "multiply",
    "orient",
    "plant",
    "pole_of",
    "report",
    "solve",
    "solve_pose",
]

# The module of each name of planting. Planting needs numpy and the solver does not, so these are imported on first use.
_LAZY = {
    "Clip": "clip",
    "Mesh": "mesh",
    "NoGround": "ground.query",
    "Note": "notes",
    "Plan": "model",
    "Settings": "settings",
    "find_contacts": "contacts.detect",
    "plant": "plan",
    "report": "",
}


def __dir__() -> list[str]:
    """All names, loaded or not."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Import a name of planting when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module 'ik2bone' has no attribute '{name}'")
    home = import_module(f"ik2bone.{_LAZY[name] or name}")
    return getattr(home, name) if _LAZY[name] else home
