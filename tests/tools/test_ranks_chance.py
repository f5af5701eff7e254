# SPDX-License-Identifier: MIT
"""dftmerge ranks on simulated jobs whose truth is known: of equal ranks nobody is blamed, however their bursts fall;
stragglers are found. The seeds are fixed. With DFT_FULL=1 more jobs."""

import json
import random
import re
import shutil

from tooltest import FULL, dftmerge

START = 1_700_000_000 * 10 ** 6  # us
RANKS = (8, 16, 64)
MANY = 10 if FULL else 1


def write_rank(where, rank, calls):
    """calls: (name, start, duration) in us. Four ranks share a host."""
    def meta(kind, name, value):
        return json.dumps({"name": kind, "cat": "dftracer", "pid": 100 + rank, "tid": 1, "ph": "M",
                           "args": {"hhash": 7, "name": name, "value": value}})
    lines = ["[", meta("HH", f"n{rank // 4}", 7), meta("FH", "/d/out", 5), meta("PR", "rank", str(rank))]
    for n, (name, at, took) in enumerate(calls):
        args = '"hhash":7,"fhash":5,"ret":0' if name == "stat" else '"hhash":7,"fhash":5,"ret":4096,"count":4096'
        lines.append(f'{{"id":{n},"name":"{name}","cat":"POSIX","pid":{100 + rank},"tid":1,"ts":{START + int(at)},'
                     f'"dur":{max(1, int(took))},"ph":"X","args":{{{args}}}}}')
    (where / f"{rank}.pfw").write_text("\n".join(lines) + "\n]")


def bursts_of(rng, kind, length):
    """Times [from, to) and how many times as long calls take then, of one rank, by chance."""
    if kind == "phase":
        at = rng.random() * 0.02 * length
        return [(0.2 * length + at, length, 0)]
    if kind == "tail":
        return []
    if kind == "many":
        starts = [rng.random() * length for _ in range(rng.randrange(8))]
        return [(at, at + rng.expovariate(1 / (0.03 * length)), rng.uniform(3, 20)) for at in starts]
    mean = {"short": 0.01, "long": 0.08, "few": 0.04}[kind] * length
    many = {"short": 12, "long": 4, "few": 2}[kind]
    return [(at, at + rng.expovariate(1 / mean), rng.uniform(3, 30))
            for at in (rng.random() * length for _ in range(sum(rng.random() < many / 40 for _ in range(40))))]


def make_job(where, ranks, seed, kind=None, calls=600, slow=(), more=None):
    """Equal ranks that write, read and stat in turn. slow: (rank, from, to, factor, names): shares of its calls. more:
    a rank that makes eight times the calls, without pauses."""
    rng = random.Random(seed)
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    usual = {"pwrite": 400, "pread": 300, "stat": 100}
    for rank in range(ranks):
        own, now = [], rng.random() * 5000
        bursts = bursts_of(rng, kind, calls * 800) if kind else []
        for n in range(calls * (8 if rank == more else 1)):
            name = ("pwrite", "pread", "stat")[n % 3]
            took = usual[name] * rng.lognormvariate(0, 0.3 if kind != "tail" else 1.3)
            took *= max((times or (rng.uniform(20, 60) if rng.random() < 0.1 else 1)
                         for begin, end, times in bursts if begin <= now < end), default=1)
            for who, begin, end, factor, names in slow:
                if who == rank and begin <= n / calls < end and name in names:
                    took *= factor
            own.append((name, now, took))
            now += took + (0 if rank == more else 500)
        write_rank(where, rank, own)


def first_line(where):
    text = dftmerge("ranks", "-q", "--no-index", where, env={"COLUMNS": "400"}).out.decode()
    return text.partition("\n")[0]


def findings(where):
    found = json.loads(dftmerge("findings", "--json", "-q", "--no-index", where).out)["findings"]
    return {f["code"]: f for f in found}


def test_equal_ranks(where):
    """Of 40 jobs of equal ranks at most 2 blame one."""
    blamed, jobs = [], 0
    for n in range(40 * MANY):
        kind = ("short", "long", "few", "phase", "tail")[n % 5]
        make_job(where / "job", RANKS[n % 3], 1000 + n, kind)
        told = first_line(where / "job")
        jobs += 1
        assert not {"straggler", "imbalance"} & set(findings(where / "job")), (n, kind)
        if not told.startswith("no rank"):
            blamed.append((n, kind, RANKS[n % 3], told))
    assert len(blamed) <= 2 * MANY, (len(blamed), jobs, blamed)


def test_the_last_one_is_alone(where):
    """The one with the most bursts ends last, and makes calls when no other does: that is no second sign of it."""
    blamed = []
    for n in range(30 * MANY):
        make_job(where / "job", (8, 16)[n % 2], 5000 + n, "many", calls=400)
        told = first_line(where / "job")
        blamed += [] if told.startswith("no rank") else [(n, told)]
    assert len(blamed) <= MANY, (len(blamed), blamed)


ALL = ("pwrite", "pread", "stat")


def test_stragglers(where):
    """Of 40 jobs with a real one, all are found: three times as slow, 1.5 times since the half, or in one kind of call
    only; among bursts."""
    missed = []
    for n in range(40 * MANY):
        ranks = RANKS[n % 3]
        who = random.Random(n).randrange(ranks)
        slow = ((who, 0, 1, 3, ALL), (who, 0.5, 1, 1.5, ALL), (who, 0, 1, 3, ("pwrite",)), (who, 0.3, 1, 3, ("stat",)))[n % 4]
        make_job(where / "job", ranks, 2000 + n, "short" if n % 8 == 4 else None, slow=[slow])
        told = first_line(where / "job")
        if not told.startswith(f"rank {who} of {ranks} "):
            missed.append((n, slow, ranks, told))
    assert not missed, (len(missed), missed)


def test_one_after_another(where):
    """A straggler that changes is told with both, and when."""
    make_job(where / "job", 8, 1, slow=[(2, 0.2, 0.5, 4, ALL), (5, 0.5, 0.9, 4, ALL)])
    told = first_line(where / "job")
    spans = re.match(r"rank 2 of 8 \(n0\) is slow from \+0\.(\d+) s to \+0\.(\d+) s, then rank 5 \(n1\) from \+0\.(\d+) s to \+0\.(\d+) s in p", told)
    assert spans, told
    for known, wanted in zip(map(int, spans.groups()), (97, 399, 243, 651)):
        assert abs(known - wanted) < 25, told
    make_job(where / "job", 8, 1, slow=[(2, 0.2, 0.5, 6, ALL), (5, 0.5, 0.9, 6, ALL)])
    found = findings(where / "job")["straggler"]
    assert (found["rank"], found["title"]) == (5, "rank 2 is slow, then rank 5"), found
    assert re.search(r"; before, rank 2 was slow from \+\d+(\.\d+)? ms to \+\d+(\.\d+)? ms: ", found["evidence"]), found
    make_job(where / "job", 8, 1, slow=[(5, 0.5, 0.9, 6, ALL)])
    assert findings(where / "job")["straggler"]["title"] == "rank 5 is slow"


def test_a_slow_host(where):
    """All ranks of a host together are not too many to be blamed."""
    make_job(where / "job", 16, 1, slow=[(rank, 0.3, 1, 4, ALL) for rank in range(8, 12)])
    told = first_line(where / "job")
    assert re.match(r"rank (8|9|10|11) of 16 \(n2\) is slow since .*, and 1 more, all that run on the same hosts in p", told), told


def test_all_slow_down(where):
    """What all lose is nobody's, and told as such; so is what all lose while one has more to lose."""
    make_job(where / "job", 8, 1, slow=[(rank, 0.5, 1, 5, ALL) for rank in range(8)])
    told = first_line(where / "job")
    assert re.match(r"no rank of 8 stands out: all ranks slowed down in p\w+ since \+0\.2\d+ s$", told), told
    make_job(where / "job", 8, 1, slow=[(rank, 0.5, 1, 5 if rank != 3 else 15, ALL) for rank in range(8)])
    told = first_line(where / "job")
    best = re.search(r", without that (\d+) ms at best$", told)
    assert told.startswith("rank 3 of 8 (n0) is slow ") and (not best or int(best[1]) > 700), told  # what all lost stays


def test_two_ranks(where):
    """Of two the slower one is named, but only where it is slower again and again."""
    make_job(where / "job", 2, 1, slow=[(1, 0.3, 1, 3, ALL)])
    assert first_line(where / "job").startswith("rank 1 of 2 (n0) is slow since +"), first_line(where / "job")
    blamed = []
    for n in range(20):
        make_job(where / "job", 2, 3000 + n, ("short", "long", "few", "phase", "tail")[n % 5])
        told = first_line(where / "job")
        blamed += [] if told.startswith("no rank") else [(n, told)]
    assert len(blamed) <= 1, blamed


def test_different_work(where):
    """A rank with eight times the calls loses eight times as much by chance. That is no fault of it."""
    for n in range(4):
        make_job(where / "job", 8, 4000 + n, "tail", more=3)
        told = first_line(where / "job")
        assert not re.match(r"rank \d+ of 8 \(n\d\) is slow since .* a call against", told), told
