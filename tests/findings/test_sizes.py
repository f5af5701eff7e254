# SPDX-License-Identifier: MIT
"""Findings about the size of requests, streams, syncs and flushes, and how findings are asked for: each has a program
that plants the trouble, and one beside it that must stay silent."""

import json
import os
import pathlib
import re
import shutil
import sys

import pytest

from told import surely, told_once
from tracing import (BUILD, DFTMERGE, LIBRARY, dftmerge, environment, equal, need, run, run_checked, tracing,
                     true)

HERE = pathlib.Path(__file__).resolve().parent
MINE = ("one-byte", "small-reads", "small-writes", "stream", "fsync", "flush")
SYNC = {"SLOW_SYNC_US": 5000}  # where data are in memory an fsync takes no time


def compiled(directory, source="sizes.c", *flags):
    need("gcc")
    program = directory / source[:-2]
    if not program.exists():
        run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", program, HERE / "programs" / source, *flags])
    return program


def slowly(directory, env, slow):
    """Adds a file system to env that is as slow as `slow` says."""
    library = compiled(directory, "slow_calls.c", "-shared", "-fPIC", "-ldl")
    env.update(LD_PRELOAD=f"{LIBRARY}:{library}", **{name: str(value) for name, value in slow.items()})
    return env


def traced(directory, *arguments, slow=None, program=None, **settings):
    """Runs the program, on a slow file system if `slow` says how slow; the folder of its traces."""
    program = program or compiled(directory)
    work, traces = directory / "work", directory / "traces"
    work.mkdir(exist_ok=True)
    (work / "data").write_bytes(bytes(8 << 20))
    shutil.rmtree(traces, ignore_errors=True)
    env = tracing(traces / "t", DATA_DIR=work, **settings)
    run_checked([program, *arguments], cwd=work, env=slowly(directory, env, slow) if slow else env)
    return traces


def answer(*arguments):
    done = dftmerge("findings", "--json", *arguments)
    equal((done.code, done.err), (0, b""), f"findings {arguments}")
    return told_once(arguments[-1], json.loads(done.out))


def by_code(answered):
    return {finding["code"]: finding for finding in answered["findings"]}


def planted(directory, *arguments, **settings):
    """The findings by code."""
    return by_code(answer(traced(directory, *arguments, **settings)))


def only(found, *codes):
    equal(sorted(code for code in found if code in MINE), sorted(codes), f"findings: {found}")
    return found[codes[0]] if codes else None


def says(finding, *expected):
    for pattern in expected:
        true(re.search(pattern, finding["evidence"]), f"{pattern!r} is not in: {finding['evidence']}")


def test_the_slow_program(directory):
    program = compiled(directory, "slow.c")
    work, traces = directory / "work", directory / "traces"
    work.mkdir()
    run_checked([program, work, "prepare"])
    run_checked([program, work, "run"], cwd=work, env=slowly(directory, tracing(traces / "t", STACK=1), {"SLOW_SYNC_US": 500}))
    rules = directory / "rules"
    rules.write_text("any.share = 0.1 %\n")  # where an fsync takes long all else is little
    found = by_code(answer("--rules", rules, traces))
    equal(sorted(set(found) & {"fsync", "one-byte", "small-files", "missing", "reopened"}),
          ["fsync", "missing", "one-byte", "reopened", "small-files"], "what was planted")
    fsync, one = found["fsync"], found["one-byte"]
    equal((fsync["title"], fsync["calls"]), ("fsync every 20 writes", 500), "fsync")
    says(fsync, r"^500 calls .*; out/journal\.log: 1\.14 MiB in 10,000 writes of 120 B")
    equal((one["title"], one["bytes"]), ("1-byte reads", 300000), "1-byte reads")
    says(one, r"^in/table\.bin: 300,00[01] reads of 1 B, all sequential, .* with a 64 KiB buffer 5 calls$")
    lines = (HERE / "programs" / "slow.c").read_text().splitlines()
    for finding, call in ((fsync, "fsync("), (one, "read(fd, &c, 1)")):
        name, number = finding["line"].rsplit(":", 1)
        true(name.endswith("slow.c") and call in lines[int(number) - 1], f"the line of {finding}")
    text = dftmerge("findings", traces).out.decode()
    true(re.search(r"^not a problem: lost 0, failures to write 0", text, re.M), text)
    true("adds source lines" not in text, f"there are source lines: {text}")


def test_one_byte_at_a_time(directory):
    traces = traced(directory, "reads", 1, 100000, 1 << 20)
    finding = only(by_code(answer("--rules", surely(directory), traces)), "one-byte")
    says(finding, r"^data: 100,000 reads of 1 B, all sequential, .*; with a 64 KiB buffer 2 calls$")
    equal((finding["sure"], finding["why_sure"]), ("high", "larger requests of the same files were faster by so much"), "how sure")
    true("DFTRACER_STACK=1" in answer(traces)["findings_notes"], "what source lines need is said")
    only(planted(directory, "reads", 1 << 20, 8))
    only(planted(directory, "reads", 1, 100, 1 << 20))  # a header


def test_small_reads(directory):
    finding = only(planted(directory, "reads", 200, 40000), "small-reads")
    says(finding, r"^data: 40,000 reads of 200 B, all sequential, .*; with a 64 KiB buffer 123 calls$")
    only(planted(directory, "reads", 65536, 128))
    finding = only(planted(directory, "random", 200, 40000), "small-reads")  # as many bytes as the file has
    says(finding, r"^data: 40,000 reads of 200 B, 0\.0 % sequential, .*; as a whole, by 64 KiB, 12[78] calls$")
    only(planted(directory, "random", 200, 1000))  # reading all of the file takes longer


def test_small_writes(directory):
    finding = only(planted(directory, "writes", 100, 40000), "small-writes")
    says(finding, r"^out_a: 40,000 writes of 100 B, all sequential")
    only(planted(directory, "writes", 1 << 18, 64))


def test_halves_are_no_requests(directory):
    """The writing half of a transfer has no time of its own: it is no large write that small ones are held against."""
    source = """
import os
small, large, copied = (os.open(name, os.O_RDWR | os.O_CREAT) for name in ("small", "large", "copied"))
for _ in range(300):
    os.write(small, bytes(4096))
for _ in range(4):
    os.write(large, bytes(1 << 20))
for _ in range(8):
    os.sendfile(copied, large, 0, 1 << 30)
"""
    work, traces = directory / "work", directory / "traces"
    work.mkdir()
    run_checked([sys.executable, "-S", "-c", source], cwd=work, env=slowly(directory, tracing(traces / "t"), {"SLOW_US": 1000}))
    found = {finding["code"]: finding for finding in answer(traces)["findings"]}
    true(found["small-writes"]["why_sure"].startswith("larger requests moved 4.00 MiB in"), found["small-writes"])


def test_time_is_told_once(directory):
    """Small requests of files that are read again, opened again, or small: one finding has their time."""
    for arguments, code in (((200, 3), "small-reads"), ((250, 20, 200), "reopened"), ((250, 4, 200), "small-files"),
                            ((250, 1, 200, 1), "fsync"), ((1500, 12, 200, 0, 5), "reopened"), ((20000,), "metadata")):
        for settings in ({}, {"ENABLE_AGGREGATION": 1}):
            traces = traced(directory, "again" if len(arguments) > 1 else "early", *map(str, arguments), slow={"SLOW_SYNC_US": 500}, **settings)
            found = json.loads(dftmerge("findings", "--json", traces).out)["findings"]
            groups = json.loads(dftmerge("summary", "--by", "class", "--json", traces).out)["groups"]
            total, io = sum(f["cost_ns"] for f in found), sum(g["time_ns"] for g in groups if g["class"] not in ("none", "wait"))
            true(total <= io and (settings or code in [f["code"] for f in found]), f"{arguments}: {total} of {io}: {found}")


def test_opens_of_others(directory):
    """What a file costs is of all who open it: 12 opens by one process, and 40 by others that read nothing."""
    rules = directory / "rules"
    rules.write_text("any.share = 0 %\n")
    found = answer("--rules", rules, traced(directory, "again", str(1 << 20), "12", "0", "0", "40"))["findings"]
    reopened = next(finding for finding in found if finding["code"] == "reopened")
    says(reopened, r"12 opens by one process, 1\.85 MiB each")  # 96 MiB in 52 opens


def test_few_writes_that_wait(directory):
    """What counts is the time, not that they are few."""
    traces = traced(directory, "durable", "300", slow={"SLOW_US": 200})
    says(only({f["code"]: f for f in answer(traces)["findings"]}, "one-byte"), r"durable: 300 writes of 1 B")


def test_blocks_that_wait(directory):
    """Writes of 4 KiB that take longer than their bytes need, where no larger write says what those would take."""
    finding = only(planted(directory, "writes", 4096, 300, slow={"SLOW_US": 1000}), "small-writes")
    says(finding, r"^out_a: 300 writes of 4\.00 KiB, all sequential, .*; with a 64 KiB buffer 19 calls$")
    true(finding["cost_ns"] >= 200 * 1_000_000 and "each waits for storage" in finding["why_sure"], f"{finding}")
    only(planted(directory, "writes", 16384, 1500))  # the page cache answers
    only(planted(directory, "writes", 1 << 17, 60, slow={"SLOW_US": 1000}))  # a slow disk, and large writes


def test_characters_of_a_stream_without_buffer(directory):
    finding = only(planted(directory, "stream", 1, 0), "one-byte")
    equal(finding["title"], "characters from a stream without buffer", "title")
    says(finding, r"^data: 300,000 reads of a stream of 1 B, ")
    only(planted(directory, "stream", 1, 4096))


def test_a_stream_in_the_way(directory):
    finding = only(planted(directory, "stream", 200, 0), "stream")
    equal(finding["title"], "small reads of a stream", "title")
    says(finding, r"^data: 30,000 reads of a stream of 200 B, ")


def test_what_a_printf_computes(directory):
    """It is no I/O where the stream's buffer fills, however long a call takes. A stream that flushes lines is told
    so."""
    only(planted(directory, "formatted", 20000, 0))
    finding = only(planted(directory, "formatted", 20000, 1), "stream")
    says(finding, r"^formatted: 20,000 writes to a stream of 30\d B, .*; a system call moves 30\d B: the stream flushes each line")
    line = f"{compiled(directory)} formatted 20000 {{}}; :"  # of the image that execs it nobody counts system calls
    only(planted(directory, "-c", line.format(0), program="sh"))
    says(only(planted(directory, "-c", line.format(1), program="sh"), "stream"), "a system call moves 30\\d B: ")


def test_syncs(directory):
    finding = only(planted(directory, "writes", 65536, 60, 2, slow=SYNC), "fsync")
    equal((finding["title"], finding["where"], finding["calls"]), ("fsync every 2 writes", str(directory / "work/out_a"), 30), "one file")
    says(finding, r"^30 calls that make data durable, .*; out_a: 3\.75 MiB in 60 writes of 64\.0 KiB, 128 KiB made durable at a time$")
    finding = only(planted(directory, "writes", 65536, 10, 1, 9, slow=SYNC), "fsync")
    equal((finding["title"], finding["calls"]), ("fsync after each write", 90), "many files")
    only(planted(directory, "writes", 1 << 20, 8, 8, slow=SYNC))  # one fsync at the end


def test_flushes(directory):
    finding = planted(directory, "lines", 20000, 1)["flush"]
    equal((finding["title"], finding["calls"]), ("fflush after each write", 20000), "each line")
    equal(planted(directory, "lines", 60000, 5)["flush"]["title"], "fflush every 5 writes", "some lines")
    true("flush" not in planted(directory, "lines", 20000, 0), "the stream flushes by itself")


def test_writes_that_fail(directory):
    result = answer(traced(directory, "fail", 20))
    equal(result["verdict"]["level"], "failed", "the verdict")
    true(re.fullmatch(r"failed: 19 of 20 writes, \S+ \S+, most with EFBIG", result["verdict"]["line"]), result)
    true("failures" not in result["findings_nothing"], result)


def test_aggregates(directory):
    settings = {"ENABLE_AGGREGATION": 1}
    finding = only(planted(directory, "reads", 200, 40000, **settings), "small-reads")
    equal(finding["where"], str(directory / "work/data"), "the file that takes most of the time")
    only(planted(directory, "reads", 65536, 128, **settings))
    finding = only(planted(directory, "writes", 65536, 60, 2, slow=SYNC, **settings), "fsync")
    equal(finding["title"], "fsync every 2 writes", "syncs")
    result = answer(directory / "traces")
    true("reopened" in result["findings_not_looked_for"] and "aggregates" in result["findings_why_not"], result)


def test_a_page_of_many_events(directory):
    traces = traced(directory, "reads", 200, 40000)
    few, many = (run([DFTMERGE, "-q", traces], env=environment(COLUMNS=200, DFTMERGE_PAGE_EVENTS=events)).out.decode() for events in (10**6, 1))
    true(re.search(r"^1  small reads .*\n   data: 40,000 reads of 200 B, ", few, re.M) and "not looked for" not in few, few)
    true(re.search(r"^1  small reads .*\n   40,000 reads of 200 B, ", many, re.M), many)
    true(re.search(r"^not looked for: .*reopened.*: there are many events.*`dftmerge findings PATH`", many, re.M), many)


def test_limits_of_the_user(directory):
    traces = traced(directory, "writes", 65536, 60, 2, slow=SYNC)
    rules = directory / "rules"
    for text in ("fsync = off", "fsync.calls = 31", "any.share = 100 %"):
        rules.write_text(text + "\nsmall-writes = off\n")
        equal(answer("--rules", rules, traces)["findings"], [], text)
    rules.write_text("fsync.calls = 30\nany.share = 0 %\nsmall-writes = off\n")
    only({f["code"]: f for f in answer("--rules", rules, traces)["findings"]}, "fsync")
    rules.write_text("fsync = off\nfsnc.calls = 3\n")
    done = dftmerge("findings", "--rules", rules, traces)
    equal((done.code, done.out), (2, b""), "a file with an error")
    equal(done.err.decode(), f"dftmerge findings: --rules: {rules}, line 2: fsnc.calls: there is no such limit "
          "(`dftmerge findings --list` has all). Did you mean fsync.calls?\n", "what is wrong")
    if os.geteuid():
        rules.chmod(0)
        equal(dftmerge("findings", "--rules", rules, traces).err.decode(), f"dftmerge findings: --rules: {rules}: Permission denied\n", "")
    listed = run_checked([DFTMERGE, "findings", "--list"]).out
    rules.unlink(missing_ok=True)
    rules.write_bytes(listed)
    equal(run_checked([DFTMERGE, "findings", "--list", "--rules", rules]).out, listed, "the list is a file of limits")


def test_nothing_wrong(directory):
    rules = directory / "rules"
    rules.write_text("any.tracing = 100 %\n")  # of a program of some milliseconds tracing is a large part
    text = run_checked([DFTMERGE, "findings", "--rules", rules, traced(directory, "reads", 1 << 20, 8)]).out.decode()
    true(re.match(r"nothing wrong: lost 0, failures to write 0, (tracing \S+ %, )?I/O \S+ % of the time\n$", text), text)


def test_a_program_without_a_trace(directory):
    """It is named before all else; a child that is traced, as rows or with the environment, is not."""
    directory.joinpath("in").write_text("1")
    cat = shutil.which("cat")

    def told(name, command, **settings):
        run_checked(["sh", "-c", command], cwd=directory, env=tracing(directory / name / "t", **settings))
        text = run_checked([DFTMERGE, "findings", directory / name], env=environment(COLUMNS=500)).out.decode()
        return text.splitlines()[0], answer(directory / name)["findings_no_trace"]

    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        line, member = told(f"cleaned{len(settings)}", f"env -i {cat} in; :", **settings)
        true(line == f"not seen: {member}" and member.startswith("1 program was started") and "cat" in member, f"{line}: {member}")
        line, member = told(f"traced{len(settings)}", f"{cat} in; :", **settings)
        true(member is None and "not seen" not in line, f"a traced child: {line}")
    for i, other in enumerate(("", "libm.so.6")):
        line, member = told(f"named{i}", f"LD_PRELOAD={other} {cat} in; :")
        true(member and f"{cat} (static, " in member and "not seen: " in line, f"its path: {line}")


def test_screens(directory):
    traces = traced(directory, "writes", 100, 20000, 200)
    for columns in (20, 60, 80, 120, 200):
        done = run([DFTMERGE, "findings", traces], env=environment(COLUMNS=columns))
        text = done.out.decode("ascii")  # LC_ALL=C: nothing else
        wide = [line for line in text.splitlines() if len(line) > max(columns, 100 if columns < 40 else 0)]
        equal((done.code, wide), (0, []), f"{columns} columns")


def test_ranks_of_dftmerge_say_the_same(directory):
    together = BUILD / "bin" / "dftmerge-mpi"
    if not together.exists() or not shutil.which("mpirun"):
        pytest.skip("dftmerge-mpi or mpirun is not there")
    traces = traced(directory, "writes", 100, 20000, 200)
    alone = run_checked([DFTMERGE, "findings", "--json", traces]).out
    mpirun = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", "3"]
    equal(json.loads(run_checked([*mpirun, together, "findings", "--json", traces]).out), json.loads(alone), "three ranks")
