# SPDX-License-Identifier: GPL-3.0-or-later
"""Icons for heel and ball, which Blender does not have: a sole seen from above with that part filled."""

from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
from ik2bone.arrays import Array

from .rows import COLOURS, Colour

# Width and height of an icon in pixels, twice those of its display at scale 1.
SIZE = 32
# Circles within the sole from heel to toe, in pixels from the lower left corner: height, place across, radius.
SOLE = np.array([(6.5, 16.3, 5.3), (14.0, 16.6, 4.6), (18.5, 16.2, 6.6), (23.3, 15.6, 7.1)])
# The width of the outline, and the range of heights in which each part is filled, in pixels.
LINE, FILLED = 2.2, {"ball": (17.0, SIZE), "heel": (0.0, 12.0)}
_icons: Any = None


def icon_of(part: str, state: str) -> int:
    """The icon's number in Blender for a part in a state; 0, which means no icon, where Blender has no window.

    The fill has the state's colour, the outline that of text in lists.
    """
    text = bpy.context.preferences.themes[0].user_interface.wcol_list_item.text
    name = f"{part} {state} {tuple(text)}"
    if name not in _icons:
        icon = _icons.new(name)
        icon.icon_size = SIZE, SIZE
        icon.icon_pixels_float = pixels(part, (*text, 1.0), COLOURS[state]).ravel()
    return int(_icons[name].icon_id)


def pixels(part: str, line: Colour, fill: Colour) -> Array:
    """The colours (SIZE, SIZE, 4) of an icon, the lowest row first."""
    across, up = np.meshgrid(np.arange(SIZE) + 0.5, np.arange(SIZE) + 0.5)
    # Circles between those of SOLE, so close to each other that their outline is smooth.
    heights = np.arange(*SOLE[[0, -1], 0], 0.5)
    middles, radii = (np.interp(heights, SOLE[:, 0], column) for column in SOLE.T[1:])
    outside = (np.hypot(across[..., None] - middles, up[..., None] - heights) - radii).min(axis=-1)
    low, high = FILLED[part]
    filled = (outside < 0.0) & (low <= up) & (up < high)
    share = np.clip(0.5 * (LINE + 1.0) - np.abs(outside), 0.0, 1.0)[..., None]
    return np.where(filled[..., None], fill, np.zeros(4)) * (1.0 - share) + share * np.array(line)


def register() -> None:
    """Create the empty collection of icons."""
    global _icons
    _icons = bpy.utils.previews.new()


def unregister() -> None:
    """Free the icons."""
    bpy.utils.previews.remove(_icons)
