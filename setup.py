# SPDX-License-Identifier: MIT
"""The build of the extension `ik2bone._core`, and the text for a package index; the rest is in pyproject.toml."""

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


# On Windows, setuptools uses cl.exe. Pragmas tell it which loops are independent, and it vectorizes loops with SSE2
# where it can. Code for AVX2 and AVX-512, chosen at run time, is built only by gcc and clang.
MSVC_FLAGS = ["/std:c11", "/O2", "/fp:precise", *([] if ABI3 else ["/experimental:c11atomics"])]


def unix_flags() -> list[str]:
    """The flags for gcc and clang. CFLAGS, if it names any, decides on optimization and debug information."""
    named = shlex.split(os.environ.get("CFLAGS", ""))
    # Python's own flags ask for debug information, which would be three quarters of the file.
    own = [flag for flag in ("-O3", "-g0") if not any(word.startswith(flag[:2]) for word in named)]
    # -fno-tree-slp-vectorize: when gcc 12 vectorizes straight-line code, (double)(float)x loses its rounding.
    # -ffp-contract=off: with fused multiply-add, results would differ between kinds of processors.
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
    """The files with this suffix in native/core and native/binding."""
    return sorted(str(path) for folder in ("core", "binding") for path in Path("native", folder).glob(f"*.{suffix}"))


def has_cglm(folder: str) -> bool:
    """Whether the folder holds the headers as `cglm/cglm.h`."""
    return (Path(folder) / "cglm" / "cglm.h").is_file()


def pkg_config_folders() -> list[str]:
    """The include folders that pkg-config names for cglm. It leaves out system folders, which compilers search."""
    command = [*shlex.split(os.environ.get("PKG_CONFIG", "pkg-config")), "--cflags-only-I", "cglm"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return [flag[2:] for flag in shlex.split(answer)]


def cglm_folders(finds_by_itself: bool) -> list[str]:
    """The include folders to add for cglm: that of CGLM_INCLUDE_DIR, or those of pkg-config, or none.

    `finds_by_itself` says whether the compiler finds cglm without any. Exits with a message if cglm is not found.
    """
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
    """A build command that looks for cglm only when it compiles, so that metadata can be read without cglm."""

    def build_extension(self, ext: Extension) -> None:
        """Compile the extension with the include folders and flags for this compiler."""
        ext.include_dirs += cglm_folders(self.compiler_finds_cglm())
        ext.extra_compile_args += MSVC_FLAGS if self.compiler.compiler_type == "msvc" else unix_flags()
        if sys.platform == "linux" and "-g0" in ext.extra_compile_args:
            # Without debug information, names of static functions serve nobody; they are 4 % of the file.
            ext.extra_link_args.append("-Wl,--strip-all")
        super().build_extension(ext)

    def compiler_finds_cglm(self) -> bool:
        """Whether the bare include line compiles. Error messages of the compiler are hidden: we print our own."""
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
    """The README for a package index, where relative links lead nowhere.

    Relative links get `address` in front of them or, without an address, become text.
    """

    def full(link: re.Match[str]) -> str:
        words, path = link.groups()
        return f"[{words}]({address}/{path})" if address else f"{words} (`{path.partition('#')[0]}`)"

    named = text if address else text.replace("\n\n", "\n\nFiles in parentheses are in the source distribution.\n\n", 1)
    return re.sub(r"!?\[([^\]]*)\]\((?!\w+:)([^)]+)\)", full, named)


def long_description() -> str:
    """The README for a package index, with `Source` under `[project.urls]` as the address of this folder's files."""
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
