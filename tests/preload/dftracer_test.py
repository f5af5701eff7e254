# SPDX-License-Identifier: MIT
"""Programs written for DFTracer's C and C++ interfaces: linked with the library, with nothing, and preloaded."""

import json
import pathlib
import shutil

import pytest

from tracing import (LIBRARY, ROOT, dftmerge, dump, environment, equal, run, run_checked, traces,
                     tracing, true)

HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-Wno-unused-variable"]


def compiled(directory, compiler, source, *flags):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program = directory / f"{compiler}-{source}"
    run_checked([compiler, *WARNINGS, f"-I{ROOT / 'include'}", "-o", program, HERE / source, *flags])
    return program


def linked(directory):
    return compiled(directory, "gcc", "dftracer_c.c", "-Wl,--no-as-needed", str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}")


def regions(events):
    return [(e["cat"], e["name"], e.get("region"), e.get("args")) for e in events if e["cat"] == "C_APP"]


def of(events, name):
    return [e for e in events if e["name"] == name]


def one(name, times):
    ones = [("C_APP", "ONE", "WRITES", {"i": i}) for i in range(times)]
    return [("C_APP", "write_some", None, {"file": name, "times": times}),
            ("C_APP", "WRITES", "write_some", {"outer": 1, "said": "within another", "then": "the end"})] + ones


def check(events, writes):
    expected = one("before", 1) + one("file", 3) + [("C_APP", "early", None, None)] * 2 + one("after", 1)
    equal(regions(events), expected, "regions")
    equal([e["region"] for e in of(events, "write")], ["ONE"] * writes, "regions of writes")
    equal([e["args"] for e in of(events, "key")], [{"value": "value"}], "metadata")


def test_preloaded_and_linked_with_nothing(directory):
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        place = directory / compiler
        place.mkdir()
        program = compiled(place, compiler, "dftracer_c.c", "-std=gnu99")
        arguments = [program, place, place / "elsewhere", "/nowhere", "bind"]
        equal(run(arguments).code, 0, "alone")
        done = run(arguments, env=tracing(place / "out" / "t", DATA_DIR=place))
        equal((done.code, done.out, done.err), (0, b"", b""), "traced")
        check(dump(place / "out"), 5)
        equal(list(place.glob("elsewhere*")), [], "the environment has settled where the trace goes")


def test_linked_and_told_by_init(directory):
    program = linked(directory)
    log = directory / "logs" / "run"
    done = run([program, directory, log, directory, "bind"], cwd=directory, env=environment(DFTRACER_ENABLE=1))
    equal((done.code, done.out, done.err), (0, b"", b""), "linked")
    equal([p.parent for p in traces(directory)], [directory / "logs"], "where the trace is: it was moved")
    events = dump(directory / "logs")
    check(events, 5)
    equal({pathlib.Path(e["file"]).parent for e in events if "file" in e}, {directory}, "directories")
    equal(dftmerge("check", directory / "logs").code, 0, "check")
    done = run([program, directory, log, "-", "bind"], cwd=directory, env=environment())
    equal((done.code, done.out, done.err, len(traces(directory))), (0, b"", b"", 1), "switched off")


def test_linked_and_told_by_the_environment(directory):
    program = linked(directory)
    done = run([program, directory, "-", "-", "bind"], cwd=directory,
               env=environment(DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=directory / "env" / "t", DFTRACER_DATA_DIR=directory))
    equal((done.code, done.err), (0, b""), "linked")
    check(dump(directory / "env"), 5)
    equal(len(traces(directory)), 1, "one trace")


def test_data_dirs_and_no_bind(directory):
    program = linked(directory)
    done = run([program, directory, directory / "a" / "t", "/nowhere", "bind"], cwd=directory,
               env=environment(DFTRACER_ENABLE=1))
    equal((done.code, [pathlib.Path(e["file"]).name for e in of(dump(directory / "a"), "write")]), (0, ["before"]),
          "files that are not traced any more")
    done = run([program, directory, directory / "b" / "t", "-", "nobind"], cwd=directory, env=environment(DFTRACER_ENABLE=1))
    events = dump(directory / "b")
    equal((done.code, len(of(events, "write")), len(of(events, "ONE"))), (0, 1, 5), "annotations alone")
    equal([e["args"]["value"] for e in of(events, "process_id")], [3], "the process's number")


def test_without_init(directory):
    program = compiled(directory, "gcc", "dftracer_c.c")
    done = run([program, directory, "-", "-", "none"], env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal(done.code, 0, "the program")
    check(dump(directory / "out"), 5)


def test_texts_without_room(directory):
    program = compiled(directory, "gcc", "dftracer_c.c")
    done = run([program, directory, "-", "-", "long"], env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal(done.code, 0, "the program")
    events = {e["name"]: e for e in dump(directory / "out") if e["name"] in ("OUTER", "INNER")}
    equal(events["INNER"]["args"], {"inner": 2}, "arguments of the inner region")
    arguments = events["OUTER"]["args"]
    equal((arguments["first"], arguments["last"], set(arguments["long"])), (1, 3, {"t"}), "arguments of the outer one")
    true(500 < len(arguments["long"]) < 1024, "cut to what there is room for")


def test_c_plus_plus(directory):
    program = compiled(directory, "g++", "dftracer_cpp.cpp", "-std=c++11")
    equal(run([program]).out, b"done\n", "alone")
    done = run([program], env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal((done.code, done.out, done.err), (0, b"done\n", b""), "traced")
    events = dump(directory / "out")
    found = [(e["name"], e.get("region"), e.get("args")) for e in events if e["cat"] == "CPP_APP"]
    arguments = {"int_key": 42, "string_key": "test_value", "double_key": 3.25, "array": "mutable", "float": 0.5}
    equal(found, [("compute", None, arguments), ("compute", None, arguments), ("STATIC", None, {"region_key": "region_value"}),
                  ("DYNAMIC", None, {"dyn_key": 200, "big": 2**40, "dyn_str": "dynamic"}), ("INNER", "DYNAMIC", {"inner": 1}),
                  ("generic", None, None), ("generic", None, None)], "regions")
    equal([e["args"]["value"] for e in of(events, "app_name")], ["api"], "metadata")
    notes = json.loads(dftmerge("summary", "--json", directory / "out").out)["notes"]
    true(not notes, f"notes: {notes}")


def entity(kind, key):
    """The id of an entity, by DFTracer's rule: FNV-1a of type, 0x1f and key from a basis of its own."""
    value = 1469598103934665603
    for byte in f"{kind}\x1f{key}".encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


def declared(events):
    return [(e["name"], e["args"]) for e in events if e["name"] in ("EH", "ET", "ER")]


def metadata(events):
    return {(e["cat"], e["name"]): e["args"]["value"] for e in events if "value" in e.get("args", {})}


ARCHIVE, ONE = entity("archive", "a.tar"), entity("structure", "one")
HELD = ("EH", {"id": ARCHIVE, "type": "archive", "store": 3, "uri": "/p/out/a.tar", "key": "a.tar"})
CONTAINS = ("ER", {"relation": 18, "subject": ARCHIVE, "object": ONE})


def test_version_2_in_c(directory):
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        place = directory / compiler
        place.mkdir()
        program = compiled(place, compiler, "dftracer2_c.c", "-std=c11")
        equal(run([program]).out, b"0" * 16 + b"\n", "alone: no entity has an id")
        done = run([program], env=tracing(place / "out" / "t", DATA_DIR=place))
        equal((done.code, done.out, done.err), (0, ARCHIVE.encode() + b"\n", b""), "traced")
        events = dump(place / "out")
        equal([(e["cat"], e["name"], e.get("args")) for e in events if "phase" not in e and e["cat"] in ("C_APP", "MINE")],
              [("C_APP", "transform", {"used:" + entity("raw_sample", f"sample-{i}"): 1, "generated:" + ONE: 1, "i": i,
                                       "updated:" + entity("index", "main"): 1}) for i in range(3)]
              + [("C_APP", "pack", {"generated:" + ARCHIVE: 1, "used:" + ONE: 1}),
                 ("MINE", "by_functions", {"number": 7, "text": "seven"})], "regions")
        samples = [("EH", {"id": entity("raw_sample", f"sample-{i}"), "type": "raw_sample", "store": 0, "key": f"sample-{i}"}) for i in range(3)]
        once = [("EH", {"id": ONE, "type": "structure", "store": 0, "key": "one"}),
                ("EH", {"id": entity("index", "main"), "type": "index", "store": 6, "uri": "db://main", "key": "main"})]
        equal(declared(events), [("ET", {"type": "raw_sample", "role": 1, "description": 'An "input" sample'}), samples[0],
                                 *once, *samples[1:], HELD, CONTAINS], "entities, each declared once")
        equal(metadata(events), {("dftracer", "used"): "sub-layer", ("APP", "ranks"): 4, ("APP", "model"): "unet",
                                 ("APP", "a key"): "its value"}, "metadata")
        notes = json.loads(dftmerge("summary", "--json", place / "out").out)["notes"]
        true(not notes, f"notes: {notes}")


def test_version_2_in_c_plus_plus(directory):
    for standard in ("c++11", "c++17"):
        place = directory / standard
        place.mkdir()
        program = compiled(place, "g++", "dftracer2_cpp.cpp", f"-std={standard}")
        equal(run([program]).out, b"done\n", "alone")
        done = run([program], env=tracing(place / "out" / "t", DATA_DIR=place))
        equal((done.code, done.out, done.err), (0, b"done\n", b""), "traced")
        events = dump(place / "out")
        equal([(e["name"], e.get("args")) for e in events if e["cat"] == "CPP_APP"],
              [("transform", {"used:" + entity("raw_sample", f"sample-{i}"): 1, "generated:" + ONE: 1, "i": i}) for i in range(2)]
              + [("pack", {"generated:" + ARCHIVE: 1, "used:" + ONE: 1, "count": 1, "text": "one"}),
                 ("DYNAMIC", {"invalidated:" + entity("index", "old"): 1, "key": "value"}),
                 ("STATIC", {"used:" + entity("index", "new"): 1, "key": 1}), ("moved", None)], "regions")
        true(HELD in declared(events) and CONTAINS in declared(events), f"entities: {declared(events)}")
        equal(metadata(events), {("dftracer", "used"): "sub-layer", ("APP", "ranks"): 4}, "metadata")
