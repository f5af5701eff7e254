# SPDX-License-Identifier: MIT
"""DFTRACER_PRIVATE leaves out command lines and texts of arguments: a program that tells a secret wherever a text can
be told."""

import json
import sys

import pytest

from tracing import BUILD, ROOT, compile_program, dftmerge, dump, equal, live_files, run, traces, tracing, true

SECRET = "Rosebud4711"


def run_program(directory, name, *more, **settings):
    program, out = directory / "secrets", directory / name
    if not program.exists():
        compile_program("secrets.c", program, f"-I{ROOT / 'include'}", "-lpthread")
    env = tracing(out / "t", TRACE_COMPRESSION=0, SYSTEM_METRICS=0, SECRT=SECRET, **settings)
    done = run([program, SECRET, directory / f"file-{name}", *more], env=env)
    equal(done.code, -9 if more == ("killed",) else 0, "exit code")
    return out


def bytes_of(out):
    return b"".join(path.read_bytes() for path in traces(out) + live_files(out))


def test_texts_are_left_out(directory):
    plain, private = run_program(directory, "plain"), run_program(directory, "private", PRIVATE=1)
    true(bytes_of(plain).count(SECRET.encode()) > 10, "the program tells its secret")
    equal(bytes_of(private).count(SECRET.encode()), 0, "secrets in the traces")
    events, known = dump(private), dump(plain)
    equal(sorted(e["name"] for e in events), sorted(e["name"] for e in known), "the same events")
    step = next(e for e in events if e["name"] == "step")
    equal(step["args"], {"number": 7}, "numbers stay, texts go")
    true(any("file-private" in e.get("file", "") for e in events), "paths stay")
    true(any(e["name"] == "execl" and e["file"] == "/bin/true" for e in events), "programs stay")


def test_nor_when_killed(directory):
    out = run_program(directory, "killed", "killed", PRIVATE=1)
    true(live_files(out), "a live file is left")
    equal(bytes_of(out).count(SECRET.encode()), 0, "secrets in the trace and in the live file")
    last = next(e for e in dump(out) if e["name"] == "open" and e["cat"] == "APP")
    equal(last.get("args"), None, "arguments of the open region")


def test_what_the_library_says_itself_stays(directory):
    events = dump(run_program(directory, "left", "left", PRIVATE=1))
    last = next(e for e in events if e["name"] == "open" and e["cat"] == "APP")
    equal(list(last["args"]), ["ended_by"], "arguments of the region that was left open")


def test_it_is_said(directory):
    private = run_program(directory, "private", PRIVATE=1)
    said = b"DFTRACER_PRIVATE: command lines and texts of arguments left out, in "
    for command in ("summary", "findings"):
        done = dftmerge(command, private)
        true(said in done.out + done.err, f"{command} says it")
    listed = json.loads(dftmerge("ps", "--json", private).out)
    true(SECRET not in json.dumps(listed) and "secrets" in json.dumps(listed), "ps names the program without its arguments")
    plain = dftmerge("summary", run_program(directory, "plain"))
    true(said not in plain.out + plain.err, "nothing is said of other traces")


def test_a_setting_without_effect_is_reported_once(directory):
    """Also by programs that one process runs one after the other: they find the report without the value."""
    env = tracing(directory / "t", TRACE_COMPRESSION=0, SECRT=SECRET, PRIVATE=1)
    done = run(["sh", "-c", "cat /dev/null; exec cat /dev/null"], env=env)
    equal(done.err.count(b"SECRT"), 1, done.err.decode())
    equal((bytes_of(directory).count(SECRET.encode()), b"DFTRACER_SECRT= (no effect)\n" in bytes_of(directory)), (0, True), "the name alone")


def test_python_tells_no_more(directory):
    package = BUILD / "python"
    if not (package / "dftrace").exists():
        pytest.skip("the Python package is not built")
    script, out = directory / "script.py", directory / "python"
    script.write_text(f"import sys, dftrace\ndftrace.metadata('key', sys.argv[1])\n"
                      f"with dftrace.region('step', note=sys.argv[1], number=7) as r:\n    r.update(more=sys.argv[1])\n"
                      f"    dftrace.instant('now', text=sys.argv[1])\n    open({str(directory / 'data')!r}, 'w').close()\n")
    env = {**tracing(out / "t", TRACE_COMPRESSION=0, PRIVATE=1), "PYTHONPATH": str(package)}
    equal(run([sys.executable, script, SECRET], env=env).code, 0, "exit code")
    equal(bytes_of(out).count(SECRET.encode()), 0, "secrets in the trace")
    equal(next(e for e in dump(out) if e["name"] == "step")["args"], {"number": 7}, "numbers stay")
