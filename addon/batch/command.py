# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: blender --background --command plant_feet CLIP... --ground FILE --output FOLDER."""

import argparse
from collections import Counter
from collections.abc import Iterator
from functools import partial
from math import degrees, inf, nan, radians
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Property

from .plant import WRITERS, Job, is_planted, lines_of, plant_file, safe_name
from .read import CLIPS, GROUNDS

NAME = "plant_feet"
# Exit statuses: everything was planted; something was not. For wrong arguments argparse exits with 2.
PLANTED, NOT_PLANTED = 0, 1
_registered: list[Any] = []


def run(arguments: list[str]) -> int:
    """Plant the files that the arguments name, print the result of each, and return the exit status."""
    try:
        clips, job = _parse(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    all_planted = True
    for number, clip in enumerate(clips, 1):
        place = f"[{number}/{len(clips)}] {clip.name}"
        told = plant_file(clip, job)
        all_planted &= is_planted(told)
        for line in lines_of(told):
            # Names of files that are no UTF-8 cannot be printed as they are.
            print(f"{place}: {line}".encode(errors="replace").decode(), flush=True)
    return PLANTED if all_planted else NOT_PLANTED


def _parse(arguments: list[str]) -> tuple[list[Path], Job]:
    about = "Plant the feet of clips in files on a ground, and leave a report and the planted clips of each file."
    parser = argparse.ArgumentParser(prog=f"blender --background --command {NAME}", description=about)
    parser.add_argument("clips", nargs="+", type=Path, metavar="CLIP", help=f"{', '.join(CLIPS)}, or a folder of them")
    parser.add_argument("--ground", type=Path, metavar="FILE", help=f"meshes to plant on: {', '.join(GROUNDS)}")
    parser.add_argument("--output", type=Path, metavar="FOLDER", required=True, help="gets reports and planted clips")
    parser.add_argument("--kind", choices=[kind[1:] for kind in WRITERS], default="blend", help="of planted clips")
    about_scale = "enlarges the clips to the units of the ground"
    parser.add_argument("--scale", type=_scale, default=1.0, metavar="NUMBER", help=about_scale)
    parser.add_argument("--all-actions", action="store_true", help="plant every action of a file, not only the first")
    parser.add_argument("--resume", action="store_true", help="leave out clips that have a report")
    settings = parser.add_argument_group("settings of Plant Feet")
    options = {option.identifier: option for option in bpy.ops.ik2bone.plant_feet.get_rna_type().properties}
    # The command has its own --all-actions, and its --output names a folder.
    del options["rna_type"], options["all_actions"]
    options["keys"] = options.pop("output")
    for name, option in options.items():
        settings.add_argument(f"--{name.replace('_', '-')}", **_flag(option))
    given = vars(parser.parse_args(arguments))
    paths, given["kind"] = given.pop("clips"), f".{given['kind']}"
    values = {option.identifier: given.pop(name) for name, option in options.items()}
    # What is left are the fields of a job.
    job = Job(**given, options={name: value for name, value in values.items() if value is not None})
    clips = _clips(paths, job, parser)
    try:
        job.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"argument --output: {job.output} cannot be made a folder: {error.strerror}")
    return clips, job


def _scale(text: str) -> float:
    value = _read(float, text)
    if not 0.0 < value < inf:
        raise argparse.ArgumentTypeError(f"expected a number above zero, got {text}")
    return value


def _clips(paths: list[Path], job: Job, parser: argparse.ArgumentParser) -> list[Path]:
    """The clips among the files and folders. Their names must differ, because results are named after them."""
    found: list[Path] = []
    for path in paths:
        found += sorted(_clips_in(path, job)) if path.is_dir() else [path]
    if not found:
        parser.error(f"there are no clips in {', '.join(map(str, paths))}: expected files of {', '.join(CLIPS)}")
    # Some file systems do not tell upper from lower case.
    stem, count = Counter(safe_name(clip.stem).casefold() for clip in found).most_common(1)[0]
    if count > 1:
        parser.error(f"the results of {count} clips would be named {stem} and replace one another")
    return found


def _clips_in(folder: Path, job: Job) -> Iterator[Path]:
    """The clips in a folder and its subfolders, without hidden files, the ground, and results of an earlier batch.

    macOS leaves hidden files beside the visible ones.
    """
    results, ground = job.output.resolve(), job.ground.resolve() if job.ground else None
    holds_results = folder.resolve() in results.parents
    for file in folder.rglob("*"):
        place = file.resolve()
        is_other = place == ground or place.is_dir() or (holds_results and results in place.parents)
        if file.suffix.lower() in CLIPS and not file.name.startswith(".") and not is_other:
            yield file


def _flag(option: Property) -> dict[str, Any]:
    """The arguments of `add_argument` for a property of the operator. Angles are given in degrees."""
    about = option.description.replace("%", "%%")
    if option.type == "BOOLEAN":
        return {"action": argparse.BooleanOptionalAction, "help": about}
    if option.type == "ENUM":
        return {"choices": [item.identifier for item in option.enum_items], "help": about}
    if option.type == "STRING":
        return {"help": about, "metavar": "TEXT"}
    if option.type == "FLOAT":
        angle = option.subtype == "ANGLE"
        about += f" (degrees, {degrees(option.default):g})" if angle else f" ({option.default:g})"
    return {"type": partial(_number, option), "help": about, "metavar": "NUMBER"}


def _number(option: Property, text: str) -> float:
    """A number for a property of the operator, refused if out of bounds, where Blender would clamp it silently."""
    unit = radians(1.0) if option.subtype == "ANGLE" else 1
    # Blender stores bounds in single precision.
    low, high = (float(f"{bound / unit:.6g}") for bound in (option.hard_min, option.hard_max))
    kind, what = (int, "a whole number") if option.type == "INT" else (float, "a number")
    value = _read(kind, text)
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"expected {what} from {low:g} to {high:g}, got {text}")
    return value * unit


def _read(kind: type[float], text: str) -> float:
    """The number in a text; NaN, which is out of all bounds, where there is none."""
    try:
        return kind(text)
    except ValueError:
        return nan


def register() -> None:
    """Register the command with Blender."""
    _registered.append(bpy.utils.register_cli_command(NAME, run))


def unregister() -> None:
    """Unregister the command."""
    bpy.utils.unregister_cli_command(_registered.pop())
