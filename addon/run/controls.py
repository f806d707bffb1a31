# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that are planted by their controls: the channels of controls, and sentences about them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ik2bone.arrays import Array, Mask
from ik2bone.clip import Clip
from ik2bone.plan import Plan

from ..errors import Hint, listed
from ..keys import channels as keys
from ..keys import rotations
from ..keys.actions import Curves
from ..keys.channels import Channel
from ..progress import Stages
from ..rig.controls_aim import RIGHT, Aim, misses, stretch
from ..rig.limb import Limb
from .output import Output
from .records import Record
from .task import Task


def steer(output: Output, plan: Plan, offset: Array | None, channels: list[Channel]) -> Stages[list[Channel]]:
    """The channels with corrections of controls, which bring the limbs' bones to their planned places.

    The pose is then evaluated once with these, and the remaining errors are corrected.
    """
    task, seen = output.task, output.before
    goal, moves = wanted(task, seen.clip, plan, offset), _moves(task, plan, offset)
    for again in (False, True) if moves.any() else ():
        if again:
            seen = yield from output.trial(channels)
        aims = [
            Aim(task.armature, limb, number, seen.cut(task.part), goal, moves[:, number], task.body.hips, again)
            for number, limb in enumerate(task.body.planned)
            if limb in task.controlled
        ]
        channels = _aimed(task, aims, channels, output.target.curves)
    return channels


def wanted(task: Task, clip: Clip, plan: Plan, offset: Array | None) -> Clip:
    """The planned limbs on the frames of the task. `offset` (F, L, 3) is the way of hips from those of the clip."""
    planted = plan.apply(clip)
    return (planted if offset is None else planted.moved(offset)).cut(task.part)


def _moves(task: Task, plan: Plan, offset: Array | None) -> Mask:
    """Whether each planned limb is corrected on each frame of the task (F, L)."""
    turns = (plan.rotations != [1.0, 0.0, 0.0, 0.0]).any(axis=(2, 3))
    moved = plan.hips_offset.any(axis=-1)[:, None] | (False if offset is None else offset.any(axis=-1))
    return (turns | moved)[task.part]


def _aimed(task: Task, aims: Iterable[Aim], channels: list[Channel], curves: Curves) -> list[Channel]:
    """The channels with the corrections of all controls."""
    found = {channel.path: channel for channel in channels}
    for control, turns, shift in chain.from_iterable(aim.corrections() for aim in aims):
        bone = task.armature.pose.bones[control.bone]
        if control.moves:
            path = bone.path_from_id("location")
            found[path] = found[path].with_values(found[path].values + shift)
        if control.turns:
            path = bone.path_from_id(rotations.property_of(bone.rotation_mode))
            (found[path],) = turned(task, [found[path]], [turns], curves)
    return list(found.values())


def turned(task: Task, channels: Sequence[Channel], turns: Sequence[Array], curves: Curves) -> list[Channel]:
    """Rotations with corrections (F, 4). They continue the keys before the first frame without flips and whole turns.

    Bones with the same rotation mode are corrected together, which takes a third of the time.
    """
    first, last = int(task.frames[0]), int(task.frames[-1])
    fades_in, fades_out = ((first, True) in task.faded_ends), ((last, False) in task.faded_ends)
    found: dict[str, Channel] = {}
    modes = [task.armature.pose.bones[channel.bone].rotation_mode for channel in channels]
    for mode in dict.fromkeys(modes):
        own = [channel for channel, each in zip(channels, modes, strict=True) if each == mode]
        last_keys = [each.values[0] if fades_in else keys.value_before(curves, each, first) for each in own]
        own_turns = [each for each, its_mode in zip(turns, modes, strict=True) if its_mode == mode]
        found |= {channel.path: channel for channel in keys.turned(own, mode, own_turns, last_keys, fades_out)}
    return [found[channel.path] for channel in channels]


def without_idle(
    task: Task, record: Record, read: list[Channel], corrected: list[Channel]
) -> tuple[list[Channel], list[Channel]]:
    """The channels as read and as corrected, without channels of controls that no correction changes.

    A channel that an earlier run has written stays, so that it gets back its values from the source.
    """
    controls = {control.bone for control in task.controls}
    pairs = [
        (old, new)
        for old, new in zip(read, corrected, strict=True)
        if old.bone not in controls or old.path in record["channels"] or (old.values != new.values).any()
    ]
    return [old for old, _ in pairs], [new for _, new in pairs]


def tell_controls(
    task: Task, written: list[Channel], goal: Clip, after: Clip, figures: dict[str, Any]
) -> tuple[str, ...]:
    """Add to the figures the controls of each limb and the errors of its joints.

    Returns sentences about feet with errors beyond what planting promises.
    """
    told, after, keyed = [], after.cut(task.part), {channel.bone for channel in written}
    for number, limb in enumerate(task.body.planned):
        if limb not in task.controlled:
            continue
        bones = [name for name in dict.fromkeys(control.bone for control in limb.controls) if name in keyed]
        off = {name: float(way.max()) for name, way in misses(number, after, goal).items()}
        figures["feet"][task.body.limbs.index(limb)] |= {"controls": bones, "off": off}
        figures["told"] += _tell_ways(limb, bones, off["knee"] / goal.leg, stretch(number, after, goal))
        wide = [f"{name} {off[name]:.3g}" for name in ("ankle", "ball") if off[name] > RIGHT * goal.leg]
        if wide:
            told.append(f"controls do not bring {limb.foot} quite to its planned place: off by up to {', '.join(wide)}")
    return tuple(told)


def _tell_ways(limb: Limb, bones: list[str], off: float, stretched: float) -> Iterator[str]:
    """Sentences about the controls that were keyed for a limb, and about the error of its knee (leg lengths)."""
    if bones:
        yield Hint(f"{limb.foot} was planted through its controls: {listed(bones, 12)}")
    if off > RIGHT:
        why = f", as its bones are stretched by up to {stretched:.1%}" if stretched > RIGHT else ""
        yield Hint(f"the knee over {limb.foot} is up to {off:.1%} of the leg off from where it was planned{why}")
