# SPDX-License-Identifier: MIT
"""What the page says in words, computed a second time from `summary --all --json`: the head, the headlines of findings,
the table of classes. Of five kinds of runs: a C program, one with workers, ranks, one that was killed, and aggregates
alone."""

import pathlib
import re
import subprocess

from quantities import close
from tracing import DFTMERGE, ROOT, SECONDS, answer_of, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
IO = ("read", "write", "sync", "meta", "startup")
WORDS = {"read": "read", "write": "write", "sync": "sync", "metadata": "meta", "start-up": "startup"}
BASES = {"job": " of the job", "processes": " of all processes", "threads": " of all threads"}


def lives_of(whole):
    """What the processes lived together."""
    return sum(whole["kept_ns"].values())


def head(lines, whole):
    by_class = {group["class"]: group for group in whole["classes"]}
    io = [group for name, group in by_class.items() if name in IO]
    time_ns, read = sum(g["time_ns"] for g in io), sum(by_class.get(c, {"bytes": 0})["bytes"] for c in ("read", "startup"))
    said = re.match(r"([\d.,]+ \w+), ([\d,]+) process(?:es)?(?: \(([\d,]+) programs\))?(?: x ([\d.,]+ \w+)|, together ([\d.,]+ \w+))?", lines["time"])
    close(said[1], whole["wall_ns"], "wall time")
    equal(int(said[2]), whole["pids"], "processes")
    if said[5] or not said[4]:
        close(said[5] or said[1], lives_of(whole), "of all processes")
    if whole["ranks"]:
        true(f", {whole['ranks']} of {whole['world_size']} ranks" in lines["time"], lines["time"])
    said = re.match(r"([\d.,]+ \w+) = ([\d.,]+ %) of (that|all processes).*?; ([\d.,]+ \w+) read, ([\d.,]+ \w+) written in ([\d,]+) calls", lines["I/O"])
    close(said[1], time_ns, "I/O")
    close(said[2], 100 * time_ns / lives_of(whole), "its share")
    equal(said[3], "that" if whole["processes"] == 1 else "all processes", "of what")
    close(said[4], read, "read")
    close(said[5], by_class.get("write", {"bytes": 0})["bytes"], "written")
    equal(int(said[6].replace(",", "")), sum(g["count"] for g in io), "calls")
    slowest = re.search(r"most in rank (\d+): ([\d.]+ \w+)", lines["I/O"])
    if slowest:
        equal({g["rank"]: g for g in whole["by_rank"]}[int(slowest[1])]["time_ns"], max(g["time_ns"] for g in whole["by_rank"]), "the rank")
        close(slowest[2], max(g["time_ns"] for g in whole["by_rank"]), "of the rank")


def findings(text, whole):
    """Each headline has its cost, its share, and of what that is."""
    lines = re.findall(r"^(\d+) +(.+?)  +([\d.,]+ \w+) +([\d.]+ %)( of .*)?$", text, re.MULTILINE)
    costly = [f for f in whole["findings"] if f["of_ns"]]
    true(len(lines) == min(3, len(costly)), f"{lines} of {costly}: {text}")
    for number, title, cost, share, words in lines:
        finding = whole["findings"][int(number) - 1]
        equal(title, finding["title"], "title")
        cost_ns, of_ns = finding["cost_ns"], finding["of_ns"]
        base = BASES[finding["of"]] if whole["processes"] > 1 else ""
        if finding["job_ns"]:
            cost_ns, of_ns = finding["cost_job_ns"], finding["job_ns"]
            equal(of_ns, whole["wall_ns"], "the job's wall time")
            true(cost_ns <= min(of_ns, finding["cost_ns"]), f"no more than all: {finding}")
            base = " of the job" + (" at most" if finding["of"] != "job" else "")
        close(cost, cost_ns, title)
        close(share, 100 * cost_ns / of_ns, title)
        equal(words, base, f"what {title} is a share of")
        gain = re.search(r"[Aa]t most ([\d.]+ \w+) to gain", finding["advice"])
        if gain and finding["code"] not in ("exposed-io", "trainer-waits"):
            close(gain[1], cost_ns, f"gain of {title}")
    return len(lines)


def classes(text, whole):
    if "Time by class" not in text:
        return
    table = text[text.index("Time by class\n"):].split("\n\n")[0].splitlines()
    true(("% of processes" if whole["processes"] > 1 else "% of wall") in table[1], table[1])
    by_class = {group["class"]: group for group in whole["classes"]}
    all_ns = sum(group["time_ns"] for name, group in by_class.items() if name in IO)
    for line in table[2:]:
        row = re.match(r"([\w/-]+(?: I/O)?) +([\d,]+) +(?:[\d,-]+ +)?([\d.]+ \w+) +(?:[^\d\s]\S*)? *([\d.]+) +([\d.]+) ", line + " ")
        true(row, line)
        ns = all_ns if row[1] == "all I/O" else by_class[WORDS[row[1]]]["time_ns"]
        close(row[3], ns, line)
        close(row[4] + " %", 100 * ns / all_ns, line)
        close(row[5] + " %", 100 * ns / lives_of(whole), line)


def page(traces):
    whole = answer_of("summary", traces, "--all")
    text = run_checked([DFTMERGE, traces], env=environment(COLUMNS=1000)).out.decode()
    lines = {line.partition(" ")[0]: line[6:] for line in text.splitlines() if re.match(r"(job|time|I/O)  ", line + " ")}
    head(lines, whole)
    classes(text, whole)
    return findings(text, whole)


def slow(directory):
    """The example of the tutorial, with less to do."""
    need("gcc")
    if not (directory / "slow").exists():
        run_checked(["gcc", "-O1", "-o", directory / "slow", ROOT / "examples" / "slow.c"])
        (directory / "work").mkdir()
    return [directory / "slow", directory / "work"]


def test_a_program(directory):
    run_checked(slow(directory), env=tracing(directory / "traces/t"))
    true(page(directory / "traces") >= 2, "findings")


def test_aggregates_alone(directory):
    run_checked(slow(directory), env=tracing(directory / "traces/t", ENABLE_AGGREGATION=1))
    true(page(directory / "traces") >= 2, "findings")


def test_one_with_workers(directory):
    """Four processes read, in pieces, what a fifth one has written."""
    (directory / "worker.py").write_text("""
import multiprocessing, os, sys

def read(number):
    for _ in range(200):
        fd = os.open(sys.argv[1], os.O_RDONLY)
        for _ in range(20):
            os.read(fd, 16)
        os.close(fd)

if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(bytes(4096))
    workers = [multiprocessing.Process(target=read, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
""")
    run_checked(["/usr/bin/python3", directory / "worker.py", directory / "data"], env=tracing(directory / "traces/t"))
    page(directory / "traces")


def test_ranks(directory):
    """One of four makes small writes durable, which the job waits for: its share is of the job, and not of all
    processes."""
    need("gcc")
    for rank in range(4):
        (directory / f"{rank}").mkdir()
    (directory / "rank.py").write_text("""
import os, sys
fd = os.open(sys.argv[1] + "/log", os.O_WRONLY | os.O_CREAT)
for _ in range(100 if os.environ["OMPI_COMM_WORLD_RANK"] == "2" else 10):
    os.write(fd, b"line")
    os.fsync(fd)
""")
    started = [subprocess.Popen(["/usr/bin/python3", directory / "rank.py", directory / str(rank)],
                                env={**tracing(directory / "traces/t"), "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4",
                                     "PMIX_NAMESPACE": "job"}) for rank in range(4)]
    equal([process.wait(SECONDS) for process in started], [0] * 4, "exit codes")
    true(page(directory / "traces") >= 1, "findings")
    whole = answer_of("summary", directory / "traces", "--all")
    fsync = next(f for f in whole["findings"] if f["code"] == "fsync")
    longest = max(g["time_ns"] for g in answer_of("summary", directory / "traces", "--by", "rank,class")["groups"] if g["class"] == "sync")
    equal(fsync["cost_job_ns"], min(longest, fsync["cost_ns"], whole["wall_ns"]), "what one rank has")


def test_a_killed_one(directory):
    (directory / "killed.py").write_text("""
import os, signal, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
for _ in range(300):
    os.write(fd, b"line")
    os.fsync(fd)
os.kill(os.getpid(), signal.SIGKILL)
""")
    equal(run(["/usr/bin/python3", directory / "killed.py", directory / "data"], env=tracing(directory / "traces/t")).code, -9, "exit code")
    page(directory / "traces")
