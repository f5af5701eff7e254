# SPDX-License-Identifier: MIT
"""How processes ended, as commands say it: by exit status, by the signal that a parent waited for, stopped by their
parent, and which of the ranks died first. From events, and under dftrun from aggregates, too."""

import json
import os
import pathlib
import re
import signal
import sys
import time

import pytest

from quantities import close
from tracing import DFTMERGE, DFTRUN, SECONDS, dftmerge, environment, equal, need, run, run_checked, tracing, true

PYTHON = (sys.executable, "-S", "-E")
STOPS = ("SIGTERM", "SIGKILL")  # of a copy of its parent, which goes on
WORK = "import os, signal, sys, time\nopen('/etc/passwd', 'rb').read()\n"
DEATHS = {"os.abort()": "SIGABRT", "os.kill(os.getpid(), signal.SIGSEGV)": "SIGSEGV", "os.kill(os.getpid(), signal.SIGKILL)": "SIGKILL",
          "os.kill(os.getpid(), signal.SIGTERM)": "SIGTERM"}


def all_events(place):
    return tracing(place / "t", DATA_DIR="all")


def answer(command, place, *options):
    done = dftmerge(command, "--json", *options, place)
    true(done.out, f"{command}: {done.err.decode()}")
    return json.loads(done.out)


def first_line(command, place, *options):
    """The first sentence, however it is wrapped."""
    done = run([DFTMERGE, command, *options, place], env=environment(COLUMNS=1000))
    return done.out.decode().splitlines()[0]


def processes(place):
    return answer("ps", place)["processes"]


def ended(place):
    """Of summary, whose text is the first line of the page; report and ranks say the same."""
    own = answer("summary", place)["ended"]
    equal(answer("ranks", place)["ended"]["text"], own["text"], "ranks")
    line = first_line("summary", place)
    equal(line.startswith("ended badly: "), own["text"] is not None, f"{line}: {own}")
    true(not own["text"] or line == f"ended badly: {own['text']}", f"{line}: {own}")
    return own


def parent(body):
    """A parent that is traced, and its child, which is a copy of it."""
    child = f"    open('/etc/hostname', 'rb').read()\n    {body}\n    os._exit(0)\n"
    return (*PYTHON, "-c", f"{WORK}pid = os.fork()\nif pid == 0:\n{child}os.waitpid(pid, 0)\n")


def test_exit_status(directory):
    """That of the job's own process is its end; those of its children are answers to it."""
    for number, (body, text) in enumerate((("sys.exit(3)", "exit 3"), ("os._exit(4)", "exit 4"), ("sys.exit(0)", None),
                                           ("os.spawnlp(os.P_WAIT, 'sh', 'sh', '-c', 'cat /etc/hostname; exit 5')", None),
                                           ("os.execlp('sh', 'sh', '-c', 'cat /etc/hostname; cat /nosuch; exit 6')", "exit 6"))):
        place = directory / str(number)
        run([*PYTHON, "-c", WORK + body], env=all_events(place))
        equal(ended(place)["text"], text, body)
        if text:
            first = ended(place)["first"]
            equal((first["status"], first["signal"]), (int(text.split()[1]), None), body)


def test_signal_that_a_parent_waited_for(directory):
    for number, (body, name) in enumerate(DEATHS.items()):
        place = directory / str(number)
        equal(run(parent(body), env=all_events(place)).code, 0, body)
        by_pid = {p["ppid"]: p for p in processes(place)}
        child = next(p for p in processes(place) if p["ppid"] in {q["pid"] for q in by_pid.values()})
        equal((child["ended"], child["signal"], child["status"]), ("killed", name, getattr(signal, name)), body)
        true(child["waited_ns"] >= child["end_ns"], body)
        for columns in ({}, {"COLUMNS": 1000}):  # a long command drives no column away, in a pipe without COLUMNS
            said = run([DFTMERGE, "ps", place], env=environment(**columns)).out.decode()
            true(f" {name} " in said and "written" in said, f"{body}: {said}")
        equal(ended(place)["text"], None if name in STOPS else f"1 process by {name}", body)
        equal(ended(place)["stopped"], int(name in STOPS), body)


def test_raw_exit(directory):
    """The library does not see it, but the parent does."""
    need("gcc")
    place, source = directory / "traces", directory / "raw.c"
    source.write_text("#include <fcntl.h>\n#include <unistd.h>\nint main(void)\n{\n    char c;\n\n    read(open(\"/etc/passwd\", O_RDONLY), &c, 1);\n"
                      "    __asm__ volatile(\"syscall\" ::\"a\"(231), \"D\"(7));\n    return 0;\n}\n")
    run_checked(["gcc", "-w", "-o", directory / "raw", source])
    run(["sh", "-c", f"cat /etc/passwd; {directory}/raw; true"], env=all_events(place))
    process = next(p for p in processes(place) if p["exe"].endswith("/raw"))
    equal((process["ended"], process["status"], process["signal"]), ("_exit", 7, None), "it left")
    equal(ended(place)["text"], None, "and that is no accident")


def test_under_dftrun(directory):
    """dftrun writes what it has waited for, also where aggregates alone were kept."""
    for number, (options, (body, name)) in enumerate((o, d) for o in ((), ("--aggregate",)) for d in DEATHS.items()):
        place = directory / str(number)
        done = run([DFTRUN, "-o", place, "--no-summary", *options, "--", *PYTHON, "-c", WORK + body])
        true(done.code != 0, body)
        process, = processes(place)
        equal((process["ended"], process["signal"]), ("killed", name), f"{options} {body}")
        equal(ended(place)["text"], f"1 process by {name}", f"{options} {body}")
    place = directory / "status"
    equal(run([DFTRUN, "-o", place, "--no-summary", "--", *PYTHON, "-c", WORK + "sys.exit(3)"]).code, 3, "its exit code")
    equal(ended(place)["text"], "exit 3", "exit status")
    true(not list(place.glob("*-ended.dft")), "a process that says its end needs no second one")
    dead = directory / "0"
    before = ended(dead)
    equal(dftmerge("check", "--recover", dead).code, 1, "recover")
    equal(ended(dead)["text"], before["text"], "recovered")


def test_pipelines(directory):
    place = directory / "traces"
    run(["sh", "-c", "yes | head -1 > /dev/null; cat /etc/passwd > /dev/null"], env=all_events(place))
    equal(ended(place)["text"], None, "SIGPIPE")


POOL = "import multiprocessing, time\n" + WORK + """
def work(_):
    open('/etc/passwd', 'rb').read()
    time.sleep(100)
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(3) as pool:
        pool.map_async(work, range(3))
        time.sleep(1)
"""


def test_workers_that_a_pool_terminates(directory):
    place = directory / "traces"
    equal(run([*PYTHON, "-c", POOL], env=all_events(place)).code, 0, "the pool")
    own = ended(place)
    equal((own["text"], own["killed"]), (None, 0), f"{own}")
    true(own["stopped"] >= 1, f"{own}")


def test_time_outs_of_subprocess(directory):
    """subprocess.run kills by SIGKILL, as the kernel does who takes too much memory: nothing tells them apart."""
    place = directory / "traces"
    body = """
import subprocess
try:
    subprocess.run(['sh', '-c', 'cat /etc/passwd; read x'], stdin=open('/dev/zero'), timeout=1)
except subprocess.TimeoutExpired:
    pass
"""
    equal(run([*PYTHON, "-c", WORK + body], env=all_events(place)).code, 0, "it went on")
    equal(ended(place)["text"], "1 process by SIGKILL", "said")


LAUNCHER = """
import os, signal, subprocess, sys
ranks = [subprocess.Popen([sys.executable, '-S', '-E', '-c', sys.argv[1]],
         env=dict(os.environ, OMPI_COMM_WORLD_RANK=str(r), OMPI_COMM_WORLD_SIZE='16')) for r in range(16)]
ranks[5].wait()
for rank in ranks:
    rank.send_signal(signal.SIGTERM)
for rank in ranks:
    rank.wait()
sys.exit(1)
"""
RANK = """
import os, signal, time
rank = int(os.environ['OMPI_COMM_WORLD_RANK'])
with open(f'state.{rank}', 'wb', buffering=0) as out:
    out.write(b'x' * 100)
    if rank == 5:
        time.sleep(1)
        out.write(b'x' * 100)
        os.kill(os.getpid(), signal.SIGSEGV)
    while True:
        time.sleep(0.1)
"""


def test_the_rank_that_died_first(directory):
    place = directory / "traces"
    equal(run([*PYTHON, "-c", LAUNCHER, RANK], cwd=directory, env=all_events(place)).code, 1, "the launcher")
    own = answer("ranks", place)
    equal((own["ended"]["first"]["rank"], own["ended"]["first"]["signal"]), (5, "SIGSEGV"), f"{own['ended']}")
    true(own["ended"]["text"].startswith("exit 1, rank 5 died first (SIGSEGV), 15 processes by SIGTERM up to "), own["ended"]["text"])
    true(" later" in own["ended"]["text"], own["ended"]["text"])
    equal((own["last_call"]["name"], pathlib.Path(own["last_call"]["file"]).name, own["last_call"]["goes_on"]), ("write", "state.5", False), "after")
    line = first_line("ranks", place)
    true(line.startswith("ended badly: exit 1, rank 5 died first (SIGSEGV)") and "its last call was write of" in line, line)
    equal(ended(place)["first"]["rank"], 5, "summary")
    text = run([DFTMERGE, "summary", place], env=environment(COLUMNS=1000)).out.decode()
    true(", 16 of 16 ranks, 16 killed: 1 by SIGSEGV, 15 by SIGTERM; " in text, text)
    most, share, life = re.search(r"most in rank (\d+): [^,]+, (\S+) % of its ([^;\n]+)", text).groups()
    own, = (p for p in processes(place) if p["rank"] == int(most))  # of its own life, which is not the longest
    close(life, own["end_ns"] - own["start_ns"], "its life")
    close(f"{share} %", 100 * own["io_ns"] / (own["end_ns"] - own["start_ns"]), "its share")
    text = run([DFTMERGE, "summary", "--rank", "5", place], env=environment(COLUMNS=1000)).out.decode()
    true(", 1 of 16 ranks, 1 killed by SIGSEGV; " in text, text)


SPAWNER = """
import os, signal, sys
ranks = [os.posix_spawn(sys.executable, [sys.executable, '-S', '-E', '-c', sys.argv[1]],
         dict(os.environ, OMPI_COMM_WORLD_RANK=str(r), OMPI_COMM_WORLD_SIZE='16')) for r in range(16)]
os.waitpid(ranks.pop(5), 0)
for rank in ranks:
    os.kill(rank, signal.SIGTERM)
for rank in ranks:
    os.waitpid(rank, 0)
sys.exit(1)
"""


def test_ps_puts_together_what_ended_alike(directory):
    """Ranks below one parent: those of one end are one line, and the cause of the others is no one of many."""
    place = directory / "traces"
    equal(run([*PYTHON, "-c", SPAWNER, RANK], cwd=directory, env=all_events(place)).code, 1, "the launcher")
    shown = dftmerge("ps", place).out.decode()
    own = re.findall(r"^ *\d+ +(\d+) .* (SIG[A-Z]+) ", shown, re.M)
    folded = re.findall(r"(\d+) more like it were killed by SIGTERM, .*: ranks ([\d\s]+)$", shown, re.M)
    equal([r for r, name in own if name == "SIGSEGV"], ["5"], shown)
    true(folded and all(int(n) == len(ranks.split()) for n, ranks in folded), shown)  # they stand in the order of their starts
    named = [r for r, _ in own] + [r for _, ranks in folded for r in ranks.split()]
    equal(sorted(map(int, named)), list(range(16)), shown)


def test_ranks_whose_end_nobody_knows(directory):
    """Who waits for two of sixteen knows when these died, and of the others nothing: then it is said which is the first of whom."""
    place = directory / "traces"
    run([*PYTHON, "-c", SPAWNER.replace("for rank in ranks:\n    os.waitpid", "for rank in ranks[:1]:\n    os.waitpid"), RANK], cwd=directory,
        env=all_events(place))
    until = time.monotonic() + SECONDS
    while any(p["ended"] == "running" for p in processes(place)) and time.monotonic() < until:
        time.sleep(0.1)
    own = ended(place)
    match = re.fullmatch(r"exit 1, rank 5 died first \(SIGSEGV\) of those whose end is known, 1 process by SIGTERM up to (\S+ \S+) later; "
                         r"14 more were killed \(or left by a raw exit_group\), when is not known", own["text"])
    waited = {p["rank"]: p["waited_ns"] for p in processes(place) if p["waited_ns"] is not None}
    equal((set(waited), own["later_ns"]), ({0, 5}, waited[0] - waited[5]), f"{own}")
    true(match, own["text"])
    text = " ".join(dftmerge("ranks", place).out.decode().split())
    true("; rank 5: its last call was write of" in text and " end last calls within " in text, text)


LATE = """
import os, subprocess, sys, time
time.sleep(1)
def rank(number):
    return subprocess.Popen([sys.executable, '-S', '-E', '-c', sys.argv[1]],
                            env=dict(os.environ, OMPI_COMM_WORLD_RANK=str(number), OMPI_COMM_WORLD_SIZE='2'))
first = rank(0)
time.sleep(2)
rank(1).wait()
first.wait()
"""
LATE_RANK = """
import os, signal
open('/etc/hostname', 'rb').read()
if os.environ['OMPI_COMM_WORLD_RANK'] == '1':
    os.kill(os.getpid(), signal.SIGSEGV)
"""


def test_when_it_died(directory):
    """From the start of the ranks on, and by the clocks that are asked for, as all times of ranks."""
    place = directory / "traces"
    run([*PYTHON, "-c", LATE, LATE_RANK], env=all_events(place))
    ranks = {p["rank"]: p for p in processes(place) if p["rank"] is not None}
    last = answer("ranks", place)["last_call"]["ts"]
    for options, since in (((), ranks[0]["start_ns"]), (("--align", "first"), ranks[1]["start_ns"])):
        line = first_line("ranks", place, *options)
        match = re.search(r", until \+([0-9.]+) s", line)
        true(match and abs(float(match[1]) - (last - since) / 1e9) < 0.5, f"{options}: {line}, not {(last - since) / 1e9} s")


REUSED = WORK + """
def child(number):
    pid = os.fork()
    if pid == 0:
        open('/etc/hostname', 'rb').read()
        os.kill(os.getpid(), number)
    os.waitpid(pid, 0)
    return pid
first = child(signal.SIGSEGV)
for attempt in range(100):
    with open('/proc/sys/kernel/ns_last_pid', 'w') as last:
        last.write(str(first - 1))
    if child(signal.SIGABRT) == first:
        sys.exit(0)
sys.exit(77)
"""


def test_pids_that_are_used_again(directory):
    """Each process has the status of its own wait."""
    place = directory / "traces"
    if not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK) or run([*PYTHON, "-c", REUSED], env=all_events(place)).code:
        pytest.skip("no pid can be asked for here")
    children = sorted((p for p in processes(place) if p["signal"]), key=lambda p: p["start_ns"])
    equal((children[0]["signal"], {p["signal"] for p in children[1:]}), ("SIGSEGV", {"SIGABRT"}), "each its own")
    equal(children[0]["pid"], children[-1]["pid"], "the same pid")


def test_an_orphan(directory):
    """Nobody that is traced waits for it: then nothing tells the signal."""
    place = directory / "traces"
    body = """
if os.fork() == 0:
    os.setsid()
    open('/etc/hostname', 'rb').read()
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGSEGV)
"""
    run([*PYTHON, "-c", WORK + body + "os._exit(0)"], env=all_events(place))
    until = time.monotonic() + SECONDS
    while any(p["ended"] == "running" for p in processes(place)) and time.monotonic() < until:
        time.sleep(0.1)
    equal(ended(place)["text"], "1 process killed (or left by a raw exit_group)", "it is said")
