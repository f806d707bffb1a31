# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive a Blender with a window: `python -m tests.gui TOOL SUITE`, skipped where the tool is not at hand.

The tool is a script that runs Blender on a display of its own: `TOOL run SUITE FOLDER <Blender's arguments>`, with the
folder visible as /w and Blender's user folder in it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ik2bone

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("IK2BONE_DATA", ROOT.parent / "shared" / "data"))
CLIP = DATA / "bvh" / "cmu_ic_002_01_walk.bvh"
# The longest time for a step of a script, enough on a busy machine too, and the time between looks, in seconds.
PATIENCE, LOOK = 240.0, 0.5
# The requirements: updates a second, seconds until Esc has stopped a run, milliseconds a redraw.
UPDATES, STOP, REDRAW = 10.0, 1.0, 2.0
# The greatest distance in metres of a planted foot from the place that its footprint was moved to.
OFF = 0.005
# Scripts, with the arguments for Blender; drag.py explains its small window.
SCRIPTS = {"drag.py": ("--window-geometry", "0", "0", "640", "480"), "drive.py": (), "edit.py": ()}
# Modules of the tests without a window that make rigs.
RIGS = ("biped.py", "control_rig.py", "fingerprint.py")


def main(tool: Path, suite: str, keep: Path) -> int:
    """Run the steps of all scripts, print their results, and return the exit code."""
    missing = [str(path) for path in (tool, CLIP) if not path.exists()]
    if missing:
        print(f"skipped: no {' and no '.join(missing)}")
        return 0
    if subprocess.run([tool, "install", suite], check=False, stdout=subprocess.DEVNULL).returncode:
        print(f"skipped: {tool.name} cannot install {suite}")
        return 0
    with tempfile.TemporaryDirectory(prefix="ik2bone-gui-") as folder:
        result = {}
        for script in SCRIPTS:
            stage(tool, suite, Path(folder))
            result |= drive(tool, suite, Path(folder), script)
        keep.mkdir(parents=True, exist_ok=True)
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, keep)
    print(json.dumps(result, indent=1))
    return judge(result)


def stage(tool: Path, suite: str, folder: Path) -> None:
    """Put the clip, the scripts, and a user folder with the installed add-on into `folder`.

    The add-on is installed from the zip if `make extension` has built one, else copied from the working tree together
    with the package.
    """
    shutil.rmtree(folder / "blender-user", ignore_errors=True)
    shutil.copy(CLIP, folder / "walk.bvh")
    scripts = [Path(__file__).with_name(script) for script in (*SCRIPTS, "steps.py")]
    for script in (*scripts, *(ROOT / "tests" / "blender" / name for name in RIGS)):
        shutil.copy(script, folder)
    (folder / "packages").mkdir(exist_ok=True)
    built = sorted((ROOT / "dist").glob("ik2bone-*.zip"))
    if built:
        shutil.copy(built[-1], folder)
        install = ["--command", "extension", "install-file", "-r", "user_default", f"/w/{built[-1].name}"]
        subprocess.run([tool, "run", suite, folder, *install], check=True, stdout=subprocess.DEVNULL)
        return
    extension = folder / "blender-user" / "extensions" / "user_default" / "ik2bone"
    shutil.copytree(ROOT / "addon", extension, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(ik2bone.__file__).parent, folder / "packages" / "ik2bone", dirs_exist_ok=True)


def drive(tool: Path, suite: str, folder: Path, script: str) -> dict:
    """Run a script in Blender: the results that its steps wrote, or an `error`."""
    written = folder / "result.json"
    written.unlink(missing_ok=True)
    path = "import sys; sys.path.append('/w/packages')"
    arguments = [*SCRIPTS[script], "--factory-startup", "--enable-event-simulate", "--python-expr", path]
    arguments += ["--addons", "bl_ext.user_default.ik2bone", "--python", f"/w/{script}", "--", "/w"]
    with (folder / "log").open("w+") as log:
        # Blender and its display are children of the tool and outlive it, so the process group is ended as a whole.
        command = [tool, "run", suite, folder, *arguments]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        late = wait(process, folder / "step")
        log.seek(0)
        told = f"{script} took more than {PATIENCE:.0f} s in {late}" if late else log.read()
    return json.loads(written.read_text()) if written.exists() else {"error": told}


def wait(process: subprocess.Popen[bytes], written: Path) -> str:
    """Wait for the end of a process, and kill it if a step takes too long: the name of this step, else an empty text.

    Scripts write the name of the present step to the file `written`.
    """
    step, since = "", time.monotonic()
    written.write_text("the start of Blender")
    while process.poll() is None:
        present = written.read_text()
        if present and present != step:
            step, since = present, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return step
        time.sleep(LOOK)
    return ""


def judge(result: dict) -> int:
    """Print a line for each requirement, and return the exit code: 1 if one is not met."""
    if "error" in result:
        return 1
    stopped = result.get("long run", {"was running": [], "seconds to stop": 0.0, "left as it was": False})
    updates, most = (result[f"updates a second of {what}"] for what in ("Plant Feet", "an operator that does nothing"))
    wishes = {
        f"the feet follow a drag of Strength at least {UPDATES:.0f} times a second: {updates:.1f} "
        f"({most:.1f} for an operator that does nothing)": updates >= UPDATES,
        f"Esc stops a long run within {STOP:.0f} s": bool(stopped["was running"])
        and stopped["seconds to stop"] <= STOP,
        "a stopped run leaves all as it was": stopped["left as it was"],
        f"a redraw takes at most {REDRAW:.0f} ms": sum(result["redraw, milliseconds"].values()) <= REDRAW,
        "nothing is stored while a bar is dragged": result["stored while dragging"] is False,
        "a bar that was dragged is pinned": result["dragged"][1][1] == "enforced",
        "a drag is undone and done again": result["drag undone and done again"],
        "a footprint that was moved is undone and done again": result["move undone and done again"],
        f"feet stand within {OFF:g} m of where they were moved": result["planted off its place by"] <= OFF,
        "Online Manual opens a section of the guide": [url.rpartition("/")[2] for url in result["Online Manual opens"]]
        == ["guide.html#guide-the-panel"],
        "footprints are drawn again with the add-on": result["drawn again"] > 0,
        "corrections are a strip over the action": result["strips"] == ["REPLACE", "COMBINE"],
        "a Rigify character is planted by its inverse kinematics": result["Rigify, targets keyed"] is True,
    }
    for wish, is_so in wishes.items():
        print(f"{'yes' if is_so else 'NO '}  {wish}")
    return 0 if all(wishes.values()) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], ROOT / "build" / "gui"))
