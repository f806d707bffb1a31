# SPDX-License-Identifier: MIT
"""The manifest in the extension's zip names the zip's wheels and their platforms."""

from __future__ import annotations

import tomllib

import ik2bone
import pytest

from tools import extension

LINUX = "cp311-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64"
MAC, WINDOWS = "cp311-abi3-macosx_11_0_arm64", "cp311-abi3-win_amd64"


@pytest.fixture
def staged(tmp_path, monkeypatch):
    """A function that stages wheels of these tags and returns the staged manifest."""
    monkeypatch.setattr(extension, "STAGE", tmp_path / "stage")

    def stage(*tags, version=ik2bone.__version__):
        wheels = [tmp_path / f"ik2bone-{version}-{tag}.whl" for tag in tags]
        for wheel in wheels:
            wheel.touch()
        extension.stage(wheels)
        return tomllib.loads((tmp_path / "stage" / "blender_manifest.toml").read_text())

    return stage


def test_wheels_of_all_platforms_go_into_one_zip(staged, tmp_path):
    manifest = staged(LINUX, MAC, WINDOWS)
    assert manifest["platforms"] == ["linux-x64", "macos-arm64", "windows-x64"]
    assert len(manifest["wheels"]) == 3
    assert all((tmp_path / "stage" / wheel).is_file() for wheel in manifest["wheels"])
    assert manifest["permissions"].keys() == {"files"} and manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert "GPL-3.0-or-later" in (tmp_path / "stage" / "LICENSE").read_text(encoding="utf-8")
    assert "<h1" in (tmp_path / "stage" / "guide.html").read_text(encoding="utf-8")


def test_a_wheel_of_another_version_or_platform_is_told(staged):
    with pytest.raises(SystemExit, match="expected the version of the package, 9.9"):
        staged(LINUX, version="9.9")
    with pytest.raises(SystemExit, match="expected a wheel for one of linux-arm64"):
        staged("cp311-abi3-any")


def test_the_working_tree_names_no_wheels():
    manifest = tomllib.loads((extension.ROOT / "addon" / "blender_manifest.toml").read_text())
    assert not {"wheels", "platforms"} & manifest.keys()
