# SPDX-License-Identifier: MIT
"""The user guide as one HTML page that needs no other file, for the extension's zip.

Sphinx makes a site of many files. This page is therefore made from some of its sources by markdown-it, the Markdown
parser that MyST uses.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

# The documents for animators, in the order of the page. Links to other documents become plain text.
PAGES = ("guide", "contacts", "controls", "messages", "report")
# Pictures of more bytes are left out, to keep the zip below a megabyte.
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
    """The HTML page made from the documents in the folder `docs`."""
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
    """The tokens that open headings, each with the text of its heading."""
    for token, inside in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open":
            yield token, inside.content


def _anchor(page: str, title: Token, text: str) -> str:
    """The anchor of a section: the document's name for its title, and this name with the heading's text for others."""
    own = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    return page if title.tag == "h1" else f"{page}-{own}"


def _listed(page: str, tokens: list[Token]) -> str:
    """The line of a document in the table of contents: links to its title and its main sections."""
    found = [(title, text) for title, text in _headings(tokens) if title.tag in ("h1", "h2")]
    links = [f'<a href="#{_anchor(page, title, text)}">{escape(text)}</a>' for title, text in found]
    return f"<p><strong>{links[0]}</strong>: {', '.join(links[1:])}</p>" if links[1:] else f"<p>{links[0]}</p>"


def _fitted(tokens: list[Token], page: str, docs: Path) -> Iterator[Token]:
    """The tokens of a line, fitted to the page: links go to the page or the web, and small pictures are embedded.

    Links to other files and larger pictures are left out.
    """
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
    """The target of a link of the document `page`: an anchor of this page, a web address, or None for other files."""
    path, _, anchor = link.partition("#")
    target = path.removesuffix(".md") or page
    if target not in PAGES:
        return link if "://" in link else None
    return f"#{target}-{anchor}" if anchor else f"#{target}"
