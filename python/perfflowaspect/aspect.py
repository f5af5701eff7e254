# SPDX-License-Identifier: MIT
"""PerfFlowAspect's decorators and events.

>>> @perfflowaspect.aspect.critical_path(pointcut="around")
... def solve(): ...

PERFFLOW_OPTIONS is honoured. `dftmerge export --format perfflow` writes the file that PerfFlowAspect would have
written.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import sys
from typing import Any, Callable, Dict, Optional, TypeVar

import dftrace
from dftrace import _core

F = TypeVar("F", bound=Callable[..., Any])

_POINTCUTS = ("around", "before", "after", "around_async", "before_async", "after_async")
_OPTIONS = os.environ.get("PERFFLOW_OPTIONS", "")
_LOGS = "log-enable=false" not in _OPTIONS.lower().split(":")
_ON = _LOGS and (dftrace.enabled() or os.environ.get("DFTRACER_ENABLE", "0").lower() in ("1", "on", "true", "yes"))
_said = 0  # the process that has said its options


def _say_options() -> None:
    """The file that an export writes is named by the options of its process."""
    global _said
    if _said != os.getpid():
        _said = os.getpid()
        _core.metadata("options", _OPTIONS, "perfflow")


def _goes_on(function: Callable[..., Any]) -> bool:
    return (inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function)
            or inspect.isasyncgenfunction(function))


def _around(function: F, args: Dict[str, Any]) -> F:
    """What goes on after its call, over its life."""
    _say_options()
    region = dftrace.region(function.__qualname__, category=function.__module__, args=args)
    region._more = args  # of the end, which an export writes by itself
    return region(function)


def _woven(function: F, pointcut: str, scope: Optional[str]) -> F:
    weave, of, name = _core.weave, str(function.__module__), str(function.__qualname__)
    is_async = pointcut.endswith("_async")
    before, after = not pointcut.startswith("after"), not pointcut.startswith("before")

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if before:
            weave(False, is_async, of, name, scope, pointcut)
        try:
            return function(*args, **kwargs)
        finally:
            if after:
                weave(True, is_async, of, name, scope, pointcut)

    return wrapper  # type: ignore[return-value]


def critical_path(pointcut: str = "around", scope: str = "") -> Callable[[F], F]:
    """Decorates a function: pointcut "around" (its call), "before" or "after" (that point), or these with "_async".

    scope names what asynchronous events belong to. An exception passes, and the event is recorded. Generators and
    coroutines that are decorated with "around" are events from their first step to their end.
    """
    if pointcut not in _POINTCUTS:
        near = difflib.get_close_matches(str(pointcut), _POINTCUTS, 1)
        print(f"dftrace: pointcut {pointcut!r} is not known: the function is not traced. Pointcuts are "
              f"{', '.join(_POINTCUTS)}." + (f" Did you mean {near[0]!r}?" if near else ""), file=sys.stderr)

    def decorator(function: F) -> F:
        if not _ON or pointcut not in _POINTCUTS:
            return function
        if pointcut.startswith("around") and _goes_on(function):
            return _around(function, {"pointcut": pointcut, **({"scope": scope} if scope else {})})
        return _woven(function, pointcut, scope or None)

    return decorator


def _check(pointcut: str, *known: str) -> None:
    if pointcut not in known:
        raise ValueError(f"Invalid pointcut: {pointcut!r} is none of {', '.join(known)}")


def sync_event(pointcut: str, name: str, category: str) -> None:
    """Records that `name` begins ("before") or ends ("after") here. Raises ValueError for another pointcut."""
    _check(pointcut, "before", "after")
    if _ON:
        _core.weave(pointcut == "after", False, str(category), str(name), None, pointcut)


def async_event(pointcut: str, name: str, category: str, scope: Optional[str] = None, id: Optional[int] = None) -> None:
    """Records that `name` begins ("before"), ends ("after") or goes on ("instant"), in one thread or another.

    The begin and the end of one event have the same `id`, 123 where none is given. Raises ValueError for another
    pointcut.
    """
    _check(pointcut, "before", "instant", "after")
    if not _ON:
        return
    _say_options()
    number = id or 123
    args = {"pointcut": f"{pointcut}_async", **({"scope": str(scope)} if scope else {})}
    if pointcut == "before":
        _core.async_begin(category, name, number, args)
    elif pointcut == "after":
        _core.async_end(category, name, number, args)
    else:
        dftrace.instant(name, id=number, **args)
