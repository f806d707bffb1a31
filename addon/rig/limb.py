# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs, told by the names of their bones, and the controls that take the keys where constraints move these bones.

`controls_find` explains the constraints. A limb whose constraints it does not explain has no controls, and is refused
where they are checked.
"""

from dataclasses import dataclass
from typing import NamedTuple


class Switch(NamedTuple):
    """A constraint, by its bone and name, whose influence decides whether keys of a control show.

    They do so where it has influence (`on`), or where it has not its whole influence.
    """

    bone: str
    constraint: str
    on: bool


@dataclass(frozen=True)
class Control:
    """A bone that takes keys for a part of a limb: thigh, shin, foot, toe, the ankle alone, or the knee.

    For the knee it is the target of the pole, or a bone from whose rotation inverse kinematics starts. `moves` and
    `turns` tell whether location and rotation are keyed, `goal` names the bone to whose head the ankle is drawn.
    """

    bone: str
    part: str
    moves: bool = False
    turns: bool = True
    goal: str | None = None
    switch: Switch | None = None


@dataclass(frozen=True)
class Limb:
    """Bone names of a limb, by what they are in a leg; its joints are their heads.

    `toe` is None where no bone hangs under the foot. Of any other limb, such as an arm, they are those of its upper
    bone, its lower bone and its end: `is_leg` is false. Further bones may lie between them, which follow the one above.
    A `loose` foot does not hang under its shin and is moved beside it, as in clips whose inverse kinematics were baked.
    A leg without a foot bone has its shin for a foot, and stands on the point `end` in the space of that. Where
    constraints move the bones, `controls` take the keys.
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
        """The names from the thigh down, without what is missing."""
        return self.turned + ((self.toe,) if self.toe else ())
