# SPDX-License-Identifier: GPL-3.0-or-later
"""Links from buttons and settings to the documents."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from demo import session

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def manual(addon, monkeypatch, tmp_path):
    """The module, with a manifest that names a website."""
    module = addon("ui.manual")
    text = module.MANIFEST.read_text()
    manifest = tmp_path / "blender_manifest.toml"
    manifest.write_text(f'website = "https://example.org/manual/"\n{text}' if "\nwebsite" not in text else text)
    monkeypatch.setattr(module, "MANIFEST", manifest)
    return module


def page_of(manual, name):
    prefix, pages = manual.pages()
    return prefix + next(page for pattern, page in pages if fnmatchcase(name, pattern))


def test_every_operator_and_setting_has_a_page_that_exists(bpy, manual, addon):
    names = [f"bpy.ops.ik2bone.{name}" for name in dir(bpy.ops.ik2bone)]
    names += [f"bpy.types.settings.{name}" for name in addon("properties").OPTIONS]
    names += [f"bpy.types.contactlist.{name}" for name in ("live", "overlay", "bars")]
    for name in names:
        address = page_of(manual, name)
        assert address.startswith("https://")
        page = address.rpartition("/")[2].partition(".html")[0]
        assert (DOCS / f"{page}.md").exists(), address


def test_contacts_lead_to_the_page_on_contacts(manual):
    for name in ("ops.ik2bone.drag_contact", "ops.ik2bone.move_anchor", "types.settings.contacts"):
        assert page_of(manual, f"bpy.{name}").endswith("/contacts.html")


def test_without_a_website_there_are_no_links(manual):
    manual.MANIFEST.write_text('id = "ik2bone"\n')
    assert manual.pages() == ("", ())


def test_the_links_go_with_the_add_on(bpy, addon):
    import addon_utils

    pages = addon("ui.manual").pages
    assert pages in bpy.utils._manual_map
    addon_utils.disable(session.ADDON)
    assert pages not in bpy.utils._manual_map
