# SPDX-License-Identifier: MIT
"""The trace against the program's own account: every call once, with its file, offset, bytes, result and errno."""

import collections
import json

from fuzz_log import get, number, text

# Why an offset may be null in a trace: a name, and when it holds for a call. Everything else must be exact.
NULLS = {
    "threads move one offset": lambda call: "race" in call.facts,
    "a transfer from and to one open file": lambda call: call.facts.get("same") == "1",
    "a stream that appends: where depends on when its buffer is written": lambda call: "serial" in call.facts and
    "appends" in call.facts,
    "a stream whose open file is used by other descriptors or streams, too": lambda call: "serial" in call.facts and
    "mixed" in call.facts,
    "a stream on what another process shares": lambda call: "serial" in call.facts and "shared" in call.facts,
}

Finding = collections.namedtuple("Finding", "kind call text")


class Table:
    """calls.def, as dftmerge tells it."""

    def __init__(self, calls):
        self.by_entry = {entry: row for row in calls for entry in row["entry_points"]}

    def row(self, name):
        return self.by_entry.get(name)

    def follows(self, origin):
        """Is a descriptor from this call known from its beginning? "exec" is none."""
        row = self.row(origin)
        return origin == "" or (row is not None and row["op"] != "FRESH")

    def unknown(self, names):
        return [name for name in names.split(",") if name and not self.row(name)]


class Checker:
    def __init__(self, table):
        self.table = table
        self.findings = []
        self.counts = collections.Counter()  # what was compared, and what was not
        self.missing = collections.Counter()  # calls that are not in calls.def
        self.nulls = collections.Counter()

    def found(self, kind, call, what):
        self.findings.append(Finding(f"{kind}: {call.name}" if call else kind, call, what))

    # --- which calls must be in the trace ---

    def expected(self, call):
        """True, False, or None: either is right."""
        row, facts = self.table.row(call.name), call.facts
        if row is None:
            self.missing[call.name] += 1
            return False
        if row["cat"] == "PROCESS" or row["op"] == "FRESH" or "nothing" in facts:
            return False
        if "all" in facts:
            return None  # fflush(NULL): of no one file
        if "out_fd" in facts:
            return "out" not in facts or facts["out_out"] == "0"
        if "out" in facts:
            return False
        if "first" in facts or "~first" in facts:
            return True
        files = [get(call, key, "") for key in ("file", "file2")]
        if not any(f.startswith("/") and "/outside" not in f for f in files):
            return False
        if "origin" in facts and not self.table.follows(facts["origin"]) and \
                not any(self.table.row(name) for name in facts["seen"].split(",")):
            copies = call.name == "fcntl" and number(call, "flags") in (0, 1030)  # F_DUPFD, F_DUPFD_CLOEXEC
            if row["op"] in ("CLOSE", "DUP") or copies:
                return False  # nothing is asked about a descriptor only to close or copy it
        return True

    # --- one call and its event ---

    def offset(self, call, at, event):
        """An offset that the trace gives is right; it gives one unless a rule says that it need not."""
        got = event.get("offset")
        nothing = not number(call, "moved") and "appends" in call.facts and "write" in call.name
        if at < 0 or got == at or nothing:
            self.counts["offsets that are exact"] += at >= 0
            return
        if got is not None and "serial" in call.facts and "mixed" in call.facts:
            self.counts["offsets of streams that are mixed with other handles without handing over: not even libc knows"] += 1
            return
        strangers = self.table.unknown(get(call, "by", ""))
        if strangers:
            self.counts[f"offsets behind a call that is not in calls.def ({', '.join(strangers)})"] += 1
        elif got is None and not self.table.follows(get(call, "origin", "")):
            self.nulls["a descriptor whose origin is not followed"] += 1
        elif got is None:
            for reason, holds in NULLS.items():
                if holds(call):
                    self.nulls[reason] += 1
                    return
            self.found("offset is null", call, f"it was {at}: {text(call)}")
        else:
            self.found("offset is wrong", call, f"{got}: {text(call)}")

    def same_file(self, call, event, key="file", also="also"):
        got = event.get(key)
        right = [f for f in (get(call, key), get(call, also)) if f]
        if right and got not in right:
            self.found(f"{key} is wrong", call, f"{got!r}: {text(call)}")

    def data(self, call, event):
        unit = number(call, "unit", 1)  # of a last item that is not whole nothing is counted
        if event.get("bytes", 0) != number(call, "moved") // unit * unit and not {"unsure", "mixed"} & set(call.facts) and \
                not number(call, "err"):  # what failed half-way counts no bytes
            self.found("bytes are wrong", call, f"{event.get('bytes')}: {text(call)}")
        vector = call.name.endswith(("v", "v2"))  # nobody looks at the vector of a call that failed
        if number(call, "size") and not (vector and number(call, "err")) and event.get("size", number(call, "size")) != number(call, "size"):
            self.found("size is wrong", call, f"{event['size']}: {text(call)}")
        if not number(call, "err"):
            self.offset(call, number(call, "offset", -1), event)

    def result(self, call, row, event):
        ret, got = number(call, "at", number(call, "ret")), event.get("ret")
        if "gives_fd" in call.facts and ret == 0:
            ret = number(call, "fd")
        if row["op"] in ("FGETS", "FPUTS") or "pointer" in call.facts or got is None:
            return
        if got != ret:
            self.found("result is wrong", call, f"{got}: {text(call)}")

    def one(self, call, event):
        row = self.table.row(call.name)
        self.counts["calls compared"] += 1
        if "out_fd" in call.facts:
            self.transfer(call, event)
            return
        self.same_file(call, event)
        if "file2" in call.facts:
            self.same_file(call, event, "file2", "also2")
        if not call.name.startswith("posix_"):
            if event.get("errno", 0) != number(call, "err"):
                self.found("errno is wrong", call, f"{event.get('errno')}: {text(call)}")
            self.result(call, row, event)
        if "data" in call.facts:
            self.data(call, event)
        elif row["op"] == "TRUNCATE" and event.get("offset") != number(call, "offset"):
            self.found("length is wrong", call, f"{event.get('offset')}: {text(call)}")
        if "fd" in event and get(call, "fd") is not None and event["fd"] != number(call, "fd"):
            self.found("descriptor is wrong", call, f"{event['fd']}: {text(call)}")
        if "flags" in event and "flags" in call.facts and event["flags"] != number(call, "flags"):
            self.found("flags are wrong", call, f"{event['flags']}: {text(call)}")

    def transfer(self, call, event):
        """The reading half, or the only one."""
        facts = call.facts
        writes = event.get("calls", 1) == 0 or "out" in facts
        file = [get(call, "out_file"), get(call, "out_also")] if writes else [get(call, "file"), get(call, "also")]
        if event.get("file") not in file:
            self.found("file is wrong", call, f"{event.get('file')!r}: {text(call)}")
        if event.get("bytes", 0) != number(call, "moved"):
            self.found("bytes are wrong", call, f"{event.get('bytes')}: {text(call)}")
        if event.get("calls", 1) and event.get("errno", 0) != number(call, "err"):
            self.found("errno is wrong", call, f"{event.get('errno')}: {text(call)}")
        if not number(call, "err"):
            self.offset(call, number(call, "out_offset" if writes else "offset", -1), event)

    # --- a thread's calls and events, in order ---

    def thread(self, log, events):
        calls = [c for c in log.calls]
        wanted = [(c, self.expected(c)) for c in calls]
        wanted = [(c, sure) for c, sure in wanted if sure is not False]
        runs = {self.table.row(c.name)["name"] for c, _ in wanted if "char" in c.facts}
        self.runs(log, [c for c, _ in wanted if "char" in c.facts], [e for e in events if e["name"] in runs])
        self.in_order([(c, s) for c, s in wanted if "char" not in c.facts], [e for e in events if e["name"] not in runs])

    def matches(self, call, event):
        return self.table.row(call.name)["name"] == event["name"]

    def is_it(self, call, event):
        """Also by descriptor and file: tells which of several calls of the same name is missing."""
        if "out_fd" in call.facts:
            names = [get(call, key) for key in ("file", "also", "out_file", "out_also")]
            return self.matches(call, event) and event.get("errno", 0) == number(call, "err") and event["file"] in names \
                and event.get("bytes", 0) == number(call, "moved")
        return self.matches(call, event) and event.get("fd", -1) == number(call, "fd", event.get("fd", -1)) and \
            ("file" not in event or
             event["file"] in (get(call, "file"), get(call, "also"))) and event.get("errno", 0) == number(call, "err")

    def later(self, wanted, i, event):
        return any(self.is_it(call, event) for call, _ in wanted[i + 1:i + 4])

    def in_order(self, wanted, events):
        i = j = 0
        while i < len(wanted) or j < len(events):
            call, sure = wanted[i] if i < len(wanted) else (None, True)
            if call and j < len(events) and self.matches(call, events[j]) and not self.is_it(call, events[j]) and \
                    self.later(wanted, i, events[j]):
                if sure:
                    self.found("not in the trace", call, text(call))
                i += 1
            elif call and j < len(events) and self.matches(call, events[j]):
                self.one(call, events[j])
                i, j = i + 1, j + 1
                if j < len(events) and events[j].get("calls") == 0 and "out_fd" in call.facts:
                    self.one(call, events[j])
                    j += 1
                elif "out_fd" in call.facts and not number(call, "err") and "out" not in call.facts and call.facts["out_out"] == "0":
                    self.found("no second half", call, text(call))
            elif call and not sure:
                i += 1
            elif call and (j >= len(events) or self.later(wanted, i, events[j])):
                self.found("not in the trace", call, text(call))
                i += 1
            else:
                self.found("invented", None, f"{events[j]['name']}, before {text(call) if call else 'the end'}: "
                                             f"{json.dumps(events[j])}")
                j += 1

    def runs(self, log, calls, events):
        """An unbroken run of a call on a stream may be one event with its number."""
        streams = collections.defaultdict(list)
        for call in log.calls:
            if "serial" in call.facts and self.table.row(call.name):
                streams[call.facts["serial"]].append(call.index)
        place = {index: n for indices in streams.values() for n, index in enumerate(indices)}
        waiting = collections.defaultdict(list)
        for event in events:
            waiting[event["name"], event.get("fd")].append(event)
        by_key = collections.defaultdict(list)
        for call in calls:
            by_key[self.table.row(call.name)["name"], number(call, "fd", None)].append(call)
        for key in sorted(set(by_key) | set(waiting), key=str):
            mine, at = by_key[key], 0
            for event in waiting[key]:
                run = mine[at:at + event.get("calls", 1)]
                at += event.get("calls", 1)
                if len(run) < event.get("calls", 1):
                    self.found("invented", None, json.dumps(event))
                    continue
                self.run(run, event, place)
            for call in mine[at:]:
                self.found("not in the trace", call, text(call))

    def run(self, run, event, place):
        first = run[0]
        self.counts["calls compared"] += len(run)
        self.counts["runs"] += len(run) > 1
        for one, other in zip(run, run[1:]):
            if place[other.index] != place[one.index] + 1 or one.facts["serial"] != other.facts["serial"]:
                self.found("a run goes over another call", other, text(other))
        self.same_file(first, event)
        # A line with NUL bytes is as long as the stream's position tells, where that is known.
        unsure = any("unsure" in c.facts or "nul" in c.facts and {"shared", "mixed", "appends"} & set(c.facts) for c in run)
        if event.get("bytes", 0) != sum(number(c, "moved") for c in run) and not unsure:
            self.found("bytes are wrong", first, f"{event.get('bytes')} in {len(run)} calls: {text(first)}")
        errors = {number(c, "err") for c in run}
        if event.get("errno", 0) not in errors or (len(errors) > 1 and "errno" not in event):
            self.found("errno is wrong", first, f"{event.get('errno')}, {sorted(errors)} in {len(run)} calls: {text(first)}")
        if errors == {0}:
            self.offset(first, number(first, "offset", -1), event)


def check(table, logs, events):
    """Compares; returns the checker."""
    checker = Checker(table)
    threads = collections.defaultdict(list)
    for event in events:
        if event["cat"] in ("POSIX", "STDIO"):
            threads[event["pid"], event["tid"]].append(event)
    for log in logs.values():
        checker.thread(log, sorted(threads.pop((log.pid, log.tid), []), key=lambda e: (e["ts"], e["seq"])))
    for (pid, tid), left in threads.items():
        checker.found("invented", None, f"{len(left)} events of {pid}/{tid}, which made no calls: {json.dumps(left[0])}")
    return checker
