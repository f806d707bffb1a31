# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes that an error, or Esc, undoes.

A run collects the calls that undo its changes in an `ExitStack`, which makes them in reverse order.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import bpy
from bpy.types import Action, AnimData, Context, NlaStrip, NlaTrack, Object
from bpy.utils import unescape_identifier
from numpy.typing import NDArray

from ..errors import Refusal
from ..keys import actions
from ..keys.actions import Assignment, Curves
from ..keys.channels import TRANSFORMS, Channel
from ..pose.evaluate import read
from . import records

BACKUP = ".ik2bone backup"
PLANTED = ".planted"
# The values of transforms of an armature by name, the names of its bones, and the values of theirs.
Pose = tuple[dict[str, Sequence[float]], list[str], dict[str, NDArray]]
# The owner and the property in a data path: a custom property, with its quotes escaped, or one of Blender's.
OWNED = re.compile(r'(.*?)(?:\["((?:[^"\\]|\\.)*)"\]|\.?(\w+))$')


def parts_of(armature: Object) -> list[Any]:
    """The addresses of what a run refers to in an armature and in the action that it plays, and the names of bones.

    Blender raises `ReferenceError` for a removed datablock, but it reads and writes the memory of a removed part. In
    edit mode, Blender shows no poses.
    """
    bones = (*armature.pose.bones, *armature.data.bones)
    parts = (part.as_pointer() for part in (*bones, *actions.assigned(armature).curves))
    return [armature.data.is_editmode, *armature.data.bones.keys(), *_parts_of_nla(armature), *parts]


def _parts_of_nla(armature: Object) -> list[int]:
    data = armature.animation_data
    tracks = [*data.nla_tracks] if data else []
    strips = (strip for track in tracks for strip in track.strips)
    return [part.as_pointer() for part in (*filter(None, [data]), *tracks, *strips)]


def on_error(undo: ExitStack, call: Callable[..., Any], *arguments: Any) -> None:
    """Make a call if the run is refused, fails or is stopped. A call on data that was removed meanwhile is skipped."""
    call = _lasting(call, *arguments)

    def leave(error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            call()

    undo.push(leave)


def on_end(undo: ExitStack, call: Callable[..., Any], *arguments: Any) -> None:
    """Make a call at the end, whatever happened. A call on data that was removed meanwhile is skipped."""
    undo.callback(_lasting(call, *arguments))


def _lasting(call: Callable[..., Any], *arguments: Any) -> Callable[[], None]:
    """The call with these arguments, which does nothing if a datablock or a part of an NLA among them was removed."""
    parts = [part for part in arguments if isinstance(part, (AnimData, NlaStrip, NlaTrack))]
    owners = [part.id_data for part in parts]

    def make() -> None:
        with suppress(ReferenceError):
            if all(part.as_pointer() in _parts_of_nla(owner) for part, owner in zip(parts, owners, strict=True)):
                call(*arguments)

    return make


def on_success(undo: ExitStack, call: Callable[..., Any], *arguments: Any) -> None:
    """Make a call at the end of the run, unless the run is refused, fails or is stopped."""

    def leave(error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            call(*arguments)

    undo.push(leave)


def switch(undo: ExitStack, armature: Object, assignment: Assignment) -> None:
    """Make the armature play another action; an error undoes it. The present action gets a fake user, because purging
    would remove it while the run waits.
    """
    present = actions.assigned(armature)
    if assignment != present:
        if present.action and present.action.is_editable:
            on_error(undo, setattr, present.action, "use_fake_user", present.action.use_fake_user)
            present.action.use_fake_user = True
        on_error(undo, actions.assign, armature, present)
        actions.assign(armature, assignment)


def switch_to_copy(undo: ExitStack, armature: Object, original: Assignment) -> Assignment:
    """Make the armature play a copy of an action, with the name of a planted action; an error undoes it."""
    copy = actions.copy(original)
    on_error(undo, bpy.data.actions.remove, copy.action)
    source = records.source_of(original.action) or original.action
    copy.action.name = named(source.name, PLANTED)
    switch(undo, armature, copy)
    return copy


def named(source: str, suffix: str) -> str:
    """The name with a suffix, shortened so that both together are not too long for Blender."""
    # The limit counts bytes of UTF-8 and the terminating zero.
    longest = bpy.types.ID.bl_rna.properties["name"].length_max - 1
    return source.encode()[: longest - len(suffix)].decode(errors="ignore") + suffix


def keep_curves(undo: ExitStack, assignment: Assignment, written: Iterable[Channel] | None = None) -> None:
    """Have an error restore the curves of an action: all, or those of the channels that will be written.

    Blender can only copy an action as a whole. Removing the other curves from the copy at once takes less time than it
    saves, because their memory is used again: new memory is five times as slow.
    """
    if assignment.curves.bag is None:
        raise Refusal(f"action {assignment.action.name} has no keys for this armature")
    paths = None if written is None else _touched(assignment.curves, {each.path for each in written})
    backup = actions.copy(assignment, paths)
    # The default name of a copy would be the next free name of a planted action.
    backup.action.name = BACKUP
    # Purging would remove the copy while the run waits.
    backup.action.use_fake_user = True
    undo.callback(bpy.data.actions.remove, backup.action)
    on_error(undo, actions.overwrite, assignment, backup, paths)


def _touched(curves: Curves, paths: set[str]) -> set[str]:
    """These data paths, and those of all curves in the same groups: writing to a muted group mutes its other curves."""
    groups = (curve.group for curve in curves if curve.data_path in paths and curve.group)
    return paths | {curve.data_path for group in groups for curve in group.channels}


def keep_marks(undo: ExitStack, action: Action) -> None:
    """Have an error restore the custom properties of planting on an action, and its fake user."""
    on_error(undo, setattr, action, "use_fake_user", action.use_fake_user)
    on_error(undo, records.mark, action, records.marks_of(action))


def keep_pose(undo: ExitStack, context: Context, armature: Object) -> None:
    """Have an error restore the pose, including keyed channels set by hand, which a change of action resets."""
    before, values = pose_of(armature), _keyed_values(armature)

    def put_back() -> None:
        context.view_layer.update()
        changed = [path for path in values if _value_at(armature, path) != values[path]]
        for path in changed:
            # A bone that was removed meanwhile has no properties.
            with suppress(ValueError):
                _set_at(armature, path, values[path])
        if changed:
            # A change of a custom property, which drivers may use, does not cause an evaluation.
            armature.update_tag(refresh={"OBJECT"})
            context.view_layer.update()
        set_pose(armature, before)

    on_error(undo, put_back)


def _keyed_values(armature: Object) -> dict[str, Any]:
    """The values of properties other than transforms, such as switches of control rigs, by data path.

    They are those with keys in the played action or in its source, which plays during a run.
    """
    played = actions.assigned(armature)
    source = records.origin_of(played.action)
    keyed = [played, actions.counterpart(played, source)] if source else [played]
    paths = {curve.data_path for each in keyed for curve in each.curves}
    others = (path for path in paths if path.rpartition(".")[2] not in TRANSFORMS and OWNED.match(path))
    values = {path: _value_at(armature, path) for path in others}
    return {path: value for path, value in values.items() if value is not None}


def _value_at(armature: Object, path: str) -> Any:
    """A copy of the value at a data path; None if the path does not exist.

    A custom property is read from its owner, because its path would give single precision.
    """
    owned, custom, _ = OWNED.match(path).groups()
    try:
        value = armature.path_resolve(path)
        if custom is not None:
            value = _owner(armature, owned)[unescape_identifier(custom)]
    except (KeyError, ValueError):
        return None
    return value if isinstance(value, str) or not hasattr(value, "__len__") else list(value)


def _set_at(armature: Object, path: str, value: Any) -> None:
    owned, custom, name = OWNED.match(path).groups()
    if name:
        setattr(_owner(armature, owned), name, value)
    else:
        _owner(armature, owned)[unescape_identifier(custom)] = value


def _owner(armature: Object, path: str) -> Any:
    return armature.path_resolve(path) if path else armature


def pose_of(armature: Object) -> Pose:
    """The transforms of an armature and of its bones."""
    own = {name: tuple(getattr(armature, name)) for name in TRANSFORMS}
    return own, armature.pose.bones.keys(), {name: read(armature, name, size) for name, size in TRANSFORMS.items()}


def set_pose(armature: Object, pose: Pose) -> None:
    """Set all transforms of an armature and of its bones, except bones that were removed meanwhile."""
    own, names, values = pose
    for name, value in own.items():
        setattr(armature, name, value)
    bones = [armature.pose.bones.get(name) for name in names]
    for name, rows in values.items():
        for bone, row in zip(bones, rows.tolist(), strict=True):
            if bone is not None:
                setattr(bone, name, row)
