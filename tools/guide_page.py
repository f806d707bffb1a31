# SPDX-License-Identifier: MIT
"""The user guide as one HTML page without any other file, which the extension's zip brings along.

Sphinx makes a site of many files, so the page is made of a few of its sources by the reader of Markdown under MyST.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

# What an animator reads, one after the other; links to other documents become plain text.
PAGES = ("guide", "contacts", "controls", "messages", "report")
# Larger pictures (bytes) are left out, to keep the zip below a megabyte.
LARGEST = 40_000
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #8886; padding: .2rem .5rem; text-align: left; vertical-align: top; }
pre, code { font-family: ui-monospace, monospace; background: #8882; }
pre { padding: .5rem; overflow-x: auto; }
img { max-width: 100%; }
h1 { border-top: 1px solid #8886; padding-top: 1.5rem; }
"""


def build(docs: Path) -> str:
    """The page made of the documents in a folder."""
    reader = MarkdownIt("commonmark").enable("table")
    pages = {name: reader.parse((docs / f"{name}.md").read_text(encoding="utf-8")) for name in PAGES}
    contents = "\n".join(_listed(name, tokens) for name, tokens in pages.items())
    for name, tokens in pages.items():
        for title, text in _headings(tokens):
            title.attrSet("id", _anchor(name, title, text))
        for token in tokens:
            token.children = token.children and list(_fitted(token.children, name, docs))
    body = "\n".join(reader.renderer.render(tokens, reader.options, {}) for tokens in pages.values())
    head = f'<meta charset="utf-8">\n<title>IK2Bone: user guide</title>\n<style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n<nav>\n{contents}\n</nav>\n{body}</html>\n'


def _headings(tokens: list[Token]) -> Iterator[tuple[Token, str]]:
    """The tokens that open headings, with what these say."""
    for token, inside in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open":
            yield token, inside.content


def _anchor(page: str, title: Token, text: str) -> str:
    """The name of a section: that of its document for the first heading, with the heading's own after it for others."""
    own = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return page if title.tag == "h1" else f"{page}-{own}"


def _listed(page: str, tokens: list[Token]) -> str:
    """A line of the table of contents: a document and its main sections."""
    found = [(title, text) for title, text in _headings(tokens) if title.tag in ("h1", "h2")]
    links = [f'<a href="#{_anchor(page, title, text)}">{escape(text)}</a>' for title, text in found]
    return f"<p><strong>{links[0]}</strong>: {', '.join(links[1:])}</p>" if links[1:] else f"<p>{links[0]}</p>"


def _fitted(tokens: list[Token], page: str, docs: Path) -> Iterator[Token]:
    """The parts of a line with links into this page, without those to other files, and with small pictures in it."""
    is_link = True
    for token in tokens:
        if token.type == "image":
            picture = (docs / str(token.attrs["src"])).read_bytes()
            token.attrSet("src", f"data:image/png;base64,{base64.b64encode(picture).decode()}")
            if len(picture) > LARGEST:
                continue
        elif token.type == "link_open":
            link = _link(str(token.attrs["href"]), page)
            is_link = link is not None
            token.attrSet("href", link or "")
        if is_link or token.type not in ("link_open", "link_close"):
            yield token


def _link(link: str, page: str) -> str | None:
    """Where a link leads on the page; None if that is elsewhere."""
    path, _, anchor = link.partition("#")
    target = path.removesuffix(".md") or page
    if target not in PAGES:
        return link if "://" in link else None
    return f"#{target}-{anchor}" if anchor else f"#{target}"
