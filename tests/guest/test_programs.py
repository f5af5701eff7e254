# SPDX-License-Identifier: MIT
"""Programs that everybody uses, at the things they do for a living: the same output, exit code and files plain and traced."""

import pytest

from compare import FULL, PROGRAMS, LIBRARY, Rule, both, equal, full, need, run, true

SCRIPTS = PROGRAMS.parent / "scripts"


def work(script, *needed, size=(0, 0), shell="sh", **more):
    """Runs a script of the folder; size: N in the short and in the full form."""
    def test(directory):
        need(shell, *needed)
        env = {**more.pop("env", {}), "N": str(size[FULL])}
        both(directory, [shell, SCRIPTS / script], env=env, **more)
    return test


STAT_DATA = Rule(r"(^|/)(index|\.git/(logs/.*|gc\.log))$", "", "git's index holds inode numbers and times; logs the time")
MAKE_TEMPORARY = Rule(rb"/cc\w{6}", b"/ccX", "names of temporary files are random")
PROCESS_NUMBERS = Rule(rb"(line \d+: +|\[\d+\] )\d+", rb"\1", "process ids, as bash names its jobs")
RANDOM_NAME = Rule(r"^temp-\w{6}$", "", "the name of a temporary directory is random")


def test_git(directory):
    work("git.sh", "git", size=(25, 300), ignore=[STAT_DATA], least=100)(directory)


def test_sqlite(directory):
    work("sqlite.sh", "sqlite3", size=(2000, 100000))(directory)


def test_bash(directory):
    work("bash.sh", "ps", shell="bash", rules=[PROCESS_NUMBERS], least=100)(directory)


def test_make_and_compilers(directory):
    work("make.sh", "make", "gcc", "g++", "objdump", size=(6, 60), rules=[MAKE_TEMPORARY], least=80)(directory)


def test_files(directory):
    work("files.sh", "tar", "xz", "ed", "patch", size=(30, 400), least=100)(directory)


def test_rsync(directory):
    work("rsync.sh", "rsync", size=(20, 1000), least=10)(directory)


def test_perl(directory):
    both(directory, ["perl", SCRIPTS / "perl.pl"], expect=5, least=15)


def test_node(directory):
    need("node")
    both(directory, ["node", SCRIPTS / "node.js"], expect=6, ignore=[RANDOM_NAME], least=5)


@full
def test_node_with_io_uring(directory):
    need("node")
    both(directory, ["node", SCRIPTS / "node.js"], expect=6, ignore=[RANDOM_NAME], least=5, env={"UV_USE_IO_URING": "1"})


# --- other ways to trace ---------------------------------------------------------------------------------------------

OTHER_WAYS = {
    "pipes_and_sockets": {"DATA_DIR": "all:pipe::socket:"},
    "aggregates_only": {"ENABLE_AGGREGATION": 1},
    "uncompressed": {"TRACE_COMPRESSION": 0, "TIME_METRIC": "REL"},
    "cleaned_environments": {"FOLLOW_EXEC": 1},
    "nothing_traced": {"DATA_DIR": "/nosuch"},
}


def other_way(name, settings):
    def test(directory):
        work("bash.sh", "ps", shell="bash", rules=[PROCESS_NUMBERS], settings=settings, least=0)(directory)
        both(directory, ["perl", SCRIPTS / "perl.pl"], expect=5, settings=settings, least=0)
        if FULL:
            work("git.sh", "git", size=(25, 50), ignore=[STAT_DATA], settings=settings, least=0)(directory)
            work("make.sh", "make", "gcc", "g++", "objdump", size=(6, 20), rules=[MAKE_TEMPORARY], settings=settings, least=0)(directory)
            both(directory, ["node", SCRIPTS / "node.js"], expect=6, ignore=[RANDOM_NAME], settings=settings, least=0)
    test.__name__ = name
    return test


CASES = [other_way(way, how) if way == "pipes_and_sockets" else full(other_way(way, how)) for way, how in OTHER_WAYS.items()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_in_another_way(directory, case):
    case(directory)


def test_not_switched_on(directory):
    """Loaded and no more: the kernel is asked for nothing that it is not asked for without, once the libraries are there."""
    need("strace", "cat")
    (directory / "in").write_text("some text\n")
    seen = []
    for library in (None, LIBRARY):
        done = run(["strace", "-f", "-o", directory / "calls", "-E", f"LD_PRELOAD={library}" if library else "NONE=", "cat", directory / "in"])
        equal(done.out, b"some text\n", "output")
        calls = [line.split("(")[0].split()[-1] for line in (directory / "calls").read_text().splitlines() if "(" in line]
        seen.append(calls[calls.index("munmap") + 1:])  # behind what the loader does, which ends with its cache
    true(len(seen[0]) > 10, f"system calls without the library: {seen[0]}")
    equal(seen[1], seen[0], "system calls")


# --- other environments -----------------------------------------------------------------------------------------------


def test_with_all_symbols_bound_at_the_start(directory):
    work("sqlite.sh", "sqlite3", size=(200, 2000), env={"LD_BIND_NOW": "1"})(directory)
    both(directory, ["perl", SCRIPTS / "perl.pl"], expect=5, least=15, env={"LD_BIND_NOW": "1"})


def test_with_its_variables_in_view(directory):
    """What a program sees of the environment is what was set, in its order."""
    both(directory, ["sh", "-c", "env | grep -v ^DFTRACER_ | grep -v ^LD_PRELOAD; ls /proc/self/fd | wc -l; ls /proc/self/task | wc -l"])
