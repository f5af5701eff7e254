# SPDX-License-Identifier: MIT
"""The index of foreign traces: answers are the same with it and without; what is stale is made anew, alone."""

import json
import os
import random
import shutil
import subprocess
import time

from corrupt import with_crcs
from pfw_files import DIALECTS, read_events, write
from test_pfw import agrees, sample
import read_dft  # corrupt knows where it is
from tooltest import DFTMERGE, dftmerge, dump, make, run, summary

QUESTIONS = (["summary", "--json"], ["summary", "--json", "--by", "file,rank"], ["summary", "--json", "--by", "time,pid"],
             ["dump", "--json"], ["check", "--json"])


def traces(directory, count=6):
    directory.mkdir(exist_ok=True)
    return [write(directory / f"{i}.pfw{'.gz' if i % 2 else ''}",
                  sample(DIALECTS[i % len(DIALECTS)], pid=100 + i).text()) for i in range(count)]


def answers(directory, *more, code=0, **options):
    return [dftmerge(*question, *more, directory, expect=code, **options).out for question in QUESTIONS]


def indexes(directory):
    return sorted((directory / ".dftindex").iterdir())


def test_law(directory):
    """With the index and without it, at the first question and later: the same, byte for byte."""
    for name, damage in (("whole", 0), ("damaged", 1)):
        files = traces(directory / name)
        if damage:  # notes come from the index, too
            files[1].write_bytes(files[1].read_bytes()[:-100])
            files[2].write_text("\n".join(sample("2024").lines * 2) + '\n{"id":7,"na')
            write(directory / name / "empty.pfw", "")
            write(directory / name / "rubbish.pfw", "rubbish\n")
        without = answers(directory / name, "--no-index", code=damage)
        assert not (directory / name / ".dftindex").exists()
        first, later = answers(directory / name, code=damage), answers(directory / name, code=damage)
        assert without == first == later
        assert all(path.name.endswith(".dft") for path in indexes(directory / name)), "no part is left"
        notes = json.loads(later[0])["notes"]
        assert bool(notes) == bool(damage), notes
        assert answers(directory / name, "--dedupe", code=damage) == \
            answers(directory / name, "--dedupe", "--no-index", code=damage)


def test_as_the_format_says(directory):
    """An index is read by the reader that was made from the format's description alone: times in microseconds and
    results that are not known are what `dump` has."""
    files = traces(directory / "t")
    summary(directory / "t")
    unknown = 0
    for path in files:
        blocks = read_dft.read_file((path.parent / ".dftindex" / (path.name + ".dft")).read_bytes())["blocks"]
        events = [event for block in blocks if block["type"] == "EVENTS" for event in block["events"]]
        shown = dump(path)
        assert sorted((e["start_ns"], e["dur_ns"]) for e in events) == sorted((e["ts"], e["dur"]) for e in shown)
        known = [e["result"] for e in events if e["result"] != -1 << 63]
        assert all(e["ret"] in known for e in shown if "ret" in e)
        unknown += len(events) - len(known)
    assert unknown


def test_later_questions_read_the_index(directory):
    """The trace is not looked at any more, until another one is written into its file: of the same size, time and
    inode. Names and modes that change cost a conversion, and nothing else."""
    path = traces(directory / "t", 1)[0]
    before, state, index = summary(path), path.stat(), indexes(directory / "t")[0]
    made = index.stat()
    assert summary(path) == before and index.stat().st_ino == made.st_ino, "it was read, not made again"
    path.chmod(0o600)
    assert summary(path) == before and index.stat().st_ino != made.st_ino
    path.write_bytes(path.read_bytes().replace(b'"read"', b'"glob"'))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_ino) == (state.st_size, state.st_ino)
    assert not {"read"} & {group["name"] for group in summary(path)["groups"]}
    path.write_bytes(b" " * state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert run(DFTMERGE, path).code == 1


def test_stale_ones_alone(directory):
    files = traces(directory / "t")
    summary(directory / "t")
    before = {path.name: path.stat().st_ino for path in indexes(directory / "t")}
    write(files[3], sample("1.0.8", pid=900).text())
    os.remove(files[4])
    write(directory / "t" / "new.pfw", sample("2.x", pid=901).text())
    left = sorted((directory / "t").glob("*.pfw*"))
    agrees([directory / "t"], [event for path in left for event in read_events(path)])
    after = {path.name: path.stat().st_ino for path in indexes(directory / "t")}
    assert {name for name in after if before.get(name) != after[name]} == {files[3].name + ".dft", "new.pfw.dft"}


def test_damaged_index(directory):
    """Whatever stands in an index file: the answer is right, and the index is whole again."""
    path = traces(directory / "t", 2)[1]
    right = summary(directory / "t")
    index = directory / "t" / ".dftindex" / (path.name + ".dft")
    whole = index.read_bytes()
    random.seed(3)
    cases = [b"", whole[:100], whole[:4096], whole[:-20], b"x" * len(whole), os.urandom(5000),
             whole[:4096] + bytes(len(whole) - 4096), whole[:-500] + bytes(500)]
    for _ in range(20):
        case = bytearray(whole)
        case[random.randrange(len(case))] ^= 1 << random.randrange(8)
        cases.append(case)
    for case in cases:
        index.write_bytes(case)
        assert summary(directory / "t") == right
    index.unlink()
    assert summary(directory / "t") == right and index.exists()


def test_two_at_once(directory):
    for turn in range(3):
        where = directory / str(turn)
        traces(where, 12)
        running = [subprocess.Popen([str(DFTMERGE), "summary", "--json", str(where)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for _ in range(6)]
        outputs = {process.communicate(timeout=900) for process in running}
        assert all(process.returncode == 0 for process in running) and len(outputs) == 1, outputs
        assert len(indexes(where)) == 12


def test_killed_half_way(directory):
    """Some end at any moment, others go on, and nothing is left of what was not finished."""
    chance = random.Random(11)
    where = directory / "t"
    files = traces(where, 10)
    right = dftmerge("summary", "--json", "--by", "file", "--no-index", where).out
    for turn in range(20):
        if turn % 4 == 0 and turn:
            shutil.rmtree(where / ".dftindex", ignore_errors=True)
        running = [subprocess.Popen([str(DFTMERGE), "summary", "--json", "--by", "file", "--threads", "2", str(where)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        time.sleep(chance.random() * 0.03)
        running[0].kill()
        outputs = [process.communicate(timeout=900) for process in running]
        for process, (out, err) in list(zip(running, outputs))[1:]:
            assert process.returncode == 0 and out == right and err == b"", (turn, err)
    assert dftmerge("summary", "--json", "--by", "file", where).out == right
    assert len([p for p in indexes(where) if p.name.endswith(".dft")]) == len(files)
    try:
        os.close(os.open(where, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        return  # a file system that knows of no files without a name
    # A name is there for the moment between two system calls; without such files there would be one or two for each that was killed.
    assert len([path for path in indexes(where) if not path.name.endswith(".dft")]) <= 5, indexes(where)


def test_another_converter(directory):
    """What another version made is made anew, and only that."""
    traces(directory / "t")
    right = answers(directory / "t")
    before = {path.name: path.stat().st_ino for path in indexes(directory / "t")}
    other = indexes(directory / "t")[2]
    data = bytearray(other.read_bytes())
    assert data[88:91] == b"\3\0\1", "the column CONVERTER, one byte"
    data[91] += 1
    other.write_bytes(with_crcs(bytes(data), 0))
    assert answers(directory / "t") == right
    after = {path.name: path.stat().st_ino for path in indexes(directory / "t")}
    assert [name for name in before if before[name] != after[name]] == [other.name]
    assert other.read_bytes() != bytes(data)


def test_the_same_bytes(directory):
    """Whoever made it: an index that another process replaces meanwhile holds the same blocks at the same places."""
    where = directory / "t"
    files = traces(where, 8)
    dftmerge("check", "--threads", "1", where)
    first = {path.name: path.read_bytes() for path in indexes(where)}
    for more in (["--threads", "5", where], ["--threads", "1", *reversed(files)], *([[f] for f in files])):
        if len(more) > 1:
            shutil.rmtree(where / ".dftindex")
        else:
            (where / ".dftindex" / (more[0].name + ".dft")).unlink()
        dftmerge("check", *more)
        assert {path.name: path.read_bytes() for path in indexes(where)} == first, more


def test_nowhere_to_write(directory):
    """Where nothing can be made beside the traces, the user's cache has it; without that, nothing is kept."""
    files = traces(directory / "t", 3)
    (directory / "t" / ".dftindex").write_text("in the way")
    cache = directory / "cache"
    right = summary("--no-index", directory / "t")
    for _ in range(2):
        assert summary(directory / "t", env={"XDG_CACHE_HOME": str(cache)}) == right
    kept = list((cache / "dftrace").iterdir())
    assert len(kept) == len(files)
    home = directory / "home"
    home.mkdir()
    assert summary(directory / "t", env={"XDG_CACHE_HOME": "", "HOME": str(home)}) == right
    assert len(list((home / ".cache" / "dftrace").iterdir())) == len(files)
    nothing = directory / "nothing"
    nothing.write_text("")
    assert summary(directory / "t", env={"XDG_CACHE_HOME": str(nothing), "HOME": str(nothing)}) == right


def test_not_searched(directory):
    """An index is no trace of its own, and beside native traces everything is counted once."""
    traces(directory / "t", 3)
    make(directory / "t" / "native")
    first = summary(directory / "t")
    assert first == summary(directory / "t") == summary("--no-index", directory / "t")
    archive = directory / "all.dft"
    dftmerge("merge", "-o", archive, directory / "t")
    assert summary(archive)["groups"] == first["groups"] and dump(archive) == dump(directory / "t")


def test_copies_count(directory):
    """Copies of a file are other files; a link to it is not."""
    path = traces(directory / "t", 1)[0]
    events = summary(path)["events"]
    (directory / "t" / "copy.pfw").write_bytes(path.read_bytes())
    os.link(path, directory / "t" / "link.pfw")
    assert summary(directory / "t")["events"] == 2 * events


def test_kept_blocks_are_compressed(directory):
    """Blocks that only this question needs are not compressed. Those of a copy are, and so are those that stat measures."""
    traces(directory / "t")
    for name, more in (("anew", ["--no-index"]), ("from-index", [])):
        dftmerge("merge", "-q", *more, "-o", directory / f"{name}.dft", directory / "t")
    assert (directory / "anew.dft").read_bytes() == (directory / "from-index.dft").read_bytes()
    assert dftmerge("debug", "stat", "--json", "--no-index", directory / "t").out == dftmerge("debug", "stat", "--json", directory / "t").out


def test_much_without_index(directory):
    """More than is kept in memory goes to a file without a name. The answer does not show it."""
    path = directory / "big.pfw"
    line = ('{"id":%d,"name":"work","cat":"APP","pid":1,"tid":1,"ts":%d,"dur":3,"ph":"X","args":{"x":"%s"}}\n')
    random.seed(5)
    with open(path, "w") as out:
        for i in range(60_000):
            out.write(line % (i, 1_700_000_000_000_000 + 5 * i, random.randbytes(1600).hex()))
    write(directory / "small.pfw", sample("2.x").text())
    answered = []
    for more in (["--no-index"], []):
        out = directory / "answer.json"
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1")
        with open(out, "wb") as stream:
            process = subprocess.Popen([str(DFTMERGE), "summary", "--json", "--threads", "2", *more, str(directory)],
                                       stdout=stream, env=environment)
            status, usage = os.wait4(process.pid, 0)[1:]
        assert status == 0 and json.loads(out.read_text())["events"] == 60_300
        assert usage.ru_maxrss < 512 << 10, usage.ru_maxrss
        answered.append(out.read_text())
    assert answered[0] == answered[1]
