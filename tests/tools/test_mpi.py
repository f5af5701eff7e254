# SPDX-License-Identifier: MIT
"""dftmerge-mpi: the same bytes as from dftmerge, however many ranks there are; no rank waits for one that failed."""

import gzip
import json
import os
import re
import shutil

import pytest

from test_compare import repetition
from tooltest import BUILD, DFTMERGE, check_around, make, run

PROGRAM = BUILD / "bin" / "dftmerge-mpi"
LOSE_READS = BUILD / "lib" / "liblose_reads.so"


def launcher():
    """mpirun and what it must be told here; None: there is none."""
    path = shutil.which("mpirun")
    if not path:
        return None
    if "Open MPI" in run(path, "--version").out.decode(errors="replace"):
        return [path, "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    return [path]


MPIRUN = launcher()
pytestmark = pytest.mark.skipif(not (MPIRUN and PROGRAM.exists()), reason="no mpirun, or no dftmerge-mpi")


def parallel(ranks, *arguments, **more):
    done = run(*MPIRUN, "-n", ranks, PROGRAM, *arguments, **more)
    words = [line for line in done.err.splitlines() if line.startswith("dftmerge")]  # mpirun has some of its own
    return done._replace(err=words)


def same(ranks, *arguments, env=None):
    wanted = run(DFTMERGE, *arguments, env=env)
    got = parallel(ranks, *arguments, env=env)
    what = f"{ranks} ranks: {' '.join(str(a) for a in arguments)}"
    assert got.out == wanted.out, f"{what}:\n{got.out[:3000]!r}\nnot {wanted.out[:3000]!r}\n{got.err}"
    assert got.err == wanted.err.splitlines(), f"{what}: {got.err}, not {wanted.err}"
    assert got.code == wanted.code, f"{what}: exit code {got.code}, not {wanted.code}"
    return wanted


def job(directory):
    """Traces of many kinds: live files, copies, two of a kind in one file, rows alone, a damaged one, DFTracer's."""
    directory.mkdir(exist_ok=True)
    make(directory / "a", processes=4, threads=2, events=200, ranks=1, hosts=2, live=1)
    make(directory / "b", processes=2, events=150, seed=7, keep=0)
    make(directory / "c", processes=3, events=150, seed=8, lossy=1, rows=0)
    shutil.copy(directory / "c" / "t8-0.dft", directory / "c" / "copy.dft")
    both = [directory / "c" / "t8-1.dft", directory / "a" / "t1-2.dft"]
    (directory / "both.dft").write_bytes(b"".join(path.read_bytes() for path in both))
    broken = directory / "c" / "t8-2.dft"
    content = bytearray(broken.read_bytes())
    content[len(content) // 2] ^= 0xff
    broken.write_bytes(content)
    (directory / "garbage.dft").write_bytes(b"not a trace" * 500)
    assert run(DFTMERGE, "export", "--format", "pfw", "-o", directory / "d.pfw", directory / "b", directory / "a").code == 0
    return directory


def test_answers(directory):
    """Bad files on some of the ranks; blocks that only one rank can read."""
    traces = job(directory)
    assert same(5, "summary", "--json", "--no-index", traces).code == 1
    same(2, "summary", traces)
    same(1, "summary", "--by", "file,name", "--csv", traces)
    same(2, "check", "--json", "--no-index", traces)
    make(directory / "e", processes=2, events=50, seed=9, run=1)
    make(directory / "e", processes=2, events=50, seed=10, run=2, start=1700000900)
    same(2, "summary", directory / "e")
    same(2, "summary", "--by", "run,pid", "--json", directory / "e")
    same(5, "ps", traces)
    same(3, "summary", "--tree", "--no-index", traces)
    same(3, "summary", "--json", "--class", "read", "--slower-than", "10us", "--no-index", traces)
    same(2, "summary", "--json", "--by", "file", "--errors", "--last", "5", "--mount", "/data,/", "--no-index", traces)
    same(2, "summary", "--json", "--by", "rank,job", "--region", "st*", "--size", "4K-", "--no-index", traces)
    same(5, "debug", "stat", "--no-index", traces)
    (directory / "list").write_text(str(directory / "c") + "\n")
    same(2, "check", "--files-from", directory / "list", directory / "both.dft")
    same(2, "summary", "--file", "*a*", "--name", "read,pread", "--by", "dir,rank", "--no-index", traces)


def test_classes_of_files(directory):
    """Each rank finds the files of its share of the blocks: all ranks know all of them."""
    traces, table = job(directory), directory / "table"
    table.write_text("startup START /data\nnone PART /y/\nwait END er/4\n")
    option = ("--classes", table, "--no-index", traces)
    got = json.loads(same(3, "summary", "--json", "--by", "class", *option).out)["groups"]
    assert {"startup", "wait"} <= {g["class"] for g in got}, got
    same(2, "summary", *option)
    same(2, "overlap", *option)
    same(2, "findings", *option)
    same(2, "dump", "--json", "--class", "startup", *option)
    same(5, "dump", "--json", *option, env=APART)


def test_few_files(directory):
    """More ranks than files: the blocks of the one are spread."""
    traces = make(directory / "t", processes=1, threads=2, events=400)
    same(5, "summary", "--by", "tid,call", "--json", traces)
    same(2, "summary", directory / "nothing")


def test_passes(directory):
    traces = make(directory / "t", processes=3, events=200)
    same(2, "summary", "--by", "file,name,process", "--csv", traces, env={"DFTMERGE_GROUP_BYTES": "150000"})


def test_one_rank_alone(directory):
    traces = make(directory / "t", processes=2, events=50)
    got = parallel(2, "export", "--format", "perfflow", "-o", "-", traces)
    assert (got.code, got.out) == (0, run(DFTMERGE, "export", "--format", "perfflow", "-o", "-", traces).out), got
    assert got.err[0] == "dftmerge-mpi: export --format perfflow is not done in parallel: one rank does it", got.err
    for command in (("report", "-o", "-", traces), ("report", "-o", "-", traces, "--", traces), ("layers", traces)):
        got, alone = parallel(2, *command), run(DFTMERGE, *command)
        assert got[:2] == alone[:2] and got.err == [f"dftmerge-mpi: {command[0]} is not done in parallel: one rank does it", *alone.err.splitlines()], got.err
        assert parallel(1, *command).err == alone.err.splitlines(), "one rank needs no word about it"
    assert parallel(2, "calls")[:2] == run(DFTMERGE, "calls")[:2]
    assert parallel(3, "summary", "--by", "instance", traces)[:2] == run(DFTMERGE, "summary", "--by", "instance", traces)[:2]


def test_slow_ranks(directory):
    """From rows and from events: all ranks count, all come to the same first cause."""
    for ranks, rows in ((3, 1), (2, 0)):
        traces = directory / str(rows)
        done = run(BUILD / "bin" / "make_ranks", traces, "ranks=6", "hosts=2", "seconds=40", "slow=4", "at=15", "call=2",
                   "skip=3", f"rows={rows}")
        assert done.code == 0, done.err
        found = json.loads(same(ranks, "ranks", "--json", traces).out)["first_cause"]["latency"]
        assert found["first_cause_suspects"][0]["rank"] == 4 and found["where"]["directory"] == "/scratch/job/r4", found
    same(2, "ranks", "--align", "barrier", "--name", "read,openat", directory / "0")
    same(5, "ranks", "--no-index", job(directory / "job"))
    same(2, "dump", "--json", "--align", "barrier", "--rank", "0", directory / "0", env=SHORT)


def test_runs_compared(directory):
    base = make(directory / "a", processes=4, events=400, ranks=1)
    new = make(directory / "b", processes=5, events=500, ranks=1, seed=9)
    assert same(3, "compare", "--fail-over", "0.1%", base, new).code == 1
    same(2, "compare", "--json", base, "--", new, job(directory / "job"))
    same(2, "compare", base, directory / "none")
    rows = make(directory / "rows", processes=5, events=500, ranks=1, seed=9, keep=0)
    same(3, "compare", base, rows)
    assert json.loads(same(2, "compare", "--json", rows, new).out)["same"]
    runs = [repetition(directory, name, number, mean) for name, mean in (("a", 100), ("b", 133)) for number in range(3)]
    answer = json.loads(same(3, "compare", "--json", "--no-index", *runs[:3], "--", *runs[3:]).out)
    assert [len(answer[side]["repetitions"]) for side in "ab"] == [3, 3] and answer["sure"] == "high", answer["why_sure"]


SHORT = {"DFTMERGE_WINDOW_EVENTS": "300"}  # so that a few thousand events are many windows of time
APART = {**SHORT, "DFTMERGE_COMMON_BYTES": "0"}  # blocks in the memory of one rank stay there
NAMELESS = {**SHORT, "DFTMERGE_NAMES_BYTES": "0"}  # no texts are kept


def test_texts(directory):
    """Events as text on standard output: rank 0 writes, also those that only another rank can read."""
    traces = job(directory)
    same(5, "dump", "--json", "--no-index", traces, env=SHORT)
    same(2, "dump", "--no-index", "--name", "read,pread", "--file", "*a*", traces, env=SHORT)
    same(3, "dump", "--json", "--unsorted", "--rank", "0-3", traces, env=SHORT)
    same(1, "export", "--format", "csv", "-o", "-", "--from", "0.001", traces, env=NAMELESS)
    same(3, "dump", "--json", "--no-index", traces, env=APART)


def merged(directory, ranks, *arguments, env=None):
    return written_alike(directory, ranks, "merge", *arguments, env=env)


def written_alike(directory, ranks, *arguments, env=None):
    """What is written into directory/out, by one process and by many ranks: the same, also in what is said."""
    out = directory / "out"

    def written(program):
        out.mkdir()  # into which a command with a directory for OUT writes
        done = program()
        found = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        shutil.rmtree(out)
        return done, found

    wanted, files = written(lambda: run(DFTMERGE, *arguments, env=env))
    got, same_files = written(lambda: parallel(ranks, *arguments, env=env))
    what = f"{ranks} ranks: {' '.join(str(a) for a in arguments)}"
    assert sorted(same_files) == sorted(files), f"{what}: {sorted(same_files)}, not {sorted(files)}; {got.err}"
    for name, content in files.items():
        assert same_files[name] == content, f"{what}: {name} has {len(same_files[name])} bytes, or others"
    assert got.err == wanted.err.splitlines(), f"{what}: {got.err}, not {wanted.err}"
    assert got.code == wanted.code, f"{what}: exit code {got.code}, not {wanted.code}"
    return wanted, files


def test_archives(directory):
    """One archive: live files, copies, foreign traces that only one rank has; blocks left out whose texts of names are kept."""
    traces, one = job(directory), directory / "out" / "all.dft"
    done, files = merged(directory, 5, "--no-index", "-o", one, traces)
    assert done.code == 1 and "; 21 repeated" in done.err, done
    merged(directory, 2, "--no-index", "-o", one, traces)
    (directory / "all.dft").write_bytes(files["all.dft"])
    assert merged(directory, 1, "-o", one, directory / "all.dft")[1] == files
    coarse = make(directory / "coarse", processes=1, rows=0, block=500, texts=0)
    merged(directory, 3, "-o", one, coarse, make(directory / "fine", processes=1, rows=0, block=100))
    done, files = merged(directory, 2, "-o", directory / "out" / "no" / "all.dft", directory / "all.dft")
    assert done.code == 1 and not files, done


def test_archives_by_rank(directory):
    """Each rank writes some, also of one archive; those of which several ranks have blocks in memory rank 0 writes."""
    traces = job(directory)
    assert run(DFTMERGE, "export", "--format", "pfw", "-o", directory / "e.pfw", directory / "a").code == 0
    done, files = merged(directory, 3, "--no-index", "--split-by", "rank", "-o", directory / "out", traces)
    assert len(files) == 5 and done.code == 1, (done, list(files))
    (directory / "one").mkdir()
    one = directory / "one" / "all.dft"
    assert run(DFTMERGE, "merge", "-o", one, make(directory / "f", processes=7, ranks=1, hosts=3)).code == 0
    assert len(merged(directory, 2, "--split-by", "host", "-o", directory / "out", one)[1]) == 3
    (directory / "file").write_text("")
    assert merged(directory, 2, "--split-by", "rank", "-o", directory / "file", directory / "b")[0].code == 1


def test_exports(directory):
    """One file, of plain text or of gzip members."""
    traces, out = job(directory / "in"), directory / "out"

    def export(ranks, form, name, *more, env=SHORT):
        return written_alike(directory, ranks, "export", "--format", form, "-o", out / name, *more, traces, env=env)[1][name]

    text = export(5, "pfw", "all.pfw", "--no-index")
    assert gzip.decompress(export(2, "pfw", "all.pfw.gz", "--no-index")) == text
    records = [json.loads(line) for line in text.decode(errors="replace").splitlines()[1:-1]]
    assert check_around(records) > 100
    numbers = [record["id"] for record in records]
    assert numbers == list(range(1, len(numbers) + 1))
    export(3, "pfw", "few.pfw.gz", "--cat", "POSIX", "--rank", "0,1", env=APART)
    export(2, "perfetto", "all.json")
    text = export(3, "perfetto", "fit.json", "--max-bytes", "100K", env=APART)
    assert b'"note":"to fit into 102400 bytes' in text and len(text) <= 102400
    assert export(2, "perfetto", "fit.json", "--max-bytes", "100K", env=NAMELESS) == text
    done = parallel(2, "export", "--format", "csv", "-o", directory / "no" / "such" / "x.csv", traces)
    assert done.code == 1 and f"there is no directory {directory}/no/such" in done.err[0], done
    export(3, "csv", "all.csv.gz", env=NAMELESS)
    export(2, "folded", "stacks")


def test_parts(directory):
    """A file for each process; all together tell the same as one file of all."""
    traces, out = job(directory / "in"), directory / "out"

    def parts_of(ranks, form, *more, env=None):
        return written_alike(directory, ranks, "export", "--format", form, "-o", out, *more, traces, env=env)

    names = sorted(parts_of(3, "pfw")[1])
    assert len(names) == 14 and names[6].startswith("rank-00000-") and all(n.endswith(".pfw.gz") for n in names), names
    parts_of(5, "pfw", "--rank", "0,2", "--no-index", env=APART)
    out.mkdir()
    traces = traces / "a"  # here a process is known by its number alone, which the one file needs
    for where in (out, directory / "one.pfw"):
        assert run(DFTMERGE, "export", "--format", "pfw", "-o", where, traces).code == 0
    question = ["summary", "--csv", "--by", "rank,name,file", "--no-index"]
    told, wanted = run(DFTMERGE, *question, out), run(DFTMERGE, *question, directory / "one.pfw")
    assert told.out == wanted.out and len(told.out) > 3000 and told.code == 0, told
    (out / "other.pfw").write_text("[\n")
    done = parallel(2, "export", "--format", "pfw", "-o", out, traces)
    assert done.code == 1 and "other.pfw is there already" in done.err[0], done


def test_parts_of_csv(directory):
    """Every part has the head; their lines are those of the one file. Files of other names stay as they are."""
    traces, out = job(directory / "in"), directory / "out"
    for ranks, *more, env in ((1, None), (2, "--no-index", SHORT), (3, "--no-index", APART), (5, "--cat", "POSIX", NAMELESS)):
        files = written_alike(directory, ranks, "export", "--format", "csv", "-o", f"{out}/", *more, traces, env=env)[1]
        one = run(DFTMERGE, "export", "--format", "csv", "-o", "-", *more, traces).out.splitlines()
        lines = [content.splitlines() for content in files.values()]
        assert len(files) == 14 and all(name.endswith(".csv") for name in files), sorted(files)
        assert {part[0] for part in lines} == {one[0]} and sorted(sum((part[1:] for part in lines), [])) == sorted(one[1:])
    out.mkdir()
    for name, content in files.items():
        (out / name).write_bytes(b"old" if name > min(files) else content)
    (out / "notes.txt").write_text("mine")
    done = parallel(2, "export", "--format", "csv", "-o", out, "--cat", "POSIX", traces)  # the same parts once more
    found = {path.name: path.read_bytes() for path in out.iterdir()}
    assert found == {**files, "notes.txt": b"mine"}, (done, sorted(found))
    (out / "other.csv").write_text("ts\n")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = parallel(3, "export", "--format", "csv", "-o", out, traces)
    assert done.code == 1 and "other.csv is there already" in done.err[0], done
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_parts_of_archives(directory):
    """A trace for each process: together they read back as the inputs do, and are not written beside others."""
    traces, out = job(directory / "in"), directory / "out"
    for ranks in (1, 2, 3, 5):
        files = merged(directory, ranks, "--no-index", "-o", f"{out}/", traces)[1]
    assert len(files) == 14 and all(name.endswith(".dft") for name in files), sorted(files)
    out.mkdir()
    for name, content in files.items():
        (out / name).write_bytes(content)
    assert run(DFTMERGE, "dump", "--json", out).out == run(DFTMERGE, "dump", "--json", "--no-index", traces).out
    done = parallel(3, "merge", "-o", traces / "a", traces / "a")
    assert done.code == 1 and "is there already" in done.err[0] and len(list((traces / "a").iterdir())) == 8, done


def test_groups(directory):
    """An archive for each group, and each written by one rank; more ranks than groups, too."""
    traces, out = job(directory / "in"), directory / "out"
    rules = "reads: name=read,pread,fread; meta: class=meta; some: path=*1*"
    done, files = merged(directory, 3, "--no-index", "--group", rules, "-o", out, traces)
    assert sorted(files) == ["aggregates.dft", "meta.dft", "other.dft", "reads.dft", "some.dft"] and done.code == 1, done
    small = make(directory / "small", processes=2, block=40, events=1500)
    merged(directory, 2, "--no-index", "--group", rules, "-o", out, traces, env=APART)
    files = merged(directory, 5, "--group", rules, "-o", out, small)[1]
    out.mkdir()
    for name, content in files.items():
        (out / name).write_bytes(content)
    assert run(DFTMERGE, "dump", "--json", out).out == run(DFTMERGE, "dump", "--json", small).out
    done = parallel(2, "merge", "--group", rules, "-o", out / "new", out)
    assert done.code == 1 and "holds one group of the events already" in "".join(done.err), done


def test_blocks_that_vanish(directory):
    """A file that becomes shorter between opening and copying: the others' blocks move up."""
    traces = make(directory / "t", processes=3, events=300, live=1)
    env = {"LOSE_FILE": "t1-1.dft", "LOSE_FROM": "4000", "LD_PRELOAD": str(LOSE_READS)}
    done, files = merged(directory, 3, "-o", directory / "out" / "all.dft", traces, env=env)
    assert done.code == 1 and "t1-1.dft: cannot be read again" in done.err and len(files["all.dft"]) > 5000, done
    assert same(2, "dump", "--json", traces, env={**env, **SHORT}).code == 1


def limited_rank(ranks, limited, blocks, *command, env=None):
    """Rank number `limited` cannot write files of more blocks. None: not known how this MPI does without large ones of its own."""
    if "--oversubscribe" not in MPIRUN:
        return None
    limit = ["sh", "-c", f"ulimit -f {blocks}; exec \"$@\"", "sh"]
    one_each = [[":", "-n", 1, *(limit if rank == limited else []), PROGRAM, *command] for rank in range(ranks)]
    done = run(*MPIRUN, "--mca", "btl", "self,tcp", *sum(one_each, [])[1:], env=env)
    return done._replace(err=[line for line in done.err.splitlines() if line.startswith("dftmerge")])


def test_full_disk(directory):
    """One archive is written whole or not at all. Of parts each: what one rank cannot write is missing, and is named."""
    traces, out = make(directory / "t", processes=6, threads=3, events=2000), directory / "out"
    out.mkdir()
    command = ["merge", "-o", out / "all.dft", traces]
    done = run("sh", "-c", "ulimit -f 500; exec \"$@\"", "sh", DFTMERGE, *command)
    wanted = [f"dftmerge: {out}/all.dft: File too large; nothing was written"]
    assert (done.code, done.err.splitlines(), list(out.iterdir())) == (1, wanted, []), done
    done = limited_rank(3, 0, 500, *command)
    assert not done or (done.code, done.err, list(out.iterdir())) == (1, wanted, []), done
    for command in (["merge"], ["export", "--format", "csv"], ["export", "--format", "pfw"]):
        done = limited_rank(3, 2, 60, *command, "-o", f"{out}/", traces)
        left = sorted(path.name for path in out.iterdir())
        assert not done or (done.code == 1 and len(done.err) == 1 and "File too large; 4 of 6" in done.err[0]), done
        assert not done or len(left) == 4 and not [name for name in left if re.search(r"\.[A-Za-z0-9]{6}$", name)], left
        shutil.rmtree(out)
        out.mkdir()
    done = limited_rank(2, 1, 60, "merge", "--group", "reads: name=read; meta: class=meta", "-o", out, traces)
    assert not done or (done.code == 1 and "File too large" in done.err[0] and not list(out.iterdir())), done


def test_full_disk_of_exports(directory):
    """Rank 0 cannot write, or nobody can: a good file stays as it is, and nothing else is left."""
    traces, out = make(directory / "t", processes=6, threads=3, events=2000), directory / "out"
    out.mkdir()
    good = out / "all.csv"
    good.write_text("good")
    done = limited_rank(3, 0, 200, "export", "--format", "csv", "-o", good, traces, env=SHORT)
    assert not done or (done.code, done.err) == (1, [f"dftmerge: {good}: File too large; nothing was written"]), done
    assert list(out.iterdir()) == [good] and good.read_text() == "good"
    script = (f'mount -t tmpfs -o size=400k none {out} && echo good > {good} && "$@"; code=$?; ls {out} >&2; cat {good}; '
              "exit $code")
    isolate = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    if run(*isolate, "mount", "-t", "tmpfs", "none", out).code:
        return  # not allowed here
    for ranks, *command in ((2, "export", "--format", "csv", "-o", good), (3, "export", "--format", "pfw", "-o", out),
                            (3, "merge", "-o", out), (2, "merge", "--group", "reads: name=read", "-o", out)):
        command = [PROGRAM, *command, traces]
        done = run(*isolate, "sh", "-c", script, "sh", *MPIRUN, "-n", ranks, *command, env=SHORT)
        told = [line for line in done.err.splitlines() if line.startswith(f"dftmerge: {out}") and "No space left" in line]
        assert done.code == 1 and len(told) == 1 and done.out == b"good\n", done
        left = done.err.splitlines()
        assert "all.csv" in left and not [line for line in left if line.startswith("all.csv.")], done
        assert not [line for line in left if re.search(r"^[^ ]*\.(gz|dft|csv)\.", line)], done


def test_ranks_that_part(directory):
    """One rank does something else than the other, as if it had failed: both end."""
    traces = make(directory / "t", processes=2, events=50)
    one, other = [PROGRAM, "summary", traces], [PROGRAM, "stat", traces]
    done = run(*MPIRUN, "-n", 1, *one, ":", "-n", 1, *other)
    assert done.code != 0 and "dftmerge-mpi: rank " in done.err, done
    done = run(*MPIRUN, "-n", 1, *one, ":", "-n", 1, PROGRAM, "summary")  # it has no traces, and is through at once
    assert done.code != 0, done
