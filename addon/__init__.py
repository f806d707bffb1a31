# SPDX-License-Identifier: GPL-3.0-or-later
"""IK2Bone: plants the feet of animated characters on uneven ground."""

from __future__ import annotations

from types import ModuleType

_registered: list[ModuleType] = []


def register() -> None:
    """Register the settings, operators and panels; where the compiled package does not fit, what tells so."""
    from . import misfit

    trouble = misfit.find_misfit()
    if trouble:
        print(trouble)
    for module in (misfit,) if trouble else _modules():
        module.register()
        _registered.append(module)


def unregister() -> None:
    """Unregister in reverse order."""
    while _registered:
        _registered.pop().unregister()


def _modules() -> tuple[ModuleType, ...]:
    """What has classes or handlers, in the order in which they need each other."""
    from . import properties
    from .batch import command
    from .run import kept
    from .ui import (
        anchors,
        contact_list,
        contacts,
        drag,
        drawing,
        icons,
        manual,
        menus,
        operators,
        panel,
        preferences,
        presets,
    )

    shown = icons, panel, contact_list, contacts, drag, anchors, drawing, menus, manual, presets, preferences
    return properties, kept, operators, *shown, command
