# SPDX-License-Identifier: GPL-3.0-or-later
"""Online Manual on buttons and settings opens a section of the user guide that the zip brings along."""

from __future__ import annotations

import re
import webbrowser
from types import SimpleNamespace

import pytest

from demo import session

pytest.importorskip("markdown_it", reason="markdown-it-py makes the user guide")

from tools.extension import ROOT, guide_page

GROUPS = ("IK2BONE_Settings", "ContactList", "ContactRow")


@pytest.fixture(scope="session")
def text():
    return guide_page(ROOT / "docs")


@pytest.fixture
def page(addon, text, monkeypatch, tmp_path):
    """The user guide, where an installed add-on has it."""
    # A blank, as in names of users.
    path = tmp_path / "a folder" / "guide.html"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(addon("ui.menus"), "PAGE", path)
    return path


@pytest.fixture
def opened(monkeypatch):
    """The addresses that were opened in the browser."""
    found = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def settings(bpy):
    """The settings of the add-on, as a button passes their names on."""
    for group in GROUPS:
        kind = bpy.types.PropertyGroup.bl_rna_get_subclass_py(group)
        yield from (f"{group}.{name}" for name in kind.__annotations__)
    options = bpy.ops.ik2bone.plant_feet.get_rna_type().properties.keys()
    # A surface has two settings.
    yield from (f"IK2BONE_Settings.{name}" for name in options if name not in ("rna_type", "surface"))


def test_online_manual_on_every_button_and_setting_opens_a_section_that_there_is(bpy, page, opened, text):
    names = [f"ik2bone.{name}" for name in dir(bpy.ops.ik2bone)]
    names += settings(bpy)
    assert len(names) > 40
    for name in names:
        assert bpy.ops.wm.doc_view_manual(doc_id=name) == {"FINISHED"}, name
        address, _, section = opened[-1].partition("#")
        assert address == page.as_uri() and f'id="{section}"' in text, (name, opened[-1])
    assert len(opened) == len(names)


def test_sections_tell_of_what_they_are_opened_for(bpy, page, opened):
    for name, section in (
        ("ik2bone.move_anchor", "contacts-in-blender"),
        ("ik2bone.plant_feet", "guide-the-panel"),
        ("IK2BONE_Settings.output", "guide-output"),
        ("IK2BONE_Settings.max_drop", "guide-options"),
    ):
        bpy.ops.wm.doc_view_manual(doc_id=name)
        assert opened[-1] == f"{page.as_uri()}#{section}"


def test_settings_of_other_add_ons_do_not_lead_to_the_guide(bpy, page, opened):
    strength = {"__annotations__": {"strength": bpy.props.FloatProperty()}}
    Settings = type("Settings", (bpy.types.PropertyGroup,), strength)
    bpy.utils.register_class(Settings)
    try:
        assert bpy.ops.wm.doc_view_manual(doc_id="Settings.strength") == {"CANCELLED"}
    finally:
        bpy.utils.unregister_class(Settings)
    assert not opened


def buttons(draw):
    """The addresses that buttons drawn on a layout open."""
    found = []
    layout = SimpleNamespace(
        operator=lambda name, **_: (found.append(SimpleNamespace(name=name)), found[-1])[1],
        **{name: lambda *_a, **_k: layout for name in ("row", "column", "prop", "label", "popover")},
    )
    draw(SimpleNamespace(layout=layout))
    return [button.url for button in found if button.name == "wm.url_open"]


def test_panel_and_preferences_have_a_button_that_opens_the_guide(bpy, page, addon, monkeypatch):
    main, preferences = addon("ui.panel").IK2BONE_PT_main, addon("ui.preferences").IK2BONE_Preferences
    monkeypatch.setattr(addon("ui.preferences"), "draw_options", lambda *_: None)
    for draw in (lambda self: main.draw_header_preset(self, None), lambda self: preferences.draw(self, None)):
        assert buttons(draw) == [page.as_uri()]
        page.rename(page.with_suffix(".away"))
        assert buttons(draw) == []
        page.with_suffix(".away").rename(page)


def test_a_working_tree_without_the_page_has_no_links(addon):
    assert addon("ui.menus").sections() == ("", ())


def test_the_links_go_with_the_add_on(bpy, addon):
    import addon_utils

    sections = addon("ui.menus").sections
    assert sections in bpy.utils._manual_map
    addon_utils.disable(session.ADDON)
    assert sections not in bpy.utils._manual_map


def test_the_page_needs_no_other_file_and_its_links_lead_to_sections(text):
    sections = re.findall(r'id="([^"]+)"', text)
    assert len(sections) == len(set(sections)) > 30
    links = re.findall(r'href="([^"]*)"', text)
    assert len(links) > 40
    assert all(link.startswith("https://") or link.removeprefix("#") in sections for link in links)
    assert all(source.startswith("data:image/png;base64,") for source in re.findall(r'src="([^"]*)"', text))


def test_the_page_has_all_of_the_documents_but_large_pictures(text):
    assert "<td>Blend In, Blend Out</td>" in text and 'alt="The list of contacts"' in text
    assert 'alt="The same walk before and after planting"' not in text and len(text) < 500_000
    # Links to documents that are not on the page are plain text.
    assert "The demo's ladder" in text and "scenes.md" not in text
