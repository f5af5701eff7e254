# SPDX-License-Identifier: MIT
"""--align: times of hosts whose clocks are wrong and drift, corrected by CLOCK records and by a common event. make_ranks writes the
true time of each read into its offset."""

import json
import re

from tooltest import BUILD, dftmerge, make, run

MAKE = BUILD / "bin" / "make_ranks"
START = 1_700_000_000 * 10 ** 9


def make_ranks(where, **settings):
    done = run(MAKE, where, *(f"{k.rstrip('_')}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    return where


def dump(where, *options, expect=0):
    done = dftmerge("dump", "--json", *options, where, expect=expect)
    return [json.loads(line) for line in done.out.splitlines()], done.err


def errors(events):
    """By rank: how far recorded times are from true ones."""
    result = {}
    for e in events:
        if e["name"] == "read":
            result.setdefault(e["rank"], []).append((e["offset"], e["ts"] - START - e["offset"]))
    return result


def in_order(events):
    times = [e["ts"] for e in events]
    return times == sorted(times)


def ns(text):
    number, unit = re.fullmatch(r"([-+]?[\d.]+) (ns|us|ms|s)", text).groups()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def residual(err):
    """As stated: root mean square, and the most."""
    rms, most = re.search(r"residual ([\d.]+ \w+) rms, ([\d.]+ \w+) at most", err).groups()
    return ns(rms), ns(most)


def test_times_are_as_recorded_unless_asked(where):
    make_ranks(where, ranks=4, seconds=5, drift_ppm=50, spread_ms=200)
    plain, err = dump(where)
    assert err == ""
    same, err = dump(where, "--align", "none")
    assert same == plain and "times as recorded" in err
    moved, err = dump(where, "--align", "clocks")
    assert moved != plain and len(moved) == len(plain) and in_order(moved) and in_order(plain)
    key = ("rank", "seq", "name", "dur", "offset", "file")
    assert sorted([str([e.get(k) for k in key]) for e in moved]) == sorted([str([e.get(k) for k in key]) for e in plain])


def test_clocks_take_out_the_drift(where):
    """Real-time clocks that are right; monotonic ones that run 40 to 160 ppm off. The library's times go wrong by up to 20 s * 160 ppm."""
    make_ranks(where, ranks=9, hosts=9, seconds=20, drift_ppm=40, spread_ms=100)
    before, after = errors(dump(where)[0]), errors(dump(where, "--align", "clocks")[0])
    assert max(abs(e) for of in before.values() for _, e in of) > 2_000_000
    assert max(abs(e) for of in after.values() for _, e in of) < 1_000  # readings are up to 300 ns late
    err = dump(where, "--align", "clocks")[1]
    rms, most = residual(err)
    assert rms < 300 and most < 300 and "9 clocks" in err and "drift up to 160 ppm" in err, err


def test_processes_of_a_host_come_together(where):
    """Two ranks of one host, the second loaded 5 s later on a clock that drifts: the same moment has two times, and then one."""
    make_ranks(where / "drift", ranks=4, hosts=2, seconds=20, drift_ppm=200, spread_ms=5000)
    events = errors(dump(where / "drift")[0])
    at = {r: dict(events[r]) for r in (0, 1)}
    assert abs(events[0][-1][1] - events[1][-1][1]) > 500_000, at
    events = errors(dump(where / "drift", "--align", "clocks")[0])
    assert max(abs(e) for r in (0, 1) for _, e in events[r]) < 1_000


def test_an_event_brings_wrong_clocks_together(where):
    """Hosts that are 70 ms apart each and drift: the clock of rank 0's host is the measure."""
    make_ranks(where, ranks=12, hosts=4, seconds=30, skew_ms=70, drift_ppm=30, spread_ms=20)
    events, err = dump(where, "--align", "barrier")
    assert in_order(events)
    after = errors(events)
    base = after[0]
    slope = (base[-1][1] - base[0][1]) / (base[-1][0] - base[0][0])
    left = [e - base[0][1] - slope * (t - base[0][0]) for of in after.values() for t, e in of]
    assert max(map(abs, left)) < 3_000, max(map(abs, left))  # barriers end within 2 us of each other
    rms, most = residual(err)
    assert 100 < rms < 1_500 and most < 3_000 and "30 a rank" in err, err
    worse, err = dump(where, "--align", "clocks")  # they cannot know that real-time clocks are wrong
    assert max(abs(e) for of in errors(worse).values() for _, e in of) > 200_000_000


def test_one_event_gives_an_offset_alone(where):
    make_ranks(where, ranks=4, hosts=4, seconds=2, skew_ms=500, spread_ms=1)
    events, err = dump(where, "--align", "barrier")
    assert "2 a rank" in err and "drift up to 0 ppm" in err, err
    left = [e for of in errors(events).values() for _, e in of]
    assert max(left) - min(left) < 5_000


def test_what_does_not_fit_is_said(where):
    make_ranks(where, ranks=3, hosts=3, seconds=5, clocks=0)
    plain, _ = dump(where)
    events, err = dump(where, "--align", "clocks")
    assert events == plain and "no CLOCK records to correct them by" in err, err
    events, err = dump(where, "--align", "MPI_Finalize", expect=1)
    assert events == plain and "no event of this name" in err, err
    make_ranks(where / "late", ranks=3, hosts=3, seconds=6, spread_ms=1500)  # the later ones miss barriers: nothing but their number tells
    err = dump(where / "late", "--align", "barrier")[1]
    assert "and up to 6 times in others: the first" in err, err


def test_from_and_to_are_of_corrected_times(where):
    make_ranks(where, ranks=3, hosts=3, seconds=10, skew_ms=10000, spread_ms=1)
    events, _ = dump(where, "--align", "barrier", "--from", "2", "--to", "3", "--name", "read")
    assert {e["rank"] for e in events} == {0, 1, 2}
    assert all(1.9e9 < e["offset"] < 3.1e9 for e in events)
    assert {e["rank"] for e in dump(where, "--from", "2", "--to", "3")[0]} == {0}


def test_export_takes_it_too(where):
    make_ranks(where / "t", ranks=3, hosts=3, seconds=4, skew_ms=10000, spread_ms=1)
    for how, span in (("none", 24e6), ("barrier", 4e6)):
        dftmerge("export", "--format", "perfetto", "--align", how, "-o", where / "o.json", where / "t")
        times = [e["ts"] for e in json.loads((where / "o.json").read_text())["traceEvents"] if e["ph"] == "X"]
        assert abs(max(times) - min(times) - span) < 1e6, (how, max(times) - min(times))


def test_traces_without_ranks_and_hosts(where):
    make(where, processes=3)
    before = [dict(e, ts=0, ts_s=0) for e in dump(where)[0]]
    after, err = dump(where, "--align", "solve")
    assert sorted(map(str, before)) == sorted(str(dict(e, ts=0, ts_s=0)) for e in after) and "residual" in err, err
