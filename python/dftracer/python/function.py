# SPDX-License-Identifier: MIT
"""dft_fn: DFTracer's annotations of functions, blocks and loops."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, TypeVar, Union, overload

import dftrace
from dftrace import _core, entities
from dftracer.python.env import DFTRACER_ENABLE
from dftracer.python.tags import KNOWN, known, typed
from dftracer.python.tracer import dftracer

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def loop(elements: Iterable[T], category: str, names: Tuple[Optional[str], Optional[str]], key: str,
         args: Dict[str, Any]) -> Iterator[T]:
    """The elements, with a region of the first name around getting each and one of the second around the body.

    Both have the number of the element, from 1 on, as the argument `key`, and at their end what is in `args` then. No
    region is recorded for finding out that there are no more elements.
    """
    fetch, body = names
    source = builtins.iter(elements)
    count = 1
    while True:
        if fetch:
            _core.begin(category, fetch, {key: count})
        try:
            element = next(source)
        except StopIteration:
            if fetch:
                _core.drop(category, fetch)
            return
        except BaseException:
            if fetch:
                _core.end(category, fetch, args)
            raise
        if fetch:
            _core.end(category, fetch, args)
        if body:
            _core.begin(category, body, {key: count})
        try:
            yield element
        finally:
            if body:
                _core.end(category, body, args)
        count += 1


def _places(function: Callable[..., Any]) -> Tuple[bool, List[Tuple[str, int, Any]]]:
    """Whether the function is a method, and where its known parameters are: name, position or -1, default."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of functions in C
        return False, []
    places = [(p.name, index if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) else -1,
               None if p.default is p.empty else p.default)
              for index, p in enumerate(parameters) if p.name in KNOWN]
    return bool(parameters) and parameters[0].name == "self", places


def _found(is_method: bool, places: List[Tuple[str, int, Any]], args: Tuple[Any, ...],
           kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """What this call's known parameters are, and what the object of a method has under these names."""
    found: Dict[str, Any] = {}
    if is_method and args:
        for name in KNOWN:
            try:
                value = getattr(args[0], name, None)
            except Exception:  # of a property of the program's
                continue
            if value is not None and not callable(value):
                found[name] = typed(name, value)
    for name, position, default in places:
        value = args[position] if 0 <= position < len(args) else kwargs.get(name, default)
        if value is not None:
            found[name] = typed(name, value)
    return found


class dft_fn:
    """A category, and a name for blocks: dft_fn("COMPUTE") makes decorators, `with dft_fn("IO", "load")` a region.

    epoch, step, image_idx, image_size: arguments of all its events. enable=False: nothing is recorded.
    """

    def __init__(self, cat: str, name: Optional[str] = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, enable: bool = True) -> None:
        self._cat = cat
        self._on = DFTRACER_ENABLE and enable
        self._name = name or sys._getframe(1).f_code.co_name
        self._args: Dict[str, Any] = {}
        self._relations: Dict[str, int] = {}
        self._is_open = False
        self._is_flushed = False
        self._start = 0
        if self._on:
            self._args.update(known(epoch, step, image_idx, image_size, None))
            self._start = _core.time_ns()

    # --- blocks -----------------------------------------------------------------------------------

    def __enter__(self) -> "dft_fn":
        if self._on:
            _core.begin(self._cat, self._name)
            self._is_open = True
            self._is_flushed = False
        return self

    def __exit__(self, *_: object) -> None:
        if self._on and not self._is_flushed:
            self.flush()

    def flush(self) -> "dft_fn":
        """Records the event: what began with `with`, or at the last reset() or the making of the object."""
        if self._on:
            args = {**self._args, **self._relations}
            if self._is_open:
                _core.end(self._cat, self._name, args)
            else:
                _core.event(self._cat, self._name, self._start, _core.time_ns() - self._start, args)
            self._is_open = False
            self._is_flushed = True
            self._relations = {}
        return self

    def reset(self) -> "dft_fn":
        """The event begins now. Of an open block the part before is recorded as an event of its own."""
        if self._on:
            if self._is_open:
                self.flush()
                _core.begin(self._cat, self._name)
                self._is_open = True
            self._is_flushed = False
            self._relations = {}
            self._start = _core.time_ns()
        return self

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None,
               args: Optional[Mapping[str, Any]] = None) -> "dft_fn":
        """Arguments of the event that is open, and of all later events of this object and its decorated functions."""
        if self._on:
            self._args.update(known(epoch, step, image_idx, image_size, args))
        return self

    # --- decorators -------------------------------------------------------------------------------

    @overload
    def log(self, func: F, name: Optional[str] = None) -> F: ...

    @overload
    def log(self, func: None = None, name: Optional[str] = None) -> Callable[[F], F]: ...

    def log(self, func: Optional[F] = None, name: Optional[str] = None) -> Union[F, Callable[[F], F]]:
        """Decorates a function or a method, bare or with name=; without it the event has its __qualname__.

        The parameters epoch, step, image_idx and image_size, and attributes of self with these names, are arguments
        of the event.
        """
        return self._decorate(func, name, True)

    @overload
    def log_init(self, init: F, name: Optional[str] = None) -> F: ...

    @overload
    def log_init(self, init: None = None, name: Optional[str] = None) -> Callable[[F], F]: ...

    def log_init(self, init: Optional[F] = None, name: Optional[str] = None) -> Union[F, Callable[[F], F]]:
        """Decorates an __init__, as log does."""
        return self._decorate(init, name, True)

    @overload
    def log_static(self, func: F, name: Optional[str] = None) -> F: ...

    @overload
    def log_static(self, func: None = None, name: Optional[str] = None) -> Callable[[F], F]: ...

    def log_static(self, func: Optional[F] = None, name: Optional[str] = None) -> Union[F, Callable[[F], F]]:
        """Decorates a function or a staticmethod; its parameters are not recorded."""
        return self._decorate(func, name, False)

    def _decorate(self, func: Optional[F], name: Optional[str], reads: bool) -> Union[F, Callable[[F], F]]:
        if func is None:
            return lambda function: self._traced(function, name, reads)
        return self._traced(func, name, reads)

    def _traced(self, func: F, name: Optional[str], reads: bool) -> F:
        if not self._on:
            return func
        of: Any = func
        if isinstance(of, (staticmethod, classmethod)):
            made: Any = type(of)(self._traced(of.__func__, name, reads))
            return made  # type: ignore[no-any-return]
        region = dftrace.region(name or getattr(func, "__qualname__", type(func).__name__), category=self._cat)
        region._more = self._args
        is_method, places = _places(func) if reads else (False, [])
        if not (is_method or places):
            made = region(func)
        else:
            made = self._reader(region, func, is_method, places)
        return made  # type: ignore[no-any-return]

    def _reader(self, region: _core.Region, func: Callable[..., Any], is_method: bool,
                places: List[Tuple[str, int, Any]]) -> Callable[..., Any]:
        """A function of the same kind whose known parameters are arguments of its region."""
        category, name, more = self._cat, str(region.name), self._args

        def with_args(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Callable[..., Any]:
            one = dftrace.region(name, category=category, args=_found(is_method, places, args, kwargs))
            one._more = more
            made: Callable[..., Any] = one(func)
            return made

        def generator(*args: Any, **kwargs: Any) -> Any:
            return (yield from with_args(args, kwargs)(*args, **kwargs))

        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            return await with_args(args, kwargs)(*args, **kwargs)

        def plain(*args: Any, **kwargs: Any) -> Any:
            _core.begin(category, name, _found(is_method, places, args, kwargs))
            try:
                return func(*args, **kwargs)
            finally:
                _core.end(category, name, more)

        if inspect.isasyncgenfunction(func):
            return region(func)
        if inspect.isgeneratorfunction(func):
            return functools.wraps(func)(generator)
        return functools.wraps(func)(coroutine if inspect.iscoroutinefunction(func) else plain)

    # --- loops, metadata, entities ----------------------------------------------------------------

    def iter(self, func: Iterable[T], name: str = "loop", iter_name: str = "step") -> Iterator[T]:
        """Iterates over `func`: two events an element, `<name>.iter` (getting it) and `<name>.yield` (the body).

        Both have the number of the element, from 1 on, as argument `iter_name`.
        """
        if not self._on:
            return builtins.iter(func)
        return loop(func, self._cat, (f"{name}.iter", f"{name}.yield"), iter_name, self._args)

    def log_metadata(self, key: str, value: Any) -> None:
        """Records that key has this value in this process."""
        if self._on:
            dftracer.get_instance().log_metadata_event(key, value)

    def relate(self, relation: entities.Relation, entity: int) -> None:
        """Relates the event to an entity by its id. Relations of entities are ignored, and ids that are 0."""
        if self._on:
            self._relations.update(entities.argument(relation, entity))

    def relate_entity(self, relation: entities.Relation, type: str, key: object,
                      store: entities.Store = entities.EntityStore.MEMORY, uri: object = "") -> int:
        """Declares an entity and relates the event to it. Returns its id, 0 where nothing is traced."""
        if not self._on:
            return 0
        entity = entities.declare(type, key, store, uri)
        self.relate(relation, entity)
        return entity

    def uses(self, type: str, key: object, store: entities.Store = entities.EntityStore.MEMORY,
             uri: object = "") -> int:
        """Declares an entity that the event reads or needs. Returns its id, 0 where nothing is traced."""
        return self.relate_entity(entities.EntityRelation.USED, type, key, store, uri)

    def generates(self, type: str, key: object, store: entities.Store = entities.EntityStore.MEMORY,
                  uri: object = "") -> int:
        """Declares an entity that the event makes. Returns its id, 0 where nothing is traced."""
        return self.relate_entity(entities.EntityRelation.GENERATED, type, key, store, uri)
