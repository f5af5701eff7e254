# SPDX-License-Identifier: MIT
"""Questions about indexed traces have the answer that they have without an index, whatever happened to the traces and to
the files of the index between two questions."""

import functools
import os
import random
import shutil
import subprocess

from pfw_files import Writer, write
from tooltest import BUILD, DFTMERGE, FULL, need_preload, run

BASE = 1_700_000_000_000_000
EVENTS = 9_000
CALLS = ("read", "write", "pread64", "__xstat", "open", "close")
PIDS = range(100, 108)
KEYS = ("cat", "name", "call", "region", "file", "dir", "pattern", "rank", "pid", "host", "tid", "process", "program", "time", "op", "class")
SORTS = ("time", "count", "time_p95_ns", "busy_union_ns", "in_flight_max", "bytes", "offset_max", "self_ns")
FILTERS = (["--rank", "1-5"], ["--pid", "101,103-106"], ["--name", "read,p*"], ["--cat", "POSIX"], ["--file", "*set 1*"], ["--from", "0.1"],
           ["--to", "0.9"])


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
            name = chance.choice(CALLS)
            writer.call("POSIX", name, ts, dur, file, tid=pid + i % 2, ret=-1 if i % 13 == 0 else chance.randrange(1 << 16), **inside,
                        **({"offset": chance.randrange(1 << 30)} if name == "pread64" else {}))
    return writer


@functools.cache
def text(pid, seed):
    return trace(pid, "2.x" if pid % 5 == 3 else "1.0.8", seed).text()


def traces(where, pids=PIDS):
    where.mkdir()
    return [write(where / f"{pid}.pfw{'.gz' if pid % 2 else ''}", text(pid, 1)) for pid in pids]


def ask(question, *paths, **more):
    """What is printed and the exit code, and of what is told all but progress."""
    done = run(DFTMERGE, "summary", *question, *paths, **more)
    return done.code, done.out, done.err


def random_question(chance):
    keys = chance.sample(KEYS, chance.choice((1, 1, 2, 3)))
    if sum(key in ("file", "dir", "pattern") for key in keys) > 1:
        keys = keys[:1]
    question = ["--by", ",".join(keys), *chance.choice((["--json"], ["--json"], ["--csv"], []))]
    if "time" in keys:
        question += ["--width", chance.choice(("0.1", "1", "0.03"))]
    if chance.random() < 0.3:
        question += ["--events"]
    if chance.random() < 0.5:
        question += ["--sort", chance.choice(SORTS)]
    if chance.random() < 0.4:
        question += ["--top", str(chance.randrange(1, 30))]
    for more in chance.sample(FILTERS, chance.choice((0, 0, 1, 2))):
        question += more
    return question


def write_a_trace(chance, where):
    path = chance.choice(sorted(where.glob("*.pfw*")))
    write(path, text(chance.choice(PIDS), chance.randrange(1, 4)))


def add_a_trace(chance, where):
    write(where / f"new{chance.randrange(3)}.pfw", text(chance.choice(PIDS), chance.randrange(1, 4)))


def remove_a_trace(chance, where):
    if len(list(where.glob("*.pfw*"))) > 6:
        chance.choice(sorted(where.glob("*.pfw*"))).unlink()


def swap_two(chance, where):
    a, b = chance.sample(sorted(where.glob("*.pfw")), 2)
    os.rename(a, where / "x")
    os.rename(b, a)
    os.rename(where / "x", b)


def grow(chance, where):
    path = chance.choice(sorted(where.glob("*.pfw")))
    with path.open("a") as out:
        out.write("\n".join(trace(chance.choice(PIDS)).lines[100:chance.randrange(110, 600)]) + "\n")


def same_size_and_time(chance, where):
    """Another trace of the same size in the place of one, with its time: only the inode tells, or the ctime."""
    path = chance.choice(sorted(where.glob("*.pfw")))
    before = path.stat()
    data = path.read_bytes()
    other = where / "x"
    other.write_bytes(data.replace(b'"read"', b'"glob"') if chance.random() < 0.5 else data.replace(b"set 1", b"set 9"))
    if chance.random() < 0.5:
        path.write_bytes(other.read_bytes())
        other.unlink()
        other = path
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.rename(other, path)


def damage(chance, where):
    """Any file of the index: cut, holed, a bit turned, taken away, or that of another one."""
    files = sorted(path for path in where.glob(".dftindex/*") if path.is_file())
    if not files:
        return
    path = chance.choice(files)
    data = bytearray(path.read_bytes())
    way = chance.randrange(6)
    if way == 0 or not data:
        path.unlink()
        return
    if way == 1:
        data = data[:chance.randrange(len(data))]
    elif way == 2:
        at = chance.randrange(len(data))
        data[at:at + 200] = bytes(len(data[at:at + 200]))
    elif way < 5:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    else:
        data = bytearray(chance.choice(files).read_bytes())
    path.write_bytes(data)


def touch(chance, where):
    os.utime(chance.choice(sorted(where.glob("*.pfw*"))))


def forget_all(_chance, where):
    shutil.rmtree(where / ".dftindex", ignore_errors=True)


CHANGES = (write_a_trace, add_a_trace, remove_a_trace, swap_two, grow, same_size_and_time, damage, damage, touch,
           forget_all)


def history(directory, seed, turns):
    """Few questions again and again, of a job to which something happens between them."""
    chance = random.Random(seed)
    where = directory / f"h{seed}"
    traces(where)
    questions = [random_question(chance) for _ in range(4)]
    for turn in range(turns):
        happened = []
        for _ in range(chance.choice((0, 0, 1, 2))):
            happened.append(chance.choice(CHANGES))
            happened[-1](chance, where)
        question = chance.choice(questions)
        paths = [where] if chance.random() < 0.8 else sorted(where.glob("*.pfw*"))[chance.randrange(2):]
        more = ["--dedupe"] if chance.random() < 0.1 else []
        env = {"DFTMERGE_GROUP_BYTES": "150000"} if chance.random() < 0.2 else {}
        threads = ["--threads", str(chance.randrange(1, 4))]
        wanted = ask([*question, *more, "--no-index"], *paths)
        for _ in range(chance.choice((1, 2))):
            got = ask([*question, *more, *threads], *paths, env=env)
            assert got == wanted, (seed, turn, question, more, [change.__name__ for change in happened], *different(got, wanted))


def different(got, wanted):
    """Exit codes, what was told, and the first place where what was printed is not the same."""
    at = next((i for i, (a, b) in enumerate(zip(got[1], wanted[1])) if a != b), min(len(got[1]), len(wanted[1])))
    return [(code, err, out[max(at - 80, 0):at + 80]) for code, out, err in (got, wanted)]


def test_histories(directory):
    for seed in range(40) if FULL else (1, 2):
        history(directory, seed, 60 if FULL else 12)


def test_several_at_once(directory):
    where = directory / "t"
    traces(where)
    questions = [["summary", "--json", "--by", "time,name", "--width", "0.1", "--sort", sort] for sort in SORTS[:3]]
    wanted = [run(DFTMERGE, *question, "--no-index", where).out for question in questions]
    running = [(i % 3, subprocess.Popen([str(a) for a in (DFTMERGE, *questions[i % 3], where)], stdout=subprocess.PIPE)) for i in range(18)]
    for number, process in running:
        assert process.communicate(timeout=300)[0] == wanted[number] and process.returncode == 0
    assert all(path.name.endswith(".dft") for path in (where / ".dftindex").iterdir())


def test_told_again(directory):
    """A note that came while events were counted comes again with every question; without the reason there is no note."""
    need_preload()
    where = directory / "t"
    traces(where)
    ask(["--by", "name"], where)
    question = ["--by", "time", "--width", "0.5", "--json"]
    wanted = ask(["--no-index", *question], where)
    for _ in range(2):
        less = ask(question, where, env={"LD_PRELOAD": str(BUILD / "lib" / "liblose_reads.so"), "LOSE_FILE": "103.pfw.gz.dft", "LOSE_FROM": "5000"})
        assert less[0] == 1 and "103.pfw.gz: cannot be read again" in less[2], less
    assert ask(question, where) == wanted


def test_answers_of_before(directory):
    """Files of answers, which versions before kept beside the index, are neither read nor in the way."""
    where = directory / "t"
    traces(where)
    question = ["--by", "file,rank", "--json", "--top", "40"]
    wanted = ask(question, where)
    old = where / ".dftindex" / ".answer-0123456789abcdef-0123456789abcdef.dft"
    old.write_bytes(b"x" * 5000)
    assert ask(question, where) == wanted and ask(["--by", "dir", "--json"], where)[0] == 0 and old.read_bytes() == b"x" * 5000
