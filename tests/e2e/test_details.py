# SPDX-License-Identifier: MIT
"""Perfetto files with less detail, or in parts, of real programs: arrows, requests and spans."""

import collections
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


def test_arrows_begin_in_merged_slices(directory):
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
            true(any(e["cat"] == "merged" and e["args"]["names"].keys() & {"fork", "vfork", "clone", "_Fork"} or "fork" in e["name"]
                     for e in around), f"{begin} begins in {around}")
            true(all(number[id(e)] < number[id(begin)] for e in around if e["ts"] == begin["ts"]), "behind its slice in the file")


def test_requests_merge_with_requests(directory):
    program = compile_program("posix_aio.c", directory / "posix_aio", "-pthread", "-lrt")
    (directory / "work").mkdir()
    equal(run([program, directory / "work", "lists"], env=tracing(directory / "out" / "t")).code, 0, "traced")
    wanted = [e for e in dump(directory / "out") if e["name"].startswith("aio_") and "id" in e]
    path = directory / "trace.json"
    export(path, directory / "out")
    size = path.stat().st_size
    for part in (0.8, 0.5, 0.25):
        events = export(path, "--max-bytes", str(int(size * part)), directory / "out")["traceEvents"]
        true(path.stat().st_size <= size * part, "size")
        begun = [e for e in events if e["ph"] == "b"]
        ended = {(e["pid"], e["id2"]["local"]): e for e in events if e["ph"] == "e"}
        equal((len(begun), len(ended)), (len(ended), len({(e["pid"], e["id2"]["local"]) for e in begun})), "pairs")
        true(all(e["ts"] <= ended[e["pid"], e["id2"]["local"]]["ts"] for e in begun), "times")
        merged = [e["args"] for e in begun if e["cat"] == "merged"]
        single = [e["args"] for e in begun if e["cat"] != "merged"]
        equal(sum(a["slices"] for a in merged) + len(single), len(wanted), "requests")
        equal(sum(a["bytes"] for a in merged + single), sum(e.get("bytes", 0) for e in wanted), "bytes")
    true(merged, "some are merged")


def test_spans_go_on_in_the_next_part(directory):
    program = directory / "program"
    source = ROOT / "tests" / "preload" / "annotated_spans.c"
    equal(run(["gcc", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", "-o", program, source, "-pthread"]).code, 0, "compiled")
    out = directory / "out"
    equal(run([program, directory / "file", "all", directory / "file2"], env=tracing(out / "t", DATA_DIR=directory)).code, 0, "traced")
    whole = export(directory / "trace.json", out)["traceEvents"]
    spans = {(e["pid"], e["id2"]["local"]): e["ts"] for e in whole if e["ph"] == "b"}
    ends = {(e["pid"], e["id2"]["local"]): e["ts"] for e in whole if e["ph"] == "e"}
    width = max(1000, round(max(ends[key] - ts for key, ts in spans.items()) * 1000 / 4))  # ns
    while any(not 1000 < ts * 1000 % width < width - 1000 for ts in spans.values()):
        width += 777  # a span and its begin have times of their own, and no border may lie between them
    equal(dftmerge("export", "--format", "perfetto", "--split", f"{width}ns", "-o", f"{directory}/parts/", out).code, 0, "export")
    pieces, flows = collections.defaultdict(list), collections.Counter()
    for path in sorted((directory / "parts").iterdir()):
        events = json.loads(path.read_text())["traceEvents"]
        flows.update(e["ph"] for e in events if e["ph"] in "stf")
        begun = {(e["pid"], e["id2"]["local"]): e for e in events if e["ph"] == "b"}
        ended = {(e["pid"], e["id2"]["local"]): e for e in events if e["ph"] == "e"}
        equal(set(begun), set(ended), f"pairs in {path.name}")
        for key, begin in begun.items():
            pieces[key].append((begin["ts"], ended[key]["ts"]))
    equal(set(pieces), set(spans), "spans")
    equal(flows, collections.Counter(e["ph"] for e in whole if e["ph"] in "stf"), "flows")
    for key, list_of in pieces.items():
        equal((list_of[0][0], list_of[-1][1]), (spans[key], ends[key]), "begin and end")
        true(all(abs(a[1] - b[0]) < 1e-6 for a, b in zip(list_of, list_of[1:])), "edge to edge")
    true(max(map(len, pieces.values())) >= 2, "some go on")
    size = (directory / "trace.json").stat().st_size
    events = export(directory / "trace.json", "--max-bytes", str(size * 2 // 3), out)["traceEvents"]
    begun, ended = ({(e["pid"], e["id2"]["local"]) for e in events if e["ph"] == phase and e["cat"] != "merged"} for phase in "be")
    equal(begun, ended, "spans stay or go as a whole")


def test_names_of_threads_are_in_each_part(directory):
    program = compile_program("annotated.c", directory / "annotated", f"-I{ROOT / 'include'}", "-lpthread")
    out = directory / "out"
    equal(run([program, directory / "file", "2000"], env=tracing(out / "t")).code, 0, "traced")
    events = dump(out)
    width = (max(e["ts"] + e["dur"] for e in events) - min(e["ts"] for e in events)) // 5 + 1
    equal(dftmerge("export", "--format", "perfetto", "--split", f"{width}ns", "--max-bytes", "50K", "-o", f"{directory}/parts/", out).code,
          0, "export")
    named = []
    for path in sorted((directory / "parts").iterdir()):
        true(path.stat().st_size <= 50 << 10, "size")
        named.append({(e["pid"], e["tid"]) for e in json.loads(path.read_text())["traceEvents"]
                      if e["name"] == "thread_name" and e["args"]["name"] == "worker"})
    true(len(named) >= 4 and named[-1] and all(a <= b for a, b in zip(named, named[1:])), f"threads named worker: {named}")
    regions = [e for path in (directory / "parts").iterdir() for e in json.loads(path.read_text())["traceEvents"] if e["name"] == "all"]
    equal(sorted(e["args"]["dftmerge"].get("continues", False) for e in regions if "dftmerge" in e["args"])[0], False,
          "the region around everything goes on")
    true(len(regions) >= 4, f"it is in {len(regions)} parts")
