# SPDX-License-Identifier: MIT
"""Builds the package with a C compiler and Python's headers alone.

    python3 dftrace_backend.py tree DIR     writes an importable tree to DIR
"""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig

HERE = pathlib.Path(__file__).resolve().parents[1]
EXTENSIONS = {"_core": "core_*.c"}  # module: its sources in src
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def include_folder() -> pathlib.Path:
    """Where Python.h lies."""
    folder = pathlib.Path(sysconfig.get_paths()["include"])
    if not (folder / "Python.h").exists():
        sys.exit(f"Python.h is not in {folder}: install python3-dev (Debian), or the headers of {sys.executable}")
    return folder


def contracts() -> pathlib.Path:
    """Where dftrace/api.h lies: beside the package in the repository."""
    return HERE.parent / "include"


def suffix() -> str:
    """How a module's file ends: one build serves all versions, but for a free-threaded one."""
    return str(sysconfig.get_config_var("EXT_SUFFIX")) if FREE_THREADED else ".abi3.so"


def compile_extension(name: str, pattern: str, folder: pathlib.Path) -> None:
    """Writes one extension module to the folder."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    limited = [] if FREE_THREADED else ["-DPy_LIMITED_API=0x03090000"]
    sources = sorted(str(path) for path in (HERE / "src").glob(pattern))
    command = [*compiler, "-shared", "-fPIC", "-O2", "-fvisibility=hidden", *limited, f"-I{contracts()}",
               f"-I{include_folder()}", *shlex.split(os.environ.get("CFLAGS", "")), *sources, "-o",
               str(folder / (name + suffix())), *shlex.split(os.environ.get("LDFLAGS", "")), "-ldl"]
    try:
        code = subprocess.run(command, check=False).returncode
    except FileNotFoundError:
        sys.exit(f"{compiler[0]} is not installed: install a C compiler (Debian: gcc), or set CC")
    if code:
        sys.exit(f"{name}: the compiler failed (exit code {code})")


def tree(target: pathlib.Path) -> None:
    """Writes an importable tree."""
    for package in ("dftrace", "dftracer", "perfflowaspect"):
        if (HERE / package).is_dir():
            shutil.rmtree(target / package, ignore_errors=True)
            shutil.copytree(HERE / package, target / package,
                            ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name, pattern in EXTENSIONS.items():
        compile_extension(name, pattern, target / "dftrace")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "tree":
        sys.exit("usage: python3 dftrace_backend.py tree DIR")
    tree(pathlib.Path(sys.argv[2]))
