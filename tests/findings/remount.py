# SPDX-License-Identifier: MIT
"""Traces as they would be with other mount points: what a process says of them is replaced in its record."""

import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))

from read_dft import BYTES, FIELDS, HEADER, MAGIC, TYPES, Bytes, check_header, crc32c  # noqa: E402

MOUNTS = 24


def leb(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def with_mounts(raw, mounts):
    """The columns of a PROCESS block with these mount points."""
    columns, source = b"", Bytes(raw, name="list")
    while source.left():
        number, encoding, length = source.leb(), source.leb(), source.leb()
        data = source.take(length)
        if number != MOUNTS:
            columns += leb(number) + leb(encoding) + leb(length) + data
    return columns + leb(MOUNTS) + leb(BYTES) + leb(len(mounts)) + mounts


def packed(header):
    return HEADER.pack(*(header[field] for field in FIELDS))


def remount(traces, mounts):
    """`mounts`: the type of the file system at each mount point."""
    text = "".join(f"{point} {kind}\n" for point, kind in mounts.items()).encode()
    for path in pathlib.Path(traces).glob("*.dft"):
        data = path.read_bytes()
        header = check_header(data, 0)
        assert data.startswith(MAGIC) and TYPES[header["type"]] == "PROCESS", f"{path} does not begin with its process"
        end = HEADER.size + header["stored"]
        raw = data[HEADER.size:end]
        raw = with_mounts(zlib.decompress(raw, -15) if header["flags"] & 1 else raw, text)
        header.update(flags=0, stored=len(raw), raw=len(raw), payload_crc=crc32c(raw), header_crc=0, magic=struct.unpack("<Q", MAGIC)[0])
        header["header_crc"] = crc32c(packed(header))
        path.write_bytes(packed(header) + raw + data[data.find(MAGIC, end):])
