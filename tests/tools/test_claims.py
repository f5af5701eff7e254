# SPDX-License-Identifier: MIT
"""Small files that claim to be large: headers, live files and lines of DFTracer's whose numbers promise gigabytes. dftmerge takes memory for what is there,
comes to an end, and names the file."""

import gzip
import json
import os
import resource
import struct
import subprocess

from corrupt import HEADER, PAGE, places, with_crcs
from tooltest import DFTMERGE, ROOT, make

SANITIZED = "address" in os.environ.get("DFT_SANITIZE", "")
MOST = (700 if SANITIZED else 160) << 20  # resident; what this program had when it began the other one counts, too
ADDRESSES = 1 << 30
HUGE = {2: 0xffff, 4: 0xffffffff, 8: (1 << 64) - 1}
T0 = 1_700_000_000_000_000


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def bounded(place, *command, codes=(0, 1)):
    """Runs dftmerge on what is in `place`: its standard output and messages."""
    with open(place.with_suffix(".out"), "w+b") as out, open(place.with_suffix(".err"), "w+b") as err:
        child = subprocess.Popen([DFTMERGE, command[0], "--threads", "2", *command[1:], place], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, said = out.read(), err.read().decode(errors="replace")
    assert child.returncode in codes, f"{command}: exit code {child.returncode}: {said[-400:]}"
    assert usage.ru_maxrss << 10 < MOST, f"{command}: {usage.ru_maxrss >> 10} MiB: {said[-400:]}"
    assert "allocate memory" not in said and "no memory" not in said.replace("events lost: no memory", ""), said[-400:]
    if child.returncode:
        assert any(str(path) in said for path in (*place.iterdir(), place)), f"{command}: no file is named: {said[-400:]}"
    return output, said


def with_field(data, at, **fields):
    """The block at `at` alone, with other numbers in its header."""
    offsets = {"count": (20, 4), "stored": (24, 4), "raw": (28, 4), "tail": (32, 4), "first": (40, 8), "last": (48, 8), "start": (56, 8), "end": (64, 8)}
    block = bytearray(data)
    for name, value in fields.items():
        offset, size = offsets[name]
        block[at + offset:at + offset + size] = value.to_bytes(size, "little")
    return with_crcs(bytes(block), at)


def test_headers(directory):
    """Every block of a trace claims as much as a header may, many times over."""
    original = next(make(directory / "seed", processes=1, events=300, block=100).glob("*.dft")).read_bytes()
    number = 0
    for at, length in places(original):
        block = original[at:at + (length + 7) // 8 * 8]
        for fields in ({"raw": 16 << 20}, {"count": 65536}, {"raw": 16 << 20, "count": 65536}, {"first": 0, "last": HUGE[8]}, {"start": 0, "end": HUGE[8]}):
            place = directory / f"{number}"
            place.mkdir()
            changed = with_field(block, 0, **fields)
            assert changed != block
            # Each is another one: what is the same is seen once.
            copies = b"".join(with_field(changed, 0, first=i * 1000 + fields.get("first", 0), last=fields.get("last", i * 1000 + 999)) for i in range(20))
            (place / "a.dft").write_bytes(original[:at] + copies + original[at:])
            bounded(place, *(("summary",), ("dump", "--json"), ("check",))[number % 3])
            number += 1
    assert number > 20, number


def test_more_than_deflate_can_hold(directory):
    """Such a block is refused before there is memory for it."""
    original = (ROOT / "tests/format/golden/deflated.dft").read_bytes()
    at = next(at for at, _ in places(original) if original[at + 8] == 4)  # EVENTS
    directory.mkdir(exist_ok=True)
    (directory / "a.dft").write_bytes(with_field(original, at, raw=16 << 20))
    output, said = bounded(directory, "check", codes=(1,))
    assert "header: more than its payload can hold" in output.decode() + said, said


def test_live_files(directory):
    seed = make(directory / "seed", processes=1, events=60, block=20, threads=2, live=1)
    trace = next(seed.glob("*.dft"))
    live = (seed / (trace.name + ".live")).read_bytes()
    assert struct.unpack_from("<I", live, PAGE + 16)[0] < 65536, "a ring's head is there"
    places_of_numbers = [(at, size) for base, end in ((0, 128), (PAGE, PAGE + 128)) for size in (4, 8) for at in range(base, base + end - base, size)]
    place = directory / "one"
    place.mkdir()
    (place / "a.dft").write_bytes(trace.read_bytes())
    for n, (at, size) in enumerate(places_of_numbers):
        damaged = bytearray(live)
        damaged[at:at + size] = HUGE[size].to_bytes(size, "little") if n % 2 else (1 << (8 * size - 2)).to_bytes(size, "little")
        (place / "a.dft.live").write_bytes(damaged)
        bounded(place, "check" if n % 3 else "summary")


def test_ranks_that_nobody_has(directory):
    directory.mkdir(exist_ok=True)
    (directory / "a.pfw").write_text('{"id":1,"name":"PR","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"name":"rank","value":"16000000"}}\n'
                                     '{"id":2,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":1,"ph":"X","args":{"ret":1}}\n' % T0)
    output, _ = bounded(directory, "summary", "--json", codes=(0,))
    answer = json.loads(output)
    assert (answer["ranks"], answer["world_size"], answer["missing_ranks"]) == (1, 16000001, list(range(65536))), answer["ranks"]


def line(number, pid=1, tid=1, name="read", more=""):
    return '{"id":%d,"name":"%s","cat":"POSIX","pid":%d,"tid":%d,"ts":%d,"dur":1,"ph":"X","args":{"ret":1%s}}\n' % (number, name, pid, tid, T0 + number, more)


def pfw(directory, name, data):
    place = directory / name
    place.mkdir(parents=True)
    (place / ("a.pfw.gz" if data[:2] == b"\x1f\x8b" else "a.pfw")).write_bytes(data)
    return place


def events_of(place, **more):
    output, said = bounded(place, "summary", "--json", "--no-index", **more)
    return json.loads(output or b'{"events":0}')["events"], said


def test_compressed_nothing(directory):
    """Hundreds of megabytes in a few hundred kilobytes."""
    one = line(1).encode()
    for name, filler in (("zeros", b"\0" * (1 << 20)), ("lines", b"\n" * (1 << 20)), ("braces", b"{" * (1 << 20)), ("quotes", b'"{' * (1 << 19))):
        data = gzip.compress(one + filler * 128 + b"\n" + line(2).encode(), 6)
        assert len(data) < 1 << 20
        events, said = events_of(pfw(directory, name, data))
        assert events == 2, (name, events, said)
        assert name == "lines" or "1 line of more than 16 MiB left out" in said, said


def test_lines_without_end(directory):
    """From every place where a record may begin, a search to the end of the line would take an hour."""
    # What a nested value may be deep is looked at from each place: 256 times as long, and no longer.
    for name, piece in (("names", b'{"name":"'), ("ids", b'{"id":'), ("definitions", b'{"id":1,"name":"FH","args":{"name":"'), ("lists", b'{"id":['), ("args", b'{"id":1,"args":{')):
        events, said = events_of(pfw(directory, name, line(1).encode() + piece * (((8 if name == "names" else 1) << 20) // len(piece)) + b"\n" + line(2).encode()))
        assert events == 2 and "1 line is no record" in said, (name, events, said)


def test_many_of_everything(directory):
    """Threads, processes and calls that come once each."""
    number = 50000
    threads = "".join(line(i, tid=i) for i in range(1, number + 1))
    processes = "".join(line(i, pid=i, tid=i) for i in range(1, number + 1))
    hosts = "".join(line(i, more=f',"hostname":"node{i % 500}"') for i in range(1, number + 1))
    for name, text in (("threads", threads), ("processes", processes), ("hosts", hosts)):
        assert events_of(pfw(directory, name, text.encode()))[0] == number, name


def test_odd_records(directory):
    """Deep nesting, enormous texts and numbers, members by the thousand: one record each, the others are not harmed."""
    digits = "9" * 100000
    records = {"deep": '"x":' + "[" * 100000 + "]" * 100000, "deeper": '"x":' + '{"a":' * 200 + "1" + "}" * 200, "long": '"x":"' + "y" * (4 << 20) + '"',
               "number": f'"x":{digits}', "count": f'"count":{digits},"offset":-{digits}', "real": f'"x":1e{digits},"y":-0.{digits}',
               "members": ",".join(f'"k{i}":{i}' for i in range(100000)), "escapes": '"x":"' + "\\ud83d" * 100000 + '"', "empty": '"":""'}
    for name, members in records.items():
        text = line(1) + line(2, more="," + members) + line(3)
        place = pfw(directory, name, text.encode())
        events, said = events_of(place)
        assert events == (2 if name == "deep" else 3), (name, events, said[-300:])
        bounded(place, "dump", "--json", "--no-index")
