# SPDX-License-Identifier: MIT
"""What the tests of dftmerge need: make traces, run dftmerge, recompute a summary from a dump."""

import collections
import errno
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()
DFTMERGE = BUILD / "bin" / "dftmerge"
MAKE = BUILD / "bin" / "make_traces"

LIBRARY = BUILD / "lib" / "libdftrace.so"
LONG = bool(os.environ.get("DFT_LONG"))  # as tests/run.sh --full runs them
FULL = bool(os.environ.get("DFT_FULL"))  # many more rounds, for hours

Result = collections.namedtuple("Result", "code out err")


def need_preload():
    """Skips the test beside a sanitizer, whose runtime has to be the first library of a process."""
    if os.environ.get("DFT_SANITIZE"):
        pytest.skip("no library can be preloaded beside a sanitizer")


def need_library():
    need_preload()
    if not LIBRARY.exists():
        pytest.skip("this build has no libdftrace.so")


INHERITED = ("HOME", "TMPDIR", "USER", "LOGNAME", "PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")

# Nothing from outside reaches the programs but who and where the user is.
for name in set(os.environ).difference(INHERITED):
    if not name.startswith("DFT_"):
        del os.environ[name]
os.environ.update(LC_ALL="C", TZ="UTC")


def run(*command, cwd=None, env=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900, check=False)
    return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


def make(directory, **settings):
    done = run(MAKE, directory, *(f"{k}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    return pathlib.Path(directory)


def dftmerge(*arguments, expect=0, **more):
    done = run(DFTMERGE, *arguments, **more)
    assert expect is None or done.code == expect, f"exit code {done.code}, not {expect}: {done.err}"
    return done


def summary(*arguments, **more):
    return json.loads(dftmerge("summary", "--json", *arguments, **more).out)


def dump(*arguments, **more):
    return [json.loads(line) for line in dftmerge("dump", "--json", *arguments, **more).out.splitlines()]


def csv_text(field):
    """The text of a field of CSV, where bytes that a terminal would act on are escaped."""
    return re.sub(rb"\\x([0-9a-f]{2})", lambda code: bytes.fromhex(code[1].decode()), field.encode()).decode(errors="surrogateescape")


def check_around(records):
    """p_idx of exported lines is the number of a line before theirs, of the same thread, that is around them. How many."""
    by_id = {r["id"]: r for r in records if r["ph"] == "X"}
    inside = [r for r in records if r["ph"] == "X" and r["args"]["p_idx"] >= 0]
    for record in inside:
        around = by_id[record["args"]["p_idx"]]
        assert around["id"] < record["id"] and (around["pid"], around["tid"]) == (record["pid"], record["tid"]), (around, record)
        assert around["ts"] <= record["ts"] and around["args"]["level"] < record["args"]["level"], (around, record)
    return len(inside)


# --- the summary, computed from a dump by its definitions --------------------------------------------------------------

DATA = {"read", "write", "pread", "fread", "fputc", "sendfile"}  # of the calls that make_traces makes
INTERVAL_NS = 100_000_000


def counts(event):
    """Complete calls and regions, and an exec that did not return."""
    if event.get("open"):
        return False
    if "phase" in event:
        return event["phase"] == "begin" and event["name"] == "execve"
    return True


def bin_of(value):
    if value < 64:
        return value
    e = value.bit_length() - 6
    return 32 * e + (value >> e)


def bin_middle(number):
    if number < 64:
        return number
    shift = number // 32 - 1
    return ((32 + number % 32) << shift) + ((1 << shift) - 1) // 2


def percentile(durations, p):
    rank = max(1, -(-p * len(durations) // 100))
    middle = bin_middle(sorted(bin_of(d) for d in durations)[rank - 1])
    return min(max(middle, min(durations)), max(durations))


def union(spans):
    """How long at least one of these [from, to) is going on."""
    total, end = 0, 0
    for first, last in sorted(spans):
        total += max(0, last - max(end, first))
        end = max(end, last)
    return total


def in_flight(spans):
    """How many of these are going on at the same time, at most; what ends when another begins is not."""
    level = most = 0
    for _, change in sorted([(a, 1) for a, b in spans if b > a] + [(b, -1) for a, b in spans if b > a]):
        level += change
        most = max(most, level)
    return most


def span(event):
    return event["ts"], event["ts"] + (0 if "phase" in event else event["dur"])


def directory(path):
    head = path.rpartition("/")
    return head[0] or ("/" if head[1] else ".")


HEX = "[0-9A-Fa-f]"
NUMBER = re.compile(f"(?<!{HEX})(?:{HEX}{{8}}-(?:{HEX}{{4}}-){{3}}{HEX}{{12}}(?!{HEX})|(?=[A-Fa-f]*[0-9]){HEX}{{8,}})|[0-9]+")


def pattern(path):
    return NUMBER.sub("#", path)


CLASSES = {"read": "read", "pread": "read", "fread": "read", "write": "write", "fputc": "write", "sendfile": "read", "fsync": "sync"}


def class_of(event):
    """The half of a call between two files that writes counts no call."""
    if event["cat"] in ("APP", "LIB", "PROCESS"):
        return "none"
    return "write" if event.get("calls") == 0 else CLASSES.get(event["name"], "meta")


SIZES = [0, 0, 1, 2, 64] + [1 << bits for bits in range(10, 31, 2)]


def bytes_text(n):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n} {unit}"
        n //= 1024


def size_at(event):
    """The number of the class of the bytes that a call asked for."""
    asked = event.get("size", 0) // max(event.get("calls", 1), 1)
    return max(i for i in range(1, len(SIZES)) if SIZES[i] <= asked and (i == 1) == (asked == 0))


def size_of(event):
    """The class of the bytes that a call asked for."""
    if event["name"] not in DATA:
        return None
    at = size_at(event)
    if at == 1:
        return "0 B"
    if at == len(SIZES) - 1:
        return "1 GiB or more"
    return "1 B" if at == 2 else f"{bytes_text(SIZES[at])}-{bytes_text(SIZES[at + 1])}"


def access_of(event):
    return event.get("access", "none") if event["name"] in DATA and "errno" not in event and "offset" in event else "none"


def phase(answer):
    """Where time groups begin, but for whole widths; test_lives.py has where they must."""
    return answer["groups"][0]["t_ns"] % answer["width_ns"]


def key_of(event, by, width=INTERVAL_NS, base=0):
    values = []
    for key in by:
        if key == "dir":
            values.append(directory(event["file"]))
        elif key == "pattern":
            values.append(pattern(event["file"]))
        elif key == "t_ns":
            values.append((event["ts"] - base) // width * width + base)
        elif key == "class":
            values.append(class_of(event))
        elif key == "size":
            values.append(size_of(event))
        elif key == "access":
            values.append(access_of(event))
        elif key == "errno":
            values.append(errno.errorcode[event["errno"]].replace("EDEADLOCK", "EDEADLK") if "errno" in event else None)
        else:
            values.append(event.get(key))
    return tuple(values)


def distinct(data):
    """Bytes of the parts that were accessed; a part is the least power of two of which 1,024 reach the highest end."""
    spans = [(e["offset"], e["offset"] + e["bytes"]) for e in data if "offset" in e and e["bytes"]]
    part = 1
    while spans and (max(end for _, end in spans) - 1) // part >= 1024:
        part *= 2
    return len({p for start, end in spans for p in range(start // part, (end - 1) // part + 1)}) * part or None


def common_size(members):
    """The least number of bytes of the size class that most calls asked for; of the lowest class of those."""
    calls = collections.Counter()
    for event in members:
        if size_of(event) is not None:
            calls[SIZES[size_at(event)], size_at(event)] += event.get("calls", 1)
    return min(calls, key=lambda c: (-calls[c], c[1]))[0] if +calls else None


def group(members, parents, with_union, spans, by):
    data = [e for e in members if e["name"] in DATA and "errno" not in e]
    offsets = [e for e in data if "offset" in e]
    durations = [e["dur"] for e in members if e.get("calls", 1)]
    result = {
        "count": sum(e.get("calls", 1) for e in members),
        "errors": sum(e.get("calls", 1) for e in members if "errno" in e),
        "time_ns": sum(durations),
        "self_ns": None if parents is None else sum(durations) - parents,
        "time_min_ns": min(durations, default=None),
        "time_max_ns": max(durations, default=None),
        "time_p50_ns": percentile(durations, 50) if durations else None,
        "time_p95_ns": percentile(durations, 95) if durations else None,
        "time_p99_ns": percentile(durations, 99) if durations else None,
        "busy_ns": sum(b - a for a, b in spans),
        "busy_union_ns": union(spans) if with_union else None,
        "in_flight_max": in_flight(spans) if with_union else None,
        "bytes": sum(e["bytes"] for e in data),
        "size_min": min((e["bytes"] for e in data), default=None),
        "size_max": max((e["bytes"] for e in data), default=None),
        "offset_min": min((e["offset"] for e in offsets), default=None),
        "offset_max": max((e["offset"] + e["bytes"] for e in offsets), default=None),
        "asked": sum(e.get("size", 0) for e in data) if data else None,
        "turns": sum(e.get("turn", False) for e in data) if data else None,
        **{a: sum(e.get("access") == a for e in data) if data else None for a in ("consecutive", "sequential", "strided", "random")},
        "first_ns": min((e["ts"] for e in members), default=None),
        "last_ns": max((e["ts"] + e.get("dur", 0) for e in members), default=None),
        "distinct_bytes": distinct(data) if "file" in by else None,
        "processes": len({(e["pid"], e["rank"]) for e in members if e.get("calls", 1)}) or None,
        "common_size": common_size(members),
        "io_ns": sum(e["dur"] for e in members if e.get("calls", 1) and class_of(e) not in ("none", "wait")),
        "strides": None,
    }
    return result


NULLS = {None: 0}


def order(value):
    """Keys ascend: null, then numbers or bytes of text."""
    if value is None:
        return (0,)
    return (1, value) if isinstance(value, int) else (1, value.encode("utf-8", "surrogateescape"))


def groups(events, by, with_union=False, passes=lambda e: True, width=INTERVAL_NS, percentiles=True, base=0, accesses=True):
    """`events`: those of the processes and the time asked about; `passes`: the other filters."""
    members, children, spans = collections.defaultdict(list), collections.Counter(), collections.defaultdict(list)
    self_known = not {"region", "file", "dir", "pattern", "t_ns"} & set(by)
    for event in filter(counts, events):
        if self_known and "region" in event:
            parent = dict(event, cat=event["region_cat"], name=event["region"])
            for own in ("file", "file2", "errno"):
                parent.pop(own, None)
            if passes(parent):
                children[key_of(parent, by)] += event["dur"]
        if not passes(event) or ({"file", "dir", "pattern"} & set(by) and "file" not in event):
            continue
        key = key_of(event, by, width, base)
        if "region" in by:  # two regions may have one name
            key += (event.get("region_cat"),)
        members[key].append(event)
        first, last = (t - base for t in span(event))
        for k in range(first // width, (last - 1) // width + 1) if "t_ns" in by and last > first else [None]:
            part = key if k is None else tuple(base + k * width if b == "t_ns" else v for b, v in zip(by + ["region_cat"], key))
            spans[part].append((first, last) if k is None else (max(first, k * width), min(last, (k + 1) * width)))
            members[part]
    result = []
    for key, list_of in members.items():
        line = dict(zip(by, key))
        if "region" in by and key[-1] is not None:
            line["region_cat"] = key[-1]
        line.update(group(list_of, children[key] if self_known else None, with_union, spans[key], by))
        if not (line["count"] or line["bytes"] or line["busy_ns"]):
            continue
        if not percentiles:
            line.update(time_p50_ns=None, time_p95_ns=None, time_p99_ns=None)
        if not accesses:
            line.update(strided=None, random=None, common_size=None, strides=None if line["distinct_bytes"] is None else [])
        result.append(line)
    result.sort(key=lambda g: (g["t_ns"] if "t_ns" in by else -g["time_ns"], *(order(g[k]) for k in by)))
    return result


def same_groups(got, wanted, what=""):
    """Equal, also in order (but for regions of one name, whose order is by their ids)."""
    def canonical(list_of):
        return [json.dumps(g, sort_keys=True) for g in list_of]
    if any("region" in g and "t_ns" in g for g in wanted):
        got, wanted = (sorted(g, key=lambda g: (g["t_ns"], str(g["region"]), str(g.get("region_cat")), str(g))) for g in (got, wanted))
    got, wanted = canonical(got), canonical(wanted)
    if got == wanted:
        return
    for g, w in zip(got, wanted):
        assert g == w, f"{what}: differs:\n got {g}\nwant {w}"
    raise AssertionError(f"{what}: {len(got)} groups, not {len(wanted)}")
