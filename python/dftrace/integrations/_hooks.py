# SPDX-License-Identifier: MIT
"""How integrations get into a library: functions that are put in the place of its own, now or when it is imported."""
from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Sequence

Make = Callable[[Callable[..., Any]], Callable[..., Any]]


def around(owner: Any, name: str, make: Make) -> bool:
    """Puts make(function) in the place of a function of a module or a class.

    A class's static method stays one. A function that has been replaced is left as it is. Returns False: the owner
    has no such function."""
    original = vars(owner).get(name) if owner is not None else None
    is_static = isinstance(original, staticmethod)
    function = original.__func__ if isinstance(original, staticmethod) else original
    if not callable(function):
        return False
    if not hasattr(function, "__dftrace__"):
        new = functools.update_wrapper(make(function), function)
        new.__dftrace__ = True  # type: ignore[attr-defined]
        setattr(owner, name, staticmethod(new) if is_static else new)
    return True


def put(function: Callable[..., Any]) -> Make:
    """For around: this function, which knows what it stands for."""
    return lambda _original: function


class _Waiting(importlib.abc.MetaPathFinder):
    """Finds modules as the others do; what waits for one is called when it has been executed."""

    def __init__(self) -> None:
        self.modules: Dict[str, List[Callable[[ModuleType], object]]] = {}

    def find_spec(
        self, name: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name not in self.modules:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else getattr(finder, "find_spec", _nothing)(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    self._watch(spec.loader, name)
                return spec  # type: ignore[no-any-return]
        return None

    def _watch(self, loader: Any, name: str) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the loader is as it was
            execute(module)
            for function in self.modules.pop(name, ()):
                function(module)

        loader.exec_module = exec_module


def _nothing(*_: object) -> None:
    return None


_waiting = _Waiting()


def when_imported(name: str, function: Callable[[ModuleType], object]) -> bool:
    """Calls function(module) now if the module is there, else when it has been imported. Returns True: it was now.

    The launcher calls install() when the module has been executed, and its import is not over yet."""
    module = sys.modules.get(name)
    if module is not None:
        function(module)
        return True
    _waiting.modules.setdefault(name, []).append(function)
    if _waiting not in sys.meta_path:
        sys.meta_path.insert(0, _waiting)
    return False


def at(owner: Any, *path: str) -> Any:
    """owner.a.b.c; None: there is none."""
    for name in path:
        owner = getattr(owner, name, None)
    return owner
