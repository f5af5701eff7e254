# SPDX-License-Identifier: MIT
"""From the start of the first process to the end of the last: wall time, the origin of all times that are shown, and the time of
the threads, of which I/O has its share."""

import json
import re

from pfw_files import Writer
from tooltest import dftmerge, dump, make, run, summary, BUILD

SECOND = 1_000_000
BASE = 1_700_000_000 * SECOND


def lives(*paths):
    processes = json.loads(dftmerge("ps", "--json", *paths).out)["processes"]
    return min(p["start_ns"] for p in processes), max(p["end_ns"] for p in processes)


def told(text, what):
    return re.search(rf"^{what} +(.*)$", text, re.M)[1]


def job(where, calls, life, pid=4711):
    """A process of DFTracer's that lives for `life` seconds; calls: (thread, start, duration), in seconds."""
    writer = Writer("1.0.8", pid=pid)
    writer.call("dftracer", "start", BASE, 0, version=100008, ppid=400)
    for tid, start, duration in calls:
        writer.call("POSIX", "read", BASE + round(start * SECOND), round(duration * SECOND), "/data/x", tid=tid, ret=1)
    writer.call("dftracer", "end", BASE + life * SECOND, 0, num_events=len(calls))
    where.mkdir(exist_ok=True)
    (where / f"{pid}.pfw").write_text(writer.text())


def test_wall_time_is_that_of_the_processes(where):
    """Not from the first event to the last: a program that reads and then sleeps runs all the same."""
    job(where, [(1, 1, 0.25)], 4)
    answer = summary("--no-index", where)
    assert (answer["start_ns"], answer["wall_ns"]) == (BASE * 1000, 4 * 10**9), answer
    assert (answer["threads"], answer["threads_ns"]) == (2, 8 * 10**9)  # one says when it began and ended
    text = dftmerge("summary", "--no-index", where).out.decode()
    assert told(text, "time") == "4.00 s, 1 process; from 2023-11-14 22:13:20 UTC", text
    make(where / "native", processes=3, ranks=1)
    start, end = lives(where / "native")
    answer = summary(where / "native")
    assert (answer["start_ns"], answer["wall_ns"]) == (start, end - start)
    assert start < min(e["ts"] for e in dump(where / "native"))
    for command in ("compare", "ranks"):
        paths = [where / "native"] * (2 if command == "compare" else 1)
        other = json.loads(dftmerge(command, "--json", *paths).out)
        assert (other.get("a") or other)["wall_ns"] == end - start, command


def test_shares_are_of_processes_and_of_threads(where):
    """Four threads read for three of four seconds each: three times the process's time, three quarters of the
    threads'."""
    job(where, [(4711 + i, 0.5, 3) for i in range(4)], 4)
    text = dftmerge("summary", "--no-index", where).out.decode()
    assert told(text, "I/O").startswith("12.0 s = 300.0 % of that, 75.0 % of 4 threads; 4 B read"), text
    job(where, [(9, 0, 1)], 4, pid=9)
    text = dftmerge("summary", "--no-index", where).out.decode()
    assert told(text, "time").startswith("4.00 s, 2 processes x 4.00 s; from "), text
    assert told(text, "I/O").startswith("13.0 s = 162.5 % of all processes, 65.0 % of 5 threads; 5 B read"), text
    assert "most in process 4711: 12.0 s, 300.0 % of its 4.00 s" in " ".join(text.split()), text


def test_overlapping_calls_are_said(where):
    """Of one thread, as requests are: more than all of its time."""
    job(where, [(4711, i / 10, 3) for i in range(4)], 4)
    text = dftmerge("summary", "--no-index", where).out.decode()
    assert told(text, "I/O").startswith("12.0 s = 300.0 % of that: calls overlap; 4 B read"), text


def test_one_origin_everywhere(where):
    """Seconds that people see, and those of --from and --to, count from the start of the first process."""
    make(where, processes=2)
    start, _ = lives(where)
    events = dump(where)
    first = events[0]["ts"] - start
    assert first > 0
    assert dump("--from", f"{first / 1e9:.9f}", where) == events
    assert dump("--from", f"{(first + 1) / 1e9:.9f}", where) == [e for e in events if e["ts"] > events[0]["ts"]]
    shown = dftmerge("dump", where).out.decode().splitlines()
    assert abs(float(re.search(r"\d+\.\d+", shown[0])[0]) - first / 1e9) < 1e-6, shown[0]
    dftmerge("export", "--format", "perfetto", "-o", where / "out.json", where)
    assert json.loads((where / "out.json").read_text())["otherData"]["origin_ns"] == str(start)
    assert re.search(r" 0\.000 s ", dftmerge("ps", where).out.decode())


def first_labels(*question):
    text = dftmerge("summary", "--by", "time", "--sort", "t_ns", "--top", "1000", *question).out.decode()
    return [float(t) for t in re.findall(r"^ *(-?\d+\.\d{3}) s ", text[text.index("Groups by time"):], re.M)], text


def test_time_groups_begin_at_the_origin(where):
    """Rows are on the grid of the clock, of 300 ms here: a second of the clock is none of the run's."""
    make(where, processes=2, slow=1, events=300, interval_ms=300)
    start, _ = lives(where)
    assert start % 300_000_000 and start % 10**9 == 0
    for width, grid in (("0.3", 0.3), ("3", 0.3), ("3600", 0.3), ("0.25", 0), ("7", 0)):
        ns = round(float(width) * 1e9)
        base = start // round(grid * 1e9) * round(grid * 1e9) if grid else start
        for events in ((), ("--events",)):
            labels, text = first_labels("--width", width, *events, where)
            assert labels[0] == 0 and labels == sorted(labels), (width, labels[:3])
            off = 0 if grid == 0 else (base - start) / 1e9  # the first group may begin before the run, whose start is 0
            assert all(abs((label - off) / float(width) - round((label - off) / float(width))) < 0.01 for label in labels[1:]), labels[:5]
            assert ("grid of 300 ms" in text) == bool(grid), text
            answer = summary("--by", "time", "--width", width, *events, where)
            assert answer["width_ns"] == ns and min(g["t_ns"] for g in answer["groups"]) == base
            assert {round(max(0, g["t_ns"] - start) / 1e6) for g in answer["groups"]} >= {round(t * 1e3) for t in labels}


def test_two_runs_are_cut_alike(where):
    """The same work at another time of day."""
    for name, second in (("a", 1700000000), ("b", 1700000777)):
        make(where / name, processes=2, slow=1, events=300, start=second)
    one, other = (summary("--by", "time,name", "--width", "60", where / name) for name in "ab")
    for answer in (one, other):
        for g in answer["groups"]:
            for time in ("t_ns", "first_ns", "last_ns"):
                g[time] = g[time] and g[time] - answer["start_ns"]
    assert one["groups"] == other["groups"]


def test_no_bucket_of_ranks_is_before_the_start(where):
    done = run(BUILD / "bin" / "make_ranks", where, "ranks=8", "seconds=30", "slow=3", "at=0", "others=20")
    assert done.code == 0, done.err
    assert not re.search(r"-\d+\.\d+ s", dftmerge("ranks", where).out.decode())
