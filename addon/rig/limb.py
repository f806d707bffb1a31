# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs by the names of their bones, and the controls that take the keys where constraints move these bones.

`controls_find` finds the controls of the constraints that it knows. A limb with other constraints has no controls, and
`checks` refuses it.
"""

from dataclasses import dataclass
from typing import NamedTuple


class Switch(NamedTuple):
    """A constraint, by its bone and name, whose influence decides whether the keys of a control show.

    The keys show on frames on which the constraint has influence (`on`), or has not its whole influence (not `on`).
    """

    bone: str
    constraint: str
    on: bool


@dataclass(frozen=True)
class Control:
    """A bone that takes keys for a `part` of a limb: thigh, shin, foot, toe, the ankle alone, or the knee.

    The control of a knee is the pole target, or a bone from whose rotation inverse kinematics starts. `moves` and
    `turns` say whether location and rotation are keyed. `goal` is the bone to whose head the ankle is drawn.
    """

    bone: str
    part: str
    moves: bool = False
    turns: bool = True
    goal: str | None = None
    switch: Switch | None = None


@dataclass(frozen=True)
class Limb:
    """The names of a limb's bones, whose heads are its joints.

    If `is_leg` is False, as for an arm, thigh, shin and foot are the upper bone, the lower bone and the end. `toe` is
    None if no bone hangs under the foot. Further bones between these follow the bone above. A `loose` foot does not
    hang under its shin and is moved beside it, as in clips with baked inverse kinematics. In a leg without a foot bone,
    `foot` is the shin, and the leg stands on the point `end` in the space of the shin. Where constraints move the
    bones, `controls` take the keys.
    """

    thigh: str
    shin: str
    foot: str
    toe: str | None
    is_leg: bool = True
    loose: bool = False
    end: tuple[float, ...] | None = None
    controls: tuple[Control, ...] = ()

    @property
    def turned(self) -> tuple[str, ...]:
        """The names of thigh, shin and foot, if there is one."""
        return tuple(dict.fromkeys((self.thigh, self.shin, self.foot)))

    @property
    def bones(self) -> tuple[str, ...]:
        """The names of thigh, shin, foot and toe, without those of missing bones."""
        return self.turned + ((self.toe,) if self.toe else ())
