# SPDX-License-Identifier: MIT
"""Regions of what goes on after its call: generators, coroutines, async generators, loops; and `async with`.

Their events are spans, which belong to no thread: another thread may take the next step.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import sys
from typing import Any, AsyncIterator, Callable, Dict, Generic, Iterator, Optional, TypeVar

from . import _core

T = TypeVar("T")
_Any = Callable[..., Any]


def wrap(region: _core.Region, function: _Any) -> _Any:
    """A function of the same kind, with a span from its first step to its end."""
    code = function.__code__
    if code.co_flags & inspect.CO_ASYNC_GENERATOR:
        wrapper = _async_generator(region, function)
    elif code.co_flags & inspect.CO_COROUTINE:
        wrapper = _coroutine(region, function)
    else:
        wrapper = _generator(region, function)
        if code.co_flags & inspect.CO_ITERABLE_COROUTINE:
            import types

            wrapper = types.coroutine(wrapper)
    return functools.wraps(function)(wrapper)


def _generator(region: _core.Region, function: _Any) -> _Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        inner = function(*args, **kwargs)
        if _core.enabled():
            inner = _core.span(region).steps(inner)
        return (yield from inner)

    return wrapper


def _coroutine(region: _core.Region, function: _Any) -> _Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        inner = function(*args, **kwargs)
        if _core.enabled():
            inner = _core.span(region).steps(inner)
        return await inner

    return wrapper


def _async_generator(region: _core.Region, function: _Any) -> _Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        inner = function(*args, **kwargs)
        span = _core.span(region) if _core.enabled() else None
        step: Any = span.steps if span else _as_it_is
        try:
            value = await step(inner.__anext__(), False)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    await step(inner.aclose(), False)
                    raise
                except BaseException as error:
                    value = await step(inner.athrow(error), False)
                else:
                    value = await step(inner.asend(sent), False)
        except StopAsyncIteration:
            return
        finally:
            if span:
                span.end()

    return wrapper


def _as_it_is(step: Any, _ends: bool) -> Any:
    return step


async def enter_async(region: _core.Region) -> _core.Span:
    """`async with region`: a span, which other tasks of the thread may run through."""
    span = _core.span(region)
    _core.current.set(span)
    return span


async def exit_async(region: _core.Region) -> None:
    """Ends the innermost span of this region in this context."""
    span = _core.current.get(None)
    while span is not None and span.region is not region:
        span = span.parent
    if span is not None:
        _core.current.set(span.parent)
        span.end()


class Loop(Generic[T]):
    """What dftrace.iter() returns: as often as it is iterated over, a region with one step an element, and in it one fetch."""

    def __init__(self, iterable: Any, region: _core.Region) -> None:
        self._iterable = iterable
        self._region = region

    def __len__(self) -> int:
        return len(self._iterable)

    def __iter__(self) -> Iterator[T]:
        if not _core.enabled():
            return builtins.iter(self._iterable)
        return self._run()

    def _run(self) -> Iterator[T]:
        count = 0
        elements: Optional[Iterator[T]] = None
        with self._region:
            try:
                while True:
                    step = _core.region("step", step=count)
                    element: Any = _NOTHING
                    step.__enter__()
                    try:
                        with _FETCH:
                            if elements is None:
                                elements = builtins.iter(self._iterable)
                            element = next(elements, _NOTHING)
                    finally:
                        if element is _NOTHING:
                            _core.drop(step.category, "step")
                    if element is _NOTHING:
                        break
                    count += 1
                    try:
                        yield element
                    finally:
                        step.__exit__(None, None, None)
            finally:
                self._region.update(count=count)

    async def __aiter__(self) -> AsyncIterator[T]:
        around = _core.current.get(None)
        loop = _core.span(self._region)
        elements = self._iterable.__aiter__()
        count = 0
        try:
            while True:
                _core.current.set(loop)
                fetch = _core.span(_FETCH)
                try:
                    element = await fetch.steps(elements.__anext__().__await__(), False)
                    step = _core.span(_core.region("step", step=count))
                    step.since(fetch)
                except StopAsyncIteration:
                    break
                finally:
                    fetch.end()
                count += 1
                _core.current.set(step)
                try:
                    yield element
                finally:
                    step.end()
        finally:
            loop.update(count=count)
            loop.end()
            _core.current.set(around)


_FETCH = _core.region("fetch")
_NOTHING = object()


def iter(iterable: Any, name: str = "epoch", **args: Any) -> Loop[Any]:
    """Iterates over `iterable` in a region `name` with these arguments and, at its end, `count`.

    In it each element has a region "step" with the argument `step`, from 0 on: getting the element, which is a region
    "fetch" of its own, and the body of the loop. A fetch that gives no element has no step. A break, an exception and
    a generator's close end the regions. Async iterables: `async for`.
    """
    return Loop(iterable, _core.region(name, **args))


@contextlib.contextmanager
def paused(thread: bool = False) -> Iterator[None]:
    """Nothing is recorded within, of this process or, with thread=True, of the calling thread; open regions go on."""
    _core.pause(thread=thread)
    try:
        yield
    finally:
        _core.resume(thread=thread)


def _by_value() -> bool:
    """Is this a pickle of cloudpickle's, which takes functions of __main__ by value?"""
    frame = sys._getframe(2)
    return "cloudpickle" in str(frame.f_globals.get("__name__", ""))


def reduce(function: Any) -> Any:
    """How a decorated function is pickled: by reference, as functions are."""
    if _by_value() and (function.__module__ == "__main__" or "<locals>" in function.__qualname__):
        return _core.empty_function, (function.__dftrace_region__,), function.__wrapped__
    return str(function.__qualname__)


def _region(name: Optional[str], category: str, args: Dict[str, Any]) -> _core.Region:
    return _core.region(name, category=category, args=args)


def reduce_region(region: _core.Region) -> Any:
    """How a region is pickled."""
    return _region, (region.name, region.category, region.args)
