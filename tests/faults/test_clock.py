#!/usr/bin/env python3
"""Times in the trace against those that the program itself reads around each call, in threads that move between processors."""

import struct
import sys

from faults import FULL, Skip, Tests, compile_program, dump, equal, run, tracing, true

tests = Tests()
SLACK_NS = 20000  # of the relation of the two clocks, which the program and the library take each for itself


def clocked(directory, calls, pause_ns, under=()):
    program = compile_program(directory, "clocked")
    work = directory / "work"
    work.mkdir()
    done = run([*under, program, work, calls, pause_ns],
               env=tracing(directory / "traces" / "t", DATA_DIR=work))
    equal((done.code, done.err), (0, b""), "exit code")
    offset = int(done.out)
    events = dump(directory / "traces")
    for thread in range(2):
        times = list(struct.iter_unpack("<qq", (work / f"times{thread}").read_bytes()))
        seen = sorted((e["offset"], e["ts"], e["dur"]) for e in events
                      if e["name"] == "pread" and e["file"].endswith(f"file{thread}"))
        equal([e[0] for e in seen], list(range(calls)), "offsets")
        for (before, after), (number, start, duration) in zip(times, seen):
            start -= offset
            true(duration >= 0, f"call {number}: {duration} ns")
            true(before - SLACK_NS <= start and start + duration <= after + SLACK_NS,
                 f"call {number}: [{start}, {start + duration}], the program saw [{before}, {after}]: "
                 f"{start - before} and {after - start - duration} ns inside")
            true(duration <= after - before + 1000, f"call {number} took {duration} ns, the program saw {after - before}")


@tests.case
def one_after_another(directory):
    clocked(directory, 20000, 0)


@tests.case
def over_seconds(directory):
    """An error of the ratio grows with time: 40 ppm, as from one millisecond alone, would be 0.2 ms here."""
    clocked(directory, 120000 if FULL else 9000, 500000)


@tests.case
def in_a_time_name_space(directory):
    under = ["unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000"]
    if run([*under, "true"]).code:
        raise Skip("no time name spaces here")
    clocked(directory, 5000, 10000, under)


if __name__ == "__main__":
    sys.exit(tests.main())
