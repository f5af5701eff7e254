# SPDX-License-Identifier: MIT
"""Damage for traces, live files and DFTracer's traces: what disks, copies and cut connections do to them, and what nobody but an attacker would: fields of any
value under checksums that are right."""

import gzip
import pathlib
import re
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "format"))
from read_dft import crc32c  # noqa: E402

MAGIC = struct.pack("<Q", 0x0A1A0D6B6C426644)
HEADER = 88
PAGE = 4096
FIELDS = [(8, 2), (10, 1), (11, 1), (20, 4), (24, 4), (28, 4), (32, 4), (36, 4), (40, 8), (48, 8), (56, 8), (64, 8), (72, 8), (80, 4)]


def places(data):
    """Where blocks begin, as far as magic and sizes say so."""
    found, at = [], 0
    while (at := data.find(MAGIC, at)) >= 0 and at + HEADER <= len(data):
        stored, = struct.unpack_from("<I", data, at + 24)
        if at + HEADER + stored > len(data):
            break
        found.append((at, HEADER + stored))
        at += (HEADER + stored + 7) // 8 * 8
    return found


def with_crcs(data, at):
    """The same bytes, with the checksums of the block at `at` right again."""
    header = bytearray(data[at:at + HEADER])
    stored, = struct.unpack_from("<I", header, 24)
    struct.pack_into("<I", header, 16, crc32c(data[at + HEADER:at + HEADER + stored]))
    struct.pack_into("<I", header, 12, 0)
    struct.pack_into("<I", header, 12, crc32c(bytes(header)))
    return data[:at] + bytes(header) + data[at + HEADER:]


def odd_number(rng, size):
    """Of any size, with a liking for the edges."""
    bits = 8 * size
    return rng.choice([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, rng.getrandbits(bits), 1 << rng.randrange(bits),
                       rng.randrange(256)]) & ((1 << bits) - 1)


def flip_bits(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(rng, data):
    return data[:rng.randrange(len(data))]


def cut_out(rng, data):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 5000):]


def zeros(rng, data):
    at, n = rng.randrange(len(data)), rng.choice([1, 8, 88, 512, 4096])
    return data[:at] + bytes(min(n, len(data) - at)) + data[at + n:]


def rubbish(rng, data):
    at, n = rng.randrange(len(data) + 1), rng.choice([1, 7, 8, 100, 5000])
    return data[:at] + rng.randbytes(n) + data[at + rng.choice([0, n]):]


def twice(rng, data):
    list_of = places(data) or [(0, len(data))]
    (a, n), (b, _) = rng.choice(list_of), rng.choice(list_of)
    return data[:b] + data[a:a + (n + 7) // 8 * 8] + data[b:]


def swapped(rng, data):
    list_of = places(data)
    if len(list_of) < 2:
        return flip_bits(rng, data)
    (a, m), (b, n) = sorted(rng.sample(list_of, 2))
    m, n = (m + 7) // 8 * 8, (n + 7) // 8 * 8
    return data[:a] + data[b:b + n] + data[a + m:b] + data[a:a + m] + data[b + n:]


def any_field(rng, data):
    """Fields of a header, its checksums right."""
    list_of = places(data)
    if not list_of:
        return rubbish(rng, data)
    at, _ = rng.choice(list_of)
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        field, size = rng.choice(FIELDS)
        data[at + field:at + field + size] = odd_number(rng, size).to_bytes(size, "little")
    return with_crcs(bytes(data), at)


def any_payload(rng, data):
    """Bytes of a payload, its checksums right."""
    list_of = [(a, n) for a, n in places(data) if n > HEADER]
    if not list_of:
        return rubbish(rng, data)
    at, length = rng.choice(list_of)
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        data[at + HEADER + rng.randrange(length - HEADER)] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
    return with_crcs(bytes(data), at)


def leb(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def unleb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def columns_of(raw):
    """[number, encoding, bytes] of each column of a payload."""
    found, at = [], 0
    while at < len(raw):
        number, at = unleb(raw, at)
        encoding, at = unleb(raw, at)
        size, at = unleb(raw, at)
        found.append([number, encoding, raw[at:at + size]])
        at += size
    return found


def with_columns(block, change):
    """The block with its columns changed; it is stored as it is, and its checksums are right."""
    stored, tail = struct.unpack_from("<I", block, 24)[0], struct.unpack_from("<I", block, 32)[0]
    first, behind = block[HEADER:HEADER + stored - tail], block[HEADER + stored - tail:HEADER + stored]
    columns = columns_of(zlib.decompress(first, -15) if block[11] & 1 else first)
    change(columns)
    raw = b"".join(leb(number) + leb(encoding) + leb(len(data)) + data for number, encoding, data in columns)
    header = bytearray(block[:HEADER])
    header[11] &= 0xFE
    struct.pack_into("<II", header, 24, len(raw) + tail, len(raw))
    return with_crcs(bytes(header) + raw + behind, 0)


def odd_column(rng, columns):
    """One gets other numbers, or none, or is gone, or is said to be written in another way."""
    column = rng.choice(columns)
    how = rng.randrange(8)
    if how < 4:
        values, at = [], 0
        while at < len(column[2]) and column[2][-1] < 128:
            value, at = unleb(column[2], at)
            values.append(value)
        values = values or [0]
        for _ in range(rng.choice([1, 1, 2, len(values)])):
            values[rng.randrange(len(values))] = odd_number(rng, 8)
        column[2] = b"".join(map(leb, values))
    elif how == 4:
        column[2] = b""
    elif how == 5:
        columns.remove(column)
    elif how == 6:
        column[1] = rng.randrange(6)
    else:
        column[2] = leb(odd_number(rng, 8)) * rng.choice([1, 2, 1000])


def any_column(rng, data):
    """Columns of a block, its checksums right: any numbers reach what lies behind the decoder."""
    list_of = [(a, n) for a, n in places(data) if n > HEADER]
    if not list_of:
        return rubbish(rng, data)
    at, length = rng.choice(list_of)

    def change(columns):
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if columns:
                odd_column(rng, columns)

    try:
        block = with_columns(data[at:at + length], change)
    except (IndexError, zlib.error):
        return rubbish(rng, data)
    return data[:at] + block + bytes(-len(block) % 8) + data[at + (length + 7) // 8 * 8:]


ANY_TRACE = [flip_bits, cut, cut_out, zeros, rubbish, twice, swapped, any_field, any_field, any_payload, any_payload, any_column, any_column, any_column]


def any_number(rng, data):
    """A number of the head, of a ring's head, or of a slot: live files have no checksums."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        size = rng.choice([1, 2, 4, 8])
        page = rng.choice([0, PAGE, PAGE, rng.randrange(len(data))])
        at = page + rng.choice([rng.randrange(256), rng.randrange(PAGE)]) // size * size
        if at + size <= len(data):
            data[at:at + size] = odd_number(rng, size).to_bytes(size, "little")
    return bytes(data)


ANY_LIVE = [flip_bits, cut, cut_out, zeros, rubbish, any_number, any_number, any_number]


def a_number(rng, data):
    """A number of a text becomes another one, of any length."""
    found = list(re.finditer(rb"-?[0-9]+", data))
    if not found:
        return rubbish(rng, data)
    at = rng.choice(found)
    new = rng.choice([b"", b"-", b"0", b"-1", b"18446744073709551615", b"18446744073709551616", b"-9223372036854775808", b"1e308", b"1e999999", b"0.1", b"nan",
                      b"9" * rng.randrange(1, 5000), b"%d" % rng.getrandbits(rng.randrange(1, 70))])
    return data[:at.start()] + new + data[at.end():]


def a_value(rng, data):
    """A value becomes one of another kind: nested deeply, very long, without its end, of bytes that are no UTF-8."""
    found = list(re.finditer(rb':("[^"\n]*"|-?[0-9]+)', data))
    if not found:
        return rubbish(rng, data)
    at, depth = rng.choice(found), rng.choice([1, 10, 255, 256, 257, 10000])
    new = rng.choice([b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth, b'"' + b"x" * rng.choice([65535, 65536, 1 << 20]) + b'"',
                      b'"\xff\xfe\xc0\x80\xed\xa0\x80"', b'"\\ud83d\\udcff\\u12"', b'"' + rng.randbytes(20) + b'"', b"null", b"{}", b'"', b'"\\'])
    return data[:at.start() + 1] + new + data[at.end():]


def lines_damaged(rng, data):
    """Lines torn, glued, repeated, in another order."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        lines[at] = lines[at][:rng.randrange(len(lines[at]) + 1)]
    elif how == 1:
        lines[at:at + 2] = [b"".join(lines[at:at + 2])]
    elif how == 2:
        lines[at:at] = lines[at:at + rng.randrange(1, 20)]
    elif how == 3:
        rng.shuffle(lines)
    else:
        lines[at] = lines[at][rng.randrange(len(lines[at]) + 1):]
    return b"\n".join(lines)


ANY_TEXT = [flip_bits, cut, cut_out, zeros, rubbish, a_number, a_number, a_value, a_value, lines_damaged, lines_damaged]
ANY_BYTES = [flip_bits, cut, cut_out, zeros, rubbish]


def damage_compressed(rng, text):
    """Before it was compressed, or afterwards, or both; in members, one of them lost."""
    if rng.random() < 0.5:
        text = damage(rng, text, ANY_TEXT)
    at = rng.randrange(len(text) + 1)
    data = gzip.compress(text[:at]) + gzip.compress(text[at:]) if rng.random() < 0.5 else gzip.compress(text)
    return damage(rng, data, ANY_BYTES) if rng.random() < 0.7 else data


def damage(rng, data, ways):
    """One to four of them, one after the other."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if data:
            data = rng.choice(ways)(rng, data)
    return data
