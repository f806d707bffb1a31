# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded clip in the current scene, ready to be planted."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from demo import session

# Of the many actions of a game character's file, those with these words in their names show best what planting does.
WALKS = ("walk", "run", "jog", "move")


def reading():
    """The add-on's module that reads files."""
    return import_module(f"{session.ADDON}.batch.read")


def read(what: str, path: Path):
    """What a function of that module reads from a file; a ValueError where it refuses to.

    Blender's importers print tracebacks beside the error that they raise.
    """
    try:
        with session.silence():
            return getattr(reading(), what)(path)
    except import_module(f"{session.ADDON}.errors").Refusal as refusal:
        raise ValueError(str(refusal)) from None


def load(_bpy, path: str | Path, action: str | None = None):
    """Import the clip at `path` as the add-on's batch does, assign `action` (default: the file's first), and return
    the armature.
    """
    armature = read("read_clip", Path(path))
    if action is not None:
        play(armature, action)
    return armature


def play(armature, name: str) -> None:
    """Have the armature play the action of this name alone."""
    actions = reading().actions_of(armature)
    if name not in actions:
        raise ValueError(f"{armature.name} has no action named {name}, only: {', '.join(actions) or 'none at all'}")
    reading().play(armature, actions[name])


def load_walk(bpy, path: str | Path, action: str | None = None):
    """As `load`; where no action is named, the first that walks by its name, and a pose where there is none at all.

    Other actions of the file are told, for `ACTION=` to name.
    """
    armature = load(bpy, path, action)
    actions = list(reading().actions_of(armature))
    if not actions:
        _key_pose(bpy.context.scene, armature)
    elif action is None and len(actions) > 1:
        chosen = next((name for word in WALKS for name in actions if word in name.lower()), actions[0])
        others = ", ".join(name for name in actions if name != chosen)
        session.tell(f"{Path(path).name}: action {chosen}; ACTION= names another of {others}")
        play(armature, chosen)
    return armature


def _key_pose(scene, armature) -> None:
    """A clip of one frame that holds the pose as it is."""
    for bone in armature.pose.bones:
        mode = {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}.get(bone.rotation_mode, "euler")
        bone.keyframe_insert(f"rotation_{mode}", frame=1)
    scene.frame_start = scene.frame_end = 1
