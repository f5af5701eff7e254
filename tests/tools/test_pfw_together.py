#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What all indexed traces did together: questions by file are answered from it as from events, and never from one that is of other
events."""

import functools
import json
import os
import random
import shutil
import subprocess

from pfw_files import Writer, read_events, write
from test_pfw import agrees
from tooltest import DFTMERGE, Skip, dump, groups, main, run, same_groups, summary

BASE = 1_700_000_000_000_000
EVENTS, FILES = 9_000, 8
NAMES = ("read", "write", "pread64", "__xstat", "open", "close")
QUESTIONS = (["--by", "file"], ["--by", "file,name"], ["--by", "region,call,file"], ["--by", "dir"], ["--by", "pattern,class"],
             ["--by", "op,file", "--name", "p*,write"], ["--cat", "STDIO", "--by", "dir,name"], ["--by", "call", "--file", "*/set 1/*"],
             ["--by", "cat", "--file", "*a*", "--file", "*7*", "--name", "read"], ["--by", "name", "--file", "nothing"],
             ["--by", "file", "--top", "7", "--sort", "time_p95_ns"], ["--by", "file,name", "--sort", "file"])
# Answered by the rows of each trace, too, where it is not there.
WITHOUT_FILES = (["--by", "call"], ["--by", "name,op", "--sort", "self_ns"], ["--by", "class"], ["--by", "region,cat"], ["--by", "cat", "--name", "p*,step*"])
# What only events know.
OTHERS = (["--by", "file,rank"], ["--by", "file", "--pid", "101-104"], ["--by", "file", "--from", "0.5"], ["--by", "time,file"],
          ["--by", "dir", "--events"], ["--by", "file", "--sort", "busy_union_ns", "--top", "5"])


@functools.cache
def trace(pid, dialect="1.0.8", seed=1, files=12):
    chance = random.Random(pid * 1000 + seed)
    writer = Writer(dialect, pid=pid, rank=pid - 100)
    ts = BASE
    for i in range(EVENTS):
        ts += chance.randrange(300)
        file = None if i % 17 == 0 else f"/data/set {i % 5}/file_{chance.randrange(files)}" + ("" if i % 3 else f".{pid}")
        dur = chance.choice((0, 1, chance.randrange(100), chance.randrange(100_000)))
        if i % 40 == 0:
            step, begin, writer.id = writer.id, ts, writer.id + 1
        elif i % 40 == 9:  # what is around others is written when it ends
            step, writer.id = writer.id, step
            writer.call("APP", f"step {i % 3}", begin, ts - begin, tid=pid)
            writer.id = step
        inside = {"p_idx": step} if i % 40 < 9 else {}
        if i % 11 == 0:
            writer.call("STDIO", "fread", ts, dur, file, ret=chance.randrange(9), count=9, size=512, **inside)
        else:
            name = chance.choice(NAMES)
            writer.call("POSIX", name, ts, dur, file, tid=pid + i % 2, ret=-1 if i % 13 == 0 else chance.randrange(1 << 16), **inside,
                        **({"offset": chance.randrange(1 << 30)} if name == "pread64" else {}))
    return writer


def traces(where):
    where.mkdir()
    return [write(where / f"{pid}.pfw{'.gz' if pid % 2 else ''}", trace(pid, "2.x" if pid == 103 else "1.0.8").text())
            for pid in range(100, 100 + FILES)]


def kept(where):
    return [path for path in (where / ".dftindex").iterdir() if path.name.startswith(".together")]


def without_union(answer):
    """What only events know is left out, and where the answer is from."""
    answer = dict(answer, source=None, calls_from_events=None, calls_from_aggregates=None)
    answer["groups"] = [dict(g, busy_union_ns=None, in_flight_max=None, distinct_bytes=None, processes=None, common_size=None) for g in answer["groups"]]
    return answer


def right(where, questions=QUESTIONS, anew=(), **more):
    for question in questions:
        got, wanted = summary(*question, where, **more), summary(*anew, "--events", *question, where)
        assert (got["source"], wanted["source"]) == ("buckets", "events"), question
        assert all(g["busy_union_ns"] is g["in_flight_max"] is g["distinct_bytes"] is None for g in got["groups"]), question
        assert without_union(got) == without_union(wanted), question


def law(directory):
    """The same as from events in every digit, but for how calls overlap; and right by an independent reading."""
    where = directory / "t"
    files = traces(where)
    summary(where)
    summary("--by", "rank,name", where)
    assert not kept(where), "nobody has asked about files"
    right(where, anew=["--no-index"])
    one, = kept(where)
    state = one.stat()
    right(where, (*QUESTIONS[:4], WITHOUT_FILES[1]), env={"DFTMERGE_GROUP_BYTES": "90000"})
    right(where, WITHOUT_FILES)
    selves = [g["self_ns"] - g["time_ns"] for g in summary("--by", "call", where)["groups"] if g["cat"] == "APP"]
    assert len(selves) == 3 and max(selves) < 0, "regions have something inside"
    agrees([where], [event for path in files for event in read_events(path)])
    events = [dict(event, host=None, bytes=event.get("bytes", 0)) for event in dump(where)]
    nothing = dict.fromkeys("errors bytes size_min size_max offset_min offset_max asked turns consecutive sequential strided random processes common_size".split())
    got = summary("--by", "name,dir", where)
    assert got["source"] == "buckets"
    same_groups([dict(g, **nothing) for g in got["groups"]], [dict(g, **nothing) for g in groups(events, ["name", "dir"])], "name,dir")
    for question in OTHERS:
        assert summary(*question, where) == summary("--no-index", *question, where), question
    text = [run(DFTMERGE, "summary", *more, where).out.decode() for more in ((), ("--events",))]
    assert [t.split("Files by time")[1].splitlines()[1:12] for t in text][0] == text[1].split("Files by time")[1].splitlines()[1:12]
    assert (one.stat().st_ino, one.stat().st_mtime_ns) == (state.st_ino, state.st_mtime_ns), "it was read, not made again"


def other_events(directory):
    """Traces that changed, came or went; a part of them; lines left out: it is of what is asked about, or made anew."""
    where = directory / "t"
    files = traces(where)
    some = (QUESTIONS[1], QUESTIONS[7], WITHOUT_FILES[0])
    right(where, some)
    first = kept(where)[0].read_bytes()
    more = trace(102, seed=2)
    write(files[2], more.text())
    right(where, some)
    assert kept(where)[0].read_bytes() != first
    write(where / "new.pfw", trace(190).text())
    right(where, some)
    os.remove(files[4])
    right(where, some)
    files.remove(files[4])
    for paths in (files[:7], files[1:], [*files, where / "new.pfw"]):
        for question in some:
            got, wanted = summary(*question, *paths), summary("--no-index", "--events", *question, *paths)
            assert without_union(got) == without_union(wanted)
    write(files[0], "\n".join(trace(100).lines + trace(100).lines[50:3000]))
    right(where, some)
    for question in some:
        got, wanted = (summary("--dedupe", *more, *question, where) for more in ((), ("--no-index", "--events")))
        assert without_union(got) == without_union(wanted) and got["source"] == "buckets"
    right(where, some)
    assert len(kept(where)) == 1


def damaged(directory):
    """Whatever stands in the file, the answer is right, and the file is whole again."""
    where = directory / "t"
    traces(where)
    question = ["--by", "file,name"]
    wanted = summary(*question, where)
    one, = kept(where)
    whole = one.read_bytes()
    chance = random.Random(4)
    cases = [b"", whole[:100], whole[:4096], whole[:-8], whole + bytes(8), bytes(len(whole)), whole[:4096] + bytes(len(whole) - 4096)]
    for _ in range(12):
        case = bytearray(whole)
        case[chance.randrange(len(case))] ^= 1 << chance.randrange(8)
        cases.append(bytes(case))
    for case in cases:
        one.write_bytes(case)
        assert summary(*question, where) == wanted, len(case)
    one.write_bytes(b"x")
    assert summary(*question, where) == wanted and one.read_bytes() == whole
    index = where / ".dftindex" / "100.pfw.dft"
    data = index.read_bytes()
    index.write_bytes(data[:-1000])  # made anew from the trace: the same blocks
    assert summary(*question, where) == wanted and index.read_bytes() == data


def several_at_once(directory):
    """Of other traces of the directory, while they take each other's file away: each has its own answer."""
    where = directory / "t"
    files = traces(where)
    sets = (files, files[:-1], files[1:])
    question = ["summary", "--json", "--by", "pattern,name"]
    wanted = [run(DFTMERGE, *question, *paths).out for paths in sets]
    assert len(set(wanted)) == len(sets)
    running = [(i % 3, subprocess.Popen([DFTMERGE, *question, *sets[i % 3]], stdout=subprocess.PIPE)) for i in range(24)]
    for number, process in running:
        assert process.communicate(timeout=200)[0] == wanted[number] and process.returncode == 0
    assert len(list((where / ".dftindex").iterdir())) == len(files) + 1


def not_worth_it(directory):
    """Hardly a file that is used twice: from events, and that is remembered. Few events, and native ones: no such file."""
    where = directory / "t"
    where.mkdir()
    for pid in range(100, 108):
        writer = Writer("1.0.8", pid=pid, rank=pid - 100)
        for i in range(EVENTS):
            writer.call("POSIX", "open", BASE + 10 * i, 5, f"/d/{pid}/{i // 2}")
        write(where / f"{pid}.pfw", writer.text())
    for _ in range(2):
        got = summary("--by", "file,name", "--top", "50", where)
        assert got == summary("--no-index", "--by", "file,name", "--top", "50", where) and got["source"] == "events"
        assert len(kept(where)) == 1 and kept(where)[0].stat().st_size == 4096
    small = directory / "small"
    small.mkdir()
    write(small / "a.pfw", trace(100).text())
    assert summary("--by", "file", small) == summary("--by", "file", "--no-index", small) and not kept(small)


def nowhere_to_write(directory):
    """Where no index can be, there is none of all together; in the user's cache each directory has its own."""
    for name in ("t", "u"):
        traces(directory / name)
        (directory / name / ".dftindex").write_text("in the way")
    wanted = summary("--by", "dir", "--no-index", directory / "t")
    cache = directory / "cache"
    for _ in range(2):
        for name in ("t", "u"):
            got = summary("--by", "dir", directory / name, env={"XDG_CACHE_HOME": str(cache)})
            assert got["source"] == "buckets" and without_union(got) == without_union(wanted)
    assert len([path for path in (cache / "dftrace").iterdir() if path.name.startswith(".together")]) == 2
    nothing = directory / "nothing"
    nothing.write_text("")
    assert summary("--by", "dir", directory / "t", env={"XDG_CACHE_HOME": str(nothing), "HOME": str(nothing)}) == wanted


def what_was_asked_before_changes_nothing(directory):
    """Without files, rows of each trace answer: they know the processes and the sizes, whether or not it is there."""
    from test_mpi import MPIRUN, PROGRAM, parallel

    where = directory / "t"
    traces(where)
    questions = [["summary", "--json", *question] for question in WITHOUT_FILES] + [
        ["summary", "--hist", "--json"], ["summary", "--csv", "--by", "name"], ["summary", "--json", "--by", "rank"], ["ps", "--json"],
        ["overlap", "--json"], ["stat"]]
    summary(where)
    wanted = [run(DFTMERGE, *question, where).out for question in questions]
    reads, = [g for g in json.loads(wanted[0])["groups"] if g["name"] == "pread64"]
    assert reads["processes"] == FILES and reads["common_size"] is not None, reads
    for there in (0, 1):
        if there:
            summary("--by", "file", where)
        assert len(kept(where)) == there
        for question, told in zip(questions, wanted):
            assert run(DFTMERGE, *question, where).out == told, question
            for ranks in (1, 2, 3) if MPIRUN and PROGRAM.exists() else ():
                assert parallel(ranks, *question, where).out == told, (ranks, question)


def many_ranks(directory):
    """From dftmerge-mpi the same, whoever made it."""
    from test_mpi import MPIRUN, PROGRAM, parallel

    if not MPIRUN or not PROGRAM.exists():
        raise Skip("no mpirun, or no dftmerge-mpi")
    where = directory / "t"
    traces(where)
    for turn in range(3):
        for question in (["--by", "file,name", "--json"], ["--by", "dir", "--file", "*set 1*", "--json"]):
            got = parallel(2 + turn, "summary", *question, where)
            assert got.code == 0 and got.out == run(DFTMERGE, "summary", *question, where).out, got
            assert json.loads(got.out)["source"] == "buckets"
            if turn != 1:
                shutil.rmtree(where / ".dftindex")


if __name__ == "__main__":
    main([law, other_events, damaged, several_at_once, not_worth_it, nowhere_to_write, what_was_asked_before_changes_nothing, many_ranks])
