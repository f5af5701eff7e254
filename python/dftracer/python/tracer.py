# SPDX-License-Identifier: MIT
"""DFTracer's logger: begins tracing, and records events with times that the program took itself."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Mapping, Optional

import dftrace
from dftrace import _core, entities
from dftracer.python.env import DFTRACER_ENABLE
from dftracer.python.tags import plain


def _nanoseconds(microseconds: Any) -> int:
    """The whole part is exact: as nanoseconds, a time of today has more digits than a float."""
    whole = int(microseconds)
    return whole * 1000 + round(float(microseconds - whole) * 1000)


class dftracer:
    """The process's one logger: dftracer.initialize_log(...) or dftracer.get_instance()."""

    _instance: Optional["dftracer"] = None

    def __init__(self) -> None:
        dftracer._instance = self
        self.start_time = 0

    @classmethod
    def get_instance(cls) -> "dftracer":
        """The logger, made at the first call."""
        return dftracer._instance or dftracer()

    @staticmethod
    def initialize_log(logfile: Optional[str] = None, data_dir: Optional[str] = None,
                       process_id: Optional[int] = -1) -> "dftracer":
        """Begins tracing where DFTRACER_ENABLE=1 is set, and returns the logger.

        logfile: what names of trace files begin with. data_dir: folders to trace, with colons between them.
        process_id: a number of the program's own; -1: none. What was said when the library was preloaded comes first.
        """
        logger = dftracer.get_instance()
        if DFTRACER_ENABLE:
            dftrace.init(logfile or None, data_dir or None, process_id)
            logger.start_time = logger.get_time()
        return logger

    def get_time(self) -> int:
        """The time in microseconds since 1970; 0 where nothing is traced."""
        return _core.time_ns() // 1000 if DFTRACER_ENABLE else 0

    def get_config(self, key: str) -> str:
        """What the environment sets a variable to; an empty text where it is not set."""
        return os.environ.get(key, "") if DFTRACER_ENABLE else ""

    def enter_event(self) -> None:
        """Accepted: events need no beginning of their own."""

    def exit_event(self) -> None:
        """Accepted: events need no end of their own."""

    def log_event(self, name: str, cat: str, start_time: int, duration: int,
                  string_args: Optional[Mapping[str, Any]] = None, int_args: Optional[Mapping[str, Any]] = None,
                  float_args: Optional[Mapping[str, Any]] = None,
                  relations: Optional[Mapping[Any, Iterable[int]]] = None) -> None:
        """Records an event with given times: get_time() at its begin, and how many microseconds it took.

        Events of a thread may overlap. Fractions of microseconds are kept.
        Values of arguments are ints, floats, texts or TagValues. relations: ids of entities by EntityRelation.
        """
        if not DFTRACER_ENABLE:
            return
        args: Dict[str, Any] = {}
        for some in (int_args, float_args, string_args):
            if some:
                args.update((str(key), plain(value)) for key, value in some.items())
        for relation, ids in (relations or {}).items():
            for entity in ids:
                args.update(entities.argument(relation, entity))
        _core.event(cat, name, _nanoseconds(start_time), _nanoseconds(duration), args or None)

    def log_metadata_event(self, key: str, value: Any) -> None:
        """Records that key has this value in this process."""
        if DFTRACER_ENABLE:
            dftrace.metadata(key, value if isinstance(value, (int, float)) else str(value))

    def set_app_metadata_int(self, key: str, value: int) -> None:
        """Records that the application's key has this value."""
        self.log_metadata_event(key, int(value))

    def set_app_metadata_string(self, key: str, value: str) -> None:
        """Records that the application's key has this value."""
        self.log_metadata_event(key, str(value))

    def mark_used(self, name: str) -> None:
        """Records that a part of the application was in use."""
        if DFTRACER_ENABLE:
            _core.metadata("used", str(name), "dftracer")

    def declare_entity(self, type: str, key: object, store: entities.Store = entities.EntityStore.MEMORY,
                       uri: object = "") -> int:
        """Declares an entity; see dftrace.entity. Returns its id, 0 where nothing is traced."""
        return entities.declare(type, key, store, uri) if DFTRACER_ENABLE else 0

    def declare_entity_type(self, type: str, role: entities.Role = entities.EntityRole.UNKNOWN,
                            description: object = "") -> None:
        """Says what all entities of a type are; see dftrace.entity_type."""
        if DFTRACER_ENABLE:
            entities.entity_type(type, role, description)

    def relate_entities(self, relation: entities.Relation, subject: int, object: int) -> None:
        """Relates two entities; see dftrace.relate. Relations of regions are ignored."""
        if DFTRACER_ENABLE and isinstance(subject, int) and isinstance(object, int):
            entities.relate(relation, subject, object)

    def finalize(self) -> None:
        """Sees to it that everything so far is in the file. What comes after is recorded as well."""
        if DFTRACER_ENABLE:
            dftrace.flush()
