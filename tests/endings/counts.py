# SPDX-License-Identifier: MIT
"""Reads what ends.c counted, and compares it with a trace: all that returned, once, and nothing that was not started."""

import collections
import os
import struct

KINDS = ("write", "read", "putc", "getc", "region", "aio", "map", "late")
NAMES = {"w": {"pwrite": "write", "pread": "read", "mmap": "map"}, "p": {"putc": "putc"}, "g": {"getc": "getc"},
         "a": {"aio_write": "aio"}}
SLOT = 8 + 8 * len(KINDS) * 2 + 8 + 48
HEADER = 64
SLOTS = 1024
LATE = 1 << 36

Slot = collections.namedtuple("Slot", "number pid tid started returned open")


def create(path):
    path.write_bytes(bytes(HEADER + SLOTS * SLOT))


def read(path):
    data = path.read_bytes()
    slots, images = struct.unpack_from("<II", data)
    found = []
    for i in range(slots):
        fields = struct.unpack_from(f"<II{2 * len(KINDS) + 1}Q", data, HEADER + i * SLOT)
        found.append(Slot(i, fields[0], fields[1], dict(zip(KINDS, fields[2:])),
                          dict(zip(KINDS, fields[2 + len(KINDS):])), fields[-1]))
    return found, images


def kind_of(event):
    """The slot that made it and its kind; None for what is not counted."""
    if event["cat"] == "ends":
        what, _, number = event["name"].partition(" ")
        return (int(number), what) if what == "region" or what == "outer" else None
    number, dot, letter = os.path.basename(event.get("file", "")).partition(".")
    kind = NAMES.get(letter, {}).get(event["name"]) if dot and number.isdigit() else None
    if kind == "write" and event.get("offset", 0) >= LATE:
        kind = "late"
    return (int(number), kind) if kind else None


class Found:
    """Events of one slot."""

    def __init__(self, pid):
        self.pid = pid
        self.calls = collections.Counter()
        self.offsets = collections.Counter()
        self.writers = set()
        self.outer = []
        self.strange = []

    def add(self, kind, event):
        if kind == "outer":
            self.outer.append(event)
            return
        if kind == "region" and set(event.get("args", {})) - {"at", "ended_by"}:
            self.strange.append(event["args"])
        if event.get("open") or event.get("phase"):  # in flight; a request whose end nobody saw
            return
        self.calls[kind] += event.get("calls", 1)
        if kind != "late" or event["pid"] != self.pid:  # late calls are made by any thread
            self.writers.add((event["pid"], event["tid"]))
        if kind in ("write", "late", "aio"):
            self.offsets[kind, event["offset"]] += 1


def sort(slots, events):
    found = {slot.number: Found(slot.pid) for slot in slots}
    for event in events:
        to = kind_of(event)
        if to and to[0] in found:
            found[to[0]].add(to[1], event)
    return found


def differences(slots, events, clean, half_written=()):
    """What is wrong, as lines of text. clean(slot): did the slot's process end so that its open regions are closed? half_written: how many
    events of each pid were; a thread that was just ending its region, at the end of its process, may have had it among those."""
    found, wrong = sort(slots, events), []
    half_written = collections.Counter(half_written)
    for slot in slots:
        mine = found[slot.number]
        for kind in KINDS:
            if not slot.returned[kind] <= mine.calls[kind] <= slot.started[kind]:
                wrong.append(f"slot {slot.number} (pid {slot.pid}): {mine.calls[kind]} {kind} found, "
                             f"{slot.returned[kind]} returned, {slot.started[kind]} started")
        twice = [f"{kind} at {at}" for (kind, at), n in mine.offsets.items() if n > 1]
        if twice:
            wrong.append(f"slot {slot.number}: twice: {twice[:5]}")
        if mine.writers - {(slot.pid, slot.tid)}:
            wrong.append(f"slot {slot.number}: recorded as {mine.writers}, made by {slot.pid}/{slot.tid}")
        if mine.strange:
            wrong.append(f"slot {slot.number}: arguments of regions: {mine.strange[:5]}")
        closed = [e for e in mine.outer if not e.get("open")]
        if slot.open is None:
            continue
        if slot.open and not mine.outer and half_written[slot.pid]:
            half_written[slot.pid] -= 1
            continue
        if not slot.open <= len(mine.outer) <= 1 or (clean and slot.open and not closed):
            wrong.append(f"slot {slot.number}: {len(mine.outer)} outer regions found, {len(closed)} ended")
        for event in mine.outer:
            given = dict(event.get("args", {}))
            by = given.pop("ended_by", None)
            whole = {"slot": slot.number, "given": slot.number + 0.5, "name": f"outer {slot.number}"}
            if slot.open and not event.get("open") and not by or any(whole.get(key) != given[key] for key in given) or \
                    (given != whole and (slot.open or not event.get("open"))):
                wrong.append(f"slot {slot.number}: outer region with {given}")
    return wrong
