# SPDX-License-Identifier: MIT
"""What tests of `dftmerge anonymize` share: hashes by Python's hashlib, names put back by the table, answers without
order."""

import hashlib
import json
import pathlib
import re
import struct
import zlib

LETTERS = "ghjkmnpqrstvwxyz"
LENGTHS = (28, 16, 15, 14, 10)
NUMBER = re.compile(rb"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![0-9A-Fa-f])"
                    rb"|(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{8,})|[0-9]+")
ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[ntr])")


class Hashes:
    """The forms of a hash, by the description in docs/privacy.md."""

    def __init__(self, key_file):
        self.key = hashlib.blake2b(pathlib.Path(key_file).read_bytes(), digest_size=64).digest()

    def digest(self, text):
        return hashlib.blake2b(text, key=self.key, digest_size=16).digest()

    def word(self, text):
        return "".join(LETTERS[byte >> 4] + LETTERS[byte & 15] for byte in self.digest(text)[:7])

    def numbered(self, text):
        return self.word(NUMBER.sub(b"#", text)) + "0" + self.digest(text)[7:14].hex()[:13]

    def name(self, text):
        return self.numbered(text) if NUMBER.search(text) else self.word(text)

    def hex(self, text):
        return self.digest(text)[:8].hex()

    def digits(self, text):
        return f"{int.from_bytes(self.digest(text)[:8], 'little') % 10**15:015d}"

    def of_token(self, token, text):
        """What a row of the table must say, by the form of its token."""
        if len(token) == 28:
            return self.numbered(text)
        if len(token) == 10:
            return self.word(text)[:10]
        return {16: self.hex, 15: self.digits, 14: self.word}[len(token)](text)


def unescaped(text):
    known = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
    return ESCAPE.sub(lambda m: known.get(m[1]) or bytes([int(m[1][1:], 16)]), text)


def read_table(path):
    """Token -> text, in the order of the file."""
    rows = (line.split(b"\t", 1) for line in pathlib.Path(path).read_bytes().split(b"\n") if line)
    return {token.decode(): unescaped(text) for token, text in rows}


def back(table, text):
    """The names in place of their hashes. The number of a pattern stands behind a pattern, which has it, too."""
    out, at = "", 0
    while at < len(text):
        length = next((n for n in LENGTHS if len(text) - at >= n and text[at:at + n] in table), 0)
        if not length:
            out, at = out + text[at], at + 1
            continue
        name = table[text[at:at + length]].decode("utf-8", "surrogateescape")
        at += length
        out += name
        at += length == 14 and "#" in name and text[at:at + 1] == "#"
    return out


def canonical(value, table=None, without=()):
    """With names put back, and lists of objects in an order that does not depend on names."""
    if isinstance(value, str):
        return back(table, value) if table else value
    if isinstance(value, dict):
        return {canonical(k, table): canonical(v, table, without) for k, v in value.items() if k not in without}
    if isinstance(value, list):
        items = [canonical(v, table, without) for v in value]
        return sorted(items, key=lambda v: json.dumps(v, sort_keys=True)) if items and isinstance(items[0], (dict, list)) else items
    return value


def difference(before, after, path=""):
    """Where the first difference is, and what differs; "": nothing."""
    if isinstance(before, dict) and isinstance(after, dict) and set(before) == set(after):
        return next(filter(None, (difference(before[k], after[k], f"{path}/{k}") for k in sorted(before))), "")
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return next(filter(None, (difference(x, y, f"{path}/{i}") for i, (x, y) in enumerate(zip(before, after)))), "")
    return "" if before == after else f"{path}: {str(after)[:500]}, before {str(before)[:500]}"




def inflated(path):
    """All bytes of a trace as they stand, and those of all blocks, inflated."""
    data = pathlib.Path(path).read_bytes()
    parts, at = [data], data.find(b"DfBlk\r\x1a\n")
    while at >= 0:
        flags, (stored, _, tail) = data[at + 11], struct.unpack_from("<III", data, at + 24)
        payload = data[at + 88:at + 88 + stored - tail]
        parts.append(zlib.decompress(payload, -15) if flags & 1 else payload)
        at = data.find(b"DfBlk\r\x1a\n", at + 88)
    return parts
