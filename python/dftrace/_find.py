# SPDX-License-Identifier: MIT
"""Where the library and the tools of dftrace are installed."""

from __future__ import annotations

import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))


class NotFound(FileNotFoundError):
    """A part of dftrace is not installed; the text says which, where it was looked for, and what to install."""


def _prefixes() -> list[str]:
    """Folders with bin and lib, the first choice first."""
    up = os.path.dirname
    home = os.environ.get("DFTRACE_HOME")
    prefixes = [home] if home else []
    prefixes.append(HERE)  # installed together
    prefixes.append(up(up(HERE)))  # build/python/dftrace: build
    at = HERE
    while at != up(at):  # PREFIX/lib/python3/dist-packages/dftrace: PREFIX
        at = up(at)
        if os.path.basename(at) in ("lib", "lib64"):
            prefixes.append(up(at))
            break
    return prefixes


def _library_folders(prefix: str) -> list[str]:
    folders = [os.path.join(prefix, "lib"), os.path.join(prefix, "lib64")]
    machine = os.uname().machine
    folders.append(os.path.join(prefix, "lib", f"{machine}-linux-gnu"))
    return [os.path.join(folder, sub) for folder in folders for sub in ("", "dftrace")]


def library() -> str:
    """The path of libdftrace.so; NotFound where it is not installed."""
    prefixes = _prefixes()
    tool = shutil.which("dftrun")
    if tool:
        prefixes.append(os.path.dirname(os.path.dirname(os.path.realpath(tool))))
    for prefix in prefixes:
        for folder in _library_folders(prefix):
            path = os.path.join(folder, "libdftrace.so")
            if os.path.exists(path):
                return path
    raise NotFound(_text("libdftrace.so"))


def tool(name: str) -> str:
    """The path of dftmerge or dftrun; NotFound where it is not installed."""
    for prefix in _prefixes():
        path = os.path.join(prefix, "bin", name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    path_of = shutil.which(name)
    if path_of:
        return path_of
    raise NotFound(_text(name))


def _text(name: str) -> str:
    places = ", ".join(os.path.join(prefix, "lib" if name.endswith(".so") else "bin") for prefix in _prefixes())
    return (f"{name} is not installed: looked in {places} and on PATH. pip installs annotations and the launcher alone: "
            "install dftrace itself, too (the Debian package dftrace, or cmake --install), and have its dftrun on PATH, "
            "or let DFTRACE_HOME name its prefix or build folder")
