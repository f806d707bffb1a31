# SPDX-License-Identifier: MIT
"""Sections of the page of speeds are replaced one by one."""

from __future__ import annotations

import pytest

from tests.bench.page import PAGE, replaced

TEXT = "# Speed\n\nWords.\n\n## Measured\n\nold\n\n| table |\n\n## Planting, measured\n\nolder\n"


def test_new_text_takes_the_place_of_its_section_alone() -> None:
    page = replaced(TEXT, "Measured", "new\n")
    assert page == TEXT.replace("old\n\n| table |", "new")
    assert replaced(page, "Planting, measured", "newer") == page.replace("older", "newer")


def test_page_without_the_section_is_refused() -> None:
    with pytest.raises(ValueError, match="no section 'Other'"):
        replaced(TEXT, "Other", "")


def test_the_page_has_a_section_for_each_of_the_benches() -> None:
    for heading in ("Measured", "Options and calls, measured", "Planting, measured"):
        assert replaced(PAGE.read_text(), heading, "new") != PAGE.read_text()
