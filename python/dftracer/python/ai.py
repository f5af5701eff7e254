# SPDX-License-Identifier: MIT
"""ai: DFTracer's tree of what training does. Each node decorates functions, and is a region of blocks and loops.

>>> @ai.compute.forward
... def forward(batch): ...
>>> for batch in ai.dataloader.fetch.iter(loader): ...
>>> with ai.checkpoint.capture(step=7): ...
"""

from __future__ import annotations

from enum import Enum
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, TypeVar,
                    Union, overload)

import dftrace
from dftracer.python.env import DFTRACER_ENABLE
from dftracer.python.function import loop
from dftracer.python.tags import known
from dftracer.python.tracer import dftracer

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

ITER_COUNT_NAME = "count"
INIT_NAME = "init"
ITER_NAME = "iter"
BLOCK_NAME = "block"
ROOT_NAME = ROOT_CAT = "ai_root"


class _Word(str, Enum):
    def __str__(self) -> str:
        return str(self.value)


class ProfileCategory(_Word):
    """The nodes below ai, and the categories of their events."""

    COMPUTE = "compute"
    DATA = "data"
    DATALOADER = "dataloader"
    COMM = "comm"
    DEVICE = "device"
    CHECKPOINT = "checkpoint"
    PIPELINE = "pipeline"
    OTHER = "other"


class ComputeEvent(_Word):
    """The nodes below ai.compute."""

    FORWARD = "forward"
    BACKWARD = "backward"
    STEP = "step"


class DataEvent(_Word):
    """The nodes below ai.data, but for io."""

    PREPROCESS = "preprocess"
    ITEM = "item"


class DataLoaderEvent(_Word):
    """The nodes below ai.dataloader."""

    FETCH = "fetch"


class CommunicationEvent(_Word):
    """The nodes below ai.comm."""

    SEND = "send"
    RECEIVE = "receive"
    BARRIER = "barrier"
    BCAST = "bcast"
    REDUCE = "reduce"
    ALL_REDUCE = "all_reduce"
    GATHER = "gather"
    ALL_GATHER = "all_gather"
    SCATTER = "scatter"
    REDUCE_SCATTER = "reduce_scatter"
    ALL_TO_ALL = "all_to_all"


class DeviceEvent(_Word):
    """The nodes below ai.device."""

    TRANSFER = "transfer"


class CheckpointEvent(_Word):
    """The nodes below ai.checkpoint, but for io."""

    CAPTURE = "capture"
    RESTART = "restart"


class PipelineEvent(_Word):
    """The nodes below ai.pipeline."""

    EPOCH = "epoch"
    TRAIN = "train"
    EVALUATE = "evaluate"
    TEST = "test"


class IOEvent(_Word):
    """The nodes below io of data, checkpoint and other."""

    OPEN = "open"
    READ = "read"
    WRITE = "write"
    CLOSE = "close"


def get_iter_handle_name(name: str) -> str:
    """The name of the event of getting an element: epoch.iter."""
    return name if name.endswith("." + ITER_NAME) else f"{name}.{ITER_NAME}"


def get_iter_block_name(name: str) -> str:
    """The name of the event of a loop's body: epoch.block."""
    return name if name.endswith("." + BLOCK_NAME) else f"{name}.{BLOCK_NAME}"


class DFTracerAI:
    """A node: a category, a name, and arguments that its events have."""

    def __init__(self, *, cat: str, name: Optional[str] = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, enable: bool = True,
                 args: Optional[Mapping[str, Any]] = None) -> None:
        self._cat = str(cat)
        self._name = str(name or cat)
        self._on = enable
        self._args = known(epoch, step, image_idx, image_size, args)
        self._children: Dict[str, DFTracerAI] = {}
        self._begun: List[bool] = []
        self._region = dftrace.region(self._name, category=self._cat)
        self._region._more = self._args
        self._region._off = not enable

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> "DFTracerAI": ...

    @property
    def cat(self) -> str:
        """The category of its events."""
        return self._cat

    @property
    def name(self) -> str:
        """The name of its events."""
        return self._name

    # --- decorators -------------------------------------------------------------------------------

    @overload
    def __call__(self, fn: F, *, enable: Optional[bool] = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None, args: Optional[Mapping[str, Any]] = None) -> F: ...

    @overload
    def __call__(self, fn: None = None, *, enable: Optional[bool] = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None,
                 args: Optional[Mapping[str, Any]] = None) -> "DFTracerAI": ...

    def __call__(self, fn: Optional[F] = None, *, enable: Optional[bool] = None, epoch: Any = None, step: Any = None,
                 image_idx: Any = None, image_size: Any = None,
                 args: Optional[Mapping[str, Any]] = None) -> Union[F, "DFTracerAI"]:
        """Decorates `fn`; without it a node of the same name with more arguments, or one that is off (enable=False)."""
        if not DFTRACER_ENABLE:
            return self if fn is None else fn
        more = known(epoch, step, image_idx, image_size, args)
        if fn is not None and not more:
            return fn if enable is False else self._region(fn)
        node = DFTracerAI(cat=self._cat, name=self._name, enable=self._on if enable is None else enable,
                          args={**self._args, **more})
        return node if fn is None else node(fn)

    @overload
    def init(self, fn: F, *, enable: Optional[bool] = None, epoch: Any = None, step: Any = None,
             image_idx: Any = None, image_size: Any = None, args: Optional[Mapping[str, Any]] = None) -> F: ...

    @overload
    def init(self, fn: None = None, *, enable: Optional[bool] = None, epoch: Any = None, step: Any = None,
             image_idx: Any = None, image_size: Any = None,
             args: Optional[Mapping[str, Any]] = None) -> "DFTracerAI": ...

    def init(self, fn: Optional[F] = None, *, enable: Optional[bool] = None, epoch: Any = None, step: Any = None,
             image_idx: Any = None, image_size: Any = None,
             args: Optional[Mapping[str, Any]] = None) -> Union[F, "DFTracerAI"]:
        """As calling the node, with the name <name>.init."""
        return self.derive(INIT_NAME)(fn, enable=enable, epoch=epoch, step=step, image_idx=image_idx,
                                      image_size=image_size, args=args)

    def derive(self, name: str) -> "DFTracerAI":
        """The node <name of this one>.<name>, made at the first call."""
        full = f"{self._name}.{name}"
        if full not in self._children:
            self._children[full] = DFTracerAI(cat=self._cat, name=full, enable=self._on, args=self._args)
        return self._children[full]

    # --- blocks and loops -------------------------------------------------------------------------

    def __enter__(self) -> "DFTracerAI":
        if DFTRACER_ENABLE:
            self._begun.append(self._on)
            if self._on:
                self._region.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if DFTRACER_ENABLE and self._begun and self._begun.pop():
            self._region.__exit__(None, None, None)

    def start(self, metadata: bool = False) -> None:
        """Begins a block that stop() ends; with metadata=True records the time as metadata <name>.start alone."""
        if metadata:
            self._mark("start")
        else:
            self.__enter__()

    def stop(self, metadata: bool = False) -> None:
        """Ends the block; with metadata=True records the time as metadata <name>.end alone."""
        if metadata:
            self._mark("end")
        else:
            self.__exit__(None, None, None)

    def _mark(self, what: str) -> None:
        if DFTRACER_ENABLE and self._on:
            logger = dftracer.get_instance()
            logger.log_metadata_event(f"{self._name}.{what}", str(logger.get_time()))

    def iter(self, iterator: Iterable[T], *, include_block: bool = True, include_iter: bool = True,
             iter_name: Optional[str] = None, block_name: Optional[str] = None) -> Iterator[T]:
        """Iterates: two events an element, <name>.iter (getting it) and <name>.block (the body), with the int `count`.

        include_iter=False, include_block=False: without these. iter_name, block_name: names in their place.
        """
        if not (DFTRACER_ENABLE and self._on):
            return iter(iterator)
        names = (iter_name or get_iter_handle_name(self._name)) if include_iter else None, \
            (block_name or get_iter_block_name(self._name)) if include_block else None
        return loop(iterator, self._cat, names, ITER_COUNT_NAME, self._args)

    # --- the node and those below it --------------------------------------------------------------

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None,
               args: Optional[Mapping[str, Any]] = None) -> "DFTracerAI":
        """Arguments of open and later events of this node and of all below it."""
        if DFTRACER_ENABLE:
            self._update(known(epoch, step, image_idx, image_size, args))
        return self

    def _update(self, args: Dict[str, Any]) -> None:
        if self._on:
            self._args.update(args)
        for child in self._children.values():
            child._update(args)

    def enable(self) -> None:
        """Events of this node and of all below it are recorded again."""
        self._switch(True)

    def disable(self) -> None:
        """Events of this node and of all below it are not recorded, of functions that are decorated already, too."""
        self._switch(False)

    def _switch(self, on: bool) -> None:
        self._on = on
        self._region._off = not on
        for child in self._children.values():
            child._switch(on)

    def reset(self) -> None:
        """Accepted: the event of a block begins with it."""

    def get_time(self) -> int:
        """The time in microseconds since 1970; 0 where nothing is traced."""
        return dftracer.get_instance().get_time()

    def create_children(self, names: Mapping[str, str]) -> None:
        """Nodes below this one, of its category: their attributes and their names."""
        for attribute, name in names.items():
            self._add(attribute, DFTracerAI(cat=self._cat, name=name, enable=self._on, args=self._args))

    def _add(self, attribute: str, child: "DFTracerAI") -> None:
        self._children[attribute] = child
        setattr(self, attribute, child)


_EVENTS: Dict[ProfileCategory, Tuple[Iterable[_Word], bool]] = {
    ProfileCategory.COMPUTE: (ComputeEvent, False),
    ProfileCategory.DATA: (DataEvent, True),
    ProfileCategory.DATALOADER: (DataLoaderEvent, False),
    ProfileCategory.COMM: (CommunicationEvent, False),
    ProfileCategory.DEVICE: (DeviceEvent, False),
    ProfileCategory.CHECKPOINT: (CheckpointEvent, True),
    ProfileCategory.PIPELINE: (PipelineEvent, False),
    ProfileCategory.OTHER: ((), True),
}


class AI(DFTracerAI):
    """The tree: a node for each category, and below it one for each of its events."""

    def __init__(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None,
                 enable: bool = True) -> None:
        super().__init__(cat=ROOT_CAT, name=ROOT_NAME, epoch=epoch, step=step, image_idx=image_idx,
                         image_size=image_size, enable=enable)
        for category, (events, has_io) in _EVENTS.items():
            node = DFTracerAI(cat=category, enable=enable, args=self._args)
            node.create_children({str(event): str(event) for event in events})
            if has_io:
                node.create_children({"io": f"{category}.io"})
                node.io.create_children({str(event): f"{category}.io.{event}" for event in IOEvent})
            self._add(str(category), node)
        self.other.create_children({"log": "other.log"})


ai = AI()
comm = ai.comm
compute = ai.compute
data = ai.data
dataloader = ai.dataloader
device = ai.device
checkpoint = ai.checkpoint
pipeline = ai.pipeline

__all__ = [
    "AI", "INIT_NAME", "ITER_COUNT_NAME", "CheckpointEvent", "CommunicationEvent", "ComputeEvent", "DFTracerAI",
    "DataEvent", "DataLoaderEvent", "DeviceEvent", "IOEvent", "PipelineEvent", "ProfileCategory", "ai", "checkpoint",
    "comm", "compute", "data", "dataloader", "device", "get_iter_block_name", "get_iter_handle_name", "pipeline",
]
