# SPDX-License-Identifier: MIT
"""Reads the data of a page of `dftmerge report`, from the text of report/README.md alone."""

import base64
import json
import re
import struct
import zlib

MARK = re.compile(rb'<script type="text/plain" id="dftrace-data">([^<]*)</script>')


class Run:
    """One run: the members of its head, and its tables."""

    def __init__(self, head, body):
        self.head, self.body = head, body

    def __getitem__(self, member):
        return self.head[member]

    def table(self, name):
        """{column: values}."""
        entry = self.head["tables"][name]
        return {c: column(self.body, place, entry["rows"]) for c, place in entry["columns"].items()}


def numbers(data):
    """All LEB128 numbers."""
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0, "a number is cut off"


def texts(data, rows):
    values, at = [], 0
    for _ in range(rows):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        values.append(data[at : at + length].decode())
        at += length
    assert at == len(data)
    return values


def deltas(values):
    last, out = 0, []
    for value in values:
        last = last + ((value >> 1) ^ -(value & 1)) & (1 << 64) - 1
        out.append(last)
    return out


def column(body, place, rows):
    data = body[place["at"] : place["at"] + place["bytes"]]
    assert len(data) == place["bytes"], "a column reaches beyond the data"
    if place["type"] == "s":
        return texts(data, rows)
    values = list(data) if place["type"] == "b" else list(numbers(data))
    assert len(values) == rows, (place, rows, len(values))
    return deltas(values) if place["type"] == "d" else values


def read(page):
    """The runs in the bytes of a page."""
    (found,) = MARK.findall(page)
    return unpack(base64.b64decode(found, validate=True))


def unpack(data):
    """The runs in a zlib stream."""
    raw = zlib.decompress(data)
    mark, version, length = struct.unpack("<4sII", raw[:12])
    assert mark == b"DFTR" and version == 1, (mark, version)
    head, body = json.loads(raw[12 : 12 + length]), raw[12 + length :]
    assert head["version"] == 1 and 1 <= len(head["runs"]) <= 2
    return [Run(run, body) for run in head["runs"]]
