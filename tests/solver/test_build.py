# SPDX-License-Identifier: MIT
"""How the extension is built: the flags of packagers, the files of a source distribution, and no warning."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import ik2bone
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "native" / "binding").glob("*.c"))
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")


def setup(*arguments, **environment):
    """What setup.py prints, or skip where it cannot run."""
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    command = [sys.executable, "-W", "ignore", "setup.py", *arguments]
    answer = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def flags(tmp_path, named, step="module.c"):
    """The flags of one step, of which the last counts, with these CFLAGS; the compiler is none."""
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\necho "$@"\n')
    compiler.chmod(0o755)
    build = ["build_ext", "--force", f"--build-temp={tmp_path}", f"--build-lib={tmp_path}"]
    lines = setup(*build, CC=str(compiler), CFLAGS=named).splitlines()
    return next(line for line in lines if line.startswith("-") and step in line).split()


@pytest.mark.skipif(sys.platform == "win32", reason="the compiler that answers is a shell script")
def test_flags_of_a_packager_are_the_last_word(tmp_path):
    plain = flags(tmp_path, "")
    assert "-O3" in plain and "-g0" in plain
    packager = flags(tmp_path, "-O2 -g -fstack-protector-strong")
    assert "-O3" not in packager[packager.index("-O2") :]
    assert "-g0" not in packager
    assert "-ffp-contract=off" in packager


@pytest.mark.skipif(sys.platform != "linux", reason="the linkers of other systems have no such flag")
@pytest.mark.parametrize(("named", "stripped"), [("", True), ("-O2", True), ("-O2 -g", False), ("-g3", False)])
def test_names_for_debuggers_stay_where_a_packager_asks_for_debug_information(tmp_path, named, stripped):
    assert ("-Wl,--strip-all" in flags(tmp_path, named, "-shared")) == stripped


@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions are known by their names on x86-64")
def test_every_pass_over_lanes_is_vector_code(tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("gcc is not installed")
    own = [flag for flag in flags(tmp_path, "") if flag.startswith(("-O", "-f", "-std", "-I"))]
    found, scalar = set(), set()
    for path in (ROOT / "native" / "core").glob("*.c"):
        if "IK2B_STAGE(" not in path.read_text(encoding="utf-8"):
            continue
        command = ["gcc", *own, "-w", "-Inative/core", "-S", "-o", "-", str(path)]
        text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name, body in re.findall(r"^(\w+_pass_(?:plain|avx2|avx512)[.\w]*):$(.*?)^\t\.size", text, re.M | re.S):
            products = re.findall(r"\tv?mul([sp])d\t", body)
            found.add(name)
            if products.count("s") > products.count("p"):
                scalar.add(name)
    assert len(found) > 60
    assert not scalar


def test_a_source_distribution_holds_every_file_of_the_extension_and_its_tests(tmp_path):
    setup("-q", "egg_info", f"--egg-base={tmp_path}", "sdist", f"--dist-dir={tmp_path}", "--formats=gztar")
    (packed,) = tmp_path.glob("*.tar.gz")
    assert ik2bone.__version__ in packed.name
    with tarfile.open(packed) as archive:
        held = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    kinds = ("native/*/*.[ch]", "tests/**/*.py", "docs/*.md", "addon/**/*.toml", "examples/*", "demo/*.py", "Makefile")
    for kind in kinds:
        needed = {path.relative_to(ROOT) for path in ROOT.glob(kind) if path.is_file()}
        assert needed and needed <= held


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_compiler_warns_of_nothing(compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        pytest.skip("the headers of this Python are not installed")
    macros = [] if sysconfig.get_config_var("Py_GIL_DISABLED") else ["-DPy_LIMITED_API=0x030B0000"]
    folders = ["-Inative/core", "-isystem", sysconfig.get_path("include")]
    command = [compiler, "-std=c11", "-fsyntax-only", *WARNINGS, *macros, *folders, *map(str, SOURCES)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
