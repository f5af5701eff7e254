# SPDX-License-Identifier: MIT
"""Two runs of real programs, compared: one that moves more, one with more calls, one without some, one unchanged."""

import json
import re

from tracing import compile_program, dftmerge, dump, environment, equal, run, tracing, true


def trace(directory, name, ranks, *arguments, **settings):
    """Runs the program once for each rank (None: one process without), in a directory of the run's own."""
    program = directory / "checkpoints"
    if not program.exists():
        compile_program("checkpoints.c", program)
    work = directory / name / "scratch"
    for rank in range(ranks) if ranks else [None]:
        own = work if rank is None else work / f"rank{rank}"
        own.mkdir(parents=True)
        more = dict(settings) if rank is None else {"RANK": rank, "WORLD_SIZE": ranks, **settings}
        done = run([program, own, *arguments], env=tracing(directory / name / "out" / "t", **more))
        equal(done.code, 0, f"exit code of {name}")
    return directory / name / "out"


def compare(*arguments):
    done = dftmerge("compare", "--json", *arguments)
    true(done.code in (0, 1), done.err)
    return done.code, json.loads(done.out)


def line(answer, table, **key):
    found = [one for one in answer[table] if all(one[k] == v for k, v in key.items())]
    equal(len(found), 1, f"lines of {table} with {key}")
    return found[0]


def test_larger(directory):
    """Each write moves two thousand times as much, in one process and in nine ranks. How much longer that takes is the machine's business:
    of times no more is asked than that they are those of the events (made ones are compared in tests/tools/test_compare.py)."""
    for ranks in (None, 9):
        a = trace(directory, f"little{ranks}", ranks, 24, 512)
        b = trace(directory, f"much{ranks}", ranks, 24, 1 << 20)
        code, answer = compare("--fail-over", "50%", "--metric", "bytes", "--name", "p*,open,close", a, b)
        write = line(answer, "calls", name="pwrite")
        equal((code, write["count"]["spread"], write["bytes"]["spread"]), (1, "same", "beyond"), "more bytes")
        equal((write["bytes"]["a"], write["bytes"]["b"]), (24 * 20 * 512 * (ranks or 1), (24 * 20 << 20) * (ranks or 1)), "bytes")
        took = [sum(e["dur"] for e in dump(part) if e["name"] == "pwrite") for part in (a, b)]
        equal([write["time_ns"]["a"], write["time_ns"]["b"]], took, "times")
        true(any(w.get("name") == "pwrite" for w in answer["worse"]), "pwrite is worse")
        pattern = ".../scratch/ckpt-#.bin" if ranks is None else ".../scratch/rank#/ckpt-#.bin"
        ours = line(answer, "files", pattern=pattern)
        equal((ours["count"]["a"], ours["count"]["b"]), (24 * 23 * (ranks or 1),) * 2, "calls on checkpoints")
        equal(compare("--fail-over", "50%", "--metric", "bytes", "--name", "pwrite", b, a)[0], 0, "less is not worse")
        text = dftmerge("compare", a, b).out.decode()
        true(pattern in text and "(2,048x)" in text, text)


def test_another_call(directory):
    """A call that the other does not make, with its count, in both directions."""
    a = trace(directory, "plain", 2, 10, 512)
    b = trace(directory, "stat", 2, 10, 512, "stat", "sync")
    code, answer = compare("--fail-over", "0", "--metric", "count", a, b)
    sync = line(answer, "calls", name="fsync")
    equal((code, sync["count"]["a"], sync["count"]["b"], sync["count"]["spread"]), (1, 0, 20, "beyond"), "fsync")
    equal(sum(one["count"]["b"] - one["count"]["a"] for one in answer["ranks"]), 40, "of ranks, together or, as times differ, apart")
    true("only in B: " in dftmerge("compare", a, b).out.decode(), "said")
    code, answer = compare("--fail-over", "0", "--metric", "count", b, a)
    equal((code, answer["worse"]), (0, []), "less is not worse")
    true("only in A: " in dftmerge("compare", b, a).out.decode(), "said")


def test_missing_calls(directory):
    a = trace(directory, "reads", None, 10, 512)
    b = trace(directory, "noreads", None, 10, 512, "noread")
    answer = compare(a, b)[1]
    read = line(answer, "calls", name="pread")
    equal((read["count"]["a"], read["count"]["b"], read["bytes"]["a"], read["time_p50_ns"]["b"]), (10, 0, 5120, None), "pread")
    equal(answer["total"][0]["count"]["a"] - answer["total"][0]["count"]["b"], 10, "calls")


def test_aggregates_against_events(directory):
    """The same program twice, once without events: the same calls and files; what one side cannot know is unknown."""
    a = trace(directory, "rows", 3, 10, 4096, ENABLE_AGGREGATION=1)
    b = trace(directory, "full", 3, 10, 4096)
    for one, other, who in ((a, b, "A"), (b, a, "B")):
        answer = compare(one, other)[1]
        equal({line[m]["spread"] for t in ("total", "calls", "files", "ranks") for line in answer[t] for m in ("count", "bytes")},
              {"same"}, "counts and bytes")
        true(answer["not_compared"].endswith(f"of processes of {who}"), answer["not_compared"])
        text = " ".join(dftmerge("compare", one, other).out.decode().split())
        true(answer["not_compared"] in text and not {"new", "gone", "beyond"} & set(text.split()), text)


def test_unchanged(directory):
    """The same program twice: calls, bytes and files are the same, whatever its times were; itself: nothing differs."""
    a, b = (trace(directory, name, 3, 10, 4096) for name in ("one", "two"))
    for metric in ("count", "bytes"):
        code, answer = compare("--fail-over", "0", "--metric", metric, a, b)
        equal((code, answer["worse"]), (0, []), metric)
    for table in ("total", "calls", "files", "ranks"):
        equal({one[m]["spread"] for one in answer[table] for m in ("count", "bytes")}, {"same"}, table)
    equal((compare("--fail-over", "0", a, a)[0], compare(a, a)[1]["same"]), (0, True), "itself")


def ranks_job(directory, name, ranks, slow):
    """Ranks that write side by side; `slow`: the rank whose writes take 5 ms more from 0.2 s on, or -1."""
    program, library = directory / "rank_writes", directory / "slow_writes.so"
    if not program.exists():
        compile_program("rank_writes.c", program)
        compile_program("slow_writes.c", library, "-shared", "-fPIC", "-ldl")
    (directory / name / "work").mkdir(parents=True)
    env = tracing(directory / name / "out" / "t")
    env.update(LD_PRELOAD=f"{env['LD_PRELOAD']}:{library}", SLOW_AT="0.2", SLOW_MS="5")
    done = run([program, directory / name / "work", ranks, 400, slow], env=env)
    equal(done.code, 0, f"exit code of {name}")
    return directory / name / "out"


def test_one_slow_rank(directory):
    """One rank of few whose writes are slow since a time is named, with what a call costs, by `ranks` and by
    `compare`."""
    for count, slow, sure in ((2, 1, "medium"), (3, 0, "high"), (4, 2, "high")):
        good, bad = (ranks_job(directory, f"{name}{count}", count, rank) for name, rank in (("good", -1), ("bad", slow)))
        text = " ".join(dftmerge("ranks", bad).out.decode().split())
        found = re.match(rf"rank {slow} of {count} \(\S+\) is slow since \+(\d\.\d+) s in write below (\S+): ([\d.]+) ms a call against "
                         r"[\d.]+ [nu]s; the job ran [\d.]+ s, without that [\d.]+ (ms|s) at best evidence ", text)
        true(found and 0.15 < float(found[1]) < 1 and 4 < float(found[3]) < 50 and found[2].endswith(f"bad{count}/work"), text)
        true(f"how sure {sure}: " in text, text)
        text = " ".join(dftmerge("compare", good, bad, env=environment(COLUMNS="400")).out.decode().split())
        true(re.match(rf"B takes \d+x as long as A in I/O: .* in write of \S+: \S+ \S+; rank {slow} of {count} alone(?: since about "
                      r"\+\d\.\d+ s)?: [\d.]+ ms a call against [\d.]+ [nu]s in A; the job ran [\d.]+ s instead of [\d.]+ (ms|s) evidence as many "
                      r"calls, and as many bytes how sure medium: ", text), text)
        true("none stands out" not in text and "with one run a side nothing is known about the spread between runs" in text, text)
        healthy = dftmerge("ranks", good).out.decode()
        true("is slow since" not in healthy or "how sure  low" in healthy, healthy)


def test_other_programs(directory):
    """Runs of different programs are compared, and it is said that they are different."""
    a = trace(directory, "checkpoints_", 2, 5, 512)
    b = ranks_job(directory, "writes", 2, -1)
    text = " ".join(dftmerge("compare", a, b).out.decode().split())
    true("these are different programs: A is checkpoints, run 1 of B is rank_writes" in text, text)
    true("different programs" not in dftmerge("compare", a, a).out.decode(), "the same one")
