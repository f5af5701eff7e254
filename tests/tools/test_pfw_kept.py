#!/usr/bin/env python3
"""Answers that are kept beside the index: the same as counted anew, whatever happened to the traces, the indexes and the answers
themselves between two questions; never more of them than there is room for."""

import functools
import os
import random
import shutil
import subprocess
import sys

import corrupt  # noqa: F401  (it knows where read_dft is)
from pfw_files import Writer, write
from test_pfw_together import BASE, trace
import read_dft
from tooltest import main, run, BUILD, DFTMERGE

PIDS = range(100, 108)
KEYS = ("cat", "name", "call", "region", "file", "dir", "pattern", "rank", "pid", "host", "tid", "process", "program", "time", "op", "class")
SORTS = ("time", "count", "time_p95_ns", "busy_union_ns", "in_flight_max", "bytes", "offset_max", "self_ns")
FILTERS = (["--rank", "1-5"], ["--pid", "101,103-106"], ["--name", "read,p*"], ["--cat", "POSIX"], ["--file", "*set 1*"], ["--from", "0.1"],
           ["--to", "0.9"])


@functools.cache
def text(pid, seed):
    return trace(pid, "2.x" if pid % 5 == 3 else "1.0.8", seed).text()


def traces(where, pids=PIDS):
    where.mkdir()
    return [write(where / f"{pid}.pfw{'.gz' if pid % 2 else ''}", text(pid, 1)) for pid in pids]


def kept(where):
    index = where / ".dftindex"
    return sorted(path for path in index.iterdir() if path.name.startswith(".answer")) if index.exists() else []


def ask(question, *paths, **more):
    """What is printed and the exit code, and of what is told all but progress."""
    done = run(DFTMERGE, "summary", *question, *paths, **more)
    return done.code, done.out, done.err


def state(path):
    return path.stat().st_ino, path.stat().st_mtime_ns


def read_again(directory):
    """The second time it is read: not written, and if another name stood in the answer, that would be what is shown."""
    where = directory / "t"
    traces(where)
    for question in (["--by", "file,name", "--events", "--json"], ["--by", "time", "--csv", "--width", "0.2"], ["--by", "rank,file"],
                     ["--by", "name,tid", "--from", "0.2", "--json"], ["--by", "dir", "--file", "*7*", "--rank", "0-20", "--json"],
                     ["--by", "name,op", "--events", "--csv", "--top", "3", "--sort", "in_flight_max"]):
        before = kept(where)
        wanted = ask(["--no-index", *question], where)
        assert wanted[0] == 0 and kept(where) == before
        assert ask(question, where) == wanted, question
        assert len(kept(where)) == len(before) + 1, question
        one, = set(kept(where)) - set(before)
        written = state(one)
        assert ask(question, where) == wanted and state(one) == written, question
        data = one.read_bytes()
        for name in (b"pread64", b"set 2"):
            if name not in data[4096:] or name not in wanted[1]:
                continue
            other = data[:-4].replace(name, bytes(reversed(name)))
            one.write_bytes(other + read_dft.crc32c(other[4096:]).to_bytes(4, "little"))
            got = ask(question, where)
            assert got[1] != wanted[1] and bytes(reversed(name)) in got[1], question
            one.write_bytes(data)
    assert len(kept(where)) == 6
    for question in (["--by", "name"], ["--by", "rank", "--json"], ["--by", "dir", "--json"], ["--rank", "3", "--by", "file"]):
        ask(question, where)  # rows, the file of all together, or few events answer as fast
    assert len(kept(where)) == 6


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
    """Another trace of the same size in the place of one, with its time: only the inode tells."""
    path = chance.choice(sorted(where.glob("*.pfw")))
    before = path.stat()
    data = path.read_bytes()
    other = where / "x"
    other.write_bytes(data.replace(b'"read"', b'"glob"') if chance.random() < 0.5 else data.replace(b"set 1", b"set 9"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.rename(other, path)


def damage(chance, where, of=".dftindex/*"):
    """Any file of the index, answers among them: cut, holed, a bit turned, taken away, or that of another one."""
    files = sorted(path for path in where.glob(of) if path.is_file())
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


def damage_answer(chance, where):
    damage(chance, where, ".dftindex/.answer*")


def touch(chance, where):
    os.utime(chance.choice(sorted(where.glob("*.pfw*"))))


def forget_all(_chance, where):
    shutil.rmtree(where / ".dftindex", ignore_errors=True)


CHANGES = (write_a_trace, add_a_trace, remove_a_trace, swap_two, grow, same_size_and_time, damage, damage, damage_answer, damage_answer, touch,
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
        swept = b"busy_union_ns" in wanted[1] and "--events" not in question
        wanted = without_union(wanted, question) if swept else wanted
        for _ in range(chance.choice((1, 2))):
            got = ask([*question, *more, *threads], *paths, env=env)
            got = without_union(got, question) if swept else got
            assert got == wanted, (seed, turn, question, more, [change.__name__ for change in happened], *different(got, wanted))


def without_union(result, question):
    """Where all together answers, what only events know is not known, and the answer is from elsewhere."""
    code, out, err = result
    if "--json" in question:
        lines = out.split(b",")
        out = b",".join(part for part in lines if not part.lstrip().startswith((b'"busy_union_ns"', b'"in_flight_max"', b'"source"')))
    else:
        head, *rows = [line.split(b",") for line in out.splitlines()]
        drop = len(head) - 1 - head[::-1].index(b"busy_union_ns")  # files may have commas, but these stand before
        out = b"\n".join(b",".join(row[:drop - len(head)] + row[drop - len(head) + 2:]) for row in [head, *rows])
    return code, out, err


def different(got, wanted):
    """Exit codes, what was told, and the first place where what was printed is not the same."""
    at = next((i for i, (a, b) in enumerate(zip(got[1], wanted[1])) if a != b), min(len(got[1]), len(wanted[1])))
    return [(code, err, out[max(at - 80, 0):at + 80]) for code, out, err in (got, wanted)]


def histories(directory):
    for seed in range(40) if "--full" in sys.argv else (1, 2):
        history(directory, seed, 60 if "--full" in sys.argv else 12)


def damaged(directory):
    """Whatever stands in an answer, the right one is given, and it is whole again."""
    where = directory / "t"
    traces(where)
    question = ["--by", "file,rank", "--json", "--top", "40"]
    wanted = ask(question, where)
    one, = kept(where)
    whole = one.read_bytes()
    chance = random.Random(7)
    cases = [b"", whole[:4000], whole[:4096], whole[:-1], whole + b"x", bytes(len(whole)), whole[:4096] + bytes(len(whole) - 4096)]
    for _ in range(12):
        case = bytearray(whole)
        case[chance.randrange(len(case))] ^= 1 << chance.randrange(8)
        cases.append(bytes(case))
    for _ in range(25):  # what a checksum cannot tell
        case = bytearray(whole[:-4])
        case[chance.randrange(4400, len(case))] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        case += read_dft.crc32c(bytes(case[4096:])).to_bytes(4, "little")
        one.write_bytes(case)
        assert ask(question, where)[0] == 0
    for case in cases:
        one.write_bytes(case)
        assert ask(question, where) == wanted, len(case)
    one.write_bytes(b"x")
    assert ask(question, where) == wanted and one.read_bytes() == whole
    other = [*question[:-1], "41"]
    assert ask(other, where)[0] == 0
    two, = set(kept(where)) - {one}
    two.write_bytes(whole)  # the answer to another question
    assert ask(other, where) == ask(["--no-index", *other], where)


def bounded(directory):
    """The oldest go; an answer that would take more than half of the room is not kept at all."""
    where = directory / "t"
    where.mkdir()
    for pid in PIDS:
        writer = Writer("1.0.8", pid=pid, rank=pid - 100)
        for i in range(9000):
            writer.call("POSIX", "open", BASE + 1000 * i, 5, f"/data/{i // 3}")
        write(where / f"{pid}.pfw", writer.text())
    first = None
    for top in range(3000, 3012):
        question = ["--by", "file,pid", "--csv", "--top", str(top)]
        assert ask(question, where) == ask([*question, "--no-index"], where)
        assert sum(path.stat().st_size for path in kept(where)) <= 1 << 20
        first = first or kept(where)[0]
        assert max(kept(where), key=lambda path: path.stat().st_mtime_ns).stat().st_size > 100_000
    assert not first.exists() and len(kept(where)) >= 2
    before = [state(path) for path in kept(where)]
    question = ["--by", "file,pid", "--csv"]
    assert ask(question, where) == ask([*question, "--no-index"], where)
    assert [state(path) for path in kept(where)] == before


def several_at_once(directory):
    where = directory / "t"
    traces(where)
    questions = [["summary", "--json", "--by", "time,name", "--width", "0.1", "--sort", sort] for sort in SORTS[:3]]
    wanted = [run(DFTMERGE, *question, "--no-index", where).out for question in questions]
    running = [(i % 3, subprocess.Popen([str(a) for a in (DFTMERGE, *questions[i % 3], where)], stdout=subprocess.PIPE)) for i in range(18)]
    for number, process in running:
        assert process.communicate(timeout=300)[0] == wanted[number] and process.returncode == 0
    assert len(kept(where)) == 3 and all(path.name.endswith(".dft") for path in (where / ".dftindex").iterdir())


def told_again(directory):
    """What came with a note while it was counted is not kept: whoever asks again is told, too, or has the whole answer."""
    if os.environ.get("DFT_SANITIZE"):
        return  # its runtime wants to be the first library
    where = directory / "t"
    traces(where)
    ask(["--by", "name"], where)
    question = ["--by", "time", "--width", "0.5", "--json"]
    wanted = ask(["--no-index", *question], where)
    for _ in range(2):
        less = ask(question, where, env={"LD_PRELOAD": str(BUILD / "lib" / "liblose_reads.so"), "LOSE_FILE": "103.pfw.gz.dft", "LOSE_FROM": "5000"})
        assert less[0] == 1 and "103.pfw.gz: cannot be read again" in less[2] and not kept(where), less
    assert ask(question, where) == wanted and len(kept(where)) == 1


def nowhere_to_write(directory):
    """In the user's cache each directory has its own; where nothing can be written, all is counted."""
    cache = directory / "cache"
    question = ["--by", "time,rank", "--json", "--width", "0.5"]
    for name, pids in (("t", PIDS), ("u", [*PIDS][::-1] + [120])):
        traces(directory / name, pids)
        (directory / name / ".dftindex").write_text("in the way")
    for _ in range(2):
        for name in ("t", "u"):
            wanted = ask(["--no-index", *question], directory / name)
            assert ask(question, directory / name, env={"XDG_CACHE_HOME": str(cache)}) == wanted
            nothing = directory / "nothing"
            nothing.write_text("")
            assert ask(question, directory / name, env={"XDG_CACHE_HOME": str(nothing), "HOME": str(nothing)}) == wanted
    assert len([path for path in (cache / "dftrace").iterdir() if path.name.startswith(".answer")]) == 2


if __name__ == "__main__":
    main([globals()[name] for name in sys.argv[1:] if name in globals()] or [read_again, histories, damaged, bounded, several_at_once, told_again, nowhere_to_write])
