# SPDX-License-Identifier: MIT
"""Cross-rank analysis of telemetry, written a second time from its rules: what dftmerge ranks is compared with."""

import collections
import statistics

INTEGERS = {"timestamp_ns": 0, "sampling_interval_ms": 0, "pid": -1, "device_id": None, "allocator_allocated_bytes": 0,
            "allocator_reserved_bytes": 0, "allocator_change_bytes": None, "device_used_bytes": 0}
MAYBE = ("allocator_active_bytes", "allocator_inactive_bytes", "device_free_bytes", "device_total_bytes")


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def identity(record, metadata):
    found = {}
    for name, default in (("rank", 0), ("local_rank", 0), ("world_size", 1), ("job_id", None)):
        value = record.get(name)
        found[name] = value if value is not None else metadata.get(name, default)
        if found[name] is None:
            found[name] = default
    if not all(is_int(found[n]) for n in ("rank", "local_rank", "world_size")):
        return None
    if found["job_id"] is not None and not is_text(found["job_id"]):
        return None
    if found["rank"] < 0 or found["local_rank"] < 0 or max(found["rank"], found["local_rank"]) >= found["world_size"]:
        return None
    return found


def sizes_fit(used, free, total):
    if used < 0 or (free is not None and free < 0) or (total is not None and total < 0):
        return False
    return total is None or (used <= total and (free is None or free <= total))


def read_new(record):
    for name, least in INTEGERS.items():
        if not is_int(record.get(name)) or (least is not None and record[name] < least):
            return None
    for name in MAYBE:
        if name not in record or not (record[name] is None or (is_int(record[name]) and record[name] >= 0)):
            return None
    if not all(is_text(record.get(n)) for n in ("event_type", "collector", "host")) or "context" not in record:
        return None
    if not isinstance(record.get("metadata"), dict) or not isinstance(record["context"], (str, type(None))):
        return None
    who = identity(record, record["metadata"])
    if who is None or not sizes_fit(record["device_used_bytes"], record["device_free_bytes"], record["device_total_bytes"]):
        return None
    return dict(who, time=record["timestamp_ns"], used=record["device_used_bytes"], pid=record["pid"], host=record["host"],
                interval=record["sampling_interval_ms"], sample=record["event_type"].lower() == "sample")


def read_old(record):
    """Of before versions; what the tests write of these is well-formed."""
    metadata = dict(record.get("metadata") or {})
    metadata.update({k[9:]: v for k, v in record.items() if k.startswith("metadata_")})
    if "timestamp_ns" in record:
        time = record["timestamp_ns"]
    elif isinstance(record.get("timestamp"), (int, float)):
        time = int(float(record["timestamp"]) * 1_000_000_000)
    else:
        return None
    if "memory_allocated" in record:
        used = record["memory_allocated"]
    else:
        used = int(float(record.get("memory_mb", 0)) * 1024 ** 2)
    used = record.get("device_used_bytes", used)
    total = next((record[k] for k in ("device_total_bytes", "total_memory", "device_total", "total_bytes") if k in record),
                 next((metadata[k] for k in ("total_memory", "device_total", "total_bytes") if k in metadata), None))
    who = identity(record, metadata)
    if who is None or not sizes_fit(used, record.get("device_free_bytes"), total):
        return None
    kind = record.get("event_type", record.get("type", "sample"))
    return dict(who, time=time, used=used, pid=record.get("pid", metadata.get("pid", -1)),
                host=record.get("host", metadata.get("host", "unknown")), interval=record.get("sampling_interval_ms", 0),
                sample=kind.lower() == "sample")


def read(record):
    """What counts of a record; None: it is bad."""
    if not isinstance(record, dict):
        return None
    if "schema_version" in record:
        return read_new(record) if record["schema_version"] == 2 and is_int(record["schema_version"]) else None
    return read_old(record)


def most_common(values):
    counts = collections.Counter(values)
    return max(counts, key=lambda v: (counts[v], -values.index(v))) if counts else None


def interval_of(ranks):
    steps = [b["time"] - a["time"] for s in ranks.values() for a, b in zip(s, s[1:]) if b["time"] > a["time"]]
    steps = steps or [e["interval"] * 10 ** 6 for s in ranks.values() for e in s if e["interval"] > 0]
    if not steps:
        return 0
    return (statistics.median_low(steps) + statistics.median_high(steps)) // 2


def spike_of(rank, samples, offset):
    threshold = max(64 << 20, max(e["used"] for e in samples) // 10)
    window = []
    for before, now in zip(samples, samples[1:]):
        rise = now["used"] - before["used"]
        window = window + [rise] if rise > 0 else []
        if sum(window) >= threshold:
            return {"rank": rank, "at": now["time"], "aligned": now["time"] - offset, "sum": sum(window), "n": len(window)}
    return None


def first_cause(ranks, offsets, interval, missing):
    """Onset, suspects, notes."""
    notes = []
    if len(ranks) < 2:
        return None, [], ["At least two ranks are required for cross-rank first-cause analysis."]
    few = sorted(r for r in ranks if len(ranks[r]) < 2)
    if few:
        notes.append("Some ranks have fewer than two samples and cannot contribute to spike detection: "
                     + ", ".join(map(str, few)) + ".")
    spikes = [s for s in (spike_of(r, ranks[r], offsets[r]) for r in ranks if len(ranks[r]) > 1) if s]
    spikes.sort(key=lambda s: (s["aligned"], -s["sum"], s["rank"]))
    if not spikes:
        return None, [], notes + ["No qualifying cross-rank spikes were detected."]
    onset = spikes[1]["aligned"] if len(spikes) > 1 else None
    if onset is None:
        notes.append("Only one rank produced a qualifying spike; confidence is limited.")
    suspects = [s for s in spikes if s["aligned"] <= (spikes[0]["aligned"] if onset is None else onset)]
    first = spikes[0]["aligned"]
    result = []
    for s in suspects:
        lead = 0 if onset is None else onset - s["aligned"]
        sparse = bool(few or missing)
        confidence = "low"
        if onset is not None and s["aligned"] == first and not sparse:
            alone = sum(x["aligned"] == first for x in suspects) == 1
            confidence = "high" if alone and (interval <= 0 or lead >= interval) else "medium"
        result.append({
            "rank": s["rank"], "first_spike_timestamp_ns": s["at"], "aligned_first_spike_timestamp_ns": s["aligned"],
            "peak_delta_bytes": s["sum"], "spike_window_samples": s["n"], "lead_over_cluster_onset_ns": lead,
            "confidence": confidence,
            "evidence": {"device_used_delta_bytes": s["sum"], "supporting_ranks_at_or_before_onset": len(suspects)},
            "phase_attribution": None})
    return onset, result, notes


def answer(job, world, ranks, offsets, onset, suspects, notes, missing, order):
    return {"job_id": job, "world_size": world, "participating_ranks": sorted(ranks), "missing_ranks": missing,
            "rank_sample_counts": {str(r): len(ranks[r]) for r in order},
            "alignment_offsets_ns": {str(r): offsets[r] for r in sorted(ranks)}, "cluster_onset_timestamp_ns": onset,
            "first_cause_suspects": suspects, "notes": list(dict.fromkeys(notes))}


def analyse(records):
    """The summary of a list of records, bad ones left out."""
    events = [e for e in map(read, records) if e]
    notes = [] if all(e["sample"] for e in events) else ["Ignored non-sample events during cross-rank analysis."]
    if not events:
        notes.append("No telemetry events were provided.")
    events = [e for e in events if e["sample"]]
    if not events:
        notes.append("No sample telemetry events were available for distributed analysis.")
        return answer(None, 0, {}, {}, None, [], notes, [], [])
    jobs = [e["job_id"] for e in events if e["job_id"]]
    job = most_common(jobs)
    if len(set(jobs)) > 1:
        notes.append("Multiple job_id values were observed; filtering to the most common value.")
        events = [e for e in events if e["job_id"] == job]
    order = list(dict.fromkeys(e["rank"] for e in events))
    ranks = {r: sorted((e for e in events if e["rank"] == r), key=lambda e: (e["time"], e["pid"], e["host"]))
             for r in sorted(order)}
    world = max(most_common([e["world_size"] for e in events if e["world_size"] > 1]) or 1, max(order) + 1)
    missing = [r for r in range(world) if r not in ranks]
    if missing:
        notes.append("Missing rank data for ranks: " + ", ".join(map(str, missing)) + ".")
    interval = interval_of(ranks)
    anchor = ranks[min(ranks)][0]["time"]
    offsets = {r: ranks[r][0]["time"] - anchor for r in ranks}
    notes += [f"Rank {r} starts {o} ns from the anchor; first-sample alignment may be approximate."
              for r, o in offsets.items() if interval > 0 and abs(o) > 5 * interval]
    onset, suspects, more = first_cause(ranks, offsets, interval, missing)
    return answer(job, world, ranks, offsets, onset, suspects, notes + more, missing, order)
