# SPDX-License-Identifier: GPL-3.0-or-later
"""The message that takes the place of the add-on where its compiled package does not fit this Blender.

Blender enables an extension without any message when none of its wheels fit, so that the add-on itself has to tell.
"""

import sys
import sysconfig
import textwrap
from collections.abc import Iterable
from pathlib import Path

from bpy.types import AddonPreferences, Context, Panel

WHEELS = Path(__file__).parent / "wheels"
CURE = "install the extension file made for this system"
# The number of letters that fit on a line of the sidebar.
WIDTH = 36


def find_misfit() -> str | None:
    """A sentence that says why this Blender cannot import the compiled package; None where it can."""
    try:
        import ik2bone  # noqa: F401
    except ImportError as error:
        return sentence([wheel.name for wheel in WHEELS.glob("*.whl")], f"{error}".rstrip("."))
    return None


def sentence(wheels: Iterable[str], error: str) -> str:
    """Why the package cannot be imported, judged by the file names of the wheels in the extension."""
    made_for = sorted({_made_for(name) for name in wheels})
    if not made_for:
        return f"IK2Bone lacks its compiled package 'ik2bone' ({error}): {CURE}"
    here = f"{sysconfig.get_platform()} with Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"IK2Bone's compiled package is for {' or '.join(made_for)}, this Blender is {here} ({error}): {CURE}"


def _made_for(wheel: str) -> str:
    """The platform and Python version in a wheel's file name, such as ik2bone-1.0-cp311-abi3-linux_x86_64.whl."""
    *_, python, abi, platforms = wheel.removesuffix(".whl").split("-")
    later = " or later" if abi.startswith("abi") else ""
    return f"{platforms.split('.')[0]} with Python {python[2]}.{python[3:]}{later}"


class Told:
    """Draws the sentence of `find_misfit`."""

    def draw(self, _context: Context) -> None:
        column = self.layout.column(align=True)
        for number, line in enumerate(textwrap.wrap(find_misfit() or "", WIDTH)):
            column.label(text=line, icon="BLANK1" if number else "ERROR")


class IK2BONE_PT_misfit(Told, Panel):
    """Why feet cannot be planted here"""

    bl_label = "Plant Feet"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "IK2Bone"


class IK2BONE_misfit_preferences(Told, AddonPreferences):
    """The sentence of `find_misfit` in the add-on's preferences."""

    bl_idname = __package__
