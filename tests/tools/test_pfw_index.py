"""The index of foreign traces: answers are the same with it and without; what is stale is made anew, alone."""

import json
import os
import random
import subprocess

from pfw_files import DIALECTS, read_events, write
from test_pfw import agrees, sample
from tooltest import DFTMERGE, dftmerge, dump, main, make, run, summary

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


def law(directory):
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


def later_questions_read_the_index(directory):
    """The same size, time and inode: the trace is not looked at any more."""
    path = traces(directory / "t", 1)[0]
    before = summary(path)
    state = os.stat(path)
    path.write_bytes(b" " * state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert summary(path) == before
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert run(DFTMERGE, path).code == 1


def stale_ones_alone(directory):
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


def damaged_index(directory):
    """Whatever stands in an index file: the answer is right, and the index is whole again."""
    path = traces(directory / "t", 2)[1]
    right = summary(directory / "t")
    index = directory / "t" / ".dftindex" / (path.name + ".dft")
    whole = index.read_bytes()
    random.seed(3)
    cases = [b"", whole[:100], whole[:4096], whole[:-20], b"x" * len(whole), os.urandom(5000)]
    for _ in range(20):
        case = bytearray(whole)
        case[random.randrange(len(case))] ^= 1 << random.randrange(8)
        cases.append(case)
    for case in cases:
        index.write_bytes(case)
        assert summary(directory / "t") == right
    index.unlink()
    assert summary(directory / "t") == right and index.exists()


def two_at_once(directory):
    for turn in range(3):
        where = directory / str(turn)
        traces(where, 12)
        running = [subprocess.Popen([str(DFTMERGE), "summary", "--json", str(where)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for _ in range(6)]
        outputs = {process.communicate(timeout=200) for process in running}
        assert all(process.returncode == 0 for process in running) and len(outputs) == 1, outputs
        assert len(indexes(where)) == 12


def nowhere_to_write(directory):
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


def not_searched(directory):
    """An index is no trace of its own, and beside native traces everything is counted once."""
    traces(directory / "t", 3)
    make(directory / "t" / "native")
    first = summary(directory / "t")
    assert first == summary(directory / "t") == summary("--no-index", directory / "t")
    archive = directory / "all.dft"
    dftmerge("merge", "-o", archive, directory / "t")
    assert summary(archive)["groups"] == first["groups"] and dump(archive) == dump(directory / "t")


def copies_count(directory):
    """Copies of a file are other files; a link to it is not."""
    path = traces(directory / "t", 1)[0]
    events = summary(path)["events"]
    (directory / "t" / "copy.pfw").write_bytes(path.read_bytes())
    os.link(path, directory / "t" / "link.pfw")
    assert summary(directory / "t")["events"] == 2 * events


def much_without_index(directory):
    """More than is kept in memory goes to a file without a name."""
    path = directory / "big.pfw"
    line = ('{"id":%d,"name":"work","cat":"APP","pid":1,"tid":1,"ts":%d,"dur":3,"ph":"X","args":{"x":"%s"}}\n')
    random.seed(5)
    with open(path, "w") as out:
        for i in range(60_000):
            out.write(line % (i, 1_700_000_000_000_000 + 5 * i, random.randbytes(1600).hex()))
    write(directory / "small.pfw", sample("2.x").text())
    for more in (["--no-index"], []):
        out = directory / "answer.json"
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1")
        with open(out, "wb") as stream:
            process = subprocess.Popen([str(DFTMERGE), "summary", "--json", "--threads", "2", *more, str(directory)],
                                       stdout=stream, env=environment)
            status, usage = os.wait4(process.pid, 0)[1:]
        assert status == 0 and json.loads(out.read_text())["events"] == 60_300
        assert usage.ru_maxrss < 512 << 10, usage.ru_maxrss


if __name__ == "__main__":
    main([law, later_questions_read_the_index, stale_ones_alone, damaged_index, two_at_once, nowhere_to_write,
          not_searched, copies_count, much_without_index])
