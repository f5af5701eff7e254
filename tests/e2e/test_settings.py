# SPDX-License-Identifier: MIT
"""Every DFTRACER_ variable does what its line of spec and help says, and wrong values harm nobody."""

import collections
import json
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import pytest

from tracing import ROOT, SHARED_MEMORY, compile_program, dftmerge, dump, equal, live_files, run, traces, tracing, true


def annotated(directory, name, **settings):
    """The annotated program with these settings; its events."""
    program = directory / "annotated"
    if not program.exists():
        compile_program("annotated.c", program, f"-I{ROOT / 'include'}", "-lpthread")
    out = directory / name
    done = run([program, directory / f"file-{name}", "10"], env=tracing(out / "t", **settings))
    equal((done.code, done.out), (0, b""), f"{settings}: code and output")
    return (dump(out) if out.exists() else []), done.err


def known_calls(directory, name, **settings):
    program = directory / "known_calls"
    if not program.exists():
        compile_program("known_calls.c", program, "-fno-inline", "-lpthread")
    work, out = directory / f"work-{name}", directory / name
    work.mkdir()
    done = run([program, work, "0", "1", "3"], env=tracing(out / "t", DATA_DIR=work, **settings))
    equal(done.code, 0, f"{settings}: exit code")
    return (dump(out) if out.exists() else []), json.loads(done.out), done.err


def count(events):
    counts = collections.Counter()
    for event in events:
        counts[event["name"]] += event.get("calls", 1)
    return counts


def test_groups_can_be_switched_off(directory):
    both, said, _ = known_calls(directory, "both")
    posix, _, _ = known_calls(directory, "posix", DISABLE_STDIO=1)
    stdio, _, _ = known_calls(directory, "stdio", DISABLE_POSIX="TRUE")
    none, _, _ = known_calls(directory, "none", DISABLE_IO="on")
    true({"POSIX", "STDIO"} <= {e["cat"] for e in both}, "both groups by default")
    true("STDIO" not in {e["cat"] for e in posix} and count(posix)["pwrite"] == said["pwrite"]["calls"], "POSIX alone")
    true("POSIX" not in {e["cat"] for e in stdio} and count(stdio)["fwrite"] == said["fwrite"]["calls"], "STDIO alone")
    equal([e for e in none if e["cat"] in ("POSIX", "STDIO")], [], "calls with DISABLE_IO")


def test_annotations_stay_without_calls(directory):
    events, _ = annotated(directory, "none", DISABLE_IO=1)
    counts = count(events)
    equal((counts["step"], counts["save"], counts["open"], counts["write"]), (20, 20, 0, 0), "regions and calls")


def test_without_compression_the_same_is_read(directory):
    plain, said, _ = known_calls(directory, "stored", TRACE_COMPRESSION=0)
    equal(count(plain)["write"], said["write"]["calls"], "writes")
    stat = json.loads(dftmerge("debug", "stat", "--json", directory / "stored").out)["types"]["EVENTS"]
    equal(stat["stored_bytes"], stat["raw_bytes"] + stat["bit_string_bytes"], "stored bytes of events")
    known_calls(directory, "deflated")
    packed = json.loads(dftmerge("debug", "stat", "--json", directory / "deflated").out)["types"]["EVENTS"]
    true(packed["stored_bytes"] < stat["stored_bytes"], "compression makes it smaller")


def test_time_metrics_round_times(directory):
    for metric, unit in (("US", 1000), ("MS", 1000000), ("SEC", 1000000000)):
        events, said, _ = known_calls(directory, metric, TIME_METRIC=metric)
        equal(count(events)["write"], said["write"]["calls"], f"{metric}: writes")
        true(all(e["ts"] % unit == 0 and e["dur"] % unit == 0 for e in events),
             f"{metric}: times are multiples of {unit} ns")
    events, said, _ = known_calls(directory, "NS", TIME_METRIC="ns")
    true(any(e["ts"] % 1000 for e in events), "NS keeps nanoseconds")
    events, said, _ = known_calls(directory, "REL", TIME_METRIC="REL")
    equal(count(events)["write"], said["write"]["calls"], "REL: writes")


def test_thread_ids_can_be_left_out(directory):
    events, _ = annotated(directory, "tids")
    true(len({e["tid"] for e in events}) == 2, "two threads")
    events, _ = annotated(directory, "no-tids", DISABLE_TIDS=1)
    equal({e["tid"] for e in events}, {e["pid"] for e in events}, "thread ids")


def test_less_metadata_keeps_what_is_counted(directory):
    full, said, _ = known_calls(directory, "full")
    less, _, _ = known_calls(directory, "less", INC_METADATA=0)
    equal(count(less), count(full), "calls")
    equal(sum(e.get("bytes", 0) for e in less), sum(e.get("bytes", 0) for e in full), "bytes")
    equal(sum("errno" in e for e in less), sum("errno" in e for e in full), "errors")
    true(any(e.get("mode") for e in full) and not any(e.get("mode") for e in less), "no aggregate needs the mode")


def test_ranks_come_from_launchers(directory):
    for name, variables in (("openmpi", {"OMPI_COMM_WORLD_RANK": 5, "OMPI_COMM_WORLD_SIZE": 8,
                                         "OMPI_COMM_WORLD_LOCAL_RANK": 1}),
                            ("pmi", {"PMI_RANK": 5, "PMI_SIZE": 8}), ("slurm", {"SLURM_PROCID": 5, "SLURM_NTASKS": 8}),
                            ("own", {"DFTRACER_RANK": 5, "DFTRACER_WORLD_SIZE": 8, "OMPI_COMM_WORLD_RANK": 2})):
        env = tracing(directory / name / "t")
        env.update({k: str(v) for k, v in variables.items()})
        equal(run(["cat", ROOT / "CMakeLists.txt"], env=env).code, 0, "cat")
        [process] = json.loads(dftmerge("ps", "--json", directory / name).out)["processes"]
        equal((process["rank"], process["world_size"]), (5, 8), f"{name}: rank and world size")
        true(all(e["rank"] == 5 for e in dump(directory / name)), f"{name}: rank of events")


def test_the_live_file_goes_where_it_is_told(directory):
    program = compile_program("endings.c", directory / "endings")
    # Not every file system is fit for it: a directory of ours where one surely is.
    live = pathlib.Path(tempfile.mkdtemp(prefix="dft-e2e-", dir=SHARED_MEMORY))
    try:
        check_live_file(directory, program, live)
    finally:
        shutil.rmtree(live)


def check_live_file(directory, program, live):
    run([program, "kill", directory / "f", "100"], env=tracing(directory / "out" / "t", LIVE_DIR=live))
    equal((len(live_files(live)), len(live_files(directory / "out"))), (1, 0), "live files there and beside the trace")
    [trace] = traces(directory / "out")
    events = dump(trace)
    equal(sum(e["name"] == "write" for e in events), 100, "writes, when only the trace is named")
    equal(dftmerge("check", "--recover", trace).code, 1, "check --recover")
    equal(live_files(live), [], "live files afterwards")
    equal(dump(trace), events, "events afterwards")


def test_the_prefix_names_files(directory):
    done = run(["cat", ROOT / "CMakeLists.txt"], cwd=directory, env=tracing("deep/er/name"))
    equal(done.code, 0, "cat")
    [trace] = traces(directory)
    true(trace.parent == directory / "deep" / "er" and trace.name.startswith("name-cat-"), f"the name {trace}")
    env = tracing("x")
    del env["DFTRACER_LOG_FILE"]
    (directory / "here").mkdir()
    run(["cat", ROOT / "CMakeLists.txt"], cwd=directory / "here", env=env)
    [trace] = traces(directory / "here")
    true(trace.name.startswith("trace-cat-") and trace.parent == directory / "here", f"the default name {trace}")


def test_wrong_values_are_named_and_harmless(directory):
    for name, value in (("TIME_METRIC", "fortnights"), ("TRACE_INTERVAL_MS", "-5"), ("INC_METADATA", "maybe"),
                        ("TRACE_INTERVAL_MS", "99999999999999999999"), ("RANK", "first")):
        events, err = annotated(directory, f"{name}-{value}", **{name: value})
        equal(count(events)["step"], 20, f"{name}={value}: regions")
        equal(err.decode().count(f"DFTRACER_{name}"), 1,
              f"{name}={value}: named once on standard error: {err.decode()}")


def test_other_names_of_dftracer_are_accepted(directory):
    events, err = annotated(directory, "others", GOTCHA_PRIORITY=1, WRITE_BUFFER_SIZE=1000, SET_CORE_AFFINITY=1,
                            LIBUV_THREADS=4, ERROR=1, INIT_COUNT=2, ENABLE_PAPI_TRACING=0, PAPI_EVENTS="a",
                            PAPI_MULTIPLEX=1, PAPI_SAMPLE_INTERVAL_MS=5, DISABLE_VARIORUM_POWER=1, AGGREGATION_TYPE="FULL",
                            AGGREGATION_FILE="", CONFIGURATION="", STACK="", ENABLE_MPI="ON", VERSION="develop",
                            TEST_LD_LIBRARY_PATH="/x", UTILS_LOG_LEVEL="info")
    equal((count(events)["step"], err), (20, b""), "regions and messages")
    events, err = annotated(directory, "told", GOTCHA_PRIORITY=1, LOG_LEVEL="INFO")
    true(b"info: DFTRACER_GOTCHA_PRIORITY=1 has no effect" in err, f"at level INFO: {err.decode()}")


def lines_of(directory, script, **settings):
    """How often a place for traces that is a file is told. The script does what it does untraced."""
    (directory / "file").touch()
    (directory / "in").write_text("some\nlines\n")
    plain = run(["sh", "-c", script], cwd=directory)
    for aggregates in (0, 1):
        done = run(["sh", "-c", script], cwd=directory, env=tracing(directory / "file/t", ENABLE_AGGREGATION=aggregates, **settings))
        equal((done.code, done.out), (plain.code, plain.out), script)
        equal(done.err.count(b"\n"), done.err.count(b"cannot create a trace"), done.err.decode())
    return done.err.count(b"\n")


def test_a_place_that_cannot_be_written_is_told_once(directory):
    scripts = ["cat in", "for i in 1 2 3; do cat in; done; exec cat in", "exec sh -c 'exec cat in'", "(cat in; wc in) | cat; cat in & wait",
               "exec env nice timeout 9 cat in", "seq 8 | xargs -n1 -P4 echo | wc -l", "env | grep -c DFTRACER_FOLLOWED; true",
               "perl -e 'system(q(cat in; wc in)); print qx(cat in); exec qw(cat in)'",
               "python3 -S -c 'import os, subprocess; [subprocess.run([\"cat\", \"in\"]) for i in range(3)]; os.system(\"cat in; cat in\")'"]
    for script in scripts:
        equal(lines_of(directory, script), 1, script)
        equal(lines_of(directory, script, LOG_LEVEL="OFF"), 0, f"{script}: told although messages are off")
    equal(lines_of(directory, "DFTRACER_LOG_FILE=$PWD/file/other cat in; cat in"), 2, "another place is told, too")


def test_no_message_when_messages_are_off(directory):
    for settings in ({"NOPE": 1}, {"RANK": "first"}, {"STAGE_DIR": "/proc"}):
        done = run(["cat", directory / "none"], env=tracing(directory / "t", LOG_LEVEL="off", **settings))
        equal(done.err.count(b"dftrace"), 0, f"{settings}: {done.err.decode()}")


def told(directory, name, command=("cat", ROOT / "CMakeLists.txt"), enable=1, **variables):
    """The settings that are said to have no effect, each with the whole line; and whether there is a trace."""
    env = tracing(directory / name / "t")
    del env["DFTRACER_ENABLE"]
    if enable is not None:
        env["DFTRACER_ENABLE"] = str(enable)
    env.update({k: str(v) for k, v in variables.items()})
    done = run(command, env=env)
    equal(done.code, 0, f"{command}: exit code")
    lines = [line for line in done.err.decode().splitlines() if line.startswith("dftrace: error: ")]
    return [(line.split(": ")[2].split(" has no effect")[0], line) for line in lines], (directory / name).exists()


def test_settings_without_effect_are_told_with_the_nearest_name(directory):
    for number, (variable, nearest) in enumerate([
            ("DFTRACER_LOGFILE", "DFTRACER_LOG_FILE"), ("DFTRACER_DATA_DIRS", "DFTRACER_DATA_DIR"),
            ("DFTRACER_ENABEL_AGGREGATION", "DFTRACER_ENABLE_AGGREGATION"), ("DFTRACER_time_metric", "DFTRACER_TIME_METRIC"),
            ("DFTRACER_GOTCHA_PRIORTY", "DFTRACER_GOTCHA_PRIORITY"), ("DFTRACE_STACK", "DFTRACER_STACK"),
            ("DTRACER_LOG_LEVEL", "DFTRACER_LOG_LEVEL"), ("DFTRACER_" + "X" * 5000, "DFTRACER_")]):
        found, recorded = told(directory, str(number), **{variable: "1"})
        true(len(found) == 1 and recorded, f"{variable}: {found}")
        true(found[0][0].startswith(variable[:100]) and f"nearest name is {nearest}" in found[0][1], f"{variable}: {found}")
    found, _ = told(directory, "strange", DFTRACER_TYPO="one\ntwo\x1b" + "x" * 5000)
    true(len(found) == 1 and found[0][0].startswith("DFTRACER_TYPO=one?two?xxx") and "nearest" in found[0][1], f"{found}")
    others = {"DFT_ENABLE": 1, "DARSHAN_ENABLE": 1, "DFTMERGE_THREADS": 1, "TRACER_X": 1, "D": 1, "DFTRACER": 1, "DISPLAY": ":0"}
    equal(told(directory, "others", **others), ([], True), "names of others")


def test_a_setting_without_effect_leaves_the_rest_as_it_is(directory):
    found, _ = told(directory, "selective", DFTRACER_ENABLE_AGGREGATION=1, DFTRACER_AGGREGATION_TYPE="SELECTIVE",
                    DFTRACER_AGGREGATION_FILE="rules.yaml")
    equal([f[0] for f in found], ["DFTRACER_AGGREGATION_FILE=rules.yaml"], "told")
    true(any(e["name"] == "read" for e in dump(directory / "selective")), "all events are kept")
    found, _ = told(directory, "yaml", DFTRACER_CONFIGURATION="c.yaml")
    equal([f[0] for f in found], ["DFTRACER_CONFIGURATION=c.yaml"], "told")
    true(any(e["name"] == "read" for e in dump(directory / "yaml")), "all is recorded")
    [process] = json.loads(dftmerge("ps", "--json", directory / "yaml").out)["processes"]
    true("DFTRACER_CONFIGURATION=c.yaml (no effect)\n" in process["options"], f"the trace says so, too: {process['options']}")


def test_what_is_switched_off_is_silent_unless_it_was_to_be_on(directory):
    everything = {"DFTRACER_ENABLED": 1, "DFTRACER_TYPO": 1, "DFTRACER_STACK": "x", "DFTRACER_CONFIGURATION": "c.yaml"}
    equal(told(directory, "off", enable=0, **everything), ([], False), "switched off in so many words")
    equal(told(directory, "unset", enable=None, DFTRACER_TYPO=1, DFTRACER_STACK="x"), ([], False), "not switched on")
    for variable, value in (("DFTRACER_ENABLED", "1"), ("DFTRACE_ENABLE", "1"), ("DFTRACER_ENABLE", "yess"),
                            ("DFTRACER_CONFIGURATION", "c.yaml")):
        found, recorded = told(directory, variable, enable=None, **{variable: value})
        equal(([f[0] for f in found], recorded), ([f"{variable}={value}"], False), f"{variable}: told")
        true("nothing is recorded" in found[0][1], f"{variable}: {found}")


def test_one_process_of_a_job_tells(directory):
    cat = f"cat {ROOT / 'CMakeLists.txt'}"
    python = f"import os, subprocess; subprocess.run('{cat}', shell=True); os.system('{cat}'); os.fork() or os.execvp('sh', ['sh', '-c', '{cat}'])"
    trees = {"children": ("sh", "-c", f"{cat}; {cat}; ({cat}; {cat})"), "exec": ("sh", "-c", f"exec sh -c 'exec {cat}'"),
             "last": ("sh", "-c", cat), "python": (sys.executable, "-c", python + "; os.wait()")}
    for name, command in trees.items():
        found, _ = told(directory, name, command, DFTRACER_TYPO=1, DFTRACER_STACK="x", DFTRACER_WEAVE="nowhere")
        equal([f[0].split(": ")[0] for f in found], ["DFTRACER_TYPO=1", "DFTRACER_STACK=x", "DFTRACER_WEAVE"], f"{name}: told once")
    for name, command in (("new", f"DFTRACER_TYPO=1 {cat}; true"), ("new-exec", f"DFTRACER_TYPO=1 exec {cat}"),
                          ("switched-on", f"DFTRACER_ENABLE=1 DFTRACER_TYPO=1 {cat}")):
        found, _ = told(directory, name, ("sh", "-c", command), enable=0 if name == "switched-on" else 1)
        equal([f[0] for f in found], ["DFTRACER_TYPO=1"], f"{name}: what a process sets for another is told by that")
    for rank, lines in ((0, 1), (1, 0), (7, 0)):
        found, _ = told(directory, f"rank{rank}", OMPI_COMM_WORLD_RANK=rank, DFTRACER_TYPO=1)
        equal(len(found), lines, f"lines of rank {rank}")


def test_another_process_of_the_same_number_tells_again(directory):
    """In a container each run begins with the same number."""
    inside = ["unshare", "--pid", "--fork"]
    if not shutil.which("unshare") or run([*inside, "true"]).code:
        pytest.skip("no PID namespaces here")
    settings = [f"{k}={v}" for k, v in tracing(directory / "out" / "t", TYPO=1).items() if k.startswith(("DFTRACER_", "LD_"))]
    for _ in range(2):
        done = run([*inside, "env", *settings, "cat", ROOT / "CMakeLists.txt"])
        equal((done.code, done.err.decode().count("DFTRACER_TYPO=1 has no effect")), (0, 1), "every run tells")
        time.sleep(0.05)  # /proc counts in hundredths of a second
    equal([path.name.split("-")[-3] for path in traces(directory / "out")], ["1", "1"], "their number")
    done = run([*inside, "env", *settings, "sh", "-c", f"cat {ROOT / 'CMakeLists.txt'}; true"])
    equal(done.err.decode().count("DFTRACER_TYPO=1 has no effect"), 1, "the parent is found by the numbers of this /proc")


def test_intervals_have_the_width_asked_for(directory):
    for width in (1, 10, 1000, 60000):
        known_calls(directory, f"w{width}", TRACE_INTERVAL_MS=width)
        done = dftmerge("summary", "--json", "--by", "name", directory / f"w{width}")
        groups = {g["name"]: g["count"] for g in json.loads(done.out)["groups"]}
        equal(groups, dict(count(dump(directory / f"w{width}"))), f"{width} ms: calls in the summary and in the events")


def test_nothing_is_lost_when_killed_at_any_time(directory):
    """Threads count their calls in shared memory; after kill -9 the trace must have all of them, and at most one
    more each."""
    program = compile_program("endless.c", directory / "endless", "-lpthread")
    threads = 3
    for round_number, delay in enumerate((0.0, 0.01, 0.05, 0.1, 0.2)):
        counts, file, out = directory / "counts", directory / "file", directory / f"out{round_number}"
        counts.write_bytes(bytes(8 * threads))
        file.write_bytes(b"")
        process = subprocess.Popen([program, counts, file, str(threads)], stdout=subprocess.PIPE,
                                   env=tracing(out / "t"))
        equal(process.stdout.readline(), b"ready\n", "the program's word")
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        said = sorted(struct.unpack(f"{threads}Q", counts.read_bytes()))
        found = collections.Counter()
        for e in dump(out):
            if e["name"] == "pwrite" and not e.get("open"):
                found[e["tid"]] += e.get("calls", 1)
        got = sorted(found.values())
        true(len(got) == threads and all(a <= b <= a + 1 for a, b in zip(said, got)),
             f"after {delay} s the program had done {said}, the trace has {got}")
        equal(dftmerge("check", "--recover", out).code, 1, "check --recover")
        equal(sum(e["name"] == "pwrite" and not e.get("open") for e in dump(out)), sum(got), "writes after --recover")
        equal(dftmerge("check", out).code, 0, "check afterwards")
