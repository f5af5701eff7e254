# SPDX-License-Identifier: MIT
"""What holds for the findings of any program: no time is in two of them, whether about calls, ranks, or computing."""

from tracing import answer_of, true

# Kinds whose cost is time of calls, also of those of one rank; others are about waiting.
OF_CALLS = {"one-byte", "small-reads", "small-writes", "stream", "flush", "fsync", "missing", "reopened", "small-files", "metadata", "saves", "file-explosion", "copies", "removal", "growth",
            "random", "failing", "reread", "misaligned", "seeks", "mount", "no-collective", "contention", "straggler", "imbalance", "exposed-io"}


def io_ns(traces):
    groups = answer_of("summary", "--by", "class", traces)["groups"]
    return sum(group["time_ns"] for group in groups if group["class"] not in ("none", "wait"))


def surely(directory):
    """A file of rules with which what costs little is as sure as what costs much: costs here are those of the machine."""
    rules = directory / "sure.rules"
    rules.write_text("any.sure = 0 ms\n")
    return rules


def told_once(traces, answer):
    findings = [(finding["code"], finding["cost_ns"]) for finding in answer["findings"] if finding["code"] in OF_CALLS]
    told, all_ns = sum(cost for _, cost in findings), io_ns(traces)
    true(told <= all_ns, f"time is told twice: {told} of {all_ns} ns of I/O: {findings}")
    return answer
