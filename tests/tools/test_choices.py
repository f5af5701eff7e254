# SPDX-License-Identifier: MIT
"""Every key is a filter: rows, events and a dump that is filtered here say the same; and what is said of filters that
nothing can pass."""

import csv
import io
import json
import random
import re

from tooltest import access_of, class_of, counts, dftmerge, dump, errno, groups, make, same_groups, size_of, summary

DURATIONS = (("1us", 1_000), ("30us", 30_000), ("2ms", 2_000_000), ("0.05", 50_000_000), ("3 ms", 3_000_000), ("1h", 3_600_000_000_000))


def error_of(event):
    return errno.errorcode[event["errno"]].replace("EDEADLOCK", "EDEADLK") if "errno" in event else None


def ops_of(where):
    """What each call's operation is: (category, name) -> operations. Halves of copies have two."""
    found = {}
    for g in summary("--by", "call,op", where)["groups"]:
        found.setdefault((g["cat"], g["name"]), set()).add(g["op"])
    return found


def any_file(event, test):
    return any(test(event[f]) for f in ("file", "file2") if f in event)


def choices(where):
    """(options, does an event pass, are rows of calls enough)"""
    ops = ops_of(where)
    for words in ("read", "meta,sync", "none", "READ,write"):
        yield ["--class", words], lambda e, w=words: class_of(e) in w.lower().split(","), True
    for words in ("READ,PREAD", "open", "STAT", "region"):
        chosen = {call for call, of in ops.items() if of & set(words.upper().split(","))}
        assert all(len(ops[call]) == 1 for call in chosen)
        yield ["--op", words], lambda e, c=chosen: (e["cat"], e["name"]) in c, True
    for size, fits in (("0", ["0 B"]), ("4K-64K", ["4 KiB-16 KiB", "16 KiB-64 KiB"]), ("4 KiB-16 KiB", ["4 KiB-16 KiB"]), ("none", [None]),
                       ("-64", ["0 B", "1 B", "2 B-64 B"]), ("1 GiB or more,20000", ["1 GiB or more", "16 KiB-64 KiB"])):
        yield ["--size", size], lambda e, f=fits: size_of(e) in f, True
    for access in ("random", "consecutive,strided", "none"):
        yield ["--access", access], lambda e, a=access: access_of(e) in a.split(","), True
    for errors in ("ENOENT", "enoent,EIO,17", "0", "1-200"):
        numbers = {n for n in range(201) if n or errors == "0"} if "-" in errors else {
            int(w) if w.isdigit() else getattr(errno, w.upper()) for w in errors.split(",")}
        yield ["--errno", errors], lambda e, n=numbers: e.get("errno", 0) in n, True
    yield ["--errors"], lambda e: "errno" in e, True
    for name in sorted({e["region"] for e in dump(where) if "region" in e})[:2]:
        yield ["--region", name], lambda e, n=name: e.get("region") == n, True
    yield ["--host", "node0"], lambda e: True, True
    yield ["--program", "a*", "--host", "n*,x"], lambda e: True, True
    for dirs in ("/data/in", "in/", "data,/x", "/"):
        yield ["--dir", dirs], lambda e, d=dirs: any_file(e, lambda f: any(is_below(f, one) for one in d.split(","))), False
    for text, ns in DURATIONS:
        yield ["--slower-than", text], lambda e, n=ns: e["dur"] > n, True
    yield ["--ext", "bin"], lambda e: any_file(e, lambda f: f.endswith(".bin")), False
    yield ["--mount", "/data*"], lambda e: any_file(e, lambda f: f.startswith("/data/")), False


def is_below(path, one):
    one = one.rstrip("/")
    return path.startswith(one + "/") if one.startswith("/") or not one else f"/{one}/" in path


def without_self(list_of):
    return [dict(g, self_ns=None) for g in list_of]


def same(got, wanted, options):
    """Self time is not known where regions are chosen by what is around them, or by how long they took."""
    if {"--region", "--slower-than"} & set(options):
        assert all(g["self_ns"] is None for g in got), options
        wanted = without_self(wanted)
    same_groups(got, wanted, options)


def test_rows_and_events_say_the_same(where):
    make(where, ranks=1, processes=2, mounts=1, seed=3)
    events = dump(where)
    for options, passes, rows in choices(where):
        chosen = [e for e in events if passes(e)]
        assert list(filter(counts, dump(*options, where))) == list(filter(counts, chosen)), options
        for by in ("cat,name", "rank", "class,size", "file"):
            wanted = groups(events, by.split(","), passes=passes, with_union=True)
            answer = summary("--events", "--by", by, *options, where)
            same(answer["groups"], wanted, (*options, by, "events"))
            answer = summary("--by", by, *options, where)
            if answer["source"] == "buckets":
                wanted = [dict(g, busy_union_ns=None, in_flight_max=None) for g in wanted]
            elif rows and by != "file" and "--slower-than" not in options:
                raise AssertionError(f"{options}: rows know this, and {answer['source']} answered")
            same(answer["groups"], wanted, (*options, by))
        assert answer["events"] == sum(e.get("calls", 1) for e in chosen if counts(e)), options


def test_choices_go_together(where):
    """A random few of them: all must fit."""
    make(where, ranks=1, processes=3, mounts=1, seed=11)
    events = dump(where)
    every, seed = list(choices(where)), random.Random(5)
    for _ in range(60):
        some = seed.sample(every, seed.randint(2, 3))
        options = [o for one in some for o in one[0]]
        done = dftmerge("summary", "--json", *options, where, expect=None)
        if done.code == 2:  # they contradict each other: nothing can pass
            assert not any(all(one[1](e) for one in some) for e in events) or len({one[0][0] for one in some}) < len(some), options
            continue
        if len({o for o in options if o.startswith("--")}) < sum(o.startswith("--") for o in options):
            continue  # the same option again: any of its words fits
        same(json.loads(done.out)["groups"],
             strip(groups(events, ["cat", "name"], passes=lambda e, s=some: all(one[1](e) for one in s)), json.loads(done.out)), options)


def strip(wanted, answer):
    if answer["source"] == "buckets":
        return wanted
    return [dict(g, busy_union_ns=m["busy_union_ns"], in_flight_max=m["in_flight_max"]) for g, m in zip(wanted, answer["groups"])] \
        if len(wanted) == len(answer["groups"]) else wanted


def test_rows_alone_answer_what_they_know(where):
    """Of what was kept as aggregates alone, calls that --slower-than cannot tell are counted and said."""
    make(where / "rows", processes=2, keep=0, seed=3)
    make(where / "all", processes=2, seed=3)
    events = dump(where / "all")
    for options, passes, rows in choices(where / "all"):
        wanted = {(g["cat"], g["name"]): (g["count"], g["time_ns"], g["bytes"]) for g in groups(events, ["cat", "name"], passes=passes)}
        answer = summary(*options, where / "rows", expect=None if not rows or "--slower-than" in options else 0)
        got = {(g["cat"], g["name"]): (g["count"], g["time_ns"], g["bytes"]) for g in answer["groups"]}
        if not rows:
            assert not got and any("which call was on which file" in note for note in answer["notes"]), options
        elif "--slower-than" not in options:
            assert got == wanted and not answer["notes"], options
        else:
            assert all(n <= wanted[call][0] and t <= wanted[call][1] for call, (n, t, _) in got.items()), options
            missing = sum(n for n, _, _ in wanted.values()) - sum(n for n, _, _ in got.values())
            said = sum(int(note.split()[0]) for note in answer["notes"] if "--slower-than lies between" in note)
            assert missing <= said, (options, missing, answer["notes"])


def test_times_count_from_the_end(where):
    make(where, processes=2, events=300)
    whole, events = summary(where), dump(where)
    start, end = whole["start_ns"], whole["start_ns"] + whole["wall_ns"]
    for options, low, high in ((["--last", "200ms"], end - 200_000_000, 2**64), (["--from", "-0.3"], end - 300_000_000, 2**64),
                               (["--from=-300ms", "--to=-0.1"], end - 300_000_000, end - 100_000_000),
                               (["--to", "-100ms"], 0, end - 100_000_000), (["--from", "0.1s", "--to", "-1us"], start + 100_000_000, end - 1_000),
                               (["--last", "1h"], 0, 2**64), (["--last", "0"], end, 2**64)):
        chosen = [e for e in events if low <= e["ts"] < high]
        assert dump(*options, where) == chosen, options
        assert summary("--events", *options, where)["events"] == sum(e.get("calls", 1) for e in chosen if counts(e)), options


def test_every_command_obeys_or_refuses(where):
    make(where, ranks=1, processes=4, mounts=1)
    wanted = sum(e.get("calls", 1) for e in dump("--class", "read", where) if counts(e))
    assert 0 < wanted < summary(where)["events"]
    text = dftmerge("export", "--format", "csv", "-o", "-", "--class", "read", where).out.decode(errors="replace")
    assert len(list(csv.reader(io.StringIO(text)))) == 1 + len(dump("--class", "read", where))
    ranks = json.loads(dftmerge("ranks", "--json", "--class", "read", where).out)
    reads = {g["rank"]: g["time_ns"] for g in summary("--by", "rank", "--class", "read", where)["groups"]}
    assert {r["rank"]: r["io_ns"] for r in ranks["ranks"]} == reads, (ranks["ranks"][0], reads)
    make(where / "other", ranks=1, processes=4, mounts=1, seed=7, start=1700009999)
    for options in (["--class", "read"], ["--mount", "/data"], ["--errors"], ["--slower-than", "1us", "--last", "0.5"], ["--ext", "bin"]):
        compared = json.loads(dftmerge("compare", "--json", *options, where / "other", where / "other").out)
        assert sum(c["count"]["a"] for c in compared["calls"]) == sum(
            g["count"] for g in summary("--by", "class", *options, where / "other")["groups"] if g["class"] not in ("none", "wait")), options
    done = dftmerge("counters", "--class", "read", where, expect=2)
    assert "counters does not take --class" in done.err, done.err


def test_what_nothing_can_pass_is_said(where):
    make(where, ranks=1)
    for options, said in ((["--last", "5", "--from", "1"], "--last says by itself"), (["--from", "5", "--to", "2"], "lies before --from"),
                          (["--op", "open", "--size", "4K"], "none of --op does"), (["--op", "STAT", "--access", "random"], "none of --op does"),
                          (["--errors", "--access", "random"], "no access pattern"), (["--errors", "--errno", "0"], "--errno 0"),
                          (["--errno", "ENOENTT"], "Did you mean ENOENT?"), (["--class", "raed"], "Did you mean read?"),
                          (["--op", "opne"], "Did you mean OPEN?"), (["--access", "sequental"], "Did you mean sequential?"),
                          (["--size", "5-7"], "begin and end at 0, 1, 2, 64, 1K"), (["--size", "4K-4K"], "no size"), (["--size", ""], "no size"),
                          (["--slower-than", "5x"], "not a time, as in"), (["--slower-than", "-1"], "not a time"), (["--last", "-1"], "not a time"), (["--from", "."], "not a time"),
                          (["--errno", "5-2"], "no error"), (["--region", ""], "none of them empty"), (["--size", "99999999999999999999"], "no size"),
                          (["--last", "99999999999h"], "not a time"), (["--op", ","], "no op"), (["--errno", "70000000000000000000000"], "no error")):
        done = dftmerge("summary", *options, where, expect=2)
        assert done.out == b"" and said in done.err and "--help" in done.err, (options, done)
    for options, said in ((["--host", "nowhere"], "--host; there is node0"), (["--program", "x"], "--program; there is app"),
                          (["--role", "x"], "no process says its role"), (["--region", "nosuch"], "--by region` has what there is"),
                          (["--errno", "ENOTNAM"], "--by errno` has"), (["--dir", "/nowhere"], "--dir; files are compared")):
        assert said in dftmerge("summary", *options, where, expect=1).err, options
    assert "no process has recorded its mount points" in dftmerge("summary", "--mount", "/data", where, expect=1).err


def test_words_are_near(where):
    """Whatever word is wrong, the nearest known one is named."""
    make(where)
    for arguments, said in ((["sumary", where], "'summary'"), (["summary", "--sotr", "time", where], "--sort"), (["summary", "--by", "fiel", where], "file"),
                            (["summary", "--sort", "bytse", where], "bytes"), (["summary", "--class", "wirte", where], "write"),
                            (["compare", "--sort", "byets", where, where], "bytes"), (["compare", "--metric", "TMIE", where, where], "time"),
                            (["export", "--format", "perfeto", "-o", "-", where], "perfetto"), (["timeline", "--by", "rnak", where], "rank"),
                            (["top", "--by", "flie", where], "file"), (["dump", "--form", "1", where], "--from"), (["ps", "--stakcs", where], "--stacks")):
        done = dftmerge(*arguments, expect=2)
        assert f"Did you mean {said}?" in done.err and done.out == b"", (arguments, done)
    assert "--last says by itself" in dftmerge("export", "--format", "csv", "-o", "-", "--last", "1", "--until", "3", where, expect=2).err


def test_titles_sort(where):
    """What stands above a column names it, in any case, as far as it is plain; the column is marked, and shown on a
    narrow terminal."""
    make(where)
    whole = summary("--by", "op,size", where)["groups"]
    per_call = lambda g: g["time_ns"] / g["count"] if g["count"] else -1
    for word, key in (("calls", "count"), ("CALLS", "count"), ("fail", "errors"), ("p9", None), ("p95", "time_p95_ns"), ("Max", "time_max_ns"),
                      ("tim", "time_ns"), ("byt", "bytes"), ("time_min", "time_min_ns"), ("errors", "errors")):
        done = dftmerge("summary", "--json", "--by", "op,size", "--sort", word, where, expect=0 if key else 2)
        if not key:
            assert "several begin so" in done.err and "Did you mean p95?" in done.err, done.err
            continue
        got = [g[key] for g in json.loads(done.out)["groups"]]
        assert got == sorted((g[key] for g in whole), key=lambda n: (n is None, -(n or 0))), word
    for word, key in (("rate", lambda g: g["bytes"] / g["time_ns"] if g["bytes"] and g["time_ns"] else -1), ("mean", per_call)):
        got = [key(g) for g in summary("--by", "name", "--class", "read,meta", "--sort", word, where)["groups"] if g["time_p50_ns"] is not None]
        samples_differ = word == "mean" and any(e.get("calls", 1) != 1 for e in dump("--class", "read,meta", where))
        assert samples_differ or got == sorted(got, reverse=True), word
        assert re.search(rf" \*{word}", dftmerge("summary", "--by", "name", "--sort", word, where).out.decode()), word
    assert re.search(r"^\*size +op +calls", dftmerge("summary", "--by", "size,op", "--sort", "size", where).out.decode(), re.M)
    assert "Did you mean bytes?" in dftmerge("summary", "--sort", "bytez", where, expect=2).err
    assert "no such column" in dftmerge("summary", "--sort", "", where, expect=2).err


def test_all_titles_sort(where):
    """Whatever stands above a column at 200 columns is a word for --sort; then this column is marked."""
    make(where, ranks=1, mounts=1)
    for by in ("op,size", "file", "time", "process"):
        text = dftmerge("summary", "--by", by, where, env={"COLUMNS": "200"}).out.decode()
        lines = text.splitlines()
        heads = [line for line in lines if re.search(r" (time|in I/O)  ", line) and "calls" in line]
        titles = [t.lstrip("*") for t in re.split(r"\s{2,}", heads[0].strip()) if t]
        assert len(titles) > 8, heads
        for title in titles:
            shown = dftmerge("summary", "--by", by, "--sort", title, where, env={"COLUMNS": "200"}).out.decode()
            assert re.search(rf"(^|\s)\*{re.escape(title)}(\s|$)", shown) or title == "in flight" and "*busy" in shown \
                or title in ("% of wall", "% of processes") and re.search(r"\*(time|in I/O)", shown) or title == "calls/s" and "*calls" in shown, (by, title, shown)


def test_time_goes_on(where):
    make(where, processes=2, slow=1, events=300)
    for by in ("time", "time,class", "name,time"):
        answer = summary("--by", by, "--width", "60", where)
        times = [g["t_ns"] for g in answer["groups"]]
        assert times == sorted(times) and len(times) > 20, by
    text = dftmerge("summary", "--by", "time", "--width", "60", where).out.decode()
    lines = re.findall(r"^ *(\d+\.\d{3}) s ", text[text.index("Groups"):], re.M)
    assert list(map(float, lines)) == sorted(map(float, lines)) and len(lines) == len(summary("--by", "time", "--width", "60", where)["groups"])
    times = [g["time_ns"] for g in summary("--by", "time", "--width", "60", "--sort", "time", where)["groups"]]
    assert times == sorted(times, reverse=True)


def test_help_names_all(where):
    del where
    text = dftmerge("summary", "--help").out.decode()
    filters = dftmerge("help", "filters").out.decode()
    for option in ("last", "host", "program", "role", "region", "dir", "ext", "mount", "op", "class", "size", "access", "errno", "errors",
                   "slower-than"):
        assert re.search(rf"^  (--[a-z-]+ )*--{option}( --|$)", text, re.M) and re.search(rf"^ +--{option}\b", filters, re.M), option
    assert max(map(len, (text + filters).splitlines())) <= 120
