# SPDX-License-Identifier: MIT
"""Findings about computing and waiting: each has a program that plants the trouble, and one beside it that must stay
silent. What they say is recomputed from the dump. DLIO's own trace has known figures: where it lies here, they
hold."""

import collections
import json
import pathlib
import subprocess

import pytest

from told import told_once
from tracing import DFTMERGE, LIBRARY, ROOT, SECONDS, dump, equal, need, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
OURS = ("trainer-waits", "slow-worker", "exposed-io", "idle-gaps", "serial-phase")
IO = ("read", "write", "sync", "meta", "startup")


def compiled(directory, name, *flags):
    need("gcc")
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-I", ROOT / "include", "-o", directory / name, HERE / "programs" / f"{name}.c",
                 "-lpthread", *flags])
    return directory / name


def findings(path, *options):
    answer = told_once(path, json.loads(run_checked([DFTMERGE, "findings", "--json", *options, path]).out))
    return {f["code"]: f for f in answer["findings"] if f["code"] in OURS}


def without(directory, *codes):
    """Options that leave out kinds of findings, which would have the time of the others."""
    path = directory / "without"
    path.write_text("".join(f"{code} = off\n" for code in codes))
    return "--rules", path


def make_items(directory, count, item_bytes):
    """Before the program runs: what it does itself would be I/O of the trainer."""
    (directory / "data").mkdir()
    for i in range(count):
        (directory / "data" / f"item_{i:04}.npy").write_bytes(bytes(item_bytes))


def loader(directory, compute_us, load_us, slow_us, reads=1, workers=4, items=60, words=(), item_bytes=48 << 10):
    """Runs trainer and workers; the findings, and all events."""
    program = compiled(directory, "loader")
    make_items(directory, items, item_bytes)
    arguments = [directory / "data", workers, items, compute_us, load_us, slow_us, reads, *words]
    run_checked([program, *arguments], env=tracing(directory / "traces/t"))
    return findings(directory / "traces"), dump(directory / "traces")


def phases(directory, *of_ranks, ranked=True):
    """Ranks side by side, each with its phases. To make data durable takes longer than to write them, whatever the
    disk."""
    program, slow = compiled(directory, "phases"), compiled(directory, "slow_calls", "-shared", "-fPIC", "-ldl")
    processes = []
    for rank, list_of in enumerate(of_ranks):
        env = tracing(directory / "traces/t")
        env.update(LD_PRELOAD=f"{LIBRARY}:{slow}", SLOW_SYNC_US="20000")
        if ranked:
            env.update(OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE=str(len(of_ranks)), PMIX_NAMESPACE="job")
        processes.append(subprocess.Popen([program, directory / f"out{rank}", *list_of.split()], env=env))
    equal([process.wait(SECONDS) for process in processes], [0] * len(of_ranks), "exit codes")
    return findings(directory / "traces"), dump(directory / "traces")


# --- an independent reading of the dump -----------------------------------------------------------


def spans_of(events, wanted):
    return sorted((e["ts"], e["ts"] + e["dur"]) for e in events if "phase" not in e and not e.get("open") and wanted(e))


def union_ns(*lists):
    total = end = 0
    for first, last in sorted(s for spans in lists for s in spans):
        total += max(0, last - max(end, first))
        end = max(end, last)
    return total


def common_ns(a, b):
    return union_ns(a) + union_ns(b) - union_ns(a, b)


def is_io(event):
    return event.get("class") in IO


def named(*names):
    return lambda e: e["class"] == "none" and e["name"] in names


# --- the trainer and its workers ------------------------------------------------------------------


def test_the_trainer_waits_for_slow_work(directory):
    """Workers take as long as they compute: more of them would help, a faster file system would not."""
    found, events = loader(directory, compute_us=500, load_us=4000, slow_us=4000, workers=2)
    waits = found["trainer-waits"]
    want = union_ns(spans_of(events, named("wait for data")))
    equal(waits["cost_ns"], want, "time of waiting")
    items, io = spans_of(events, named("__getitem__")), spans_of(events, is_io)
    workers = collections.defaultdict(list)
    for e in events:
        workers[e["pid"]].append(e)
    trainer = next(e["pid"] for e in events if e["name"] == "wait for data")
    share = sum(common_ns(spans_of(of, named("__getitem__")), spans_of(of, is_io)) for pid, of in workers.items() if pid != trainer)
    share /= sum(union_ns(spans_of(of, named("__getitem__"))) for pid, of in workers.items() if pid != trainer)
    true(items and io and share < 0.5, "the workers were mostly in I/O")
    true("Not the file system" in waits["evidence"] and f"({100 * share:.1f} %)" in waits["evidence"], waits["evidence"])
    true('in "wait for data"' in waits["evidence"] and "more loader workers" in waits["advice"], waits)
    equal(waits["sure"], "high", "sure")
    true("idle-gaps" not in found and "slow-worker" not in found, found)


def test_the_trainer_waits_for_files(directory):
    """Workers do nothing but read: it is the file system."""
    found, _ = loader(directory, compute_us=0, load_us=0, slow_us=0, reads=100, workers=1)
    true("The file system: workers were in I/O" in found["trainer-waits"]["evidence"], found)
    true("Read ahead" in found["trainer-waits"]["advice"], found)


def test_the_trainer_waits_and_no_region_says_so(directory):
    """It does nothing while its workers load."""
    found, events = loader(directory, compute_us=500, load_us=4000, slow_us=4000, workers=2, words=["quiet"])
    waits = found["trainer-waits"]
    trainer = next(e["pid"] for e in events if e["name"] == "epoch")
    busy = spans_of(events, lambda e: e["pid"] == trainer and (is_io(e) or e["cat"] == "COMPUTE"))
    loading = spans_of(events, lambda e: e["name"] == "__getitem__")
    equal(waits["cost_ns"], union_ns(loading) - common_ns(loading, busy), "time of waiting")
    true("neither computes nor is in I/O while workers load items" in waits["evidence"], waits)
    equal(waits["sure"], "medium", "sure")


def test_a_loader_that_keeps_up_is_silent(directory):
    found, events = loader(directory, compute_us=8000, load_us=2000, slow_us=2000)
    true("slow-worker" not in found and "exposed-io" not in found and "idle-gaps" not in found, found)
    wait, wall = union_ns(spans_of(events, named("wait for data"))), union_ns(spans_of(events, named("epoch")))
    true(wait * 10 < wall and "trainer-waits" not in found, (wait, wall, found))


def test_one_loader_worker_is_slow(directory):
    found, events = loader(directory, compute_us=500, load_us=500, slow_us=20000)
    slow = found["slow-worker"]
    true("worker 3" in slow["evidence"] and "its self time, not I/O" in slow["evidence"], slow)
    items = collections.Counter()
    for e in events:
        items[e["pid"]] += e["dur"] if e["name"] == "__getitem__" else 0
    workers = sorted(items.values())[-2:]  # the slow one of each epoch
    true(f"over {2 * 60 // 4} items" in slow["evidence"], slow)
    true(slow["cost_ns"] <= sum(workers), slow)
    true("Mend the loader worker that is slow first" in found["trainer-waits"]["advice"], found)
    quiet = directory / "off"
    quiet.write_text("slow-worker.times = 1000\n")
    true("slow-worker" not in findings(directory / "traces", "--rules", quiet), "a limit that nothing passes")


def test_workers_that_start_late_in_each_epoch(directory):
    """Most of the waiting is for the first items: workers should stay."""
    found, events = loader(directory, compute_us=1000, load_us=500, slow_us=500, words=["late"])
    firsts = [e for e in events if e["name"] == "step" and e["args"]["step"] == 0]
    waits = spans_of(events, named("wait for data"))
    in_firsts = common_ns(waits, spans_of(firsts, lambda e: True))
    equal(len(firsts), 2, "epochs")
    true(2 * in_firsts > union_ns(waits), "the first steps waited too little")
    evidence = found["trainer-waits"]["evidence"]
    true(" of the waiting is in the first steps of 2 epochs" in evidence, evidence)
    true("persistent_workers=True" in found["trainer-waits"]["advice"], found)


def test_one_loader_worker_reads_more(directory):
    found, _ = loader(directory, compute_us=100, load_us=0, slow_us=40, item_bytes=4 << 20)
    true("its I/O, not its own work" in found["slow-worker"]["evidence"], found)


def test_no_worker_of_equal_ones_is_slow(directory):
    found, _ = loader(directory, compute_us=500, load_us=3000, slow_us=3000)
    true("slow-worker" not in found, found)


def test_fewer_items_than_the_limit_say_nothing(directory):
    found, _ = loader(directory, compute_us=500, load_us=500, slow_us=20000, items=16)
    true("slow-worker" not in found and "trainer-waits" in found, found)  # 4 items a worker and epoch


# --- compute and I/O ------------------------------------------------------------------------------


def test_io_in_the_way_of_compute(directory):
    found, events = phases(directory, "c100 w200 c100 w200", ranked=False)
    true("exposed-io" not in found, "the time of each fsync is told twice")
    fsync = json.loads(run_checked([DFTMERGE, "findings", "--json", directory / "traces"]).out)["findings"][0]
    true(fsync["code"] == "fsync" and fsync["evidence"].endswith("; 0.0 % of the I/O is hidden behind compute"), fsync)
    found = findings(directory / "traces", *without(directory, "fsync"))
    io, compute = spans_of(events, is_io), spans_of(events, named("solve"))
    equal(found["exposed-io"]["cost_ns"], union_ns(io) - common_ns(io, compute), "exposed")
    true("0.0 % of the I/O is hidden" in found["exposed-io"]["evidence"], found)
    equal(found["exposed-io"]["sure"], "high", "sure")


def test_io_behind_compute_is_silent(directory):
    found, events = phases(directory, "c100 b200 c100 b200", ranked=False)
    io, compute = spans_of(events, is_io), spans_of(events, named("solve"))
    true(common_ns(io, compute) * 10 > 9 * union_ns(io), "the I/O was not behind compute")
    equal(found, {}, "findings")


# --- idle and serial ------------------------------------------------------------------------------


def test_idle_gaps(directory):
    found, events = phases(directory, "c100 s400 c100", "c100 s400 c100")
    gap = found["idle-gaps"]
    busy = sorted(spans_of(events, named("solve")) + spans_of(events, is_io))
    true(gap["cost_ns"] >= 200 * 10**6 and "no process computes or is in I/O" in gap["evidence"], gap)
    end = longest = 0
    for first, last in busy:
        longest = max(longest, first - end if end else 0)
        end = max(end, last)
    equal(gap["to_ns"] - gap["from_ns"], longest, "the longest gap")
    true("serial-phase" not in found, found)


def test_work_that_no_region_names_is_not_idle(directory):
    found, _ = phases(directory, "c20 n400 c20", ranked=False)
    equal(found, {}, "findings")


def test_one_rank_works_and_others_wait(directory):
    found, events = phases(directory, "c500 c100", "s500 c100", "s500 c100")
    serial = found["serial-phase"]
    equal(serial["rank"], 0, "rank")
    true(serial["evidence"].startswith("rank 0 alone computes or is in I/O in "), serial)
    mine, others = ([s for e in (events,) for s in spans_of(e, lambda x: (x["rank"] == 0) == own and (is_io(x) or x["name"] == "solve"))]
                    for own in (True, False))
    alone = union_ns(mine) - common_ns(mine, others)
    true(serial["cost_ns"] <= alone and serial["cost_ns"] >= alone // 2, (serial, alone))


def test_one_rank_writes_and_others_wait(directory):
    """Its time is that of each fsync; the rank is named there. Without that finding it is the rank's, and then the
    phase's."""
    phases(directory, "w500 c100", "s500 c100", "s500 c100")
    answer = json.loads(run_checked([DFTMERGE, "findings", "--json", directory / "traces"]).out)
    told_once(directory / "traces", answer)
    equal([f["code"] for f in answer["findings"] if f["code"] in ("fsync", "imbalance", "exposed-io", "serial-phase")], ["fsync"], "kinds")
    fsync = next(f for f in answer["findings"] if f["code"] == "fsync")
    true(fsync["rank"] == 0 and "; rank 0: " in fsync["evidence"] and "a rank in the middle: 0 ns" in fsync["evidence"], fsync)
    found = findings(directory / "traces", *without(directory, "fsync"))
    true("exposed-io" not in found and "serial-phase" not in found, found)
    found = findings(directory / "traces", *without(directory, "fsync", "imbalance", "exposed-io"))
    equal((found["serial-phase"]["rank"], len(found)), (0, 1), "the phase")


def test_ranks_that_work_together_are_silent(directory):
    found, _ = phases(directory, "c600", "c600", "c600")
    equal(found, {}, "findings")


def test_programs_without_regions_are_silent(directory):
    """Nobody knows what they compute."""
    run_checked(["sh", "-c", f"dd if=/dev/zero of={directory}/x bs=64k count=500 2>/dev/null; sleep 0.3"],
                env=tracing(directory / "traces/t"))
    equal(findings(directory / "traces"), {}, "findings")


def test_aggregates_say_about_the_same(directory):
    program = compiled(directory, "loader")
    make_items(directory, 60, 48 << 10)
    run_checked([program, directory / "data", 2, 60, 500, 4000, 4000, 1], env=tracing(directory / "traces/t", ENABLE_AGGREGATION=1))
    waits = findings(directory / "traces")["trainer-waits"]
    true(waits["evidence"].startswith("about ") and "Not the file system" in waits["evidence"], waits)
    equal(waits["sure"], "medium", "sure")


# --- data that others measured --------------------------------------------------------------------


def test_figures_of_dlio(directory):
    """8 ranks; 34.04 s of compute each, and no I/O of the same process meanwhile."""
    path = ROOT.parent / "shared" / "data" / "dftracer" / "dlio"
    if not path.is_dir():
        pytest.skip(f"there is no {path}")
    done = run_checked([DFTMERGE, "overlap", "--json", "--no-index", path])
    answer = json.loads(done.out)
    equal(len(answer["ranks"]), 8, "ranks")
    for process in answer["processes"]:
        equal(process["hidden_ns"] * 1000 // max(1, process["io_ns"]), 0, f"per mille hidden in process {process['pid']}")
    for rank in answer["ranks"]:
        equal(round(rank["compute_ns"] / 1e9, 1), 34.0, f"seconds of compute of rank {rank['rank']}")
