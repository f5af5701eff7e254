# SPDX-License-Identifier: MIT
"""Troubles of inputs, of native traces and of DFTracer's alike: each is a note with the name of the file, and the rest is
used, whatever the command."""

import gzip
import json
import os
import shutil
import subprocess
import threading
import time

from pfw_files import write
from test_damage import EVENTS, blocks
from test_pfw import sample
from tooltest import DFTMERGE, Result, dftmerge, dump, make, run

COMMANDS = (["summary", "--json"], ["dump", "--json"], ["check", "--json"], ["ps", "--json"],
            ["summary", "--json", "--by", "file"], ["export", "--format", "csv", "-o", "-"])


def native(where, **settings):
    """One trace, and its events."""
    make(where, processes=1, threads=1, events=300, block=100, **settings)
    path = next(where.glob("*.dft"))
    return path, dump(path)


def foreign(where, name="a.pfw.gz"):
    where.mkdir()
    path = write(where / name, sample("1.0.8").text())
    return path, dump("--no-index", path)


def everywhere(bad, good, code, *words, runner=run):
    """Every command says what is wrong, with the file's name, and merge writes what could be read."""
    for command in COMMANDS:
        done = runner(DFTMERGE, *command, "--no-index", bad, good)
        assert done.code == code, (command, done)
        for word in words:
            assert any(str(bad) in line and word in line for line in done.err.splitlines()), (command, word, done.err)
        assert done.out.strip(), command
    return [json.loads(line) for line in runner(DFTMERGE, "dump", "--json", "--no-index", bad, good).out.splitlines()]


def merged(where, bad, good, events):
    out = where / "merged.dft"
    run(DFTMERGE, "merge", "-o", out, "--no-index", bad, good)
    assert [json.loads(line) for line in run(DFTMERGE, "dump", "--json", out).out.splitlines()] == events
    out.unlink()


def test_cut_short(where):
    good, events = native(where / "good", seed=2)
    bad, all_of_it = native(where / "n")
    data = bad.read_bytes()
    last = [b for b in blocks(data) if b[2] == EVENTS][-1]
    bad.write_bytes(data[:last[0] + last[1] // 2])
    left = everywhere(bad, good, 1, "cut short", "the rest used")
    assert [e for e in left if e in events] == events and len(left) == len(events) + 200
    merged(where, bad, good, left)
    bad, all_of_it = foreign(where / "f")
    data = bad.read_bytes()
    bad.write_bytes(data[:len(data) * 2 // 3])
    left = everywhere(bad, good, 1, "records before and behind it are used")
    assert 100 < len(left) - len(events) < len(all_of_it), "what was before the cut is there"
    merged(where, bad, good, left)
    bad.write_bytes(data[:5])
    assert everywhere(bad, good, 1, "no record") == events


def test_damaged_gzip(where):
    """Behind damage in one member the next ones are read."""
    good, events = native(where / "good", seed=2)
    bad, all_of_it = foreign(where / "f")
    lines = gzip.decompress(bad.read_bytes()).splitlines(keepends=True)
    members = [gzip.compress(b"".join(lines[i:i + 50])) for i in range(0, len(lines), 50)]
    bad.write_bytes(b"".join(members))
    assert len(dump("--no-index", bad)) == len(all_of_it)
    broken = bytearray(members[2])
    broken[len(broken) // 2] ^= 0x55
    bad.write_bytes(b"".join(members[:2] + [bytes(broken)] + members[3:]))
    left = everywhere(bad, good, 1, "used")
    assert len(all_of_it) - 60 < len(left) - len(events) < len(all_of_it), (len(left), len(all_of_it))


def test_torn_lines(where):
    good, events = native(where / "good", seed=2)
    bad, all_of_it = foreign(where / "f", "a.pfw")
    lines = bad.read_bytes().splitlines(keepends=True)
    complete = [i for i, line in enumerate(lines) if b'"ts"' in line]
    torn = complete[len(complete) // 2]
    bad.write_bytes(b"".join(lines[:torn]) + lines[torn][:40] + b"\n" + b"".join(lines[torn + 1:]))
    left = everywhere(bad, good, 1, "1 line is no record", f"line {torn + 1}")
    assert len(left) == len(events) + len(all_of_it) - 1
    merged(where, bad, good, left)
    bad.write_bytes(b"".join(lines[:torn]) + lines[torn][:40])
    everywhere(bad, good, 1, "the last line is torn")
    bad, all_of_it = native(where / "n")  # two writers, or a disk that was full: a block within another one
    data = bad.read_bytes()
    block = [b for b in blocks(data) if b[2] == EVENTS][1]
    bad.write_bytes(data[:block[0] + 100] + data[block[0] + block[1]:])
    left = everywhere(bad, good, 1, "unreadable")
    assert len(left) == len(events) + len(all_of_it) - 100
    merged(where, bad, good, left)


def test_not_utf8(where):
    """It is no damage: bytes stay what they are."""
    good, events = native(where / "good", seed=2)
    odd, theirs = native(where / "n")
    assert any("\\udcff" in json.dumps(e) for e in theirs)
    assert dftmerge("dump", "--json", odd, good).err == ""
    path, _ = foreign(where / "f", "a.pfw")
    path.write_bytes(path.read_bytes().replace(b"/data/set 3/", b"/data/\xff\xfe/\xc3/"))
    for command in COMMANDS:
        done = dftmerge(*command, "--no-index", path, good)
        assert done.err == "", done.err
    left = dump(path, good)
    assert sum("/data/\udcff\udcfe/\udcc3/" in e.get("file", "") for e in left) > 20
    merged(where, path, good, left)


def test_said_twice(where):
    """Blocks and lines that stand twice, as forked writers and `cat` leave them."""
    good, events = native(where / "good", seed=2)
    path, theirs = native(where / "n")
    data = path.read_bytes()
    path.write_bytes(data + data)
    assert len(dump(path, good)) == len(events + theirs)
    check = json.loads(dftmerge("check", "--json", path, good).out)
    assert check["good"] and check["blocks_repeated"] == len(blocks(data)), check
    path, theirs = foreign(where / "f", "a.pfw")
    path.write_bytes(path.read_bytes() * 2)
    done = dftmerge("dump", "--json", path, good)
    repeated = path.read_bytes().count(b"\n") // 2 - 1  # "[" is no record
    assert len(done.out.splitlines()) == len(events) + 2 * len(theirs)
    assert f"{path}: {repeated} repeated lines" in done.err and "--dedupe leaves them out" in done.err, done.err
    done = dftmerge("dump", "--json", "--dedupe", path, good)
    assert len(done.out.splitlines()) == len(events) + len(theirs) and "left out (--dedupe)" in done.err, done.err
    for more, factor in ([], 2), (["--dedupe"], 1):
        out = where / "merged.dft"
        dftmerge("merge", "-o", out, *more, path, good)
        assert len(dump(out)) == len(events) + factor * len(theirs)


def test_empty_files(where):
    good, events = native(where / "good", seed=2)
    for name in ("a.dft", "a.pfw", "a.pfw.gz", "a.dft.live"):
        bad = where / name
        bad.write_bytes(b"")
        code = 0
        left = everywhere(bad, good, code, *([] if name.endswith("live") else ["empty"]))
        assert left == events, name
        merged(where, bad, good, left)
    bad = where / "b.pfw.gz"
    bad.write_bytes(gzip.compress(b""))
    assert everywhere(bad, good, 0, "empty") == events
    bad.write_bytes(gzip.compress(b"[\n]\n"))
    assert everywhere(bad, good, 1) == events
    bad = where / "zeros.pfw"
    bad.write_bytes(bytes(20000))
    assert everywhere(bad, good, 1, "no record") == events
    bad = where / "zeros.dft"  # of a process that ended before its first block was written
    bad.write_bytes(bytes(20000))
    assert everywhere(bad, good, 0, "zeros.dft") == events


def test_directories_with_names_of_files(where):
    good, events = native(where / "good", seed=2)
    for name, made in (("x.dft", native), ("x.pfw", foreign), ("x.pfw.gz", foreign)):
        path, theirs = made(where / name)
        both = dump("--no-index", where / name, good)
        assert len(both) == len(events) + len(theirs)
        assert dump("--no-index", where)[0]
        path.unlink()
        assert dump("--no-index", where / name, good) == events
        shutil.rmtree(where / name)


# --- permissions ---------------------------------------------------------------------------------------------------------

NOBODY = 65534


class Nobody:
    """Runs dftmerge as someone who is not root: a copy of it, where everyone may go."""

    def __init__(self, where):
        self.program = where / "dftmerge"
        shutil.copy(DFTMERGE, self.program)
        self.program.chmod(0o755)
        for path in (where, *where.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        self.root = os.getuid() == 0

    def __call__(self, _, *arguments, env=None):
        identity = dict(user=NOBODY, group=NOBODY, extra_groups=[]) if self.root else {}
        done = subprocess.run([str(self.program), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, timeout=900, check=False, **identity)
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def test_no_permission(where):
    good, events = native(where / "good", seed=2)
    nobody = Nobody(where)
    for made in (native, foreign):
        path, _ = made(where / made.__name__)
        path.parent.chmod(0o755)
        path.chmod(0)
        assert everywhere(path, good, 1, "Permission denied", runner=nobody) == events
        assert everywhere(path.parent, good, 1, "Permission denied", runner=nobody) == events
        path.chmod(0o644)
        path.parent.chmod(0)
        if nobody.root or os.getuid():
            assert everywhere(path.parent, good, 1, "cannot be searched", runner=nobody) == events
            assert everywhere(path, good, 1, "Permission denied", runner=nobody) == events
        path.parent.chmod(0o755)
    killed = where / "killed"
    make(killed, live=1, processes=1, threads=1)
    killed.chmod(0o755)
    next(killed.glob("*.live")).chmod(0)
    done = nobody(None, "summary", "--json", killed)
    assert done.code == 1 and "Permission denied" in done.err and json.loads(done.out)["events"] >= 480, done


def test_index_where_nothing_may_be_written(where):
    """A directory of someone else: the index goes to the user's cache, and is used from there."""
    path, theirs = foreign(where / "f")
    nobody = Nobody(where)
    home = where / "home"
    home.mkdir()
    if nobody.root:
        os.chown(home, NOBODY, NOBODY)
    else:
        path.parent.chmod(0o555)
    for _ in range(2):
        done = nobody(None, "dump", "--json", path.parent, env={"HOME": str(home), "XDG_CACHE_HOME": ""})
        assert done.code == 0 and done.err == "" and len(done.out.splitlines()) == len(theirs), done
        kept = list((home / ".cache" / "dftrace").iterdir())
        assert len(kept) == 1 and not list(path.parent.glob(".dftindex"))
    made = kept[0].stat().st_ino
    done = nobody(None, "dump", "--json", path.parent, env={"HOME": str(home), "XDG_CACHE_HOME": ""})
    assert done.code == 0 and len(done.out.splitlines()) == len(theirs), done
    assert kept[0].stat().st_ino == made, "the index answers"
    path.parent.chmod(0o755)


# --- files that change ---------------------------------------------------------------------------------------------------


def test_growing(where):
    """Read while it is written: what is there is used; the end may be cut, and then it is said."""
    good, events = native(where / "good", seed=2)
    source = where / "source"
    make(source, processes=1, threads=1, events=4000, block=50)
    data = next(source.glob("*.dft")).read_bytes()
    text = sample("2.x").text().encode() * 40
    for name, content in (("g.dft", data), ("g.pfw", text), ("g.pfw.gz", gzip.compress(text))):
        path = where / name
        path.write_bytes(content[:len(content) // 4])
        stop = threading.Event()

        def write_on():
            at = len(content) // 4
            with open(path, "ab", buffering=0) as out:
                while at < len(content) and not stop.is_set():
                    out.write(content[at:at + 700])
                    at += 700
                    time.sleep(0.001)
                out.write(content[at:])

        writer = threading.Thread(target=write_on)
        writer.start()
        try:
            before = 0
            for command in (["dump", "--json"], ["summary", "--json", "--by", "file"], ["dump", "--json"], ["check", "--json"]):
                done = run(DFTMERGE, *command, path, good)
                assert done.code in (0, 1), done
                if done.code:
                    assert name in done.err, done
                if command[0] == "dump":
                    now = len(done.out.splitlines())
                    assert now >= before and now > len(events), (before, now)
                    before = now
        finally:
            stop.set()
            writer.join()
        done = dftmerge("dump", "--json", path, good)
        assert len(done.out.splitlines()) == len(events) + (4000 if name.endswith("dft") else 40 * 300), name


def test_shrinking(where):
    """A file that becomes shorter, or another one, between two looks is an error that is told, and no crash."""
    good, events = native(where / "good", seed=2)
    make(where / "big", processes=1, threads=1, events=60000, block=1000)
    path = next((where / "big").glob("*.dft"))
    data = path.read_bytes()
    for turn in range(6):
        path.write_bytes(data)
        process = subprocess.Popen([str(DFTMERGE), "dump", "--json", "--threads", "1", str(path), str(good)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = process.stdout.read(1000)
        os.truncate(path, 4096 if turn % 2 else 0)
        out, err = process.communicate(timeout=900)
        assert first and process.returncode in (0, 1), (process.returncode, err)
        if process.returncode:
            assert path.name in err.decode(), err
