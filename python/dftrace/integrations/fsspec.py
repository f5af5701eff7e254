# SPDX-License-Identifier: MIT
"""Regions from fsspec: what a program asks of a file system, be it object storage, an archive or a cache.

`install()`, or `python -m dftrace run --fsspec`. An operation is named `protocol.operation`, such as `s3.cat_file`. Of
operations of one file system within each other only the outermost is recorded, so that no byte counts twice; a cache
and the file system behind it are two."""
from __future__ import annotations

import asyncio
import contextvars
import inspect
from types import FunctionType, ModuleType
from typing import Any, Callable, Dict, List, Optional

import dftrace
from dftrace import _core

from . import _hooks
from . import _fsspec_bytes as measure

FSSPEC = "FSSPEC"
OPERATIONS = (
    "open cat cat_file cat_ranges get get_file put put_file pipe pipe_file ls info exists find glob rm rm_file "
    "cp_file mv mkdir makedirs"
).split()
FILE_OPERATIONS = ("read", "write", "_fetch_range", "_upload_chunk")
NAMES = {"_fetch_range": "get_range", "_upload_chunk": "put_range"}

_state: Dict[str, Any] = {"installed": False, "missing": []}


def install() -> List[str]:
    """Hooks fsspec, now or when the program imports it. Nothing is hooked when tracing is off; a second call does
    nothing.

    Returns what this version of fsspec does not have, and is not traced."""
    if not _state["installed"] and dftrace.enabled():
        _state["installed"] = True
        _hooks.when_imported("fsspec.spec", _hook_spec)
        _hooks.when_imported("fsspec.asyn", _hook_asyn)
        _hooks.when_imported("fsspec.implementations.memory", _hook_memory)
        _hooks.when_imported("fsspec.implementations.local", _hook_local)
        _hooks.when_imported("fsspec.implementations.cached", _hook_cached)
    return list(_state["missing"])


class _Operation:
    """One that goes on. `part_of` is the operation of the same file system that it lies in: only that is recorded."""

    __slots__ = ("owner", "outer", "part_of", "moved", "checked", "token")

    def __init__(self, owner: Any) -> None:
        self.owner, self.outer = owner, _current.get()
        self.part_of = _same(owner, self.outer)
        self.moved = 0  # by operations within
        self.checked: Dict[Any, bool] = {}  # paths that a cache was asked for: were they there?
        self.token = _current.set(self)

    def leave(self, moved: Optional[int]) -> Dict[str, Any]:
        """It has ended, and moved so many bytes (None: it does not know). Returns the arguments for its end."""
        try:
            _current.reset(self.token)
        except ValueError:  # a coroutine that was closed elsewhere
            pass
        moved = moved if moved is not None else self.moved or None
        if self.part_of is not None:
            self.part_of.moved += moved or 0
            for path, found in self.checked.items():
                self.part_of.checked.setdefault(path, found)
        args: Dict[str, Any] = {} if moved is None else {"bytes": moved}
        if self.checked:
            args["hits"] = sum(self.checked.values())
            args["misses"] = len(self.checked) - args["hits"]
        return args


_current: "contextvars.ContextVar[Optional[_Operation]]" = contextvars.ContextVar("dftrace.fsspec", default=None)


def _same(owner: Any, operation: Optional[_Operation]) -> Optional[_Operation]:
    """The operation that goes on on this file system, or on this file or its file system."""
    if operation is None:
        return None
    fs = None if _is_system(owner) else getattr(owner, "fs", None)
    while operation is not None:
        if operation.owner is owner or (fs is not None and operation.owner is fs):
            return operation
        operation = operation.outer
    return None


def _is_system(owner: Any) -> bool:
    return hasattr(type(owner), "protocol")


def _protocol(owner: Any) -> str:
    """Of the class: a cache answers with the attributes of what it caches."""
    system = owner if _is_system(owner) else getattr(owner, "fs", None)
    protocol = getattr(type(system), "protocol", None) or "file"
    return str(protocol if isinstance(protocol, str) else protocol[0])


# --- the functions in the place of fsspec's -------------------------------------------------------


def _blocking(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that is over when it returns."""
    moves = measure.OF.get(name, measure.nothing)
    begin, end, label = _core.begin, _core.end, NAMES.get(name, name)

    def operation(self: Any, *args: Any, **kwargs: Any) -> Any:
        this, moved, region = _Operation(self), None, f"{_protocol(self)}.{label}"
        if this.part_of is None:
            begin(FSSPEC, region, measure.given(name, self, args, kwargs))
        try:
            result = function(self, *args, **kwargs)
            moved = moves(result, args, kwargs)
            return result
        finally:
            results = this.leave(moved)
            if this.part_of is None:
                end(FSSPEC, region, results)

    return operation


def _read(function: Callable[..., Any]) -> Callable[..., Any]:
    """As _blocking. A read that fetches nothing was answered by the file's cache."""
    begin, end = _core.begin, _core.end

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        this, moved, region = _Operation(self), None, f"{_protocol(self)}.read"
        if this.part_of is None:
            begin(FSSPEC, region, measure.given("read", self, args, kwargs))
        try:
            result = function(self, *args, **kwargs)
            moved = measure.length(result)
            return result
        finally:
            fetched = this.moved
            results = this.leave(moved)
            if this.part_of is None:
                if getattr(getattr(self, "cache", None), "name", "none") != "none":
                    results.update(hits=int(not fetched), misses=int(fetched > 0), fetched=fetched)
                end(FSSPEC, region, results)

    return read


def _awaited(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of an asynchronous file system: others go on in its thread meanwhile."""
    moves = measure.OF.get(name, measure.nothing)

    async def operation(self: Any, *args: Any, **kwargs: Any) -> Any:
        this, moved, start = _Operation(self), None, _core.time_ns()
        known = measure.given(name, self, args, kwargs) if this.part_of is None else {}
        try:
            result = await function(self, *args, **kwargs)
            moved = moves(result, args, kwargs)
            return result
        finally:
            known.update(this.leave(moved))
            if this.part_of is None:
                _core.event(FSSPEC, f"{_protocol(self)}.{name}", start, _core.time_ns() - start, known)

    return operation


def _sync(function: Callable[..., Any]) -> Callable[..., Any]:
    """fsspec.asyn.sync: a thread waits for what an asynchronous file system does in another one. The operation is that
    of the thread that waits."""

    def sync(loop: Any, called: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        owner = getattr(called, "__self__", None)
        name = getattr(called, "__name__", "").lstrip("_")
        if owner is None or name not in OPERATIONS or not _is_system(owner):
            return function(loop, called, *args, **kwargs)

        def wait(_owner: Any, *args: Any, **kwargs: Any) -> Any:
            return function(loop, called, *args, **kwargs)

        return _blocking(name, wait)(owner, *args, **kwargs)

    return sync


def _check_file(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of caching file systems: is the file there?"""

    def check_file(self: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        found = function(self, path, *args, **kwargs)
        operation = _same(self, _current.get())
        if operation is not None:
            operation.checked.setdefault(path, bool(found))  # asked again when it has been put there
        return found

    return check_file


# --- putting them there ---------------------------------------------------------------------------


def _make(name: str, function: Any) -> Optional[Callable[..., Any]]:
    """What stands for a method; None: it is left as it is."""
    if not isinstance(function, FunctionType):
        return None
    plain = name[1:] if name[0] == "_" and name[1:] in OPERATIONS else name
    if asyncio.iscoroutinefunction(function):
        return _awaited(plain, function) if plain in OPERATIONS else None
    if name in OPERATIONS and not inspect.isgeneratorfunction(function):
        return _blocking(name, function)
    return None


def _hook_system(cls: Any) -> None:
    """The methods that a class of file systems has of its own."""
    for name in OPERATIONS:
        for key in (name, f"_{name}"):
            made = _make(key, vars(cls).get(key))
            if made is not None:
                _hooks.around(cls, key, _hooks.put(made))
    _hooks.around(cls, "_check_file", _check_file)


def _hook_file(cls: Any, inherited: bool = False) -> None:
    """The same of a class of files; with those that it inherits from a class that cannot be changed."""
    for name in FILE_OPERATIONS:
        function = getattr(cls, name, None) if inherited and name in ("read", "write") else vars(cls).get(name)
        if not callable(function) or asyncio.iscoroutinefunction(function):
            continue
        if hasattr(function, "__dftrace__"):
            continue
        made = _read(function) if name == "read" else _blocking(name, function)
        made.__dftrace__ = True  # type: ignore[attr-defined]
        made.__name__, made.__doc__ = name, function.__doc__
        setattr(cls, name, made)


def _hook_tree(base: Any, hook: Callable[[Any], None]) -> None:
    """The class, those made from it, and those that will be."""
    seen, todo = set(), [base]
    while todo:
        cls = todo.pop()
        if cls not in seen:
            seen.add(cls)
            hook(cls)
            todo += cls.__subclasses__()
    before = vars(base).get("__init_subclass__")

    def __init_subclass__(cls: Any, **kwargs: Any) -> None:
        if before is not None:
            before.__func__(cls, **kwargs)
        else:
            super(base, cls).__init_subclass__(**kwargs)
        hook(cls)

    base.__init_subclass__ = classmethod(__init_subclass__)


def _hook_spec(module: ModuleType) -> None:
    hooks: Dict[str, Callable[[Any], None]] = {"AbstractFileSystem": _hook_system, "AbstractBufferedFile": _hook_file}
    for name, hook in hooks.items():
        base = getattr(module, name, None)
        if isinstance(base, type):
            _hook_tree(base, hook)
        else:
            _state["missing"].append(f"fsspec.spec.{name}")


def _hook_asyn(module: ModuleType) -> None:
    if not _hooks.around(module, "sync", _sync):
        _state["missing"].append("fsspec.asyn.sync")


def _hook_memory(module: ModuleType) -> None:
    if isinstance(getattr(module, "MemoryFile", None), type):
        _hook_file(module.MemoryFile, inherited=True)


def _hook_local(module: ModuleType) -> None:
    if isinstance(getattr(module, "LocalFileOpener", None), type):
        _hook_file(module.LocalFileOpener)


def _hook_cached(module: ModuleType) -> None:
    if not hasattr(getattr(module, "CachingFileSystem", None), "_check_file"):
        _state["missing"].append("fsspec.implementations.cached.CachingFileSystem._check_file")
