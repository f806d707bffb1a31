# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Blender: the `bpy` module with a temporary user folder that holds only our add-on."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import NoReturn

ADDON = "bl_ext.user_default.ik2bone"
SOURCE = Path(__file__).resolve().parent.parent / "addon"


def start() -> ModuleType:
    """Import `bpy` with a temporary user folder in which `addon/` is installed as an extension, and reset Blender.

    Blender reads the folder's name at the import, so later calls in the same process only reset Blender.
    """
    if "bpy" not in sys.modules:
        _make_user_folder()
    import bpy

    reset(bpy)
    return bpy


def reset(bpy: ModuleType) -> None:
    """Load factory settings with an empty scene and enable the add-on."""
    import addon_utils

    bpy.ops.wm.read_factory_settings(use_empty=True)
    failures: list[BaseException] = []
    if addon_utils.enable(ADDON, default_set=True, handle_error=failures.append) is None:
        raise RuntimeError(f"The add-on could not be enabled: {failures[0] if failures else ADDON}")


def leave(code: int) -> NoReturn:
    """End the process with this exit code, without the static destructors of Blender 4.5.

    If anything (a kept traceback, a cache) still refers to the `bpy` module when Python ends, these destructors wait
    for ever for the thread that closes the sound device.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(code)


def tell(text: str) -> None:
    """Print a line about the progress of the demo at once."""
    print(f"demo: {text}", flush=True)


@contextmanager
def silence() -> Iterator[None]:
    """Suppress the output of Blender and its Python code, for instance about saved files and by importers."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept, nowhere = [os.dup(channel) for channel in (1, 2)], os.open(os.devnull, os.O_WRONLY)
    for channel in (1, 2):
        os.dup2(nowhere, channel)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        for channel, former in zip((1, 2), kept, strict=True):
            os.dup2(former, channel)
        for opened in (*kept, nowhere):
            os.close(opened)


def _make_user_folder() -> None:
    folder = Path(tempfile.mkdtemp(prefix="ik2bone-blender-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    extensions = folder / "extensions" / "user_default"
    extensions.mkdir(parents=True)
    (extensions / "ik2bone").symlink_to(SOURCE, target_is_directory=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(folder)
