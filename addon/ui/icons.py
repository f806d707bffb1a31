# SPDX-License-Identifier: GPL-3.0-or-later
"""Icons for heel and ball, which Blender does not have: a sole seen from above with that part filled."""

from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
from ik2bone.arrays import Array, Mask

from .rows import COLOURS, Colour

# Width and height of an icon in pixels, twice those of its display at scale 1.
SIZE = 32
# The corners of the sole's outline in pixels from the lower left corner, counter-clockwise from the heel.
SOLE = np.array([
    (13, 1), (18, 1), (21, 4), (22, 9), (21, 14), (23, 20), (23, 25), (20, 30), (15, 31), (10, 29), (8, 24), (9, 19),
    (12, 14), (11, 9), (11, 4),
], float)  # fmt: skip
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
    inside, away = _inside(across, up), _distance(across, up)
    low, high = FILLED[part]
    filled = inside & (low <= up) & (up < high)
    share = np.clip(0.5 * (LINE + 1.0) - away, 0.0, 1.0)[..., None]
    return np.where(filled[..., None], fill, np.zeros(4)) * (1.0 - share) + share * np.array(line)


def _distance(across: Array, up: Array) -> Array:
    """The distances of points from the outline, in pixels."""
    points, ways = np.stack([across, up], axis=-1)[..., None, :] - SOLE, np.roll(SOLE, -1, axis=0) - SOLE
    along = np.clip((points * ways).sum(axis=-1) / (ways * ways).sum(axis=-1), 0.0, 1.0)
    away: Array = np.linalg.norm(points - along[..., None] * ways, axis=-1).min(axis=-1)
    return away


def _inside(across: Array, up: Array) -> Mask:
    """Whether points lie within the outline, where a ray to the right crosses the outline an odd number of times."""
    (x, y), (to_x, to_y) = SOLE.T, np.roll(SOLE, -1, axis=0).T
    passes = (y <= up[..., None]) != (to_y <= up[..., None])
    rise = np.where(to_y == y, 1.0, to_y - y)
    crosses: Mask = passes & (across[..., None] < x + (up[..., None] - y) / rise * (to_x - x))
    return crosses.sum(axis=-1) % 2 == 1


def register() -> None:
    """Create the empty collection of icons."""
    global _icons
    _icons = bpy.utils.previews.new()


def unregister() -> None:
    """Free the icons."""
    bpy.utils.previews.remove(_icons)
