# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorded clip in the current scene, ready to be planted."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from demo import session


def load(_bpy, path: str | Path, action: str | None = None):
    """Import the clip at `path` as the add-on's batch does, assign `action` (default: the file's first), and return
    the armature.
    """
    reading, errors = (import_module(f"{session.ADDON}.{name}") for name in ("batch.read", "errors"))
    try:
        armature = reading.read_clip(Path(path))
    except errors.Refusal as refusal:
        raise ValueError(str(refusal)) from None
    if action is not None:
        actions = reading.actions_of(armature)
        if action not in actions:
            raise ValueError(
                f"{armature.name} has no action named {action}, only: {', '.join(actions) or 'none at all'}"
            )
        reading.play(armature, actions[action])
    return armature
