# SPDX-License-Identifier: MIT
"""Perfetto files with less detail of real programs: arrows, requests, spans and names of threads."""

import json

from tracing import ROOT, compile_program, dftmerge, dump, equal, run, tracing, true


def export(path, *arguments):
    done = dftmerge("export", "--format", "perfetto", "-o", path, *arguments)
    equal(done.code, 0, f"export ({done.err.decode()})")
    return json.loads(path.read_text())


def slices_around(events, end):
    """Slices of the thread of an arrow's end that go on at its time."""
    return [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (end["pid"], end["tid"])
            and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]]


FORKS = """
import os
for i in range(60):
    os.stat("/etc/hostname")
    pid = os.fork()
    if not pid:
        os.stat("/"); os._exit(0)
    os.waitpid(pid, 0)
"""


def test_arrows_keep_their_slices(directory):
    out, path = directory / "out", directory / "trace.json"
    equal(run(["/usr/bin/python3", "-S", "-c", FORKS], env=tracing(out / "t")).code, 0, "traced")
    whole = export(path, out)["traceEvents"]
    size, arrows = path.stat().st_size, [e for e in whole if e["ph"] in "sf"]
    equal(len(arrows), 120, "ends of arrows")
    for part in (0.9, 0.7, 0.45):
        trace = export(path, "--max-bytes", str(int(size * part)), out)
        true(path.stat().st_size <= size * part, "size")
        events, other = trace["traceEvents"], trace["otherData"]
        begins, ends = ({e["id"]: e for e in events if e["ph"] == phase} for phase in "sf")
        equal(set(begins), set(ends), "arrows have two ends")
        equal(len(begins) + len(ends) + other["left_out_links"], 120, "ends, with those that are left out")
        true(begins, "some stay")
        number = {id(e): i for i, e in enumerate(events)}
        for begin in begins.values():
            around = slices_around(events, begin)
            true(any("fork" in e["name"] or e["name"] == "clone" for e in around), f"{begin} begins in {around}")
            true(all(number[id(e)] < number[id(begin)] for e in around if e["ts"] == begin["ts"]), "behind its slice in the file")


def test_the_longest_requests_stay(directory):
    program = compile_program("posix_aio.c", directory / "posix_aio", "-pthread", "-lrt")
    (directory / "work").mkdir()
    equal(run([program, directory / "work", "lists"], env=tracing(directory / "out" / "t")).code, 0, "traced")
    wanted = [e for e in dump(directory / "out") if e["name"].startswith("aio_") and "id" in e]
    path = directory / "trace.json"
    export(path, directory / "out")
    size, found = path.stat().st_size, []
    for part in (0.8, 0.5, 0.25):
        trace = export(path, "--max-bytes", str(int(size * part)), directory / "out")
        events, below = trace["traceEvents"], trace["otherData"].get("left_out_below_ns", 1 << 63)
        true(path.stat().st_size <= size * part, "size")
        begun = {(e["pid"], e["id2"]["local"]): e for e in events if e["ph"] == "b"}
        ended = {(e["pid"], e["id2"]["local"]): e for e in events if e["ph"] == "e"}
        equal(set(begun), set(ended), "pairs")
        true(all(begun[key]["ts"] <= ended[key]["ts"] for key in begun), "times")
        equal(len(begun), sum(e["dur"] >= below for e in wanted), "those that last so long")
        found.append(len(begun))
    true(found == sorted(found, reverse=True) and found[0], f"some stay: {found}")


def test_spans_stay_or_go_as_a_whole(directory):
    program = directory / "program"
    source = ROOT / "tests" / "preload" / "annotated_spans.c"
    equal(run(["gcc", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", "-o", program, source, "-pthread"]).code, 0, "compiled")
    out = directory / "out"
    equal(run([program, directory / "file", "all", directory / "file2"], env=tracing(out / "t", DATA_DIR=directory)).code, 0, "traced")
    export(directory / "trace.json", out)
    size = (directory / "trace.json").stat().st_size
    events = export(directory / "trace.json", "--max-bytes", str(size * 2 // 3), out)["traceEvents"]
    begun, ended = ({(e["pid"], e["id2"]["local"]) for e in events if e["ph"] == phase} for phase in "be")
    equal(begun, ended, "both ends")


def test_names_of_threads_stay(directory):
    program = compile_program("annotated.c", directory / "annotated", f"-I{ROOT / 'include'}", "-lpthread")
    out = directory / "out"
    equal(run([program, directory / "file", "2000"], env=tracing(out / "t")).code, 0, "traced")
    named = []
    for more in ((), ("--max-bytes", "50K")):
        events = export(directory / "trace.json", *more, out)["traceEvents"]
        named.append({(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == "worker"})
    true((directory / "trace.json").stat().st_size <= 50 << 10, "size")
    true(named[0] and named[0] == named[1], f"threads named worker: {named}")
