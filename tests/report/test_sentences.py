# SPDX-License-Identifier: MIT
"""What the page of dftmerge report says in words, computed a second time from `summary --all --json`: the state of the
run, the headline, its tiles and findings, and the sentences of cards that speak of the same. Of a C program, workers,
ranks, a killed and a hung run, and aggregates alone. Needs npm; runs in tests/run.sh --full."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from quantities import close
from test_browser import IO, built
from tooltest import BUILD, ROOT, dftmerge, run, summary

HERE = pathlib.Path(__file__).resolve().parent
QUANTITY = r"([\d.,]+ (?:ns|us|ms|s|B|KiB|MiB|GiB|%))"
pytestmark = pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")


def traced(where, *command, expect=0, **environment):
    done = run(BUILD / "bin" / "dftrun", "--no-summary", "-o", where / "traces", "--", *command, env=environment)
    assert expect is None or done.code == expect, done.err
    return where / "traces"


def said_of(where, traces):
    """(what the page says, what summary says) of the same traces."""
    dftmerge("report", "-o", where / "page.html", traces)
    done = subprocess.run(["node", built() / "test" / "said.mjs", where / "page.html"], capture_output=True, check=True)
    return json.loads(done.stdout), summary("--all", traces)


def headline(page, whole):
    """The verdict, each finding once with its share, the tiles, and that what stands on top is not said below again."""
    text, by_class = page["cards"]["headline"]["text"], {one["class"]: one for one in whole["classes"]}
    none = {"count": 0, "time_ns": 0, "bytes": 0}
    assert text.startswith(whole["verdict"]["line"]), text[:200]
    for finding in whole["findings"]:
        assert text.count(finding["title"]) == 1, (finding["title"], text)
        if finding["evidence"].startswith(whole["verdict"]["line"]):
            assert text.count(finding["evidence"]) == 1, text
        cost, of = (finding["cost_job_ns"], finding["job_ns"]) if finding["job_ns"] else (finding["cost_ns"], finding["of_ns"])
        if cost:
            assert f"{100 * cost / of:.1f} %" in text, (finding["title"], cost, of, text)
    for risk in whole["risks"]:
        assert risk["title"] in text, risk
    numbers = page["cards"]["headline"]["numbers"]
    for member, word, of in (("read_bytes", "read", "bytes"), ("written_bytes", "write", "bytes"), ("sync_ns", "sync", "time_ns"),
                             ("meta_ns", "meta", "time_ns"), ("startup_ns", "startup", "time_ns"), ("startup_bytes", "startup", "bytes")):
        assert numbers[member] == by_class.get(word, none)[of], (member, numbers)
    assert numbers["calls"] == sum(by_class.get(word, none)["count"] for word in IO)


def cards(page, whole):
    lives, by_class = sum(whole["kept_ns"].values()), {one["class"]: one["time_ns"] for one in whole["classes"]}
    io, flown = sum(by_class.get(word, 0) for word in IO), sum(flight["for_ns"] for flight in whole["in_flight"])
    wait = by_class.get("wait", 0) + flown
    share, word, most = re.match(r"I/O is " + QUANTITY + r" of (?:the time|all processes), most of it ([\w-]+) \(" + QUANTITY,
                                 page["cards"]["classes"]["sentence"]).groups()
    close(share, 100 * io / lives, "in I/O")
    close(most, 100 * max(by_class.get(name, 0) for name in IO) / lives, f"most of it {word}")
    assert float(most.split()[0]) <= float(share.split()[0]), page["cards"]["classes"]["sentence"]
    rest = re.search(QUANTITY + " of the time is outside of calls", page["cards"]["timeline"]["sentence"])
    close(rest[1], 100 * max(0, lives - io - wait) / lives, "outside of calls")
    if flown:
        close(re.search("Without an end: .*?, " + QUANTITY + " so far", page["cards"]["timeline"]["sentence"])[1],
              max(flight["for_ns"] for flight in whole["in_flight"]), "in flight")
    names = [row["name"] for row in page["cards"].get("sizes", {"numbers": {"rows": []}})["numbers"]["rows"]]
    assert len(names) == len(set(names)), names
    lines = page["cards"].get("missing", {"numbers": {"lines": []}})["numbers"]["lines"]
    assert len(lines) == len(set(lines)), lines
    offsets = page["cards"].get("offsets")
    if offsets:
        assert (" in a sample" in offsets["sentence"]) == (offsets["numbers"]["of"] > offsets["numbers"]["kept"]), offsets["sentence"]


def agrees(where, traces, state):
    page, whole = said_of(where, traces)
    assert page["state"]["state"] == state, page["state"]
    assert page["state"]["text"] not in whole["verdict"]["line"] or state == "running", "the badge says it again"
    headline(page, whole)
    cards(page, whole)
    return page, whole


def test_a_program(where):
    assert run("cc", "-g", "-O1", "-o", where / "slow", ROOT / "examples" / "slow.c").code == 0
    (where / "work").mkdir()
    _, whole = agrees(where, traced(where, where / "slow", where / "work"), "ended")
    assert whole["findings"] and whole["risks"]


def test_workers(where):
    (where / "workers.py").write_text("""
import multiprocessing, os, sys

def read(number):
    for _ in range(300):
        fd = os.open(sys.argv[1], os.O_RDONLY)
        for _ in range(20):
            os.read(fd, 16)
        os.close(fd)

if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(bytes(4096))
    with multiprocessing.Pool(3) as pool:
        pool.map(read, range(4))
        pool.close()
        pool.join()
""")
    agrees(where, traced(where, "/usr/bin/python3", where / "workers.py", where / "data"), "ended")


RANK = """
import os, signal, sys, time
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
fd = os.open(sys.argv[1] + str(rank), os.O_WRONLY | os.O_CREAT)
for _ in range(60 if rank == 2 else 5):
    os.write(fd, b"line")
    os.fsync(fd)
if sys.argv[2] == "die":
    time.sleep(0 if rank == 1 else 1)
    os.kill(os.getpid(), signal.SIGSEGV if rank == 1 else signal.SIGTERM)
"""


def ranks(where, how, state):
    (where / "rank.py").write_text(RANK)
    command = [BUILD / "bin" / "dftrun", "--no-summary", "-o", where / "traces", "--", "/usr/bin/python3", where / "rank.py", where / "out", how]
    started = [subprocess.Popen(command, env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4", "PMIX_NAMESPACE": "job"},
                                stderr=subprocess.DEVNULL) for rank in range(4)]
    for process in started:
        process.wait(60)
    return agrees(where, where / "traces", state)


def test_ranks(where):
    ranks(where, "live", "ended")


def test_ranks_that_die(where):
    page, _ = ranks(where, "die", "failed")
    assert page["state"]["text"].startswith("rank 1 died: SIGSEGV"), page["state"]


def test_a_hung_one(where):
    (where / "hung.py").write_text("import fcntl, os, sys\nfile = open(sys.argv[1])\nos.write(1, b'.')\nfcntl.flock(file, fcntl.LOCK_EX)\n")
    (where / "lock").touch()
    held = subprocess.Popen(["flock", where / "lock", "sleep", "600"], start_new_session=True)
    time.sleep(0.5)
    hung = subprocess.Popen([BUILD / "bin" / "dftrun", "--no-summary", "-o", where / "traces", "--", "/usr/bin/python3", where / "hung.py", where / "lock"],
                            stdout=subprocess.PIPE, start_new_session=True)
    try:
        hung.stdout.read(1)
        time.sleep(1.5)
        page, whole = said_of(where, where / "traces")
        assert page["state"]["state"] == "running", page["state"]
        assert page["cards"]["headline"]["text"].count("in flight now: flock") == 1, page["cards"]["headline"]["text"]
        assert re.search("Without an end: flock", page["cards"]["timeline"]["sentence"]), page["cards"]["timeline"]["sentence"]
        assert whole["in_flight"]
    finally:
        for process in (hung, held):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_aggregates_alone(where):
    assert run("cc", "-g", "-O1", "-o", where / "slow", ROOT / "examples" / "slow.c").code == 0
    (where / "work").mkdir()
    agrees(where, traced(where, where / "slow", where / "work", DFTRACER_ENABLE_AGGREGATION="1"), "ended")
