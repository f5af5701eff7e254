# SPDX-License-Identifier: MIT
"""Tells the trace what each process is, by the names of multiprocessing, torch and pytest-xdist.

dftrace._hooks executes this file when the program imports one of them. It imports nothing, and is
given core() by the one that executes it.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from dftrace._hooks import core

LOADER = ("torch.utils.data._utils.worker", "_worker_loop")


def set_role(role: str) -> None:
    """Names this process in the trace. Does nothing where this Python cannot load the extension."""
    extension = core()
    if extension is not None:
        extension.set_role(role)


def role_of(process: "Any") -> str:
    """What a multiprocessing.Process is called: its name, and for a worker of torch its number.

    Only a name that multiprocessing has made up gives way to torch's number.
    """
    name: str = process.name
    target: "Any" = getattr(process, "_target", None)
    if (getattr(target, "__module__", ""), getattr(target, "__name__", "")) != LOADER:
        return name
    arguments = dict(zip(target.__code__.co_varnames, process._args))
    arguments.update(process._kwargs)
    number, count = arguments.get("worker_id"), arguments.get("num_workers")
    made_up = type(process).__name__ + "-" + ":".join(str(number) for number in process._identity)
    return name if name != made_up or number is None else f"DataLoader worker {number}/{count}"


def helps() -> bool:
    """Is this process one that multiprocessing or loky starts for itself? Its command line says so."""
    line = getattr(sys, "orig_argv", None)  # Python 3.10
    if line is None:
        with open("/proc/self/cmdline", errors="surrogateescape") as file:
            line = file.read().split("\0")
    return any(word == "--multiprocessing-fork" or word.endswith("loky.backend.popen_loky_posix") or
               word.startswith("from ") and (" multiprocessing." in word or "loky.backend." in word)
               for word in line[1:])


def name_processes(module: "ModuleType") -> None:
    """multiprocessing.process is imported: names this process, and each one that multiprocessing starts."""
    base: "Any" = module.BaseProcess
    bootstrap = base._bootstrap

    def _bootstrap(self: "Any", *args: "Any", **kwargs: "Any") -> "Any":
        try:
            set_role(role_of(self))
        except Exception:
            pass
        return bootstrap(self, *args, **kwargs)

    base._bootstrap = _bootstrap
    if not (os.environ.get("DFTRACER_ROLE") or "PYTEST_XDIST_WORKER" in os.environ and "xdist" in sys.modules or
            helps()):
        set_role("MainProcess")


def name_xdist(module: "ModuleType") -> None:
    """pytest imports its plugins: a worker of xdist knows its number by then."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        set_role("pytest-xdist " + worker)
