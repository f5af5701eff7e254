# SPDX-License-Identifier: MIT
"""A guest allocates nothing of the program's: a program that defines malloc and its relatives counts its calls of them, traced
under every setting as often as untraced."""

import re

from tracing import LIBRARY, ROOT, compile_program, environment, equal, run, true

RULES = "inclusion: [\"name == 'pread' AND size > 10\", \"file LIKE '%/file'\"]\nexclusion: [\"dur > 1s OR cat == 'STDIO'\"]\n"
WRONG = ("", ":", "inclusion: [", "inclusion: ['nmae == 3']", "a: &x [*x, *y]", "- just\n- a list", "inclusion: {a: b}", "\0\1\2",
         "key: '" + "x" * 70000 + "'\n", "".join(f"k{i}: [{i}, {i}]\n" for i in range(3000)))
CONFIGURATION = ("enable: true\nprofiler: {data_dirs: [/tmp, /usr], compression: off}\nfeatures:\n  aggregation:\n    enable: true\n"
                 "    type: SELECTIVE\n    inclusion: [\"name == 'pread'\"]\n")
# Values of each variable; None is a file, made below. One that is not named here fails the test.
VALUES = {
    "ENABLE": ["1", "0", "maybe"], "LOG_FILE": ["", "no/such/folder/t"], "MODE": ["0640", "rw"], "DATA_DIR": ["all", "/tmp:!/usr:pipe:", "x"],
    "INIT": ["PRELOAD", "FUNCTION"], "INC_METADATA": ["0"], "PRIVATE": ["1"], "DISABLE_IO": ["1"], "DISABLE_POSIX": ["1"],
    "DISABLE_STDIO": ["1"], "DISABLE_TIDS": ["1"], "TRACE_COMPRESSION": ["0"], "TIME_METRIC": ["US", "REL"], "TRACE_INTERVAL_MS": ["1", "x"],
    "ENABLE_AGGREGATION": ["1"], "AGGREGATION_TYPE": ["SELECTIVE"], "AGGREGATION_FILE": [None], "MAX_OVERHEAD_PERCENT": ["1"],
    "MAX_TRACE_BYTES": ["65536"], "CONFIGURATION": [None], "BIND_SIGNALS": ["1"], "LOG_LEVEL": ["DEBUG"], "LIVE_DIR": ["/dev/shm", "/proc/none"],
    "STAGE_DIR": ["/dev/shm", "/proc/none"], "FOLLOW_EXEC": ["1"], "STACK": ["16"], "STACK_MIN_US": ["1"],
    "SYSTEM_METRICS": ["0", "thread"], "WEAVE": ["none"], "RANK": ["1"], "WORLD_SIZE": ["2"], "JOB_ID": ["a job"],
    "ROLE": ["worker 3"], "RUN_ID": ["run"],
}


class Counted:
    """The program, and how often it allocates untraced."""

    def __init__(self, directory):
        self.directory, self.number = directory, 0
        self.program = compile_program("allocations.c", directory / "allocations", f"-I{ROOT / 'include'}", "-fno-builtin", "-pthread")
        self.untraced = self.count(False)
        true(self.untraced > 4, f"{self.untraced} calls untraced")

    def count(self, traced=True, **settings):
        self.number += 1
        place = self.directory / str(self.number)
        place.mkdir()
        more = {"DFTRACER_" + name: value for name, value in {"ENABLE": "1", "LOG_FILE": place / "t", **settings}.items()}
        done = run([self.program, place, place / "counts"], cwd=place, env=environment(**({"LD_PRELOAD": LIBRARY, **more} if traced else {})))
        equal((done.code, done.out), (0, b""), f"{settings}: the program, {done.err}")
        return int.from_bytes((place / "counts").read_bytes()[:8], "little")

    def check(self, **settings):
        equal(self.count(**settings), self.untraced, f"{settings}: calls of malloc and its relatives")

    def file(self, text):
        path = self.directory / f"file-{self.number}.yaml"
        path.write_text(text)
        return path


def test_no_variable_allocates(directory):
    counted = Counted(directory)
    rows = re.findall(r"^DFT_OPTION\(\w+, (\w+),", (ROOT / "include" / "dftrace" / "config.def").read_text(), flags=re.M)
    equal(sorted(VALUES), sorted(rows), "the variables that have values here")
    counted.check()
    for name, values in VALUES.items():
        for value in values:
            if value is not None:
                counted.check(**{name: value})
    print(f"{counted.number} runs, {counted.untraced} calls each")


def test_no_file_allocates(directory):
    counted = Counted(directory)
    for text in (RULES, *WRONG):
        counted.check(AGGREGATION_TYPE="SELECTIVE", AGGREGATION_FILE=counted.file(text))
    for text in (CONFIGURATION, *WRONG):
        counted.check(CONFIGURATION=counted.file(text))
    counted.check(CONFIGURATION=counted.file("features: {aggregation: {type: SELECTIVE}}"), AGGREGATION_FILE=counted.file(RULES))
    counted.check(AGGREGATION_TYPE="SELECTIVE", AGGREGATION_FILE="/no/such/file", CONFIGURATION="/no/such/file")


def test_weaving_allocates_at_the_start_alone(directory):
    """The exception: DFTRACER_WEAVE loads libffi, which uses the program's malloc (docs/limits.md)."""
    counted = Counted(directory)
    more = [counted.count(WEAVE=value) - counted.untraced for value in ("no/such/file", "zlib")]
    true(all(0 <= calls < 100 for calls in more), f"{more} calls more")
    print(f"{more[1]} calls more")
