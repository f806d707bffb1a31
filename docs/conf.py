# SPDX-License-Identifier: MIT
"""How Sphinx makes a site of these pages: `make docs`."""

from __future__ import annotations

import re
from typing import Any

import ik2bone
from docutils.nodes import SkipNode, math, math_block
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

project, author = "ik2bone", "ik2bone developers"
version = release = ik2bone.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme, html_title = "furo", f"ik2bone {release}"
html_static_path, html_css_files = ["static"], ["wide.css"]
html_math_renderer = "mathml"
html_show_copyright = False
smartquotes = False
# The README links to CONTRIBUTING.md, which is a page of its own here; tests/test_docs.py checks all links.
suppress_warnings = ["myst.xref_missing"]
# Single backticks in docstrings mean what they mean in Markdown.
default_role = "code"
autodoc_member_order = "bysource"
# Signatures tell names and defaults, docstrings shapes and units.
autodoc_typehints = "none"


def as_definitions(_app: Sphinx, _kind: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Make a list of definitions from the aligned rows by which docstrings describe arguments."""
    text = re.sub(r"(?m)^(\w+), {2,}(.*)\n(\w+) {2,}", r"\1, \3  \2\n    ", "\n".join(lines))
    text = re.sub(r"(?m)^(\w+(?:, \w+)*) {2,}(?=\S)", r"``\1``\n    ", text)
    lines[:] = re.sub(r"(?m)^ +", "    ", text).split("\n")


def show_math(translator: Any, node: math | math_block) -> None:
    """Write a formula as MathML, which browsers draw without a script and without the network."""
    translator.body.append(tex2mathml(node.astext(), as_block=isinstance(node, math_block)))
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Connect both."""
    app.connect("autodoc-process-docstring", as_definitions)
    app.add_html_math_renderer("mathml", (show_math, None), (show_math, None))
