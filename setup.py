# SPDX-License-Identifier: MIT
"""Describe the extension `ik2bone._core` and the text of an index page; everything else is in pyproject.toml."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")
NO_CGLM = (
    "ik2bone needs the headers of cglm: install libcglm-dev (Debian, Ubuntu), cglm-devel (Fedora) or cglm (Homebrew, "
    "vcpkg), or name their folder in the environment variable CGLM_INCLUDE_DIR"
)


# On Windows cl.exe, the compiler that setuptools takes there, is told which loops are independent and makes vectors of
# SSE2 of those that it can; builds for AVX2 and AVX-512, chosen at run time, come from gcc and clang alone.
MSVC_FLAGS = ["/std:c11", "/O2", "/fp:precise", *([] if ABI3 else ["/experimental:c11atomics"])]


def unix_flags() -> list[str]:
    """Flags of gcc and clang; optimization and debug information are those of CFLAGS where it names any."""
    named = shlex.split(os.environ.get("CFLAGS", ""))
    # Python's own flags ask for debug information, three quarters of the file.
    own = [flag for flag in ("-O3", "-g0") if not any(word.startswith(flag[:2]) for word in named)]
    # Where gcc 12 makes vectors of straight-line code, (double)(float)x loses its rounding;
    # with fused multiply-add, each kind of processor would give digits of its own.
    return [
        *own,
        "-std=c11",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fno-tree-slp-vectorize",
        "-fno-asynchronous-unwind-tables",
        "-ffp-contract=off",
        "-fvisibility=hidden",
    ]


def files(suffix: str) -> list[str]:
    """The native files of core and binding with this suffix."""
    return sorted(str(path) for folder in ("core", "binding") for path in Path("native", folder).glob(f"*.{suffix}"))


def has_cglm(folder: str) -> bool:
    """Whether the folder holds the headers as `cglm/cglm.h`."""
    return (Path(folder) / "cglm" / "cglm.h").is_file()


def pkg_config_folders() -> list[str]:
    """Include folders that pkg-config names for cglm; a system folder needs no naming and is left out by it."""
    command = [*shlex.split(os.environ.get("PKG_CONFIG", "pkg-config")), "--cflags-only-I", "cglm"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return [flag[2:] for flag in shlex.split(answer)]


def cglm_folders(finds_by_itself: bool) -> list[str]:
    """Include folders to add for cglm: the named one, pkg-config's, or none where the compiler finds it by itself."""
    named = os.environ.get("CGLM_INCLUDE_DIR")
    if named:
        if not has_cglm(named):
            sys.exit(f"CGLM_INCLUDE_DIR: expected a folder with cglm/cglm.h, got {named}")
        return [named]
    folders = pkg_config_folders()
    if any(map(has_cglm, folders)):
        return folders
    if not finds_by_itself:
        sys.exit(NO_CGLM)
    return []


class BuildWithCglm(build_ext):
    """Find cglm only when something is compiled, so that metadata can be read without it."""

    def build_extension(self, ext: Extension) -> None:
        """Compile with the folders and options that this compiler needs."""
        ext.include_dirs += cglm_folders(self.compiler_finds_cglm())
        ext.extra_compile_args += MSVC_FLAGS if self.compiler.compiler_type == "msvc" else unix_flags()
        super().build_extension(ext)

    def compiler_finds_cglm(self) -> bool:
        """Whether the bare include line compiles; where not, the compiler would complain before we say what to do."""
        folder = Path(self.build_temp)
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / "find_cglm.c"
        probe.write_text("#include <cglm/cglm.h>\n")
        shown, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            self.compiler.compile([str(probe)], output_dir=str(folder))
        except Exception:
            return False
        finally:
            os.dup2(shown, 2)
            os.close(shown)
            os.close(nowhere)
        return True


def for_index(text: str, address: str = "") -> str:
    """The README for an index page, on which relative links lead nowhere: with an address before them, or as text."""

    def full(link: re.Match[str]) -> str:
        words, path = link.groups()
        return f"[{words}]({address}/{path})" if address else f"{words} (`{path.partition('#')[0]}`)"

    named = text if address else text.replace("\n\n", "\n\nFiles in parentheses are in the source distribution.\n\n", 1)
    return re.sub(r"!?\[([^\]]*)\]\((?!\w+:)([^)]+)\)", full, named)


def long_description() -> str:
    """The README, its links completed by `Source` under `[project.urls]`, the address of this folder's files."""
    urls = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    return for_index(Path("README.md").read_text(encoding="utf-8"), urls.get("Source", ""))


core = Extension(
    "ik2bone._core",
    sources=files("c"),
    depends=files("h"),
    include_dirs=["native/core"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if ABI3 else [],
    py_limited_api=ABI3,
)

if __name__ == "__main__":
    setup(
        long_description=long_description(),
        long_description_content_type="text/markdown",
        ext_modules=[core],
        cmdclass={"build_ext": BuildWithCglm},
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
    )
