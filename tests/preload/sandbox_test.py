# SPDX-License-Identifier: MIT
"""Programs that forbid themselves system calls: they live as without us, and what happened before and after is in the trace, or counted."""

import collections
import errno
import json

from guest_test import both, dftmerge, endings, equal, events_of, live_files, lost, of_file, true, whole


def processes(traced):
    return json.loads(dftmerge("ps", "--json", traced.place / "traces").out)["processes"]


def writes(traced, name):
    return [(e.get("offset"), e["bytes"]) for e in of_file(events_of(traced), f"work/{name}") if e["name"] in ("write", "pwrite")]


def unknown(count):
    """Of a file that was opened when nobody could ask any more whether it is a FIFO."""
    return [(None, 10)] * count


def tens(count):
    return [(10 * i, 10) for i in range(count)]


def test_strict_mode(directory):
    """The processor's clock faults there; an end by the raw system call leaves the live file, which has everything."""
    traced = both(directory, "sandbox_strict", expect=31)
    events = events_of(traced)
    equal(writes(traced, "file"), tens(1100), "writes before and after")
    equal(len([e for e in events if e["name"] == "prctl" and e["ret"] == 0]), 1, "the call itself")
    equal(lost(traced), 0, "lost")
    wall = max(e["ts"] + e["dur"] for e in events) - min(e["ts"] for e in events)
    true(all(0 <= e["dur"] <= wall for e in events) and wall < 60e9, f"times make sense: {wall} ns in all")


def test_filter_that_kills(directory):
    traced = both(directory, "sandbox_filter", expect=32)
    written = writes(traced, "file")
    equal(written, tens(len(written)), "writes, from the first on")
    true(20000 < len(written) < 60100, f"{len(written)} writes fit into the rings")
    # What came behind is lost too: open, five writes and close, the open that failed, read, prctl, exit; and names.
    true(60100 - len(written) + 9 <= lost(traced) <= 60100 - len(written) + 16, f"{lost(traced)} counted as lost")
    equal({reason for p in processes(traced) for reason in p["dropped"]}, {"sandboxed"}, "why")
    equal(endings(traced), {"exit"}, "ended")
    checked = dftmerge("check", traced.place / "traces")
    equal(checked.code, 1, f"check: {checked.out.decode()}{checked.err.decode()}")


def test_no_close_range(directory):
    """The library of C then closes one number after the other. The trace goes on behind that."""
    traced = both(directory, "no_close_range", expect=41)
    equal((writes(traced, "file"), writes(traced, "after"), lost(traced)), (tens(1000), tens(1000), 0), "writes")


def test_paths_that_nobody_may_look_at(directory):
    """Where the error does not say that the kernel has read a path, the event has none, and says so."""
    traced = both(directory, "sandbox_texts", expect=40)
    failed = [(e["errno"], e.get("file"), e.get("cut", False)) for e in events_of(traced) if e["name"] == "open" and "errno" in e]
    equal(failed, [(errno.ENAMETOOLONG, None, True), (errno.EFAULT, None, True), (errno.ENOENT, "work/missing", False)], "failed opens")
    equal([(p["arguments_cut"], p["dropped"]) for p in processes(traced)], [(2, {})], "counted")


def test_filter_before_anything_else(directory):
    traced = both(directory, "sandbox_small", expect=33)
    equal((writes(traced, "file"), writes(traced, "own")), (unknown(1000), unknown(5)), "writes")
    equal((lost(traced), endings(traced)), (0, {"exit"}), "lost, ended")
    equal(len(live_files(traced.place / "traces")), 1, "live files: it cannot be removed")


def test_seccomp_that_is_refused(directory):
    traced = both(directory, "sandbox_fails", expect=34)
    whole(traced)
    equal(writes(traced, "file"), tens(50000), "writes")
    failures = collections.Counter(e["errno"] for e in events_of(traced) if e["name"] == "prctl")
    equal(failures, {errno.EFAULT: 50, errno.EINVAL: 50}, "refused calls")
    equal((lost(traced), live_files(traced.place / "traces")), (0, []), "lost, live files")


def test_seccomp_by_system_call(directory):
    traced = both(directory, "sandbox_syscall", expect=39)
    equal(writes(traced, "file"), tens(1000), "writes")
    equal([e.get("errno") for e in events_of(traced) if e["name"] == "seccomp"], [errno.EFAULT, errno.EINVAL, None], "the calls themselves")
    equal(endings(traced), {"_exit"}, "ended")


def test_children_of_the_sandboxed(directory):
    traced = both(directory, "sandbox_children", expect=35)
    equal(len(processes(traced)), 2, "processes: the forked child cannot have files")
    found = [(e["name"], e.get("bytes")) for e in of_file(events_of(traced), "work/file") if "pwrite" in e["name"]]
    equal(found, [("pwrite", 5), ("pwrite", 10), ("pwrite", 10)], "of the vfork child, and the parent after that")
    equal((lost(traced), endings(traced)), (1, {"exit", "_exit"}), "lost: the forked child counts as one")


def test_vfork_child_in_a_sandbox(directory):
    traced = both(directory, "sandbox_in_vfork", expect=36)
    whole(traced)
    equal(writes(traced, "file"), [(2000, 5), *tens(20000)], "writes")
    equal((lost(traced), live_files(traced.place / "traces")), (0, []), "lost, live files")


def test_one_thread_in_a_sandbox(directory):
    traced = both(directory, "sandbox_of_a_thread", expect=37)
    whole(traced)
    equal((writes(traced, "file"), writes(traced, "thread")), (tens(20010), tens(1000)), "writes")
    equal((lost(traced), live_files(traced.place / "traces")), (0, []), "lost, live files")


def test_all_threads_at_once(directory):
    """By the system call, while another thread writes and drains."""
    traced = both(directory, "sandbox_of_all", expect=39)
    equal(writes(traced, "file"), tens(1000), "writes of the thread that asked for it")
    kept = writes(traced, "thread")
    # It goes on meanwhile: what does not fit into its ring is lost, as often as the two calls are under way, and each write is counted.
    # The 5,000 before them are in the file: no block is lost that it was just writing.
    true(kept[:5000] == tens(5000) and kept == sorted(set(kept)) and set(kept) <= set(tens(20000)), f"{len(kept)} writes of the other")
    true(20000 - len(kept) <= lost(traced) <= 20000 - len(kept) + 4, f"{lost(traced)} counted as lost")
    equal([(e["name"], e["ret"], e.get("errno")) for e in events_of(traced) if e["name"] == "seccomp"],
          [("seccomp", -1, errno.EFAULT), ("seccomp", 0, None)], "the calls")
    equal(endings(traced), {"exit"}, "ended")


def test_clock_forbidden(directory):
    traced = both(directory, "no_clock", expect=38)
    whole(traced)
    equal(writes(traced, "file"), tens(20020), "writes")
    starts = [e["ts"] for e in events_of(traced) if e["name"] == "write"]
    true(starts == sorted(starts) and starts[-1] - starts[0] < 60e9, "times")
    equal((lost(traced), live_files(traced.place / "traces")), (0, []), "lost, live files")
