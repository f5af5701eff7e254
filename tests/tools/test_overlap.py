# SPDX-License-Identifier: MIT
"""dftmerge overlap: every number as sets of intervals from the dump have it, whatever windows, threads and ranks of
dftmerge; estimates from aggregates near them; epochs and steps; ranks, trainers and their processes."""

import collections
import fnmatch
import json
import random

import pytest

from intervals import common, length, less, union
from pfw_files import Writer
from tooltest import DFTMERGE, LIBRARY, counts, dftmerge, dump, make, need_library, run

IO = ("read", "write", "sync", "meta", "startup")
BASE = 1_700_000_000_000_000  # us
COMPUTE, DATA, ITEM = ("compute:*", "*:compute"), ("*:*wait*data*",), ("*:*getitem*",)


def overlap(*arguments, **more):
    return json.loads(dftmerge("overlap", "--json", *arguments, **more).out)


# --- what the answer must be ----------------------------------------------------------------------


def fits(event, patterns):
    text = f"{event['cat']}:{event['name']}".lower()
    return any(fnmatch.fnmatchcase(text, p) for p in patterns)


def spans(events, wanted):
    return union([(e["ts"], e["ts"] + e["dur"]) for e in events if counts(e) and "phase" not in e and wanted(e)])


def times(wall, compute, io):
    hidden = length(common(compute, io))
    return {"wall_ns": wall, "compute_ns": length(compute), "io_ns": length(io), "hidden_ns": hidden,
            "exposed_ns": length(io) - hidden, "idle_ns": wall - length(union([*compute, *io]))}


def sets_of(events, life, has_compute):
    """Compute, I/O and waiting for data of one process."""
    io = spans(events, lambda e: e["class"] in IO)
    data = spans(events, lambda e: fits(e, DATA))
    if has_compute:
        return spans(events, lambda e: fits(e, COMPUTE)), io, data
    return less([life], union([*io, *data, *spans(events, lambda e: e["class"] == "wait")])), io, data


def part(answer, wanted):
    return {k: answer[k] for k in wanted}


def check(answer, events, team_of):
    """All processes and teams of an answer against the dump. team_of: pid -> name of the team. Returns how many were
    looked at."""
    by_pid = collections.defaultdict(list)
    for e in events:
        by_pid[e["pid"]].append(e)
    has_compute = any(fits(e, COMPUTE) for e in events if counts(e) and e["class"] == "none")
    assert answer["compute_is"] == ("regions" if has_compute else "outside_io")
    lives = {p["pid"]: p for p in json.loads(dftmerge("ps", "--json", *answer["paths"]).out)["processes"]}
    sets = {}
    for got in answer["processes"]:
        ps = lives[got["pid"]]
        life = (ps["start_ns"], ps["end_ns"])
        sets[got["pid"]] = sets_of(by_pid[got["pid"]], life, has_compute)
        want = times(life[1] - life[0], *sets[got["pid"]][:2])
        assert part(got, want) == want, (got, want)
        items = spans(by_pid[got["pid"]], lambda e: fits(e, ITEM))
        assert (got["item_ns"], got["item_io_ns"]) == (length(items), length(common(items, sets[got["pid"]][1]))), got
        assert got["data_ns"] == length(sets[got["pid"]][2])
    teams = collections.defaultdict(list)
    for pid in sets:
        teams[team_of(pid)].append(pid)
    for got in answer["ranks"]:
        pids = teams.pop(team_of(got["trainer"]))
        compute, io = (union([s for pid in pids for s in sets[pid][i]]) for i in (0, 1))
        wall = max(lives[p]["end_ns"] for p in pids) - min(lives[p]["start_ns"] for p in pids)
        want = times(wall, compute, io)
        assert part(got, want) == want, (got, want)
        data = sets[got["trainer"]][2]
        if has_compute and not any(s[2] for s in sets.values()):  # no region waits: the trainer does nothing while a worker loads
            life = (lives[got["trainer"]]["start_ns"], lives[got["trainer"]]["end_ns"])
            idle = less([life], union([*sets[got["trainer"]][0], *sets[got["trainer"]][1]]))
            data = common(idle, union([s for pid in pids if pid != got["trainer"] for s in spans(by_pid[pid], lambda e: fits(e, ITEM))]))
        assert (got["data_ns"], got["data_io_ns"], got["processes"]) == (length(data), length(common(data, io)), len(pids)), got
    assert not teams
    check_job(answer, sets, lives, team_of)
    return len(sets)


def check_job(answer, sets, lives, team_of):
    """Times in which nobody is active, or one team alone while another one lives."""
    active, alive = collections.defaultdict(list), collections.defaultdict(list)
    for pid, (compute, io, _) in sets.items():
        active[team_of(pid)] += [*compute, *io]
        alive[team_of(pid)].append((lives[pid]["start_ns"], lives[pid]["end_ns"]))
    active = {t: union(s) for t, s in active.items()}
    everybody = union([s for a in alive.values() for s in a])
    nobody = less(everybody, union([s for a in active.values() for s in a]))
    assert answer["nobody_ns"] == length(nobody), (answer["nobody_ns"], length(nobody))
    longest = max((b - a for a, b in nobody), default=0)
    assert (answer["longest_gap"] or {"dur_ns": 0})["dur_ns"] == longest
    for got in answer["ranks"]:
        me = team_of(got["trainer"])
        others = [s for t, a in active.items() if t != me for s in a]
        present = union([s for t, a in alive.items() if t != me for s in a])
        assert got["alone_ns"] == length(common(less(active[me], union(others)), present)), got


# --- made intervals -------------------------------------------------------------------------------


def made(where, chance, ranks, processes, calls, kinds):
    """Traces of DFTracer with intervals by chance: several processes of each rank, several threads of each."""
    where.mkdir()
    for number in range(ranks * processes):
        writer = Writer("1.0.8", pid=100 + number, rank=number % ranks if ranks > 1 else None)
        for _ in range(chance.randrange(1, calls)):
            category, name = chance.choice(kinds)
            at = BASE + chance.randrange(3000)
            file = "/data/x" if category == "POSIX" else None
            more = {"ret": 3} if category == "POSIX" else {}
            writer.call(category, name, at, chance.choice((0, 1, 7, 60, 400)), file, tid=200 + chance.randrange(3), **more)
        (where / f"{number}.pfw").write_text(writer.text())
    return where


KINDS = (("POSIX", "read"), ("POSIX", "read"), ("POSIX", "write"), ("COMPUTE", "forward"), ("APP", "compute"), ("APP", "other"),
         ("APP", "wait for data"), ("APP", "__getitem__"))


def test_numbers_are_those_of_sets(where):
    chance = random.Random(15)
    seen = 0
    for turn in range(25):
        ranks = chance.choice((1, 1, 2, 3, 5))
        kinds = KINDS if turn % 5 else tuple(k for k in KINDS if "ompute" not in k[1] and k[0] != "COMPUTE")
        kinds = tuple(k for k in kinds if turn % 3 or "wait" not in k[1])
        path = made(where / f"t{turn}", chance, ranks, chance.choice((1, 2, 3)), chance.choice((3, 20, 200)), kinds)
        answer = overlap(path)
        answer["paths"] = [path]
        assert answer["exact"]
        seen += check(answer, dump(path), (lambda pid, n=ranks: (pid - 100) % n) if ranks > 1 else (lambda pid: pid))
        for settings in ({"DFTMERGE_WINDOW_EVENTS": "10"}, {"DFTMERGE_WINDOW_EVENTS": "97"}):
            again = overlap("--threads", "3", path, env=settings)
            assert again == {k: v for k, v in answer.items() if k != "paths"}, settings
    assert seen > 60


def test_native_processes(where):
    """make_traces has threads, regions and several ranks, or none: patterns say which regions compute."""
    for ranks in (0, 1):
        path = make(where / f"r{ranks}", processes=5, ranks=ranks, threads=3, events=400)
        events = dump(path)
        names = collections.Counter(f"{e['cat']}:{e['name']}" for e in events if e["cat"] in ("APP", "LIB") and counts(e))
        assert names
        answer = overlap("--compute", names.most_common(1)[0][0], path)
        global COMPUTE
        usual, COMPUTE = COMPUTE, (names.most_common(1)[0][0].lower(),)
        try:
            answer["paths"] = [path]
            rank_of = {e["pid"]: e["rank"] for e in events}
            check(answer, events, rank_of.get if ranks else lambda pid: pid)
        finally:
            COMPUTE = usual


def teams_of(answer):
    return [(r["rank"], r["trainer"], r["processes"]) for r in answer["ranks"]]


def test_a_team_is_a_head_and_what_it_started(where):
    """Whatever the keys of processes: who is above a head has a team of its own, and trains nobody."""
    compute = ("--compute", "APP:solve")
    for salt in range(6):
        star = overlap(*compute, make(where / f"s{salt}", processes=3, tree=5, salt=salt))
        assert teams_of(star) == [(None, 1000, 1), (None, 1001, 1), (None, 1002, 1)], star["ranks"]
        ranks = make(where / f"r{salt}", processes=7, tree=2, ranks=1, salt=salt)
        for answer in (overlap(*compute, ranks), overlap("--aggregates", *compute, ranks)):
            assert [(r["rank"], r["processes"]) for r in answer["ranks"]] == [(0, 3), (1, 3), (None, 1)], answer["ranks"]
            assert teams_of(answer)[2][1] is None and {p["pid"] for p in answer["processes"] if p["rank"] == 0} == {1001, 1003, 1004}
            assert len([p for p in answer["processes"] if p["is_trainer"]]) == 2 and not answer["processes"][-1]["is_trainer"]
            assert answer["ranks"][2]["alone_ns"] == 0, "mpirun is nobody's other rank"
        assert "of the time of 2 ranks and of what started them" in dftmerge("overlap", *compute, ranks).out.decode().replace("\n", " ")
        assert json.loads(dftmerge("layers", "--json", ranks).out)["ranks"] == 2


def test_a_shell_trains_nobody(where):
    """The rank is a script: the first program that it runs is the trainer. A process that execs counts once."""
    need_library()
    env = {"LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(where / "t" / "t"),
           "DFTRACER_RANK": "3", "DFTRACER_WORLD_SIZE": "4"}
    done = run("sh", "-c", "cat /etc/passwd; tac /etc/group; :", env=env)
    assert done.code == 0, done.err
    answer = overlap(where / "t")
    (rank,) = answer["ranks"]
    trainer = [p for p in answer["processes"] if p["is_trainer"]]
    assert rank["rank"] == 3 and rank["processes"] == 3 == len({p["pid"] for p in answer["processes"]}), answer["processes"]
    assert len(trainer) == 1 and trainer[0]["exe"].endswith("/cat") and trainer[0]["pid"] == rank["trainer"], trainer


def test_a_part_of_the_time(where):
    """--from and --to cut intervals at the bounds; --name chooses I/O, and regions stay."""
    writer = Writer("1.0.8", rank=0)
    writer.call("COMPUTE", "forward", BASE, 1_000_000)
    writer.call("POSIX", "read", BASE + 400_000, 200_000, "/data/x", ret=3)
    writer.call("POSIX", "write", BASE + 900_000, 1_100_000, "/data/y", ret=3)
    (where / "t.pfw").write_text(writer.text())
    whole = overlap(where)
    assert (whole["wall_ns"], whole["compute_ns"], whole["io_ns"], whole["hidden_ns"]) == (2 * 10**9, 10**9, 1300 * 10**6, 300 * 10**6)
    some = overlap("--from", "0.5", "--to", "1.5", where)
    assert (some["wall_ns"], some["compute_ns"], some["io_ns"], some["hidden_ns"], some["idle_ns"]) == \
        (10**9, 500 * 10**6, 700 * 10**6, 200 * 10**6, 0), some
    reads = overlap("--name", "read", where)
    assert (reads["compute_ns"], reads["io_ns"], reads["hidden_ns"]) == (10**9, 200 * 10**6, 200 * 10**6)
    assert overlap("--file", "/data/y", where)["io_ns"] == 1100 * 10**6
    assert overlap("--compute", "!*", where)["compute_is"] == "outside_io"


def test_dlio(where):
    """The shape and the names of DLIO: compute of several threads is a union, and bucket arithmetic would see an
    overlap where there is none."""
    for rank in range(2):
        writer = Writer("1.0.8", pid=10 + rank, rank=rank)
        for epoch in range(1, 3):
            start = BASE + (epoch - 1) * 10_000_000
            writer.call("dlio_benchmark", "epoch", start, 9_500_000, epoch=epoch)
            for step in range(4):
                at = start + step * 2_000_000
                writer.call("dataloader", "fetch.iter", at, 500_000, epoch=epoch, step=step)
                writer.call("POSIX", "read", at + 100_000, 300_000, "/data/a.npz", ret=1 << 20)
                for thread in range(3):  # one and the same time, seen by three threads
                    writer.call("ai_framework", "TorchFramework.compute", at + 600_000, 1_300_000, tid=20 + thread)
        (where / f"{rank}.pfw").write_text(writer.text())
    answer = overlap(where)
    for rank in answer["ranks"]:
        assert (rank["compute_ns"], rank["io_ns"], rank["hidden_ns"]) == (8 * 1300 * 10**6, 8 * 300 * 10**6, 0), rank
        assert rank["data_ns"] == 8 * 500 * 10**6 and rank["data_io_ns"] == rank["io_ns"]
    epochs = [(e["rank"], e["number"], e["wall_ns"], e["compute_ns"], e["io_ns"], e["data_ns"]) for e in answer["epochs"]]
    assert epochs == [(r, n, 9_500 * 10**6, 5_200 * 10**6, 1_200 * 10**6, 2_000 * 10**6) for r in (0, 1) for n in (1, 2)], epochs
    text = dftmerge("overlap", "--by", "epoch", where).out.decode()
    assert "0 ns (0.0 %) hidden behind compute, 4.80 s (100.0 %) exposed" in text and "rank 1, epoch 2" in text, text
    assert "% hidden" in dftmerge("overlap", where).out.decode() and "% hidden" not in dftmerge("overlap", where / "0.pfw").out.decode()


def test_steps_and_their_numbers(where):
    """From an argument, from the name, else counted."""
    writer = Writer("1.0.8", rank=3)
    for i in range(3):
        writer.call("APP", "step", BASE + i * 1000, 900, step=10 + i, epoch=7)
        writer.call("COMPUTE", "f", BASE + i * 1000, 450 + i)
    for i in range(2):
        writer.call("APP", "epoch", BASE + i * 2000, 1500)
        writer.call("APP", f"epoch.{40 + i}", BASE + 10_000 + i * 2000, 1500)
    (where / "t.pfw").write_text(writer.text())
    answer = overlap(where)
    assert [(s["epoch"], s["number"], s["compute_ns"]) for s in answer["steps"]] == [(7, 10 + i, (450 + i) * 1000) for i in range(3)]
    assert [(e["name"], e["number"]) for e in answer["epochs"]] == [("epoch", 0), ("epoch", 1), ("epoch.40", 40), ("epoch.41", 41)]
    text = dftmerge("overlap", "--by", "step", where).out.decode()
    assert "step 12 of epoch 7" in text, text
    assert "--step names regions" in dftmerge("overlap", "--by", "step", "--step", "none", where).out.decode()


def test_many_steps_are_open(where):
    """Steps that overlap, more than any program has: each has the time between its start and its end."""
    writer = Writer("1.0.8", rank=0)
    for i in range(40):
        writer.call("APP", "step", BASE + i * 10, 1000, tid=300 + i, step=i)
    writer.call("COMPUTE", "f", BASE + 500, 100)
    (where / "t.pfw").write_text(writer.text())
    assert [(s["number"], s["compute_ns"], s["idle_ns"]) for s in overlap(where)["steps"]] == \
        [(i, 100_000, 900_000) for i in range(40)]


def test_estimates_from_aggregates(where):
    """What kept events, answered from its rows, is near what events say; and the same where only rows were kept."""
    for seed in (1, 2, 3):
        settings = {"processes": 4, "ranks": 1, "threads": 2, "interval_ms": 50, "events": 600, "seed": seed}
        path, rows = make(where / f"e{seed}", **settings), make(where / f"r{seed}", **settings, keep=0)
        exact, about, alone = overlap(path), overlap("--aggregates", path), overlap(rows)
        assert exact["exact"] and not about["exact"] and not alone["exact"]
        assert about["ranks"] == alone["ranks"] and about["steps"] == []
        for key in ("compute_ns", "io_ns", "hidden_ns", "exposed_ns"):
            assert abs(exact[key] - about[key]) <= 0.1 * exact["wall_ns"], (seed, key, exact[key], about[key])
        assert overlap("--threads", "3", rows, env={"DFTMERGE_WINDOW_EVENTS": "60"}) == alone
        assert b"I/O about " in dftmerge("overlap", rows).out


def test_clocks_decades_apart(where):
    """Aggregates of a run that began in 1970 and of one of today, asked together: each has the numbers it has alone."""
    old, new = (make(where / str(start), processes=2, ranks=1, keep=0, start=start, seed=start + 7) for start in (0, 1_700_000_000))
    both = where / "both"
    both.mkdir()
    for path in (old, new):
        for file in path.glob("*.dft"):
            (both / f"{path.name}-{file.name}").write_bytes(file.read_bytes())
    times = [[(r["rank"], r["compute_ns"], r["io_ns"], r["idle_ns"]) for r in overlap("--run", "all", p)["ranks"]]
             for p in (old, new, both)]
    assert sorted(times[0] + times[1]) == sorted(times[2]), times


def test_filters_choose_events_beside_rows(where):
    """Of a process that kept only events, beside one of rows alone, I/O is what the filter says."""
    make(where / "e", processes=1, ranks=1, rows=0, seed=5)
    make(where / "r", processes=1, ranks=1, keep=0, seed=6, start=1700000001)  # the second one
    whole = where / "both"
    whole.mkdir()
    for name in ("e", "r"):
        for path in (where / name).glob("*.dft"):
            (whole / f"{name}.dft").write_bytes(path.read_bytes())
    for words in (("--errors",), ("--size", "4K-64K"), ("--slower-than", "1ms"), ()):
        exact = overlap(*words, where / "e")["processes"][0]["io_ns"]
        about = overlap(*words, "--run", "all", whole)["processes"][0]["io_ns"]
        assert abs(exact - about) <= 0.1 * exact, (words, exact, about)


def test_ranks_of_dftmerge_say_the_same(where):
    if not DFTMERGE.with_name("dftmerge-mpi").exists() or run("sh", "-c", "command -v mpirun").code:
        pytest.skip("no mpirun, or no dftmerge-mpi")
    path = make(where / "t", processes=5, ranks=1, threads=2, events=300)
    for words in ((), ("--aggregates",)):
        one = dftmerge("overlap", "--json", *words, path).out
        many = run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", DFTMERGE.with_name("dftmerge-mpi"), "overlap", "--json",
                   *words, path)
        assert many.code == 0 and many.out == one, many.err


def test_wrong_words(where):
    path = make(where / "t", processes=1, events=30)
    assert "Did you mean process?" in dftmerge("overlap", "--by", "proces", path, expect=2).err
    assert "not a number of lines" in dftmerge("overlap", "--top", "0", path, expect=2).err
    assert dftmerge("overlap", "--compute", ",:,!,", path).code == 0
