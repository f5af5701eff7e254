# SPDX-License-Identifier: MIT
"""Regions from torch: what its DataLoader waits for and loads, what computes, and checkpoints.

`install()`, or `python -m dftrace run --torch`. Names and arguments are in docs/python-integrations.md."""
from __future__ import annotations

import os
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

import dftrace
from dftrace import _core

from . import _hooks, _torch_loader

COMPUTE = "COMPUTE"
CHECKPOINT = "CHECKPOINT"
OWN_RANGES = ("enumerate(DataLoader)", "Optimizer.zero_grad#")  # of torch's; the first is "wait for data"
STEP_RANGE = "Optimizer.step#"

_state: Dict[str, Any] = {"installed": False, "missing": []}


def install() -> List[str]:
    """Hooks torch, now or when the program imports it. Nothing is hooked when tracing is off; a second call does
    nothing.

    Returns the names that this version of torch does not have, whose regions are missing: empty when all is well,
    or when torch is not imported yet. The trace has them as metadata too."""
    if not _state["installed"] and dftrace.enabled():
        _state["installed"] = True
        _hooks.when_imported("torch", _hook)
        _hooks.when_imported("safetensors.torch", _hook_safetensors)
    return list(_state["missing"])


def _hook(torch: ModuleType) -> None:
    dftrace.metadata("torch", str(getattr(torch, "__version__", "?")))
    missing = _state["missing"]
    missing += _torch_loader.hook(torch)
    compiling = _is_compiling(torch)
    wanted = (
        (("nn", "Module"), "__call__", _forward(compiling)),
        (("autograd",), "backward", _backward(compiling)),
        (("autograd",), "grad", _backward(compiling)),
        (("autograd", "profiler", "record_function"), "__enter__", _range_enter),
        (("autograd", "profiler", "record_function"), "__exit__", _range_exit),
    )
    for path, name, make in wanted:
        if not _hooks.around(_hooks.at(torch, *path), name, make):
            missing.append(".".join((*path, name)))
    _do_not_compile(torch)
    for name in ("save", "load"):
        make = _checkpoint(f"torch.{name}", 1 if name == "save" else 0, "f", name == "save")
        if _hooks.around(torch, name, make):
            serialization = _hooks.at(torch, "serialization")
            if serialization is not None:
                setattr(serialization, name, getattr(torch, name))
        else:
            missing.append(name)
    if missing:
        dftrace.metadata("not traced in torch", ", ".join(missing))


# --- what computes --------------------------------------------------------------------------------


def _is_compiling(torch: ModuleType) -> Callable[[], bool]:
    """torch.compile looks through our functions: it finds this to be true, and sees nothing of us."""
    function: Any = _hooks.at(torch, "compiler", "is_compiling")
    return function if callable(function) else _no  # type: ignore[no-any-return]


def _no() -> bool:
    return False


def _do_not_compile(torch: ModuleType) -> None:
    """Our frame around a module is not what torch.compile is to begin with, but what it calls."""
    skip = getattr(_hooks.at(torch, "_C", "_dynamo", "eval_frame"), "skip_code", None)
    call = _hooks.at(torch, "nn", "Module", "__call__")
    if callable(skip) and hasattr(call, "__dftrace__"):
        skip(call.__code__)


def _forward(compiling: Callable[[], bool]) -> _hooks.Make:
    """The outermost call of a module; not what workers and datasets transform data with."""
    within = _torch_loader.within
    begin, end = _core.begin, _core.end

    def make(call: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or within.depth:
                return call(self, *args, **kwargs)
            within.depth = 1
            begin(COMPUTE, "forward", {"module": type(self).__name__})
            try:
                return call(self, *args, **kwargs)
            finally:
                end(COMPUTE, "forward")
                within.depth = 0

        return __call__

    return make


def _backward(compiling: Callable[[], bool]) -> _hooks.Make:
    within = _torch_loader.within
    begin, end = _core.begin, _core.end

    def make(function: Callable[..., Any]) -> Callable[..., Any]:
        def backward(*args: Any, **kwargs: Any) -> Any:
            if compiling() or within.depth:
                return function(*args, **kwargs)
            within.depth = 1
            begin(COMPUTE, "backward")
            try:
                return function(*args, **kwargs)
            finally:
                end(COMPUTE, "backward")
                within.depth = 0

        return backward

    return make


# --- ranges ---------------------------------------------------------------------------------------


def _range_enter(enter: Callable[..., Any]) -> Callable[..., Any]:
    """record_function. The step of an optimizer is such a range, which torch itself makes."""

    def __enter__(self: Any) -> Any:
        name = str(self.name)
        if name.startswith(STEP_RANGE):
            self._dftrace = COMPUTE, "optimizer.step"
            _core.begin(COMPUTE, "optimizer.step", {"optimizer": name[len(STEP_RANGE) :].partition(".")[0]})
        elif not name.startswith(OWN_RANGES):
            self._dftrace = _torch_loader.TORCH, name
            _core.begin(_torch_loader.TORCH, name)
        return enter(self)

    return __enter__


def _range_exit(leave: Callable[..., Any]) -> Callable[..., Any]:
    def __exit__(self: Any, *exception: Any) -> Any:
        try:
            return leave(self, *exception)
        finally:
            of = self.__dict__.pop("_dftrace", None)
            if of is not None:
                _core.end(*of)

    return __exit__


# --- checkpoints ----------------------------------------------------------------------------------


def _checkpoint(region: str, at: int, key: str, writes: bool) -> _hooks.Make:
    """A function that writes or reads the file that is its argument `at`, or `key`."""

    def make(function: Callable[..., Any]) -> Callable[..., Any]:
        def checkpoint(*args: Any, **kwargs: Any) -> Any:
            path = _path_of(args[at] if len(args) > at else kwargs.get(key))
            known: Dict[str, Any] = {}
            if path is not None:
                known["path"] = path
            if not writes:
                _add_size(known, path)
            _core.begin(CHECKPOINT, region, known)
            try:
                return function(*args, **kwargs)
            finally:
                size: Dict[str, Any] = {}
                if writes:
                    _add_size(size, path)
                _core.end(CHECKPOINT, region, size)

        return checkpoint

    return make


def _path_of(file: Any) -> Optional[str]:
    if isinstance(file, (str, os.PathLike)):
        return os.fsdecode(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else None


def _add_size(args: Dict[str, Any], path: Optional[str]) -> None:
    """The file's size; our question for it is not the program's, and is not traced."""
    if path is None:
        return
    with dftrace.paused(thread=True):
        try:
            args["bytes"] = os.stat(path).st_size
        except (OSError, ValueError):
            pass


def _hook_safetensors(module: ModuleType) -> None:
    for name, at, key, writes in (("save_file", 1, "filename", True), ("load_file", 0, "filename", False)):
        if not _hooks.around(module, name, _checkpoint(f"safetensors.{name}", at, key, writes)):
            _state["missing"].append(f"safetensors.torch.{name}")
