# SPDX-License-Identifier: MIT
"""Asynchronous I/O: programs that write down what each request came to (posix_aio.c, libaio.c), and fio with its own counts; the trace
has one event for each request, with the same file, offset, size, result and errno."""

import collections
import json
import re

import pytest

from tracing import compile_program, dftmerge, dump, equal, live_files, need, run, traces, tracing, true

POSIX_REQUESTS = {"aio_read", "aio_write", "aio_fsync"}
LIBAIO_REQUESTS = {"io_pread", "io_pwrite", "io_preadv", "io_pwritev", "io_fsync", "io_fdsync"}
REQUESTS = POSIX_REQUESTS | LIBAIO_REQUESTS
CALLS = {"aio_suspend", "aio_cancel", "aio_error", "aio_return", "lio_listio", "io_setup", "io_destroy", "io_submit", "io_getevents", "io_pgetevents", "io_cancel"}


def said(text):
    """What the program says: a count for each line, in the form of `seen`."""
    lines = collections.Counter()
    for line in text.decode().splitlines():
        kind, name, *fields = line.split()
        lines[(kind, name, *[field if i == 0 and kind != "call" else int(field) for i, field in enumerate(fields)])] += 1
    return lines


def seen(events):
    """The same, from the trace."""
    lines = collections.Counter()
    for event in events:
        name, result, error = event["name"], event.get("ret"), event.get("errno", 0)
        if name in CALLS:
            lines[("call", name, result, error)] += 1
        if name not in REQUESTS:
            continue
        about = (name, event["file"].rsplit("/", 1)[-1], event.get("offset", -1), event.get("size", 0))
        if event.get("phase") == "async_begin":
            lines[("begun", *about)] += 1
        else:
            lines[("done", *about, result, error)] += 1
    return lines


def differences(expected, got):
    return sorted([f"not in the trace: {n} x {line}" for line, n in (expected - got).items()] +
                  [f"only in the trace: {n} x {line}" for line, n in (got - expected).items()])


def directory_of(directory, name):
    (directory / name).mkdir()
    return directory / name


def steady_lines(text):
    """Without the answers that a request is still under way: nobody knows how many they are."""
    return sorted(line for line in text.splitlines() if not line.startswith(b"call aio_error 115 "))


def run_both(directory, program, case, steady=True):
    """Plain and traced: the same results, and for steady cases the same output. Returns what the traced one said, and its events."""
    plain = run([program, directory_of(directory, "plain"), case])
    done = run([program, directory_of(directory, "work"), case], env=tracing(directory_of(directory, "out") / "t"))
    equal((plain.code, done.code), (0, 0), f"exit codes of {case}; {plain.err} {done.err}")
    if steady:
        equal((steady_lines(done.out), done.err), (steady_lines(plain.out), plain.err), f"output of {case}")
    equal(live_files(directory / "out"), [], "live files left behind")
    return done.out, dump(directory / "out")


def check(directory, program, case, steady=True, calls=True):
    out, events = run_both(directory, program, case, steady)
    expected, got = said(out), seen(events)
    if not calls:
        got = collections.Counter({line: n for line, n in got.items() if line[0] != "call"})
    wrong = differences(expected, got)
    true(not wrong, f"{case}: {len(wrong)} differences: " + "; ".join(wrong[:10]))
    true(sum(expected.values()) > 0, f"{case} says nothing")
    return events


def posix_aio(directory):
    return compile_program("posix_aio.c", directory / "posix_aio", "-pthread", "-lrt", "-Wall", "-Werror")


@pytest.mark.parametrize("name", ("usual", "appending", "lists", "failures", "signals", "never_asked", "notifications", "threads", "asked_twice", "forks"))
def test_posix(directory, name):
    check(directory, posix_aio(directory), name)


def test_posix_closing(directory):
    """The descriptor is closed before the end: the request keeps its file."""
    check(directory, posix_aio(directory), "closing", steady=False)


def test_posix_cancelling(directory):
    events = check(directory, posix_aio(directory), "cancelling", steady=False)
    true(all(e["file"].endswith("/cancelling") for e in events if e["name"] == "aio_cancel"), "the file of aio_cancel")


def test_posix_more_than_the_table_holds(directory):
    """The first thousands are there; the others are counted."""
    program = posix_aio(directory)
    done = run([program, directory, "many"], env=tracing(directory_of(directory, "out") / "t"))
    equal(done.code, 0, "exit code")
    requests = seen(dump(directory / "out"))
    missing = said(done.out) - requests
    equal(requests - said(done.out), collections.Counter(), "only in the trace")
    equal({line[1] for line in missing}, {"aio_write"}, "what is missing")
    lost = sum(missing.values())
    true(0 < lost < 3000, f"{lost} of 6,000 are missing")
    summary = dftmerge("summary", directory / "out").out.decode()
    true(re.search(rf"\b{lost:,}\b.*too many asynchronous requests", summary), f"{lost:,} lost: {summary}")


def test_a_child_has_none_of_its_parents_requests(directory):
    _, events = run_both(directory, posix_aio(directory), "forks")
    equal(len(traces(directory / "out")), 2, "trace files")
    equal([len({e["pid"] for e in events if e["name"] == name}) for name in ("write", "aio_write")], [1, 1], "processes")
    true({e["pid"] for e in events if e["name"] == "write"} != {e["pid"] for e in events if e["name"] == "aio_write"}, "both in one process")


def test_times_are_from_submission_to_completion(directory):
    """Requests of a list that is waited for begin and end within that call; sequential ones are marked."""
    _, events = run_both(directory, posix_aio(directory), "threads")
    calls = collections.defaultdict(list)
    for e in events:
        calls[e["tid"], e["name"]].append(e)
    threads = {tid for tid, name in calls if name == "lio_listio"}
    equal(len(threads), 4, "threads")
    for tid in threads:
        lists, requests = calls[tid, "lio_listio"], calls[tid, "aio_write"]
        equal((len(lists), len(requests)), (50, 200), "calls and requests")
        true(all(any(l["ts"] <= r["ts"] and r["ts"] + r["dur"] <= l["ts"] + l["dur"] for l in lists) for r in requests), "times")
    equal(len({(e["pid"], e["id"]) for e in events if e["name"] == "aio_write"}), 800, "numbers of requests")


def test_requests_overlap_in_perfetto(directory):
    """So they are pairs, not slices of a thread; those without an end have a beginning."""
    run_both(directory, posix_aio(directory), "lists")
    equal(dftmerge("export", "--format", "perfetto", "-o", directory / "trace.json", directory / "out").code, 0, "export")
    shown = [e for e in json.loads((directory / "trace.json").read_text())["traceEvents"] if e["name"] in POSIX_REQUESTS]
    pairs = collections.defaultdict(dict)
    for e in shown:
        pairs[e["pid"], e["id2"]["local"]][e["ph"]] = e
    equal({tuple(sorted(pair)) for pair in pairs.values()}, {("b", "e")}, "phases")
    true(all(pair["b"]["ts"] <= pair["e"]["ts"] and pair["b"]["args"]["file"] for pair in pairs.values()), "times and files")
    equal(len(pairs), len([e for e in dump(directory / "out") if e["name"] in POSIX_REQUESTS]), "requests")


# --- libaio -------------------------------------------------------------------------------------------------------------


def need_libaio():
    if run(["gcc", "-xc", "-", "-fsyntax-only"], stdin=b"#include <libaio.h>\n").code:
        pytest.skip("libaio-dev is not installed")


def libaio(directory):
    need_libaio()
    return compile_program("libaio.c", directory / "libaio", "-pthread", "-laio")


@pytest.mark.parametrize("name", ("usual", "appending", "one_block", "failures", "full", "queue", "left", "closing"))
def test_libaio(directory, name):
    check(directory, libaio(directory), name)


@pytest.mark.parametrize("name", ("usual", "one_block", "failures", "full", "left"))
def test_without_libaio(directory, name):
    need_libaio()
    program = compile_program("libaio.c", directory / "without", "-DWITHOUT_LIBAIO", "-pthread")
    check(directory, program, name)


def test_libaio_threads(directory):
    """How many come at once is different each time."""
    check(directory, libaio(directory), "threads", steady=False)


def test_libaio_loaded_later(directory):
    """Its functions were not there when the program began."""
    need_libaio()
    library = compile_program("libaio.c", directory / "late.so", "-shared", "-fPIC", "-DAS_LIBRARY", "-pthread", "-laio")
    loader = compile_program("load_libaio.c", directory / "load_libaio", "-ldl")
    for case in ("usual", "failures", "queue"):
        place = directory_of(directory, case)
        plain = run([loader, library, directory_of(place, "plain"), case])
        done = run([loader, library, directory_of(place, "work"), case], env=tracing(directory_of(place, "out") / "t"))
        equal((done.code, plain.code), (0, 0), f"exit codes; {plain.err} {done.err}")
        equal(sorted(done.out.splitlines()), sorted(plain.out.splitlines()), f"output of {case}")
        equal(differences(said(done.out), seen(dump(place / "out"))), [], f"differences of {case}")


def test_names_of_libaio_that_are_not_libaio(directory):
    """Neither functions of these names that others have, nor who looks whether there are any, meets ours."""
    own = compile_program("own_names.c", directory / "libown.so", "-shared", "-fPIC", "-DOWN_NAMES")
    linked = compile_program("own_names.c", directory / "linked", "-DLINKED", own, "-ldl")
    looking = compile_program("own_names.c", directory / "looking", "-ldl")
    for program in (linked, looking):
        plain = run([program, own])
        equal(plain.code, 0, f"exit code; {plain.err}")
        equal(run([program, own], env=tracing(directory / "out" / "t")), plain, program.name)


# --- fio ------------------------------------------------------------------------------------------------------------


def fio(directory, engine, *options):
    """(fio's own account, the trace's) of a job: calls and bytes of reads and writes."""
    need("fio")
    work = directory_of(directory, "work")
    done = run(["fio", "--name=job", f"--ioengine={engine}", "--rw=randrw", "--bs=4k", "--size=2m", "--iodepth=16", "--thread",
                "--numjobs=2", "--group_reporting", f"--directory={work}", "--output-format=json", *options],
               cwd=work, env=tracing(directory_of(directory, "out") / "t", DATA_DIR=work))
    equal(done.code, 0, f"exit code of fio: {done.err}")
    job = json.loads(done.out)["jobs"][0]
    events = dump(directory / "out")
    names = {"posixaio": ("aio_read", "aio_write"), "libaio": ("io_pread", "io_pwrite")}[engine]
    account = {}
    for kind, name in zip(("read", "write"), names):
        mine = [e for e in events if e["name"] == name]
        equal([e for e in mine if e.get("phase") or e.get("errno")], [], f"{name} without an end, or failed")
        account[kind] = ((job[kind]["total_ios"], job[kind]["io_bytes"]), (len(mine), sum(e["bytes"] for e in mine)))
        true(all(e["file"].startswith(str(work)) and e["size"] == 4096 and e["offset"] % 4096 == 0 for e in mine), f"{name}: files and offsets")
    for file in {e["file"] for e in events if e["name"] in names}:
        equal(sorted(e["offset"] for e in events if e["name"] in names and e["file"] == file), list(range(0, 2 << 20, 4096)),
              "each block of a file once")
    return account


@pytest.mark.parametrize("engine", ("posixaio", "libaio"))
def test_fio(directory, engine):
    for kind, (own, traced) in fio(directory, engine).items():
        equal(traced, own, f"{kind}: requests and bytes, fio's own")
        true(own[0] > 100, f"fio made {own[0]} requests")
