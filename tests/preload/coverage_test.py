#!/usr/bin/env python3
"""Which functions of the C library are wrapped: every relative of a row of calls.def (another width, a checked form, an `at`
form ...) is wrapped too, or stands with a reason in not_wrapped.txt; and libdftrace.so exports the table, and nothing else."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from tracing import LIBRARY, Tests, equal, run, run_checked, true  # noqa: E402

tests = Tests()
CALLS = ROOT / "include" / "dftrace" / "calls.def"
NOT_WRAPPED = pathlib.Path(__file__).resolve().with_name("not_wrapped.txt")
API = {"dftrace_api_v1"}

# Where the name stands among a row's arguments: DFT_CALL(category, OP, type, name, ...
NAME_AT = {"CALL": 3, "ENTRY": 3, "MODE": 3, "HAND": 3, "FORMAT": 2, "FORMAT_ENTRY": 2}
ALIASES = {"ALIAS", "HAND_ALIAS"}


def split(text):
    """At the commas that lie in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [" ".join(part.split()) for part in parts]


def macros():
    """(kind, fields) of each row of calls.def."""
    text = re.sub(r"/\*.*?\*/", "", CALLS.read_text(), flags=re.S)
    return [(kind, split(arguments))
            for kind, arguments in re.findall(r"^DFT_(\w+)\(([^;]*?)\)\s*(?=^DFT_|\Z)", text, flags=re.S | re.M) if kind != "SECOND"]


def table():
    """(names of rows, {alias: name}) of calls.def."""
    rows, aliases = [], {}
    for kind, fields in macros():
        if kind in ALIASES:
            aliases[fields[1]] = fields[0]
        else:
            rows.append(fields[NAME_AT[kind]])
    return rows, aliases


def libc_path():
    done = run_checked(["ldd", "/bin/true"]).out.decode()
    return re.search(r"libc\.so\S* => (\S+)", done).group(1)


def symbols(library, kinds="TWiVDBR"):
    """Names that a library defines for others (by default functions and data), whatever their version but GLIBC_PRIVATE, which
    the libraries of the C library alone can use."""
    listing = run_checked(["nm", "-D", "--defined-only", library]).out.decode()
    found = set()
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind in kinds and not name.endswith("@GLIBC_PRIVATE"):
            found.add(name.split("@")[0])
    return found


FUNCTIONS = "TWi"


# What is put before and behind a name by those who make another form of the function.
PREFIXES = ("", "_", "__", "f", "l", "v", "p", "__f", "__libc_", "_IO_", "__isoc99_", "__isoc23_", "__new_", "__old_")
SUFFIXES = ("", "64", "_2", "64_2", "at", "at2", "at64", "2", "3", "64v2", "v2", "_unlocked", "_chk", "64_chk", "_unlocked_chk",
            "_nocancel", "time64", "_time64", "v", "ve", "vp", "vpe", "_r", "64_r", "c_chk", "o", "o64")


def root_forms(name):
    """The plain names that a name may be a form of. __fxstat64 is fstat64 with a version number."""
    name = re.sub(r"^__([fl]?)x(?=[a-z])", r"\1", name)
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


def reasons():
    """not_wrapped.txt: a symbol, then the reason; # begins a remark."""
    listed = {}
    for number, line in enumerate(NOT_WRAPPED.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        symbol, _, reason = line.partition(" ")
        true(reason.strip(), f"not_wrapped.txt:{number}: {symbol} has no reason")
        true(symbol not in listed, f"not_wrapped.txt:{number}: {symbol} stands there twice")
        listed[symbol] = reason.strip()
    return listed


@tests.case
def the_table_is_read_right(directory):
    rows, aliases = table()
    text = CALLS.read_text()
    equal(len(rows) + len(aliases), len(re.findall(r"^DFT_(?!SECOND)", text, flags=re.M)), "rows and aliases")
    equal(len(set(rows) | set(aliases)), len(rows) + len(aliases), "names, each once")
    true({"open", "fprintf", "__dprintf_chk", "_exit"} <= set(rows), "known rows")
    equal(aliases["open64"], "open", "alias")
    true(set(aliases.values()) <= set(rows), "aliases are of rows")


HEADERS = ("dirent.h", "fcntl.h", "poll.h", "sched.h", "spawn.h", "stdarg.h", "stdio.h", "stdlib.h", "string.h", "sys/epoll.h",
           "sys/eventfd.h", "sys/mman.h", "sys/sendfile.h", "sys/socket.h", "sys/stat.h", "sys/statfs.h", "sys/time.h", "sys/types.h",
           "sys/uio.h", "sys/wait.h", "unistd.h", "utime.h", "wchar.h")


def undeclared_or_different(rows):
    """Names of rows that no header declares, and those that a header declares in another way than calls.def does."""
    lines = ["#define _GNU_SOURCE", *(f"#include <{header}>" for header in HEADERS)]
    lines += [f'_Static_assert(__builtin_types_compatible_p(__typeof__({name}), __typeof__(*({kind} (*){prototype})0)), "{name}");'
              for name, kind, prototype in rows]
    done = run(["gcc", "-std=gnu11", "-O1", "-D_FORTIFY_SOURCE=2", "-fsyntax-only", "-xc", "-"], stdin="\n".join(lines).encode())
    errors = done.err.decode()
    undeclared = set(re.findall(r"error: .(\w+). undeclared", errors))
    different = set(re.findall(r'error: static assertion failed: "(\w+)"', errors))
    others = [line for line in errors.splitlines() if " error: " in line and "undeclared" not in line and "static assertion" not in line
              and "in expression" not in line]
    equal(others, [], "other errors")
    return undeclared, different


def prototypes():
    """(name, type, prototype) of each row."""
    rows = []
    for kind, fields in macros():
        if kind not in ALIASES:
            at = NAME_AT[kind]
            rows.append((fields[at], fields[at - 1] if at == 3 else "int", fields[at + 1]))
    return rows


@tests.case
def prototypes_are_those_of_the_headers(directory):
    undeclared, different = undeclared_or_different(prototypes())
    equal(sorted(different), [], "another type than in the headers")
    equal(sorted(name for name in undeclared if not name.startswith("_")), [], "functions that no header declares")
    wrong = [("read", "ssize_t", "(int fd, void *buffer, unsigned size)"), ("close", "int", "(int fd)")]
    equal(undeclared_or_different(wrong), (set(), {"read"}), "a wrong prototype is found")


@tests.case
def the_library_exports_the_table_and_nothing_else(directory):
    rows, aliases = table()
    wanted = set(rows) | set(aliases) | API
    exported = symbols(LIBRARY)
    equal(sorted(wanted - exported), [], "missing in libdftrace.so")
    equal(sorted(exported - wanted), [], "exported, but in no row")


@tests.case
def exports_have_no_version(directory):
    listing = run_checked(["nm", "-D", "--defined-only", LIBRARY]).out.decode()
    equal([line for line in listing.splitlines() if "@" in line.split()[-1]], [], "versioned symbols")


@tests.case
def relatives_are_wrapped_or_have_a_reason(directory):
    rows, aliases = table()
    library = symbols(libc_path(), FUNCTIONS)
    true({"open", "pread64", "fopen64"} <= library, f"functions of {libc_path()}")
    wrapped = set(rows) | set(aliases)
    near = relatives(rows, library)
    missing = sorted((row, name) for name, row in near.items() if name not in wrapped and name not in reasons())
    for row, name in missing:
        print(f"        {name}: a relative of {row}; neither wrapped nor in not_wrapped.txt")
    equal(len(missing), 0, "relatives that are forgotten")


@tests.case
def the_list_of_reasons_is_no_longer_than_needed(directory):
    rows, aliases = table()
    library = symbols(libc_path(), FUNCTIONS)
    near = relatives(rows, library)
    listed = reasons()
    equal(sorted(set(listed) & (set(rows) | set(aliases))), [], "in not_wrapped.txt, but wrapped")
    stale = [name for name in listed if name in library and name not in near]
    equal(stale, [], "in not_wrapped.txt, but no relative of a row")


@tests.case
def a_forgotten_relative_is_found(directory):
    """The test itself: without the row's aliases and entries, their names come up."""
    library = symbols(libc_path(), FUNCTIONS)
    for row, relative in (("open", "open64"), ("open", "__open_2"), ("pread", "__pread64_chk"), ("fread", "fread_unlocked"),
                          ("stat", "__xstat"), ("stat", "__xstat64"), ("getc", "_IO_getc"), ("fstat", "fstatat"),
                          ("fstat", "__fxstat"), ("unlink", "unlinkat"), ("readdir", "readdir64_r"), ("preadv2", "preadv64v2"),
                          ("getdelim", "__getdelim"), ("printf", "__printf_chk")):
        if relative in library:
            equal(relatives([row], {relative}), {relative: row}, f"relatives of {row}")


if __name__ == "__main__":
    sys.exit(tests.main())
