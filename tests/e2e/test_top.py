# SPDX-License-Identifier: MIT
"""dftmerge top: exact totals of running programs, what it does at a terminal, and what it says where nothing can be seen."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import termios
import time

from steady import Steady
from tracing import DFTMERGE, SECONDS, dftmerge, environment, equal, run, tracing, true

UP, DOWN, RIGHT, LEFT = b"\033[A", b"\033[B", b"\033[C", b"\033[D"


def once(*arguments, by="call", expect=0):
    done = dftmerge("top", "--once", "--json", "--by", by, *map(str, arguments))
    equal(done.code, expect, f"exit code: {done.err.decode()}")
    return json.loads(done.out)


def calls(answer):
    return {g["name"]: g["calls"] for g in answer["groups"]}


# --- once ---------------------------------------------------------------------------------------


def test_totals_of_a_program_at_rest(directory):
    """Whether they are in the ring, in blocks without rows, or in rows."""
    with Steady(directory) as program:
        done = {"pread64": 0, "pwrite64": 1, "stat": 0}
        for reads, writes, stats in ((1, 0, 0), (100, 50, 3), (5000, 1, 0), (70000, 0, 10), (1, 1, 1)):
            for what, count in (("r", reads), ("w", writes), ("m", stats)):
                program.do(f"{what} {count}")
            for where in (program.place, program.process.pid):
                answer = once(where)
                found = calls(answer)
                done_now = {"pread": done["pread64"] + reads, "pwrite": done["pwrite64"] + writes, "stat": done["stat"] + stats}
                equal({name: found.get(name, 0) for name in done_now}, done_now, f"calls of {where}")
            done = {"pread64": done["pread64"] + reads, "pwrite64": done["pwrite64"] + writes, "stat": done["stat"] + stats}
        total = answer["total"]
        equal(total["read_bytes"], 100 * done["pread64"], "bytes read")
        equal(total["written_bytes"], 10 * (done["pwrite64"] - 1) + 1, "bytes written")
        equal(total["errors"], done["stat"], "errors")
        equal(total["calls"], 1 + sum(done.values()), "calls")
        process, = answer["processes"]
        equal((process["pid"], process["state"], process["dropped"]), (program.process.pid, "running", 0), "the process")
        true(str(program.file) in process["command"], process["command"])
        for by in ("file", "rank", "process", "class"):
            grouped = once(program.place, by=by)
            equal(grouped["total"], total, f"by {by}: the total")
            equal(sum(g["calls"] for g in grouped["groups"]), total["calls"], f"by {by}: calls")
        by_file = {g["file"]: g["calls"] for g in once(program.place, by="file")["groups"]}
        equal(by_file, {str(program.file): 1 + done["pread64"] + done["pwrite64"], "/no/such": done["stat"]}, "by file")
        by_class = {g["class"]: g["calls"] for g in once(program.place, by="class")["groups"]}
        equal(by_class, {"read": done["pread64"], "write": done["pwrite64"], "meta": 1 + done["stat"]}, "by class")
        equal(program.end(), 0, "exit code")
        after = once(program.place)
        equal((after["total"]["calls"], after["processes"][0]["state"]), (total["calls"], "ended"), "after its end")


def test_a_process_that_is_killed(directory):
    with Steady(directory) as program:
        program.do("r 30000")
        before = once(program.place)
        equal(program.end("x"), -signal.SIGKILL, "exit code")
        after = once(program.place)
        equal(after["groups"], before["groups"], "what it had done")
        equal((after["processes"][0]["state"], after["in_flight"]), ("killed", []), "its end")
        said = dftmerge("top", "--once", program.place).out.decode()
        true("0 running, 0 ended, 1 killed" in said, said)


def test_columns_of_large_numbers(directory):
    """They stay apart: a column is as wide as its numbers."""
    with Steady(directory) as program:
        program.do("m 1000000")
        program.do("r 10")
        lines = dftmerge("top", "--once", program.place).out.decode().split("\n\n")[1].splitlines()
        equal([len(line.split()) for line in lines if "stat" in line], [2 + 7 + 1], lines)  # two words, "480 ms", six numbers
        true(any(line.endswith(" 1,000,000") for line in lines), lines)
        equal(program.end(), 0, "exit code")


def test_images_that_exec(directory):
    """Who execs has not ended."""
    place = directory / "traces"
    equal(run(["sh", "-c", "cat /etc/passwd; exec cat /etc/hostname"], env=tracing(place / "t")).code, 0, "exit code")
    said = dftmerge("top", "--once", place).out.decode()
    ended = [p["ended"] for p in json.loads(dftmerge("ps", "--json", place).out)["processes"]]
    execs = ended.count("exec")
    true(execs and f" 0 running, {len(ended) - execs} ended, {execs} exec\n" in said, f"{said}: {ended}")


def test_many_processes_and_their_directory(directory):
    """Also those whose live files lie elsewhere, and those in folders below."""
    elsewhere = directory / "elsewhere"
    elsewhere.mkdir()
    with Steady(directory, "a") as a, Steady(directory, "b", RANK=3) as b, \
            Steady(directory, "c", place="traces/below", LIVE_DIR=elsewhere) as c:
        for program, count in ((a, 10), (b, 200), (c, 3000)):
            program.do(f"r {count}")
        answer = once(a.place)
        equal(calls(answer)["pread"], 3210, "reads of all")
        by_rank = {g["rank"]: g["calls"] for g in once(a.place, by="rank")["groups"]}
        equal(by_rank, {3: 202, None: 3014}, "by rank")
        equal(calls(once(c.process.pid))["pread"], 3000, "by process id, its live file elsewhere")
        equal(calls(once(a.process.pid, b.process.pid))["pread"], 210, "two processes")
        equal(calls(once(next(a.place.glob("a-*.dft.live"))))["pread"], 10, "by live file")
        equal(calls(once(next(a.place.glob("b-*.dft"))))["pread"], 200, "by trace")
        equal(calls(once(a.place, a.place, next(a.place.glob("a-*.dft"))))["pread"], 3210, "named twice")


def test_what_is_in_flight(directory):
    fifo = directory / "fifo"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDWR)
    with Steady(directory, arguments=[fifo]) as program:
        program.do("r 1")
        program.start("h")
        until = time.monotonic() + SECONDS
        flights = []
        while not (flights and flights[0]["stuck"]):
            true(time.monotonic() < until, "the read is in flight for a second")
            time.sleep(0.05)
            flights = once(program.place)["in_flight"]
        flight, = flights
        equal((flight["name"], flight["file"], flight["pid"], flight["tid"]),
              ("read", str(fifo), program.process.pid, program.process.pid), "the flight")
        true(flight["age_ns"] >= 10**9, str(flight))
        said = dftmerge("top", "--once", program.place).out.decode()
        true(re.search(rf"process {program.process.pid}: [0-9.]+ s in read of {re.escape(str(fifo))}", said), said)
        with Terminal(directory, program.place) as terminal:
            terminal.until("in read of")
            true("\033[31m" in terminal.frame, "red")
            terminal.press(b"t")
            terminal.until(r"#0 |no stack")
        with Terminal(directory, program.place, NO_COLOR="1") as terminal:
            terminal.until("in read of")
            true("\033[31m" not in terminal.frame and "\033[1m" in terminal.frame, "bold without colour")
        os.write(end, b"x")
        equal(program.process.stdout.read(1), b".", "it goes on")
    os.close(end)


def test_what_cannot_be_seen(directory):
    place = directory / "empty"
    place.mkdir()
    done = dftmerge("top", "--once", place)
    true(done.code == 1 and b"no traced process. Start one with 'dftrun -o" in done.err, done.err.decode())
    done = dftmerge("top", "--once", directory / "nowhere")
    true(done.code == 1 and b"nowhere: No such file or directory" in done.err, done.err.decode())
    done = dftmerge("top", "--once", os.getpid())
    true(done.code == 1 and b"has no live file" in done.err, done.err.decode())
    for wrong, said in ((["--by", "calls"], b"no such grouping. Did you mean call?\nThere are call, file, rank"), (["--sort", "call"], b"no such column"),
                        (["--interval", "0"], b"give seconds"), (["--json"], b"--json goes with --once"), ([], b"of what?")):
        done = dftmerge("top", *wrong, *([place] if wrong else []))
        true(done.code == 2 and said in done.err, done.err.decode())


def test_live_files_that_cannot_be_read(directory):
    with Steady(directory, "a") as a, Steady(directory, "b") as b:
        a.do("r 10")
        b.do("r 20")
        a_live, = a.place.glob("a-*.dft.live")
        data = bytearray(a_live.read_bytes())
        other = directory / "other"
        other.mkdir()
        data[8:12] = struct.pack("<I", 3)
        (other / "x.dft.live").write_bytes(data)
        done = dftmerge("top", "--once", other)
        true(done.code == 1 and b"written by another version: use the dftmerge of that version on it" in done.err, done.err.decode())
        (a.place / "x.dft.live").write_bytes(data)
        done = dftmerge("top", "--once", "--json", a.place)
        equal((done.code, calls(json.loads(done.out))["pread"]), (1, 30), "the others are counted")
        (a.place / "x.dft.live").write_bytes(bytes(100000))
        equal(calls(once(a.place))["pread"], 30, "one that was just made")
        (a.place / "x.dft.live").unlink()
        if os.geteuid() == 0:
            return  # root reads everything
        a_live.chmod(0)
        done = dftmerge("top", "--once", a.place)
        true(done.code == 1 and b"Permission denied" in done.err, done.err.decode())


def test_frames_without_a_terminal(directory):
    with Steady(directory) as program:
        program.do("r 10")
        equal(run([DFTMERGE, "top", program.place]).out.count(b"since start"), 1, "as --once")
        program.end()
        out = run([DFTMERGE, "top", "--interval", "0.1", program.place]).out
        equal(out.count(b"since start"), 1, "no process runs: one frame")


# --- at a terminal ------------------------------------------------------------------------------


class Terminal:
    """dftmerge top at a terminal of its own."""

    def __init__(self, directory, *arguments, size=(30, 120), **variables):
        self.bytes = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(directory)
            self.become_job(directory)
            os.execve(DFTMERGE, ["dftmerge", "top", *map(str, arguments)],
                      environment(TERM="xterm", LC_ALL="C.UTF-8", **variables))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.status = None
        until = time.monotonic() + SECONDS
        while not (directory / "pid").exists() or not (directory / "pid").read_text().endswith("\n"):
            true(time.monotonic() < until, "it starts")
        self.job = int((directory / "pid").read_text())
        (directory / "pid").unlink()

    @staticmethod
    def become_job(directory):
        """As a shell starts it: in a group of its own, in the foreground, so that it can be stopped."""
        pid = os.fork()
        if pid:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            (directory / "pid").write_text(f"{pid}\n")
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os._exit(code if code >= 0 else 128 - code)
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.job, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    @property
    def frame(self):
        """The last whole frame."""
        frames = self.bytes.split(b"\033[H")
        return next((f for f in reversed(frames[1:]) if b"\033[J" in f), b"").decode()

    @property
    def lines(self):
        return [re.sub(r"\033\[[0-9?;]*[A-Za-z]", "", line) for line in self.frame.replace("\r", "").split("\n")]

    def read(self):
        if select.select([self.fd], [], [], 0.05)[0]:
            try:
                self.bytes += os.read(self.fd, 1 << 16)
            except OSError:  # its end was closed
                time.sleep(0.01)

    def until(self, pattern):
        end = time.monotonic() + 60
        while not re.search(pattern, self.frame):
            true(time.monotonic() < end, f"{pattern} is not in\n{self.frame}")
            self.read()

    def press(self, keys):
        """Only frames that are made from now on count."""
        self.bytes = b""
        os.write(self.fd, keys)

    def settings(self):
        return termios.tcgetattr(self.fd)

    def end(self, what):
        if isinstance(what, bytes):
            os.write(self.fd, what)
        else:
            os.kill(self.job, what)
        end = time.monotonic() + 60
        while not self.status:
            true(time.monotonic() < end, "it ends")
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = (status,) if pid else None
        for _ in range(3):
            self.read()
        true(self.bytes.endswith(b"\033[?25h\033[?1049l"), f"the screen is as before: {self.bytes[-30:]}")
        true(self.settings()[3] & (termios.ICANON | termios.ECHO) == termios.ICANON | termios.ECHO, "and so are its modes")
        return os.waitstatus_to_exitcode(self.status[0])


def test_keys(directory):
    with Steady(directory) as program:
        program.do("r 1000")
        program.do("m 5")
        with Terminal(directory, "--interval", "0.1", program.place) as terminal:
            terminal.until(r"POSIX pread +1,000")
            true("*TIME" in terminal.frame and not terminal.settings()[3] & termios.ECHO, "sorted by time")
            for key, wanted in ((b"f", "\nFILE|FILE "), (b"f", "RANK "), (b"k", "FILE "), (b"k", "CALL "), (b"k", "CLASS "), (b"f", "CALL "),
                                (b"s", r"\*BUSY"), (LEFT, r"\*TIME"), (LEFT, r"\*CALLS/s"), (RIGHT, r"\*TIME"), (b"?", "this help"),
                                (b" ", "POSIX stat"), (b"p", r"\[paused\]")):
                terminal.press(key)
                terminal.until(wanted)
            program.do("r 7")
            terminal.press(DOWN)
            terminal.until(r"POSIX pread +1,000")
            terminal.press(b"p")
            terminal.until(r"POSIX pread +1,007")
            terminal.press(b"/STAT\r")
            terminal.until(r"filter: STAT")
            true("POSIX stat" in terminal.frame and "pread" not in terminal.frame, terminal.frame)
            terminal.press(b"\033")
            terminal.until("pread")
            equal(terminal.end(b"q"), 0, "exit code")


def test_processes_come_and_go(directory):
    with Steady(directory, "a") as a:
        a.do("r 10")
        with Terminal(directory, "--interval", "0.1", "--by", "process", a.place) as terminal:
            terminal.until("1 running, 0 ended")
            with Steady(directory, "b") as b:
                b.do("r 5000")
                terminal.until("2 running, 0 ended")
                terminal.until(rf"{b.process.pid} .*5,002 ")
                equal(b.end(), 0, "exit code")
                terminal.until("1 running, 1 ended")
                terminal.until(rf"{b.process.pid} .*5,002 ")
            a.end("x")
            terminal.until("0 running, 1 ended, 1 killed")
            equal(terminal.end(b"q"), 0, "exit code")


def test_resize(directory):
    with Steady(directory) as program:
        for i in range(3):
            program.do("r 10")
        with Terminal(directory, "--interval", "0.2", program.place, size=(30, 160)) as terminal:
            terminal.until("CALL ")
            for rows, columns in ((30, 160), (12, 80), (5, 40), (40, 200)):
                fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                terminal.bytes = b""
                terminal.until("since start")
                terminal.bytes = b""
                terminal.until("since start")
                true(len(terminal.lines) <= rows, f"{rows} rows: {terminal.frame}")
                true(columns < 80 or max(map(len, terminal.lines)) <= columns, f"{columns} columns: {terminal.frame}")
            equal(terminal.end(b"q"), 0, "exit code")


def test_signals_give_the_terminal_back(directory):
    with Steady(directory) as program:
        program.do("r 10")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with Terminal(directory, program.place) as terminal:
                terminal.until("POSIX pread")
                equal(terminal.end(number), 128 + number, f"signal {number}")
        with Terminal(directory, program.place) as terminal:
            terminal.until("POSIX pread")
            equal(terminal.end(b"\003"), 128 + signal.SIGINT, "Ctrl-C")


def test_stopped_and_continued(directory):
    with Steady(directory) as program:
        program.do("r 10")
        with Terminal(directory, "--interval", "0.1", program.place) as terminal:
            terminal.until("POSIX pread")
            before = terminal.settings()[3]
            terminal.press(b"\032")  # Ctrl-Z
            end = time.monotonic() + SECONDS
            while pathlib.Path(f"/proc/{terminal.job}/stat").read_text().rpartition(")")[2].split()[0] != "T":
                true(time.monotonic() < end, "it stops")
                terminal.read()
            for _ in range(3):
                terminal.read()
            true(terminal.settings()[3] & termios.ECHO and terminal.bytes.endswith(b"\033[?1049l"), "the terminal is given back")
            terminal.bytes = b""
            os.kill(terminal.job, signal.SIGCONT)
            terminal.until("POSIX pread")
            equal(terminal.settings()[3], before, "taken again")
            equal(terminal.end(b"q"), 0, "exit code")


def test_before_the_job(directory):
    """A directory that is still empty: the screen says what to do, and shows the first process when it comes."""
    (directory / "traces").mkdir()
    with Terminal(directory, "--interval", "0.1", directory / "traces") as terminal:
        terminal.until("No traced process yet. Start one: dftrun")
        with Steady(directory) as program:
            program.do("r 77")
            terminal.until(r"POSIX pread +77 ")
        equal(terminal.end(b"q"), 0, "exit code")
