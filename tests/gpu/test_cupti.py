# SPDX-License-Identifier: MIT
"""The module for GPU activities (dftrun --gpu), held against a stand-in for libcupti: no test here needs a GPU."""

import collections
import json
import pathlib
import re
import tempfile

import pytest

from tracing import BUILD, DFTRUN, dftmerge, dump, environment, equal, need, run, run_checked, true

HERE = pathlib.Path(__file__).resolve().parent
MODULE = BUILD / "lib/libdftcupti.so"
built = {}  # by how the stand-in is made: the folder of the programs
keep = tempfile.TemporaryDirectory(prefix="dft-gpu-")


def programs(*flags):
    """The program and the stand-in, built once."""
    if not MODULE.exists():
        pytest.skip("dftrace was built without CUPTI's headers")
    need("gcc")
    if flags not in built:
        folder = pathlib.Path(keep.name) / str(len(built))
        folder.mkdir()
        cache = (BUILD / "CMakeCache.txt").read_text()
        includes = [f"-I{path}" for path in re.findall(r"^DFT_CU(?:PTI|DA)_INCLUDE:PATH=(.*)$", cache, re.M)]
        gcc = ["gcc", "-O1", "-g", "-D_GNU_SOURCE", f"-I{HERE}", *includes, *flags]
        run_checked([*gcc, "-shared", "-fPIC", "-Wl,-soname,libcupti.so.13", HERE / "stub_cupti.c", "-o", folder / "libcupti.so.13"])
        run_checked([*gcc, HERE / "uses_gpu.c", "-o", folder / "uses_gpu"])
        built[flags] = folder
    return built[flags]


def gpu(directory, *arguments, flags=(), code=0, options=(), **settings):
    """Runs plain and under dftrun --gpu: the program does the same. Returns the events, where single ones are kept, and
    what was said."""
    folder = programs(*flags)
    env = {**environment(**settings), "LD_LIBRARY_PATH": str(folder)}
    plain = run([folder / "uses_gpu", *arguments], cwd=directory, env=env)
    done = run([DFTRUN, "-q", "--gpu", *options, "-o", directory / "out", "--", folder / "uses_gpu", *arguments], cwd=directory, env=env)
    equal((done.code, done.out), (plain.code, plain.out), f"what the program did; {done.err.decode()}")
    equal(plain.code, code, "exit code")
    return [] if options else dump(directory / "out"), done.err.decode()


def spans(events):
    return [e for e in events if e["cat"] == "CUPTI" and e.get("phase") is None]


def notes(events):
    return {e["name"]: e["args"]["value"] for e in events if e["cat"] == "CUPTI" and e.get("phase") == "metadata"}


WORK = {
    "step(int, float*)": (0, {"device": 0, "stream": 5, "grid": "4x2x1", "block": "128x1x1"}),
    "kernel": (0, {"device": 0, "stream": 5, "grid": "4x2x1", "block": "128x1x1"}),
    "memcpy host-device": (1000, {"direction": "host-device", "device": 1, "stream": 5}),
    "memcpy device-host": (2000, {"direction": "device-host", "device": 1, "stream": 6}),
    "memcpy unknown": (4, {"direction": "unknown", "device": 1, "stream": 6}),
    "memset": (6000, {"device": 0, "stream": 7}),
    "sync stream": (0, {"stream": 5}),
    "sync context": (0, None),
    "around": (0, {"device": 0, "stream": 7, "grid": "4x2x1", "block": "128x1x1"}),
}


def check_work(events):
    """All activities, with the right times: between two writes of the program, and around one."""
    found = spans(events)
    seen = {e["name"]: (e.get("size", 0), e.get("args")) for e in found if e["name"] != "memcpy device-device"}
    equal(seen, WORK, "activities")
    equal(sorted((e["size"], e["args"]["device"], e["args"].get("from"), e["args"].get("to")) for e in found if e["name"] == "memcpy device-device"),
          [(3000, 1, None, None), (5000, 0, 2, 3)], "copies between devices")
    equal(len(found), len(WORK) + 2, "how many")
    before, after = [next(e for e in events if e["name"] == "write" and e["file"].endswith(name)) for name in ("before", "after")]
    step, around = [next(e for e in found if e["name"] == name) for name in ("step(int, float*)", "around")]
    times = [before["ts"], around["ts"], step["ts"], step["ts"] + step["dur"], after["ts"], around["ts"] + around["dur"]]
    equal(times, sorted(times), "times in the order in which it all happened")
    equal([e for e in found if e.get("region")], [], "activities that are in a region of a thread")
    unread = {k: v for k, v in notes(events).items() if k != "note"}
    equal(unread, {"unread": 2}, "notes: one without times, and one of another kind")


def test_every_activity_is_a_span(directory):
    events, said = gpu(directory, "work")
    check_work(events)
    equal(said, "dftrace: GPU: 2 activities have no times, or are of an unknown kind; they are left out\n", "what is said")


def test_records_of_older_versions(directory):
    events, _ = gpu(directory, "work", STUB_VERSION=13)
    check_work(events)


def test_a_clock_of_its_own(directory):
    """CUPTI has no function for our clock, or refuses it: both clocks are compared. Its clock goes twice as fast
    here."""
    for number, more in enumerate(({"flags": ("-DSTUB_WITHOUT_CLOCK",)}, {"STUB_CLOCK": 1})):
        place = directory / str(number)
        place.mkdir()
        check_work(gpu(place, "work", **more)[0])


def test_programs_that_end_otherwise(directory):
    """By exit, without a reset of the device; and by the end of a child, in which CUDA does not work."""
    events, _ = gpu(directory, "exit", code=7)
    check_work(events)
    (directory / "fork").mkdir()
    events, _ = gpu(directory / "fork", "fork")
    check_work(events)
    true(any(e["name"] == "write" and e["file"].endswith("child") for e in events), "what the child did")


def test_many_activities(directory):
    """More than all buffers hold at a time: they are used again and again."""
    events, said = gpu(directory, "many", 100000)
    equal((len(spans(events)), said), (100000, ""), "kernels")


def test_what_is_dropped_is_told(directory):
    """A buffer that never comes back, where another tool has taken CUPTI over."""
    events, said = gpu(directory, "lose")
    equal(spans(events), [], "activities")
    equal(notes(events), {"away": 1}, "notes")
    true("another profiler has CUPTI, or the GPU still works" in said, said)
    (directory / "drop").mkdir()
    events, said = gpu(directory / "drop", "work", flags=("-DSTUB_DROPS=7",))
    equal(notes(events)["dropped"], 7, "the count in the trace")
    true("7 activities were dropped by CUPTI" in said, said)


def test_what_cannot_be_done_is_told(directory):
    failures = [({"STUB_SUBSCRIBE": 39}, "nothing is recorded: CUPTI_ERROR_NUMBER_39: another profiler has CUPTI; run the program without it"),
                ({"STUB_REGISTER": 12}, "nothing is recorded: CUPTI_ERROR_NUMBER_12: another profiler has CUPTI; run the program without it"),
                ({"STUB_VERSION": 9}, "nothing is recorded: libcupti is older than that of CUDA 9.0"),
                ({"STUB_ENABLE": 35}, "kernels are not recorded: CUPTI_ERROR_NUMBER_35: the driver lets administrators alone profile; "
                                      "load nvidia with NVreg_RestrictProfilingToAdminUsers=0")]
    for number, (settings, wanted) in enumerate(failures):
        place = directory / str(number)
        place.mkdir()
        events, said = gpu(place, "work", **settings)
        equal(spans(events), [], f"activities of {settings}")
        equal(said.splitlines()[0], "dftrace: GPU: " + wanted, f"what is said of {settings}")
        equal([f"dftrace: GPU: {e['args']['value']}" for e in events if e["name"] == "note"], said.splitlines(), "notes in the trace")
        true(any(e["name"] == "write" for e in events), "the program's calls")


def test_one_kind_that_fails_leaves_the_others(directory):
    """And a flush that fails, and a buffer that cannot be read to its end."""
    events, said = gpu(directory, "work", STUB_ENABLE=27, STUB_ENABLE_KIND=38)
    true("synchronisation is not recorded: CUPTI_ERROR_NUMBER_27\n" in said, said)
    check_work([e for e in events if e["name"] != "note"])
    for name, setting, value, wanted in (("flush", "STUB_FLUSH", 1, "the last activities could not be fetched: CUPTI_ERROR_NUMBER_1\n"),
                                         ("broken", "STUB_BROKEN", 1, "1 buffers of CUPTI could not be read to their end\n"),
                                         ("again", "STUB_BROKEN", 2, "1 buffers of CUPTI could not be read to their end\n")):
        (directory / name).mkdir()
        events, said = gpu(directory / name, "work", **{setting: value})
        true(wanted in said, said)
        true(spans(events), "what was read before")


def test_without_libcupti(directory):
    """The loader finds none, or a CUDA that is here has one that finds no GPU: the program runs in either case."""
    folder = programs()
    done = run([DFTRUN, "-q", "--gpu", "-o", directory / "out", "--", folder / "uses_gpu"], cwd=directory, env=environment())
    equal((done.code, done.out), (0, b"no GPU\n"), done.err)
    true(done.err.startswith(b"dftrace: GPU: ") and b" recorded: " in done.err, done.err)
    equal(spans(dump(directory / "out")), [], "activities")


def test_without_a_trace(directory):
    """The variable alone does nothing."""
    folder = programs()
    env = {**environment(CUDA_INJECTION64_PATH=MODULE), "LD_LIBRARY_PATH": str(folder)}
    done = run([folder / "uses_gpu", "quiet"], cwd=directory, env=env)
    equal((done.code, done.out, done.err), (0, b"quiet is done\n", b""), "the run")


def test_another_injection_is_kept(directory):
    programs()
    done = run([DFTRUN, "--gpu", "-o", directory / "out", "--", "true"], env=environment(CUDA_INJECTION64_PATH="/opt/other.so"))
    equal(done.code, 2, "exit code")
    true(b"--gpu and CUDA_INJECTION64_PATH=/opt/other.so contradict each other" in done.err, done.err)
    true(not (directory / "out").exists(), "the command was not run")


def test_without_the_module(directory):
    """A build without CUPTI's headers has no module: dftrun says it, and runs nothing."""
    for part, source in (("bin/dftrun", DFTRUN), ("lib/libdftrace.so", BUILD / "lib/libdftrace.so")):
        (directory / part).parent.mkdir(exist_ok=True)
        (directory / part).write_bytes(source.read_bytes())
    (directory / "bin/dftrun").chmod(0o755)
    done = run([directory / "bin/dftrun", "--gpu", "-o", directory / "out", "--", "touch", directory / "ran"])
    equal(done.code, 125, "exit code")
    true(b"there is no " in done.err and b"libdftcupti.so: build dftrace where the headers of CUPTI are" in done.err, done.err)
    true(not (directory / "ran").exists(), "the command was not run")


def test_io_behind_kernels_is_hidden(directory):
    """overlap: the write that a kernel is around is hidden, the other one is not. Copies and waits compute nothing."""
    gpu(directory, "work")
    done = dftmerge("overlap", "--json", directory / "out")
    equal(done.code, 0, done.err)
    total = json.loads(done.out)
    true(0 < total["hidden_ns"] < total["io_ns"], total)
    only = json.loads(dftmerge("overlap", "--json", "--compute", "cupti:memcpy *", directory / "out").out)
    equal(only["hidden_ns"], 0, "I/O behind copies alone")


def test_summaries_have_them(directory):
    """By name, region and time; and the bytes by direction and stream in SQL."""
    gpu(directory, "work")
    done = dftmerge("summary", "--by", "cat,name", "--json", directory / "out")
    groups = {(g["cat"], g["name"]): g for g in json.loads(done.out)["groups"]}
    equal({name for cat, name in groups if cat == "CUPTI"} - set(WORK), {"memcpy device-device"}, "names")
    done = dftmerge("sql", "--json", directory / "out", "select args->>'direction' as d, args->>'stream' as s, sum(size) as bytes from events "
                    "where cat = 'CUPTI' and d is not null group by 1, 2 order by 1, 2")
    if b"built without" in done.err:
        pytest.skip("dftmerge was built without SQLite")
    equal([tuple(r.values()) for r in json.loads(done.out)], [("device-device", 0, 5000), ("device-device", 6, 3000), ("device-host", 6, 2000),
                                                              ("host-device", 5, 1000), ("unknown", 6, 4)], "bytes")


def test_aggregates_have_them(directory):
    gpu(directory, "work", options=("--aggregate",))
    done = dftmerge("summary", "--by", "cat,name", "--json", directory / "out")
    names = collections.Counter({g["name"]: g["count"] for g in json.loads(done.out)["groups"] if g["cat"] == "CUPTI"})
    equal((names["memcpy device-device"], names["memset"]), (2, 1), names)
