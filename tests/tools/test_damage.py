# SPDX-License-Identifier: MIT
"""Damaged traces: a note, exit code 1, and only what stood in the damaged block is gone."""

import json
import os
import random
import struct
import subprocess

from corrupt import leb, places, unleb, with_columns, with_crcs
from tooltest import dftmerge, dump, make, run, summary, DFTMERGE, ROOT

SANITIZED = bool(os.environ.get("DFT_SANITIZE"))

MAGIC = struct.pack("<Q", 0x0A1A0D6B6C426644)
PROCESS, CLOCK, EVENTS, BUCKETS, END = 1, 2, 4, 5, 8


def blocks(data):
    """(offset, length with header, type) of each block, as make_traces wrote them."""
    found, at = [], 0
    while at < len(data):
        assert data[at:at + 8] == MAGIC
        kind, = struct.unpack_from("<H", data, at + 8)
        stored, = struct.unpack_from("<I", data, at + 24)
        found.append((at, 88 + stored, kind))
        at += (88 + stored + 7) // 8 * 8
    return found


def trace(where, **settings):
    make(where, processes=1, **settings)
    path = where / "t1-0.dft"
    return path, path.read_bytes()


def key(event):
    return event["tid"], event["seq"]


def test_one_block_of_events(where):
    """Its rows still count it; dump lacks just its events."""
    path, data = trace(where)
    whole, events = summary(path), dump(path)
    for offset, length, kind in blocks(data):
        if kind != EVENTS:
            continue
        for at in (offset + 20, offset + 88, offset + length - 1):  # header, first and last byte of the payload
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:])
            answer = summary(path, expect=1)
            note = [n for n in answer["notes"] if f"block at {offset}: " in n]
            assert note and "checksum differs" in note[0] and "the rest used" in note[0], answer["notes"]
            assert answer["groups"] == whole["groups"] and answer["events"] == whole["events"]
            left = dump(path, expect=1)
            assert len(left) == len(events) - 100 and {key(e) for e in left} < {key(e) for e in events}


def test_one_block_of_rows(where):
    """Its events answer in its place: nothing is gone."""
    path, data = trace(where)
    whole, steps = summary(path), summary("--name", "step", path)
    assert steps["source"] == "buckets" and steps["groups"]
    for offset, length, kind in blocks(data):
        if kind != BUCKETS:
            continue
        path.write_bytes(data[:offset + 90] + b"\xff\xff" + data[offset + 92:])
        answer = summary(path, expect=1)
        assert len(answer["notes"]) == 1
        assert answer["groups"] == whole["groups"] and answer["events_kept"] == whole["events_kept"]
        # Where the names stood in those rows, others must be found to know which calls are asked about.
        assert summary("--name", "step", path, expect=1)["groups"] == steps["groups"]


def test_events_and_rows(where):
    path, data = trace(where)
    whole = summary(path)
    first = next(b for b in blocks(data) if b[2] == EVENTS)
    rows = next(b for b in blocks(data) if b[2] == BUCKETS)
    path.write_bytes(data[:first[0]] + data[rows[0] + (rows[1] + 7) // 8 * 8:])
    answer = summary(path, expect=1)
    assert whole["events"] > answer["events"] and answer["events_missing"] == 100 and whole["events_missing"] == 0
    assert answer["notes"] == [f"{path}: process 1000 wrote 1000 events, 900 are here"], answer["notes"]
    names = dump(path, expect=1)
    assert all(e["file"].startswith("#") for e in names if "file" in e), "the names stood in what is gone"


def test_cut_short(where):
    path, data = trace(where)
    events = dump(path)
    random.seed(1)
    for at in sorted(random.sample(range(1, len(data)), 40)):
        path.write_bytes(data[:at])
        inside = [b for b in blocks(data) if b[0] < at < b[0] + b[1]]
        whole = [b for b in blocks(data) if b[0] + b[1] <= at]
        done = run(DFTMERGE, "dump", "--json", path)
        assert done.code == (1 if inside or not whole else 0), (at, done.err)
        assert done.out.count(b"\n") == sum(100 for b in whole if b[2] == EVENTS) <= len(events)


def test_any_byte(where):
    """Whatever byte changes: an answer, a note, no crash."""
    path, data = trace(where, events=60, threads=1, block=30)
    events = {key(e) for e in dump(path)}
    random.seed(2)
    for _ in range(150):
        at, bit = random.randrange(len(data)), 1 << random.randrange(8)
        path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1:])
        for command in (["summary", "--json"], ["dump", "--json"]):
            done = run(DFTMERGE, *command, path)
            assert done.code in (0, 1), (at, bit, done)
            padding = not any(b[0] <= at < b[0] + b[1] for b in blocks(data))
            assert done.code == 1 or padding, (at, bit)
            assert done.code == 0 or "unreadable" in done.err or "belong to no block" in done.err, done.err
        assert {key(e) for e in dump(path, expect=done.code)} <= events


def test_rubbish_between_blocks(where):
    path, data = trace(where)
    whole = summary(path)
    cut = blocks(data)[3][0]
    path.write_bytes(data[:cut] + b"rubbish!" * 5 + data[cut:])
    answer = summary(path, expect=1)
    assert any("40 bytes belong to no block" in n for n in answer["notes"]), answer["notes"]
    assert answer["groups"] == whole["groups"]


def test_random_files(where):
    random.seed(3)
    for n in range(30):
        path = where / "r.dft"
        path.write_bytes(b"".join(random.choice([MAGIC, MAGIC + bytes(80), random.randbytes(random.randrange(300)), bytes(64)])
                                  for _ in range(random.randrange(40))))
        for command in ("summary", "dump"):
            done = run(DFTMERGE, command, path)
            assert done.code == 1, (n, done)


def test_no_end_no_process(where):
    path, data = trace(where, ranks=1)
    whole, list_of = summary(path), blocks(data)
    without_end = b"".join(data[a:a + (n + 7) // 8 * 8] for a, n, kind in list_of if kind != END)
    path.write_bytes(without_end)
    assert summary(path)["groups"] == whole["groups"]
    path.write_bytes(b"".join(data[a:a + (n + 7) // 8 * 8] for a, n, kind in list_of if kind not in (PROCESS, END)))
    answer = summary(path)
    assert answer["groups"] == whole["groups"] and answer["ranks"] == 0
    assert all(e["pid"] is None and e["rank"] is None for e in dump(path))


def check(*arguments, expect):
    return json.loads(dftmerge("check", "--json", *arguments, expect=expect).out)


def is_clean(path, missing):
    """Nothing is damaged; END knows of events that are not there any more."""
    answer = check(path, expect=1 if missing else 0)
    assert not (answer["blocks_damaged"] or answer["bytes_unreadable"] or answer["blocks_undecodable"]), answer
    assert [n for n in answer["notes"] if not n.endswith(f"wrote 1000 events, {1000 - missing} are here")] == [], answer["notes"]


def test_written_anew(where):
    """--recover leaves a trace that is whole again, answers as the damaged one did, and the damaged one beside it."""
    path, data = trace(where, ranks=1)
    list_of = blocks(data)
    events = [a for a, _, kind in list_of if kind == EVENTS]
    torn = struct.pack("<Q", 0x0A1A0D6B6C426644) + data[list_of[0][0] + 8:][:200]
    damages = {
        "one byte": data[:events[1] + 200] + bytes([data[events[1] + 200] ^ 1]) + data[events[1] + 201:],
        "a torn tail": data + torn,
        "rubbish in between": data[:events[2]] + b"rubbish!" * 9 + data[events[2]:],
    }
    for number, (what, bad) in enumerate(damages.items()):
        path.write_bytes(bad)
        before = dump(path, expect=1)
        assert check(path, expect=1)["repaired"] == 0 and path.read_bytes() == bad, what
        answer = check("--recover", path, expect=1)
        assert answer["repaired"] == 1 and not answer["good"], (what, answer)
        kept = path.with_name(path.name + ".damaged" + (f".{number + 1}" if number else ""))
        assert kept.read_bytes() == bad, what
        missing = 100 if what == "one byte" else 0
        is_clean(path, missing)
        assert dump(path, expect=1 if missing else 0) == before, what
    assert len(before) == len(dump(kept, expect=1))


def test_right_checksums_but_no_sense(where):
    """A block that cannot be decoded goes too."""
    path, data = trace(where, ranks=1)
    at, length, _ = [b for b in blocks(data) if b[2] == EVENTS][0]
    bad = with_crcs(data[:at + 88] + bytes([0xff] * (length - 88)) + data[at + length:], at)
    path.write_bytes(bad)
    answer = check("--recover", path, expect=1)
    assert answer["blocks_undecodable"] == 1 and answer["repaired"] == 1, answer
    is_clean(path, 100)


def test_neither_end_nor_live_file(where):
    path, data = trace(where, ranks=1)
    path.write_bytes(b"".join(data[a:a + (n + 7) // 8 * 8] for a, n, kind in blocks(data) if kind != END))
    answer = check(path, expect=1)
    assert answer["without_end"] == 1 and not answer["good"], answer
    assert "all good" not in dftmerge("check", path, expect=1).out.decode()


def filled(columns, at, value):
    """Every other number of the column at this place becomes this one; no value: no column."""
    number, encoding, data = columns[at]
    if value is None:
        del columns[at]
    elif encoding == 0:
        values, place = [], 0
        while place < len(data):
            old, place = unleb(data, place)
            values.append(leb(old if len(values) % 2 else value))
        columns[at] = [number, encoding, b"".join(values)]
    else:
        words = [data[i:i + 8] for i in range(0, len(data), 8)]
        words[::2] = [struct.pack("<Q", value)[:len(word)] for word in words[::2]]
        columns[at] = [number, encoding, b"".join(words)]


def odd_columns_of(data, kind=None):
    """The trace with one column of one block, in each way, under checksums that are right."""
    for a, n in places(data):
        if kind and data[a + 8] != kind:
            continue
        block, columns = data[a:a + n], []
        with_columns(block, columns.extend)
        for at in range(len(columns)):
            for value in (None, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
                odd = with_columns(block, lambda these, at=at, value=value: filled(these, at, value))
                yield data[:a] + odd + bytes(-len(odd) % 8) + data[a + (n + 7) // 8 * 8:]


def test_odd_clocks_and_processes(where):
    golden = (ROOT / "tests/format/golden/deflated.dft").read_bytes()
    clocks, processes = (list(odd_columns_of(golden, kind)) for kind in (CLOCK, PROCESS))
    assert len(clocks) >= 5 and len(processes) > 50
    for odd in clocks:
        (where / "a.dft").write_bytes(odd)
        assert json.loads(dftmerge("ranks", "--json", where / "a.dft", expect=None).out)["source"]
    for odd in processes[::5]:  # a column is not there
        (where / "a.dft").write_bytes(odd)
        assert dftmerge("spans", "import", where / "spans.db", where / "a.dft", expect=None).code in (0, 1, 2)


def test_odd_numbers_are_bounded(where):
    """No number under a right checksum makes a command fail, take long, or hold more than a few MiB."""
    seen, most, mib = set(), 0, 1 << 10
    (where / "place").mkdir()
    for seed in range(2):
        for odd in odd_columns_of(trace(where / f"{seed}", ranks=1, events=12, block=12, threads=1 + seed)[1]):
            seen.add(odd)
    commands = (("report", "-o", where / "page"), ("layers", "--json", "--preset", "generic", "--view", "time"), ("timeline", "--heat"),
                ("ranks", "--json"), ("plot", "--kind", "bandwidth", "-o", where / "picture"), ("check",), ("summary", "--all", "--json"))
    for number, odd in enumerate(sorted(seen)):
        (where / "place" / "a.dft").write_bytes(odd)
        command = commands[number // 3 % len(commands)]
        if number % 3 and CLOCK not in {kind for _, _, kind in blocks(odd)}:
            continue
        with subprocess.Popen([DFTMERGE, *command, where / "place"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            said = process.stderr.read().decode(errors="replace")
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in (0, 1), (command, number, process.returncode, said)
        most = max(most, usage.ru_maxrss)
    assert SANITIZED or most < 256 * mib, f"{most // mib} MiB"
    print(f"{len(seen)} files, at most {most // mib} MiB")
