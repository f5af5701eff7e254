# SPDX-License-Identifier: MIT
"""The verdict: what the first line says, and never more than is known. Each level has programs that plant it, and all
combinations of levels have the one that comes first."""

import itertools
import json
import os
import pathlib
import re
import shutil

import pytest

from tracing import BUILD, DFTMERGE, answer_of, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
BYTES = 4 << 20
LEVELS = ("in-flight", "unseen", "ended", "lost", "failed", "findings", "unknown", "good")


def compiled(directory):
    need("gcc")
    program = directory / "unseen"
    if not program.exists():
        run_checked(["gcc", "-O1", "-w", "-D_GNU_SOURCE", "-o", program, HERE / "programs" / "unseen.c"])
    return program


def rules_of(directory):
    """Of a program of some milliseconds tracing is a large part: that note says nothing here."""
    rules = directory / "rules"
    rules.write_text("any.tracing = 100 %\n")
    return rules


def traced(directory, *steps, name="traces", clear=True, **settings):
    program, work, traces = compiled(directory), directory / "work", directory / name
    work.mkdir(exist_ok=True)
    (work / "data").write_bytes(bytes(range(256)) * (BYTES // 256))
    if clear:
        shutil.rmtree(traces, ignore_errors=True)
    settings = {"DATA_DIR": work, **settings}
    if run([program, work / "data", *steps], cwd=work, env=tracing(traces / "t", **settings)).code == 77:
        pytest.skip("the kernel refuses io_uring")
    return traces


def verdict(directory, traces, *arguments):
    """It, which all commands say alike, and which is the first line of the page and of findings."""
    rules = ("--rules", rules_of(directory))
    words = environment(COLUMNS=1000)
    found = answer_of("findings", "--run", "all", *rules, *arguments, traces)
    summary = answer_of("summary", "--all", "--run", "all", *rules, *arguments, traces)
    text = run_checked([DFTMERGE, "findings", "--run", "all", *rules, *arguments, traces], env=words).out.decode()
    page = run_checked([DFTMERGE, "summary", "--run", "all", *rules, *arguments, traces], env=words).out.decode()
    own = found["verdict"]
    equal(summary["verdict"], own, "summary and findings")
    equal([LEVELS.index(own["level"]) >= 0, "nothing wrong" in text], [True, own["level"] == "good"], f"{own}: {text}")
    if own["level"] in ("lost", "findings"):
        title = own["line"].split(": ")[0]
        true(text.startswith(f"1  {title}") and page.startswith(f"1  {title}"), f"{own}: {text}")
    else:
        equal([said.splitlines()[0] for said in (text, page)], [own["line"]] * 2, "the first line")
    equal([LEVELS.index(level) for level in own["more_levels"]],
          sorted(set(LEVELS.index(level) for level in own["more_levels"]) - set(range(LEVELS.index(own["level"]) + 1))),
          f"later levels, each once: {own}")
    for level, line in zip(own["more_levels"], own["more"], strict=True):
        word = {"unseen": "not seen: ", "ended": "ended badly: ", "failed": "failed: "}.get(level)
        true(line.startswith(word or "") and (word or not re.match("not seen: |ended badly: |failed: ", line)), f"{level}: {own}")
    for line in own["more"][:-1]:
        true(line in text or line.split(": ")[0] in text, f"{line}: {text}")
    return own


def says(directory, level, pattern, *steps, modes=({}, {"ENABLE_AGGREGATION": 1}), **settings):
    for mode in modes:
        own = verdict(directory, traced(directory, *steps, **mode, **settings))
        true(own["level"] == level and re.search(pattern, own["line"]), f"{steps} {mode}: {own}")


def test_rings(directory):
    says(directory, "unseen", r"^not seen: io_uring moved data that is not in these numbers, in 1,024 calls of io_uring_enter "
         r"\(the kernel counted \S+ \S+ from storage, \S+ B read and \S+ B written by system calls\)$", "ring")
    says(directory, "unseen", r"^not seen: what io_uring moved is not in these numbers \(", "raw-ring")
    says(directory, "unseen", "^not seen: what io_uring moved", "good", "raw-ring")
    own = verdict(directory, traced(directory, "ring", SYSTEM_METRICS=0))
    true(own["line"].endswith("1,024 calls of io_uring_enter"), f"without counters: {own}")


def test_mapped_files(directory):
    """In events by the size of the mapping, too: where storage is memory no fault reads from it. How much of it was
    read nobody knows."""
    says(directory, "unseen", r"^not seen: what page faults read of 4\.00 MiB of mapped files is not in these numbers", "faults",
         modes=({},))
    own = verdict(directory, traced(directory, "faults", SYSTEM_METRICS=0))
    true(own["level"] == "unseen", f"without counters: {own}")


def test_raw_calls(directory):
    says(directory, "unseen", r"^not seen: of 4\.0\d MiB that 1,0\d\d system calls moved, 4\.0\d MiB in 1,0\d\d are not in "
         "these numbers: raw calls, ", "raw")
    says(directory, "unseen", r"^not seen: of \S+ KiB that 2,0\d\d system calls moved", "raw-bytes")
    says(directory, "good", "^nothing wrong: lost 0, failures to write 0", "good")


def test_programs_without_a_trace(directory):
    """Without LD_PRELOAD, or static, nobody sees what a program does. One that is seen and does no I/O has no trace."""
    says(directory, "unseen", "^not seen: 1 program was started and left no trace here", "fork")
    says(directory, "good", "^nothing wrong: ", "good", "true", modes=({},))
    says(directory, "unseen", "^not seen: 1 program was started and left no trace here", "true", modes=({"ENABLE_AGGREGATION": 1},))
    (directory / "work").mkdir(exist_ok=True)
    (directory / "static.c").write_text("int main(void) { return 0; }\n")
    if run(["gcc", "-static", "-o", directory / "work" / "static", directory / "static.c"]).code:
        pytest.skip("gcc makes no static programs here")
    for step in ("spawn", "exec"):
        says(directory, "unseen", "^not seen: what programs did that no library can be preloaded into: .*/work/static: it is "
             "statically linked, ", step, modes=({},))
    says(directory, "unseen", "^not seen: 1 of 1 programs that posix_spawn, system or popen started left no trace here", "spawn",
         modes=({"ENABLE_AGGREGATION": 1},))


def test_a_program_that_is_looked_for_in_path(directory):
    """It is known which file that is, and so that a program without a trace made no call."""
    run(["timeout", "0.1", "sleep", "10"], env=tracing(directory / "traces/t", DATA_DIR="all"))
    own = verdict(directory, directory / "traces")
    equal((own["level"], own["line"]), ("ended", "ended badly: exit 124"), "that of timeout; nothing is unseen")


def test_a_status_that_a_parent_waited_for(directory):
    """Names the signal. A pipeline whose reader has enough ends by SIGPIPE, as it should."""
    for command, level, line in (("kill -9 $$", "ended", "ended badly: 1 process by SIGKILL"),
                                 ("kill -11 $$", "ended", "ended badly: 1 process by SIGSEGV"),
                                 ("kill -13 $$", "good", "nothing wrong: ")):
        shutil.rmtree(directory / "traces", ignore_errors=True)
        run_checked(["sh", "-c", f"cat /etc/passwd >/dev/null; sh -c '{command}'; true"], env=tracing(directory / "traces/t", DATA_DIR="all"))
        own = verdict(directory, directory / "traces")
        true(own["level"] == level and own["line"].startswith(line), f"{command}: {own}")


def test_what_settings_leave_out(directory):
    says(directory, "unseen", r"^not seen: DFTRACER_DATA_DIR left out \d calls? \(opens, calls on paths\), and none was recorded$",
         "good", DATA_DIR="/nonexistent")


def test_processes_that_end_badly(directory):
    for step in ("segv", "kill"):
        says(directory, "ended", r"^ended badly: 1 process killed \(or left by a raw exit_group\)$", "good", step)


def test_calls_that_fail(directory):
    says(directory, "failed", r"^failed: 2,000 of 2,000 writes, \S+ \S+, most with EBADF$", "good", "writes")
    says(directory, "failed", r"^failed: 20 of 28 reads, \S+ \S+, most with EBADF$", "good", "reads")
    says(directory, "failed", r"^failed: 2,000 of \S+ other calls, \S+ \S+, most with E(ACCES|ROFS)$", "good", "forbidden", DATA_DIR="all")
    says(directory, "good", "^nothing wrong: ", "good", "lookups")
    says(directory, "good", "^nothing wrong: ", "good", "answers", DATA_DIR="all")  # is it a link, where are data, is this empty?


def test_nothing_to_look_at(directory):
    says(directory, "unknown", "^no data: 3 opens, and no call that reads, writes or maps what was opened$", "none")
    traces = traced(directory, "good")
    for command, words, line in (("findings", ("--file", "nosuch"), "nothing passes the filter"),
                                 ("summary", ("--all", "--name", "read"), "findings: not looked for: --name chooses single calls")):
        own = json.loads(run([DFTMERGE, command, "--json", *words, traces]).out)["verdict"]
        true(own["level"] == "unknown" and own["line"].startswith(line), f"{words}: {own}")


def test_all_combinations(directory):
    """Of what was not seen, processes that were killed, events that were lost, calls that failed, and findings."""
    plants = {"unseen": "fork", "ended": "kill", "lost": None, "failed": "writes", "findings": "bytes"}
    lossy = directory / "lossy"
    run_checked([BUILD / "bin" / "make_traces", lossy, "processes=1", "threads=1", "events=20", "lossy=1"])
    for mode, count in itertools.product(({}, {"ENABLE_AGGREGATION": 1}), range(len(plants) + 1)):
        for levels in itertools.combinations(plants, count):
            steps = [plants[level] for level in ("unseen", "failed", "findings", "ended") if level in levels]
            traces = traced(directory, "good", *steps, **mode)
            if "lost" in levels:
                for path in lossy.iterdir():
                    shutil.copy(path, traces)
            own = verdict(directory, traces)
            equal(own["level"], next((level for level in LEVELS if level in levels), "good"), f"{levels} {mode}: {own}")
            more = [line.split(":")[0] for line in own["more"]]
            equal([word in more for word in ("ended badly", "failed")],
                  [level in levels[1:] for level in ("ended", "failed")], f"{levels} {mode}: {own}")


def test_odd_traces(directory):
    make = BUILD / "bin" / "make_traces"
    for words, level in ((("events=0",), "unknown"), (("events=1",), None), (("events=1", "keep=0"), None)):
        shutil.rmtree(directory / "made", ignore_errors=True)
        run_checked([make, directory / "made", "processes=1", "threads=1", *words])
        own = verdict(directory, directory / "made")
        true(level in (None, own["level"]) and own["line"], f"{words}: {own}")
    rules = directory / "old"
    rules.write_text("metadata.share = 1 %\n")
    done = run([DFTMERGE, "findings", "--rules", rules, directory / "made"])
    true(done.code == 2 and b"there is no such limit" in done.err and not done.out, f"names that are gone: {done}")


def test_ranks_of_dftmerge_say_the_same(directory):
    together = BUILD / "bin" / "dftmerge-mpi"
    if not together.exists() or not shutil.which("mpirun"):
        pytest.skip("dftmerge-mpi or mpirun is not there")
    mpirun = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", "3"]
    for steps in (("good",), ("spawn", "writes"), ("raw",)):
        traces = traced(directory, *steps)
        answers = [json.loads(run_checked([*words, "findings", "--json", traces]).out)["verdict"] for words in ([DFTMERGE], [*mpirun, together])]
        equal(answers[1], answers[0], f"{steps}: three ranks")
