# SPDX-License-Identifier: MIT
"""dftmerge timeline: every number of every interval as the dump has it, from aggregates and from events; plots that fit
the terminal; maps of many ranks; jobs without time, of one interval, of 1970."""

import collections
import json
import re

from tooltest import BUILD, DFTMERGE, counts, dftmerge, dump, in_flight, make, run, span, union

IO = ("read", "write", "sync", "meta", "startup")


def timeline(*arguments, **more):
    return json.loads(dftmerge("timeline", "--json", *arguments, **more).out)


def ranks(where, **settings):
    done = run(BUILD / "bin" / "make_ranks", where, *(f"{k}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    return where


def io_events(where):
    return [e for e in dump(where) if counts(e) and e.get("class") in IO]


def recount(events, width, base):
    """By interval: what the JSON must say."""
    sums = collections.defaultdict(collections.Counter)
    who, spans = collections.defaultdict(set), collections.defaultdict(list)
    for e in events:
        at = (e["ts"] - base) // width
        s = sums[at]
        s["calls"] += e.get("calls", 1)
        s["errors"] += e.get("calls", 1) if "errno" in e else 0
        s["time_ns"] += e["dur"] if e.get("calls", 1) else 0
        s["written" if e["class"] == "write" else "read"] += e.get("bytes", 0) if "errno" not in e else 0
        first, last = span(e)
        for k in range(at, max(at, (last - 1 - base) // width) + 1):
            who[k].add((e["pid"], e["tid"]))
            spans[k].append((max(first, base + k * width), min(last, base + (k + 1) * width)))
    for k, list_of in spans.items():
        sums[k].update(busy_ns=sum(b - a for a, b in list_of), threads=len(who[k]), processes=len({p for p, _ in who[k]}),
                       busy_union_ns=union(list_of), in_flight_max=in_flight(list_of))
    return sums


def check(answer, events, exact):
    base, width = answer["intervals"][0]["t_ns"], answer["width_ns"]
    want = recount(events, width, base)
    assert answer["exact"] == exact
    assert sum(i["calls"] for i in answer["intervals"]) == sum(s["calls"] for s in want.values()) > 0
    for k, got in enumerate(answer["intervals"]):
        assert got["t_ns"] == base + k * width
        for name in ("calls", "errors", "time_ns", "busy_ns", "read", "written", "threads", "processes"):
            assert got[name] == want[k][name], (k, name, got, want[k])
        if exact:
            assert (got["busy_union_ns"], got["in_flight_max"]) == (want[k]["busy_union_ns"], want[k]["in_flight_max"]), (k, got, want[k])
        else:
            assert got["in_flight_max"] is None and got["threads"] >= want[k]["in_flight_max"]


def test_numbers_are_those_of_the_dump(where):
    make(where / "t", processes=4, ranks=1, threads=3, interval_ms=10, events=400)
    events = io_events(where / "t")
    for words, exact in (((), False), (("--interval", "0.02"), False), (("--events",), True), (("--interval", "0.0037"), True),
                         (("--width", "3"), False)):
        check(timeline(*words, where / "t"), events, exact)
    only = [e for e in events if e["name"] == "read"]
    check(timeline("--name", "read", where / "t"), only, False)
    make(where / "rows", processes=4, ranks=1, threads=3, interval_ms=10, events=400, keep=0)
    a, b = (timeline("--interval", "0.02", where / w) for w in ("t", "rows"))
    assert a["intervals"] == b["intervals"]


def test_occupancy_is_near_the_union(where):
    """At most: above it, as a 64th counts whole; never more than what lies there of all calls."""
    make(where / "t", processes=3, ranks=1, threads=2, interval_ms=50, events=400)
    events = io_events(where / "t")
    answer = timeline("--interval", "0.05", where / "t")
    want = recount(events, answer["width_ns"], answer["intervals"][0]["t_ns"])
    for k, got in enumerate(answer["intervals"]):
        assert got["busy_union_ns"] is not None
        assert want[k]["busy_union_ns"] <= got["busy_union_ns"] <= got["busy_ns"], (k, got, want[k])
        assert got["busy_union_ns"] <= answer["width_ns"]
    assert sum(g["busy_union_ns"] for g in answer["intervals"]) < sum(s["busy_ns"] for s in want.values()) + len(events) * 2 * answer["width_ns"] // 64
    alone = make(where / "alone", processes=1, threads=1, interval_ms=50, events=2000)  # no two calls at once: the same
    page = dftmerge("timeline", alone, env={"COLUMNS": "200"}).out.decode()
    exact = dftmerge("timeline", "--events", alone, env={"COLUMNS": "200"}).out.decode()
    share, known = (re.search(r"I/O went on for (at most )?([0-9.]+ %)", text) for text in (page, exact))
    assert share[1] and not known[1] and share[2] == known[2], (page, exact)
    assert re.search(r"^I/O at most +[0-9.]+ %", page, re.M) and re.search(r"^I/O +[0-9.]+ %", exact, re.M)
    slow = make(where / "slow", processes=1, threads=1, interval_ms=10, events=100, slow=1)  # calls of many intervals
    answer = timeline("--interval", "1", "--to", "1000", slow)
    assert all(i["busy_union_ns"] is None or i["busy_union_ns"] <= 10**9 for i in answer["intervals"])


def test_series_are_the_ranks(where):
    make(where / "t", processes=4, ranks=1, threads=2, interval_ms=10)
    events = io_events(where / "t")
    for key, of, value in (("rank", "bytes", lambda e: e.get("bytes", 0) if "errno" not in e else 0), ("rank", "calls", lambda e: e.get("calls", 1)),
                           ("class", "calls", lambda e: e.get("calls", 1))):
        answer = timeline("--by", key, "--of", of, where / "t")
        base, width = answer["intervals"][0]["t_ns"], answer["width_ns"]
        want = collections.defaultdict(lambda: [0] * len(answer["intervals"]))
        for e in events:
            want[e[key]][(e["ts"] - base) // width] += value(e)
        assert {s[key]: s["values"] for s in answer["series"]} == want and answer["of"] == of, (key, of)
    answer = timeline("--by", "process", "--of", "time", where / "t")
    assert len(answer["series"]) == 4 and all(re.fullmatch(r"app 100[0-3]", s["process"]) for s in answer["series"])
    for k, interval in enumerate(answer["intervals"]):
        assert sum(s["values"][k] for s in answer["series"]) == interval["busy_ns"]
    rows = dftmerge("timeline", "--csv", where / "t").out.decode().splitlines()
    plain = timeline(where / "t")["intervals"]
    titles = rows[0].split(",")
    assert [dict(zip(titles, r.split(","))) for r in rows[1:]] == [{t: "" if i[t] is None else str(i[t]) for t in titles} for i in plain]
    rows = dftmerge("timeline", "--csv", "--by", "rank", where / "t").out.decode().splitlines()
    assert rows[0] == "rank,t_ns,bytes" and len(rows) == 1 + 4 * len(answer["intervals"])


def test_plots_fit_the_terminal(where):
    make(where / "t", processes=3, ranks=1, interval_ms=10)
    for columns in (40, 63, 64, 80, 200):
        for words in ((), ("--heat",), ("--by", "rank"), ("--by", "class"), ("--of", "calls"), ("--of", "time")):
            for locale, ascii_ in (("C", True), ("C.UTF-8", False), ("en_US.utf8", False), ("POSIX", True)):
                page = dftmerge("timeline", *words, where / "t", env={"COLUMNS": str(columns), "LC_ALL": locale}).out.decode()
                assert page.isascii() == ascii_, (words, locale, page)
                plot = [line for line in page.splitlines() if not words or not re.search("^peak|^most|^without|^a column|^a line|at most|up to|own scale", line)]
                assert len(plot) > 2 and all(len(line) <= columns for line in plot), (columns, words, page)
    page = dftmerge("timeline", where / "t", env={"COLUMNS": "80"}).out.decode()
    answer = timeline(where / "t")
    head = " ".join(page.split("\n\n")[0].splitlines())
    assert re.fullmatch(r"peak [0-9.]+ [KMG]iB/s at [0-9.]+ [mun]?s; .* read, .* written in [0-9,]+ calls(; I/O went on for (at most )?[0-9.]+ % of .*)?", head), head
    assert f"in {sum(i['calls'] for i in answer['intervals']):,} calls" in head
    assert "at most 6 (a bound" in page or "(a bound" not in page
    exact = dftmerge("timeline", "--events", where / "t").out.decode()
    assert "(a bound" not in exact and "at most" not in exact.split("\n\n")[0]
    for width in (1, 7, 300):
        page = dftmerge("timeline", "--width", str(width), where / "t").out.decode()
        assert max(len(line) for line in page.splitlines() if "|" in line) <= 24 + width


def test_ten_thousand_ranks_fit_the_screen(where):
    ranks(where / "r", ranks=300, seconds=20, slow=217, at=5, rate=1)
    page = dftmerge("timeline", "--heat", where / "r", env={"COLUMNS": "100", "LINES": "30"}).out.decode()
    lines = [line for line in page.splitlines() if "|" in line]
    assert 10 < len(lines) <= 24, page
    assert re.search(r"^most I/O time: rank 217 with ", page, re.M), page
    each = int(re.search("a line shows the largest of ([0-9]+) neighbours", page)[1])
    assert len(lines) == -(-300 // each)
    slow = next(line for line in lines if re.match(r" *([0-9]+)-([0-9]+) ", line) and int(line.split("-")[0]) <= 217 <= int(line.split("-")[1].split()[0]))
    assert max(lines, key=lambda line: line.count("@")) == slow, page
    ranks(where / "few", ranks=5, seconds=8, skip=3)
    page = dftmerge("timeline", "--heat", where / "few").out.decode()
    assert "without I/O: 1 of 5" in page and len([line for line in page.splitlines() if "|" in line]) == 5, page
    assert re.search(r"^ +3 \| *$", page, re.M), page


def test_odd_times(where):
    one = make(where / "one", processes=1, same_time=1, events=50)  # no time at all
    answer = timeline(one)
    assert len(answer["intervals"]) == 1 and answer["intervals"][0]["calls"] > 0
    for words in ((), ("--heat",), ("--by", "class")):
        assert dftmerge("timeline", *words, one).out
    old = make(where / "old", processes=2, start=0)  # begins in 1970
    check(timeline(old), io_events(old), True)
    make(where / "mixed", processes=1, start=0, seed=2)
    make(where / "mixed", processes=1, seed=3)  # 53 years later
    answer = timeline(where / "mixed")
    check(answer, io_events(where / "mixed"), False)
    assert 2 <= len(answer["intervals"]) <= 100
    for words in ((), ("--heat",)):
        assert dftmerge("timeline", *words, where / "mixed").out
    done = run(DFTMERGE, "timeline", "--interval", "0.1", where / "mixed")
    assert done.code == 2 and "take a longer interval" in done.err, done
    for words in (("--name", "nosuch"), ("--from", "5000"), ("--from", "0", "--to", "0")):
        for form in ((), ("--heat",), ("--by", "rank"), ("--json",), ("--csv",)):
            done = dftmerge("timeline", *words, *form, where / "one", expect=int(form not in (("--json",), ("--csv",))))
            assert "no event passes" in done.err and (form in (("--json",), ("--csv",)) or not done.out), (words, form, done)


def test_it_covers_the_run(where):
    """Columns and shares are of the run, or of its part that is asked about, however long it is without calls."""
    make(where, processes=3, ranks=1, interval_ms=10, events=400)
    start, wall = (timeline(where)[name] for name in ("start_ns", "wall_ns"))
    lives = [(p["start_ns"], p["end_ns"]) for p in json.loads(dftmerge("ps", "--json", where).out)["processes"]]
    for words, low, high in (((), start, start + wall), (("--events",), start, start + wall), (("--name", "read"), start, start + wall),
                             (("--from", "0.25", "--to", "0.5"), start + 250_000_000, start + 500_000_000)):
        answer = timeline(*words, where)
        begins, width = [i["t_ns"] for i in answer["intervals"]], answer["width_ns"]
        assert begins[0] <= low < begins[0] + width and begins[-1] < high <= begins[-1] + width, (words, begins, low, high)
        for interval in answer["intervals"]:
            here = max(interval["t_ns"], low), min(interval["t_ns"] + width, high)
            alive = sum(a < here[1] and b >= here[0] for a, b in lives)
            assert interval["alive"] == alive >= interval["processes"], (words, interval, lives)
    for columns in ("70", "100", "200"):
        head = " ".join(dftmerge("timeline", "--name", "read", where, env={"COLUMNS": columns}).out.decode().split("\n\n")[0].split())
        assert head.endswith(f" of {wall / 1e6:.0f} ms"), head


def test_wrong_words_are_told(where):
    make(where / "t", processes=1)
    for words, said in ((("--by", "rnk"), "Did you mean rank?"), (("--of", "byte"), "Did you mean bytes?"), (("--by", "file"), "There are rank"),
                        (("--width", "0"), "--width 0"), (("--width", "x"), "--width x"), (("--interval", "-1"), "--interval -1"),
                        (("--interval", "0"), "--interval 0"), (("--top", "0"), "--top 0"), (("--json", "--csv"), "exclude")):
        done = run(DFTMERGE, "timeline", *words, where / "t")
        assert done.code == 2 and said in done.err, (words, done)
