# SPDX-License-Identifier: MIT
"""dftrace: annotations of Python programs, beside the I/O that libdftrace.so records.

    import dftrace

    @dftrace.region
    def load(path): ...

    with dftrace.region("checkpoint", step=3) as r:
        r.update(loss=0.1)

    for batch in dftrace.iter(loader, "epoch", epoch=1): ...

Under `python -m dftrace run` (or dftrun) all of it is recorded, with the I/O. Elsewhere it costs next to nothing.
"""

from __future__ import annotations

import os as _os

from . import _core
from ._core import (counter, enabled, flush, instant, metadata, pause, region, resume, set_role, thread_name, why_off)

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    from ._life import Loop, iter, paused
    from ._spans import spans
    from ._start import init
    from .entities import EntityRelation, EntityRole, EntityStore, entity, entity_type, relate
    from .trace import TraceError as TraceError, open as open  # not in __all__: `open` is a name of Python's own

__all__ = ["EntityRelation", "EntityRole", "EntityStore", "counter", "enabled", "entity", "entity_type", "flush",
           "init", "instant", "iter", "metadata", "pause", "paused", "region", "relate", "resume", "set_role", "spans",
           "thread_name", "why_off"]
__version__ = "0.1.0"

# Where a name comes from that most programs do not use: imported at its first use.
_LATER = {"iter": "_life", "Loop": "_life", "paused": "_life", "init": "_start", "open": "trace", "TraceError": "trace", "spans": "_spans",
          "load_ipython_extension": "integrations.jupyter",
          **dict.fromkeys(("EntityRelation", "EntityRole", "EntityStore", "entity", "entity_type", "relate"),
                          "entities")}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'dftrace' has no attribute {name!r}")
    module = __import__(f"dftrace.{_LATER[name]}", fromlist=[name])
    value = getattr(module, name)
    globals()[name] = value
    return value


def _of_entities(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> int:
        from . import entities

        return int(getattr(entities, f"region_{name}")(self, *args, **kwargs))

    method.__name__ = name
    return method


# Regions and spans relate to entities: a part that few programs use.
for _name in ("relate", "uses", "generates", "updates", "invalidates"):
    setattr(_core.Region, _name, _of_entities(_name))
    setattr(_core.Span, _name, _of_entities(_name))


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


if _os.environ.get("DFTRACER_ENABLE") == "1" and not enabled():
    from ._start import begin_alone as _begin_alone

    _begin_alone()
