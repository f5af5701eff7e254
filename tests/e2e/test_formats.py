# SPDX-License-Identifier: MIT
"""What dftmerge makes of real traces: merged, checked, exported, listed; every form says the same."""

import collections
import csv
import gzip
import io
import json
import os
import re
import sys
import zlib

from tooltest import csv_text
from tracing import ROOT, compile_program, dftmerge, dump, equal, live_files, run, traces, tracing, true


def job(directory):
    """Some processes, threads, errors and streams. Returns the directory of traces."""
    program = compile_program("known_calls.c", directory / "known_calls", "-fno-inline", "-lpthread")
    (directory / "work").mkdir()
    done = run([program, directory / "work", "1", "2", "4"], env=tracing(directory / "out" / "t", RANK=3, WORLD_SIZE=8))
    equal(done.code, 0, "exit code of the program")
    name = directory / "work" / "a \"quoted\\ name\n\u00e9"
    raw = os.fsencode(directory / "work") + b"/not-utf8-\xff"
    done = run([sys.executable, "-S", "-c", f"open({str(name)!r}, 'w').write('x'); open({raw!r}, 'w')"],
               env=tracing(directory / "out" / "t"))
    equal((done.code, done.err), (0, b""), "exit code of Python")
    return directory / "out"


def totals(events):
    """Calls and bytes by category and name."""
    counts = collections.defaultdict(lambda: [0, 0])
    for event in events:
        if not event.get("open"):
            counts[event["cat"], event["name"]][0] += event.get("calls", 1)
            counts[event["cat"], event["name"]][1] += event.get("bytes", 0)
    return dict(counts)


def strict(text):
    """JSON without NaN, and without keys that stand twice."""
    def pairs(items):
        keys = [k for k, _ in items]
        true(len(keys) == len(set(keys)), f"keys stand twice: {keys}")
        return dict(items)

    def constant(name):
        raise AssertionError(f"{name} is not JSON")
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


def test_perfetto_is_one_strict_object(directory):
    out = job(directory)
    events = dump(out)
    done = dftmerge("export", "--format", "perfetto", "-o", directory / "trace.json", out)
    equal((done.code, done.out), (0, b""), f"export ({done.err.decode()})")
    trace = strict((directory / "trace.json").read_text(encoding="utf-8"))
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    origin = int(trace["otherData"]["origin_ns"])
    equal([origin + round(e["ts"] * 1000) for e in slices], sorted(e["ts"] for e in events), "starts, in order")
    equal(sorted((origin + round(e["ts"] * 1000), round(e["dur"] * 1000), e["tid"], e["name"]) for e in slices),
          sorted((e["ts"], e["dur"], e["tid"], e["name"]) for e in events), "start, duration, thread and name")
    moved = collections.Counter()
    for e in slices:
        moved[e["cat"], e["name"]] += e["args"].get("bytes", 0)
    equal({k: v for k, v in moved.items() if v}, {k: v[1] for k, v in totals(events).items() if v[1]}, "bytes")
    names = {e["file"].encode("utf-8", "surrogateescape").decode("utf-8", "replace") for e in events if "file" in e}  # JSON is Unicode
    equal({e["args"]["file"] for e in slices if "file" in e["args"]}, names, "files")
    named = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"
             and e["name"] == "process_name"}
    equal(set(named), {e["pid"] for e in events}, "processes with a name")
    true(any("known_calls, rank 3" == name for name in named.values()), f"names of processes: {sorted(named.values())}")
    threads = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    equal(threads, {(e["pid"], e["tid"]) for e in events}, "threads with a name")


def test_perfetto_slices_nest(directory):
    """Slices of one thread either follow or contain each other, and the outer one comes first."""
    out = job(directory)
    equal(dftmerge("export", "--format", "perfetto", "-o", directory / "trace.json", out).code, 0, "export")
    open_until = collections.defaultdict(list)
    for e in json.loads((directory / "trace.json").read_text())["traceEvents"]:
        if e["ph"] != "X":
            continue
        start, end = round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)
        stack = open_until[e["pid"], e["tid"]]
        while stack and stack[-1] <= start:
            stack.pop()
        true(not stack or end <= stack[-1], f"{e['name']} at {e['ts']} ends behind what it began in")
        stack.append(end)


def test_perfetto_has_arrows_to_started_processes(directory):
    """From the slice of the call to the process that ps names as its child; also of system, which tells no pid."""
    code = ("import os,subprocess,sys\n"
            "subprocess.run(['/bin/cat', '/etc/hostname'], stdout=subprocess.DEVNULL)\n"
            "os.system('cat /etc/hostname > /dev/null')\n"
            "pid = os.fork()\n"
            "if not pid:\n    open('/etc/hostname').close(); os._exit(0)\n"
            "os.waitpid(pid, 0)\n"
            "os.waitpid(os.posix_spawn('/bin/cat', ['cat', '/dev/null'], os.environ), 0)\n")
    out = directory / "out"
    equal(run(["/usr/bin/python3", "-c", code], env=tracing(out / "t")).code, 0, "traced")
    equal(dftmerge("export", "--format", "perfetto", "-o", directory / "trace.json", out).code, 0, "export")
    events = json.loads((directory / "trace.json").read_text())["traceEvents"]
    begins, ends = ({e["id"]: e for e in events if e["ph"] == phase} for phase in "sf")
    equal(set(begins), set(ends), "arrows have two ends")
    parents = {p["pid"]: p["ppid"] for p in json.loads(dftmerge("ps", "--json", out).out)["processes"]}
    started = {pid for pid, parent in parents.items() if parent in parents and parent != pid}
    equal({e["pid"] for e in ends.values()}, started, "processes that arrows lead to")
    true(len(started) >= 4, f"{len(started)} processes")
    for key, begin in begins.items():
        equal(begin["pid"], parents[ends[key]["pid"]], "the parent")
        around = [e["name"] for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (begin["pid"], begin["tid"])
                  and e["ts"] <= begin["ts"] <= e["ts"] + e["dur"]]
        true(set(around) & {"fork", "vfork", "_Fork", "posix_spawn", "system", "clone"}, f"the arrow begins in {around}")
        true(any(e["ph"] == "X" and e["tid"] == ends[key]["tid"] and e["ts"] >= ends[key]["ts"] for e in events),
             "a slice follows the arrow's end")


def test_perfetto_names_roles(directory):
    out = directory / "out"
    equal(run(["/bin/cat", "/etc/hostname"], env=tracing(out / "t", RANK=3, ROLE="loader")).code, 0, "traced")
    equal(dftmerge("export", "--format", "perfetto", "-o", directory / "trace.json", out).code, 0, "export")
    named = {e["args"]["name"] for e in json.loads((directory / "trace.json").read_text())["traceEvents"]
             if e["ph"] == "M" and e["name"] == "process_name"}
    equal(named, {"cat, rank 3, loader"}, "names of processes")


def annotated(directory, rounds):
    program = compile_program("annotated.c", directory / "annotated", f"-I{ROOT / 'include'}", "-lpthread")
    equal(run([program, directory / "file", rounds]).code, 0, "without the library")
    (directory / "file").unlink()
    equal(run([program, directory / "file", rounds], env=tracing(directory / "out" / "t")).code, 0, "traced")
    return directory / "out"


def test_perfetto_shows_annotations(directory):
    out = annotated(directory, 20)
    equal(dftmerge("export", "--format", "perfetto", "-o", directory / "trace.json", out).code, 0, "export")
    trace = strict((directory / "trace.json").read_text())["traceEvents"]
    by_phase = collections.defaultdict(list)
    for e in trace:
        by_phase[e["ph"]].append(e)
    regions = collections.Counter((e["cat"], e["name"]) for e in by_phase["X"] if e["name"] in ("all", "step", "save"))
    equal(regions, {("phases", "all"): 1, ("APP", "step"): 40, ("APP", "save"): 40}, "regions")
    equal(sorted(e["args"]["queue_depth"] for e in by_phase["C"] if "queue_depth" in e["args"]), sorted(list(range(20)) * 2), "counters, as C")
    equal(collections.Counter(e["name"] for e in by_phase["i"]), {"stepped": 40, "model": 1},
          "instants and metadata, as i")
    true(all(e["s"] in "tpg" for e in by_phase["i"]), "instants have a scope")
    steps = [e["args"] for e in by_phase["X"] if e["name"] == "step"]
    equal(sorted(a["step"] for a in steps), sorted(list(range(20)) * 2), "integer arguments")
    true(all(a["loss"] == 1.0 / (a["step"] + 1) and a["note"] == 'a "quoted" note' for a in steps), "other arguments")
    true("worker" in {e["args"]["name"] for e in by_phase["M"] if e["name"] == "thread_name"}, "the thread's own name")
    inside = []
    for e in sorted((e for e in by_phase["X"]), key=lambda e: (e["tid"], e["ts"], -e["dur"])):
        while inside and (inside[-1][0] != e["tid"] or inside[-1][1] <= e["ts"]):
            inside.pop()
        if e["name"] == "write":
            equal([name for _, _, name in inside][-2:], ["step", "save"], "what a write is inside of")
        inside.append((e["tid"], e["ts"] + e["dur"], e["name"]))


def test_pfw_keeps_annotations(directory):
    out = annotated(directory, 20)
    equal(dftmerge("export", "--format", "pfw", "-o", directory / "trace.pfw", out).code, 0, "export")
    records = [strict(line) for line in (directory / "trace.pfw").read_text().split("\n")[1:-1]]
    counts = collections.Counter((r["cat"], r["name"]) for r in records if r["ph"] == "X")
    equal((counts["phases", "all"], counts["APP", "step"], counts["APP", "save"], counts["APP", "stepped"]),
          (1, 40, 40, 40), "regions")
    levels = {r["name"]: r["args"]["level"] for r in records if r["ph"] == "X"
              and r["name"] in ("step", "save", "write")}
    true(levels["step"] < levels["save"] < levels["write"], f"levels {levels}")
    names = {r["id"]: r["name"] for r in records if r["ph"] == "X"}
    equal({names.get(r["args"]["p_idx"]) for r in records if r["name"] in ("save", "stepped")}, {"step"}, "p_idx of regions")
    equal({names.get(r["args"]["p_idx"]) for r in records if r["name"] == "write"}, {"save"}, "p_idx of writes")
    custom = {r["args"]["name"]: r["args"]["value"] for r in records if r["name"] == "CM"}
    equal(custom.get("model"), "tiny", "metadata of the user")
    true(all(r["args"]["loss"] == 1.0 / (r["args"]["step"] + 1) for r in records if r["name"] == "step"), "arguments")


def pfw_bytes(record):
    """The rule of DFTracer's readers."""
    args, name = record["args"], record["name"]
    if record["cat"] == "POSIX" and ("read" in name or "write" in name):
        return max(args.get("ret", 0), 0)
    if name in ("fread", "fwrite"):
        return max(args["ret"], 0) * args["size"]
    return args.get("image_size", args.get("size", 0))


def test_pfw_keeps_counts_bytes_and_names(directory):
    out = job(directory)
    events = dump(out)
    for path in (directory / "trace.pfw", directory / "trace.pfw.gz"):
        done = dftmerge("export", "--format", "pfw", "-o", path, out)
        equal((done.code, done.out), (0, b""), f"export ({done.err.decode()})")
    text = (directory / "trace.pfw").read_bytes()
    equal(gzip.decompress((directory / "trace.pfw.gz").read_bytes()), text, "the compressed form")
    lines = text.decode().split("\n")
    equal((lines[0], lines[-1]), ("[", "]"), "frame")
    records = [strict(line) for line in lines[1:-1]]
    equal([r["id"] for r in records], list(range(1, len(records) + 1)), "ids")
    true(all(isinstance(r["pid"], int) and isinstance(r["tid"], int) for r in records), "numbers are numbers")
    files = {r["args"]["value"]: r["args"]["name"] for r in records if r["name"] == "FH"}
    first_event = next(i for i, r in enumerate(records) if r["ph"] == "X")
    true(all(r["ph"] != "M" for r in records[first_event:]), "dictionaries come first")
    complete = [r for r in records if r["ph"] == "X" and r["cat"] != "dftracer"]
    counts = collections.defaultdict(lambda: [0, 0])
    for r in complete:
        counts[r["cat"], r["name"]][0] += 1
        counts[r["cat"], r["name"]][1] += pfw_bytes(r)
    equal(dict(counts), totals(events), "calls and bytes")
    equal({files[r["args"]["fhash"]] for r in complete if "fhash" in r["args"]},
          {e["file"] for e in events if "file" in e}, "files")
    equal(sorted(r["ts"] for r in complete), sorted(e["ts"] // 1000 for e in events
                                                    for _ in range(e.get("calls", 1))), "microseconds")
    hosts = {r["args"]["value"] for r in records if r["name"] == "HH"}
    true({r["args"]["hhash"] for r in complete} <= hosts, "hosts are in the dictionary")
    equal(sum(r["args"]["num_events"] for r in records if r["name"] == "end"), len(complete), "num_events")
    equal({r["args"]["value"] for r in records if r["name"] == "PR"}, {"3"}, "rank")


def gzip_members(data):
    """What each member decompresses to."""
    while data:
        member = zlib.decompressobj(31)
        yield member.decompress(data) + member.flush()
        data = member.unused_data


def test_gzip_members_are_of_whole_lines(directory):
    code = f"for i in range(4000): open('{directory}/' + 'x' * 200 + str(i), 'w').close()"
    equal(run([sys.executable, "-S", "-c", code], env=tracing(directory / "out" / "t")).code, 0, "exit code of Python")
    for form in ("pfw", "csv"):
        for path in (directory / "plain", directory / "packed.gz"):
            equal(dftmerge("export", "--format", form, "-o", path, directory / "out").code, 0, "export")
        members = list(gzip_members((directory / "packed.gz").read_bytes()))
        equal(b"".join(members), (directory / "plain").read_bytes(), "the text")
        true(all(m.endswith(b"\n") and len(m) <= 1 << 20 for m in members[:-1]), "whole lines, of a MiB at most")
        true(len(members) >= 2, f"{len(members)} members")


def test_pfw_into_a_directory_is_a_file_for_each_process(directory):
    out = job(directory)
    (directory / "parts").mkdir()
    equal(dftmerge("export", "--format", "pfw", "-o", directory / "parts", out).code, 0, "export")
    events, got = dump(out), []
    for path in (directory / "parts").iterdir():
        lines = gzip.decompress(path.read_bytes()).decode().split("\n")
        equal((lines[0], lines[-1], path.name[-7:]), ("[", "]", ".pfw.gz"), "frame")
        records, known = [strict(line) for line in lines[1:-1]], set()
        equal([r["id"] for r in records], list(range(1, len(records) + 1)), "ids")
        equal(len({r["pid"] for r in records if r["ph"] == "X"}), 1, "processes")
        for r in records:
            if r["name"] == "FH":
                known.add(r["args"]["value"])
            true(r["args"].get("fhash", 0) in known | {0}, "the dictionary has a file before its first event")
        calls = [r for r in records if r["ph"] == "X" and r["cat"] != "dftracer"]
        equal([r["args"]["num_events"] for r in records if r["name"] == "end"], [len(calls)], "num_events")
        got += [(r["pid"], r["tid"], r["cat"], r["name"], r["ts"]) for r in calls]
    equal(sorted(got), sorted((e["pid"], e["tid"], e["cat"], e["name"], e["ts"] // 1000) for e in events
                              for _ in range(e.get("calls", 1))), "events")


def test_csv_has_one_line_for_every_event(directory):
    out = job(directory)
    events = dump(out)
    done = dftmerge("export", "--format", "csv", "-o", "-", out)
    equal(done.code, 0, "export")
    rows = list(csv.DictReader(io.StringIO(done.out.decode("utf-8", "surrogateescape"), newline="")))
    equal([(int(r["ts"]), int(r["dur"]), r["name"], int(r["pid"])) for r in rows],
          [(e["ts"], e["dur"], e["name"], e["pid"]) for e in events], "time, name and pid")
    equal([csv_text(r["file"]) for r in rows], [e.get("file", "") for e in events], "files")
    equal([int(r["bytes"] or 0) for r in rows], [e.get("bytes", 0) for e in events], "bytes")
    equal([int(r["errno"] or 0) for r in rows], [e.get("errno", 0) for e in events], "errno")


def test_export_takes_filters(directory):
    out = job(directory)
    events = dump(out)
    origin = json.loads(dftmerge("summary", "--json", out).out)["start_ns"]
    middle = (events[len(events) // 2]["ts"] - origin) / 1e9
    for options, keep in ((["--name", "read,write"], lambda e: e["name"] in ("read", "write")),
                          (["--cat", "STDIO"], lambda e: e["cat"] == "STDIO"),
                          (["--file", "*/file"], lambda e: e.get("file", "").endswith("/file")),
                          (["--from", f"{middle:.9f}"], lambda e: e["ts"] - origin >= round(middle * 1e9)),
                          (["--to", f"{middle:.9f}"], lambda e: e["ts"] - origin < round(middle * 1e9)),
                          (["--pid", str(events[0]["pid"])], lambda e: e["pid"] == events[0]["pid"])):
        done = dftmerge("export", "--format", "csv", "-o", "-", *options, out)
        rows = list(csv.DictReader(io.StringIO(done.out.decode("utf-8", "surrogateescape"), newline="")))
        wanted = [e for e in events if keep(e)]
        true(0 < len(wanted) < len(events), f"{options} leaves some and not all")
        equal([(int(r["ts"]), r["name"]) for r in rows], [(e["ts"], e["name"]) for e in wanted],
              f"events with {options}")
    for option in ("--to", "--until"):
        done = dftmerge("export", "--format", "csv", "-o", "-", option, "soon", out)
        equal((done.code, f"{option} takes seconds, not 'soon'" in done.err.decode()), (2, True), f"{option} soon")


def test_old_names_of_options_stay(directory):
    """--to FORMAT is --format, and --until is --to SECONDS."""
    out = job(directory)
    wanted = dftmerge("export", "--format", "csv", "-o", "-", "--to", "0.001", out).out
    for options in (("--to", "csv", "--until", "0.001"), ("--format=csv", "--until=0.001"), ("--to=csv", "--until=0.001")):
        equal(dftmerge("export", *options, "-o", "-", out).out, wanted, f"events with {options}")
    for options, word in ((("--to", "cvs"), "cannot write 'cvs'"), (("--to", "5"), "cannot write '5'"),
                          ((), "needs --format FORMAT"), (("--format", "5", "--to", "5"), "cannot write '5'")):
        done = dftmerge("export", *options, "-o", "-", out)
        equal((done.code, word in done.err.decode()), (2, True), f"{options}: {done.err}")


def test_merged_reads_back_identically(directory):
    out = job(directory)
    events = dump(out)
    merged = directory / "all.dft"
    done = dftmerge("merge", "-o", merged, out)
    equal(done.code, 0, f"merge ({done.err.decode()})")
    equal(dump(merged), events, "events of the merged file")
    equal(dump(merged, out), events, "events of the merged file together with its inputs")
    before = merged.read_bytes()
    equal(dftmerge("merge", "-o", merged, merged, out, merged).code, 0, "merge with OUT among the inputs")
    equal(merged.read_bytes(), before, "bytes of the file merged again")
    equal(dftmerge("check", merged).code, 0, "check")
    equal(sorted(p.name for p in directory.iterdir() if p.name.startswith("all.")), ["all.dft"], "files left")
    blocks = sum(p.stat().st_size for p in traces(out))
    true(merged.stat().st_size <= blocks, "the merged file is not larger than its inputs")


def test_merge_of_a_killed_process_keeps_everything(directory):
    program = compile_program("endings.c", directory / "endings")
    run([program, "kill", directory / "f", "300"], env=tracing(directory / "out" / "t"))
    equal(len(live_files(directory / "out")), 1, "live files")
    events, ps = dump(directory / "out"), dftmerge("ps", "--json", directory / "out")
    equal(dftmerge("merge", "-o", directory / "all.dft", directory / "out").code, 0, "merge")
    for path in traces(directory / "out") + live_files(directory / "out"):
        path.unlink()
    equal(dump(directory / "all.dft"), events, "events of the merged file alone")
    before, after = (json.loads(text)["processes"][0]
                     for text in (ps.out, dftmerge("ps", "--json", directory / "all.dft").out))
    equal((after["ended"], after["command"], after["events"]), (before["ended"], before["command"], before["events"]),
          "its process")


def test_nothing_is_left_of_what_fails(directory):
    out = job(directory)
    (directory / "is-a-file").write_text("")
    for arguments in (["merge", "-o", f"{directory}/is-a-file/"],
                      ["merge", "-o", directory / "no" / "such" / "place.dft"],
                      ["export", "--format", "csv", "-o", directory / "no" / "such" / "place.csv"]):
        done = dftmerge(*arguments, out)
        equal((done.code, done.out), (1, b""), f"{arguments[0]} to where nothing can be written")
        true(done.err, "it says why")
    equal(dftmerge("merge", out).code, 2, "merge without -o")
    equal(dftmerge("export", "-o", "x", out).code, 2, "export without --to")
    equal(dftmerge("export", "--to", "excel", "-o", "x", out).code, 2, "export to an unknown format")
    equal(dftmerge("export", "--format", "csv", "-o", "/dev/full", out).code, 1, "export to a full device")


def test_check_finds_every_kind_of_damage(directory):
    program = compile_program("endings.c", directory / "endings")
    run([program, "return", directory / "f", "20000"], env=tracing(directory / "out" / "t"))
    [trace] = traces(directory / "out")
    good = trace.read_bytes()
    events = dump(trace)
    done = dftmerge("check", "--json", trace)
    report = json.loads(done.out)
    equal((done.code, report["good"], report["blocks_damaged"]), (0, True, 0), "a good file")
    magic = b"DfBlk\r\x1a\n"
    starts = [m.start() for m in re.finditer(re.escape(magic), good)]
    equal(len(starts), report["blocks"], "blocks")
    largest = max(range(len(starts) - 1), key=lambda i: starts[i + 1] - starts[i])

    def damaged(data, what):
        bad = directory / "bad.dft"
        bad.write_bytes(data)
        found = dftmerge("check", "--json", bad)
        equal(found.code, 1, f"{what}: exit code of check")
        said = json.loads(found.out)
        true(not said["good"] and any(str(bad) in note for note in said["notes"]), f"{what}: notes {said['notes']}")
        return said, bad

    flipped = bytearray(good)
    flipped[starts[largest] + 200] ^= 1
    said, bad = damaged(bytes(flipped), "one bit")
    equal(said["blocks"], report["blocks"] - 1, "whole blocks around the damaged one")
    true(any(f"at {starts[largest]}" in note for note in said["notes"]),
         f"the offset {starts[largest]} is named: {said['notes']}")
    rest = dump(bad, expect=1)
    true(0 < len(rest) < len(events) and all(e in events for e in rest[:50]), "the other blocks are read")
    damaged(good[:-20], "cut at the end")
    damaged(b"something else" + good[:starts[1]] + b"garbage" + good[starts[1]:], "garbage between blocks")
    damaged(good[:starts[largest]] + good[starts[largest + 1]:], "a block that is missing")
    equal(dftmerge("check", directory / "nothing-here").code, 1, "a path that is not there")


def test_stat_accounts_for_every_byte(directory):
    out = job(directory)
    done = dftmerge("debug", "stat", "--json", out)
    equal(done.code, 0, "exit code")
    stat = json.loads(done.out)
    equal(stat["file_bytes"], sum(p.stat().st_size for p in traces(out)), "bytes of all files")
    equal(stat["block_bytes"] + stat["hole_bytes"] + stat["unreadable_bytes"], stat["file_bytes"],
          "blocks, holes and the rest")
    equal(sum(t["header_bytes"] + t["stored_bytes"] for t in stat["types"].values()), stat["block_bytes"], "types")
    for name, t in stat["types"].items():
        equal(sum(c["raw_bytes"] for c in t["columns"].values()), t["raw_bytes"], f"raw bytes of {name}'s columns")
        shares = sum(c["stored_bytes"] for c in t["columns"].values()) + t["bit_string_bytes"]
        true(t["stored_bytes"] - 10 * t["blocks"] <= shares <= t["stored_bytes"],
             f"stored bytes of {name}'s columns: {shares}")
    equal(stat["events"], len(dump(out)), "events")
    true("EVENTS" in dftmerge("debug", "stat", out).out.decode(), "the text form")


def test_calls_lists_the_whole_table(directory):
    table = "".join((ROOT / "include" / "dftrace" / name).read_text() for name in ("calls.def", "syscalls.def"))
    table = re.sub(r"/\*.*?\*/", "", table, flags=re.S)
    rows = re.findall(r"^DFT_(\w+)\(\s*(\w+),\s*(\w+),?(?:\s*([\w *]+),\s*(\w+))?", table, re.M)
    rows = [row for row in rows if row[0] not in ("RECLASSIFIED", "GATE", "OLDER", "CUSTOM_OLDER")]
    done = dftmerge("debug", "calls", "--json")
    equal(done.code, 0, "exit code")
    calls = strict(done.out.decode())["calls"]
    points = {p for c in calls for p in c["entry_points"]}
    equal(sum(len(c["entry_points"]) for c in calls), len(points), "entry points stand once")
    equal(len(points), len(rows), "entry points, rows of the table")
    for kind, first, second, *_ in rows:
        if kind.endswith("ALIAS"):
            true(first in points and second in points, f"{second}, an alias")
    names = {c["name"]: c for c in calls}
    true(names["pread"]["class"] == "read" and "pread64" in names["pread"]["entry_points"], "pread")
    true("__openat64_2" in names["openat"]["entry_points"], "an alias of another entry point")
    equal(names["fopen"]["cat"], "STDIO", "fopen")
    true(len(dftmerge("debug", "calls").out.splitlines()) >= len(calls), "the text form")


def test_every_command_has_help_with_an_example(directory):
    overview = dftmerge("--help").out.decode()
    for command in ("ps", "check", "merge", "export", "summary", "dump", "compare", "ranks"):
        true(re.search(rf"^(?:[A-Z]\w+)? +{command} ", overview, re.M), f"{command} stands in dftmerge --help")
        done = dftmerge(command, "--help")
        equal((done.code, done.err), (0, b""), f"{command} --help")
        true("Example" in done.out.decode() and f"dftmerge {command}" in done.out.decode(),
             f"{command} --help has an example")
        true(max(map(len, done.out.decode().splitlines())) <= 120, f"{command} --help fits a terminal")
