# SPDX-License-Identifier: MIT
"""Risks: patterns that cost nothing here, and much where a server answers each request. Each has a program that plants
it, and one beside it that must stay silent."""

import pathlib
import re
import sys

from tracing import DFTMERGE, answer_of, equal, need, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
TRIP_NS = 500_000


def traced(directory, program, *arguments, **settings):
    """Runs a program beside shells that wait, so that its calls are a small part of the time; its traces."""
    need("gcc")
    binary = directory / program
    if not binary.exists():
        run_checked(["gcc", "-O1", "-D_GNU_SOURCE", "-o", binary, HERE / "programs" / f"{program}.c"])
    work, traces = directory / "work", directory / "traces" / "-".join(str(a) for a in (program, *arguments, *settings))
    for name in ("", "many"):
        (work / name).mkdir(exist_ok=True)
    for name in ("data", "all.bin"):
        (work / name).write_bytes(bytes(8 << 20))
    run_checked(["sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9; do (sleep 1; :) & done; "$@"; wait', "sh", binary, *map(str, arguments)], cwd=work,
                env=tracing(traces / "t", DATA_DIR="all", **settings))
    return traces


def told(traces, *options):
    page = answer_of("findings", *options, traces)
    both = {risk["code"] for risk in page["risks"]} & {finding["code"] for finding in page["findings"]}
    equal(both, set(), "told as risks, and as findings")
    return page


def risks(traces, *options):
    return {risk["code"]: risk for risk in told(traces, *options)["risks"]}


def test_what_lies_elsewhere(directory):
    """With a directory only that is named which lies in it."""
    script = "i=0; while [ $i -lt 1000 ]; do [ -e here/$i ]; i=$((i + 1)); done; [ -e there/1 ]; [ -e there/2 ]; sleep 1; :"
    run_checked(["sh", "-c", script], cwd=directory, env=tracing(directory / "traces" / "t", DATA_DIR="all"))
    risk = risks(directory / "traces")["missing"]
    got = re.fullmatch(r"1,000 lookups fail, 1,000 files; (\d+) elsewhere", risk["evidence"])
    true(risk["where"].endswith("/here") and got and risk["trips"] == 1000 + int(got[1]) >= 1002, str(risk))
    script = "i=0; while [ $i -lt 1000 ]; do [ -e here/$i ]; [ -e here/$i ]; [ $i -gt 850 ] || [ -e here/$i ]; i=$((i + 1)); done"
    run_checked(["sh", "-c", script], cwd=directory, env=tracing(directory / "often" / "t", DATA_DIR="all"))
    [finding] = [f for f in answer_of("findings", directory / "often")["findings"] if f["code"] == "missing"]
    true(re.search(r" files is asked for 3 times$", finding["why_sure"]), "2.85 of them: " + finding["why_sure"])


def test_small_requests(directory):
    """They take a thousandth of the time here. Their round trips are counted, never measured."""
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        (directory / "job_7").mkdir(exist_ok=True)
        traces = traced(directory / "job_7", "sizes", "reads", 512, 2000, 0, **settings)
        page = told(traces)
        equal([finding["code"] for finding in page["findings"]], [], "what costs")
        [risk] = page["risks"]
        equal((risk["code"], risk["trips"], risk["at_ns"]), ("small-reads", 2000, 2000 * TRIP_NS), "the risk")
        true(re.fullmatch(r"2,000 reads of 512 B within .*", risk["evidence"]), risk["evidence"])
        true(settings or risk["where"].endswith("/job_7/work/data"), risk["where"])  # rows do not tell files apart by size
    equal(sorted(risks(traced(directory, "sizes", "writes", 100, 3000, 0, 1))), ["small-writes"], "of writes")


def test_what_is_no_risk(directory):
    for arguments in ((512, 900, 0), (65536, 128, 0), (4096, 2048, 0)):
        equal(risks(traced(directory, "sizes", "reads", *arguments)), {}, f"reads of {arguments}")
    equal(risks(traced(directory, "sizes", "writes", 3000, 1, 0, 26)), {}, "few small files")
    equal(risks(traced(directory, "sizes", "lines", 5000, 0)), {}, "lines of a stream with a buffer")


def test_ends_of_files(directory):
    """1,999 bytes in 2,000 reads are no reads of 0 B. Python looks for the end of each file by a read of a byte, which
    finds none: no trip."""
    (directory / "data").write_bytes(bytes(1999))
    whole = f"{sys.executable} -S -E -c 'for _ in range(2000): open(\"data\", \"rb\").read()'"
    for name, command in (("bytes", "dd bs=1 if=data of=/dev/null 2>/dev/null"), ("whole", whole)):
        run_checked(["sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9; do (sleep 1; :) & done; {command}; wait"], cwd=directory,
                    env=tracing(directory / name / "t", DATA_DIR="all"))
    risk = risks(directory / "bytes")["small-reads"]
    true(risk["evidence"].startswith("2,000 reads of 1 B within "), risk)
    true("small-reads" not in risks(directory / "whole"), "reads that find the end")


def test_random_requests(directory):
    """Of a page, only their places are told; of less, both."""
    equal(sorted(risks(traced(directory, "sizes", "random", 4096, 2000))), ["random"], "pages")
    equal(sorted(risks(traced(directory, "sizes", "random", 512, 2000))), ["random", "small-reads"], "pieces of pages")


def test_blocks_that_are_written_where_they_were_read(directory):
    """A client puts the writes together: they lie behind each other, though each goes back to where its read began."""
    equal(risks(traced(directory, "files", "in_place", 2000)), {}, "in order")
    true("random" in risks(traced(directory, "files", "random_in_place", 2000)), "at random")


def test_users_set_the_trip(directory):
    traces = traced(directory, "sizes", "reads", 512, 2000, 0)
    rules = directory / "rules"
    for line, expected in (("risk.trip = 5 ms", [10 * TRIP_NS]), ("risk.trip = 1 us", []), ("risk = off", []),
                           ("small-reads = off", []), ("risk.requests = 2001", [])):
        rules.write_text(line + "\n")
        got = told(traces, "--rules", rules)["risks"]
        equal([risk["at_ns"] // risk["trips"] for risk in got], expected, line)
    equal(told(traces, "--no-risk")["risks"], [], "--no-risk")
    for command in ("findings", "summary"):
        page = run_checked([DFTMERGE, command, traces]).out.decode()
        true(re.search(r"(?s)\nrisk: +not slow here.*small reads: .*at\s+most\s+2,000\s+round\s+trips,\s+1.00 s\n", page), page)
        true("risk:" not in run_checked([DFTMERGE, command, "--no-risk", traces]).out.decode(), f"{command} --no-risk")


def test_syncs_are_told_once(directory):
    """By what they cost where they cost, else by what they would cost."""
    page = told(traced(directory, "sizes", "writes", 65536, 250, 1, 2))
    equal([one["code"] for one in page["findings"] + page["risks"]], ["fsync"], "an fsync for each write")
    equal(risks(traced(directory, "sizes", "writes", 65536, 40, 40, 2)), {}, "one at the end")
