# SPDX-License-Identifier: MIT
"""Traces of which only aggregates were kept: what they know is answered, and what they cannot know is said, with exit code 1 and
what to ask instead; nothing is empty without a word."""

import json
import re

from tooltest import dftmerge, dump, groups, make, run, same_groups, summary, counts, DFTMERGE

WIDE = 64 * 300_000_000  # of file rows


def two(where):
    make(where / "rows", processes=2, slow=1, keep=0, interval_ms=300)
    make(where / "all", processes=2, slow=1, interval_ms=300)
    return where / "rows", where / "all"


def told(*arguments):
    done = run(DFTMERGE, *arguments)
    assert done.code == 1 and done.err, (arguments, done)
    return done


def test_files_by_time_are_as_wide_as_they_are_known(where):
    rows, every = two(where)
    start = summary(rows)["start_ns"]
    events = [e for e in dump(every) if counts(e) and "file" in e]
    for asked, width in ((None, WIDE), ("1", WIDE), ("19.2", WIDE), ("20", 2 * WIDE), ("38.4", 2 * WIDE)):
        answer = summary("--by", "time,file", *(("--width", asked) if asked else ()), rows)
        assert answer["width_ns"] == width, (asked, answer["width_ns"])
        assert any("time groups are" in n for n in answer["notes"]) == (asked in ("1", "20")), answer["notes"]
        base = start // WIDE * WIDE
        got = {(g["t_ns"], g["file"]): g["count"] for g in answer["groups"] if g["count"]}
        want = {(g["t_ns"], g["file"]): g["count"] for g in groups(events, ["t_ns", "file"], width=width, base=base) if g["count"]}
        assert got == want, asked
    text = dftmerge("summary", "--by", "time,file", rows).out.decode()
    assert "grid of 19.2 s" in text and " -" not in text[text.index("Groups"):text.index("times count")].replace("  -", ""), text


def test_the_head_is_of_the_files_asked_about(where):
    """As aggregates know them: not by their second name."""
    rows, _ = two(where)
    page = dftmerge("summary", "--file", "/data/in/*", rows).out.decode()
    files = summary("--by", "file,class", "--file", "/data/in/*", rows)
    assert 0 < files["events"] == sum(g["count"] for g in files["groups"]) < summary(rows)["events"]
    calls = sum(g["count"] for g in files["groups"] if g["class"] not in ("none", "wait"))
    assert f"in {calls:,} calls" in " ".join(page.split()) and not re.search("I/O +0 ns", page), page
    assert "Files by time, below /data/in\n" in page and re.search("^a.bin ", page, re.M), page


def test_calls_of_files_are_not_known(where):
    rows, _ = two(where)
    for question in (("--by", "file,name"), ("--by", "dir,op"), ("--by", "call", "--file", "*.bin"), ("--by", "stack"), ("--by", "line")):
        for form in ((), ("--json",), ("--csv",)):
            done = told("summary", *question, *form, rows)
            assert "ask by file, dir or pattern without calls, or by call without files" in done.err, done.err
            if form == ("--json",):
                assert json.loads(done.out)["groups"] == []
    files = summary("--by", "file,class", "--file", "*.bin", rows)
    assert files["events"] == sum(g["count"] for g in files["groups"]) > 0
    assert told("ranks", "--file", "*.bin", rows)
    assert "not compared: calls on each file" in dftmerge("compare", "--file", "*.bin", rows, rows).out.decode()


def test_single_events_are_not_there(where):
    rows, every = two(where)
    for arguments in (("dump", rows), ("dump", "--json", rows)):
        assert "no single events here for dump" in told(*arguments).err and not told(*arguments).out
    for form in ("pfw", "csv", "folded", "folded-bytes", "perfflow"):
        done = told("export", "--format", form, "-o", where / "out", rows)
        assert "no single events here for export" in done.err and "DFTRACER_ENABLE_AGGREGATION" in done.err, done.err
        assert not (where / "out").exists(), form
    dftmerge("export", "--format", "perfetto", "-o", where / "tracks", rows)  # the tracks of bytes and calls
    phases = {event["ph"] for event in json.loads((where / "tracks").read_text())["traceEvents"]}
    assert phases == {"M", "C"}, phases
    done = dftmerge("export", "--format", "csv", "-o", where / "out", rows, every)  # the same processes: nothing is missing
    assert "aggregates" not in done.err
    make(where / "others", seed=2)
    assert "some events were kept only as aggregates: export cannot" in dftmerge("export", "--format", "csv", "-o", where / "some", rows, where / "others").err


def test_what_they_know_is_answered(where):
    rows, every = two(where)
    for by in ("call", "class", "op", "rank,name", "region,call"):
        a, b = (summary("--by", by, where_) for where_ in (rows, every))
        same_groups(a["groups"], b["groups"], by)
    assert dftmerge("compare", rows, rows) and dftmerge("stat", rows) and dftmerge("ranks", rows) and dftmerge("check", rows)
