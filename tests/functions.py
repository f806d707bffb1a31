# SPDX-License-Identifier: MIT
"""The arguments and results of the seven functions, as in the contract, for tests that go through all arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import ik2bone

NUMBER, POINT, QUATERNION, MATRIX = (), (3,), (4,), (4, 4)
JOINTS = 3
PARENTS = (-1, 0, 1)
SOLVE_OPTIONS = dict(
    pole=POINT,
    pole_weight=NUMBER,
    twist=NUMBER,
    hinge=POINT,
    soften=NUMBER,
    weight=NUMBER,
    min_angle=NUMBER,
    max_angle=NUMBER,
    cone_axis=POINT,
    cone_angle=NUMBER,
)
SCALES = dict(root_scale=POINT, mid_scale=POINT)
POSE = dict(root_matrix=MATRIX, mid_matrix=MATRIX, end=POINT)


@dataclass(frozen=True)
class Function:
    """The shapes of one row of a function's numeric arguments and outputs. Outputs are floats; `status` is uint8."""

    name: str
    positional: dict[str, tuple[int, ...]]
    options: dict[str, tuple[int, ...]]
    outputs: dict[str, tuple[int, ...]]
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    before: tuple[Any, ...] = ()  # the arguments before the arrays: the parents of aggregate

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        return self.positional | self.options

    def takes_none(self, name: str) -> bool:
        """Whether None for this argument means that it is not given, as for all options but numbers."""
        return name == "scale" or (name in self.options and self.options[name] != NUMBER)

    def __call__(self, arguments: dict[str, Any], *, out: Any = None) -> Any:
        """Call the function with its positional arguments by position, up to a missing one, and the rest by name."""
        names = list(takewhile(arguments.__contains__, self.positional))
        rest = {name: value for name, value in arguments.items() if name not in names}
        return getattr(ik2bone, self.name)(*self.before, *(arguments[n] for n in names), out=out, **rest)


def of_joints(*, joints: int = JOINTS, **rows: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {name: (joints, *row) for name, row in rows.items()}


def functions(joints: int = JOINTS) -> dict[str, Function]:
    """All seven functions by name, with this number of joints for `aggregate`."""
    points = dict(root=POINT, mid=POINT, end=POINT)
    bend, roll = dict(bend=("carried", "nearest")), dict(roll=("pose", "hinge"))
    solved = dict(miss=NUMBER, status=NUMBER)
    return {
        function.name: function
        for function in (
            Function("solve", points | dict(target=POINT), SOLVE_OPTIONS, dict(mid=POINT, end=POINT) | solved, bend),
            Function(
                "orient",
                POSE | dict(new_mid=POINT, new_end=POINT),
                dict(hinge=POINT) | SCALES,
                dict(root=QUATERNION, mid=QUATERNION),
                roll,
            ),
            Function(
                "solve_pose",
                POSE | dict(target=POINT),
                SOLVE_OPTIONS | SCALES | dict(end_matrix=MATRIX, end_goal=MATRIX),
                dict(root=QUATERNION, mid=QUATERNION, end=QUATERNION, position=POINT) | solved,
                bend | roll,
            ),
            Function("pole_of", points, dict(hinge=POINT), dict(pole=POINT)),
            Function("hinge_of", POSE, {}, dict(hinge=POINT)),
            Function("multiply", dict(q=QUATERNION, r=QUATERNION), {}, dict(product=QUATERNION)),
            Function(
                "aggregate",
                of_joints(joints=joints, translation=POINT, rotation=QUATERNION, scale=POINT),
                of_joints(joints=joints, rest=MATRIX) | dict(base=MATRIX),
                of_joints(joints=joints, matrices=MATRIX),
                before=(PARENTS,),
            ),
        )
    }


FUNCTIONS = functions()
