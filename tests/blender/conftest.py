# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the tests that need Blender: an empty scene with the add-on enabled, and small rigs to plant."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


STATUS = pytest.StashKey[int]()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the exit status of the tests for the end of the process."""
    session.config.stash[STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Exit without Blender's destructors, which can wait for ever if a failed test still holds `bpy`."""
    if "bpy" in sys.modules and STATUS in config.stash:
        from demo import session

        session.leave(config.stash[STATUS])


@pytest.fixture(scope="session")
def _blender() -> ModuleType:
    """The `bpy` module, imported once with its own user folder."""
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("needs Blender as a Python module: pip install bpy", allow_module_level=True)
    from demo import session

    return session.start()


@pytest.fixture(scope="module")
def _settings(_blender: ModuleType) -> None:
    """Load factory settings once for each test file, because this takes five times as long as an empty scene."""
    from demo import session

    session.reset(_blender)


@pytest.fixture
def bpy(_blender: ModuleType, _settings: None) -> ModuleType:
    """Blender with an empty scene and the add-on enabled."""
    import addon_utils

    from demo import session

    if addon_utils.check(session.ADDON)[1]:
        _blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    else:
        session.reset(_blender)
    return _blender


@pytest.fixture
def addon(bpy: ModuleType) -> Callable[[str], ModuleType]:
    """The add-on's modules by name."""
    from demo import session

    return lambda name: importlib.import_module(f"{session.ADDON}.{name}")


@pytest.fixture
def walker(bpy: ModuleType) -> Any:
    """A small biped that walks on the floor z = 0."""
    import biped

    return biped.make_walker(bpy)


@pytest.fixture
def slope(bpy: ModuleType) -> Any:
    """A large plane under the walker that rises along its way."""
    import biped

    return biped.make_slope(bpy)


@pytest.fixture
def hill(bpy: ModuleType) -> Any:
    """A large plane that rises along -Y, the way in which generated rigs look."""
    import biped

    return biped.make_slope(bpy, rise=-biped.RISE)


@pytest.fixture
def library(bpy: ModuleType, walker: Any, tmp_path: Path) -> str:
    """The path of a file that holds the walker. The scene is empty afterwards."""
    from demo import session

    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {walker})
    session.reset(bpy)
    return path


@pytest.fixture
def options(bpy: ModuleType) -> Callable[..., SimpleNamespace]:
    """A function for the operator's options as plain values: its defaults with changes by keyword."""
    properties = bpy.ops.ik2bone.plant_feet.get_rna_type().properties
    values = {p.identifier: p.default for p in properties if p.identifier != "rna_type"}
    return lambda **changes: SimpleNamespace(**(values | changes))


@pytest.fixture
def ground_of(bpy: ModuleType, addon: Callable[[str], ModuleType]) -> Callable[..., Any]:
    """A function that makes a ground of objects."""

    def make(*objects: Any, leg: float = 1.0, **given: Any) -> Any:
        graph = bpy.context.evaluated_depsgraph_get()
        return addon("progress").finish(addon("ground.meshes").making_ground(graph, objects, leg, **given))

    return make


@pytest.fixture
def override(bpy: ModuleType, library: str) -> Any:
    """A library override of the walker over a slope, playing the linked action."""
    import biped

    return biped.override_walker(bpy, library)


@pytest.fixture
def command(addon: Callable[[str], ModuleType]) -> ModuleType:
    """The module of the command as Blender calls it."""
    return addon("batch.command")


@pytest.fixture
def reading(addon: Callable[[str], ModuleType]) -> ModuleType:
    """The module by which the command reads clips and grounds."""
    return addon("batch.read")


@pytest.fixture
def files(bpy: ModuleType, walker: Any, tmp_path: Path) -> Path:
    """A folder with the walker as bvh and glb, and a ground as obj that rises along the walker's way."""
    import batch_run
    import biped

    batch_run.export_bvh(bpy, walker, tmp_path / "walk.bvh")
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "model.glb"), export_animation_mode="ACTIVE_ACTIONS")
    slope = biped.make_slope(bpy, rise=batch_run.RISE)
    bpy.data.objects.remove(walker)
    slope.select_set(True)
    bpy.ops.wm.obj_export(filepath=str(tmp_path / "slope.obj"), export_selected_objects=True)
    return tmp_path
