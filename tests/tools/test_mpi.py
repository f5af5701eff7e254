"""dftmerge-mpi: the same bytes as from dftmerge, however many ranks there are; no rank waits for one that failed."""

import os
import shutil
import sys

import tooltest
from tooltest import BUILD, DFTMERGE, make, run

PROGRAM = BUILD / "bin" / "dftmerge-mpi"


def launcher():
    """mpirun and what it must be told here; None: there is none."""
    path = shutil.which("mpirun")
    if not path:
        return None
    if "Open MPI" in run(path, "--version").out.decode(errors="replace"):
        return [path, "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    return [path]


MPIRUN = launcher()


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
    assert run(DFTMERGE, "export", "--to", "pfw", "-o", directory / "d.pfw", directory / "b", directory / "a").code == 0
    return directory


def answers(directory):
    """Bad files on some of the ranks; blocks that only one rank can read."""
    traces = job(directory)
    assert same(5, "summary", "--json", "--no-index", traces).code == 1
    same(2, "summary", traces)
    same(1, "summary", "--by", "file,name", "--csv", traces)
    same(2, "check", "--json", "--no-index", traces)
    same(5, "ps", traces)
    same(5, "stat", "--no-index", traces)
    (directory / "list").write_text(str(directory / "c") + "\n")
    same(2, "check", "--files-from", directory / "list", directory / "both.dft")
    same(2, "summary", "--file", "*a*", "--name", "read,pread", "--by", "dir,rank", "--no-index", traces)


def few_files(directory):
    """More ranks than files: the blocks of the one are spread."""
    traces = make(directory / "t", processes=1, threads=2, events=400)
    same(5, "summary", "--by", "tid,call", "--json", traces)
    same(2, "summary", directory / "nothing")


def passes(directory):
    traces = make(directory / "t", processes=3, events=200)
    same(2, "summary", "--by", "file,name,process", "--csv", traces, env={"DFTMERGE_GROUP_BYTES": "150000"})


def one_rank_alone(directory):
    traces = make(directory / "t", processes=2, events=50)
    got = parallel(2, "dump", "--json", traces)
    assert (got.code, got.out) == (0, run(DFTMERGE, "dump", "--json", traces).out)
    assert got.err == ["dftmerge-mpi: dump is not done in parallel: one rank does it"], got.err


def ranks_that_part(directory):
    """One rank does something else than the other, as if it had failed: both end."""
    traces = make(directory / "t", processes=2, events=50)
    one, other = [PROGRAM, "summary", traces], [PROGRAM, "stat", traces]
    done = run(*MPIRUN, "-n", 1, *one, ":", "-n", 1, *other)
    assert done.code != 0 and "dftmerge-mpi: rank " in done.err, done
    done = run(*MPIRUN, "-n", 1, *one, ":", "-n", 1, PROGRAM, "summary")  # it has no traces, and is through at once
    assert done.code != 0, done


if __name__ == "__main__":
    if not MPIRUN or not PROGRAM.exists():
        print("skipped: " + ("dftmerge-mpi was not built" if MPIRUN else "no mpirun"))
        sys.exit(0)
    tooltest.main([answers, few_files, passes, one_rank_alone, ranks_that_part])
