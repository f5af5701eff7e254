# SPDX-License-Identifier: MIT
"""Findings under filters: they are about all calls of the processes, files and times that pass, and each sentence is
true of these. Where a filter leaves out what a kind of finding needs, it is not looked for, and that is said."""

import json
import pathlib
import re
import subprocess

from tracing import DFTMERGE, SECONDS, dftmerge, dump, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
OF_CALLS = (["--slower-than", "1us"], ["--errors"], ["--errno", "ENOENT"], ["--name", "fsync"], ["--cat", "POSIX"], ["--op", "sync"],
            ["--class", "sync"], ["--size", "1-4K"], ["--access", "random"], ["--region", "solve"])


def compiled(directory, name):
    need("gcc")
    program = directory / name
    if not program.exists():
        run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-I", HERE.parents[1] / "include", "-o", program,
                     HERE / "programs" / f"{name}.c", "-lpthread"])
    return program


def slow(directory, **settings):
    """The slow program, in some hundredths of a second."""
    program, work = compiled(directory, "slow"), directory / "work"
    work.mkdir()
    run_checked([program, work, "prepare"])
    run_checked([program, work, "run"], cwd=work, env=tracing(directory / "traces/t", DATA_DIR=work, **settings))
    return directory / "traces"


def findings(traces, *options):
    return json.loads(run_checked([DFTMERGE, "findings", "--json", *options, traces]).out)


def by_code(answer):
    return {finding["code"]: finding for finding in answer["findings"]}


def every(directory):
    """The answer with all that costs any time, and as sure as of what costs much."""
    rules = directory / "rules"
    rules.write_text("any.share = 0 %\nany.sure = 0 ms\n")
    return "--rules", rules


def test_single_calls(directory):
    """Findings would be about the calls that pass alone: none are made, and it is said why."""
    traces = slow(directory)
    codes = set(by_code(findings(traces)))
    true({"fsync", "missing"} & codes, codes)
    for options in OF_CALLS:
        done = dftmerge("findings", *options, traces)
        equal((done.code, done.out), (2, b""), f"findings {options}")
        equal(done.err.decode(), f"dftmerge: findings does not take {options[0]}: findings are about all calls of files, processes and "
              "times\ndftmerge findings: see `dftmerge findings --help`\n", "why")
        true(options[0] not in dftmerge("findings", "--help").out.decode().split(), f"the help names {options[0]}")
        done = run([DFTMERGE, "-q", *options, traces], env=environment(COLUMNS=200))
        if not done.out:  # nothing passes
            continue
        text = done.out.decode()
        equal(text.splitlines()[0], f"findings: not looked for: {options[0]} chooses single calls, and findings are about all (`dftmerge "
              "findings PATH` has them)", f"the page {options}")
        true("nothing wrong" not in text and "not a problem" not in text and not re.search(r"^1  ", text, re.M), text)
        page = json.loads(run_checked([DFTMERGE, "summary", "--all", "--json", *options, traces]).out)
        true(page["calls"] and not page["findings"] and codes <= set(page["findings_not_looked_for"]), page["findings_not_looked_for"])
        true(page["findings_why_not"].startswith(f"{options[0]} chooses single calls"), page["findings_why_not"])
    both = run_checked([DFTMERGE, "-q", "--errors", "--name", "*open*,*stat*", traces]).out.decode()
    true(both.startswith("findings: not looked for: --name --errors choose single calls"), both)


def test_files(directory):
    traces = slow(directory)
    rules = every(directory)
    whole, part = by_code(findings(traces, *rules)), findings(traces, *rules, "--dir", directory / "work/out")
    found = by_code(part)
    equal(found["fsync"]["evidence"], whole["fsync"]["evidence"], "a file is told as it is without the filter")
    true("missing" not in found and "one-byte" not in found, found)
    true("idle-gaps" in part["findings_not_looked_for"] and part["findings_why_not"] == "they are looked for without --dir", part)
    missing = by_code(findings(traces, *rules, "--file", "*.so"))["missing"]
    true("director" in missing["evidence"] and "exist" not in missing["evidence"] and "exist" in whole["missing"]["evidence"], missing)
    equal(missing["calls"], whole["missing"]["calls"], "all calls on these files")
    equal(missing["why_sure"], "none of these calls found its file", "what is known of other files is not said")


def test_files_of_aggregates(directory):
    """Rows of files know no calls, so there would be no fsync, and no failures."""
    traces = slow(directory, ENABLE_AGGREGATION=1)
    part = findings(traces, "--dir", directory / "work")
    true(not part["findings"] and "fsync" in part["findings_not_looked_for"] and "aggregates" in part["findings_why_not"], part)
    text = run_checked([DFTMERGE, "findings", "--dir", directory / "work", traces]).out.decode()
    true(text.startswith("findings: not looked for: aggregates do not say which call was on which file (record events)") and "nothing wrong" not in text, text)


def test_second_files_of_aggregates(directory):
    """Rows of files know the first path of a rename alone: how many there are is said."""
    need("sh", "mv")
    (directory / "a").write_text("1")
    for settings, said in (({}, False), ({"ENABLE_AGGREGATION": 1}, True)):
        traces = directory / f"traces{len(settings)}"
        run_checked(["sh", "-c", "mv a b && mv b a"], cwd=directory, env=tracing(traces / "t", **settings))
        answer = json.loads(run_checked([DFTMERGE, "summary", "--json", "--by", "file", "--file", directory / "b", traces]).out)
        true(any(note.startswith("2 renames and links were kept only as aggregates") for note in answer["notes"]) == said, answer["notes"])


def test_times(directory):
    """Shares are of the time in the window, and what was written before it is not denied."""
    traces = slow(directory)
    events = [e for e in dump(traces) if "phase" not in e and e["class"] != "none"]
    start = json.loads(run_checked([DFTMERGE, "summary", "--json", traces]).out)["start_ns"]
    syncs = sorted(e["ts"] for e in events if e["class"] == "sync")
    rules = every(directory)
    window = ["--from", f"{(syncs[0] - start) / 1e9:.9f}", "--to", f"{(syncs[250] - start) / 1e9:.9f}"]
    answer = findings(traces, *rules, *window)
    finding = by_code(answer)["fsync"]
    page = json.loads(run_checked([DFTMERGE, "summary", "--by", "class", "--json", *window, traces]).out)
    calls = next(g for g in page["groups"] if g["class"] == "sync")
    equal((finding["calls"], finding["cost_ns"]), (calls["count"], calls["time_ns"]), "calls of the window")
    true(abs(finding["of_ns"] - (syncs[250] - syncs[0])) < 2, f"the share is of the window: {finding}")
    equal({f["code"] for f in answer["findings"]} & {"one-byte", "missing", "reopened"}, set(), "what came later")
    one = ["--from", f"{(syncs[0] - start) / 1e9:.9f}", "--to", f"{(syncs[0] + 1000 - start) / 1e9:.9f}"]
    (directory / "rules").write_text("any.share = 0 %\nfsync.calls = 1\n")
    alone = by_code(findings(traces, *rules, *one))["fsync"]
    true("no write that was looked at is to it" in alone["evidence"], alone)
    true(alone["cost_ns"] <= alone["of_ns"], f"a call that ends behind the window: {alone}")
    true(all(f["cost_ns"] <= f["of_ns"] for f in answer["findings"]), answer)
    true("of the whole run" in f'{answer["findings_nothing"]}{answer["findings_notes"]}'.replace("the whole run:", "of the whole run"), answer)


def phases(directory, *of_ranks):
    program, processes = compiled(directory, "phases"), []
    for rank, list_of in enumerate(of_ranks):
        env = tracing(directory / "traces/t")
        env.update(OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE=str(len(of_ranks)), PMIX_NAMESPACE="job")
        processes.append(subprocess.Popen([program, directory / f"out{rank}", *list_of.split()], env=env))
    equal([process.wait(SECONDS) for process in processes], [0] * len(of_ranks), "exit codes")
    return directory / "traces"


def test_ranks_and_processes(directory):
    """A rank is not alone because others are left out, and nothing is idle because of that."""
    traces = phases(directory, "c300 w100 c100", "c300 w100 c100", "s500")
    rules = directory / "rules"
    rules.write_text("fsync = off\n")  # it has the time of that I/O
    for options in (["--rank", "0"], ["--rank", "0,2"]):
        answer = findings(traces, "--rules", rules, *options)
        true({"serial-phase", "idle-gaps", "aggregators", "contention"} <= set(answer["findings_not_looked_for"]), answer)
        equal(answer["findings_why_not"], "they are looked for without --rank", options)
        true("exposed-io" not in answer["findings_not_looked_for"] and "exposed-io" in by_code(answer), answer)
    pid = next(e["pid"] for e in dump(traces) if e["rank"] == 0)
    answer = findings(traces, "--pid", pid)
    true({"exposed-io", "trainer-waits", "serial-phase"} <= set(answer["findings_not_looked_for"]), answer)
    true(not by_code(answer).keys() & {"exposed-io", "trainer-waits", "serial-phase", "idle-gaps"}, answer)
    answer = findings(traces, "--program", "phases")  # leaves nothing out
    equal(answer["findings_not_looked_for"], findings(traces)["findings_not_looked_for"], "all pass")


def test_changes_by_others(directory):
    """What was not changed by one process may have been by others."""
    need("sh")
    (directory / "conf").write_text("1")
    program = directory / "read.sh"
    program.write_text("i=0; while [ $i -lt 60 ]; do read x < conf; i=$((i+1)); done; exec sh -c 'echo 2 > conf'\n")
    run_checked(["sh", program], cwd=directory, env=tracing(directory / "traces/t"))
    rules = every(directory)
    pids = [e["pid"] for e in dump(directory / "traces")]
    whole = by_code(findings(directory / "traces", *rules))["reopened"]
    true("60 opens" in whole["evidence"] and "never changed" not in whole["evidence"], whole)
    equal(len(set(pids)), 1, "exec keeps the process")
