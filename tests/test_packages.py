# SPDX-License-Identifier: MIT
"""The building and the description of packages: Pythons, platforms, cglm, and the text for a package index."""

from __future__ import annotations

import hashlib
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_string

import pytest

from tools import extension, fetch_cglm

PROJECT = tomllib.loads((extension.ROOT / "pyproject.toml").read_text())
WHEELS = PROJECT["tool"]["cibuildwheel"]


def test_wheels_are_tested_on_every_python_that_the_package_names():
    named = re.findall(r"Python :: 3\.(\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE)
    assert WHEELS["build"] == " ".join(f"cp3{minor}-*" for minor in named)


def test_wheels_are_built_for_every_platform_of_the_extension():
    suffixes = {"linux": "manylinux_2_28", "macos": "macosx_11_0", "windows": "win"}
    tags = [
        f"{suffix}_{arch.lower() if system == 'windows' else arch}"
        for system, suffix in suffixes.items()
        for arch in WHEELS[system]["archs"]
    ]
    wheels = [extension.Path(f"ik2bone-1-cp311-abi3-{tag}.whl") for tag in tags]
    assert {extension.platform_of(wheel) for wheel in wheels} == set(extension.PLATFORMS.values())


@pytest.fixture
def setup():
    """The names of setup.py, which does not run the set-up unless it is the main program."""
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    return runpy.run_path(str(extension.ROOT / "setup.py"))


def links(text):
    """The targets of all links and pictures in a text."""
    return re.findall(r"\]\(([^)]+)\)", text)


def test_an_index_page_names_files_that_exist_instead_of_linking_to_them(setup):
    readme = (extension.ROOT / "README.md").read_text(encoding="utf-8")
    text = setup["for_index"](readme)
    assert all(re.match(r"https?://", link) for link in links(text))
    named = set(re.findall(r"\(`([\w./]+)`\)", text))
    assert named >= {link.partition("#")[0] for link in links(readme) if "://" not in link}
    assert all((extension.ROOT / path).exists() for path in named)


def test_an_address_completes_the_links_of_an_index_page(setup):
    text = "See\n\n[a](docs/a.md#b) ![c](d.png) [e](https://e.org)\n"
    full = "See\n\n[a](https://f.org/x/docs/a.md#b) [c](https://f.org/x/d.png) [e](https://e.org)\n"
    assert setup["for_index"](text, "https://f.org/x") == full


def test_the_metadata_has_the_text_for_an_index_page(setup, tmp_path, monkeypatch):
    monkeypatch.chdir(extension.ROOT)
    command = [sys.executable, "-W", "ignore", "setup.py", "-q", "egg_info", "--egg-base", str(tmp_path)]
    subprocess.run(command, capture_output=True, check=True)
    metadata = message_from_string((tmp_path / "ik2bone.egg-info" / "PKG-INFO").read_text(encoding="utf-8"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip() == setup["long_description"]().strip()


def test_one_address_in_the_project_completes_every_link_of_the_metadata(setup, tmp_path, monkeypatch):
    address = "https://example.org/ik2bone/files"
    for name in ("README.md", "pyproject.toml", "setup.py", "LICENSE", "native/ik2bone/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(extension.ROOT / name, tmp_path / name)
    with (tmp_path / "pyproject.toml").open("a") as project:
        project.write(f'\n[project.urls]\nSource = "{address}"\n')
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-W", "ignore", "setup.py", "-q", "egg_info", "--egg-base", str(tmp_path)]
    subprocess.run(command, capture_output=True, check=True)
    metadata = message_from_string((tmp_path / "ik2bone.egg-info" / "PKG-INFO").read_text(encoding="utf-8"))
    assert metadata.get_all("Project-URL") == [f"Source, {address}"]
    found = [link for link in links(metadata.get_payload()) if link.startswith(address)]
    relative = [link for link in links((tmp_path / "README.md").read_text(encoding="utf-8")) if "://" not in link]
    assert found == [f"{address}/{link}" for link in relative]
    assert all(link.startswith("https://") for link in links(metadata.get_payload()))
    assert "source distribution" not in metadata.get_payload().partition("##")[0]


@pytest.fixture
def packages(tmp_path, monkeypatch, capsys):
    """A function that runs the program that tests packages, with a function instead of commands.

    It returns the exit code and the printed lines.
    """
    from tests.packages import __main__ as program

    def call(run):
        monkeypatch.setattr(program, "run", run)
        monkeypatch.setattr(program, "find_python", lambda version: program.Path(version))
        return program.main(tmp_path / "made"), capsys.readouterr().out.splitlines()

    return call


def test_packages_that_cannot_be_built_are_told_and_nothing_else_is_tried(packages):
    from tests.packages.__main__ import OLDEST, Failed

    def fail(*_command, **_place):
        raise Failed("no such setuptools")

    code, lines = packages(fail)
    assert code == 1
    how = f"`{OLDEST}`, alone in an environment"
    assert lines[2:] == [f"| source distribution | {how} | FAILED: no such setuptools |"]


def test_every_python_has_a_row_and_one_that_fails_is_told(packages, tmp_path):
    from tests.packages.__main__ import PYTHONS, Failed

    def answer(*command, **_place):
        if "ls-files" in command:
            return "pyproject.toml\n"
        if "hooks.build_sdist" in str(command[-1]):
            (tmp_path / "made" / "packages").mkdir()
            with tarfile.open(tmp_path / "made" / "packages" / "ik2bone-1.tar.gz", "w:gz") as made:
                made.add(extension.ROOT / "pyproject.toml", "ik2bone-1/pyproject.toml")
        if "hooks.build_wheel" in str(command[-1]):
            (tmp_path / "made" / "packages" / "ik2bone-1-cp311-abi3-none.whl").touch()
        if "pytest" in command and "python-2" in str(command[0]):
            raise Failed("1 failed, 9 passed")
        return "10 passed\n"

    code, lines = packages(answer)
    rows = [line for line in lines if line.startswith("| CPython ")]
    outcomes = [line.split(" | ")[2] for line in rows]
    assert len(rows) == len(PYTHONS) and code == 1
    assert outcomes == [f"{'FAILED: 1 failed, 9 passed' if n == 2 else '10 passed: 10 passed'} |" for n in range(5)]


def test_the_core_uses_the_headers_that_the_build_asks_for():
    assert any("#include <cglm/" in path.read_text() for path in (extension.ROOT / "native/core").glob("*.c"))


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler as cc")
def test_missing_headers_of_cglm_are_told_in_one_line(tmp_path):
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    build = ["build_ext", f"--build-temp={tmp_path}", f"--build-lib={tmp_path}"]
    # A compiler that searches no folder for headers.
    nothing = {"CC": "cc -nostdinc", "PKG_CONFIG": "false", "CGLM_INCLUDE_DIR": ""}
    command = [sys.executable, "-W", "ignore", "setup.py", "-q", *build]
    answer = subprocess.run(command, cwd=extension.ROOT, env=os.environ | nothing, capture_output=True, text=True)
    assert answer.returncode == 1
    (line,) = answer.stderr.splitlines()
    assert line.startswith("ik2bone needs the headers of cglm: install libcglm-dev (Debian, Ubuntu), ")


@pytest.fixture
def archive(tmp_path):
    """The address and the SHA-256 of an archive like that of cglm."""
    path = tmp_path / "cglm.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        for name, text in (("include/cglm/cglm.h", b"#define CGLM\n"), ("src/cglm.c", b""), ("../../out.h", b"")):
            member = tarfile.TarInfo(f"cglm-{fetch_cglm.VERSION}/{name}")
            member.size = len(text)
            made.addfile(member, io.BytesIO(text))
    return path.as_uri(), hashlib.sha256(path.read_bytes()).hexdigest()


def test_headers_of_cglm_are_fetched_and_nothing_else(archive, tmp_path):
    fetch_cglm.fetch(tmp_path / "cglm", *archive)
    files = [path.relative_to(tmp_path) for path in (tmp_path / "cglm").rglob("*") if path.is_file()]
    assert [path.as_posix() for path in files] == ["cglm/include/cglm/cglm.h"]


def test_another_archive_than_the_pinned_one_is_refused(archive, tmp_path):
    with pytest.raises(SystemExit, match=r"cglm.tar.gz: expected SHA-256 be5e7d38\w+, got \w+"):
        fetch_cglm.fetch(tmp_path / "cglm", archive[0])
    assert not (tmp_path / "cglm").exists()
