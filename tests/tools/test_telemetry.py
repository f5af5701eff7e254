# SPDX-License-Identifier: MIT
"""dftmerge ranks on telemetry files: the given examples exactly, random ones against an independent implementation, and what
is wrong with a file told by file and record."""

import json
import os
import pathlib
import random

from cross_rank import analyse, read
from tooltest import dftmerge, run, DFTMERGE, ROOT

EXAMPLE = pathlib.Path(__file__).resolve().parent / "telemetry" / "in_lead.json"
DATA = ROOT.parent / "shared" / "data" / "telemetry"
MIB = 1 << 20


def record(rank=0, time=0, used=1 << 30, **more):
    result = {"schema_version": 2, "timestamp_ns": 1_700_000_000_000_000_000 + time, "event_type": "sample", "collector": "test",
              "sampling_interval_ms": 100, "pid": 1, "host": "host-0", "job_id": "job", "rank": rank, "local_rank": 0,
              "world_size": 4, "device_id": 0, "allocator_allocated_bytes": used, "allocator_reserved_bytes": used,
              "allocator_active_bytes": None, "allocator_inactive_bytes": None, "allocator_change_bytes": 0,
              "device_used_bytes": used, "device_free_bytes": 0, "device_total_bytes": 16 << 30, "context": None,
              "metadata": {}}
    result.update(more)
    return result


def ask(path, expect=0):
    done = dftmerge("ranks", "--json", path, expect=expect)
    return json.loads(done.out), done.err


def same(got, wanted, what):
    """Equal, and members in the same order."""
    assert json.dumps(got) == json.dumps(wanted), f"{what}:\n got {json.dumps(got)}\nwant {json.dumps(wanted)}"


def example(folder, name):
    wanted = json.loads((folder / name.name.replace("in_", "out_")).read_text())
    for suspect in wanted["first_cause_suspects"]:  # some were made before there were phases, which samples of ours never have
        suspect["phase_attribution"] = None
    same(ask(name)[0], wanted, name.name)
    same(analyse(json.loads(name.read_text())), wanted, "the implementation in Python: " + name.name)


def test_the_examples_come_out_exactly():
    """Rank 1 grows first, in two steps that only together are a tenth of what it has; rank 0 after a fall; rank 2 behind the onset."""
    example(EXAMPLE.parent, EXAMPLE)
    names = sorted(DATA.glob("in_*.json"))
    if not names:
        print("        no shared data here: the given examples are not tested")
    for name in names:
        example(DATA, name)


def test_telemetry_takes_no_filters():
    for option in (["--rank", "0"], ["--name", "read"], ["--from", "1"]):
        done = dftmerge("ranks", *option, EXAMPLE, expect=2)
        assert option[0] in done.err and "looked at whole" in done.err and not done.out


def random_events(rng):
    """A job of a few ranks with steps, ramps and noise; ties, gaps, other jobs, other events and repetitions, all likely."""
    ranks = rng.randrange(1, 7)
    world = rng.choice([1, ranks, ranks, ranks + rng.randrange(3)])
    step = rng.choice([10 ** 6, 10 ** 8, 10 ** 8 + 7])
    events = []
    for rank in rng.sample(range(ranks), rng.randrange(1, ranks + 1)):
        used = rng.randrange(1 << 31)
        start = rng.choice([0, 0, step // 3, 7 * step, rng.randrange(20 * step)])
        for i in range(rng.choice([1, 2, 3, 5, 12])):
            used += rng.choice([0, 0, -1, 1, 30 * MIB, 64 * MIB, 64 * MIB - 1, 300 * MIB, -100 * MIB])
            used = max(0, min(used, 16 << 30))
            events.append(record(rank, start + i * step + rng.choice([0, 0, 0, rng.randrange(step), -i * step]), used,
                                 world_size=max(world, rank + 1), pid=rng.choice([1, 1, 2, -1]),
                                 host=rng.choice(["a", "b", "\u00e4", "a\u0001"]),
                                 job_id=rng.choice(["x", "x", "x", rng.choice(["x", "y", None])]),
                                 event_type=rng.choice(["sample"] * 9 + ["SAMPLE", "alloc", "Sample "]),
                                 sampling_interval_ms=rng.choice([0, 100, 250])))
    rng.shuffle(events) if rng.random() < 0.5 else None
    return events


def spoil(rng, event):
    """Bad in one of many ways."""
    event = dict(event)
    what = rng.randrange(8)
    if what == 0:
        event[rng.choice(["device_used_bytes", "pid", "timestamp_ns", "rank"])] = rng.choice([1.5, "7", True, [], -7])
    elif what == 1:
        del event[rng.choice(["device_used_bytes", "timestamp_ns", "host", "metadata", "context", "collector"])]
    elif what == 2:
        event["device_total_bytes"] = event["device_used_bytes"] - 1
    elif what == 3:
        event["device_free_bytes"] = event["device_total_bytes"] + 1
    elif what == 4:
        event["world_size"] = event["rank"]
    elif what == 5:
        event["schema_version"] = rng.choice([1, 3, "2", None])
    elif what == 6:
        event[rng.choice(["host", "event_type", "job_id"])] = rng.choice(["", "  ", 5])
    else:
        return rng.choice([None, 5, "text", [], [event]])
    return event


def legacy(rng, event):
    """The same sample as it was written before there were versions, or in part so."""
    old = {"device_total_bytes": event["device_total_bytes"]}
    seconds = rng.random() < 0.7
    old["timestamp" if seconds else "timestamp_ns"] = event["timestamp_ns"] / 1e9 if seconds else event["timestamp_ns"]
    way = rng.randrange(3)
    if way == 0:
        old["memory_allocated"], old["memory_reserved"] = event["device_used_bytes"], event["device_used_bytes"]
    elif way == 1:
        old["memory_mb"] = event["device_used_bytes"] / MIB
    else:
        old["memory_allocated"], old["device_used_bytes"] = 5, event["device_used_bytes"]
    if event["event_type"] != "sample" or rng.random() < 0.5:
        old[rng.choice(["type", "event_type"])] = event["event_type"]
    for name in ("rank", "world_size", "job_id", "pid", "host"):
        if event[name] is None:
            continue
        where = rng.randrange(3)
        if where == 0:
            old[name] = event[name]
        elif where == 1:
            old.setdefault("metadata", {})[name] = event[name]
        else:
            old["metadata_" + name] = event[name]
    return old


def written(rng, records):
    """In one of the forms that files have."""
    way = rng.randrange(5)
    indent = rng.choice([None, None, 1])
    if way == 0:
        return json.dumps(records, indent=indent)
    if way == 1:
        return json.dumps({"made_by": {"events": [], "\\\"]": "}[\\"}, "events": records, "more": [1, {}]}, indent=indent)
    if way == 2 and len(records) == 1 and isinstance(records[0], dict):
        return json.dumps(records[0], indent=indent)
    if way == 3:
        half = len(records) // 2
        return json.dumps(records[:half]) + "\n" + json.dumps({"events": records[half:]}) + "\n"
    if all(isinstance(r, dict) for r in records):
        return "".join(json.dumps(r, ensure_ascii=rng.random() < 0.5) + rng.choice(["\n", "\r\n", "\n\n"]) for r in records)
    return json.dumps(records)


def test_random_files_against_python(where):
    rng = random.Random(20)
    bad_files = spikes = 0
    for n in range(int(os.environ.get("DFT_ROUNDS", 250))):
        records = random_events(rng)
        if n % 3 == 1:
            records = [legacy(rng, r) if rng.random() < 0.6 else r for r in records]
        if n % 3 == 2:
            records = [spoil(rng, r) if rng.random() < 0.2 else r for r in records]
        path = where / f"r{n}.json"
        path.write_text(written(rng, records), encoding="utf-8")
        wanted = analyse(records)
        bad = [i for i, r in enumerate(records) if not read(r)]
        got, err = ask(path, expect=1 if bad or not wanted["participating_ranks"] else 0)
        same(got, wanted, path.read_text(encoding="utf-8"))
        for i in bad[:20]:
            assert f"{path}: event {i} (line " in err, (i, err)
        assert err.count(": event ") == len(bad), (bad, err)
        bad_files += bool(bad)
        spikes += bool(wanted["first_cause_suspects"])
    assert bad_files > 20 and spikes > 50


def test_damaged_files_give_what_they_have(where):
    good = [record(r, t * 10 ** 8, (1 << 30) + t * 100 * MIB * (r == 1)) for r in (0, 1) for t in range(4)]
    text = json.dumps(good)
    path = where / "a.json"
    for cut in (len(text) - 1, len(text) - 2, len(text) // 2, len(text) // 3, 30):
        path.write_text(text[:cut])
        whole = 0
        while whole < len(good) and len(json.dumps(good[:whole + 1])) - 1 <= cut:
            whole += 1
        got, err = ask(path, expect=1)
        same(got, analyse(good[:whole]), cut)
        assert "cut off" in err, err
    lines = [json.dumps(r) for r in good]
    torn = lines[:3] + [lines[3][:100]] + lines[4:6] + [lines[6][:300] + lines[7]] + lines[7:]
    path.write_text("\n".join(torn))
    got, err = ask(path, expect=1)
    same(got, analyse(good[:3] + good[4:6] + good[7:]), "torn lines")
    assert "event 3 (line 4): " in err and "event 6 (line 7): " in err, err
    path.write_text("[" + ",".join(lines[:3] + [lines[3].replace('"pid": 1', '"pid": 01x')] + lines[4:]) + "]")
    got, err = ask(path, expect=1)
    same(got, analyse(good[:3] + good[4:]), "one that is no JSON")
    assert "event 3 (line 1): no JSON" in err, err


def test_odd_files_are_told(where):
    for text, message in (("", "empty"), ("  \n", "empty"), ("hello", "neither an object nor a list"), ("{}", "neither schema_version"),
                          ('{"traceEvents": []}', "neither schema_version"), ("[[[[", "cut off"), ("[}", "a bracket too many"),
                          ("\x00\x01", "neither"), ('{"schema_version": 3}', "schema_version 3 is not known"),
                          (json.dumps(record(world_size=1 << 40)), "is not believed"),
                          (json.dumps(record(timestamp_ns=1 << 62)), "is not believed"),
                          (json.dumps(record(device_used_bytes=1 << 70)), "too large"), ("[" * 100000, "cut off"),
                          (json.dumps([{"a": 1}]) + "[" * 200 + "]" * 200, "not an object")):
        (where / "odd.json").write_text(text)
        got, err = ask(where / "odd.json", expect=1)
        assert message in err and got["participating_ranks"] == [], (text[:50], err)
    (where / "odd.json").write_text("[]")
    assert ask(where / "odd.json", expect=1)[0]["notes"] == [
        "No telemetry events were provided.", "No sample telemetry events were available for distributed analysis."]
    assert "No such file" in run(DFTMERGE, "ranks", where / "none.json").err


def test_several_files_and_directories(where):
    events = [record(r, t * 10 ** 8, (1 << 30) + t * 100 * MIB * (r == 2)) for r in range(4) for t in range(4)]
    (where / "d" / "deep").mkdir(parents=True)
    for rank in range(4):
        name = ("a.json", "b.jsonl", "deep/c.ndjson", "z.json")[rank]
        (where / "d" / name).write_text(written(random.Random(rank), [e for e in events if e["rank"] == rank]))
    (where / "d" / "notes.txt").write_text("not read")
    same(ask(where / "d")[0], analyse(events), "a directory")
    parts = [where / "d" / n for n in ("z.json", "a.json", "deep/c.ndjson", "b.jsonl")]
    got = json.loads(dftmerge("ranks", "--json", *parts).out)
    same(got, analyse(events[12:] + events[:4] + events[8:12] + events[4:8]), "files in an order of their own")


def test_text_says_first_what_matters(where):
    done = dftmerge("ranks", EXAMPLE)
    lines = done.out.decode().splitlines()
    assert "rank 1's memory rose first: by 160 MiB, 250 ms before the second rank's (confidence: high)" in lines[0], lines
    events = [record(r, t * 10 ** 8, job_id="\x1b[31m", world_size=4000) for r in range(0, 4000, 3) for t in range(2)]
    (where / "many.json").write_text(json.dumps(events))
    out = dftmerge("ranks", where / "many.json").out
    assert b"\x1b" not in out and b"\\x1b" in out
    assert len(out.decode().splitlines()) < 20 and max(map(len, out.decode().splitlines())) < 420
    assert b"1,334 of 4,000" in out or b"1334 of 4000" in out
