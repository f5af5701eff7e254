# SPDX-License-Identifier: MIT
"""Real stacks of libraries: HDF5 over MPI-IO over POSIX, as the installed weave files show them. Every rank's calls are counted."""

import collections
import os
import pathlib

import pytest

from tracing import DFTMERGE, dump, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 2
MPIRUN = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", RANKS]


def traced(directory, compiler, source, *files):
    """Compiles, runs plain and woven with RANKS ranks; the events by rank."""
    need("mpirun", compiler)
    program = directory / "program"
    done = run([compiler, *(["-shlib"] if compiler == "h5pcc" else []), HERE / source, "-O1", "-o", program],
               cwd=directory)  # h5pcc leaves its object file where it is
    if done.code:
        pytest.skip(f"{compiler} cannot compile here: {done.err.decode(errors='replace').splitlines()[-1]}")
    home = {"HOME": directory, "OMPI_MCA_rmaps_base_oversubscribe": 1, "OMPI_MCA_btl": "self,vader"}
    plain = run([*MPIRUN, program, "plain"], cwd=directory, env=environment(**home))
    if plain.code:
        pytest.skip(f"mpirun does not work here: {plain.err.decode(errors='replace').splitlines()[-1]}")
    (directory / "data").mkdir()
    settings = {k: v for k, v in tracing(directory / "out/t", WEAVE=":".join(files), DATA_DIR=directory / "data").items()
                if k.startswith(("DFTRACER", "LD_PRELOAD"))}
    woven = run([*MPIRUN, "env", *(f"{k}={v}" for k, v in settings.items()), program, "data/file"], cwd=directory, env=environment(**home))
    equal((woven.code, woven.out), (0, plain.out), woven.err.decode(errors="replace"))
    ranks = collections.defaultdict(list)
    for event in dump(directory / "out"):
        if event["rank"] is not None:
            ranks[event["rank"]].append(event)
    equal(sorted(ranks), list(range(RANKS)), "ranks")
    return ranks


def count(events, **fields):
    return sum(all(e.get(k) == v for k, v in fields.items()) for e in events)


def adds_up(events, outer, inner):
    """The inner layer's calls lie within the outer layer's, and take no longer."""
    regions = [e for e in events if e["cat"] == outer]
    for name in {e["name"] for e in regions}:
        own = sum(e["dur"] for e in regions if e["name"] == name)
        within = sum(e["dur"] for e in events if e["cat"] == inner and e.get("region") == name)
        true(within <= own, f"{name}: {within} ns of {inner} within {own} ns")


def test_mpi_io_over_posix(directory):
    for rank, events in traced(directory, "mpicc", "layers_mpiio.c", "mpiio").items():
        equal({n: count(events, cat="MPIIO", name=f"MPI_File_{n}") for n in ("open", "write_at", "read_at", "sync", "close")},
              {"open": 1, "write_at": 10, "read_at": 10, "sync": 1, "close": 1}, f"calls of rank {rank}")
        offsets = [e["offset"] for e in events if e["name"] == "MPI_File_write_at"]
        equal(offsets, [(i * RANKS + rank) * 65536 for i in range(10)], "offsets")
        written = sum(e["bytes"] for e in events if e["cat"] == "POSIX" and e.get("region") == "MPI_File_write_at" and "bytes" in e)
        equal(written, 655360, "bytes written below MPI_File_write_at")
        adds_up(events, "MPIIO", "POSIX")


def test_hdf5_over_mpi_io_over_posix(directory):
    ranks = traced(directory, "h5pcc", "layers_hdf5.c", "hdf5", "mpiio")
    for rank, events in ranks.items():
        equal({n: count(events, cat="HDF5", name=n) for n in ("H5Fcreate", "H5Dcreate2", "H5Dwrite", "H5Dread", "H5Dclose", "H5Oexists_by_name",
                                                                 "H5Idec_ref")},
              {"H5Fcreate": 1, "H5Dcreate2": 3, "H5Dwrite": 3, "H5Dread": 3, "H5Dclose": 3, "H5Oexists_by_name": 1,
               "H5Idec_ref": 1}, f"calls of rank {rank}")
        equal(count(events, cat="MPIIO", name="MPI_File_open", region="H5Fcreate"), 1, "the file is opened by H5Fcreate")
        equal(count(events, name="MPI_File_write_at_all", region="H5Dwrite"), 3, "collective writes by H5Dwrite")
        equal([e["name"] for e in events if e["cat"] == "POSIX" and not e.get("region")], [], f"calls of rank {rank} outside of any region")
        adds_up(events, "HDF5", "MPIIO")
        adds_up(events, "MPIIO", "POSIX")
    moved = sum(e["bytes"] for events in ranks.values() for e in events if e.get("region") == "MPI_File_write_at_all" and "bytes" in e)
    equal(moved, RANKS * 3 * 100 * 1000 * 8, "bytes of all datasets reach POSIX")


def test_the_summary_shows_the_layers(directory):
    traced(directory, "h5pcc", "layers_hdf5.c", "hdf5", "mpiio")
    done = run_checked([DFTMERGE, "summary", "--by", "region,cat,name", directory / "out"])
    for words in ((b"H5Fcreate", b"MPI_File_open"), (b"MPI_File_write_at_all", b"pwrite")):
        true(any(all(w in line for w in words) for line in done.out.splitlines()), done.out)
    true(b"in no library" not in done.err, f"what this version of HDF5 lacks is no news: {done.err}")


def test_the_page_shows_the_layers_as_a_tree(directory):
    traced(directory, "h5pcc", "layers_hdf5.c", "hdf5", "mpiio")
    page = run_checked([DFTMERGE, "summary", "--run", "all", directory / "out"]).out.decode()
    tree = page.partition("Regions and what is inside them\n")[2].partition("\n\n")[0].splitlines()
    names = [line.split()[0] for line in tree]
    depths = {line.split()[0]: len(line) - len(line.lstrip()) for line in tree}
    true("H5Fcreate" in names and depths["H5Fcreate"] == 0, page)
    true(names[names.index("H5Fcreate") + 1] == "MPI_File_open" and depths["MPI_File_open"] == 2, page)
