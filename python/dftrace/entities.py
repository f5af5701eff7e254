# SPDX-License-Identifier: MIT
"""Entities: what a program works with (a sample, a shard, a checkpoint), and how they relate to regions and each other.

>>> shard = dftrace.entity("shard", "train-0007", store="parallel_fs", uri="/data/train-0007.tar")
>>> with dftrace.region("pack") as pack:
...     sample = pack.uses("sample", "s-17")
...     pack.generates("shard", "train-0007")
>>> dftrace.relate("contains", shard, sample)

An entity is named by its type and its key. Its id is made of these two alone: C, C++ and Python give the same id in
every process. `dftmerge lineage` shows what an entity came from. Where nothing is traced the id is 0, and nothing is
recorded.
"""

from __future__ import annotations

import enum
from typing import Any, Dict, Type, TypeVar, Union

from dftrace import _core


class EntityStore(enum.IntEnum):
    """Where an entity lies."""

    MEMORY = 0
    GPU_MEMORY = 1
    LOCAL_DISK = 2
    PARALLEL_FS = 3
    BURST_BUFFER = 4
    OBJECT_STORE = 5
    DATABASE = 6
    NETWORK = 7
    OTHER = 8


class EntityRole(enum.IntEnum):
    """What the entities of a type are to the program."""

    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(enum.IntEnum):
    """Below 16: of a region to an entity. From 16 on: of an entity to another one."""

    USED = 0
    GENERATED = 1
    INVALIDATED = 2
    UPDATED = 3
    DERIVED_FROM = 16
    REVISION_OF = 17
    CONTAINS = 18
    PART_OF = 19
    SPECIALIZATION_OF = 20
    ALTERNATE_OF = 21
    DEPENDS_ON = 22


Open = Union[_core.Region, _core.Span]
Word = TypeVar("Word", bound=enum.IntEnum)
Store = Union[EntityStore, str, int]
Role = Union[EntityRole, str, int]
Relation = Union[EntityRelation, str, int]

_FIRST_OF_ENTITIES = 16
_declared = [0] * 64


def _word(kind: Type[Word], value: Union[enum.IntEnum, str, int]) -> Word:
    """The member that a name, in any case, or a number means."""
    if not isinstance(value, str):
        return kind(int(value))
    if value.upper() in kind.__members__:
        return kind[value.upper()]
    known = [name.lower() for name in kind.__members__]
    import difflib

    near = difflib.get_close_matches(value.lower(), known, 1)
    raise ValueError(f"{value!r} is none of {', '.join(known)}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _bytes(text: object) -> bytes:
    return str(text).encode("utf-8", "backslashreplace")


def entity_id(type: str, key: object) -> int:
    """The id of an entity, without declaring it: FNV-1a of 64 bits over the type, a byte 0x1f and the key."""
    value = 1469598103934665603
    for byte in _bytes(type) + b"\x1f" + _bytes(key):
        value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return value or 1


def entity(type: str, key: object, store: Store = EntityStore.MEMORY, uri: object = None) -> int:
    """Declares an entity and returns its id.

    `type` and `key` name the entity; a key that is no str is taken as str(key). `store` says where it lies: a member
    of EntityStore, or its name as "parallel_fs". `uri` is a path or an address. The same entity may be declared again.
    Returns 0 where nothing is traced. Raises ValueError for a store that is not known, and for an empty type or key.
    """
    if not isinstance(type, str) or not type:
        raise ValueError(f"an entity needs a type, such as \"shard\", not {type!r}")
    if key is None or key == "":
        raise ValueError(f"an entity of type {type!r} needs a key that tells it from others, not {key!r}")
    return declare(type, key, store, uri)


def declare(type: str, key: object, store: Store = EntityStore.MEMORY, uri: object = None) -> int:
    """What `entity` does, for any type and key: programs of DFTracer get no errors."""
    where = store if isinstance(store, EntityStore) else _word(EntityStore, store)
    if not _core.enabled():
        return 0
    value = entity_id(type, key)
    if _declared[value % 64] == value:
        return value
    _declared[value % 64] = value
    args: Dict[str, Any] = {"id": f"{value:016x}", "type": str(type), "store": int(where)}
    if uri is not None and uri != "":
        args["uri"] = str(uri)
    args["key"] = str(key)
    _core.metadata_args("dftracer", "EH", args)
    return value


def entity_type(type: str, role: Role = EntityRole.UNKNOWN, description: object = None) -> None:
    """Says what all entities of a type are: `role` is a member of EntityRole, or its name as "input".

    Raises ValueError for a role that is not known.
    """
    args: Dict[str, Any] = {"type": str(type), "role": int(_word(EntityRole, role))}
    if description is not None and description != "":
        args["description"] = str(description)
    if _core.enabled():
        _core.metadata_args("dftracer", "ET", args)


def relate(relation: Relation, subject: int, object: int) -> None:
    """Relates two entities by their ids: relate("derived_from", model, data).

    `relation` is a member of EntityRelation, or its name: derived_from, revision_of, contains, part_of,
    specialization_of, alternate_of, depends_on. Relations of regions, and ids that are 0, are ignored. Raises
    ValueError for a relation that is not known, TypeError for what is no id.
    """
    for end in (subject, object):
        if not isinstance(end, int):
            raise TypeError(f"relate() needs ids, as dftrace.entity(type, key) returns them, not {end!r}")
    what = _word(EntityRelation, relation)
    if what < _FIRST_OF_ENTITIES or not subject or not object or not _core.enabled():
        return
    _core.metadata_args("dftracer", "ER", {"relation": int(what), "subject": f"{subject:016x}",
                                           "object": f"{object:016x}"})


def argument(relation: Relation, entity: int) -> Dict[str, int]:
    """The argument of a region that relates it to an entity; none for relations of entities, and where the id is 0."""
    what = _word(EntityRelation, relation)
    return {f"{what.name.lower()}:{entity:016x}": 1} if what < _FIRST_OF_ENTITIES and entity else {}


# --- methods of regions ---------------------------------------------------------------------------


def region_relate(self: Open, relation: Relation, entity: int) -> int:
    """Relates this open region to an entity by its id: used, generated, invalidated or updated. Returns the id.

    Relations of entities are ignored. Raises ValueError for a relation that is not known.
    """
    args = argument(relation, entity)
    if args:
        self.update(args)
    return entity


def region_uses(self: Open, type: str, key: object, store: Store = EntityStore.MEMORY,
                uri: object = None) -> int:
    """Declares an entity that this open region reads or needs. Returns its id. See `entity` for the arguments."""
    return region_relate(self, EntityRelation.USED, entity(type, key, store, uri))


def region_generates(self: Open, type: str, key: object, store: Store = EntityStore.MEMORY,
                     uri: object = None) -> int:
    """Declares an entity that this open region makes. Returns its id. See `entity` for the arguments."""
    return region_relate(self, EntityRelation.GENERATED, entity(type, key, store, uri))


def region_updates(self: Open, type: str, key: object, store: Store = EntityStore.MEMORY,
                   uri: object = None) -> int:
    """Declares an entity that this open region changes. Returns its id. See `entity` for the arguments."""
    return region_relate(self, EntityRelation.UPDATED, entity(type, key, store, uri))


def region_invalidates(self: Open, type: str, key: object, store: Store = EntityStore.MEMORY,
                       uri: object = None) -> int:
    """Declares an entity that this open region deletes. Returns its id. See `entity` for the arguments."""
    return region_relate(self, EntityRelation.INVALIDATED, entity(type, key, store, uri))
