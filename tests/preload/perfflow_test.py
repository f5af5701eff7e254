# SPDX-License-Identifier: MIT
"""Programs that PerfFlowAspect has woven: all pointcuts, its options, and the file that it would have written."""

import collections
import json
import pathlib
import socket

from tracing import dftmerge, dump, equal, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent


def program_of(directory):
    """Linked against a library like its own, which is there when the program runs, or is not needed."""
    run_checked(["gcc", "-shared", "-fPIC", "-o", directory / "libperfflow_runtime.so", HERE / "perfflow_runtime.c"])
    run_checked(["gcc", "-O1", "-o", directory / "woven", HERE / "woven_functions.c", "-pthread", f"-L{directory}",
                 "-lperfflow_runtime", f"-Wl,-rpath,{directory}"])
    return directory / "woven"


def traced(directory, options=None):
    program = program_of(directory)
    plain = run([program, directory / "file"])
    equal((plain.code, plain.err), (0, b"its own: 7 7\n"), "without the library")
    env = tracing(directory / "out" / "t", DATA_DIR=directory)
    if options:
        env["PERFFLOW_OPTIONS"] = options
    done = run([program, directory / "file"], env=env)
    equal((done.code, done.out, done.err), (0, b"", plain.err), "traced: its own library is called as before")
    return directory / "out"


def exported(directory, out):
    where = directory / "files"
    where.mkdir()
    done = dftmerge("export", "--format", "perfflow", "-o", where, out)
    equal((done.code, done.err), (0, b""), "export")
    file, = where.iterdir()
    return file


def records(file):
    text = file.read_text()
    found = json.loads(text)
    return found["traceEvents"] if isinstance(found, dict) else found


def shapes(found, phases):
    return [(r["ph"], r["name"]) for r in found if r["ph"] in phases]


def test_all_pointcuts(directory):
    out = traced(directory)
    events = dump(out)
    writes = [e.get("region") for e in events if e["name"] == "write"]
    equal(writes, [None] + ["around(int)"] * 3 + ["around_async"] * 2 + [None], "regions of writes")
    rounds = [e for e in events if e["name"] == "around(int)"]
    equal([(e["cat"], e.get("region"), e["args"]) for e in rounds],
          [("woven.c", r, {"pointcut": "around", "flow": "in"}) for r in (None, "around(int)", "around(int)")], "regions")
    equal([e["phase"] for e in events if e["name"] in ("before_only", "after_only")], ["begin", "end"], "halves")
    spans = [e for e in events if e["name"] == "around_async" and "phase" not in e]
    equal([e["args"]["scope"] for e in spans], ["job", "job"], "spans")
    file = exported(directory, out)
    equal(file.name, f"perfflow.array.{socket.gethostname()}.{events[0]['pid']}.pfw", "the name of the file")
    found = records(file)
    equal(shapes(found, "BE"), [("B", "before_only")] + [("B", "around")] * 3 + [("E", "around")] * 3 + [("E", "after_only")],
          "functions")
    equal(collections.Counter(shapes(found, "be")), {("b", "before_async"): 1, ("e", "after_async"): 1,
                                                     ("b", "around_async"): 2, ("e", "around_async"): 2}, "asynchronous ones")
    joined = collections.defaultdict(list)
    for r in found:
        if r["name"] == "around_async":
            joined[r["id"], r["scope"]].append(r["ph"])
    equal(list(joined.values()), [["b", "e"]] * 2, "their ids")
    flows = collections.Counter((r["ph"], r["bp"], r["cat"]) for r in found if r["ph"] in "sf")
    equal(flows, {("f", "e", "flow"): 3 + 2, ("s", "e", "flow"): 2 + 1}, "arrows: in at the entry, outin one at each end, out")
    rest = [r["ph"] for r in found if (r["ph"] in "BEsf" and r["cat"] == "flow") or r["name"] in ("around", "after_only")]
    equal(rest[:6], ["B", "f"] * 3, "an arrow stands behind its begin")
    equal(rest[-2:], ["s", "E"], "and before its end")
    equal([r["ts"] for r in found], sorted(r["ts"] for r in found), "in order of time")
    starts = [e["ts"] for e in rounds]
    shown = [r["ts"] for r in found if (r["ph"], r["name"]) == ("B", "around")]
    true(len(shown) == 3 and all(abs(a - b / 1000) < 1 for a, b in zip(shown, starts)), f"times {shown} {starts}")
    equal({(r["pid"], r["cat"]) for r in found if r["ph"] in "BE"}, {(events[0]["pid"], "woven.c")}, "processes")


def test_its_options(directory):
    out = traced(directory, "name=lulesh:log-filename-include=name,instance-path:log-event=Compact:log-format=Object:"
                            "cpu-mem-usage=True")
    file = exported(directory, out)
    equal(file.name, "perfflow.object.lulesh.{1}.pfw", "the name of the file")
    true("traceEvents" in json.loads(file.read_text()), "an object")
    found = records(file)
    events = {e["ts"] // 1000: e for e in dump(out) if e["name"] == "around(int)"}
    slices = [r for r in found if r["ph"] == "X"]
    equal([(r["name"], round(r["dur"] * 1000)) for r in slices], [("around", e["dur"]) for e in events.values()], "compact")
    equal([r for r in found if r["ph"] in "BE" and r["name"] == "around"], [], "nothing twice")
    usage = [r["args"] for r in found if r["ph"] == "C"]
    true(len(usage) == 6 and all(set(u) == {"cpu_usage", "memory_usage"} for u in usage), f"usage: {usage}")
    began, ended = [u for u in usage if u["memory_usage"]], [u for u in usage if not u["memory_usage"]]
    true(len(began) == len(ended) == 3 and all(u["cpu_usage"] == 0 for u in ended), "at begin and end")
    true(all(0 <= u["cpu_usage"] < 1000 and u["memory_usage"] > 500 for u in began), f"{began}")


def test_wrong_options_are_told(directory):
    """Once, and the others are honoured."""
    program = program_of(directory)
    env = tracing(directory / "out" / "t", DATA_DIR=directory)
    env["PERFFLOW_OPTIONS"] = "log-evnt=Compact:log-format=Objekt:cpu-mem-usage=TRUE:oops"
    done = run(["sh", "-c", f"{program} {directory / 'file'}; {program} {directory / 'file'}"], env=env)
    told = [line.partition(": log-evnt=Compact:log-format=Objekt:cpu-mem-usage=TRUE:oops: ")[2] or line.rpartition("oops: ")[2]
            for line in done.err.decode().splitlines() if line.startswith("dftrace: ")]
    equal(told, ["log-evnt=Compact is no such option; the nearest name is log-event",
                 "log-format=Objekt is not understood; the default is Array",
                 "oops is not NAME=VALUE; the nearest name is name"], "what is told, by the first process alone")
    files = directory / "files"
    files.mkdir()
    equal(dftmerge("export", "--format", "perfflow", "-o", files, directory / "out").code, 0, "export")
    made = sorted(files.iterdir())
    equal([file.name.split(".")[1] for file in made], ["array"] * 2, "the default")
    true(all(any(r["ph"] == "C" for r in records(file)) for file in made), "what is understood is honoured")


def test_switched_off(directory):
    out = traced(directory, "name=x:log-enable=False")
    equal([e["name"] for e in dump(out) if e["cat"] == "woven.c"], [], "nothing woven")
    equal(len([e for e in dump(out) if e["name"] == "write"]), 7, "the functions did their work")


def test_one_file_for_all(directory):
    program = program_of(directory)
    for _ in range(3):
        run_checked([program, directory / "file"], env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal(dftmerge("export", "--format", "perfflow", "-o", directory / "all.pfw", directory / "out").code, 0, "export")
    found = records(directory / "all.pfw")
    equal((len({r["pid"] for r in found}), len([r for r in found if r["ph"] == "B"])), (3, 12), "processes")
    done = dftmerge("export", "--format", "perfflow", "-o", "-", "--name", "nothing", directory / "out")
    equal(json.loads(done.out), [], "nothing at all is a list, too")
    shown = dftmerge("summary", "--by", "cat,name", directory / "out").out.decode()
    true("around(int)" in shown and "_Z6" not in shown, f"names as people read them: {shown}")
    chosen = json.loads(dftmerge("summary", "--json", "--name", "around(int)", directory / "out").out)
    equal([(g["name"], g["count"]) for g in chosen["groups"]], [("around(int)", 9)], "chosen by that name")
