# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documents say about the operators is so: calls name options that there are, the table has every option."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from biped import make_slope
from planted import plant, record_of

from tests.test_docs import keys_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def calls():
    """Calls of the add-on's operators in the examples: operator, and names and values of options."""
    for page in PAGES:
        for block in re.findall(r"^```py\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("bpy.ops.ik2bone."):
                    options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
                    yield ast.unparse(node.func).rpartition(".")[2], options


def properties(bpy, operator):
    """The options of an operator, by name."""
    every = getattr(bpy.ops.ik2bone, operator).get_rna_type().properties
    return {option.identifier: option for option in every if option.identifier != "rna_type"}


def test_calls_in_the_documents_name_operators_and_options_that_there_are(bpy):
    found = list(calls())
    assert len(found) > 10
    for operator, options in found:
        known = properties(bpy, operator)
        for name, value in options.items():
            assert name in known, f"{operator}: {name}"
            if known[name].type == "ENUM":
                assert value in known[name].enum_items, f"{operator}: {name}={value}"


def rows():
    """The rows of the table of options: labels, names and defaults."""
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    table = re.search(r"^\| option \| in scripts .*?\n\n", text, re.DOTALL | re.MULTILINE)[0]
    for row in table.strip().splitlines()[2:]:
        labels, names, defaults = (cell.strip() for cell in row.split("|")[1:4])
        names = re.findall(r"`(\w+)`", names)
        defaults = (defaults.split(", ") * len(names))[: len(names)]
        yield from zip(labels.split(", "), names, defaults, strict=True)


def test_the_table_of_options_has_every_option_by_the_name_in_the_panel(bpy):
    known = properties(bpy, "plant_feet")
    assert {name: label for label, name, _ in rows()} == {name: option.name for name, option in known.items()}


@pytest.mark.parametrize(("_label", "name", "default"), list(rows()), ids=str)
def test_the_table_of_options_has_the_defaults(bpy, _label, name, default):
    value = properties(bpy, "plant_feet")[name].default
    words = {"on": True, "off": False, "50 degrees": pytest.approx(0.8727, abs=1e-4)}
    assert value == words[default] if default in words else pytest.approx(value) == ast.literal_eval(default.strip("`"))


def test_every_key_of_a_report_in_blender_is_described(bpy, walker):
    make_slope(bpy)
    plant(bpy)
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    described = " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))
    assert keys_of(record_of(walker)["report"]) <= set(re.findall(r"`(\w+)`", described))
