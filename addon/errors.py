# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told instead of planting, and how long a part of it may get."""

from __future__ import annotations

from collections.abc import Sequence


class Refusal(Exception):
    """One clear sentence for the user: what is not planted, and why; on one line, whatever names it has in it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(sentence.splitlines()))


class NoLegs(Refusal):
    """An armature has no bones that could be legs."""


def cut(text: str, most: int = 40) -> str:
    """Text on one line, shortened to so many characters."""
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[:most]}..."


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names for a sentence: the first ones, and how many more there are."""
    told = [cut(name, 63) for name in names[:most]]
    return ", ".join(told) + (f" and {len(names) - most} more" if len(names) > most else "")


class Hint(str):
    """A sentence on what a run did that nobody has to look at; all others that the add-on tells are warnings."""
