# SPDX-License-Identifier: MIT
"""Inputs: directories, patterns, links, cat a b a, any order and number of threads."""

import os
import shutil
import subprocess

from tooltest import DFTMERGE, dftmerge, dump, make, summary


def concatenate(target, *parts):
    with open(target, "wb") as out:
        for part in parts:
            out.write(part.read_bytes())
    return target


def without_notes(answer):
    answer.pop("notes")
    return answer


def test_twice_is_once(where):
    make(where / "t", ranks=1)
    a, b = sorted((where / "t").glob("*.dft"))
    whole, events = summary(a, b), dump(a, b)
    for parts in ((a, b), (b, a), (a, b, a), (a, a, b, b, a)):
        joined = concatenate(where / "joined.dft", *parts)
        assert summary(joined) == whole
        assert summary("--by", "file,rank", joined) == summary("--by", "file,rank", a, b)
        assert dump(joined) == events
        assert dump(a, joined, b) == events
    shifted = where / "shifted.dft"
    shifted.write_bytes(bytes(40) + a.read_bytes() + bytes(3) + b.read_bytes())  # blocks at any byte, holes of zeros
    assert summary(shifted) == whole


def test_other_cuts_of_the_same_events(where):
    """A range within another one says nothing new; of one that overlaps in part the new events count, and it is told."""
    make(where / "a", block=100)
    make(where / "b", block=500)
    make(where / "c", block=250)
    whole, events = summary(where / "a"), dump(where / "a")
    assert summary(where / "a", where / "b") == whole and dump(where / "a", where / "b") == events
    for by in ("call", "file"):
        answer = summary("--by", by, where / "a", where / "c", expect=1)
        assert answer["notes"] and all("overlaps" in note for note in answer.pop("notes"))
        assert without_notes(summary("--by", by, where / "a")) == answer
    assert dump(where / "a", where / "c", expect=1) == events


def test_order_and_threads_change_nothing(where):
    """Names, threads and the order of arguments: not a byte of the output differs."""
    make(where / "one", ranks=1, processes=6)
    traces = sorted((where / "one").glob("*.dft"))
    (where / "two").mkdir()
    for n, trace in enumerate(traces):
        shutil.copy(trace, where / "two" / f"{9 - n}.dft")
    joined = concatenate(where / "joined.dft", *reversed(traces))
    for options in (["summary"], ["summary", "--json"], ["summary", "--csv", "--by", "file,tid"],
                    ["summary", "--json", "--by", "region,rank"], ["dump"], ["dump", "--json"],
                    ["summary", "--json", "--by", "dir,time", "--from", "0.1"]):
        wanted = dftmerge(*options, "--threads", 1, *traces).out
        assert len(wanted) > 500
        for more in (["--threads", 2, *traces], ["--threads", 7, *reversed(traces)], [where / "two"], [where / "one"],
                     ["--threads", 3, joined], ["--threads", 64, where / "two", joined]):
            assert dftmerge(*options, *more).out == wanted, (options, more)


def test_directories_and_patterns(where):
    (where / "d").mkdir()
    make(where / "d" / "deep", processes=1)
    make(where / "d" / "deeper.dft", processes=1, seed=2)  # a directory whose name looks like a trace
    (where / "d" / "notes.txt").write_text("not looked at")
    os.symlink("..", where / "d" / "deep" / "round")
    os.symlink("deep/t1-0.dft", where / "d" / "again.dft")
    whole = summary(where / "d")
    assert whole["processes"] == 2 and whole["notes"] == []
    assert summary(str(where / "d" / "*" / "t*.dft")) == whole
    assert summary(where / "d" / "deep" / "t1-0.dft", where / "d" / "deeper.dft", where / "d") == whole
    answer = summary(where / "d", where / "missing.dft", expect=1)
    assert answer["processes"] == 2 and len(answer["notes"]) == 1 and "No such file" in answer["notes"][0]
    answer = summary(where / "d", str(where / "*.none"), expect=1)
    assert "pattern" in answer["notes"][0]


def test_paths_from_a_file(where):
    make(where / "t", processes=5)
    wanted = dump(where / "t")
    files = sorted(str(p) for p in (where / "t").glob("*.dft"))
    odd = where / "t" / "a\nb.dft"
    os.rename(files[0], odd)
    zeros, lines = where / "zeros", where / "lines"
    zeros.write_bytes(b"\0".join(os.fsencode(f) for f in [str(odd), *files[1:]]) + b"\0")
    lines.write_text("\n".join(["", *files[2:], ""]))
    assert dump("--files-from", zeros) == wanted
    assert dump("--files-from", lines, odd, files[1]) == wanted
    assert "which traces" in dftmerge("dump", "--files-from", "-", expect=2).err  # standard input is empty
    with open(zeros, "rb") as stream:
        done = subprocess.run([DFTMERGE, "merge", "-q", "-o", where / "all.dft", "--files-from", "-"], stdin=stream, check=True)
    assert done.returncode == 0 and dump(where / "all.dft") == wanted
    lines.write_text(str(where / "t") + "\n" + str(where / "none.dft"))
    assert "none.dft: No such file" in dftmerge("dump", "--files-from", lines, expect=1).err
    dftmerge("dump", "--files-from", where / "nowhere", expect=2)
    dftmerge("dump", "--files-from", where, expect=2)


def test_nothing_to_read(where):
    (where / "empty").mkdir()
    done = dftmerge(where / "empty", expect=1)
    assert done.out == b"" and "no trace found" in done.err and "DFTRACER_ENABLE" in done.err
    assert all(len(line) <= 100 for line in done.err.splitlines()), done.err
    wrong = dftmerge("nosuch", expect=1).err.splitlines()
    assert "No such file" in wrong[0] and "no trace found" in wrong[1] and all(len(line) <= 100 for line in wrong), wrong
    (where / "zero.dft").write_bytes(b"")
    assert "zero.dft: empty" in dftmerge("dump", where / "zero.dft", expect=1).err
    (where / "text.dft").write_text("hello\n" * 100)
    assert "no block of dftrace" in dftmerge(where / "text.dft", expect=1).err
    assert "neither a file nor" in dftmerge("/dev/null", expect=1).err
    make(where / "t", processes=1)
    assert summary(where / "t", where / "zero.dft")["processes"] == 1  # an empty file beside others is no error
    quiet = dftmerge("--quiet", where / "t", where / "text.dft", expect=1)
    assert quiet.err == "" and quiet.out


def test_many_files(where):
    make(where, processes=400, threads=1, events=20, ranks=1)
    answer = summary("--by", "rank", where)
    assert answer["processes"] == 400 == len(answer["groups"])
    assert answer["missing_ranks"] == [400]
    assert answer == summary("--by", "rank", "--threads", 1, where)


def test_standard_output_that_fails(where):
    make(where, processes=1)
    with open("/dev/full", "wb") as full:
        for command in ("dump", "summary"):
            done = subprocess.run([DFTMERGE, command, where], stdout=full, stderr=subprocess.PIPE, check=False)
            assert done.returncode == 1 and b"standard output" in done.stderr, done


def test_settings_without_a_meaning(where):
    make(where / "t", processes=1)
    for name, value, word in (("DFTMERGE_GROUP_BYTES", "many", "takes a number from 0"), ("DFTMERGE_NAMES_BYTES", "-1", "takes a number"),
                              ("DFTMERGE_WINDOW_EVENTS", "0", "takes a number from 1"), ("DFTMERGE_COMMON_BYTES", "1k", "takes a number"),
                              ("DFTMERGE_DEBUG_DIR", where / "none", "No such file or directory"),
                              ("DFTMERGE_DEBUG_DIR", "/dev/null", "Not a directory")):
        done = dftmerge(where / "t", env={name: str(value)}, expect=2)
        assert done.out == b"" and f"{name}={value}: takes" in done.err and word in done.err, done.err
    assert dftmerge(where / "t", env={"DFTMERGE_GROUP_BYTES": "0"}).out == dftmerge(where / "t").out
