# SPDX-License-Identifier: MIT
"""A process that waits in a call: its time goes on, and the call is in the first line of what commands say."""

import fcntl
import json
import os
import pathlib
import subprocess

from tracing import SECONDS, compile_program, dftmerge, environment, equal, tracing, true

LOCKS = {"flock": fcntl.flock, "fcntl": fcntl.lockf}
CALLS = ("open", "read", *LOCKS)


def may_trace():
    """May dftmerge ask what another process of this user waits for?"""
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    return os.geteuid() == 0 or not scope.exists() or scope.read_text(encoding="ascii").strip() == "0"


class Waits:
    def __init__(self, directory, what, **settings):
        directory = directory / f"{what}{len(settings)}"
        directory.mkdir()
        self.place, self.file, self.call = directory / "traces", directory / "file", what
        if what not in LOCKS:
            os.mkfifo(self.file)
        self.lock = os.open(self.file, os.O_RDWR | os.O_CREAT) if what in LOCKS else -1
        if what in LOCKS:
            LOCKS[what](self.lock, fcntl.LOCK_EX)
        program = compile_program("waits.c", directory / "waits")
        self.process = subprocess.Popen([program, what, self.file], cwd=directory, env=tracing(self.place / "t", **settings))
        self.name = str(self.file) if what != "open" or may_trace() else None

    def __enter__(self):
        while True:
            true(self.process.poll() is None, "the program has not ended")
            flights = self.answer("ps")["processes"][0]["in_flight"] if list(self.place.glob("*.live")) else []
            if [f["name"] for f in flights] == [self.call] and (not self.name or "file" in flights[0]):
                return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(SECONDS)
        if self.lock >= 0:
            os.close(self.lock)

    def answer(self, command, *options):
        return json.loads(dftmerge(command, "--json", *options, self.place).out)

    def line(self, command, *options):
        """The text, which begins with the first line, however that is wrapped."""
        return " ".join(dftmerge(command, *options, self.place).out.decode().split())


def test_of_a_running_process(directory):
    rules = directory / "rules"
    rules.write_text("in-flight.time = 1 ns\n")
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        for what in CALLS:
            with Waits(directory, what, **settings) as it:
                first, ps, second = it.answer("summary"), it.answer("ps"), it.answer("summary")
                where = f"{what} {settings}"
                flight, = second["in_flight"]
                equal((flight["pid"], flight["name"]), (it.process.pid, it.call), where)
                if it.name:
                    equal(flight["file"], it.name, f"{where}: file")
                true(0 < first["in_flight"][0]["for_ns"] < flight["for_ns"], f"{where}: it goes on")
                true(first["wall_ns"] < second["wall_ns"], f"{where}: so does the process")
                equal(second["wall_ns"] - flight["for_ns"], flight["ts"] - second["start_ns"], f"{where}: until now")
                process, = ps["processes"]
                true(first["start_ns"] + first["wall_ns"] <= process["end_ns"] <= second["start_ns"] + second["wall_ns"], f"{where}: ps")
                begin = f"in flight now: {it.call}{' of ' + it.name if it.name else ''} for "
                for options in (("summary",), ("summary", "--by", "call"), ("findings",)):
                    true(it.line(*options).startswith(begin), f"{where}: {options}: {it.line(*options)}")
                found = it.answer("findings", "--rules", rules)
                equal((found["findings"][0]["code"], found["in_flight"][0]["name"]), ("in-flight", it.call), where)
                true("nothing wrong" not in dftmerge("findings", "--rules", rules, it.place).out.decode(), where)


def test_of_a_lock(directory):
    """Commands say who holds it."""
    for what in LOCKS:
        with Waits(directory, what) as it:
            flight, holder = f"in flight now: {what} of {it.file} for ", f"held by process {os.getpid()} ("
            first = dftmerge("summary", it.place, env=environment(COLUMNS=1000)).out.decode().splitlines()[0]
            true(first.startswith(flight) and holder in first, first)
            said = dftmerge("ps", it.place, env=environment(COLUMNS=1000)).out.decode()
            true(holder in said and f"{what} of {it.file} for " in said, said)
            true(it.line("ranks").startswith(f"in flight now: {what} of {it.file} for "), it.line("ranks"))
            for command in ("ranks", "timeline", "overlap"):
                done = dftmerge(command, it.place, env=environment(COLUMNS=1000))
                true(f"in flight now: {what} of" in (done.out + done.err).decode(), f"{command}: {done.out + done.err}")


def test_is_not_compute(directory):
    """Events and rows agree: until a call began its process computed, and it waits since. Rows know that by 64ths of their interval:
    when the process began, and when the call did, can be one off each, in both intervals where the time goes into a second one."""
    slot_ns = 128 * 10**6 // 64
    for settings, slack_ns in (({}, 0), ({"ENABLE_AGGREGATION": 1, "TRACE_INTERVAL_MS": 128}, 4 * slot_ns)):
        for what in CALLS:
            with Waits(directory, what, **settings) as it:
                for_ns = 0
                while for_ns < 8 * slot_ns:
                    flight, = it.answer("summary")["in_flight"]
                    for_ns = flight["for_ns"]
                overlap = it.answer("overlap")
                process, = overlap["processes"]
                where = f"{what} {settings}: {flight} {process}"
                equal(overlap["exact"], not slack_ns, where)
                true(process["idle_ns"] >= for_ns - slack_ns, f"{where}: it waits")
                true(process["compute_ns"] <= process["wall_ns"] - for_ns + slack_ns, f"{where}: it does not compute")


def test_of_a_killed_process(directory):
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        for what in CALLS:
            with Waits(directory, what, **settings) as it:
                running = it.answer("summary")
                it.process.kill()
                it.process.wait(SECONDS)
                killed, where = it.answer("summary"), f"{what} {settings}"
                flight, = killed["in_flight"]
                equal((flight["name"], flight["for_ns"]), (it.call, None), where)
                equal(killed["start_ns"] + killed["wall_ns"], flight["ts"], f"{where}: the last sign of life")
                equal(flight["ts"], running["in_flight"][0]["ts"], where)
                for command in ("summary", "findings"):
                    true(it.line(command).startswith(f"in flight when it was killed: {it.call}"), f"{where}: {it.line(command)}")
                found = it.answer("findings")["findings"][0]
                equal(found["code"], "in-flight", where)
                true("--stacks" not in found["advice"], f"{where}: nobody is there any more: {found['advice']}")
                true("nothing wrong" not in dftmerge("findings", it.place).out.decode(), where)


def test_waits_for_children_are_none(directory):
    """A shell waits for its command: that command's call is told, and with a filter only that of processes that pass."""
    fifo, place, rules = directory / "fifo", directory / "traces", directory / "rules"
    rules.write_text("in-flight.time = 1 ns\n")
    os.mkfifo(fifo)
    program = compile_program("waits.c", directory / "waits")
    with subprocess.Popen(["sh", "-c", f"'{program}' read '{fifo}'; true"], cwd=directory, env=tracing(place / "t")) as shell:
        flights = {}
        while len(flights) < 2:
            equal(shell.poll(), None, "the shell has not ended")
            said = json.loads(dftmerge("ps", "--json", place).out)["processes"] if list(place.glob("*.live")) else []
            flights = {p["pid"]: f["name"] for p in said for f in p["in_flight"] if f["cat"] == "PROCESS" or f["name"] == "read"}
        try:
            child, = flights.keys() - {shell.pid}
            text = dftmerge("ranks", place).out.decode()  # what goes on has not ended, and may be slow
            true(text.startswith("in flight now: read of ") and "none slowed down" not in text, text)
            true("\nend       2 processes still run\n" in text and "\nlate " not in text, text)
            for filters, expected in (((), [child]), (("--pid", child), [child]), (("--pid", shell.pid), []),
                                      (("--file", fifo), [child]), (("--file", "/nothing/*"), []), (("--to", "1ns"), [])):
                for command in ("findings", "summary"):
                    rule = ("--rules", rules) if command == "findings" else ()
                    where, done = f"{command} {filters}", dftmerge(command, "--json", *rule, *filters, place)
                    true(done.out, f"{where}: {done.err.decode()}")
                    said = json.loads(done.out)
                    equal([f["pid"] for f in said["in_flight"]], expected, where)
                    if rule:
                        equal(["in-flight"] * len(expected), [f["code"] for f in said["findings"] if f["code"] == "in-flight"], where)
                    text = dftmerge(command, *rule, *filters, place).out.decode()
                    equal("in flight now" in text, bool(expected), f"{where}: {text}")
        finally:
            with open(fifo, "r+b", buffering=0) as pipe:
                pipe.write(b"x")
    equal(shell.returncode, 0, "exit code")
