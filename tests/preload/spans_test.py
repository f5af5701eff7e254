# SPDX-License-Identifier: MIT
"""Spans, flows, metadata, pauses, and what programs do wrongly: in the trace, in every form that dftmerge writes, and in the notes."""

import collections
import json
import pathlib
import shutil
import subprocess

import pytest

import read_dft
from tracing import (ROOT, dftmerge, dump, equal, live_files, run, run_checked, traces, tracing,
                     true)

HERE = pathlib.Path(__file__).resolve().parent
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", f"-I{ROOT / 'include'}"]
PHASES = {"async_begin": 4, "async_end": 5, "flow_start": 6, "flow_end": 7, "flow_step": 10}


def traced(directory, mode):
    program = directory / "program"
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", "-o", program, HERE / "annotated_spans.c",
                 "-pthread"])
    arguments = [program, directory / "file", mode, directory / "file2"]
    plain = run(arguments)
    equal((plain.code, plain.out, plain.err), (0, b"enabled 0, errno kept 1\n", b""), "without the library")
    done = run(arguments, env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal((done.code, done.out, done.err), (0, b"enabled 1, errno kept 1\n", b""), "traced")
    return directory / "out"


def notes(path):
    text = json.loads(dftmerge("summary", "--json", path).out)["notes"]
    return {line.split(" ", 2)[2].rsplit(", in 1 process", 1)[0]: int(line.split()[1]) for line in text
            if line.startswith("annotations: ")}


def named(events, name, phase=None):
    return [e for e in events if e["name"] == name and e.get("phase") == phase]


def standards(compiler, names):
    known = []
    for name in names:
        if subprocess.run([compiler, f"-std={name}", "-E", "-"], input=b"", capture_output=True, check=False).returncode == 0:
            known.append(name)
    return known


def test_the_header_under_every_standard(directory):
    c = ["c89", "gnu89", "c99", "c11", "c17", "c2x", "c23"]
    cpp = ["c++11", "c++14", "c++17", "c++20", "c++2b", "c++23"]
    tried = 0
    for compiler, names, source, language in (("gcc", c, "header_use.c", "c"), ("clang", c, "header_use.c", "c"),
                                              ("g++", cpp, "header_use.c", "c++"), ("clang++", cpp, "header_use.c", "c++"),
                                              ("g++", cpp, "annotated_span.cpp", "c++")):
        if not shutil.which(compiler):
            continue
        for name in standards(compiler, names):
            done = run([compiler, f"-std={name}", *STRICT, "-x", language, HERE / source, "-fsyntax-only"])
            if compiler == "clang++" and b"file not found" in done.err:
                continue
            equal((done.code, done.err), (0, b""), f"{compiler} -std={name} {source}")
            tried += 1
    true(tried >= 5, "no compiler")
    done = run(["gcc", "-std=c89", *STRICT, "-O2", "-Wl,-z,defs", "-o", directory / "uses", HERE / "header_use.c"])
    equal((done.code, run([directory / "uses"]).code), (0, 0), "linked with nothing")


def at_once(one, other):
    """What was drained before the clock was known well enough may be off by some ns."""
    return abs(one["ts"] - other["ts"]) < 1000


def check_spans(events):
    request, = named(events, "request")
    begin, = named(events, "request", "async_begin")
    equal((request["cat"], request["id"], request["args"]), ("QUEUE", begin["id"], {"status": -3, "how": "well"}), "a span")
    equal((begin["args"], begin["region"]), ({"size": 2.5}, "around the begin"), "its begin")
    true(at_once(begin, request), "their starts")
    true(begin["tid"] != request["tid"] and "region" not in request, "ended in another thread, in no region")
    parts, begins = named(events, "part"), named(events, "part", "async_begin")
    equal(len({e["id"] for e in parts}), 3, "children")
    starts = {e["id"]: e for e in begins}
    equal({e["id"] for e in parts}, set(starts), "their ids")
    true(all(at_once(e, starts[e["id"]]) for e in parts), "their starts")
    equal({e["args"]["parent"] for e in begins}, {request["id"]}, "their parent")
    true(all(e["ts"] + e["dur"] <= request["ts"] + request["dur"] for e in parts), "their ends")
    numbered, = named(events, "numbered")
    true(numbered["id"] == 77 and at_once(numbered, named(events, "numbered", "async_begin")[0]), "a span by number")


def check_coroutine(events, names):
    task, = named(events, "task")
    writes = [e.get("region") for e in events if e["name"] == "write" and e.get("region") in names]
    equal(writes, ["in the coroutine", "scheduler", "task"], "what a coroutine does is its own, in whatever thread")
    equal(named(events, "in the coroutine")[0]["region"], "task", "its region")
    true(task["dur"] > 0 and "region" not in task, "its span")


def test_spans_flows_and_the_rest(directory):
    out = traced(directory, "all")
    events = dump(out)
    check_spans(events)
    check_coroutine(events, ("in the coroutine", "scheduler", "task"))
    points = [e for e in events if e["name"] == "message"]
    equal([(e["phase"], e["region"]) for e in points],
          [("flow_start", "sender"), ("flow_step", "receiver"), ("flow_end", "end of it")], "a flow")
    true(len({e["id"] for e in points}) == 1 and points[0]["id"] > 2**32, "its id")
    equal(named(events, "both ends")[0]["args"], {"begun": 1, "text": "at the begin", "half": 0.5, "ended": 2}, "arguments")
    equal(named(events, "moment", "instant")[0]["args"], {"ended": 2, "text": "at the begin"}, "arguments of an instant")
    metadata = {(e["cat"], e["name"]): e["args"]["value"] for e in events if e.get("phase") == "metadata"}
    equal(metadata, {("APP", "layers"): 12, ("APP", "rate"): 0.125, ("JOB", "experiment"): "no. 7", ("JOB", "nodes"): 3},
          "metadata")
    equal(named(events, "interrupted")[0]["args"], {"before": 1, "after": 2}, "arguments around a handler")
    equal(named(events, "handler")[0]["args"], {"signal": 10}, "arguments of a handler")
    equal(len(named(events, "jumper")), 3, "regions that a longjmp left")
    equal(named(events, "before the jump")[0].get("region"), None, "the region that was jumped to")
    equal(notes(out), {"regions ended by the end of one around them": 3}, "notes")


def test_pauses_leave_out_and_nothing_else(directory):
    events = dump(traced(directory, "all"))
    kept, = named(events, "kept")
    equal(named(events, "not kept"), [], "a region in a pause")
    inside = [(e["name"], pathlib.Path(e["file"]).name, e["offset"] if "offset" in e else None) for e in events
              if e["ts"] >= kept["ts"] and e["ts"] + e["dur"] <= kept["ts"] + kept["dur"] and "file" in e]
    equal(inside, [("write", "file", 4), ("write", "file", 5), ("write", "file2", 0), ("close", "file2", None)],
          "calls between pause and resume, of this thread and others; descriptors stay known")


def test_a_pause_goes_on_in_a_forked_child(directory):
    source = directory / "forks.c"
    source.write_text("""#include <dftrace/dftrace.h>
#include <sys/wait.h>
#include <unistd.h>
static void region(const char *name) { dftrace_region_begin(NULL, name); dftrace_region_end(NULL, name); }
int main(void)
{
    region("before");
    DFTRACE_PAUSE_THREAD();
    if (!fork()) {
        region("not kept");
        DFTRACE_RESUME_THREAD();
        region("child");
        _exit(0);
    }
    wait(NULL);
    DFTRACE_RESUME_THREAD();
    region("behind");
    return 0;
}
""")
    run_checked(["gcc", f"-I{ROOT / 'include'}", "-o", directory / "forks", source])
    run_checked([directory / "forks"], env=tracing(directory / "out" / "t"))
    events = dump(directory / "out")
    equal([e["name"] for e in events if e["cat"] == "APP"], ["before", "child", "behind"], "regions")
    equal([e["name"] for e in events if e["cat"] == "PROCESS"], ["_exit"], "calls of the child, not of the pause")


def test_flush_leaves_nothing_to_the_live_file(directory):
    out = traced(directory, "all")
    child = [e["pid"] for e in dump(out) if e["name"] == "flushed"]
    equal((len(child), len(live_files(out))), (1, 1), "a killed child")
    for live in live_files(out):
        live.unlink()
    equal(child, [e["pid"] for e in dump(out, expect=None, options=("--name", "flushed"))], "what it had flushed")


def test_numbers_told_again_take_the_place_of_those_before(directory):
    out = traced(directory, "updates")
    inner, outer = [e for e in dump(out) if e["name"].endswith("updates")][::-1]
    equal((inner["args"], outer["args"]), ({"step": 6000, "loss": 1 / 5000}, {"as": 4999, "epoch": -4999}), "the last values")
    true("cut" not in inner and "cut" not in outer and notes(out) == {}, f"there was room: {notes(out)}")


def test_mistakes_are_counted_and_harm_nobody(directory):
    out = traced(directory, "mistakes")
    events = dump(out)
    equal(notes(out), {
        "regions ended in a thread that had not begun them": 2, "regions ended by the end of one around them": 2,
        "regions never ended": 2, "spans ended that were not begun, or twice": 9000 - 4096 + expected_extra(events) + 4,
        "spans never ended": 1, "spans by number beyond those that are followed": 9000 - 4096 + expected_extra(events),
        "names or texts that were NULL": 6, "names too long, cut": 4,
        "arguments cut or left out": 1, "arguments while no region was open": 1,
        "resumed or suspended without its counterpart": 6}, "notes")
    true(json.loads(dftmerge("summary", "--json", out).out)["wall_ns"] < 3600e9, "no span since the machine was started")
    done = dftmerge("check", out)
    true(done.code == 0 and b"annotations: 2 regions never ended, in 1 process" in done.err, f"check says so: {done.err}")
    equal(len([e for e in events if e["cat"] == "NAMES"]), 100000, "regions of a hundred thousand names")
    equal(len({e["name"] for e in events if e["cat"] == "NAMES"}), 100000, "their names")
    equal({e.get("region") for e in events if e["cat"] == "NAMES"}, {"name after name"}, "the region around them")
    equal(len(named(events, "(null)")), 1, "a region without a name")
    huge, = [e for e in events if e["name"].startswith("hhh")]
    true(300 < len(huge["name"]) < 500 and len(huge["args"]["huge"]) < 1024, "a name, and a text, of a megabyte")
    equal([e["args"] for e in events if e["name"].startswith("left by")],
          [{"ended_by": "thread"}, {"ended_by": "exit"}], "regions that were left open")
    equal(len(named(events, "of another thread")), 1, "a region that another thread tried to end")


def expected_extra(events):
    """Of the places in the table a few sets fill up before others: how many more were not followed."""
    return 4096 - len(named(events, "many"))


def test_every_form_has_them(directory):
    out = traced(directory, "all")
    events = dump(out)
    count = collections.Counter(e.get("phase", "span" if e["cat"] in ("ASYNC", "QUEUE") else "") for e in events)
    check_perfetto(directory, out, events, count)
    check_pfw(directory, out, count)
    groups = {(g["cat"], g["name"]): g for g in json.loads(dftmerge("summary", "--json", out).out)["groups"]}
    for key in (("QUEUE", "request"), ("ASYNC", "part"), ("ASYNC", "numbered"), ("ASYNC", "task")):
        members = [e for e in events if (e["cat"], e["name"]) == key and "phase" not in e]
        equal((groups[key]["count"], groups[key]["time_ns"]), (len(members), sum(e["dur"] for e in members)), f"group {key}")
    true(("APP", "message") not in groups, "flows are no group")
    merged = directory / "merged.dft"
    equal(dftmerge("merge", "-o", merged, out).code, 0, "merge")
    equal(dump(merged), events, "merged")
    found = collections.Counter()
    for path in traces(out):
        for block in read_dft.read_file(path.read_bytes())["blocks"]:
            found.update(e["phase"] for e in (block["events"] if block["type"] == "EVENTS" else []))
    for phase, number in PHASES.items():
        equal(found[number], count[phase], f"{phase} in the independent reader")


def check_perfetto(directory, out, events, count):
    equal(dftmerge("export", "--format", "perfetto", "-o", directory / "p.json", out).code, 0, "export to perfetto")
    trace = json.loads((directory / "p.json").read_text())
    origin = int(trace["otherData"]["origin_ns"])
    by_phase = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        by_phase[event["ph"]].append(event)
    true(count["async_begin"] == count["span"] == 6 and count["flow_step"] == 1, f"what there is: {count}")
    begun = {(e["pid"], e["cat"], e["id2"]["local"]): e for e in by_phase["b"]}
    ended = {(e["pid"], e["cat"], e["id2"]["local"]): e for e in by_phase["e"]}
    equal((len(begun), set(begun)), (6, set(ended)), "spans as b and e")
    for event in events:
        if event["cat"] in ("ASYNC", "QUEUE") and "phase" not in event:
            key = event["pid"], event["cat"], hex(event["id"])
            equal((origin + round(ended[key]["ts"] * 1000), ended[key]["name"], begun[key]["name"]),
                  (event["ts"] + event["dur"], event["name"], event["name"]), "begin and end of a span")
            true(abs(origin + round(begun[key]["ts"] * 1000) - event["ts"]) < 1000, "its begin")
    flows = [(e["ph"], e["id"], e.get("bp")) for phase in "stf" for e in by_phase[phase] if e["cat"] != "process"]
    equal((len({f[1] for f in flows}), [(f[0], f[2]) for f in flows]), (1, [("s", None), ("t", None), ("f", "e")]), "a flow")


def check_pfw(directory, out, count):
    done = dftmerge("export", "--format", "pfw", "-o", directory / "p.pfw", out)
    equal((done.code, b"left out" in done.err), (0, False), f"export to pfw: {done.err}")
    records = [json.loads(line) for line in (directory / "p.pfw").read_text().split("\n")[1:-1]]
    marks = collections.Counter(r["args"].get("dftrace") for r in records if r["ph"] == "X")
    for phase in ("async_begin", "flow_start", "flow_step", "flow_end", "instant"):
        equal(marks[phase], count[phase], f"{phase} as marked lines")
    spans = [r for r in records if r["cat"] in ("ASYNC", "QUEUE") and "dftrace" not in r["args"]]
    equal(len(spans), count["span"], "spans, as complete lines")
    again = collections.Counter(e.get("phase") for e in dump(directory / "p.pfw"))
    for phase in ("async_begin", "flow_start", "flow_step", "flow_end"):
        equal(again[phase], count[phase], f"{phase}, read back")


def test_spans_of_c_plus_plus(directory):
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    program = directory / "program"
    run_checked(["g++", "-std=c++11", "-O2", *STRICT, "-o", program, HERE / "annotated_span.cpp", "-pthread"])
    equal(run([program]).out, b"enabled 0\n", "without the library")
    done = run([program], env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal((done.code, done.out, done.err), (0, b"enabled 1\n", b""), "traced")
    events = dump(directory / "out")
    outer, = named(events, "outer")
    ten, begins = named(events, "one of ten"), named(events, "one of ten", "async_begin")
    equal(({e["id"] for e in ten}, {e["args"]["parent"] for e in begins}, len(ten)),
          ({e["id"] for e in begins}, {outer["id"]}, 10), "spans that moved")
    equal(len({e["tid"] for e in ten}), 2, "threads that ended them")
    equal(named(events, "arguments")[0]["args"],
          {"int": 7, "size": 4, "long": -2**40, "double": 0.25, "text": "a text", "bool": 1}, "arguments")
    equal(notes(directory / "out"), {}, "notes")
