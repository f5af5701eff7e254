"""Damage for traces and live files: what disks, copies and cut connections do to them, and what nobody but an attacker would: fields of any
value under checksums that are right."""

import pathlib
import struct
import sys

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


ANY_TRACE = [flip_bits, cut, cut_out, zeros, rubbish, twice, swapped, any_field, any_field, any_payload, any_payload]


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


def damage(rng, data, ways):
    """One to four of them, one after the other."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if data:
            data = rng.choice(ways)(rng, data)
    return data
