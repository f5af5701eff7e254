# SPDX-License-Identifier: MIT
"""dftmerge ranks on traces of jobs whose troubles are known (make_ranks): the first cause, when it began and where; and what is
counted, against the events one by one. With DFT_FULL=1 also large jobs."""

import collections
import json
import random
import re
import resource

from tooltest import BUILD, DFTMERGE, FULL, dftmerge, dump, make, run

MAKE = BUILD / "bin" / "make_ranks"
START = 1_700_000_000 * 10 ** 9
SECOND = 10 ** 9
META, READ, WRITE = {"fstat", "openat"}, {"read"}, {"write"}


def make_ranks(where, **settings):
    done = run(MAKE, where, *(f"{k.rstrip('_')}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    return where


def ranks(where, *options, expect=0):
    return json.loads(dftmerge("ranks", "--json", *options, where, expect=expect).out)


def first(answer, measure):
    return answer["first_cause"][measure]


def seconds(ns):
    return (ns - START) / SECOND


def test_totals_are_those_of_the_events(where):
    for rows in (0, 1):
        make_ranks(where / str(rows), ranks=6, hosts=2, seconds=40, slow=4, more=2, skip=3, rows=rows)
        answer, events = ranks(where / str(rows)), dump(where / str(rows))
        assert answer["source"] == ("buckets" if rows else "events")
        assert (answer["world_size"], answer["participating"], answer["missing_ranks"]) == (6, 5, [3])
        for rank in answer["ranks"]:
            own = [e for e in events if e["rank"] == rank["rank"]]
            io = [e for e in own if e["name"] != "barrier"]
            assert rank["io_ns"] == sum(e["dur"] for e in io)
            for key, names in (("metadata_ns", META), ("read_ns", READ), ("write_ns", WRITE)):
                assert rank[key] == sum(e["dur"] for e in io if e["name"] in names), key
            assert rank["bytes"] == sum(e["bytes"] for e in io if e["name"] in READ | WRITE)
            assert abs(rank["first_event_ns"] - min(e["ts"] for e in own)) < 1000  # corrected by the clocks' 300 ns
        times = collections.defaultdict(lambda: collections.Counter())
        for e in events:
            times[e["name"]][e["rank"]] += e["dur"]
        assert {c["name"] for c in answer["imbalance"]} == set(times)
        for call in answer["imbalance"]:
            of = times[call["name"]]
            assert (call["time_ns"], call["ranks"]) == (sum(of.values()), len(of))
            assert abs(call["mean_ns"] - sum(of.values()) / 5) < 1e-3 and call["max_ns"] == max(of.values())
            wanted = sorted(of.items(), key=lambda item: (-item[1], item[0]))[:3]
            assert [(s["rank"], s["time_ns"]) for s in call["slowest"]] == wanted
        gains = [c["max_ns"] - c["mean_ns"] for c in answer["imbalance"]]
        assert gains == sorted(gains, reverse=True)


def test_the_slow_rank_is_found(where):
    """Of any job, with any seed: who, when, in what, where, how long before the others. (Half of each second is a barrier.)"""
    rng = random.Random(4)
    for n in range(300 if FULL else 14):
        count = rng.choice([2, 3, 5, 8, 17, 40])
        slow, at, call = rng.randrange(count), rng.randrange(18, 30), rng.choice([1, 2, 3])
        others = at + rng.randrange(5, 15) if rng.random() < 0.4 else 0
        rows = rng.randrange(2)
        what = dict(ranks=count, seconds=60, slow=slow, at=at, call=call, others=others, seed=n, rows=rows,
                    factor=rng.choice([20, 100]))
        answer = ranks(make_ranks(where / str(n), **what))
        measure = "metadata" if call == 1 else "latency"
        if count == 2 and others and answer["first"] is None:
            continue  # of two that were both slow for a while chance may be the one that came first
        assert answer["first"] == measure, (what, answer["first"])
        found = first(answer, measure)
        suspect = found["first_cause_suspects"][0]
        step = answer["bucket_ns"] / SECOND
        assert suspect["rank"] == slow and abs(seconds(suspect["aligned_first_spike_timestamp_ns"]) - at) < 2 * step + 0.6, \
            (what, suspect)
        if others:
            assert abs(suspect["lead_over_cluster_onset_ns"] / SECOND - (others - at)) < 3 * step + 0.6, (what, suspect)
        else:
            assert found["candidates"] == 1, (what, found)
            slowest = answer["slow_ranks"][0]
            assert slowest["rank"] == slow and abs(seconds(slowest["since_ns"]) - at) < 6, (what, slowest)  # chance blurs it
        assert suspect["confidence"] == ("high" if count > 2 else "medium"), (what, suspect)
        place = found["where"]
        assert place["name"] == ["", "openat", "read", "write"][call] and place["times_usual"] > 5, (what, place)
        assert place["directory"] == f"/scratch/job/r{slow}" and place["share"] == 1, (what, place)


def test_nobody_is_blamed_without_cause(where):
    for n in range(8):
        answer = ranks(make_ranks(where / str(n), ranks=(3, 30)[n % 2], seconds=60, rate=(3, 20)[n // 4], seed=100 + n, rows=n // 2 % 2))
        assert answer["first"] is None and answer["slow_ranks"] == [] and answer["stragglers"] == [], n
        assert all(first(answer, m)["first_cause_suspects"] == [] for m in ("latency", "metadata", "bytes")), n
        for call in answer["imbalance"]:
            assert not any(s["lags"] or s["since_ns"] or s["until_ns"] for s in call["slowest"]), (n, call)
    text = dftmerge("ranks", where / "1").out.decode()
    assert re.match(r"no rank of 30 stands out: none slowed down, or moved more, by itself\nevidence  the slowest, rank \d+, spent .* in I/O, "
                    r"1\.\dx the median of .*\nhow sure  what is less than \d\.\dx the usual, ", text), text
    for n, settings in enumerate((dict(ranks=100, seconds=60, seed=519), dict(ranks=30, seconds=40, seed=542))):
        # Four calls a bucket, of which one in a hundred takes ten times as long: often enough three of five buckets stick out.
        answer = ranks(make_ranks(where / f"few{n}", hosts=2, rows=0, **settings))
        assert answer["first"] is None and not any(s["lags"] for c in answer["imbalance"] for s in c["slowest"]), answer["first"]
    # All at once is nobody's doing either.
    answer = ranks(make_ranks(where / "all", ranks=8, seconds=60, slow=99, others=30))
    assert answer["first"] is None, answer["first_cause"]
    found = first(answer, "metadata")
    assert found["blamed"] == [] and abs(seconds(found["all_slow"]["since_ns"]) - 30) < 1.5 and not found["all_slow"]["until_ns"], found
    text = dftmerge("ranks", where / "all").out.decode()
    assert text.startswith("no rank of 8 stands out: all ranks slowed down in openat since +30.0 s\nevidence  each lost "), text


def a_job(rng, where):
    """A job by chance: what it is, who is blamed (or None) and the answer about that one."""
    count, seconds_, healthy = rng.choice([2, 4, 16]), rng.choice([10, 20, 40]), rng.random() < 0.4
    what = dict(ranks=count, seconds=seconds_, rate=rng.choice([3, 20]), rows=rng.randrange(2), noise=rng.choice([0, 1, 2]),
                seed=rng.randrange(1, 10 ** 6), unranked=rng.randrange(2), interval_ms=rng.choice([100, 1000]))
    if not healthy:
        at = rng.choice([0, seconds_ // 3, seconds_ // 2])
        what.update(slow=rng.randrange(count), at=at, call=rng.choice([1, 2, 3]), factor=rng.choice([2, 5, 20, 92, 100]))
        what.update(rng.choice([{}, {}, {"for_": seconds_ // 4}, {"others": at + seconds_ // 4}]))
    answer = ranks(make_ranks(where, **what), "--no-index")
    if answer["first"] is None:
        return what, None, None
    suspect = first(answer, answer["first"])["first_cause_suspects"][0]
    return what, suspect["pid"] - 1000, suspect


def test_confidence(where):
    """Of answers with "high" 95 of 100 are right, in healthy jobs there is none, and who is far slower to the end is found with it."""
    rng, high, right, plain, found = random.Random(11), 0, 0, 0, 0
    for n in range(6000 if FULL else 300):
        what, who, suspect = a_job(rng, where / str(n))
        is_right = who is not None and who == what.get("slow")
        if suspect:
            assert suspect["confidence_reason"], suspect
            assert what["ranks"] > 2 or suspect["confidence"] != "high", (what, suspect)
        if suspect and suspect["confidence"] == "high":
            assert "slow" in what or what["noise"] > 1 and FULL, (what, suspect)
            high, right = high + 1, right + is_right
        if what.get("factor", 0) >= 92 and not {"for_", "others"} & set(what):
            sure = is_right and suspect["confidence"] == ("high" if what["ranks"] > 2 else "medium")
            assert sure or what["noise"] > 1, (what, suspect)  # a burst of another rank may come before
            assert not sure or what["ranks"] > 2 or suspect["confidence_reason"].startswith("only two: "), suspect
            plain, found = plain + 1, found + sure
    assert high > 30 and right >= 0.95 * high and plain > 20 and found >= 0.9 * plain, (high, right, plain, found)


def test_why_it_is_sure(where):
    """The reason is told, on the page and in JSON; and what keeps it from being sure."""
    for name, settings, sure, words in (
            ("sure", {}, "high", r"^\d+ times the usual in (\d+) of \1 buckets, no other rank above 1\.\d$"),
            ("two", dict(ranks=2, slow=1), "medium", r"^only two: no third says which is unusual; \d+ times the usual in "),
            ("missing", dict(skip=1), "medium", r"^ranks are missing, and one of these may have been first; "),
            ("short", dict(at=20, for_=3), "low", r"^\d+ times the usual in \d+ of \d+ buckets \(of \d+ in all\), "),
            ("over", dict(at=20, for_=6, others=40), "low", r"^as usual again when the next one began; ")):
        here = make_ranks(where / name, **{**dict(ranks=4, seconds=60, slow=2, at=0, factor=92, call=2), **settings})
        suspect = first(ranks(here), "latency")["first_cause_suspects"][0]
        assert suspect["confidence"] == sure and re.match(words, suspect["confidence_reason"]), (name, suspect)
        text = dftmerge("ranks", here, env={"COLUMNS": "300"}).out.decode()
        assert f"\nhow sure  {sure}: {suspect['confidence_reason']}\n" in text, text
    other = first(ranks(make_ranks(where / "second", ranks=4, seconds=60, slow=2, at=10, others=30, call=2)), "latency")
    assert {s["confidence_reason"] for s in other["first_cause_suspects"][1:]} == {"another one was first"}


def test_one_call_that_hangs_is_seen_all_the_time_it_takes(where):
    for rows in (0, 1):
        answer = ranks(make_ranks(where / str(rows), ranks=8, seconds=60, stuck=3, at=10, for_=20, rows=rows))
        found = first(answer, "metadata")
        assert found["first_cause_suspects"][0]["rank"] == 3
        assert abs(seconds(found["first_cause_suspects"][0]["aligned_first_spike_timestamp_ns"]) - 10) < 1.5
        assert 18 * SECOND < found["where"]["lost"] < 21 * SECOND, found
        lag = answer["slow_ranks"][0]
        assert abs(seconds(lag["since_ns"]) - 10) < 2.5 and abs(seconds(lag["until_ns"]) - 30) < 2.5, lag


def test_it_says_until_when(where):
    answer = ranks(make_ranks(where, ranks=8, seconds=60, slow=2, at=15, for_=20, call=2))
    lag = answer["slow_ranks"][0]
    assert lag["rank"] == 2 and abs(seconds(lag["since_ns"]) - 15) < 1.5 and abs(seconds(lag["until_ns"]) - 35) < 1.5, lag
    read = next(c for c in answer["imbalance"] if c["name"] == "read")["slowest"][0]
    assert read["rank"] == 2 and abs(seconds(read["since_ns"]) - 15) < 1.5 and abs(seconds(read["until_ns"]) - 35) < 1.5
    answer = ranks(make_ranks(where / "ever", ranks=8, seconds=60, slow=2, at=0, call=2))
    assert answer["slow_ranks"][0]["since_ns"] is None
    suspect = first(answer, "latency")["first_cause_suspects"][0]
    assert suspect["rank"] == 2 and seconds(suspect["aligned_first_spike_timestamp_ns"]) < 1.5
    assert re.search(r" the start +read", dftmerge("ranks", where / "ever").out.decode())


def test_more_bytes_than_the_others(where):
    answer = ranks(make_ranks(where, ranks=8, seconds=60, more=5, at=30))
    suspect = first(answer, "bytes")["first_cause_suspects"][0]
    assert answer["first"] == "bytes" and suspect["rank"] == 5
    assert abs(seconds(suspect["aligned_first_spike_timestamp_ns"]) - 30) < 1.5


def test_late_ranks(where):
    make_ranks(where, ranks=8, seconds=60, late=6, by=9000, stuck=2, at=50, for_=40)
    answer = ranks(where)
    starts = {r["rank"]: r["start_ns"] for r in answer["ranks"]}
    assert abs(starts[6] - START - 9 * SECOND) < 1000 and all(abs(s - START) < 1000 for r, s in starts.items() if r != 6)
    assert [s["rank"] for s in answer["stragglers"]] == [2]
    assert abs(answer["stragglers"][0]["behind_median_ns"] - 30 * SECOND) < SECOND
    text = dftmerge("ranks", where).out.decode()
    assert "the last is rank 6, 9.00 s behind the median" in text and "late      1 ended long behind the others: rank 2 by" in text, text
    answer = ranks(where, "--align", "first")
    assert answer["aligned"]["by"] == "first" and max(r["first_event_ns"] for r in answer["ranks"]) == min(
        r["first_event_ns"] for r in answer["ranks"])
    assert "all ranks begin together" in dftmerge("ranks", "--align", "first", where).out.decode()


def test_clocks_are_brought_together(where):
    """Host 1's clock is 20 s off: by clocks alone its ranks seem late; by the barrier they are not, and the lead is right."""
    make_ranks(where, ranks=8, hosts=2, seconds=60, slow=5, at=20, others=32, skew_ms=20000)
    lead = {}
    for how in ("clocks", "barrier", "none"):
        answer = ranks(where, "--align", how)
        assert answer["aligned"]["by"] == {"clocks": "clocks", "barrier": "event", "none": "none"}[how]
        suspects = first(answer, "metadata")["first_cause_suspects"]
        lead[how] = (suspects[0]["rank"], suspects[0]["lead_over_cluster_onset_ns"] / SECOND)
    assert lead["barrier"][0] == 5 and abs(lead["barrier"][1] - 12) < 2.1, lead
    assert lead["clocks"][0] != 5 and lead["none"][0] != 5, lead
    recorded = first(ranks(where, "--align", "barrier"), "metadata")["first_cause_suspects"][0]
    gap = recorded["first_spike_timestamp_ns"] - recorded["aligned_first_spike_timestamp_ns"]
    assert abs(gap - 20 * SECOND) < SECOND, gap
    assert "residual" in answer["aligned"]["text"] or how == "none"
    assert "no event of this name" in dftmerge("ranks", "--align", "nothing", where, expect=1).err


def test_processes_without_ranks(where):
    make_ranks(where, ranks=6, seconds=40, slow=4, unranked=1)
    answer = ranks(where)
    assert not answer["by_rank"] and answer["participating"] == 6 and answer["missing_ranks"] == []
    assert first(answer, "metadata")["first_cause_suspects"][0]["pid"] == 1004
    assert dftmerge("ranks", where).out.decode().startswith("pid 1004 of 6 (node1) is slow since +")
    make_ranks(where, ranks=3, seconds=40, seed=2)  # among processes with a rank those without are left out
    answer = ranks(where)
    assert answer["by_rank"] and (answer["participating"], answer["without_rank"]) == (3, 6)


def test_of_several_jobs_the_largest(where):
    make_ranks(where, ranks=6, seconds=60, slow=4)
    make_ranks(where, ranks=3, seconds=60, seed=2)
    answer = ranks(where)
    assert (answer["participating"], answer["world_size"], answer["processes_of_other_jobs"]) == (6, 6, 3)
    assert first(answer, "metadata")["first_cause_suspects"][0]["rank"] == 4
    assert "the largest of 2; 3 processes of the others" in dftmerge("ranks", where).out.decode()
    other = ranks(where, "--job", "4711/1" if answer["job"] == "4711/2" else "4711/2")
    assert (other["participating"], other["job"], other["first"]) == (3, None, None)


def test_aggregates_alone(where):
    answer = ranks(make_ranks(where, ranks=6, seconds=60, slow=4, keep=0))
    found = first(answer, "metadata")
    assert found["first_cause_suspects"][0]["rank"] == 4 and found["where"]["name"] == "openat"
    assert found["where"]["directory"] == "/scratch/job/r4"


def test_foreign_traces(where):
    make_ranks(where / "t", ranks=6, seconds=60, slow=4)
    dftmerge("export", "--format", "pfw", "-o", where / "all.pfw", where / "t")
    answer = ranks(where / "all.pfw", "--no-index")
    suspect = first(answer, "metadata")["first_cause_suspects"][0]
    assert suspect["rank"] == 4 and abs(seconds(suspect["aligned_first_spike_timestamp_ns"]) - 20) < 1.5
    assert "no CLOCK records" in answer["aligned"]["text"]


def test_two_files_of_one_process(where):
    """DFTracer writes regions and calls of a process apart. Another process that gets the pid later is another one."""
    began = START // 1000

    def write(name, pid, kind, call, at):
        lines = [f'{{"id":0,"name":"HH","cat":"dftracer","pid":{pid},"tid":{pid},"ph":"M","args":{{"name":"n1","value":1}}}}']
        lines += [f'{{"id":{i},"name":"{call}","cat":"{kind}","pid":{pid},"tid":{pid},"ts":{began + at + 1000 * i},"dur":90,'
                  f'"ph":"X","args":{{"hhash":1,"ret":100}}}}' for i in range(50)]
        (where / name).write_text("[\n" + "\n".join(lines) + "\n]")

    for pid in (71, 72):
        write(f"t-{pid}-app.pfw", pid, "C_APP", "step", 0)
        write(f"t-{pid}-preload.pfw", pid, "POSIX", "read", 100)
    answer = ranks(where, "--no-index")
    assert [(r["pid"], r["processes"], r["bytes"]) for r in answer["ranks"]] == [(71, 2, 5000), (72, 2, 5000)]
    assert answer["participating"] == 2
    write("t-71-later.pfw", 71, "POSIX", "read", 10 ** 8)
    assert sorted((r["pid"], r["processes"]) for r in ranks(where, "--no-index")["ranks"]) == [(71, 1), (71, 2), (72, 2)]


def test_threads_and_order_do_not_matter(where):
    make_ranks(where, ranks=12, seconds=40, slow=4, others=30, skew_ms=3)
    one = dftmerge("ranks", "--json", "--threads", "1", where).out
    for threads in (2, 7):
        assert dftmerge("ranks", "--json", "--threads", threads, where).out == one
    files = sorted(where.iterdir())
    assert dftmerge("ranks", "--json", *reversed(files)).out == one
    (where / "all").mkdir()
    (where / "all" / "cat.dft").write_bytes(b"".join(f.read_bytes() for f in files))
    assert dftmerge("ranks", "--json", where / "all").out == one


RULES = ("data: class=read,write", "opens: name=open*; reads: class=read", "meta: class=meta", "x: path=/scratch/job/r1*; y: path=*2",
         "in: path=/data/in/*; meta: class=meta", "a: name=*a*; e: name=*e*")


def test_how_events_are_cut_does_not_matter(where):
    """The same events in one archive, one a rank, and one a group (of whatever rules): other blocks, and rows that are parts of
    those there were."""
    rng, suspects = random.Random(9), 0
    for n in range(100 if FULL else 10):
        here = where / str(n)
        here.mkdir()
        if n % 5 == 4:
            make(here / "t", ranks=1, processes=4, threads=2, events=400, slow=rng.randrange(2), seed=n)
        else:
            count = rng.choice([3, 5, 8])
            make_ranks(here / "t", ranks=count, hosts=2, seconds=rng.choice([20, 60]), rate=rng.choice([3, 20]), slow=rng.randrange(count),
                       at=8, call=rng.randrange(1, 4), others=rng.choice([0, 15]), rows=min(1, rng.randrange(4)),
                       factor=rng.choice([5, 100]), interval_ms=rng.choice([100, 1000]), more=rng.choice([1, 99]), seed=n,
                       skew_ms=rng.randrange(3))
        wanted = ranks(here / "t")
        suspects += wanted["first"] is not None
        dftmerge("merge", "-o", here / "all.dft", here / "t")
        dftmerge("merge", "-o", here / "ranks", "--split-by", "rank", here / "t")
        groups = rng.choice(RULES)
        dftmerge("merge", "-o", here / "groups", "--group", groups, here / "t")
        for parts in ("all.dft", "ranks", "groups"):
            assert ranks(here / parts) == wanted, (n, parts, groups)
    assert suspects > 5


def test_odd_traces(where):
    make(where / "a", processes=3, ranks=1, slow=1)
    answer = ranks(where / "a")
    assert answer["missing_ranks"] == [3] and len(answer["ranks"]) == 3
    make(where / "b", processes=2, same_time=1)
    assert ranks(where / "b")["participating"] == 2
    answer = ranks(make_ranks(where / "one", ranks=1, seconds=5))
    text = dftmerge("ranks", where / "one").out.decode()
    assert answer["first"] is None and text.startswith("one rank alone: ") and "Imbalance" not in text and "\nend " not in text, text
    make(where / "lone", processes=1, ranks=1)
    text = dftmerge("ranks", where / "lone").out.decode()
    assert re.match(r"(\d+) of \d+ ranks ha(ve|s) no trace here, and one rank alone ", text) and "; missing: " in text, text
    (where / "empty").mkdir()
    assert run(DFTMERGE, "ranks", where / "empty").code == 1
    assert run(DFTMERGE, "ranks").code == 2


def test_a_call_lags_also_when_the_others_follow(where):
    """Over the whole run the first rank takes a third more than the others, but it was alone with that for 12 s."""
    make_ranks(where, ranks=16, hosts=4, seconds=60, slow=5, at=20, others=32)
    call = next(c for c in ranks(where)["imbalance"] if c["name"] == "openat")
    slowest = call["slowest"][0]
    assert call["max_over_mean"] < 1.5 and slowest["rank"] == 5 and slowest["lags"], call
    assert abs(seconds(slowest["since_ns"]) - 20) < 1.5 and abs(seconds(slowest["until_ns"]) - 33) < 2.5, slowest
    assert any(line.split()[1] == "openat" and "+20.0 s to +3" in line for line in dftmerge("ranks", where).out.decode().splitlines()
               if line.startswith("POSIX"))


def test_over_before_the_others_began(where):
    """Six seconds of one rank, and of all others a quarter of a minute later, are two things: it is no cause of theirs."""
    for length, over in ((6, True), (0, False)):
        found = first(ranks(make_ranks(where / str(length), ranks=8, seconds=60, slow=1, at=20, for_=length, call=2, others=40,
                                       factor=20)), "latency")
        suspect = found["first_cause_suspects"][0]
        assert suspect["rank"] == 1 and found["over_before_onset"] == over, found
        assert suspect["confidence"] == ("low" if over else "high"), found
        assert ("perhaps two things" in dftmerge("ranks", where / str(length)).out.decode()) == over


def test_slow_by_little_but_always(where):
    """By too little at a time for a spike, but in one interval after another more than its equals."""
    answer = ranks(make_ranks(where, ranks=16, hosts=4, seconds=60, slow=5, at=0, call=2, factor=4))
    assert answer["first"] == "latency" and [s["rank"] for s in answer["slow_ranks"]] == [5]
    blamed = first(answer, "latency")["blamed"]
    assert [b["rank"] for b in blamed] == [5] and blamed[0]["until_ns"] is None and 1.5 < blamed[0]["times"] < 4, blamed
    text = dftmerge("ranks", where, env={"COLUMNS": "300"}).out.decode()
    assert re.match(r"rank 5 of 16 \(node1\) is slow since the start in read below /scratch/job/r5: .* a call against .*\n"
                    r"evidence  it began at .*; no other rank lost as much\nhow sure  medium: 3\.\d times the usual in ", text), text


def test_one_that_does_more(where):
    """A rank that syncs where others do not costs more than one that is slow for a moment at its start: the costly
    one is named."""
    where.mkdir(exist_ok=True)
    for rank in range(4):
        calls = [("write", 200_000 + 5000 * i, 20) for i in range(200)]
        calls += [("stat", 900 * i, 2) for i in range(200)]
        if rank == 0:  # its start-up is slow
            calls = [(name, start, 400 if name == "stat" else dur) for name, start, dur in calls]
        if rank == 2:
            calls += [("fsync", 400_000 + 4900 * i, 4500) for i in range(100)]
        lines = [json.dumps({"name": "PR", "cat": "dftracer", "pid": 100 + rank, "tid": 1, "ph": "M", "args": {"name": "rank", "value": str(rank)}})]
        lines += [json.dumps({"id": i, "name": name, "cat": "POSIX", "pid": 100 + rank, "tid": 1, "ph": "X", "ts": START // 1000 + start, "dur": dur,
                              "args": {"ret": 100} if name == "write" else {}}) for i, (name, start, dur) in enumerate(sorted(calls, key=lambda c: c[1]))]
        (where / f"r{rank}.pfw").write_text("\n".join(lines))
    answer = ranks(where, "--no-index")
    assert first(answer, "metadata")["first_cause_suspects"][0]["rank"] == 0, answer["first_cause"]  # what it lost is seen still
    assert answer["first"] is None and answer["slow_ranks"][0]["rank"] == 2, answer
    text = " ".join(dftmerge("ranks", "--no-index", where).out.decode().split())
    assert re.match(r"rank 2 of 4 is slow from \+0\.3\d\d s to \+0\.\d+ s, the most in fsync: 454 ms in I/O, 10\dx the median of 4\.40 ms evidence "
                    r"it is the slowest of 2 \(see below\); 450 ms in 100 calls of fsync, hardly any in another rank how sure medium: it makes more "
                    r"calls than the others, rather than slower ones ", text), text


def passes(event, options):
    start, end = options.get("--from", 0), options.get("--to", 1e9)
    return (event["name"] in options.get("--name", event["name"]).split(",") and event["cat"] == options.get("--cat", event["cat"])
            and ("--rank" not in options or event["rank"] in (1, 2, 4)) and ("--file" not in options or "/r2/" in event.get("file", ""))
            and ("--pid" not in options or event["pid"] == 1005)
            and START + start * SECOND <= event["ts"] < START + end * SECOND)


def test_filters(where):
    """Totals are those of the events that pass; a rank that is not asked about is neither missing nor compared with."""
    make_ranks(where, ranks=6, hosts=2, seconds=60, slow=4, at=20, skip=3)
    events = dump(where)
    for options in ({"--name": "openat,read"}, {"--cat": "MPI"}, {"--rank": "1-2,4"}, {"--pid": "1005"}, {"--file": "*/r2/*"},
                    {"--from": 10.2603, "--to": 30.7703}, {"--name": "read", "--from": 10.2603, "--rank": "1-2,4"}):
        answer = ranks(where, *(str(x) for pair in options.items() for x in pair))
        chosen = [e for e in events if passes(e, options)]
        times = collections.defaultdict(lambda: collections.Counter())
        for e in chosen:
            times[e["name"]][e["rank"]] += e["dur"]
        assert {c["name"]: c["time_ns"] for c in answer["imbalance"]} == {n: sum(t.values()) for n, t in times.items()}, options
        assert {c["name"]: c["max_ns"] for c in answer["imbalance"]} == {n: max(t.values()) for n, t in times.items()}, options
        asked = {1, 2, 4} if "--rank" in options else {5} if "--pid" in options else {0, 1, 2, 4, 5}
        assert [r["rank"] for r in answer["ranks"]] == sorted(asked), options
        assert answer["missing_ranks"] == ([] if "--rank" in options else [3]) and answer["world_size"] == 6
        assert answer["asked"] == " ".join(sorted(options, key=["--from", "--to", "--rank", "--pid", "--cat", "--name", "--file"].index))
    assert ranks(where)["asked"] is None
    assert ranks(where, "--rank", "0-9")["missing_ranks"] == [3]
    assert ranks(where, "--name", "openat")["first"] == "metadata" and ranks(where, "--name", "read")["first"] is None
    found = first(ranks(where, "--name", "openat", "--file", "*/r4/*"), "metadata")
    assert found["where"] is None or found["where"]["directory"] == "/scratch/job/r4"
    text = dftmerge("ranks", "--from", "10", "--name", "open*", where).out.decode()
    assert " since +20." in text and "asked     only what passes --from --name\n" in text, text
    assert "no event passes --name" in dftmerge("ranks", "--name", "nosuch", where, expect=1).err
    assert "there are ranks from 0 to 5" in dftmerge("ranks", "--rank", "77", where, expect=1).err
    assert dftmerge("ranks", "--rank", "x", where, expect=2).err


def test_filters_of_aggregates(where):
    make_ranks(where, ranks=4, seconds=40, slow=2, at=20, keep=0)
    answer = ranks(where, "--name", "openat", "--from", "10.5")
    assert [c["name"] for c in answer["imbalance"]] == ["openat"] and any("rounded" in n for n in answer["notes"])
    assert 29 * 10 < answer["imbalance"][0]["count"] / 4 <= 30 * 10, answer["imbalance"]
    suspect = first(answer, "metadata")["first_cause_suspects"][0]
    assert suspect["rank"] == 2 and abs(seconds(suspect["aligned_first_spike_timestamp_ns"]) - 20) < 1.5
    answer = ranks(where, "--file", "*", expect=1)
    assert answer["imbalance"] == [] and any("do not name the files" in n for n in answer["notes"])
    # Times are aligned: a host whose clock is a minute late has its events in the same window.
    make_ranks(where / "skewed", ranks=4, seconds=40, skew_ms=60000)
    plain, window = (ranks(where / "skewed", "--align", "barrier", *options) for options in ((), ("--from", "10", "--to", "20")))
    for whole, part in zip(plain["ranks"], window["ranks"]):
        assert 0.2 < part["io_ns"] / whole["io_ns"] < 0.3, (whole, part)


def test_hosts_with_wrong_clocks(where):
    """No trace tells how far clocks of hosts are apart; ranks that start together on each host, and hosts far apart, do."""
    make_ranks(where / "wrong", ranks=8, hosts=2, seconds=40, skew_ms=7000)
    notes = ranks(where / "wrong")["notes"]
    assert any("ranks on node1 start 7.00 s after those on node0" in n and "--align" in n for n in notes), notes
    assert not any("a clock is wrong" in n for n in ranks(where / "wrong", "--align", "barrier")["notes"])
    for n, settings in enumerate(({}, dict(skew_ms=300), dict(late=5), dict(spread_ms=2000), dict(ranks=2, skew_ms=7000))):
        done = ranks(make_ranks(where / str(n), **{**dict(ranks=8, hosts=2, seconds=40), **settings}))
        assert not any("a clock is wrong" in note for note in done["notes"]), settings


def test_text_fits(where):
    make_ranks(where, ranks=60, hosts=7, seconds=40, slow=17, at=10, others=22, skip=5, skew_ms=1)
    assert len(dftmerge("ranks", "--top", "1", where).out.splitlines()) < len(dftmerge("ranks", where).out.splitlines())
    for wrong in (("--top", "x"), ("--sort", "time"), ("--csv",)):
        assert run(DFTMERGE, "ranks", *wrong, where).code == 2, wrong
    for width in (60, 80, 100, 200):
        text = dftmerge("ranks", where, env={"COLUMNS": str(width)}).out.decode()
        lines = text.splitlines()
        first_lines = text.partition("\n\n")[0]
        words = " ".join(first_lines.split())
        assert words.startswith("rank 17 of 60 (node1) is slow since +10.0 s in openat below /scratch/job/r17: "), text
        assert re.search(r" 1\d\.\d ms a call against 2\d\d us; the job ran \d\d\.\d s, without that \d\d\.\d s at best evidence ", words), text
        assert " it began at 22:13:30 UTC; it lost " in words and "that was 12.0 s before the next ones how sure " in words and len(lines) < 40, text
        assert max(map(len, lines)) <= width, text
    for width in (20, 40, 60):
        text = dftmerge("ranks", where, env={"COLUMNS": str(width)}).out.decode()
        calls = re.search(r"\nImbalance[^\n]*\n(?:[^\n]*\n)*?(call [^\n]*\n.*)\nanswered", text, re.S)[1].splitlines()
        assert {line.split()[0] for line in calls[1:]} == {"openat", "fstat", "read", "write", "barrier"}, text


def test_thousands_of_ranks(where):
    """4,000 ranks: found, and in little memory. (Its time is in the README of tools.)"""
    length = 300 if FULL else 30
    make_ranks(where, ranks=4000, hosts=125, seconds=length, rate=4, slow=17, at=length // 3, others=length * 2 // 3,
               factor=200, skip=2345)
    answer = ranks(where)
    suspect = first(answer, "metadata")["first_cause_suspects"][0]
    begin = suspect["aligned_first_spike_timestamp_ns"]
    assert suspect["rank"] == 17 and abs(seconds(begin) - length / 3) < 2.1, suspect
    assert abs(suspect["lead_over_cluster_onset_ns"] - length / 3 * SECOND) < 2.1 * SECOND, suspect
    assert answer["missing_ranks"] == [2345] and len(answer["ranks"]) == 3999
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 250 << 10
    assert len(dftmerge("ranks", where).out) < 5000
