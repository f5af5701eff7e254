# SPDX-License-Identifier: MIT
"""Annotations: what programs in C and C++ say through dftrace.h stands in the trace, whatever way they were compiled; without the
library they run as if nothing had been said, and link nothing."""

import json
import pathlib
import shutil

import pytest

from tracing import ROOT, dftmerge, dump, environment, equal, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pedantic-errors", "-Wno-variadic-macros"]
LONG = "n" * 999


def compiled(directory, source, compiler, *flags):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program = directory / "program"
    run_checked([compiler, *flags, f"-I{ROOT / 'include'}", "-o", program, HERE / source, "-pthread"])
    return program


def said(directory, program, options=()):
    """Runs it plain and traced; returns the events of the traced run."""
    plain = run([program, directory / "plain.txt"])
    equal((plain.code, plain.err), (0, b""), "without the library")
    true(plain.out.startswith(b"enabled 0"), f"without the library: {plain.out}")
    off = tracing(directory / "off" / "t")
    off["DFTRACER_ENABLE"] = "0"
    done = run([program, directory / "off.txt"], env=off)
    equal((done.code, done.out, done.err), (0, plain.out, b""), "with the library, switched off")
    done = run([program, directory / "file"], env=tracing(directory / "out" / "t", DATA_DIR=directory, **dict(options)))
    equal((done.code, done.out, done.err), (0, plain.out.replace(b"enabled 0", b"enabled 1"), b""), "traced")
    equal((directory / "file").read_bytes(), (directory / "plain.txt").read_bytes(), "what the program wrote")
    return dump(directory / "out")


def name_of(event):
    return event["cat"], event["name"]


def calls(events):
    """The innermost region of each write, in order."""
    return [(e.get("region_cat"), e.get("region")) if "region" in e else None for e in events if e["name"] == "write"]


def check_c(events):
    tid = min(e["tid"] for e in events)
    equal([r and r[1] for r in calls(events)],
          [None, "outer", "inner", "outer", None, "scope", "block", "scope", "scope", None, "in thread", "in main"],
          "regions of writes")
    equal({r[0] for r in calls(events) if r and r[1] in ("inner", "block")}, {"IO"}, "their category")
    main = [e for e in events if e["tid"] == tid]
    regions = [e for e in main if e["cat"] not in ("POSIX", "STDIO", "PROCESS") and e.get("phase") != "instant"]
    by_name = {}
    for event in regions:
        by_name.setdefault(name_of(event), []).append(event)
    check_nesting(by_name)
    check_arguments(by_name)
    check_points(main, by_name)
    check_depth(by_name)
    equal(len(by_name["APP", "step"]), 5000, "steps")
    equal([e["args"]["i"] for e in by_name["APP", "step"]], list(range(5000)), "arguments of steps")
    equal(sum(("APP", f"name {i}") in by_name for i in range(1000)), 1000, "names made at run time")
    check_names(by_name)
    left = [e for e in events if e["name"] == "left open"]
    true([(e.get("phase"), e["args"]) for e in left] == [(None, {"ended_by": "exit"})],
         f"a region that the end of the process ended: {left}")


def check_nesting(by_name):
    outer, inner = by_name["APP", "outer"][0], by_name["IO", "inner"][0]
    equal((outer.get("region"), inner.get("region")), (None, "outer"), "regions around regions")
    true(outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"], "times of nested regions")
    equal((len(by_name["APP", "scope"]), len(by_name["IO", "block"])), (2, 1), "scopes")
    equal([len(by_name["APP", name]) for name in ("one", "two", "three")], [1, 1, 1], "regions that were ended together")
    equal(len({e["ts"] + e["dur"] for name in ("one", "two", "three") for e in by_name["APP", name]}), 1, "their end")
    true(("APP", "never begun") not in by_name, "an end without a begin")


def check_arguments(by_name):
    equal(by_name["APP", "with arguments"][0]["args"],
          {"small": 7, "least": -2**63, "most": 2**63 - 1, "half": 0.5, "tiny": 5e-324, "text": 'a "quoted" \\ text\n\x01',
           "empty": "", "bytes": "\udcff\udcfe \xe4"}, "arguments of all types")
    equal(by_name["APP", "outer arguments"][0]["args"], {"a": 1, "c": 3}, "arguments around a region")
    equal(by_name["APP", "inner arguments"][0]["args"], {"b": 2}, "arguments of a region within")
    args = by_name["APP", "too much"][0]["args"]
    equal((args["kept"], args["kept too"], set(args["long"])), (1, 2, {"t"}), "arguments that did not fit")
    equal(by_name["APP", "after it"][0]["args"], {"n": 1}, "arguments after that")
    equal([e for events in by_name.values() for e in events if "nowhere" in e.get("args", {})], [], "an argument of no region")


def check_points(main, by_name):
    instants = [(e["name"], e.get("region")) for e in main if e.get("phase") == "instant"]
    equal(instants, [("now", None), ("within", "around points")], "instants")
    equal([e["args"]["value"] for e in by_name["APP", "level"]], [-3, 2**63 - 1], "counter")
    equal([e["args"]["value"] for e in by_name["APP", "ratio"]], [0.25], "counter of a fraction")
    equal([e["args"]["value"] for e in by_name["APP", "version"]], ["1.2.3"], "metadata")
    equal([e["args"]["value"] for key, events in by_name.items() if key[1] == "thread_name" for e in events], ["main thread"],
          "the thread's name")


def check_depth(by_name):
    """The live file has room for 64 levels; those that are deeper are kept elsewhere."""
    kept = sorted(int(name.split()[1]) for category, name in by_name if category == "DEEP")
    equal(kept, list(range(1, 301)), "levels")
    for level in kept[:-1]:
        equal(by_name["DEEP", f"level {level}"][0]["region"], f"level {level + 1}", "region around a level")


def check_names(by_name):
    names = {name for category, name in by_name if category == "NAMES"}
    true("" in names and "/looks/like/a/path" in names, f"names {names}")
    long = [name for name in names if name.startswith("nnn")]
    true(len(long) == 1 and LONG.startswith(long[0]) and len(long[0]) > 300, "a long name, cut")
    true(("N\xc4MES", 'sp\xe4t "\\\n') in by_name, "letters of other languages")


def links_nothing(program):
    needed = run_checked(["readelf", "-d", program]).out.decode()
    true("dftrace" not in needed, f"the program needs the library: {needed}")
    true("TEXTREL" not in needed, "relocations in code")


def test_c_in_every_way_of_compiling(directory):
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        for i, flags in enumerate((("-O0", "-fPIE", "-pie"), ("-O2", "-fPIE", "-pie"), ("-O0", "-fno-pie", "-no-pie"),
                                   ("-O2", "-fno-pie", "-no-pie"), ("-O2", "-fno-plt", "-Wl,-z,now"), ("-O2", "-flto"))):
            if compiler == "clang" and "-flto" in flags:
                continue
            place = directory / f"{compiler}{i}"
            place.mkdir()
            program = compiled(place, "annotated_calls.c", compiler, "-std=gnu11", *WARNINGS, *flags)
            try:
                links_nothing(program)
                check_c(said(place, program))
            except (AssertionError, KeyError) as error:
                raise AssertionError(f"{compiler} {' '.join(flags)}: {error!r}") from error


def test_c_in_a_static_program(directory):
    """The header does no harm where there can be no library."""
    try:
        program = compiled(directory, "annotated_calls.c", "gcc", "-std=gnu11", "-O2", "-static")
    except AssertionError as error:
        pytest.skip("no static C library")
    done = run([program, directory / "file"], env=tracing(directory / "out" / "t"))
    equal((done.code, done.out[:9], done.err), (0, b"enabled 0", b""), "a static program")


def test_c_with_other_settings(directory):
    program = compiled(directory, "annotated_calls.c", "gcc", "-std=gnu11", "-O2")
    for i, options in enumerate(({"DISABLE_IO": 1}, {"INC_METADATA": 0}, {"TRACE_COMPRESSION": 0})):
        place = directory / str(i)
        place.mkdir()
        events = said(place, program, options)
        equal(len([e for e in events if e["name"] == "step"]), 5000, f"{options}: steps")
        equal(len([e for e in events if e["name"] == "write"]), 0 if i == 0 else 12, f"{options}: writes")
        arguments = [e for e in events if e["name"] == "with arguments"][0]["args"]
        equal(len(arguments), 8, f"{options}: arguments")


def test_c_plus_plus_in_every_way_of_compiling(directory):
    for compiler in ("g++", "clang++"):
        if not shutil.which(compiler):
            continue
        for i, flags in enumerate((("-std=c++11", "-O0", "-fPIE", "-pie"), ("-std=c++20", "-O2", "-fno-pie", "-no-pie"),
                                   ("-std=c++17", "-O2", "-fPIE", "-pie"))):
            place = directory / f"{compiler}{i}"
            place.mkdir()
            try:
                program = compiled(place, "annotated_scopes.cpp", compiler, *WARNINGS, *flags)
            except AssertionError as error:
                if compiler == "clang++" and "file not found" in str(error):
                    continue  # no C++ library for it
                raise
            links_nothing(program)
            check_cpp(said(place, program))


def check_cpp(events):
    equal([r and r[1] for r in calls(events)],
          ["thrown", "thrown", "thrown", None, "char", "int", "lambda", "lambda", "lambda"], "regions of writes")
    regions = [name_of(e) for e in events if e["cat"] not in ("POSIX", "STDIO", "PROCESS")]
    equal(sorted(regions), sorted([("APP", "thrown")] * 3 + [("TEMPLATE", "char"), ("TEMPLATE", "int")] +
                                  [("APP", "method"), ("APP", "lambda")] * 3 + [("APP", "by hand"), ("APP", "ratio")]), "regions")
    equal([e["args"] for e in events if e["name"] == "method"], [{"class": "worker"}] * 3, "arguments")


def test_linked_with_the_library(directory):
    """Instead of LD_PRELOAD."""
    from tracing import LIBRARY
    program = compiled(directory, "annotated_calls.c", "gcc", "-std=gnu11", "-O2", "-Wl,--no-as-needed", str(LIBRARY),
                       f"-Wl,-rpath,{LIBRARY.parent}")
    env = environment(DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=directory / "out" / "t", DFTRACER_DATA_DIR=directory)
    done = run([program, directory / "file"], env=env)
    equal((done.code, done.out, done.err), (0, b"enabled 1, errno kept 1\n", b""), "linked")
    check_c(dump(directory / "out"))


ROLES = r"""
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(const char *path)
{
    close(open(path, O_WRONLY | O_CREAT, 0600));
}

int main(int argc, char **argv)
{
    char text[400];

    if (!strcmp(argv[2], "early"))
        dftrace_set_role("before the first event");
    touch(argv[1]);
    if (!strcmp(argv[2], "late") || !strcmp(argv[2], "fork") || !strcmp(argv[2], "killed"))
        dftrace_set_role("first");
    if (!strcmp(argv[2], "late"))
        dftrace_set_role("second");
    if (!strcmp(argv[2], "long")) {
        memset(text, 'x', sizeof text);
        text[sizeof text - 1] = 0;
        dftrace_set_role(text);
    }
    if (!strcmp(argv[2], "null"))
        dftrace_set_role(NULL);
    if (!strcmp(argv[2], "fork") && !fork()) {
        touch(argv[1]);
        exit(0);
    }
    if (!strcmp(argv[2], "killed"))
        kill(getpid(), 9);
    while (wait(NULL) > 0)
        ;
    return argc != 3;
}
"""


def roles(directory, how, language="c", **settings):
    """The roles of the processes of one run, in the order of `ps`."""
    program = directory / f"roles-{language}"
    if not program.exists():
        source = directory / f"roles.{language}"
        source.write_text(ROLES.replace("#include <fcntl.h>", "#include <fcntl.h>\n#include <signal.h>"))
        run_checked([{"c": "gcc", "cpp": "g++"}[language], *WARNINGS, f"-I{ROOT / 'include'}", "-o", program, source])
    out = directory / f"{how}-{language}"
    done = run([program, directory / "file", how], env=tracing(out / "t", DATA_DIR=directory, **settings))
    equal((done.code, done.err), (-9 if how == "killed" else 0, b""), f"{how}: the program")
    plain = run([program, directory / "file", how])
    equal((plain.code, plain.err), (-9 if how == "killed" else 0, b""), f"{how}: without the library")
    return [p["role"] for p in json.loads(dftmerge("ps", "--json", out).out)["processes"]]


def test_roles_are_told(directory):
    equal(roles(directory, "none"), [None], "no role")
    equal(roles(directory, "early"), ["before the first event"], "before the first event")
    equal(roles(directory, "late"), ["second"], "the last one is true")
    equal(roles(directory, "killed"), ["first"], "a process that is killed afterwards")
    equal(roles(directory, "long"), ["x" * 255], "a long one is cut")
    equal(roles(directory, "late", "cpp"), ["second"], "C++")
    true(b"[second]" in dftmerge("ps", directory / "late-c").out, "ps shows it")


def test_roles_come_from_the_environment(directory):
    equal(roles(directory, "none", ROLE="worker 3/8"), ["worker 3/8"], "DFTRACER_ROLE")
    equal(roles(directory, "late", ROLE="worker 3/8"), ["second"], "the program knows better")
    equal(roles(directory, "null", ROLE="worker 3/8"), [None], "NULL is none")
    equal(roles(directory, "fork", ROLE="of all"), ["first", "of all"], "a child says itself what it is")


def test_a_forked_child_has_no_role_of_its_parent(directory):
    equal(roles(directory, "fork"), ["first", None], "parent and child")


GIVEN_TIMES = """
#include <dftrace/dftrace.h>
#include <time.h>

int main(void)
{
    struct timespec wait = {0, 30000000};
    struct dftrace_arg arg = dftrace_int("size", 5);
    uint64_t start, end;

    DFTRACE_EVENT("at once", dftrace_now(), 0);
    DFTRACE_BEGIN("around");
    DFTRACE_INSTANT("first");
    start = dftrace_now();
    nanosleep(&wait, 0);
    end = dftrace_now();
    DFTRACE_INSTANT("second");
    DFTRACE_EVENT_ARGS("given", start, end - start, &arg, 1);
    for (unsigned ns = 0; ns < 2000; ns++)
        DFTRACE_EVENT("exact", start + 17 * ns, ns);
    DFTRACE_EVENT("long ago", 0, 7);
    DFTRACE_EVENT("yet to come", end + UINT64_C(1000000000000000), UINT64_MAX);
    DFTRACE_EVENT("never", UINT64_MAX, 1);
    DFTRACE_END("around");
    return start == 0;
}
"""


def test_given_times(directory):
    (directory / "given.c").write_text(GIVEN_TIMES)
    program = compiled(directory, directory / "given.c", "gcc", "-D_GNU_SOURCE")
    equal(run([program]).code, 1, "without the library no time is known")
    equal(run_checked([program], env=tracing(directory / "out" / "t")).err, b"", "output")
    everything = dump(directory / "out")
    equal(sorted(e["dur"] for e in everything if e["name"] == "exact"), list(range(2000)), "durations to the nanosecond")
    events = {event["name"]: event for event in everything}
    around, first, second, given = (events[name] for name in ("around", "first", "second", "given"))
    true(first["ts"] - 1000 <= given["ts"] <= given["ts"] + given["dur"] <= second["ts"] + 1000, f"times: {given}")
    true(30_000_000 <= given["dur"] + 1000, f"duration: {given}")
    equal((given["cat"], given["region"], given["args"]), ("APP", "around", {"size": 5}), "the rest of it")
    true(abs(events["at once"]["ts"] - around["ts"]) < 20_000_000 and events["at once"]["dur"] == 0, "without a wait")
    equal(events["long ago"]["dur"], 7, "before the machine's start")
    for name in ("yet to come", "never"):
        true(events[name]["ts"] <= around["ts"] + around["dur"] + 1000, f"a start in the future: {events[name]}")


GIVEN_SPANS = """
#include <dftrace/dftrace.h>

int main(void)
{
    const struct dftrace_api *api = dftrace_get();
    struct dftrace_site one = {"GPU", "one", 0}, other = {0, "other", 0};
    struct dftrace_arg arg = dftrace_string("direction", "host-device");
    uint64_t start = dftrace_now();

    if (!api)
        return 1;
    DFTRACE_BEGIN("around");
    api->span_event(&one, start - 5000, 4000, UINT64_C(6000000000), &arg, 1);
    api->span_event(&one, start - 5000, 4000, 0, 0, 0);
    api->span_event(&other, start - 9000, UINT64_C(7000000000), 1, 0, 0);
    DFTRACE_END("around");
    return 0;
}
"""


def test_given_spans(directory):
    """Spans with times of their own: in no region, though one is open. In the first millisecond the ratio of ticks to time is known to some
    0.001 % only: a given duration is as exact."""
    (directory / "given.c").write_text(GIVEN_SPANS)
    program = compiled(directory, directory / "given.c", "gcc", "-D_GNU_SOURCE")
    equal(run([program]).code, 1, "without the library")
    equal(run_checked([program], env=tracing(directory / "out" / "t")).err, b"", "output")
    events = dump(directory / "out")
    spans = sorted((e for e in events if "id" in e and not e.get("phase")), key=lambda e: e["id"])
    equal([(e["cat"], e["name"], e.get("size"), e.get("args"), e.get("region")) for e in spans],
          [("GPU", "one", 6000000000, {"direction": "host-device"}, None), ("GPU", "one", None, None, None), ("ASYNC", "other", 1, None, None)], "spans")
    for event, given in zip(spans, (4000, 4000, 7_000_000_000)):
        true(abs(event["dur"] - given) <= 1 + given / 10_000, f"a duration: {event['dur']}, given {given}")
    begins = {e["id"]: e["ts"] for e in events if e.get("phase") == "async_begin"}
    equal(begins, {e["id"]: e["ts"] for e in spans}, "each begins where it begins")
    true(abs(spans[0]["ts"] - spans[2]["ts"] - 4000) < 1000, "times")
