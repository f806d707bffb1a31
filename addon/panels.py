# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel in the 3D view's sidebar."""

from __future__ import annotations

import bpy

CLASSES: tuple[type, ...] = ()


def register() -> None:
    """Register every class."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Unregister in reverse order."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
