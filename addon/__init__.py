# SPDX-License-Identifier: GPL-3.0-or-later
"""IK2Bone: plants the feet of animated characters on uneven ground."""

from importlib import import_module
from types import ModuleType

import bpy

# The modules with classes, PROPERTIES, HANDLERS or a function `register`; each needs only modules above it.
MODULES = [
    "properties",
    "bounded",
    "pose.skins",
    "ui.operators",
    "ui.icons",
    "ui.menus",
    "ui.panel",
    "ui.contact_list",
    "ui.contacts",
    "ui.anchors",
    "ui.drawing",
    "ui.preferences",
    "batch.command",
]
_registered: list[ModuleType] = []


def register() -> None:
    """Register all modules, or only `misfit` where the compiled package does not fit this Blender."""
    from . import misfit

    trouble = misfit.find_misfit()
    if trouble:
        print(trouble)
    modules = [import_module(f".{name}", __package__) for name in (["misfit"] if trouble else MODULES)]
    for module in modules:
        _registered.append(module)
        for kind in _classes_in(module):
            bpy.utils.register_class(kind)
        for owner, name, value in getattr(module, "PROPERTIES", ()):
            setattr(owner, name, value)
        for handlers, handler in getattr(module, "HANDLERS", ()):
            handlers.append(handler)
        if hasattr(module, "register"):
            module.register()


def unregister() -> None:
    """Unregister in reverse order."""
    while _registered:
        module = _registered.pop()
        if hasattr(module, "unregister"):
            module.unregister()
        for handlers, handler in getattr(module, "HANDLERS", ()):
            handlers.remove(handler)
        for owner, name, _ in getattr(module, "PROPERTIES", ()):
            delattr(owner, name)
        for kind in reversed(_classes_in(module)):
            bpy.utils.unregister_class(kind)


def _classes_in(module: ModuleType) -> list[type]:
    """The classes of a module that are registered with Blender, in the order of their definition."""
    own = (kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__)
    return [kind for kind in own if issubclass(kind, bpy.types.bpy_struct)]
