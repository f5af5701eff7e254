# SPDX-License-Identifier: MIT
"""Answers whose groups do not fit: they go through the spill file and are given page by page, byte for byte as if they had
fitted."""

import os
import subprocess
import tempfile

import pytest

from tooltest import DFTMERGE, FULL, dftmerge, make, run

TINY, SMALL = "25000", "120000"
FORMS = (("--json",), ("--csv",), ("--json", "--top", "7"), ("--top", "40"), ("--top", "1000"))
KEYS = ("call", "file", "dir", "pattern", "file,name", "rank,call", "process,tid,cat", "time,name", "region,file", "name", "cat",
        "op,class", "time,process,file")
SORTS = ("count", "self", "busy_union_ns", "time_p95_ns", "offset_max")


def same(traces, *arguments, budgets=(SMALL,)):
    wanted = run(DFTMERGE, "summary", *arguments, traces)
    assert wanted.code == 0 and wanted.out, wanted.err
    for budget in budgets:
        got = run(DFTMERGE, "summary", *arguments, traces, env={"DFTMERGE_GROUP_BYTES": budget})
        assert got == wanted, f"{arguments} in {budget} bytes: {got.out[:2000]!r}\nnot {wanted.out[:2000]!r}\n{got.err}"


def test_keys_and_forms(directory):
    traces = make(directory / "t", processes=5, threads=2, events=300, ranks=1, hosts=2, lossy=1, slow=1)
    for i, key in enumerate(KEYS):
        for form in (FORMS if key == "file,name" else (FORMS[i % 2], FORMS[2 + i % 3])):
            wide = ("--width", "25") if "time" in key else ()  # each call is in all intervals that it spans
            same(traces, "--by", key, *wide, *form, budgets=(SMALL if i % 3 else TINY,))
    same(traces, budgets=(TINY, SMALL))
    same(traces, "--json", budgets=(TINY, SMALL))


def test_orders(directory):
    traces = make(directory / "t", processes=2, threads=2, events=200)
    for column in (*SORTS, "file", "name"):
        for top in ((), ("--top", "9")):
            same(traces, "--by", "file,name,tid", "--sort", column, "--json", *top)


def test_filters(directory):
    traces = make(directory / "t", processes=3, threads=2, events=300, ranks=1)
    for words in (("--name", "read,open*"), ("--cat", "POSIX"), ("--rank", "1-2"), ("--from", "0.01", "--to", "0.2"),
                  ("--file", "*1*")):
        same(traces, "--by", "file,name", "--json", *words)
        same(traces, "--by", "cat,name,tid", "--json", *words)


def test_sources(directory):
    """Without rows, without events, live files, all mixed; texts that stand only in a block that is read late."""
    for i, settings in enumerate(({"rows": 0}, {"keep": 0}, {"live": 1}, {"rows": 0, "block": 7})):
        traces = make(directory / f"t{i}", processes=3, events=300, seed=i, **settings)
        for key in ("call", "name", "cat,tid", "file", "file,class", "time,op"):
            same(traces, "--by", key, "--json")
    same(directory, "--by", "call,process", "--json")
    same(directory, "--by", "file,tid", "--csv")


def test_threads(directory):
    traces = make(directory / "t", processes=12, events=300, block=20)
    same(traces, "--by", "file,name,process", "--json", "--threads", "7")


def reads(traces, budget, *arguments):
    """How often it reads traces, and how many bytes it writes into a file without a name."""
    with tempfile.NamedTemporaryFile("r") as log:
        subprocess.run(["strace", "-f", "-y", "-o", log.name, "-e", "trace=pread64,pwrite64", str(DFTMERGE), "summary", *arguments,
                        "--threads", "1", str(traces)],
                       env={"DFTMERGE_GROUP_BYTES": budget, "PATH": "/usr/bin:/bin"}, stdout=subprocess.DEVNULL, timeout=900, check=True)
        lines = log.read().splitlines()
    spilled = [line for line in lines if "pwrite64" in line and "(deleted)" in line]
    return sum("pread64" in line and "(deleted)" not in line for line in lines), sum(int(line.rsplit("= ", 1)[1]) for line in spilled)


def test_one_pass(directory):
    """Groups that do not fit go into the spill file, and blocks are read no more often: once, and once more for the texts.
    (Not with --json and --csv, whose pages have a sweep over the events each.)"""
    traces = make(directory / "t", processes=3, events=300)
    for arguments in (("--by", "process,file,name"), ("--by", "tid,file", "--top", "9"), ("--by", "process,name,tid", "--sort", "count")):
        (once, nothing), (more, spilled) = reads(traces, "100000000", *arguments), reads(traces, TINY, *arguments)
        assert 0 < more <= 2 * once + 9 and not nothing and spilled > 1000, (arguments, once, more, nothing, spilled)
    traces = make(directory / "u", processes=300, threads=1, events=60)
    for key in ("process,class", "pid,op"):
        arguments = ("--by", key, "--top", "9")
        (once, _), (more, spilled) = reads(traces, "10000000", *arguments), reads(traces, TINY, *arguments)
        assert once <= more <= once + 9 and spilled, (key, once, more, spilled)
        same(traces, *arguments, budgets=(TINY,))
        same(traces, "--json", "--by", key, "--sort", "process" if "process" in key else "pid", budgets=(SMALL,))


def test_skewed(directory):
    """Nearly all groups are in one partition, which is divided by more of the hash."""
    traces = make(directory / "t", processes=40, threads=3, events=200)
    same(traces, "--by", "dir,process,tid,name", "--json", budgets=(TINY, SMALL))
    same(traces, "--by", "name,op", "--file", "*1*", "--csv", budgets=(TINY,))


def test_nowhere_to_spill(directory):
    """Without a place for the file nothing is said that could be wrong, but where the file was to be and what to do."""
    traces = make(directory / "t", processes=3, events=300)
    full = directory / "full"
    full.write_text("")
    env = {"DFTMERGE_GROUP_BYTES": TINY}
    for temporary in (directory / "missing", full):
        for arguments in (("--by", "file,name,tid", "--csv"), ("--by", "process,name,tid", "--json")):
            done = run(DFTMERGE, "summary", *arguments, traces, env={**env, "TMPDIR": str(temporary)})
            assert done.code == 1 and not done.out, done
            assert f"temporary file in {temporary}: " in done.err and "set TMPDIR to a directory with more room" in done.err, done.err
    same(traces, "--by", "name")  # what fits needs no file
    done = run(DFTMERGE, "summary", "--by", "name", traces, env={"TMPDIR": str(directory / "missing")})
    assert done.code == 0, done


def test_disk_is_full(directory):
    """A limit on the size of files stands for a full disk, at many points."""
    traces = make(directory / "t", processes=3, events=300)
    arguments = ("summary", "--by", "file,name,tid", "--json", traces)
    wanted = run(DFTMERGE, *arguments)
    whole = wrong = 0
    for blocks in (0, 1, 2, 4, 8, 16, 32, 64, 100000):
        done = run("sh", "-c", f"ulimit -f {blocks}; trap '' XFSZ; exec \"$@\"", "sh", DFTMERGE, *arguments, env={"DFTMERGE_GROUP_BYTES": TINY})
        whole += done == wanted
        if done.code == 0:
            assert done == wanted, blocks
            continue
        wrong += 1
        assert done.code == 1 and "set TMPDIR to a directory with more room" in done.err and not done.out, (blocks, done)
    assert whole and wrong, (whole, wrong)


def test_equal_groups(directory):
    """Most groups are alike in what they are sorted by: the texts decide, which are fetched in pieces."""
    traces = make(directory / "t", processes=3, events=300, same_time=1)
    for column in ("size_min", "errors", "file"):
        same(traces, "--by", "file,name,process,tid", "--sort", column, "--csv")
        same(traces, "--by", "file,name,process,tid", "--sort", column, "--csv", "--top", "33")


def peak(traces, budget, *arguments):
    """Output's length and the most memory it took, in MiB."""
    with open(os.devnull, "rb") as nothing:
        process = subprocess.Popen([str(DFTMERGE), "summary", *arguments, str(traces)], stdin=nothing,
                                   stdout=subprocess.PIPE, env={"DFTMERGE_GROUP_BYTES": budget})
    length = sum(len(piece) for piece in iter(lambda: process.stdout.read(1 << 20), b""))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0, process.returncode
    return length, usage.ru_maxrss / 1024


def test_memory(directory):
    """It follows the budget, not the number of groups."""
    traces = make(directory / "t", processes=1, threads=1, events=100000, many=100000, block=4096)
    much = peak(traces, "1000000000", "--by", "file,name", "--json", "--top", "100")
    little = peak(traces, "4000000", "--by", "file,name", "--json", "--top", "100")
    assert little[0] == much[0] and little[1] < much[1] / 2, (much, little)


def test_memory_of_texts(directory):
    """Directories, patterns and --file need no texts while counting, only those that are shown."""
    traces = make(directory / "t", processes=1, threads=1, events=60000, many=60000, long=1000, block=256)
    least = peak(traces, "0", "--by", "name")[1]
    for words in (("--by", "dir"), ("--by", "pattern", "--top", "5"), ("--by", "name", "--file", "*7*"),
                  ("--by", "dir,name", "--file", "*77*", "--json", "--top", "9")):
        length, most = peak(traces, "4000000", *words)
        assert length and most < least + 24, (words, least, most)


@pytest.mark.skipif(not FULL, reason="in the full form only")
def test_memory_of_millions(directory):
    """A million files, 1.4 million groups, all of them printed, as they come out of the box."""
    traces = make(directory / "t", processes=2, threads=2, events=500000, many=1000000, block=4096)
    for words in (("--json",), ("--top", "20"), ("--csv", "--sort", "count", "--top", "100000")):
        length, most = peak(traces, "0", "--by", "file,name", *words)
        print(f"{' '.join(words)}: {length} bytes in {most:.0f} MiB")
        assert most < 512, most
