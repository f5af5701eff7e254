# SPDX-License-Identifier: MIT
"""Reads files of Parquet by the format's description alone, as far as dftmerge writes it: flat optional columns, data pages
of version 1, PLAIN, RLE_DICTIONARY and DELTA_BINARY_PACKED, zstd (by libzstd or the program zstd) and gzip."""

import ctypes
import ctypes.util
import shutil
import struct
import subprocess
import zlib

MAGIC = b"PAR1"
INT64, DOUBLE, BYTE_ARRAY = 2, 5, 6
PLAIN, RLE, DELTA, RLE_DICTIONARY = 0, 3, 5, 8
GZIP, ZSTD = 2, 6
LETTERS = {8: "B", 16: "H", 32: "I"}  # of struct


class Bad(Exception):
    """The file is not as the format wants it."""


def need(condition, what):
    if not condition:
        raise Bad(what)


# --- decompression ------------------------------------------------------------------------------------------------------


def libzstd():
    try:
        return ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    except OSError:
        return None


LIBZSTD = libzstd()


def can_zstd():
    return bool(LIBZSTD or shutil.which("zstd"))


def unpack(codec, data, size):
    if codec == GZIP:
        out = zlib.decompress(data, 31)
    elif codec == ZSTD and LIBZSTD:
        room = ctypes.create_string_buffer(max(size, 1))
        LIBZSTD.ZSTD_decompress.restype = ctypes.c_size_t
        length = LIBZSTD.ZSTD_decompress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
        need(length == size, f"a page has {length} bytes, not {size}")
        out = room.raw[:size]
    elif codec == ZSTD:
        out = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
    else:
        raise Bad(f"compression {codec}")
    need(len(out) == size, f"a page has {len(out)} bytes, not {size}")
    return out


# --- Thrift's compact protocol: structs as {id: value}, lists as lists --------------------------------------------------


class Thrift:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def number(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind, in_list=False):
        if kind in (1, 2):
            return self.byte() == 1 if in_list else kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.number()
        if kind == 8:
            length = self.varint()
            self.at += length
            return self.data[self.at - length:self.at]
        if kind == 9:
            head = self.byte()
            count = self.varint() if head >> 4 == 15 else head >> 4
            return [self.value(head & 15, True) for _ in range(count)]
        need(kind == 12, f"type {kind} of Thrift")
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if not head:
                return fields
            last = last + (head >> 4) if head >> 4 else self.number()
            need(last not in fields, f"field {last} stands twice")
            fields[last] = self.value(head & 15)


# --- encodings ----------------------------------------------------------------------------------------------------------


def bits(data, width, count):
    """`count` numbers of `width` bits, the lowest bit first."""
    if width in LETTERS:
        return list(struct.unpack(f"<{count}{LETTERS[width]}", data[:count * width // 8]))
    out, mask = [], (1 << width) - 1
    for at in range(0, count, 64):  # in pieces, because shifts of long numbers are slow
        piece = int.from_bytes(data[at * width // 8:(at + 64) * width // 8], "little")
        out += [piece >> i * width & mask for i in range(min(64, count - at))]
    return out


def runs(data, width, count):
    """Runs of equal numbers, and packed ones."""
    thrift, out = Thrift(data), []
    while len(out) < count:
        head = thrift.varint()
        if head & 1:
            size = (head >> 1) * width
            need(thrift.at + size <= len(data), "packed numbers reach over the end")
            out += bits(data[thrift.at:thrift.at + size], width, (head >> 1) * 8)
            thrift.at += size
        else:
            size = (width + 7) // 8
            need(head, "a run of nothing")
            out += [int.from_bytes(data[thrift.at:thrift.at + size], "little")] * (head >> 1)
            thrift.at += size
    need(thrift.at == len(data), f"{len(data) - thrift.at} bytes are left")
    return out[:count]


def signed(value):
    return (value + 2**63) % 2**64 - 2**63


def deltas(data, count):
    thrift = Thrift(data)
    block, minis, total, value = thrift.varint(), thrift.varint(), thrift.varint(), thrift.number()
    need(total == count and block % 128 == 0 and block // minis % 32 == 0, "head of differences")
    out = [value] if count else []
    while len(out) < count:
        least, widths = thrift.number(), [thrift.byte() for _ in range(minis)]
        for width in widths:
            if len(out) >= count:
                break
            size = width * block // minis // 8
            need(thrift.at + size <= len(data), "differences reach over the end")
            for delta in bits(data[thrift.at:thrift.at + size], width, block // minis) if width else [0] * (block // minis):
                value = signed(value + least + delta)
                out.append(value)
            thrift.at += size
    need(thrift.at == len(data), f"{len(data) - thrift.at} bytes are left")
    return out[:count]


def plain(kind, data, count):
    if kind in (INT64, DOUBLE):
        need(len(data) == 8 * count, "length of plain numbers")
        return list(struct.unpack(f"<{count}{'q' if kind == INT64 else 'd'}", data))
    out, at = [], 0
    for _ in range(count):
        length = int.from_bytes(data[at:at + 4], "little")
        out.append(data[at + 4:at + 4 + length])
        at += 4 + length
    need(at == len(data), "length of plain texts")
    return [text.decode() for text in out]  # all are UTF-8


# --- the file -----------------------------------------------------------------------------------------------------------


class Column:
    """What a row group has of a column: its values, and what the file says of them."""

    def __init__(self, data, chunk, kind):
        meta, self.kind = chunk[3], kind
        self.encodings, self.codec, self.count = meta[2], meta[4], meta[5]
        need(meta[1] == kind, "type of a chunk")
        said = meta[12]
        self.nulls, self.greatest, self.least = said[3], self.limit(said.get(5)), self.limit(said.get(6))
        self.values, self.pages, dictionary, raw = [], [], None, 0
        at = begin = meta.get(11, meta[9])
        while at < begin + meta[7]:
            need(at != meta[9] or not self.pages, "offset of the first data page")
            thrift = Thrift(data, at)
            head = thrift.struct()
            body = unpack(self.codec, data[thrift.at:thrift.at + head[3]], head[2])
            raw += thrift.at - at + head[2]
            if head[1] == 2:
                need(at == meta[11] and head[7][2] == PLAIN, "place of a dictionary")
                dictionary = plain(kind, body, head[7][1])
            else:
                need(head[1] == 0 and head[5][2] in self.encodings, "kind of page")
                self.page(at, thrift.at + head[3] - at, head[5], body, dictionary)
            at = thrift.at + head[3]
        need(at == begin + meta[7] and raw == meta[6], "bytes of a chunk")
        need(len(self.values) == self.count, "values of a chunk")
        self.index(data, chunk)

    def limit(self, said):
        if said is None:
            return None
        return said.decode() if self.kind == BYTE_ARRAY else struct.unpack("<q" if self.kind == INT64 else "<d", said)[0]

    def page(self, at, size, head, body, dictionary):
        rows, encoding = head[1], head[2]
        length = int.from_bytes(body[:4], "little")
        present = runs(body[4:4 + length], 1, rows)
        count, body = sum(present), body[4 + length:]
        if encoding == RLE_DICTIONARY:
            indices = runs(body[1:], body[0], count)
            values = [dictionary[i] for i in indices]
        else:
            values = deltas(body, count) if encoding == DELTA else plain(self.kind, body, count)
        self.pages.append((at, size, len(self.values), values, rows - count))
        values = iter(values)
        self.values += [next(values) if there else None for there in present]

    def index(self, data, chunk):
        """The indices say what the pages have."""
        places = Thrift(data[chunk[4]:chunk[4] + chunk[5]]).struct()[1]
        need([(p[1], p[2], p[3]) for p in places] == [p[:3] for p in self.pages], "offsets of pages")
        if 6 not in chunk:
            need(self.kind == BYTE_ARRAY, "a chunk of numbers without an index")
            return
        said = Thrift(data[chunk[6]:chunk[6] + chunk[7]]).struct()
        need(said[1] == [not p[3] for p in self.pages], "pages without values")
        need([self.limit(v) for v in said[2] if v] == [min(p[3]) for p in self.pages if p[3]], "least values of pages")
        need([self.limit(v) for v in said[3] if v] == [max(p[3]) for p in self.pages if p[3]], "greatest values of pages")
        need(said[5] == [p[4] for p in self.pages], "nulls of pages")

    def check(self):
        """Statistics are those of the values."""
        there = [v for v in self.values if v is not None]
        need(self.nulls == self.count - len(there), "count of nulls")
        if self.kind == BYTE_ARRAY:
            there = [v.encode() for v in there]
            long = there and max(len(min(there)), len(max(there))) > 64
            broken = any("\ufffd".encode() in v for v in there)
            need(self.least is not None or not there or long or broken, "texts without limits")
            if self.least is not None:
                need((self.least.encode(), self.greatest.encode()) == (min(there), max(there)), "least and greatest text")
        else:
            need((self.least, self.greatest) == ((min(there), max(there)) if there else (None, None)), "least and greatest number")


class File:
    """names, and groups: lists of Column in the order of names."""

    def __init__(self, path):
        data = path.read_bytes()
        need(data[:4] == MAGIC and data[-4:] == MAGIC, "magic")
        length = int.from_bytes(data[-8:-4], "little")
        thrift = Thrift(data[-8 - length:-8])
        meta = thrift.struct()
        need(thrift.at == length, "length of the footer")
        root, *columns = meta[2]
        need(root[5] == len(columns), "number of columns")
        self.table, self.created_by, self.rows = root[4].decode(), meta[6].decode(), meta[3]
        self.names = [c[4].decode() for c in columns]
        self.types = {c[4].decode(): c for c in columns}
        for column in columns:
            need(column[3] == 1 and (column[1] != BYTE_ARRAY or (column[6] == 0 and column[10] == {1: {}})), "type of a column")
        need(meta[7] == [{1: {}}] * len(columns), "orders of columns")
        self.groups = []
        for group in meta[4]:
            chunks = [Column(data, chunk, column[1]) for chunk, column in zip(group[1], columns)]
            need(len(chunks) == len(columns) and all(len(c.values) == group[3] for c in chunks), "rows of a group")
            need([c[3][3] for c in group[1]] == [[n.encode()] for n in self.names], "names of chunks")
            for chunk in chunks:
                chunk.check()
            self.groups.append(chunks)
        need(sum(g[3] for g in meta[4]) == self.rows, "rows of the file")

    def is_time(self, name):
        return self.types[name].get(10) == {8: {1: True, 2: {3: {}}}}

    def records(self):
        for group in self.groups:
            for row in zip(*(c.values for c in group)):
                yield dict(zip(self.names, row))


def read_table(directory, table):
    """The rows of all parts, and the files."""
    files = [File(path) for path in sorted((directory / table).glob("*.parquet"))]
    return [record for file in files for record in file.records()], files
