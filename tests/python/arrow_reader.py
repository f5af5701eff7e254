# SPDX-License-Identifier: MIT
"""A reader of the Arrow C data interface, written from its specification: what a capsule gives, as Python's values."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, List, Tuple


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


P = ctypes.POINTER
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", P(P(Schema))),
                   ("dictionary", P(Schema)), ("release", ctypes.CFUNCTYPE(None, P(Schema))), ("own", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", P(ctypes.c_void_p)),
                  ("children", P(P(Array))), ("dictionary", P(Array)), ("release", ctypes.CFUNCTYPE(None, P(Array))),
                  ("own", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, P(Stream), P(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, P(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, P(Stream))), ("own", ctypes.c_void_p)]


def pointer(capsule: object, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name))


def values(schema: Schema, array: Array) -> List[Any]:
    """One column."""
    assert array.offset == 0 and schema.flags & 2
    count, buffers = array.length, array.buffers
    number = {b"l": ctypes.c_int64, b"L": ctypes.c_uint64, b"tsn:UTC": ctypes.c_int64, b"g": ctypes.c_double, b"i": ctypes.c_int32}
    found: List[Any]
    if schema.format == b"u":
        assert array.n_buffers == 3
        ends = ctypes.cast(buffers[1], P(ctypes.c_int32))[:count + 1]
        text = ctypes.string_at(buffers[2], ends[-1]) if ends[-1] else b""
        found = [text[begin:end].decode("utf-8") for begin, end in zip(ends, ends[1:])]
    else:
        assert array.n_buffers == 2
        found = list(ctypes.cast(buffers[1], P(number[schema.format]))[:count]) if count else []
    if schema.dictionary:
        words = values(schema.dictionary.contents, array.dictionary.contents)
        assert len(set(words)) == len(words)
        found = [words[index] if words else None for index in found]
    if array.null_count:
        bits = ctypes.string_at(buffers[0], (count + 7) // 8)
        found = [value if bits[row // 8] >> row % 8 & 1 else None for row, value in enumerate(found)]
        assert found.count(None) == array.null_count
    return found


def schema_of(capsule: object) -> Dict[str, str]:
    """Name and format of each column."""
    schema = Schema.from_address(pointer(capsule, b"arrow_schema"))
    return {child.contents.name.decode(): child.contents.format.decode()
            for child in schema.children[:schema.n_children]}


def batches(capsule: object) -> Iterator[Tuple[int, Dict[str, List[Any]]]]:
    """Length and columns of each batch; OSError with the stream's own text when it fails."""
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema, array = Schema(), Array()
    assert stream.get_schema(stream, schema) == 0 and schema.format == b"+s"
    while True:
        code = stream.get_next(stream, array)
        if code:
            raise OSError(code, stream.get_last_error(stream).decode())
        if not array.release:
            break
        columns = {child.contents.name.decode(): values(child.contents, array.children[number].contents)
                   for number, child in enumerate(schema.children[:schema.n_children])}
        yield array.length, columns
        array.release(array)
        assert not array.release
    schema.release(schema)
