# SPDX-License-Identifier: MIT
"""What was not recorded in pauses is told as a share of the time: in both modes, over exec, fork and kill."""

import json
import signal

from steady import Steady
from tracing import ROOT, compile_program, dftmerge, equal, run, tracing, true

SLEEP = 50_000_000  # ns of "sleep": at least
MODES = ({}, {"ENABLE_AGGREGATION": 1})


def traced(directory, *words, name="traces", expect=0, **settings):
    program = directory / "pauses"
    if not program.exists():
        compile_program("pauses.c", program, f"-I{ROOT / 'include'}")
        (directory / "file").write_bytes(b"x")
    place = directory / name
    equal(run([program, directory / "file", *words], env=tracing(place / "t", **settings)).code, expect, f"{words}: exit code")
    return place


def answer(command, *places, code=0):
    done = dftmerge(command, "--json", *places)
    equal(done.code, code, f"{command}: {done.err.decode()}")
    return json.loads(done.out)


def reads(summary):
    return sum(g["count"] for g in summary["groups"] if g["name"] == "read")


def share_is_told(place, check=True):
    """No command calls a run good without naming the share."""
    summary, findings = (dftmerge(command, place).out.decode() for command in ("summary", "findings"))
    text = " ".join(summary.split())
    true(text.count("not recorded: ") >= 2, f"head and footer name it: {summary}")
    true("nothing lost" not in text and "nothing wrong" not in text, summary)
    true("not recorded: " in findings and "nothing wrong" not in findings and "lost 0" not in findings, findings)
    true("lost" in [f["code"] for f in answer("findings", place)["findings"]], "a finding")
    for command in ("ranks", "overlap", "layers"):
        done = dftmerge(command, place)
        true(b"not recorded: " in done.out + done.err, f"{command}: {done}")
        notes = json.loads(dftmerge(command, "--json", place).out)["notes"]
        equal(sum(note.startswith("not recorded: ") for note in notes), 1, f"{command}: {notes}")
    said, notes = dftmerge("compare", place, place).out.decode(), answer("compare", place, place)["notes"]
    equal(" ".join(said.split()).count("not recorded: "), 2, said)
    equal(sorted(note[:17] for note in notes if "not recorded" in note), ["A: not recorded: ", "B: not recorded: "], notes)
    if check:
        said = dftmerge("check", place).out.decode()
        true("all good, but not recorded: " in said, said)
        equal(answer("check", place)["nothing_kept_ns"], answer("summary", place)["kept_ns"]["nothing"], "check and summary")


def test_of_the_process_and_of_a_thread(directory):
    for number, mode in enumerate(MODES):
        for who in ((), ("thread",)):
            place = traced(directory, *who, "reads", "pause", "reads", "sleep", "resume", "reads", name=f"{number}{len(who)}", **mode)
            summary = answer("summary", place)
            equal((summary["pauses"], reads(summary)), ({"control": 0, "program": 1}, 20), f"{mode} {who}")
            kept = summary["kept_ns"]
            true(SLEEP <= kept["nothing"] < sum(kept.values()) == summary["wall_ns"], f"{mode} {who}: {kept}")
            true(kept["aggregates" if mode else "events"] == sum(kept.values()) - kept["nothing"], f"{mode} {who}: {kept}")
            share_is_told(place)


def test_without_a_pause_nothing_is_said(directory):
    place = traced(directory, "reads")
    summary = answer("summary", place)
    equal((summary["pauses"], summary["kept_ns"]["nothing"]), ({"control": 0, "program": 0}, 0), "no pause")
    for command in ("summary", "findings", "check", "ranks", "overlap", "layers"):
        done = dftmerge(command, place)
        true(b"not recorded" not in done.out + done.err, command)
    true(b"not recorded" not in dftmerge("compare", place, place).out, "compare")


def test_nested_ones_are_one(directory):
    place = traced(directory, "reads", "pause", "pause", "sleep", "resume", "sleep", "reads", "resume", "reads")
    summary = answer("summary", place)
    equal((summary["pauses"]["program"], reads(summary)), (1, 20), "one pause")
    true(summary["kept_ns"]["nothing"] >= 2 * SLEEP, summary["kept_ns"])


def test_never_resumed(directory):
    place = traced(directory, "reads", "pause", "sleep", "reads")
    process, = answer("ps", place)["processes"]
    last = process["kept"][-1]
    equal((last["keep"], last["why"], last["to_ns"]), ("nothing", "program", process["end_ns"]), "until the end")
    kept = json.loads((ROOT / "docs" / "schema" / "ps.json").read_text())["properties"]["processes"]["items"]["properties"]["kept"]
    true(last["why"] in kept["items"]["properties"]["why"]["enum"], "the schema knows why")
    share_is_told(place)


def test_of_a_killed_process(directory):
    """Its last sign of life is in the live file; `check --recover` keeps what that tells."""
    for number, mode in enumerate(MODES):
        for who in ((), ("thread",)):
            place = traced(directory, *who, "reads", "pause", "sleep", "reads", "kill", name=f"{number}{len(who)}",
                           expect=-signal.SIGKILL, **mode)
            before = answer("summary", place)
            true(SLEEP <= before["kept_ns"]["nothing"] < before["wall_ns"], f"{mode} {who}: {before['kept_ns']}")
            share_is_told(place, check=False)
            equal(dftmerge("check", "--recover", "--quiet", place).code, 1, "recovered")
            equal(list(place.glob("*.live")), [], "the live file is gone")
            after = answer("summary", place)
            equal([after[k] for k in ("kept_ns", "pauses", "wall_ns")], [before[k] for k in ("kept_ns", "pauses", "wall_ns")], f"{mode} {who}")


def test_killed_at_once(directory):
    """A pause without a sign of life behind its begin: it is named, and its length is not known."""
    for number, mode in enumerate(MODES):
        for who in ((), ("thread",)):
            where = f"{mode} {who}"
            place = traced(directory, *who, "reads", "pause", "kill", name=f"{number}{len(who)}", expect=-signal.SIGKILL, **mode)
            before = answer("summary", place)
            equal(before["pauses"], {"control": 0, "program": 1}, where)
            for recovered in (False, True):
                text = " ".join(dftmerge("summary", place).out.decode().split())
                true("not recorded: at least " in text, f"{where}: {text}")
                true(who or "until it was killed; for how long is not known" in text, f"{where}: {text}")
                share_is_told(place, check=recovered)
                if not recovered:
                    equal(dftmerge("check", "--recover", "--quiet", place).code, 1, f"{where}: recovered")
            after = answer("summary", place)
            equal([after[k] for k in ("kept_ns", "pauses", "wall_ns")], [before[k] for k in ("kept_ns", "pauses", "wall_ns")], where)
            process, = answer("ps", place)["processes"]
            true(who or process["kept"][-1]["keep"] == "nothing", f"{where}: {process['kept']}")


def test_many(directory):
    """More than the record takes, of a process that ends and of one that is killed."""
    for end, code in (((), 0), (("kill",), -signal.SIGKILL)):
        place = traced(directory, "many=1200", *end, name=f"end{code}", expect=code)
        summary = answer("summary", place)
        equal((summary["pauses"]["program"], reads(summary)), (1200, 1200), f"{end}")
        true(1200 * 1_000_000 <= summary["kept_ns"]["nothing"] < summary["wall_ns"], f"{end}: {summary['kept_ns']}")


def test_over_exec_and_fork(directory):
    place = traced(directory, "reads", "pause", "sleep", "exec", "reads")
    summary, said = answer("summary", place), answer("ps", place)["processes"]
    equal([[k["keep"] for k in p["kept"]] for p in sorted(said, key=lambda p: p["start_ns"])], [["events", "nothing"], ["events"]],
          "the next image is not paused")
    equal(reads(summary), 20, "reads")
    place = traced(directory, "reads", "pause", "fork", "sleep", "reads", "resume", "reads", name="fork")
    parent, child = sorted(answer("ps", place)["processes"], key=lambda p: p["start_ns"])
    equal([k["keep"] for k in parent["kept"]], ["events", "nothing"], "the parent")
    equal([(k["keep"], k["why"]) for k in child["kept"]], [("nothing", "program"), ("events", "settings")], "a forked child goes on with it")
    place = traced(directory, "thread", "reads", "pause", "fork", "sleep", "reads", "resume", "reads", name="thread")
    true(answer("summary", place)["kept_ns"]["nothing"] >= 2 * SLEEP, "a child goes on with a pause of the thread that forked")


def test_by_control(directory):
    for number, mode in enumerate(MODES):
        with Steady(directory, f"s{number}", place=f"traces{number}", **mode) as program:
            program.do("r 10")
            dftmerge("control", "--wait", "0", program.process.pid, "pause")
            program.do("m 1")
            program.do("r 5000")
            said = answer("summary", program.place)
            equal(said["pauses"], {"control": 1, "program": 0}, f"{mode}: while it goes on")
            program.do("b 20")
            true(answer("summary", program.place)["kept_ns"]["nothing"] > said["kept_ns"]["nothing"] > 0, f"{mode}: it grows with the time")
            dftmerge("control", "--wait", "0", program.process.pid, "resume")
            program.do("m 1")
            program.do("r 7")
            equal(program.end(), 0, "exit code")
        equal(answer("summary", program.place)["pauses"], {"control": 1, "program": 0}, f"{mode}: at the end")
        true("by dftmerge control)" in " ".join(dftmerge("summary", program.place).out.decode().split()), "who asked")
        share_is_told(program.place)
