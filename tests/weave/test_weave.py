# SPDX-License-Identifier: MIT
"""Weaving: functions of libraries become regions, and the program cannot tell."""

import collections
import json
import pathlib
import sys

import pytest

from tracing import BUILD, dftmerge, dump, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
LINKING = {"lazy": ["-Wl,-z,lazy"], "now": ["-Wl,-z,now", "-Wl,-z,relro"], "no PIE": ["-no-pie", "-Wl,-z,lazy"], "no PLT": ["-fno-plt"]}


def build(directory, flags=()):
    need("gcc", "g++")
    for part in ("hidden", "out"):
        (directory / part).mkdir(exist_ok=True)
    gcc = ["gcc", "-O1", "-g", "-D_GNU_SOURCE", f"-I{HERE}"]
    run_checked([*gcc, "-shared", "-fPIC", HERE / "woven.c", f"-Wl,--version-script={HERE / 'woven.map'}", "-o", directory / "libwoven.so"])
    run_checked(["g++", "-shared", "-fPIC", HERE / "plus.cpp", "-o", directory / "hidden/libplus.so"])
    run_checked([*gcc, "-shared", "-fPIC", *(f for f in flags if f != "-no-pie"), HERE / "plugin.c", f"-L{directory}", "-lwoven", "-Wl,-rpath," + str(directory / "hidden"),
                 "-o", directory / "plugin.so"])
    run_checked([*gcc, *flags, HERE / "calls.c", f"-L{directory}", "-lwoven", f"-Wl,-rpath,{directory}", "-o", directory / "calls"])


def weave(directory, *command, files=HERE / "woven.weave", **settings):
    """Runs plain and woven; both must look the same. Returns the events and the woven run's messages."""
    plain = run(command, cwd=directory, env=environment())
    done = run(command, cwd=directory, env=tracing(directory / "out/t", WEAVE=files, **settings))
    if b"built without libffi" in done.err:
        pytest.skip("the library was built without libffi")
    equal((done.code, done.out), (plain.code, plain.out), "what the program did")
    true(plain.code == 0, plain.err)
    return dump(directory / "out"), done.err.decode()


# Calls of calls.c with a plugin; outer calls itself: 6 and 4 at once, 3 for each of 10 plugins.
COUNTS = {"narrow": 1, "wide": 1, "single": 1, "longest": 1, "truth": 1, "nothing": 1, "swap": 1, "mixed": 1, "many": 1, "call_back": 1,
          "text": 2, "outer": 6 + 3 + 30, "fails": 1, "versioned": 3, "jumps": 3, "plus::add(int, int)": 10}


def check_calls(events):
    woven = [e for e in events if e["cat"] in ("WEAVE", "WIDE")]
    equal(dict(collections.Counter(e["name"] for e in woven)), COUNTS, "calls")
    args = {e["name"]: e.get("args") for e in woven if COUNTS[e["name"]] == 1}
    equal(args["narrow"], {"a": -100, "b": 200, "c": -300, "d": 65000, "ret": (-100 + 200 - 300 + 65000 + 128) % 256 - 128}, "narrow")
    equal(args["wide"], {"a": -1, "d": 6000000000, "ret": -1 + 4000000000 + 5000000000 + 6000000000}, "wide")
    equal(args["single"], {"a": 1.25, "b": 8.0, "ret": 10.0}, "single")
    true(abs(args["longest"]["ret"] - 10 / 3) < 1e-12, args["longest"])
    equal(args["truth"], {"a": 1, "ret": 0}, "truth")
    equal(args["nothing"], None, "nothing")
    equal(args["mixed"], {"factor": 4}, "mixed")
    equal(args["many"], {"a": 1, "h": 8, "q": 9.0, "r": 10, "ret": -4 + 5 + 10}, "many")
    equal(args["call_back"], {"n": 10, "ret": 90}, "call_back")
    equal(sorted((e["args"] for e in woven if e["name"] == "text"), key=len, reverse=True), [{"text": 'a\n"b"', "ret": '<a\n"b">'}, {"ret": "<nothing>"}], "text")
    wide = next(e for e in woven if e["name"] == "wide")
    equal((wide["cat"], wide["size"], wide["offset"]), ("WIDE", 6000000000, 5000000000), "roles")
    equal(sorted(e["args"]["ret"] for e in woven if e["name"] == "versioned"), [1, 1, 2], "versions")
    equal(collections.Counter(e["args"]["depth"] for e in woven if e["name"] == "outer"), {5: 1, 4: 1, 3: 1, 2: 11, 1: 11, 0: 14}, "outer")
    nested = [e for e in woven if e["name"] == "outer" and e.get("region") == "outer"]
    equal(len(nested), 5 + 20, "calls of outer within outer")


@pytest.mark.parametrize("name", LINKING)
def test_linked(directory, name):
    build(directory, LINKING[name])
    events, said = weave(directory, directory / "calls", directory / "plugin.so")
    check_calls(events)
    equal(said, "", "messages")


def test_what_our_libraries_do_is_not_the_programs(directory):
    """libffi looks for SELinux when it is loaded."""
    build(directory)
    (directory / "file").write_bytes(b"text")
    seen = {}
    for name, settings in (("plain", {}), ("woven", {"WEAVE": HERE / "woven.weave", "BIND_SIGNALS": 1})):
        done = run(["cat", "file"], cwd=directory, env=tracing(directory / name / "t", DATA_DIR="all", **settings))
        equal((done.code, done.out), (0, b"text"), name)
        seen[name] = [(e["cat"], e["name"], e.get("file")) for e in dump(directory / name)]
    equal(seen["woven"], seen["plain"], "events")


def test_unmet_functions_are_told(directory):
    build(directory)
    weave(directory, directory / "calls", directory / "plugin.so")
    done = dftmerge("ps", "--json", directory / "out")
    equal([p["unmet"] for p in json.loads(done.out)["processes"]], ["absent\n"], "what ps says")
    true(b"absent" in dftmerge("summary", directory / "out").err, "the summary's note")


def test_wrong_lines_are_told_and_left_out(directory):
    build(directory)
    wrong = {
        "libwoven.so int sum(int count, ...)": "a variable number of arguments",
        "libwoven.so int narrow(strange a)": "a type is not known",
        "libwoven.so int narrow(int a": "parenthesis",
        "libwoven.so int narrow(int a) capture=b": "there is no such argument: b",
        "libwoven.so int narrow(double a) size=a": "no whole number: a",
        "libwoven.so int narrow(double *a) size=a": "no whole number: a",
        "libwoven.so int narrow(int a) size=a*b": "there is no such argument: b",
        "libwoven.so int narrow(int a) size=a*": "there is no such argument",
        "libwoven.so int narrow(int a) size=4*": "there is no such argument",
        "libwoven.so int narrow(int a) size=4": "a number alone says nothing of a call",
        "libwoven.so int narrow(int a) size=a*4x": "a factor is an argument or a number of at most 9 digits, not: 4x",
        "libwoven.so int narrow(int a) size=a*1234567890": "a factor is an argument or a number of at most 9 digits",
        "libwoven.so int narrow(int a) size=a*a*a*a": "a product of more than 3 arguments: a",
        "libwoven.so int narrow(int a) with=b": "with=KEY:TEXT is meant, not: b",
        "libwoven.so int narrow(int a) with=b:": "with=KEY:TEXT is meant, not: b:",
        "libwoven.so int narrow(int a) with=b:c,:d": "with=KEY:TEXT is meant, not: :d",
        "libwoven.so int narrow(int a) finds=b": "there is no such argument: b",
        "libwoven.so int narrow(int a) finds=a": "this argument is no pointer: a",
        "enum { a };": "enum NAME { WORD = NUMBER, WORD }; is meant",
        "enum colour;": "enum NAME { WORD = NUMBER, WORD }; is meant: colour",
        "enum colour { };": "a word of an enum is missing: }",
        "enum colour { red, };": "a word of an enum is missing: }",
        "enum colour { red": "the words of an enum must end with }",
        "enum colour { red blue };": "the words of an enum must end with }: blue",
        "enum colour { red = blue };": "a value of an enum must be a number of 32 bits, not: blue",
        "enum colour { red = 4294967296 };": "a value of an enum must be a number of 32 bits, not: 4294967296",
        "enum colour { red = 1x };": "a value of an enum must be a number of 32 bits, not: 1x",
        "enum colour { red }; enum shade { dark };": "an enum has a line of its own: enum shade",
        "libwoven.so int narrow(int a) pointcut=aside": "pointcut is around, before or after, not: aside",
        "libwoven.so int narrow(int a) colour=red": "this role is not known: colour",
        "libwoven.so int narrow(int a) red": "a role (cat=, capture=, with=, size=, offset=, finds=, pointcut=, version=) is meant: red",
        "libwoven.so int narrow": "this is no prototype",
        "libwoven.so": "a type is missing",
        "libc.so.6 long read(int fd, void *buffer, size_t size)": "this function is recorded anyway: read",
        "libc.so.6 int setjmp(void *where)": "cannot be called by another one: setjmp",
        "libwoven.so int f(struct empty { } e)": "no fields",
        "libwoven.so int (*f(int a))(int)": "",
        "typedef int;": "a typedef has no name",
        "libwoven.so int narrow(double _Complex)": "a type cannot be passed on: _Complex",
        "libwoven.so _Complex double narrow(int a)": "a type cannot be passed on: _Complex",
        "libwoven.so int narrow(__int128 a)": "a type cannot be passed on: __int128",
        "libwoven.so int narrow(union { int a; } b)": "a union can only be passed by a pointer",
        f"libwoven.so int narrow({', '.join(['int a'] * 65)})": "more than 64 arguments",
        "\x01\x02": "",
    }
    path = directory / "wrong.weave"
    path.write_text("\n".join([*wrong, "libwoven.so int outer(int depth)"]) + "\n")
    events, said = weave(directory, directory / "calls", files=f"{path}:/there/is/no/such/file")
    lines = said.splitlines()
    equal(len(lines), len(wrong) + 1, said)
    for number, (line, reason) in enumerate(wrong.items(), 1):
        true(f"{path}:{number}: " in lines[number - 1] and reason in lines[number - 1], f"{line!r}: {lines[number - 1]}")
    true("/there/is/no/such/file: there is no such file" in lines[-1], lines[-1])
    equal(sum(e["cat"] == "WEAVE" for e in events), 9, "calls by the line that is right")


def test_threads_forks_and_unloading(directory):
    """Calls in threads and in children, while libraries come and go."""
    build(directory)
    source = directory / "busy.c"
    source.write_text(r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "woven.h"
static void *call(void *unused) { for (int i = 0; i < 20000; i++) if (wide(i, 1, 2, 3) != i + 6) _exit(3); return unused; }
static void *load(void *plugin) {
    for (int i = 0; i < 200; i++) {
        void *library = dlopen(plugin, RTLD_LAZY);
        int (*entry)(int) = library ? (int (*)(int))dlsym(library, "entry") : 0;
        if (!entry || entry(1) != 3) _exit(4);
        dlclose(library);
    }
    return 0; }
int main(int argc, char **argv) {
    pthread_t threads[5];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, call, 0);
    for (int i = 3; i < 5; i++) pthread_create(&threads[i], 0, load, argv[1]);
    for (int i = 0; i < 10; i++) {
        int status; pid_t child = fork();
        if (!child) { call(0); _exit(0); } // exit takes the loader's lock, which a thread of the parent may have held
        waitpid(child, &status, 0);
        if (status) return 5;
    }
    for (int i = 0; i < 5; i++) pthread_join(threads[i], 0);
    return 0; }
""")
    run_checked(["gcc", "-O1", "-D_GNU_SOURCE", f"-I{HERE}", source, f"-L{directory}", "-lwoven", "-pthread", f"-Wl,-rpath,{directory}",
                 "-o", directory / "busy"])
    events, _ = weave(directory, directory / "busy", directory / "plugin.so")
    counts = collections.Counter(e["name"] for e in events if e["cat"] in ("WEAVE", "WIDE"))
    equal(counts["wide"], 20000 * 13, "calls of threads and children")
    equal((counts["outer"], counts["plus::add(int, int)"]), (3 * 400, 400), "calls of plugins")


def test_functions_that_are_left(directory):
    """Exceptions and longjmp through woven functions, many more than regions can be open; variables and errno stay what they are; a fork that loads."""
    build(directory)
    source = directory / "left.cpp"
    source.write_text(r"""
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" { int call_back(int (*callback)(int), int n); int jumps(void *where, int value); int outer(int depth); int truth(int); extern int variable; }
static int throws(int n) { throw n; }
static jmp_buf where;
static void load() { void *library = dlopen("libplus.so", RTLD_NOW); if (library) dlclose(library); dlopen("libm.so.6", RTLD_NOW); }
static void *leave(void *) { call_back([](int) -> int { pthread_exit(0); }, 1); return 0; }
int main() {
    volatile int caught = 0, jumped = 0;
    for (int i = 0; i < 70000; i++) {
        try { call_back(throws, 1); } catch (int) { caught++; }
        if (!setjmp(where)) jumps(where, 1); else jumped++;
    }
    pthread_t thread;
    pthread_create(&thread, 0, leave, 0);
    pthread_join(thread, 0);
    errno = 77;
    outer(0);
    printf("%d %d %d %d\n", caught, jumped, errno, variable);
    pthread_atfork(load, load, load);
    int status = 1; pid_t child = fork();
    if (!child) { outer(0); _exit(0); }
    waitpid(child, &status, 0);
    printf("%d\n", status);
    return 0; }
""")
    run_checked(["g++", "-O1", source, f"-L{directory}", "-lwoven", "-pthread", f"-Wl,-rpath,{directory}", "-o", directory / "left"])
    rules = directory / "left.weave"
    rules.write_text("libwoven.so int call_back(void *callback, int n)\nlibwoven.so int jumps(void *where, int value)\n"
                     "libwoven.so int outer(int depth)\nlibwoven.so int variable(void)\n")
    events, said = weave(directory, directory / "left", files=rules)
    equal(said, "", "messages")
    woven = [e for e in events if e["cat"] == "WEAVE"]
    equal(collections.Counter(e["name"] for e in woven), {"call_back": 70001, "jumps": 70000, "outer": 2}, "calls")


def test_stacks_are_the_programs(directory):
    """Neither ours nor libffi's frames."""
    build(directory)
    events, _ = weave(directory, directory / "calls", STACK=32)
    deepest = max((e for e in events if e["name"] == "outer"), key=lambda e: len(e["stack"]))
    equal(deepest["stack"][: 5 * 2 + 1], [*["again", "outer"] * 5, "main"], "the innermost of six calls, woven each")


def test_functions_found_by_python(directory):
    """ctypes looks functions up with dlsym."""
    build(directory)
    script = "import ctypes, sys\nlib = ctypes.CDLL(sys.argv[1])\nprint([lib.outer(i) for i in range(5)])\n"
    events, _ = weave(directory, sys.executable, "-c", script, directory / "libwoven.so")
    equal(sum(e["name"] == "outer" for e in events), 15, "calls")


def test_installed_files_are_found_by_name(directory):
    installed = sorted(p.stem for p in (BUILD / "share/dftrace/weave").glob("*.weave"))
    true({"mpiio", "hdf5", "netcdf", "zlib", "cudart", "cufile"} <= set(installed), installed)
    source = directory / "deflate.c"
    source.write_text('#include <zlib.h>\nint main(void) { unsigned char to[100]; unsigned long n = 100;\n'
                      'return compress2(to, &n, (const void *)"hello", 5, 9); }\n')
    done = run(["gcc", source, "-lz", "-o", directory / "deflate"])
    if done.code:
        pytest.skip("no zlib to compile with")
    events, said = weave(directory, directory / "deflate", files=":".join(installed))
    equal(said, "", "messages: every installed file is right")
    found = [e for e in events if e["cat"] == "ZLIB"]
    true(any(e["name"] == "compress2" and e["size"] == 5 and e["args"]["level"] == 9 for e in found), found)
