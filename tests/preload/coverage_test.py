# SPDX-License-Identifier: MIT
"""Which functions of the C library are wrapped: every one that works on a path, a descriptor, a FILE or a DIR, and every relative of
these and of the rows of calls.def (another width, a checked form, an `at` form ...), is a row or stands with a reason in
not_wrapped.txt; and libdftrace.so exports the table, and nothing else."""

import re

import pytest

import libc_functions
from call_table import CALLS, NOT_WRAPPED, older_rows, prototypes, reasons, table, versioned
from libc_functions import Function, about_files, compiler, declared, exported, subject, symbols
from tracing import LIBRARY, equal, run_checked, true

API = {"dftrace_api_v1", "dftrace_meet_copy", "__cyg_profile_func_enter", "__cyg_profile_func_exit", "perfflow_weave_before",
       "perfflow_weave_after"}


# What is put before and behind a name by those who make another form of the function.
PREFIXES = ("", "_", "__", "f", "l", "v", "p", "__f", "__libc_", "_IO_", "__isoc99_", "__isoc23_", "__new_", "__old_")
SUFFIXES = ("", "64", "_2", "64_2", "at", "at2", "at64", "2", "3", "64v2", "v2", "_unlocked", "_chk", "64_chk", "_unlocked_chk",
            "_nocancel", "time64", "_time64", "v", "ve", "vp", "vpe", "_r", "64_r", "c_chk", "o", "o64")


def root_forms(name):
    """The plain names that a name may be a form of. __fxstat64 is fstat64 with a version number."""
    name = re.sub(r"^__([fl]?)x(?=stat|mknod)", r"\1", name)
    for prefix in PREFIXES:
        if not name.startswith(prefix):
            continue
        rest = name[len(prefix):]
        for suffix in SUFFIXES:
            if rest.endswith(suffix):
                yield rest[:len(rest) - len(suffix)] if suffix else rest


def relatives(rows, library):
    """{function of the C library: row that it is a relative of}: both are forms of one plain name."""
    plain = {}
    for row in rows:
        for form in root_forms(row):
            if len(form) >= 3:
                plain.setdefault(form, row)
    found = {}
    for name in library:
        near = [plain[form] for form in root_forms(name) if form in plain]
        if near:
            found[name] = near[0]
    return found


def test_the_table_is_read_right(directory):
    rows, aliases = table()
    text = CALLS.read_text()
    equal(len(rows) + len(aliases), len(re.findall(r"^DFT_(?!RECLASSIFIED|EVENT|OLDER|CUSTOM_OLDER)", text, flags=re.M)), "rows and aliases")
    equal(len(set(rows) | set(aliases)), len(rows) + len(aliases), "names, each once")
    true({"open", "fprintf", "__dprintf_chk", "_exit"} <= set(rows), "known rows")
    equal(aliases["open64"], "open", "alias")
    true(set(aliases.values()) <= set(rows), "aliases are of rows")


def undeclared_or_different(rows, headers=None):
    """Names of rows that no header declares, and those that a header declares in another way than calls.def does."""
    lines = [f'_Static_assert(__builtin_types_compatible_p(__typeof__({name}), __typeof__(*({kind} (*){prototype})0)), "{name}");'
             for name, kind, prototype in rows]
    done = compiler(["-fsyntax-only", "-D_FORTIFY_SOURCE=2"], libc_functions.headers() if headers is None else headers, lines)
    errors = done.err.decode()
    undeclared = set(re.findall(r"error: .(\w+). undeclared", errors))
    different = set(re.findall(r'error: static assertion failed: "(\w+)"', errors))
    others = [line for line in errors.splitlines() if " error: " in line and "undeclared" not in line and "static assertion" not in line
              and "in expression" not in line]
    equal(others, [], "other errors")
    return undeclared, different


def test_prototypes_are_those_of_the_headers(directory):
    undeclared, different = undeclared_or_different(prototypes())
    equal(sorted(different), [], "another type than in the headers")
    removed = {"bsd_signal"}  # from POSIX in 2008; old programs have it
    equal(sorted(name for name in undeclared - removed if not name.startswith("_")), [], "functions that no header declares")
    wrong = [("read", "ssize_t", "(int fd, void *buffer, unsigned size)"), ("close", "int", "(int fd)")]
    equal(undeclared_or_different(wrong), (set(), {"read"}), "a wrong prototype is found")


def test_the_library_exports_the_table_and_nothing_else(directory):
    rows, aliases = table()
    wanted = set(rows) | set(aliases) | API
    found = symbols(LIBRARY)
    equal(sorted(wanted - found), [], "missing in libdftrace.so")
    equal(sorted(found - wanted), [], "exported, but in no row")


def test_prototypes_of_libaio_are_those_of_its_header(directory):
    if compiler(["-fsyntax-only"], ["libaio.h"], []).code:
        pytest.skip("libaio.h is not installed")
    rows = [row[:3] for row in versioned()]
    equal(undeclared_or_different(rows, ["libaio.h"]), (set(), set()), "functions that libaio.h declares in another way, or not")


def test_exports_have_no_version_but_those_of_libaio_and_old_ones(directory):
    """Those of libaio are hidden (one @): found by who was linked with libaio, not by dlsym, nor by who has such a function of its own.
    What each version of the C library's does is tried in tests/e2e/test_doors.py."""
    listing = run_checked(["nm", "-D", "--defined-only", LIBRARY]).out.decode()
    found = {line.split()[-1] for line in listing.splitlines() if line.split()[-2] != "A" and "@" in line}
    equal(sorted(name for name in found if "@LIBAIO" in name), sorted(f"{name}@{version}" for name, _, _, version in versioned()),
          "versions of libaio")
    names = {name.split("@")[0].removesuffix("64") for name in found if "@GLIBC" in name}
    older = {name.removesuffix("_older") for name in older_rows()}
    equal(sorted(names - older), [], "versions of the C library's functions that no row tells of")
    newest = {name.split("@@")[0] for name in found if "@@" in name}
    equal(sorted({name.split("@")[0] for name in found if "@GLIBC" in name} - newest), [], "functions with old versions alone")


def concerned(library=None):
    """{function of the C library: why it must be a row or have a reason}."""
    rows, aliases = table()
    library = exported() if library is None else library
    found = about_files(declared(), library)
    near = relatives({*rows, *aliases, *found}, library)
    return {**{name: f"a relative of {row}" for name, row in near.items()}, **{name: f"works on {what}" for name, what in found.items()}}


def test_all_that_works_on_files_is_wrapped_or_has_a_reason(directory):
    rows, aliases = table()
    wrapped, listed = {*rows, *aliases}, dict(reasons())
    missing = {name: why for name, why in concerned().items() if name not in wrapped and name not in listed}
    for name, why in sorted(missing.items()):
        print(f"        {name}: {why}; neither wrapped nor in not_wrapped.txt")
    equal(len(missing), 0, "functions that are forgotten")


def test_the_list_of_reasons_is_right(directory):
    rows, aliases = table()
    names = [name for name, _ in reasons()]
    equal(sorted({name for name in names if names.count(name) > 1}), [], "in not_wrapped.txt twice")
    equal([name for name, reason in reasons() if len(reason) < 8], [], "in not_wrapped.txt without a reason")
    equal(sorted(set(names) & {*rows, *aliases}), [], "in not_wrapped.txt, but wrapped")
    library, why = exported(), concerned()
    if libc_functions.version() == re.search(r"^# glibc (\S+)", NOT_WRAPPED.read_text(), flags=re.M).group(1):  # others have others
        equal([name for name in names if name not in library], [], "in not_wrapped.txt, but not in the C library")
    equal([name for name in names if name in library and name not in why], [], "in not_wrapped.txt, but neither about files nor a relative of a row")


def test_the_library_is_read_right(directory):
    """The test itself: what is known of the C library is found."""
    functions, library = declared(), exported()
    true(len(library) > 2000 and len(set(functions) & library) > 1500, f"{len(library)} exported functions, {len(functions)} declared")
    equal(functions["read"], Function("ssize_t", ["int __fd", "void *__buf", "size_t __nbytes"]), "read")
    equal(functions["getchar"], Function("int", ["void"]), "getchar")
    for name in ("open", "readlinkat", "fopen", "closedir", "fts_read", "fgetpwent", "scandir64", "__isoc99_vfscanf", "mkostemps", "poll",
                 "recvmsg", "mq_close", "dup3", "pipe2", "socketpair", "preadv64v2", "copy_file_range", "close_range", "tmpfile",
                 "renameat2", "aio_read", "posix_spawn", "openpty", "fgetws", "statx", "putchar", "timerfd_create", "_IO_file_open",
                 "open_by_handle_at", "fts64_open", "getdents64", "utimensat", "tmpnam", "logwtmp"):
        true(name not in library or name in about_files(functions, library), f"{name} is not found")
    for name in ("malloc", "strlen", "getenv", "getpid", "qsort", "snprintf", "pthread_create", "clock_gettime", "gethostbyname"):
        true(name in library and subject(name, functions[name]) is None, f"{name} has nothing to do with files")


def test_a_forgotten_relative_is_found(directory):
    """The test itself: without the row's aliases and entries, their names come up."""
    library = exported()
    for row, relative in (("open", "open64"), ("open", "__open_2"), ("pread", "__pread64_chk"), ("fread", "fread_unlocked"),
                          ("stat", "__xstat"), ("stat", "__xstat64"), ("getc", "_IO_getc"), ("fstat", "fstatat"),
                          ("fstat", "__fxstat"), ("unlink", "unlinkat"), ("readdir", "readdir64_r"), ("preadv2", "preadv64v2"),
                          ("getdelim", "__getdelim"), ("printf", "__printf_chk"), ("mknod", "__xmknod"), ("mknodat", "__xmknodat"),
                          ("fgetws", "__fgetws_chk"), ("recv", "__recv_chk"), ("vwprintf", "__wprintf_chk")):
        if relative in library:
            equal(relatives([row], {relative}), {relative: row}, f"relatives of {row}")
