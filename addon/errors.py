# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told instead of planting, and names in texts: how many are told, and how those that people write are read."""

from collections.abc import Iterable, Sequence


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


def names_in(text: str, known: Iterable[str]) -> list[str]:
    """The names that commas separate, whatever spaces are around them; where a known name has commas in it, the longest
    such name counts.
    """
    exact = {name: name for name in known}
    # Nothing between two commas is no name, not even where something is called by spaces alone.
    names, parts, alike = [], text.split(","), {name.strip(): name for name in exact if name.strip()} | exact
    most = 1 + max((name.count(",") for name in exact), default=0)
    while parts:
        sizes = ((size, ",".join(parts[:size])) for size in range(min(most, len(parts)), 0, -1))
        found = ((size, alike.get(part) or alike.get(part.strip())) for size, part in sizes)
        size, name = next((each for each in found if each[1]), (1, parts[0].strip()))
        names.append(name)
        parts = parts[size:]
    return [name for name in names if name]


class Hint(str):
    """A sentence on what a run did that nobody has to look at; all others that the add-on tells are warnings."""
