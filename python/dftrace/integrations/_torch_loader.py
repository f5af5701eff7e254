# SPDX-License-Identifier: MIT
"""Regions of torch's DataLoader: the trainer's wait, epochs and steps, and the items that workers load."""
from __future__ import annotations

import os
import threading
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Optional

import dftrace
from dftrace import _core

from . import _hooks

TORCH = "TORCH"
WAIT = "wait for data"  # the names that dftmerge overlap and findings know
FETCH = "fetch"
ITEM = "getitem"


class _Within(threading.local):
    """More than 0: inside of a region that says what computes, or of a dataset's work, where nothing else does."""

    depth = 0


within = _Within()


def hook(torch: ModuleType) -> List[str]:
    """Hooks the loader. Returns the names that are missing."""
    loader = _hooks.at(torch, "utils", "data", "dataloader")
    utils = _hooks.at(torch, "utils", "data", "_utils")
    wanted = (
        (("DataLoader",), "__iter__", _iter),
        (("_BaseDataLoaderIter",), "__next__", _next),
        (("_DatasetKind",), "create_fetcher", _create_fetcher),
    )
    missing = []
    for path, name, make in wanted:
        if not _hooks.around(_hooks.at(loader, *path), name, make):
            missing.append(".".join((*path, name)))
    for name, make in (("pin_memory", _pin_memory), ("_pin_memory_loop", _pin_memory_loop)):
        if not _hooks.around(_hooks.at(utils, "pin_memory"), name, make):
            missing.append(name)
    worker = _hooks.at(utils, "worker")
    if callable(getattr(worker, "_worker_loop", None)):
        if worker._worker_loop is not _worker_loop:
            _original["loop"], worker._worker_loop = worker._worker_loop, _worker_loop
    else:
        missing.append("_worker_loop")
    return missing


# --- in the trainer -------------------------------------------------------------------------------


class _Pass:
    """One pass over a loader: an epoch, and its steps. A step is from the request for a batch to the next one.

    Both are recorded when they have ended, because a program may leave its loop, or ask for batches wherever it
    likes: they need not lie within each other as regions do."""

    def __init__(self, epoch: int, start: int) -> None:
        self.epoch, self.start, self.step, self.asked, self.pid = epoch, start, 0, 0, os.getpid()

    def end_step(self, now: int) -> None:
        if self.asked:
            _core.event(TORCH, "step", self.asked, now - self.asked, {"epoch": self.epoch, "step": self.step - 1})
            self.asked = 0

    def end(self) -> None:
        if self.start and self.pid == os.getpid():  # a worker has a copy of what its trainer had
            now = _core.time_ns()
            self.end_step(now)
            _core.event(TORCH, "epoch", self.start, now - self.start, {"epoch": self.epoch, "batches": self.step})
        self.start = 0

    def __del__(self) -> None:
        try:
            self.end()
        except Exception:  # the interpreter ends, and what we need is gone
            pass


_epochs: "weakref.WeakKeyDictionary[Any, int]" = weakref.WeakKeyDictionary()


def _next_epoch(loader: Any) -> int:
    try:
        epoch = _epochs.get(loader, -1) + 1
        _epochs[loader] = epoch
    except TypeError:  # a loader of the user's that cannot be a key
        epoch = 0
    return epoch


def _iter(function: Callable[..., Any]) -> Callable[..., Any]:
    def __iter__(self: Any) -> Any:
        start = _core.time_ns()
        _core.begin(TORCH, "start loader", {"workers": getattr(self, "num_workers", 0)})
        try:
            iterator = function(self)
        finally:
            _core.end(TORCH, "start loader")
        before = getattr(iterator, "_dftrace", None)  # workers that persist have one iterator
        if before is not None:
            before.end()
        try:
            iterator._dftrace = _Pass(_next_epoch(self), start)
        except AttributeError:
            pass
        return iterator

    return __iter__


def _next(function: Callable[..., Any]) -> Callable[..., Any]:
    begin, end = _core.begin, _core.end

    def __next__(self: Any) -> Any:
        this: Optional[_Pass] = self.__dict__.get("_dftrace")
        if this is None:
            return function(self)
        now = _core.time_ns()
        this.end_step(now)
        begin(TORCH, WAIT, {"epoch": this.epoch, "step": this.step})
        try:
            data = function(self)
        except StopIteration:
            end(TORCH, WAIT)
            this.end()
            raise
        except BaseException:
            end(TORCH, WAIT)
            raise
        end(TORCH, WAIT)
        this.step += 1
        this.asked = now
        return data

    return __next__


# --- where items are loaded -----------------------------------------------------------------------


_original: Dict[str, Callable[..., Any]] = {}


def _worker_loop(*args: Any, **kwargs: Any) -> Any:
    """What a worker runs instead of torch's own. It is found by its name in a process that was spawned, too, and hooks
    torch there."""
    from . import torch as integration

    integration.install()
    import torch.utils.data._utils.worker as worker

    loop = _original.get("loop", worker._worker_loop)
    if dftrace.enabled():
        number, workers = _numbers(loop, args, kwargs)
        if number is not None:
            dftrace.set_role(f"DataLoader worker {number}/{workers}")
    return loop(*args, **kwargs)


def _numbers(loop: Callable[..., Any], args: Any, kwargs: Dict[str, Any]) -> Any:
    import inspect

    try:
        bound = inspect.signature(loop).bind(*args, **kwargs).arguments
        return bound["worker_id"], bound["num_workers"]
    except (TypeError, ValueError, KeyError):
        return None, None


def _create_fetcher(function: Callable[..., Any]) -> Callable[..., Any]:
    """In a worker, and in a trainer without workers. Only the fetcher has what stands for the dataset here."""

    def create_fetcher(*args: Any, **kwargs: Any) -> Any:
        fetcher = function(*args, **kwargs)
        own = getattr(fetcher, "__dict__", {})
        if "dataset_iter" in own:
            fetcher.dataset_iter = _ItemsInTurn(fetcher.dataset_iter)
        elif hasattr(type(own.get("dataset")), "__getitem__"):
            fetcher.dataset = _Items(fetcher.dataset)
        if callable(getattr(fetcher, "fetch", None)):
            fetcher.fetch = _fetch(fetcher.fetch)
        return fetcher

    return create_fetcher


def _fetch(function: Callable[..., Any]) -> Callable[..., Any]:
    begin, end = _core.begin, _core.end

    def fetch(index: Any) -> Any:
        begin(TORCH, FETCH, {"items": len(index)} if type(index) is list else None)
        within.depth += 1
        try:
            return function(index)
        finally:
            within.depth -= 1
            end(TORCH, FETCH)

    return fetch


class _Items:
    """A dataset, as a fetcher asks for its items."""

    __slots__ = ("_dataset",)

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __getitem__(self, index: Any) -> Any:
        _core.begin(TORCH, ITEM, {"index": index} if type(index) is int else None)
        try:
            return self._dataset[index]
        finally:
            _core.end(TORCH, ITEM)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._dataset, name)
        if name == "__getitems__" and value:
            return _many(value)
        return value

    def __len__(self) -> int:
        return len(self._dataset)


def _many(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a dataset that loads a batch at once: one region."""

    def __getitems__(indices: Any) -> Any:
        _core.begin(TORCH, ITEM + "s", {"items": len(indices)})
        try:
            return function(indices)
        finally:
            _core.end(TORCH, ITEM + "s")

    return __getitems__


class _ItemsInTurn:
    """The iterator of an IterableDataset."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        _core.begin(TORCH, ITEM)
        try:
            return next(self._iterator)
        finally:
            _core.end(TORCH, ITEM)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


# --- pinned memory --------------------------------------------------------------------------------


class _Pinning(threading.local):
    depth = 0


_pinning = _Pinning()


def _pin_memory(function: Callable[..., Any]) -> Callable[..., Any]:
    """It calls itself for each part of a batch."""

    def pin_memory(*args: Any, **kwargs: Any) -> Any:
        if _pinning.depth:
            return function(*args, **kwargs)
        _pinning.depth = 1
        _core.begin(TORCH, "pin memory")
        try:
            return function(*args, **kwargs)
        finally:
            _core.end(TORCH, "pin memory")
            _pinning.depth = 0

    return pin_memory


def _pin_memory_loop(function: Callable[..., Any]) -> Callable[..., Any]:
    def pin_memory_loop(*args: Any, **kwargs: Any) -> Any:
        dftrace.thread_name("pin memory")
        return function(*args, **kwargs)

    return pin_memory_loop
