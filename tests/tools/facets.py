#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Facets and metrics of calls, computed from events alone by their definitions: what `dftmerge summary` must say.

    dftmerge dump --json traces/ | facets.py --by class,access [--width NS]

Prints one JSON object a group. It shares no code with dftmerge, and reads nothing but the lines of `dump --json`.

Keys: class, access, size (the least number of bytes of the size class), errno, cat, name, call (cat and name), region, file, rank,
pid, tid, time (start of the interval of --width nanoseconds)."""

import argparse
import collections
import json
import sys

# Accesses. A group without data calls that succeeded says nothing of them.
DATA = ("consecutive", "sequential", "strided", "random")
SIZE_CLASSES = [0, 1, 2, 64] + [1 << bits for bits in range(10, 31, 2)]


def counts(event):
    """Complete calls and regions, and an exec that did not return."""
    if event.get("open"):
        return False
    return "phase" not in event or (event["phase"] == "begin" and event["class"] == "none" and event["name"].startswith("exec"))


def calls_of(event):
    return event.get("calls", 1)


def is_data(event):
    """Moved bytes, or would have: only such calls have `bytes`."""
    return "bytes" in event


def failed_to_move(event):
    """A failed call that would have moved bytes. The line does not say it of files with a class of their own."""
    return "errno" in event and "size" in event and event["class"] in ("read", "write")


def size_class(asked):
    """The least number of bytes of the class of so many."""
    return max(low for low in SIZE_CLASSES if low <= asked)


def asked_each(event):
    """By each of the calls of a run."""
    return event.get("size", 0) // max(1, calls_of(event))


def value_of(event, key, width):
    if key == "time":
        return event["ts"] // width * width
    if key == "size":
        return size_class(asked_each(event)) if is_data(event) or failed_to_move(event) else None
    if key == "call":
        return event["cat"], event["name"]
    if key == "errno":
        return event.get("errno", 0)
    return event.get(key)


def bin_of(value):
    """Exact below 64; then 32 bins an octave."""
    octave = max(0, value.bit_length() - 6)
    return 32 * octave + (value >> octave)


def middle_of(number):
    octave = max(0, number // 32 - 1)
    return ((number - 32 * octave) << octave) + ((1 << octave) - 1) // 2


def percentile(values, p):
    """The middle of the bin of the value of rank ceil(p n / 100), within what there is."""
    rank = max(1, -(-p * len(values) // 100))
    return min(max(middle_of(sorted(map(bin_of, values))[rank - 1]), min(values)), max(values))


def metrics(events):
    durations = [e["dur"] for e in events if calls_of(e)]
    data = [e for e in events if is_data(e)]
    placed = [e for e in data if "offset" in e]
    result = {
        "count": sum(map(calls_of, events)),
        "errors": sum(calls_of(e) for e in events if "errno" in e),
        "time_ns": sum(durations),
        "time_min_ns": min(durations, default=None),
        "time_max_ns": max(durations, default=None),
        "bytes": sum(e["bytes"] for e in data),
        "size_min": min((e["bytes"] for e in data), default=None),
        "size_max": max((e["bytes"] for e in data), default=None),
        "offset_min": min((e["offset"] for e in placed), default=None),
        "offset_max": max((e["offset"] + e["bytes"] for e in placed), default=None),
    }
    for p in (50, 95, 99):
        result[f"time_p{p}_ns"] = percentile(durations, p) if durations else None
    result["asked"] = sum(e.get("size", 0) for e in data)
    result["turns"] = sum("turn" in e for e in data)
    for access in DATA:
        result[access] = sum(e.get("access") == access for e in data)
    return result if data else {**result, **dict.fromkeys(("asked", "turns", *DATA))}


def groups(events, by, width=1_000_000_000):
    """[(values of the keys, metrics)], by time."""
    members = collections.defaultdict(list)
    for event in filter(counts, events):
        if "file" not in by or "file" in event:
            members[tuple(value_of(event, key, width) for key in by)].append(event)
    found = [(key, metrics(of)) for key, of in members.items()]
    return sorted(found, key=lambda group: (-group[1]["time_ns"], repr(group[0])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by", default="class")
    parser.add_argument("--width", type=int, default=1_000_000_000)
    options = parser.parse_args()
    by = options.by.split(",")
    for key, values in groups(map(json.loads, sys.stdin), by, options.width):
        print(json.dumps({**dict(zip(by, key)), **values}))


if __name__ == "__main__":
    main()
