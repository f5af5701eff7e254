# SPDX-License-Identifier: MIT
"""Many threads at once: those that wait for each other within the library sleep until they are woken."""

import json

from guest_test import dftmerge, endings, equal, events_of, live_files, lost, run_in, true

THREADS = 500
SWITCHES_OF_A_THREAD = 10  # in addition to the plain run's


def switches(run):
    return int((run.place / "work" / "switches").read_text())


def crowd(directory, before=()):
    """All begin at once, and end at once; 400 calls of each, so that each ring is drained in between."""
    plain = run_in(directory / "plain", "crowd", False, before=before)
    traced = run_in(directory / "traced", "crowd", True, before=before)
    equal((plain.code, traced.code, traced.err), (0, 0, b""), "exit codes")
    more = switches(traced) - switches(plain)
    true(more <= SWITCHES_OF_A_THREAD * THREADS, f"{switches(plain)} voluntary switches plain, {switches(traced)} traced")
    return traced


def test_threads_that_wait_sleep(directory):
    traced = crowd(directory)
    groups = json.loads(dftmerge("summary", "--json", traced.place / "traces").out)["groups"]
    reads = sum(group["count"] for group in groups if group["name"] == "pread")
    equal((reads, lost(traced), live_files(traced.place / "traces")), (400 * THREADS, 0, []), "reads, lost, live files")


def test_on_one_processor(directory):
    crowd(directory, before=("taskset", "-c", "0"))


def test_killed_amid_them(directory):
    """Rings are made several at a time: what is not used yet does not disturb who reads the live file."""
    traced = run_in(directory / "traced", "crowd_killed", True)
    equal(traced.code, -9, "exit code")
    equal(endings(traced), {"killed"}, "ended")
    equal(len({e["tid"] for e in events_of(traced) if e["name"] == "pread"}), 100, "threads")
    equal(len([e for e in events_of(traced) if e["name"] == "pread"]), 100 * 10, "reads")
