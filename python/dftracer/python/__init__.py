# SPDX-License-Identifier: MIT
"""The names of DFTracer 2.x.

`dynamo`, `Dynamo` and `create_backend` are loaded when they are first asked for. They load torch
when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dftracer.python.ai import (
    INIT_NAME,
    ITER_COUNT_NAME,
    CheckpointEvent,
    CommunicationEvent,
    ComputeEvent,
    DataEvent,
    DataLoaderEvent,
    DeviceEvent,
    DFTracerAI,
    IOEvent,
    PipelineEvent,
    ProfileCategory,
    ai,
    checkpoint,
    comm,
    compute,
    data,
    dataloader,
    device,
    get_iter_block_name,
    get_iter_handle_name,
    pipeline,
)
from dftracer.python.common import (
    EntityRelation,
    EntityRole,
    EntityStore,
    TagDType,
    TagType,
    TagValue,
    dft_fn,
    dftracer,
)

from dftracer.python.env import DFTRACER_ENABLE

if TYPE_CHECKING:
    from dftracer.python.dynamo import Dynamo, create_backend, dynamo

__all__ = [
    "DFTRACER_ENABLE", "INIT_NAME", "ITER_COUNT_NAME", "CheckpointEvent", "CommunicationEvent", "ComputeEvent", "DFTracerAI", "DataEvent",
    "DataLoaderEvent", "DeviceEvent", "Dynamo", "EntityRelation", "EntityRole", "EntityStore", "IOEvent",
    "PipelineEvent", "ProfileCategory", "TagDType", "TagType", "TagValue", "ai", "checkpoint", "comm", "compute",
    "create_backend", "data", "dataloader", "device", "dft_fn", "dftracer", "dynamo", "get_iter_block_name",
    "get_iter_handle_name", "pipeline",
]


def __getattr__(name: str) -> Any:
    if name in ("dynamo", "Dynamo", "create_backend"):
        import importlib

        # The module is an attribute of this package once it is loaded: the object of its name takes its place.
        module = importlib.import_module("dftracer.python.dynamo")
        globals().update({known: getattr(module, known) for known in ("dynamo", "Dynamo", "create_backend")})
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
