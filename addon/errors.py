# SPDX-License-Identifier: GPL-3.0-or-later
"""The exception that refuses a run, and how names are listed in sentences and read from text fields."""

from collections.abc import Iterable, Sequence


class Refusal(Exception):
    """A sentence for the user that says what is not planted and why. Line breaks in names become spaces."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(sentence.splitlines()))


class NoLegs(Refusal):
    """The armature has no bones that could be legs."""


def cut(text: str, most: int = 40) -> str:
    """The text on one line, shortened to `most` characters."""
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[:most]}..."


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first `most` names, separated by commas, and the number of those left out."""
    told = [cut(name, 63) for name in names[:most]]
    return ", ".join(told) + (f" and {len(names) - most} more" if len(names) > most else "")


def names_in(text: str, known: Iterable[str]) -> list[str]:
    """The names in a text that is separated by commas; spaces around a name do not count.

    A known name may contain commas itself. Where several known names fit, the longest one is taken.
    """
    exact = {name: name for name in known}
    # The empty text between two commas is not a name, even if something has a name made of spaces.
    names, parts, alike = [], text.split(","), {name.strip(): name for name in exact if name.strip()} | exact
    most = 1 + max((name.count(",") for name in exact), default=0)
    while parts:
        sizes = ((size, ",".join(parts[:size])) for size in range(min(most, len(parts)), 0, -1))
        found = ((size, alike.get(part) or alike.get(part.strip())) for size, part in sizes)
        size, name = next((each for each in found if each[1]), (1, parts[0].strip()))
        names.append(name)
        parts = parts[size:]
    return [name for name in names if name]


def required_names(option: str, kind: str, text: str, known: Iterable[str]) -> list[str]:
    """The names in the text of an option. Raises `Refusal` if it has none, for instance only a comma."""
    names = names_in(text, known)
    if not names:
        raise Refusal(f"{option} should be names of {kind} separated by commas, but it is '{text}'")
    return names


class Hint(str):
    """A sentence that only informs. Every other sentence about a run is a warning."""
