# SPDX-License-Identifier: MIT
"""Every number of `summary --json`, recomputed from `dump --json`; from buckets and from events alike."""

import collections
import json
import re
import sys

from tooltest import LIBRARY, csv_text, dftmerge, dump, groups, make, need_library, pattern, phase, run, same_groups, summary, counts

KEYS = ["call", "cat", "name", "rank", "pid", "tid", "class", "call,rank", "cat,tid", "pid,name", "class,rank", "region",
        "region,call", "rank,region", "size", "access", "errno", "size,call", "access,class", "errno,name", "size,access,errno,class,rank"]
FILE_KEYS = ["file", "dir", "pattern", "pattern,call,rank", "file,call", "dir,rank", "file,region", "file,tid,name", "file,class", "file,size", "dir,errno", "pattern,access,class"]


def names(by):
    return ",".join(by.split(",")).replace("call", "cat,name").replace("time", "t_ns").split(",")


def test_all_keys_from_buckets(where):
    make(where, ranks=1, processes=3, hosts=2)
    events = dump(where)
    for by in KEYS:
        answer = summary("--by", by, where)
        assert answer["source"] == "buckets", by
        same_groups(answer["groups"], groups(events, names(by)), by)


def test_all_keys_from_events(where):
    make(where, ranks=1, processes=3, hosts=2, rows=0)
    events = dump(where)
    for by in KEYS + FILE_KEYS + ["time", "time,call"]:
        answer = summary("--by", by, "--width", "0.1", where)
        assert answer["source"] == "events", by
        same_groups(answer["groups"], groups(events, names(by), with_union=True, base=phase(answer) if "time" in by else 0), by)


def test_buckets_and_events_agree(where):
    """The same events with and without BUCKETS: all but busy_union_ns, which buckets do not know, and where it comes from."""
    make(where / "rows", ranks=1, processes=2, events=800)
    make(where / "bare", ranks=1, processes=2, events=800, rows=0)
    for by in KEYS:
        a, b = summary("--by", by, where / "rows"), summary("--by", by, where / "bare")
        assert (a.pop("source"), b.pop("source")) == ("buckets", "events")
        for key in ("busy_union_ns", "in_flight_max"):
            assert all(g.pop(key) is None for g in a["groups"])
            assert all(g.pop(key) is not None for g in b["groups"])
        assert a.pop("calls_from_aggregates") == b.pop("calls_from_events") and not a.pop("calls_from_events") + b.pop("calls_from_aggregates")
        assert a == b, by


def test_files_come_from_events(where):
    make(where)
    events = dump(where)
    for by in FILE_KEYS:
        answer = summary("--by", by, where)
        assert answer["source"] == "events"
        same_groups(answer["groups"], groups(events, names(by), with_union=True), by)


def test_calls_between_two_files(where):
    """They count once, as reads; what they write are bytes of class write: the same from rows, from events and from aggregates alone."""
    settings = {"ranks": 1, "processes": 2, "hosts": 2, "events": 400, "block": 7, "transfers": 1}
    make(where / "both", **settings)
    make(where / "bare", rows=0, **settings)
    make(where / "rows", keep=0, **settings)
    events = dump(where / "both")
    halves = [e for e in events if e.get("calls") == 0]
    assert len(halves) > 50 and sum(e["bytes"] for e in halves) > 0
    calls = [k for k in KEYS if k != "class"] + ["class", "op", "op,call", "class,call,region"]
    for by in calls:
        answers = [summary("--by", by, where / "both"), summary("--by", by, "--events", where / "both"),
                   summary("--by", by, where / "bare"), summary("--by", by, where / "rows")]
        assert [a["source"] for a in answers] == ["buckets", "events", "events", "buckets"], by
        for key in ("busy_union_ns", "in_flight_max"):
            assert [g[key] for g in answers[1]["groups"]] == [g.pop(key) for g in answers[2]["groups"]], by
            assert all(g.pop(key) is None for a in (answers[0], answers[3]) for g in a["groups"]), by
            for g in answers[1]["groups"]:
                g.pop(key)
        assert all(a["groups"] == answers[0]["groups"] and a["events"] == answers[0]["events"] for a in answers), by
        if "op" not in by:
            wanted = groups(events, names(by))
            for g in wanted:
                del g["busy_union_ns"], g["in_flight_max"]
            same_groups(answers[0]["groups"], wanted, by)
    for by in ("file", "file,class", "dir,rank"):
        same_groups(summary("--by", by, where / "both")["groups"], groups(events, names(by), with_union=True), by)
        same_groups(summary("--by", by, where / "rows")["groups"], groups(events, names(by), percentiles=False, accesses=False), by)
    path = halves[0]["file"]
    answer = summary("--by", "class", "--name", "sendfile", "--file", path, where / "both")
    same_groups(answer["groups"], groups(events, ["class"], with_union=True,
                                         passes=lambda e: e["name"] == "sendfile" and e["file"] == path), path)
    by_class = {g["class"]: g for g in summary("--by", "class", where / "both")["groups"]}
    assert by_class["write"]["bytes"] >= sum(e["bytes"] for e in halves)


def test_the_default_is_call(where):
    make(where)
    assert dftmerge("--json", where).out == dftmerge("summary", "--json", "--by", "call", where).out
    assert dftmerge(where).out == dftmerge("summary", where).out


def test_time_groups(where):
    make(where, slow=1, events=300, start=1700000001)
    events = dump(where)
    for width in (0.1, 6.4, 0.25, 7):  # with percentiles, of which rows know 64 intervals together
        answer = summary("--by", "time,cat", "--width", width, where)
        assert (answer["source"], answer["width_ns"]) == ("events", round(width * 1e9)), (width, answer["source"])
        same_groups(answer["groups"], groups(events, ["t_ns", "cat"], with_union=True, width=round(width * 1e9), base=phase(answer)), width)


def test_patterns(where):
    """Names that differ by a number only are one pattern; the rule, on names made to try it."""
    names = ["/a/ckpt-0001.h5", "/a/ckpt-12.h5", "/a/550e8400-e29b-41d4-a716-446655440000", "/a/550e8400-e29b-41d4-a716-44665544000",
             "/a/550e8400-e29b-41d4-a716-4466554400001", "/a/deadbeef", "/a/deadbee1", "/a/dead1", "/a/xdeadbee1f.o", "/12ab34cd/5",
             "/a/ghi1234567890", "7", "/", "/a/v1.2-abcdef.abcdef12", "/a/é9\udcff8"]
    wanted = ["/a/ckpt-#.h#", "/a/ckpt-#.h#", "/a/#", "/a/#-e#b-#d#-a#-#", "/a/#-e#b-#d#-a#-#", "/a/deadbeef", "/a/#",
              "/a/dead#", "/a/x#.o", "/#/#", "/a/ghi#", "#", "/", "/a/v#.#-abcdef.#", "/a/é#\udcff#"]
    assert [pattern(name) for name in names] == wanted, [pattern(name) for name in names]
    lines = []
    for i, name in enumerate(names):
        text = json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogateescape")
        lines.append(b'{"id":%d,"name":"FH","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"name":%s,"value":%d}}' %
                     (2 * i, text, i + 1))
        lines.append(b'{"id":%d,"name":"unlink","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":%d,"ph":"X","args":{"fhash":%d}}' %
                     (2 * i + 1, 1700000000000000 + i, i + 1, i + 1))
    (where / "names.pfw").write_bytes(b"\n".join(lines))
    counts_, times = collections.Counter(wanted), collections.Counter()
    for i, name in enumerate(wanted):
        times[name] += 1000 * (i + 1)
    got = summary("--by", "pattern", "--no-index", where)["groups"]
    assert {g["pattern"]: (g["count"], g["time_ns"]) for g in got} == {p: (counts_[p], times[p]) for p in counts_}, got


def test_facts_of_the_job(where):
    make(where, ranks=1, processes=3, hosts=2, lossy=1)
    events, answer = dump(where), summary(where)
    assert (answer["processes"], answer["pids"], answer["ranks"]) == (3, 3, 3)
    assert (answer["world_size"], answer["missing_ranks"]) == (4, [3])
    processes = json.loads(dftmerge("ps", "--json", where).out)["processes"]
    start = min(p["start_ns"] for p in processes)
    assert answer["start_ns"] == start and answer["start_s"] == f"{start // 10**9}.{start % 10**9:09d}"
    assert answer["wall_ns"] == max(p["end_ns"] for p in processes) - start
    threads = {(e["pid"], e["tid"]): p["end_ns"] - p["start_ns"] for e in events for p in processes if p["pid"] == e["pid"]}
    assert (answer["threads"], answer["threads_ns"]) == (len(threads), sum(threads.values()))
    wanted = sum(e.get("calls", 1) for e in events if counts(e))
    assert answer["events"] == answer["events_kept"] == wanted == sum(g["count"] for g in answer["groups"])
    assert list(answer["dropped"].values()) == [9] and answer["overhead_ns"] == 3 * 12345
    assert answer["notes"] == ["9 events lost: ring full, in 3 processes"], answer["notes"]


def test_aggregates_only(where):
    """No event kept: calls as ever, files from file rows (without percentiles), and what cannot be told is said."""
    make(where / "all", processes=2, rows=0)
    make(where / "rows", processes=2, keep=0)
    events = dump(where / "all")
    for by in KEYS:
        answer = summary("--by", by, where / "rows")
        assert answer["source"] == "buckets" and answer["events_kept"] == 0
        same_groups(answer["groups"], groups(events, names(by)), by)
    for by in ("file", "dir", "pattern", "file,class", "rank,file", "tid,dir"):
        answer = summary("--by", by, where / "rows")
        assert answer["source"] == "files"
        assert answer["events"] == sum(e.get("calls", 1) for e in events if counts(e))
        same_groups(answer["groups"], groups(events, by.split(","), percentiles=False, accesses=False), by)
    answer = summary("--by", "file,call", where / "rows", expect=1)
    assert answer["groups"] == [] and any("not which call was on which file" in n for n in answer["notes"]), answer["notes"]
    assert dump(where / "rows", expect=1) == []


def test_one_way_to_name_a_file_at_a_time(where):
    """A group has room for one of file, dir and pattern: two of them would show one under the name of the other."""
    make(where)
    for by in ("dir,file", "pattern,file", "dir,pattern", "file,rank,dir"):
        done = dftmerge("summary", "--by", by, where, expect=2)
        assert "one of them at a time" in done.err and not done.out, done
    assert summary("--by", "file,file", where)["groups"] == summary("--by", "file", where)["groups"]


def test_ranks_come_in_parts(where):
    """The page is the same whatever part of the groups is counted at a time: findings, which see a file as a whole, and ranks."""
    make(where, processes=200, ranks=1, hosts=3, events=10)
    whole = dftmerge("--top", "200", where).out
    assert b"Ranks with the most I/O time (200 of 200)" in whole and b" calls on 12 files and directories" in whole
    assert dftmerge("--top", "200", where, env={"DFTMERGE_GROUP_BYTES": "24576"}).out == whole


def test_mixed_aggregates_and_events(where):
    make(where / "a", processes=2, seed=1)
    make(where / "b", processes=2, seed=2, keep=0)
    make(where / "all", processes=2, seed=1)
    make(where / "all", processes=2, seed=2)
    answer = summary("--by", "file", where / "a", where / "b")
    assert answer["source"] == "files"
    wanted = groups(dump(where / "all"), ["file"], percentiles=False, accesses=False)
    # the processes of the one have the pids of those of the other
    parts = [{g["file"]: g["processes"] for g in summary("--by", "file", where / part)["groups"]} for part in ("a", "b")]
    same_groups(answer["groups"], [dict(g, strides=None, processes=sum(p.get(g["file"], 0) for p in parts)) for g in wanted], "file")
    answer = summary(where / "a", where / "b")
    assert answer["source"] == "buckets"
    same_groups(answer["groups"], summary(where / "all")["groups"], "call")
    assert answer["events_kept"] == summary(where / "a")["events"] < answer["events"]


def test_csv_says_the_same(where):
    import csv
    import io
    make(where, ranks=1)
    for by in ("call", "file", "rank,region"):
        text = dftmerge("summary", "--csv", "--by", by, where).out.decode("utf-8", "surrogateescape")
        lines = list(csv.DictReader(io.StringIO(text, newline="")))
        wanted = summary("--by", by, where)["groups"]
        assert len(lines) == len(wanted)
        for line, group in zip(lines, wanted):
            group.pop("region_cat", None)
            line = {k: csv_text(v) for k, v in line.items()}
            assert line == {k: "" if v is None else str(v) for k, v in group.items()}, (line, group)


def test_top_and_sort(where):
    make(where, ranks=1)
    whole = summary("--by", "file", where)["groups"]
    assert summary("--by", "file", "--top", "3", where)["groups"] == whole[:3]
    for column in ("bytes", "count", "time_max_ns", "time_max"):
        key = column if column in whole[0] else column + "_ns"
        got = summary("--by", "file", "--sort", column, "--top", "4", where)["groups"]
        numbers = sorted((g[key] for g in whole), reverse=True)
        assert [g[key] for g in got] == numbers[:4], column
    got = [g["file"] for g in summary("--by", "file", "--sort", "file", where)["groups"]]
    assert got == sorted(got, key=lambda f: f.encode("utf-8", "surrogateescape"))
    assert "no such column" in dftmerge("summary", "--sort", "nothing", where, expect=2).err


def test_tracing_is_a_share_of_one_base(where):
    """Its processor time, of all threads: the head of the page and its end say the same."""
    need_library()
    program = ("import os, threading\ndef work():\n    for _ in range(20000):\n        os.stat('/etc/passwd')\n"
               "threads = [threading.Thread(target=work) for _ in range(3)]\n[t.start() for t in threads]\n[t.join() for t in threads]\n")
    done = run(sys.executable, "-c", program, env={"LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(where / "t")})
    assert done.code == 0, done.err
    text = " ".join(dftmerge("summary", where).out.decode().split())
    said = re.findall(r"tracing (?:took )?([\d.]+ %)", text)
    assert "4 threads" in text and len(said) == 2 and len(set(said)) == 1 and said[0] != "0.0 %", text


def test_text_fits_and_ends_with_its_source(where):
    """One footer for all sections, and nothing wider than the terminal but names that have no place to break."""
    make(where, ranks=1)
    for width in (40, 60, 80, 100, 120, 160, 200):
        text = dftmerge(where, env={"COLUMNS": str(width)}).out.decode()
        assert "\x1b" not in text and "\xff" not in text
        words = " ".join(text.split())
        assert words.count("answered") == words.count("; nothing lost") == 1, text
        assert words.endswith("answered from buckets, files from events; nothing lost; tracing took 0.0 %"), text
        assert all((len(line) <= width or " " not in line.strip()) and line == line.rstrip() for line in text.splitlines()), (width, text)
    make(where / "lossy", lossy=1)
    text = " ".join(dftmerge(where / "lossy").out.decode().split())
    assert "lost: 6 events (" in text and "nothing lost" not in text


def tables_of(text):
    """Title of each table -> the (cat, name) of its lines; what is no I/O stands in one line, by name."""
    tables, title = {}, None
    for line in text.splitlines():
        if " by time" in line:
            title = line.split(" ")[0]
            tables[title] = set()
        elif line.startswith("not I/O"):
            tables["not I/O"] = set(re.findall(r"(?:^not I/O *|, )(\S+) [0-9.]+ [a-z]+ in ", line))
        elif not line or line.startswith("answered"):
            title = None
        elif title and title != "Files" and line[0] != " ":
            tables[title].add(tuple(line.split()[:2]))
    return {title: lines - {("cat", "name")} for title, lines in tables.items()}


def test_each_call_is_in_one_table(where):
    """What waits for children, and regions around calls, do not rank with I/O."""
    make(where)
    tables = tables_of(dftmerge(where, "--top", "1000", env={"COLUMNS": "300"}).out.decode())
    rows = json.loads(dftmerge(where, "--json", "--by", "call,class,op").out)["groups"]
    for row in rows:
        title = {"none": "Regions" if row["op"] == "REGION" else "not I/O", "wait": "not I/O"}.get(row["class"], "Calls")
        assert (row["name"] if title == "not I/O" else (row["cat"], row["name"])) in tables[title], (row, tables)
    assert sum(map(len, tables.values())) == len(rows), tables
    assert list(tables) == ["Regions", "Files", "Calls", "not I/O"], tables


def test_tables_of_events_are_those_of_rows(where):
    """From events the tables of a page are counted in one pass. They share its memory, and say what rows say."""
    make(where, processes=2, ranks=1)
    rows, events = (tables_of(dftmerge("summary", *more, where, env={"COLUMNS": "300"}).out.decode()) for more in ([], ["--events"]))
    assert rows == events and len(rows) > 2, rows
    for asked in (["--events"], ["--from", "0.0001"]):
        page = dftmerge("summary", *asked, where).out
        for budget in (0, 20_000, 200_000):
            assert dftmerge("summary", *asked, where, env={"DFTMERGE_GROUP_BYTES": str(budget)}).out == page
