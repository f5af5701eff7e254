# SPDX-License-Identifier: MIT
"""dftmerge control: what a running process is told, what it does then, and who is not asked."""

import json
import os
import shutil
import struct

from steady import Steady
from tracing import dftmerge, dump, equal, true


def control(target, what, expect=0, wait=60):
    done = dftmerge("control", "--json", "--wait", str(wait), str(target), what)
    equal(done.code, expect, f"{what}: exit code: {done.err.decode()}")
    return [p["answer"] for p in json.loads(done.out)["processes"]], done.err.decode()


def asked(program, what, answer="done", expect=0):
    """Asks while the program rests; its next call does it."""
    equal(control(program.process.pid, what, wait=0)[0], ["no call yet"], f"{what} of a program at rest")
    program.do("m 1")
    equal(control_answer(program), answer, what)


def control_answer(program):
    """The answer to the last request, as it stands in the live file."""
    said = dftmerge("control", "--json", "--wait", "0", str(program.process.pid), "nonsense")
    equal(said.code, 2, "no such request")
    live, = program.place.glob("*.dft.live")
    data = live.read_bytes()[:4096]
    at = LIVE_CONTROL
    request, taken, answer = struct.unpack_from("<QQQ", data, at)
    equal((request >> 8, taken >> 8), (answer >> 8, answer >> 8), "the request was taken and answered")
    return {1: "done", 2: "already", 3: "not paused", 4: "limited", 5: "unknown"}[answer & 255]


def find_words(program):
    """By the inode of the trace, which stands just before them."""
    trace, = program.place.glob("*.dft")
    live, = program.place.glob("*.dft.live")
    st = trace.stat()
    place = live.read_bytes()[:4096].find(struct.pack("<QQ", st.st_dev, st.st_ino))
    true(place > 0, "the trace's inode stands in the live file")
    return place + 16


LIVE_CONTROL = 0


def count(place, name):
    return sum(e.get("calls", 1) for e in dump(place) if e["name"] == name and not e.get("open"))


def test_flush(directory):
    global LIVE_CONTROL
    with Steady(directory) as program:
        program.do("r 100")
        LIVE_CONTROL = find_words(program)
        trace, = program.place.glob("*.dft")
        before = trace.stat().st_size
        asked(program, "flush")
        true(trace.stat().st_size > before, "the trace has grown")
        live, = program.place.glob("*.dft.live")
        alone = directory / "alone"
        alone.mkdir()
        shutil.copy(trace, alone)
        equal(count(alone, "pread"), 100, "the trace alone has what was recorded")
        equal(program.end(), 0, "exit code")
        equal((count(program.place, "pread"), count(program.place, "stat")), (100, 1), "nothing is lost, nothing twice")


def test_pause_and_resume(directory):
    global LIVE_CONTROL
    with Steady(directory) as program:
        program.do("r 10")
        LIVE_CONTROL = find_words(program)
        equal(control(program.process.pid, "resume", wait=0)[0], ["no call yet"], "resume")
        program.do("m 1")
        equal(control_answer(program), "not paused", "resume without a pause")
        asked(program, "pause")
        program.do("r 5000")
        asked(program, "pause", "already")
        asked(program, "resume")
        program.do("r 7")
        equal(program.end(), 0, "exit code")
        equal(count(program.place, "pread"), 17, "reads but for those in the pause")


def test_a_busy_process_answers(directory):
    with Steady(directory) as program:
        program.do("r 1")
        program.start("r 100000000")
        for what in ("flush", "pause", "resume", "flush"):
            equal(control(program.process.pid, what)[0], ["done"], what)
        equal(control(program.place, "flush")[0], ["done"], "by the directory of its traces")
        said = dftmerge("control", "--wait", "60", str(program.process.pid), "pause").out.decode()
        true(f"process {program.process.pid} is paused: it keeps nothing until `dftmerge control {program.process.pid} resume`" in said, said)
        program.process.kill()


def test_nobody_is_asked(directory):
    with Steady(directory) as program:
        program.do("r 3")
        live, = program.place.glob("*.dft.live")
        before = live.read_bytes()[:4096]
        copies = directory / "copies"
        copies.mkdir()
        shutil.copy(live, copies / "copy.dft.live")
        (copies / "other.dft.live").write_bytes(before[:8] + struct.pack("<I", 3) + live.read_bytes()[12:])
        (copies / "short.dft.live").write_bytes(b"x" * 100)
        (copies / "zeros.dft.live").write_bytes(bytes(8192))
        os.symlink(live, copies / "link.dft.live")
        was = {p: p.read_bytes() for p in copies.glob("*")}
        for name, said in (("copy", "a copy of a live file"), ("other", "written by another version"), ("short", "not a live file"),
                           ("zeros", "not a live file"), ("link", "a symbolic link"), ("none", "there is no live file")):
            answers, err = control(copies / f"{name}.dft.live", "pause", expect=1)
            true(answers == ["not asked"] and said in err and "nothing is changed" in err, f"{name}: {err}")
        equal({p: p.read_bytes() for p in copies.glob("*")}, was, "these files")
        equal(live.read_bytes()[:4096], before, "the live file")
        if os.geteuid() == 0:
            os.chown(live, 12345, -1)
            answers, err = control(program.process.pid, "pause", expect=1)
            true(answers == ["not asked"] and "it is another user's: run dftmerge as that user" in err, err)
            equal(live.read_bytes()[:4096], before, "another user's live file")
        program.end("x")
        answers, err = control(live, "pause", expect=1)
        true(answers == ["not asked"] and ("its process has ended" in err or "another user" in err), err)
    done = dftmerge("control", str(program.process.pid), "pause")
    true(done.code == 1 and b"there is no process" in done.err, done.err.decode())
    done = dftmerge("control", directory / "nothing", "pause")
    true(done.code == 1, done.err.decode())
    for wrong in ([], ["1"], ["1", "stop"], ["1", "pause", "2"], ["--wait", "x", "1", "pause"]):
        equal(dftmerge("control", *wrong).code, 2, f"usage: {wrong}")
    true(b"control: extra: one word too many" in dftmerge("control", "1", "pause", "extra").err, "which word is wrong")


def test_all_processes_of_a_directory(directory):
    with Steady(directory, "a") as a, Steady(directory, "b") as b:
        for program in (a, b):
            program.do("r 2")
        equal(control(a.place, "pause", wait=0)[0], ["no call yet", "no call yet"], "both are asked")
        for program in (a, b):
            program.do("r 5")
            program.do("r 5")
            equal(program.end(), 0, "exit code")
        kept = count(a.place, "pread")
        true(4 <= kept <= 6, f"the call at which each learns it may be kept, no other: {kept}")


def test_a_process_that_keeps_aggregates_alone(directory):
    """Its calls go by no ring: it looks where it moves to the next part of an interval."""
    def reads():
        answer = json.loads(dftmerge("summary", "--json", program.place).out)
        return sum(g["count"] for g in answer["groups"] if g["name"] == "pread")

    with Steady(directory, ENABLE_AGGREGATION=1) as program:
        program.do("r 100")
        program.start("r 100000000")
        equal(control(program.process.pid, "flush")[0], ["done"], "flush")
        equal(control(program.process.pid, "pause")[0], ["done"], "pause")
        before = reads()
        equal(control(program.process.pid, "pause")[0], ["already"], "pause again")
        equal(reads(), before, "nothing is kept in a pause")
        equal(control(program.process.pid, "resume")[0], ["done"], "resume")
        equal(control(program.process.pid, "flush")[0], ["done"], "flush")
        true(reads() > before > 100, "it goes on")
        program.process.kill()
