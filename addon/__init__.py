# SPDX-License-Identifier: GPL-3.0-or-later
"""IK2Bone: plants the feet of animated characters on uneven ground."""

from __future__ import annotations

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
    from . import properties
    from .run import kept
    from .ui import contact_operators, operators
    from .ui import contacts as contact_panel
    from .ui import panel as panels

    for module in (properties, kept, operators, contact_operators, panels, contact_panel):
        module.register()


def unregister() -> None:
    """Unregister in reverse order."""
    from . import properties
    from .run import kept
    from .ui import contact_operators, operators
    from .ui import contacts as contact_panel
    from .ui import panel as panels

    for module in (contact_panel, panels, contact_operators, operators, kept, properties):
        module.unregister()
