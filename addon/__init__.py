# SPDX-License-Identifier: GPL-3.0-or-later
"""IK2Bone: plants the feet of animated characters on uneven ground."""

from __future__ import annotations

from types import ModuleType

MISSING_PACKAGE = (
    "IK2Bone cannot work without its compiled package 'ik2bone', which is missing or does not fit this Blender: "
    "install the extension file made for this system, or the package itself into Blender's Python"
)


def register() -> None:
    """Register the settings, operators and panels."""
    try:
        import ik2bone  # noqa: F401
    except ImportError as error:
        # Blender enables an extension without any message when none of its wheels fit.
        raise ImportError(f"{MISSING_PACKAGE} ({error})") from None
    for module in _modules():
        module.register()


def unregister() -> None:
    """Unregister in reverse order."""
    for module in reversed(_modules()):
        module.unregister()


def _modules() -> tuple[ModuleType, ...]:
    """What has classes or handlers, in the order in which they need each other."""
    from . import properties
    from .batch import command
    from .run import kept
    from .ui import anchors, contact_list, contacts, drag, drawing, menus, operators, panel

    return properties, kept, operators, panel, contact_list, contacts, drag, anchors, drawing, menus, command
