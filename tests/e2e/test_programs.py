# SPDX-License-Identifier: MIT
"""Real programs: traced they give the same output, exit code and files, and the trace agrees with strace call by
call."""

import errno
import hashlib
import os
import re
import shutil
import sys

import pytest

import system_calls
from tracing import LONG, compile_program, dump, environment, equal, live_files, need, run, traces, tracing, true

DOCUMENTS = "/usr/share/doc"


def tree(directory):
    """Every file below a directory: name, kind, size, contents."""
    found = {}
    for base, directories, files in os.walk(directory):
        for name in directories:
            found[os.path.relpath(os.path.join(base, name), directory)] = "directory"
        for name in files:
            path = os.path.join(base, name)
            if os.path.islink(path):
                found[os.path.relpath(path, directory)] = os.readlink(path)
            else:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, directory)] = hashlib.sha256(file.read()).hexdigest()
    return found


def compare(directory, command, prepare=None, stdin=None, same=None, replacements=(), least=1, files=True, **settings):
    """Three runs in the same, freshly made directory: plain, under strace, traced. `same` removes from the output what
    differs between two plain runs; `files` compares the files that are left; `replacements` are made in paths of both
    sides."""
    need(command[0])
    work = directory / "work"
    same = same or (lambda text: text)
    env = environment(**settings)

    def fresh():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        if prepare:
            prepare(work)

    fresh()
    plain = run(command, cwd=work, stdin=stdin, env=env)
    left = tree(work)
    fresh()
    _, calls = system_calls.strace(command, work, directory, stdin=stdin, env=env)
    fresh()
    traced = run(command, cwd=work, stdin=stdin, env={**env, **tracing(directory / "traces" / "t"), **settings})
    equal(traced.code, plain.code, "exit code")
    equal(same(traced.out), same(plain.out), "standard output")
    equal(same(traced.err), same(plain.err), "standard error")
    if files:
        equal(tree(work), left, "files left")
    events = dump(*traces(directory / "traces"))
    equal(live_files(directory / "traces"), [], "live files left behind")
    lines, compared = system_calls.differences(calls, events, replacements)
    true(compared >= least, f"only {compared} calls were compared")
    true(not lines, f"{len(lines)} differences: " + "; ".join(lines[:12]))
    return events


def documents(limit):
    """Some directories of the documentation, always the same."""
    if not os.path.isdir(DOCUMENTS):
        pytest.skip(f"no {DOCUMENTS}")
    return [os.path.join(DOCUMENTS, name) for name in sorted(os.listdir(DOCUMENTS))[:limit]]


def test_calls_on_numbers_that_are_not_open(directory):
    program = compile_program("closed.c", directory / "closed")
    events = compare(directory, [program], least=90 + 3 * 18)
    equal(len([e for e in events if e.get("errno") == errno.EBADF and "file" not in e]), 90 + 3 * 18, "EBADF")


def test_a_number_that_is_not_open_costs_one_short_call_more(directory):
    """Its name is not looked for: programs ask about all numbers up to the limit."""
    need("strace")
    program, lines = compile_program("closed.c", directory / "closed"), []
    for env in (environment(), tracing(directory / "out" / "trace")):
        more = [argument for name, value in env.items() for argument in ("-E", f"{name}={value}")]
        done = run(["strace", "-o", directory / "calls", *more, program], cwd=directory)
        equal(done.code, 0, done.err)
        text = (directory / "calls").read_text()
        lines.append(re.findall(r"^\w+\((?:77|5000)\b.*$", text, flags=re.M))
        equal(re.findall(r"^readlink.*/fd/(?:77|5000)\b.*$", text, flags=re.M), [], "names looked for")
    true(len(lines[0]) >= 36 and len(lines[1]) <= 2 * len(lines[0]), f"calls on such numbers, plain and traced: {[len(some) for some in lines]}")


def test_tar_creates(directory):
    compare(directory, ["tar", "cf", "out.tar", *documents(150)], least=500)


def test_tar_to_a_pipe(directory):
    compare(directory, ["tar", "c", *documents(40)], least=100)


def test_tar_extracts(directory):
    def prepare(work):
        run(["tar", "cf", work / "in.tar", *documents(30)])
    compare(directory, ["tar", "xf", "in.tar"], prepare, least=50)


def test_grep_recursive(directory):
    compare(directory, ["grep", "-r", "-c", "copyright", *documents(150)], least=500)


def test_python_imports_the_standard_library(directory):
    modules = ("json, decimal, email, http.client, logging, unittest, xml.dom, sqlite3, asyncio, multiprocessing, "
               "difflib, csv")
    compare(directory, [sys.executable, "-B", "-S", "-c", f"import {modules}; print(len(sorted(set(dir()))))"],
            least=300,
            PYTHONHASHSEED="0")


def test_python_reads_and_writes(directory):
    program = ("import os, shutil, tempfile\n"
               "for i in range(50):\n"
               "    with open(f'f{i}', 'w') as f: f.write('x' * i * 100)\n"
               "    os.rename(f'f{i}', f'g{i}')\n"
               "os.makedirs('a/b/c')\n"
               "shutil.copy('g10', 'a/b/c/copy')\n"
               "with open('g40', 'rb') as f:\n"
               "    f.seek(1000); print(len(f.read(10)), f.tell())\n"
               "print(sorted(os.listdir('.'))[:3], os.stat('g40').st_size)\n"
               "shutil.rmtree('a')\n"
               "for i in range(25): os.unlink(f'g{i}')\n")
    compare(directory, [sys.executable, "-B", "-S", "-c", program], least=200, PYTHONHASHSEED="0")


def test_sqlite_transactions(directory):
    count = 2000 if LONG else 500
    lines = ["create table t(a integer primary key, b text);"]
    lines += [f"begin; insert into t values({i}, 'row {i}'); commit;" for i in range(count)]
    lines += ["select count(*), sum(a), max(b) from t;", "pragma integrity_check;"]
    compare(directory, ["sqlite3", "data.db"], stdin="\n".join(lines).encode(), least=5 * count)


def test_gcc_compiles(directory):
    def prepare(work):
        (work / "a.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n"
                                  "int main(void) { puts(\"hello\"); return 0; }\n")
    compare(directory, ["gcc", "-c", "a.c", "-o", "a.o"], prepare, replacements=[(r"/cc\w{6}\.", "/ccX.")], least=50)


def test_cp_recursive(directory):
    def prepare(work):
        for i in range(20):
            (work / "in" / f"d{i % 4}").mkdir(parents=True, exist_ok=True)
            (work / "in" / f"d{i % 4}" / f"f{i}").write_bytes(os.urandom(0) + b"x" * (i * 7919))
    compare(directory, ["cp", "-r", "in", "out"], prepare, least=50)


def test_cp_by_copying(directory):
    def prepare(work):
        (work / "in").write_bytes(b"0123456789" * 50000)
    compare(directory, ["cp", "--sparse=always", "in", "out"], prepare, least=5)


def test_dd_blocks(directory):
    def prepare(work):
        (work / "in").write_bytes(bytes(range(256)) * 4000)
    compare(directory, ["dd", "if=in", "of=out", "bs=1000", "skip=3", "seek=5", "count=700"], prepare, least=1400,
            same=lambda text: re.sub(rb"copied, .*", b"copied", text))


def test_sort_with_redirections(directory):
    def prepare(work):
        (work / "in").write_text("".join(f"{(i * 7919) % 10007} line\n" for i in range(20000)))
    compare(directory, ["sh", "-c", "sort < in > out"], prepare, least=4)


def test_make_with_two_jobs(directory):
    def prepare(work):
        for i in range(4):
            (work / f"f{i}.c").write_text(f"#include <stdlib.h>\nint f{i}(void) {{ return {i}; }}\n")
        (work / "main.c").write_text("int f0(void); int main(void) { return f0(); }\n")
        (work / "Makefile").write_text("all: prog\nprog: main.o f0.o f1.o f2.o f3.o\n\tgcc -o $@ $^\n"
                                       "%.o: %.c\n\tgcc -c -o $@ $<\n")
    compare(directory, ["make", "-j2", "--no-print-directory"], prepare,
            replacements=[(r"/cc\w{6}(?=[./]|$)", "/ccX")], least=300,
            same=lambda text: b"\n".join(sorted(text.split(b"\n"))))


def test_bash_redirections_and_pipelines(directory):
    script = r"""
set -e
echo one > a; echo two >> a; cat < a | tr a-z A-Z | tee b > c
exec 7<>a; read -r line <&7; echo "got $line" >&7; exec 7>&-
{ echo grouped; ls; } > d 2>&1
while read -r word; do echo "$word" >> e; done < a
cat <<END > f
here document
END
exec 5>g; exec 6>&5; echo dup >&6; exec 5>&- 6>&-
(cd /; pwd) > h
wc -c a b c d e f g h; cat nosuch 2> i || echo failed
mv a z; rm b; mkdir -p x/y; rmdir x/y; test -f z && echo "$(< z)"
exit 3
"""
    compare(directory, ["bash", "-c", script], least=50,
            replacements=[(r"/sh-thd\S*", "/sh-thd")])


def test_perl_and_find(directory):
    need("perl", "find")
    def prepare(work):
        for i in range(30):
            (work / f"d{i % 5}").mkdir(exist_ok=True)
            (work / f"d{i % 5}" / f"f{i}").write_text("text\n" * i)
    compare(directory, ["find", ".", "-type", "f", "-size", "+0", "-newer", "/etc/hostname"], prepare, least=10,
            same=lambda text: b"\n".join(sorted(text.split(b"\n"))))
    shutil.rmtree(directory / "traces")
    compare(directory,
            ["perl", "-e",
             "for (1..20) { open(my $f, '>', \"p$_\"); print $f 'x' x $_; close $f; rename(\"p$_\", \"q$_\"); }"
                        " opendir(my $d, '.'); print join(' ', sort readdir $d), \"\\n\"; unlink glob 'q1*';"],
                        prepare, least=50)


def test_a_program_that_fails(directory):
    events = compare(directory, ["cat", "missing-one", "missing-two"], least=2)
    equal(sorted(e["errno"] for e in events if e["file"].rsplit("/", 1)[-1].startswith("missing")), [2, 2], "errno")
