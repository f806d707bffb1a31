# SPDX-License-Identifier: GPL-3.0-or-later
"""IK2Bone: plants the feet of animated characters on uneven ground."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# What has classes or handlers, in the order in which they need each other.
MODULES = [
    "properties",
    "run.kept",
    "ui.operators",
    "ui.icons",
    "ui.panel",
    "ui.contact_list",
    "ui.contacts",
    "ui.drag",
    "ui.anchors",
    "ui.drawing",
    "ui.menus",
    "ui.manual",
    "ui.presets",
    "ui.preferences",
    "batch.command",
]
_registered: list[ModuleType] = []


def register() -> None:
    """Register the settings, operators and panels; where the compiled package does not fit, what tells so."""
    from . import misfit

    trouble = misfit.find_misfit()
    if trouble:
        print(trouble)
    modules = [import_module(f".{name}", __package__) for name in (["misfit"] if trouble else MODULES)]
    for module in modules:
        module.register()
        _registered.append(module)


def unregister() -> None:
    """Unregister in reverse order."""
    while _registered:
        _registered.pop().unregister()
