# SPDX-License-Identifier: MIT
"""Live files: what a killed process left is counted once, with what is in blocks already, and says what was in flight."""

import json
import mmap
import os
import re
import shutil
import struct
import time

from tooltest import BUILD, DFTMERGE, counts, dftmerge, dump, groups, make, need_preload, run, same_groups, summary

END_MEANWHILE = BUILD / "lib" / "libend_meanwhile.so"
EVENTS = 500  # of a thread in blocks; its ring holds [490, 520)


def test_killed(where):
    make(where, live=1, ranks=1)
    events = dump(where)
    done = [e for e in events if not e.get("open")]
    assert len(done) == 2 * 2 * (EVENTS + 20)
    for process in (0, 1):
        for thread in (0, 1):
            tid = 1000 + process * 10 + thread
            assert sorted(e["seq"] for e in done if e["tid"] == tid) == list(range(EVENTS + 20))
    ring = [e for e in done if e["seq"] >= EVENTS]
    assert all((e["name"], e["file"], e["bytes"], e["region"]) == ("read", "/data/in/b.bin", 4096, "solve") for e in ring)


def test_in_flight(where):
    make(where, live=1, processes=1, threads=1)
    flying = [e for e in dump(where) if e.get("open")]
    assert [(e["name"], e["phase"]) for e in flying] == [("solve", "begin"), ("read", "begin")], flying
    region, call = flying
    assert call["region"] == "solve" and call["file"] == "/data/in/a.bin" and call["fd"] == 7
    assert "ret" not in call and call["ts"] == region["ts"] + 1000000
    assert "in flight" in dftmerge("dump", where).out.decode()


def test_one_note_however_many(where):
    """One is named with its file; of several three are named, the others counted."""
    make(where / "one", live=1, ranks=1, processes=1)
    note, = (n for n in summary(where / "one")["notes"] if "killed" in n)
    assert ".dft.live: process " in note and "recovered from this file" in note, note
    make(where / "many", live=1, ranks=1, processes=5)
    note, = (n for n in summary(where / "many")["notes"] if "killed" in n)
    named = re.fullmatch(r"5 processes were killed \(or left by a raw exit_group\); pids (\d+), (\d+), (\d+) \.\.\.; (\d+) events recovered from "
                         r"their live files", note)
    assert named and int(named[4]) == 5 * 2 * 20, note


def test_summary_counts_them(where):
    """Blocks have rows, rings do not: together they are what all events are."""
    make(where, live=1, ranks=1)
    events, answer = dump(where), summary(where)
    assert answer["source"] == "buckets"
    same_groups(answer["groups"], groups(events, ["cat", "name"]), "call")
    assert answer["events"] == answer["events_kept"] == sum(e.get("calls", 1) for e in events if counts(e))
    answer = summary("--by", "file", where)
    same_groups(answer["groups"], groups(events, ["file"], with_union=True), "file")
    left = 2 * 2 * 20  # of each thread's ring, beyond what is in blocks
    assert sum("2 processes were killed" in n and f"{left} events recovered" in n for n in answer["notes"]) == 1, answer["notes"]
    assert (answer["killed"], answer["recovered"], answer["without_end"]) == (2, left, 0)
    last = max(e["ts"] + (0 if e.get("open") else e["dur"]) for e in events)  # the start of a call in flight is a sign of life
    assert answer["wall_ns"] == last - answer["start_ns"], (answer["wall_ns"], last - answer["start_ns"])
    assert f"2 killed (or left by a raw exit_group); {left} events recovered" in " ".join(dftmerge(where).out.decode().split())


def test_found_beside_its_trace(where):
    make(where, live=1)
    wanted = dump(where)
    assert dump(*sorted(where.glob("*.dft"))) == wanted
    assert dump(*sorted(where.glob("*.dft")), *where.glob("*.live")) == wanted
    shutil.copy(where / "t1-0.dft.live", where / "copy.dft.live")
    assert [e for e in dump(where) if not e.get("open")] == [e for e in wanted if not e.get("open")]


def test_without_its_trace(where):
    make(where, live=1, processes=1, threads=1)
    (where / "t1-0.dft").unlink()
    events = [e for e in dump(where) if not e.get("open")]
    assert [e["seq"] for e in events] == list(range(490, 520))
    assert all(e["pid"] == 1000 for e in events)
    assert summary(where)["events"] == 30


def test_just_created(where):
    """Killed between the making of the file and the first event: there is nothing to recover, and nothing is wrong."""
    make(where, live=1, processes=2, threads=1)
    path = where / "t1-0.dft.live"
    length = len(path.read_bytes())
    for n in (length, 4096, 100):
        path.write_bytes(bytes(n))
        dump(where)
        assert any("ended before its first event" in n for n in summary(where)["notes"])
    path.write_bytes(bytes(8) + (where / "t1-1.dft.live").read_bytes()[8:])  # rings without a header are another thing
    dump(where, expect=1)


def test_damaged(where):
    make(where, live=1, processes=1)
    path = where / "t1-0.dft.live"
    data = path.read_bytes()
    for bad in (data[:100], b"x" * 5000, data[:4096], data[:8] + b"\xff" * 4 + data[12:]):
        path.write_bytes(bad)
        left = [e for e in dump(where, expect=0 if bad == data[:4096] else 1) if not e.get("open")]
        assert len(left) == 2 * EVENTS
    for at in range(4096, len(data), 97):  # any byte of the rings
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])
        assert len(dftmerge("dump", "--json", where).out.splitlines()) >= 2 * EVENTS
    path.write_bytes(b"")
    assert len(dump(where)) == 2 * EVENTS


def test_ends_while_it_is_read(where):
    """Whenever the process ends and its live file goes: between the listing and the first look, between two looks, or when it was thought
    to be over: its trace has all, and nobody complains."""
    need_preload()
    for is_there in (False, True):
        for listed in (True, False):
            for at in range(1, 6):
                one = make(where / f"{is_there}-{listed}-{at}", live=1, processes=1, threads=1)
                trace, live, whole = one / "t1-0.dft", one / "t1-0.dft.live", one / "whole"
                dftmerge("merge", "-o", where / "whole.dft", one)
                wanted = dump(where / "whole.dft")
                (where / "whole.dft").rename(whole)
                if is_there:  # the header's pid and start
                    data = bytearray(live.read_bytes())
                    struct.pack_into("<I", data, 32, os.getpid())
                    struct.pack_into("<Q", data, 40, time.time_ns())
                    live.write_bytes(data)
                done = dftmerge("dump", "--json", one if listed else trace, env={
                    "LD_PRELOAD": str(END_MEANWHILE), "ENDS_LIVE": str(live), "ENDS_TRACE": str(trace),
                    "ENDS_WHOLE": str(whole), "ENDS_AT": str(at)})
                assert [json.loads(line) for line in done.out.splitlines()] == wanted or live.exists(), (one, done.err)
                assert not done.err or live.exists(), (one, done.err)
                if live.exists():
                    assert at > 2, at  # it was not looked at so often
                    break


def test_filled_anew_behind_the_copy(where):
    """A ring's head was copied, and then its slots, of which some had got the next lap's records by then: those are not events of
    that copy, least of all with a number of a lap long ago."""
    make(where, live=1, processes=1, threads=1)
    path = where / "t1-0.dft.live"
    data = bytearray(path.read_bytes())
    ring, slots = 4096, 8192
    capacity, shift = struct.unpack_from("<II", data, ring + 16)
    for seq in (500, 505):
        at = slots + seq % capacity * 64
        assert struct.unpack_from("<I", data, at)[0] == seq >> shift << 2 | 2
        struct.pack_into("<I", data, at, (seq + capacity) >> shift << 2 | (2 if seq == 500 else 1))
    path.write_bytes(data)
    events = [e for e in dump(where) if not e.get("open")]
    assert len(events) == 518
    assert set(range(520)) - {e["seq"] for e in events} == {500, 505}, sorted(e["seq"] for e in events)[480:]
    assert not any("half-written" in n for n in summary(where)["notes"])


def test_without_its_live_file(where):
    """Nothing says what the process had not written: neither the summary nor check passes over that."""
    make(where, live=1, processes=2, threads=1)
    (where / "t1-0.dft.live").unlink()
    done = dftmerge("check", where, expect=1)
    assert b"all good" not in done.out and b"1 processes without an end" in done.out, done.out
    assert "has no end and no live file" in done.err, done.err
    assert summary(where)["without_end"] == 1
    assert "what 1 processes without an end" in dftmerge(where).out.decode()


def test_ps_says_what_they_did(where):
    """I/O time and bytes of each process, of the calls that pass; the head has the sums."""
    make(where, processes=3, ranks=1)
    for options in ((), ("--class", "read"), ("--name", "write,fsync", "--to", "0.5"), ("--rank", "1")):
        wanted = {}
        for g in summary("--by", "process,class", *options, where)["groups"]:
            io = wanted.setdefault(g["process"], [0, 0, 0])
            io[0] += g["time_ns"] if g["class"] in ("read", "write", "sync", "meta", "startup") else 0
            io[1] += g["bytes"] if g["class"] in ("read", "startup") else 0
            io[2] += g["bytes"] if g["class"] == "write" else 0
        got = {p["key"]: [p["io_ns"], p["read_bytes"], p["write_bytes"]] for p in json.loads(dftmerge("ps", "--json", *options, where).out)["processes"]}
        assert got == wanted or not any(map(any, (got[k] for k in got if k not in wanted))), (options, got, wanted)
        assert all(got[k] == wanted[k] for k in wanted) and any(map(any, got.values())), options
    text = dftmerge("ps", where, env={"COLUMNS": "80"}).out.decode().splitlines()
    assert text[0].startswith("3 process images: I/O ") and " read, " in text[0] and text[1].split()[0] == "pid", text
    assert max(map(len, text)) <= 80 and "written" in text[1]


def test_ps_puts_killed_ones_together(where):
    make(where, live=1, processes=16)
    folded, whole = (dftmerge("ps", *options, where).out.decode() for options in ((), ("--all",)))
    assert folded.startswith("16 process images: ") and "; 16 killed\n" in folded
    assert folded.count(" ./app ") == 1 and folded.count("in flight since") == 4, folded
    assert "15 more like it were killed, I/O " in folded and " 1001 1002 1003" in folded and "(--all: each by itself)" in folded
    assert whole.count(" ./app ") == 16 and whole.count("in flight since") == 64 and "more like it" not in whole
    assert len(json.loads(dftmerge("ps", "--json", where).out)["processes"]) == 16
    make(where / "few", live=1, processes=3)
    assert "more like it" not in dftmerge("ps", where / "few").out.decode()
    make(where / "ended", processes=8)
    assert dftmerge("ps", where / "ended").out.decode().count(" ./app ") == 8  # nobody killed them


def test_another_with_its_pid_reads_it(where):
    """Pids come again: who has the pid of the dead process, and maps its live file to read it, is not that process."""
    make(where, live=1, processes=1)
    live, = where.glob("*.live")
    data = bytearray(live.read_bytes())
    struct.pack_into("<I", data, 32, os.getpid())
    live.write_bytes(data)
    with open(live, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED):
        done = run(DFTMERGE, "check", "--json", where)
        stacks = dftmerge("ps", "--stacks", os.getpid(), expect=None)
    assert stacks.code and f"process {os.getpid()} has no live file" in stacks.err, stacks
    answer = json.loads(done.out)
    assert (answer["live_left"], answer["live_running"]) == (1, 0), answer
