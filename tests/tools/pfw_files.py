# SPDX-License-Identifier: MIT
"""Small DFTracer traces in every dialect, and what an independent reading of any of them comes to."""

import collections
import gzip
import json

DIALECTS = ("2023", "1.0.5", "2024", "1.0.6", "1.0.8", "2.x")
HOST = "node17"


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text.encode("utf-8", "surrogateescape"):
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value | 1 << 63  # above 2^53, and above what a signed number holds


def hash_of(dialect, text):
    if dialect == "2024":
        return fnv(text) % 65536
    return f"{fnv(text):016x}" if dialect in ("1.0.6", "2.x") else fnv(text)


class Writer:
    """Lines of one process. `call` takes what a call was, whatever the dialect makes of it."""

    def __init__(self, dialect, pid=4711, host=HOST, rank=None):
        self.dialect, self.pid, self.host, self.lines, self.id, self.known = dialect, pid, host, [], 0, set()
        if dialect not in ("2023", "1.0.5"):
            self.metadata("HH", host, hash_of(dialect, host))
        if dialect != "2023":
            self.metadata("thread_name", str(pid), "thread_name")
        if rank is not None:
            self.metadata("PR", "rank", str(rank))

    def add(self, record):
        record = dict(record)
        if self.dialect == "2023":
            for key in ("id", "pid", "tid", "ts", "dur"):
                if key in record:
                    record[key] = str(record[key])
        self.lines.append(json.dumps(record, separators=(",", ":")))

    def head(self, name, category, tid, kind, phase):
        record = {"id": self.id, "name": name, "cat": category}
        self.id += 1
        if self.dialect == "2.x":
            record["type"] = kind
        record.update(pid=self.pid, tid=self.pid if tid is None else tid, ph=phase)
        return record

    def metadata(self, name, key, value):
        record = self.head(name, "dftracer", None, 1, 4 if self.dialect == "2.x" else "M")
        record["args"] = {"name": key, "value": value}
        if self.dialect == "2.x":
            del record["id"]
        self.add(record)

    def call(self, category, name, ts, dur, file=None, tid=None, **args):
        new = self.dialect not in ("2023", "1.0.5")
        if file is not None and new and file not in self.known:
            self.known.add(file)
            self.metadata("FH", file, hash_of(self.dialect, file))
        record = self.head(name, category, tid, 3, 1 if self.dialect == "2.x" else "X")
        record.update(ts=ts, dur=dur)
        members = {"hhash": hash_of(self.dialect, self.host)} if new else {"hostname": self.host}
        if self.dialect != "2023":
            members.update(p_idx=-1, level=1)
        if file is not None:
            members["fhash" if new else "fname"] = hash_of(self.dialect, file) if new else file
        members.update(args)
        if self.dialect == "2023":
            members = {k: str(v) if isinstance(v, int) and v > 100 else v for k, v in members.items()}
        record["args"] = dict(reversed(list(members.items()))) if self.id % 2 else members
        self.add(record)

    def text(self, frame="[]"):
        begin = "[\n" if "[" in frame else ""
        return begin + "\n".join(self.lines) + ("\n]" if "]" in frame else "\n")


def write(path, text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


# --- the independent reading --------------------------------------------------------------------------------------------


def number(value, default=0):
    return int(value) if value is not None else default


def bytes_of(record):
    """Bytes moved, by the rule of the analysers. A region's size is an argument of it."""
    args = record.get("args", {})
    result = number(args.get("ret"))
    if record["cat"] == "POSIX" and ("read" in record["name"] or "write" in record["name"]):
        return max(result, 0)
    if record["cat"] == "STDIO" and ("fread" in record["name"] or "fwrite" in record["name"]):
        return max(result, 0) * number(args.get("size"), 1)
    return 0


def read_events(path):
    """Complete events of a file with valid lines: (cat, name, file, start ns, dur ns, bytes, rank)."""
    opener = gzip.open if path.suffix == ".gz" else open
    names, rank, events = {}, None, []
    with opener(path, "rb") as lines:
        for line in lines:
            text = line.decode("utf-8", "surrogateescape").strip().strip("[],").strip()
            if not text:
                continue
            record = json.loads(text)
            args = record.get("args", {})
            if record["ph"] in ("M", 4):
                if record["name"] == "FH":
                    names[args["value"]] = args["name"]
                if record["name"] == "PR" and args["name"] == "rank":
                    rank = int(args["value"])
            elif record["ph"] in ("X", 1):
                file = args.get("fname", names.get(args.get("fhash")))
                if file and len(file) > 1 and file.endswith("/"):  # that directory
                    file = file.rstrip("/") or "/"
                events.append((record["cat"], record["name"], file, int(record["ts"]) * 1000,
                               int(record["dur"]) * 1000, bytes_of(record), None))
    return [event[:6] + (rank,) for event in events]


def group(events, *keys):
    """count, time, bytes by columns of read_events."""
    groups = collections.defaultdict(lambda: [0, 0, 0])
    for event in events:
        entry = groups[tuple(event[k] for k in keys)]
        entry[0] += 1
        entry[1] += event[4]
        entry[2] += event[5]
    return {key: tuple(entry) for key, entry in groups.items()}
