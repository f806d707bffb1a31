# SPDX-License-Identifier: GPL-3.0-or-later
"""Online Manual in the context menus of buttons and settings: pages of the website that the manifest names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import bpy

MANIFEST = Path(__file__).parent.parent / "blender_manifest.toml"
# Names as Blender knows them, in small letters, and the page that tells of each; the first one that fits counts.
PAGES = (
    ("bpy.ops.ik2bone.plant_feet*", "guide.html"),
    ("bpy.ops.ik2bone.restore*", "guide.html#output"),
    ("bpy.ops.ik2bone.show_frame*", "guide.html#the-report"),
    ("bpy.ops.ik2bone.*contact*", "contacts.html"),
    ("bpy.ops.ik2bone.mark_feet*", "contacts.html"),
    ("bpy.ops.ik2bone.move_anchor*", "contacts.html"),
    ("bpy.ops.ik2bone.*", "guide.html"),
    ("bpy.types.settings.contacts*", "contacts.html"),
    ("bpy.types.settings.output*", "guide.html#output"),
    ("bpy.types.settings.*", "guide.html"),
    ("bpy.types.contactlist.*", "contacts.html"),
    ("bpy.types.contactrow.*", "contacts.html"),
)


def pages() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Where the pages are, and which there are; none where the manifest names no website."""
    website = tomllib.loads(MANIFEST.read_text(encoding="utf-8")).get("website", "")
    return (f"{website.rstrip('/')}/", PAGES) if website else ("", ())


def register() -> None:
    """Add the pages to those of Blender's own manual."""
    bpy.utils.register_manual_map(pages)


def unregister() -> None:
    """Take them out."""
    bpy.utils.unregister_manual_map(pages)
