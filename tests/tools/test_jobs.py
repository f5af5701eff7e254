# SPDX-License-Identifier: MIT
"""Several jobs in one directory: told apart, said, and one taken by --job, in every command."""

import gzip
import json
import random
import re
import shutil

from pfw_files import Writer
from tooltest import dftmerge, dump, make, run, summary, DFTMERGE


def jobs(*arguments, **more):
    return [(j["name"], j["processes"], j["ranks"], j["world_size"])
            for j in json.loads(dftmerge("ps", "--json", *arguments, **more).out)["jobs"]]


def said(*paths):
    notes = [n for n in summary(*paths)["notes"] if "jobs are together here" in n]
    assert len(notes) <= 1
    return notes[0] if notes else None


def test_one_job_is_none_to_tell_of(where):
    make(where / "plain")
    assert jobs(where / "plain") == [] and said(where / "plain") is None
    make(where / "ranks", ranks=1, processes=4)
    assert jobs(where / "ranks") == [("4711", 4, 4, 5)] and said(where / "ranks") is None
    make(where / "unnamed", ranks=1, processes=4, job=0, ppid=77)
    assert jobs(where / "unnamed") == [("unnamed", 4, 4, 5)] and said(where / "unnamed") is None
    make(where / "hosts", ranks=1, processes=6, hosts=3, job=0, ppid=77)  # a launcher on each host
    assert jobs(where / "hosts") == [("unnamed", 6, 6, 7)]
    assert "\njob " not in dftmerge("ps", where / "hosts").out.decode()


def test_by_id(where):
    make(where, ranks=1, processes=3, seed=1, job=11)
    make(where, ranks=1, processes=4, seed=2, job=12, start=1700003600)
    make(where, processes=1, seed=3)
    assert jobs(where) == [("11", 3, 3, 4), ("12", 4, 4, 5)]
    note = said(where)
    assert "2 jobs" in note and "11 (3 of 4 ranks, from 2023-11-14 22:13:20 UTC)" in note and "12 (4 of 5" in note
    assert "1 process of none" in note and "--job" in note, note
    for command in ("dump", "ps", "check", "stat"):
        assert "2 jobs are together" in dftmerge(command, where).err, command
        assert "2 jobs are together" not in dftmerge(command, "--job", "12", where).err, command
    counted = {g["job"]: g["count"] for g in summary("--by", "job", where)["groups"]}
    assert counted.pop(None) > 0 and counted == {name: summary("--job", name, where)["events"] for name in ("11", "12")}
    text = dftmerge("ps", where).out.decode()
    assert re.search(r"^job +processes  ranks  of  from \(UTC\) +time\n11 +\d+ +3   4  2023-11-14 22:13:20 +\d[\d.]* m?s$", text, re.MULTILINE), text


def test_the_page_begins_with_the_jobs(where):
    for job in range(100, 145):
        make(where, ranks=1, processes=1, events=10, seed=job, job=job, start=1700000000 + 100 * job)
    lines = dftmerge("summary", where, env={"COLUMNS": "200"}).out.decode().splitlines()
    assert re.match(r"job +program +from \(UTC\) +processes +ranks +time +in I/O +% of processes +ended", lines[0]), lines[0]
    assert [line.split()[0] for line in lines[1:41]] == [str(job) for job in range(144, 104, -1)], "the newest are first"
    assert lines[41].startswith("5 older jobs: dftmerge ps lists them. --job NAME shows one.") and "newest" in lines[41]
    for columns in ("40", "80", "100"):
        narrow = dftmerge("summary", where, env={"COLUMNS": columns}).out.decode().splitlines()
        assert narrow[0].startswith("job ") and narrow[1].startswith("144 "), f"names stay: {narrow[:2]}"
        assert max(map(len, narrow[:41])) <= int(columns), narrow[:41]
    whole = json.loads(dftmerge("summary", "--all", "--json", where).out)["overview"]
    assert [row["job"] for row in whole] == [str(job) for job in range(144, 104, -1)]
    io = {g["run"]: g["io_ns"] for g in summary("--by", "run", where)["groups"]}
    assert {row["name"]: row["io_ns"] for row in whole} == {name: io[name] for name in (row["name"] for row in whole)}
    assert all(row["program"] and row["user"] and row["ranks"] == 1 and row["processes"] == 1 for row in whole)
    for one in (("--job", "144"), ("--run", "144"), ("--name", "read"), ("--by", "file")):
        assert not dftmerge("summary", *one, where).out.startswith(b"job  "), one
    assert json.loads(dftmerge("summary", "--all", "--json", "--job", "144", where).out)["overview"] == []


def test_steps_of_one_id(where):
    """The same id, the same ranks, another launcher."""
    for i, ppid in enumerate((500, 600, 700)):
        make(where, ranks=1, processes=2, seed=i + 1, ppid=ppid, start=1700000000 + 5 * i)
    assert jobs(where) == [("4711/1", 2, 2, 3), ("4711/2", 2, 2, 3), ("4711/3", 2, 2, 3)]
    assert summary("--job", "4711/2", where)["processes"] == 2
    assert summary("--job", "4711", where)["processes"] == 6
    assert summary("--job", "4711/1,*/3", where)["processes"] == 4


def test_without_id(where):
    """Ranks that come twice, worlds of other sizes, starts far apart."""
    make(where / "twice", ranks=1, processes=3, seed=1, job=0, ppid=500)
    make(where / "twice", ranks=1, processes=3, seed=2, job=0, ppid=600, start=1700000002)
    assert [j[0] for j in jobs(where / "twice")] == ["unnamed/1", "unnamed/2"]
    make(where / "script", ranks=1, processes=3, seed=1, job=0, ppid=500)  # one shell runs one after the other
    make(where / "script", ranks=1, processes=3, seed=2, job=0, ppid=500, start=1700000100)
    make(where / "script", ranks=1, processes=3, seed=3, job=0, ppid=500, start=1700000200)
    assert jobs(where / "script") == [(f"unnamed/{i}", 3, 3, 4) for i in (1, 2, 3)]
    make(where / "sizes", ranks=1, processes=1, seed=1, job=0, ppid=500, world=4)
    make(where / "sizes", ranks=1, processes=1, seed=2, job=0, ppid=600, world=8)
    assert sorted(j[3] for j in jobs(where / "sizes")) == [4, 8]
    make(where / "unknown", ranks=1, processes=4, seed=1, job=0, ppid=0)  # nobody knows who started them
    assert jobs(where / "unknown") == [("unnamed", 4, 4, 5)]
    make(where / "unknown", ranks=1, processes=4, seed=2, job=0, ppid=0, start=1700009000)
    assert jobs(where / "unknown") == [("unnamed/1", 4, 4, 5), ("unnamed/2", 4, 4, 5)]
    for seed in (1, 2, 3):  # or workers that have the rank of those who started them
        make(where / "workers", ranks=1, processes=2, seed=seed, job=0, ppid=0)
    assert jobs(where / "workers") == [("unnamed", 6, 2, 3)]
    (where / "late").mkdir()
    for seed, start, rank in ((1, 0, 0), (2, 0, 1), (3, 40, 2), (4, 5000, 3)):
        line = {"id": 1, "name": "read", "cat": "POSIX", "pid": 10 + seed, "tid": 1, "ph": "X", "dur": 5,
                "ts": 1_700_000_000_000_000 + start * 1_000_000, "args": {"ret": 1}}
        head = {"name": "PR", "cat": "dftracer", "pid": 10 + seed, "tid": 1, "ph": "M", "args": {"name": "rank", "value": str(rank)}}
        (where / "late" / f"{rank}.pfw").write_text(json.dumps(head) + "\n" + json.dumps(line))
    assert [j[1:3] for j in jobs("--no-index", where / "late")] == [(3, 3), (1, 1)]


def test_every_command_takes_one(where):
    """--job is as if the other job were not there."""
    make(where / "all", ranks=1, processes=3, seed=1, job=11)
    make(where / "all", ranks=1, processes=2, seed=2, job=12, start=1700003600)
    make(where / "one", ranks=1, processes=3, seed=1, job=11)
    for options in ([], ["--by", "file"], ["--by", "rank,call"], ["--by", "time", "--width", "1"]):
        got, want = summary("--job", "11", *options, where / "all"), summary(*options, where / "one")
        assert [r["name"] for r in got.pop("runs")] == ["11", "12"] and [r["name"] for r in want.pop("runs")] == ["11"]
        assert got == want, options
    assert dump("--job", "11", where / "all") == dump(where / "one")
    for command in ("check", "stat"):
        got, want = (json.loads(dftmerge(command, "--json", *o).out) for o in (("--job", "11", where / "all"), (where / "one",)))
        for key in ("processes", "events", "blocks"):
            if key in want:
                assert got[key] == want[key], (command, key, got[key], want[key])
    dftmerge("merge", "--job", "11", "-o", where / "eleven.dft", where / "all")
    assert dump(where / "eleven.dft") == dump(where / "one")
    for form in ("perfetto", "csv", "pfw"):
        for name, arguments in (("got", ("--job", "11", where / "all")), ("want", (where / "one",))):
            dftmerge("export", "--format", form, "-o", where / name, *arguments)
        assert (where / "got").read_bytes() == (where / "want").read_bytes(), form
    assert json.loads(dftmerge("ps", "--json", "--job", "11", where / "all").out)["processes"][0]["job"] == "11"
    answer = json.loads(dftmerge("compare", "--json", "--job-a", "11", "--job-b", "12", where / "all", where / "all").out)
    assert (answer["a"]["processes"], answer["b"]["processes"], answer["same"]) == (3, 2, False)
    assert json.loads(dftmerge("compare", "--json", "--job-a", "11", where / "all", where / "one").out)["same"]


def test_a_job_that_is_not_there(where):
    make(where, ranks=1, processes=2, job=11)
    done = run(DFTMERGE, "summary", "--job", "99", where)
    assert done.code == 1 and "no job 99 is here; there are 11 (2 of 3 ranks" in done.err, done.err


def test_the_order_of_files_does_not_matter(where):
    """Any order of names gives the same jobs."""
    chance = random.Random(3)
    make(where / "a", ranks=1, processes=5, seed=1, job=0, ppid=0)
    make(where / "a", ranks=1, processes=5, seed=2, job=0, ppid=0, start=1700000700)
    make(where / "a", ranks=1, processes=5, seed=3, job=5, ppid=0, start=1700000100)
    first = json.loads(dftmerge("ps", "--json", where / "a").out)
    assert len(first["jobs"]) == 3
    for i in range(5):
        other = where / str(i)
        other.mkdir()
        names = [f"{n:03}.dft" for n in range(15)]
        chance.shuffle(names)
        for path, name in zip(sorted((where / "a").iterdir()), names):
            (other / name).symlink_to(path)
        got = json.loads(dftmerge("ps", "--json", other).out)
        assert got["jobs"] == first["jobs"]
        assert [(p["key"], p["job"]) for p in got["processes"]] == [(p["key"], p["job"]) for p in first["processes"]]


def foreign_rank(path, rank, pid, start):
    writer = Writer("1.0.8", pid=pid, rank=rank)
    writer.call("dftracer", "start", start, 0, version=100008, ppid=400)
    for i in range(20):
        writer.call("POSIX", "read", start + 100 * (i + 1), 10, "/data/x", ret=1)
    path.write_text(writer.text())


def test_copies_are_no_other_job(where):
    """DFTracer's files have no keys: a copy counts again. That is told, and nobody sees another job or other ranks in it."""
    where = where / "t"
    where.mkdir()
    for rank in range(4):
        foreign_rank(where / f"r{rank}.pfw", rank, 500 + rank, 1_700_000_000_000_000 + 1000 * (rank % 2))
    assert not [n for n in summary(where)["notes"] if "stand" in n]
    shutil.copy(where / "r2.pfw", where / "r2-copy.pfw")
    (where / "r3.pfw.gz").write_bytes(gzip.compress((where / "r3.pfw").read_bytes()))
    answer = summary(where)
    note = [n for n in answer["notes"] if "stand" in n]
    assert len(note) == 1 and note[0].startswith("2 processes stand in two files, as ") and "counted" in note[0], answer["notes"]
    assert "r2-copy.pfw" in note[0] and "r2.pfw" in note[0], note
    assert said(where) is None and answer["events"] == 6 * 21 and answer["ranks"] == 4
    foreign_rank(where / "again.pfw", 2, 900, 1_700_000_002_000_000)  # that is another one
    assert said(where) is not None and len([n for n in summary(where)["notes"] if "2 processes stand" in n]) == 1
