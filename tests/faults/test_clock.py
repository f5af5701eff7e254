# SPDX-License-Identifier: MIT
"""Times in the trace against those that the program itself reads around each call, in threads that move between processors."""

import struct

import pytest

import read_dft
from faults import FULL, compile_program, dump, equal, run, traces, tracing, true

SLACK_NS = 20000
FIRST_NS, LATER_NS = 1000000, 100000000  # the ratio of counter and clock is taken over this time at first, then over this


def clock_offset(directory):
    """Unix time less that of the monotonic clock, which the library took once: the trace begins with it."""
    [trace] = [path for path in traces(directory) if "-clocked-" in path.name]
    data = trace.read_bytes()
    header = read_dft.check_header(data, 0)
    start = read_dft.HEADER.size
    return read_dft.read_block(header, data[start:start + header["stored"]])["clock_offset"]


def apart(times):
    """How far the clock has been from any one ratio to the counter, in ns: the kernel may have made it go faster or slower meanwhile, and no
    ratio follows that. A thread may have had to wait while it read both, so the counter is known to lie between two readings."""
    ends = [min(part, key=lambda t: t[2] - t[0]) for part in (times[:50], times[-50:])]
    (clock, count), (last_clock, last_count) = [((t[0] + t[2]) / 2, t[1]) for t in ends]
    if last_count <= count:
        return 0
    ratio = (last_clock - clock) / (last_count - count)
    told = [(before, after, clock + (ticks - count) * ratio) for before, ticks, after, _ in times]
    return max(max(before - t, t - after, 0) for before, after, t in told)


def clocked(directory, calls, pause_ns, under=()):
    program = compile_program(directory, "clocked")
    work = directory / "work"
    work.mkdir()
    done = run([*under, program, work, calls, pause_ns],
               env=tracing(directory / "traces" / "t", DATA_DIR=work))
    equal((done.code, done.err), (0, b""), "exit code")
    between = int(done.out)
    offset = clock_offset(directory / "traces")
    events = dump(directory / "traces")
    for thread in range(2):
        times = list(struct.iter_unpack("<qqqq", (work / f"times{thread}").read_bytes()))
        # What one reading may be wrong by is as much wrong over the first time, and so many times that until the ratio is taken again.
        slack = max(SLACK_NS, 2 * between * (LATER_NS // FIRST_NS)) + 2 * apart(times)
        seen = sorted((e["offset"], e["ts"], e["dur"]) for e in events
                      if e["name"] == "pread" and e["file"].endswith(f"file{thread}"))
        equal([e[0] for e in seen], list(range(calls)), "offsets")
        for (_, _, before, after), (number, start, duration) in zip(times, seen):
            start -= offset
            true(duration >= 0, f"call {number}: {duration} ns")
            true(before - slack <= start and start + duration <= after + slack,
                 f"call {number}: [{start}, {start + duration}], the program saw [{before}, {after}]: "
                 f"{start - before} and {after - start - duration} ns inside, {slack:.0f} allowed")
            least = 1000 + (after - before) * between // FIRST_NS
            true(duration <= after - before + least, f"call {number} took {duration} ns, the program saw {after - before}")


def test_one_after_another(directory):
    clocked(directory, 20000, 0)


def test_over_seconds(directory):
    """An error of the ratio grows with time: 40 ppm, as from one millisecond alone, would be 0.2 ms here."""
    clocked(directory, 120000 if FULL else 9000, 500000)


def test_in_a_time_name_space(directory):
    under = ["unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000"]
    if run([*under, "true"]).code:
        pytest.skip("no time name spaces here")
    clocked(directory, 5000, 10000, under)
