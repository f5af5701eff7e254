# SPDX-License-Identifier: MIT
"""The plug-in of pytest, in a pytest of its own: what is traced, what limit_io says, what strace counts of the same."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import shutil
import sys
from typing import Dict, List, Optional

import pytest
import traced

PLUGIN = ["-p", "dftrace.integrations.pytest", "-p", "no:cacheprovider"]
HAS_XDIST = importlib.util.find_spec("xdist") is not None
# Does known I/O; each amount is that of one line.
WORK = """
import os, pathlib, subprocess, sys, threading
def own(folder):
    for i in range(3):
        (folder / f"f{i}").write_bytes(b"a" * 1000)
    print("printed" * 100)
    os.write(1, b"printed, too")
def fork(folder):
    pid = os.fork()
    if not pid:
        with open(folder / "forked", "wb", 0) as file:
            file.write(b"b" * 200)
            os.fsync(file.fileno())
        os._exit(0)
    os.waitpid(pid, 0)
def program(folder):
    subprocess.run([sys.executable, "-S", "-c", "import sys; open(sys.argv[1], 'wb', 0).write(b'c' * 30)",
                    str(folder / "program")], check=True)
def thread(folder):
    thread = threading.Thread(target=lambda: (folder / "thread").write_bytes(b"d" * 4))
    thread.start()
    thread.join()
def reading(folder):
    (folder / "f0").read_bytes()
"""


def run_pytest(folder: pathlib.Path, tests: str, *options: str, trace: bool = True, before: Optional[List[str]] = None,
               **more: Optional[object]) -> traced.Done:
    """Runs a pytest of its own on a file of tests, with --dftrace unless trace is false."""
    (folder / "test_it.py").write_text("import os, pytest\nfrom work import *\n" + tests)
    (folder / "work.py").write_text(WORK)
    command = [*(before or []), sys.executable, "-m", "pytest", *PLUGIN, *(["--dftrace"] if trace else []), *options,
               f"--basetemp={folder / 'tmp'}", "test_it.py"]
    return traced.run(command, folder, traced.environment(**more))


def counts(done: traced.Done) -> Dict[str, str]:
    """What the failures say: limit by limit, the amount that was done."""
    return dict(re.findall(r"^(?:E +)?  (\w+) +([0-9][^,]*(?:,\d{3})*[^,]*), limit", done.out, re.M))


ALL_ZERO = "bytes=0, read=0, written=0, opens=0, reads=0, writes=0, fsyncs=0, calls=0, time=0"
EVERYTHING = f"""
@pytest.mark.limit_io({ALL_ZERO})
def test_all(tmp_path):
    own(tmp_path); fork(tmp_path); program(tmp_path); thread(tmp_path); reading(tmp_path)
"""
EXACT = {"bytes": "4.13 KiB", "read": "1000 B", "written": "3.16 KiB", "opens": "7", "writes": "6", "fsyncs": "1"}


def test_limits_count_threads_and_children_exactly(tmp_path: pathlib.Path) -> None:
    done = run_pytest(tmp_path, EVERYTHING)
    assert done.code == 1
    said = counts(done)
    assert {name: said.get(name) for name in EXACT} == EXACT
    assert "test_it.py::test_all did more I/O than limit_io allows:" in done.out
    assert re.search(r"^written by file\n +1000 B +tmp/test_all0/f0$", done.out, re.M)
    assert "of that by processes that the test has started: bytes 230 B" in done.out


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace")
def test_limits_agree_with_strace(tmp_path: pathlib.Path) -> None:
    """strace counts what was done below the test's folder: opens, bytes read and written, fsyncs."""
    log = tmp_path / "strace"  # a file for each process, so that no line is cut
    log.mkdir()
    plain = run_pytest(tmp_path, EVERYTHING, trace=False, before=[
        "strace", "-ff", "-y", "-o", str(log / "of"), "-e",
        "trace=open,openat,creat,read,write,pread64,pwrite64,fsync"])
    assert plain.code == 0
    sums = dict.fromkeys(("opens", "read", "written", "fsyncs"), 0)
    for line in (line for path in log.iterdir() for line in path.read_text(errors="replace").splitlines()):
        match = re.match(r"(\w+)\(.*test_all0/.* = (-?\d+)", line)
        if match and int(match[2]) >= 0:
            call, result = match[1], int(match[2])
            if "open" in call and "O_DIRECTORY" not in line:
                sums["opens"] += 1
            sums["read"] += result if "read" in call else 0
            sums["written"] += result if "write" in call else 0
            sums["fsyncs"] += call == "fsync"
    assert sums == {"opens": 7, "read": 1000, "written": 3234, "fsyncs": 1}
    done = run_pytest(tmp_path, f"""
@pytest.mark.limit_io(opens={sums['opens']}, read={sums['read']}, written={sums['written']}, fsyncs={sums['fsyncs']})
def test_all(tmp_path):
    own(tmp_path); fork(tmp_path); program(tmp_path); thread(tmp_path); reading(tmp_path)
@pytest.mark.limit_io(written={sums['written'] - 1})
def test_less(tmp_path):
    own(tmp_path); fork(tmp_path); program(tmp_path); thread(tmp_path)
""")
    assert "1 failed, 1 passed" in done.out, done.out
    assert "written  3,234 B, limit 3,233 B" in done.out


def test_with_call_stacks_a_failure_names_lines(tmp_path: pathlib.Path) -> None:
    done = run_pytest(tmp_path, "@pytest.mark.limit_io(written=0)\ndef test_one(tmp_path): own(tmp_path)\n",
                      "--dftrace-stack")
    assert done.code == 1
    assert re.search(r"^written by line\n +2\.93 KiB +work\.py:5 own$", done.out, re.M), done.out


def test_fixtures_other_tests_and_imports_do_not_count(tmp_path: pathlib.Path) -> None:
    (tmp_path / "late.py").write_text("value = 1\n")
    done = run_pytest(tmp_path, """
@pytest.fixture
def data(tmp_path):
    own(tmp_path)
    yield tmp_path
    own(tmp_path)
def test_before(tmp_path): own(tmp_path); program(tmp_path)
@pytest.mark.limit_io(written=0, fsyncs=0)
def test_reads(data):
    import late, wave
    print("x" * 1000)
    (data / "f0").read_bytes()
def test_after(tmp_path): own(tmp_path); program(tmp_path)
""")
    assert done.code == 0, done.out
    assert "3 passed" in done.out and "not checked" not in done.out


def test_a_pool_of_an_earlier_fixture_counts_what_it_does_meanwhile(tmp_path: pathlib.Path) -> None:
    done = run_pytest(tmp_path, """
import multiprocessing
@pytest.fixture(scope="module")
def pool():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        yield pool
def test_first(pool, tmp_path): pool.apply(own, (tmp_path,))
@pytest.mark.limit_io(opens=1)
def test_second(pool, tmp_path): pool.apply(own, (tmp_path,))
@pytest.mark.limit_io(opens=0)
def test_idle(pool, tmp_path): pass
""")
    assert "1 failed, 2 passed" in done.out, done.out
    assert counts(done) == {"opens": "3"}


@pytest.mark.skipif(not HAS_XDIST, reason="no xdist")
def test_workers_of_xdist_are_counted_by_themselves(tmp_path: pathlib.Path) -> None:
    tests = "".join(f"""
@pytest.mark.limit_io(opens={opens}, written=3030, read=0)
def test_{number}(tmp_path):
    own(tmp_path); program(tmp_path)
""" for number, opens in enumerate([4, 3, 4, 4, 3, 4]))
    done = run_pytest(tmp_path, tests, "-n", "2")
    assert "2 failed, 4 passed" in done.out, done.out
    assert done.out.count("opens  4, limit 3") == 2
    table = done.out[done.out.index("I/O of the tests"):]
    assert re.search(r"^6 tests: I/O .*, 17\.8 KiB written$", table, re.M), table
    processes = [process["role"] for process in ps(done)]
    assert {"pytest-xdist gw0", "pytest-xdist gw1"} <= set(processes)


def ps(done: traced.Done) -> List[traced.Event]:
    """The processes of the traces."""
    import json

    processes: List[traced.Event] = json.loads(traced.merge("ps", "--json", done.traces).out)["processes"]
    return processes


def test_each_test_is_a_region_and_the_table_names_it(tmp_path: pathlib.Path) -> None:
    done = run_pytest(tmp_path, "@pytest.mark.parametrize('n', [1, 2])\ndef test_one(tmp_path, n): own(tmp_path)\n"
                                "def test_none(): pass\n", "--dftrace-output", "traces/here", "--dftrace-top", "2")
    assert done.code == 0, done.out
    names = {event["name"] for event in done.events("--cat", "pytest")}
    assert {"test_it.py::test_one[1]", "test_it.py::test_one[1] setup", "test_it.py::test_one[2] call",
            "test_it.py::test_none teardown"} <= names
    assert re.search(r"^3 tests: I/O .* = .* % of their time, .* read, 5\.86 KiB written$", done.out, re.M), done.out
    assert re.search(r"  2\.93 KiB +3 +-  test_it.py::test_one\[1\]$", done.out, re.M), done.out
    assert "1 more: pytest --dftrace-top N" in done.out
    command = re.search(r"^more: dftmerge (.*) (\S+)$", done.out, re.M)
    assert command and command[2] == "traces/here"
    answer = traced.merge("summary", "--by", "region,file", "--region", "*::*", tmp_path / command[2])
    assert answer.code == 0 and "[1] call" in answer.out


def test_without_tracing_a_mark_is_not_checked_and_says_so(tmp_path: pathlib.Path) -> None:
    tests = "@pytest.mark.limit_io(opens=0)\ndef test_one(tmp_path): own(tmp_path)\n"
    done = run_pytest(tmp_path, tests, "--strict-markers", "-W", "error", trace=False)
    assert done.code == 0 and "limit_io not checked in 1 test: run pytest --dftrace" in done.out
    assert not done.traces.exists()
    strict = run_pytest(tmp_path, tests, "--dftrace-strict", trace=False)
    assert strict.code == 1 and "limit_io was not checked: run pytest --dftrace" in strict.out
    (tmp_path / "pytest.ini").write_text("[pytest]\ndftrace_strict = true\n")
    assert run_pytest(tmp_path, tests, trace=False).code == 1


def test_aggregates_alone_do_not_check_a_limit(tmp_path: pathlib.Path) -> None:
    done = run_pytest(tmp_path, "@pytest.mark.limit_io(opens=0)\ndef test_one(tmp_path): own(tmp_path)\n",
                      DFTRACER_ENABLE_AGGREGATION=1)
    assert done.code == 0 and "limit_io not checked in 1 test: the trace has no event" in done.out


@pytest.mark.parametrize("mark, text", [
    ("opns=1", "limit_io does not know opns. Did you mean opens?"),
    ("zzz=1", "limit_io does not know zzz. It knows bytes, read, written,"),
    ("bytes='10 Mib/s'", "limit_io: bytes='10 Mib/s' is no amount; write bytes=\"10 MiB\""),
    ("opens='3'", "limit_io: opens='3' is no number of calls; write opens=100"),
    ("opens=-1", "limit_io: opens=-1 is no number of calls"),
    ("time='fast'", "limit_io: time='fast' is no amount; write time=\"50 ms\""),
    ("", "limit_io limits nothing"),
    ("1, 2", "limit_io takes names: write limit_io(bytes="),
    ("5", "limit_io takes names: write limit_io(bytes=5)"),
    ("'1 MiB'", "limit_io takes names: write limit_io(bytes='1 MiB')"),
])
def test_a_wrong_mark_is_an_error_of_its_test(tmp_path: pathlib.Path, mark: str, text: str) -> None:
    tests = f"@pytest.mark.limit_io({mark})\ndef test_one(): pass\ndef test_two(): pass\n"
    done = run_pytest(tmp_path, tests, trace=False)
    assert done.code == 1 and "1 passed, 1 error" in done.out
    assert text in done.out


def test_the_closest_of_several_marks_counts(tmp_path: pathlib.Path) -> None:
    done = run_pytest(tmp_path, """
@pytest.mark.limit_io(opens=0, written="1 kB")
class TestAll:
    @pytest.mark.limit_io(opens=3)
    def test_one(self, tmp_path): own(tmp_path)
""")
    assert counts(done) == {"written": "2.93 KiB"}
    assert "limit 1000 B" in done.out


@pytest.mark.parametrize("word, amount", [("10", 10), ("1.5 KiB", 1536), ("2kB", 2000), ("3K", 3072), ("1 MB", 10**6),
                                          ("1GiB", 2**30), (" .5 kib ", 512), (7, 7), (1.5, 1)])
def test_amounts_of_bytes(word: object, amount: int) -> None:
    program = ("import sys; from dftrace.integrations import _limits\n"
               f"print(_limits.parse(dict(bytes={word!r}, time='1.5 ms')))")
    done = traced.run([sys.executable, "-c", program], pathlib.Path("/"))
    assert done.out.strip() == str({"bytes": amount, "time": 1500000}), done.err


def test_arguments_exit_codes_and_output_stay(tmp_path: pathlib.Path) -> None:
    tests = """
def test_argument(request):
    print("said")
    assert request.config.getoption("-k") == "not aabb and not zz"
    assert "DFTRACE_PYTEST" not in os.environ
def test_fails(): raise ValueError("on purpose")
"""
    options = ["-k", "not aabb and not zz", "-rA", "-p", "no:randomly"]
    plain = run_pytest(tmp_path, tests, *options, trace=False)
    done = run_pytest(tmp_path, tests, *options)
    assert (plain.code, done.code) == (1, 1), plain.out + done.out

    def steady(text: str) -> List[str]:
        text = re.sub(r"=+ I/O of the tests =+\n(.*\n)*?more: .*\n", "", re.sub(r"in [0-9.]+s", "", text))
        return [line for line in text.splitlines() if "test_argument" not in line or "os.environ" not in line]

    assert [line.strip("= ") for line in steady(done.out)] == [line.strip("= ") for line in steady(plain.out)]
    assert run_pytest(tmp_path, "", ).code == 5  # no tests
    assert run_pytest(tmp_path, tests, "--no-such-option").code == 4
    assert run_pytest(tmp_path, "def test_one(): os._exit(7)\n").code == 7


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    done = run_pytest(tmp_path, "def test_one(): pass\n", "--dftrace-output", "file/traces")
    assert done.code == 4 and "--dftrace: " in done.err and "file/traces" in done.err


@pytest.mark.parametrize("options", [["--dftrace-stack"], ["--dftrace-output", "out"], ["--dftrace-top", "10"]])
def test_an_option_without_dftrace_is_refused(tmp_path: pathlib.Path, options: List[str]) -> None:
    tests = "def test_one(): pass\n"
    done = run_pytest(tmp_path, tests, *options, trace=False)
    assert done.code == 4 and f"{options[0]} does nothing without --dftrace: add --dftrace" in done.err, done.err
    for more in ({"trace": True}, {"trace": False, "before": [str(traced.DFTRUN), "-q"]}):
        done = run_pytest(tmp_path, tests, *options, **more)  # type: ignore[arg-type]
        assert done.code == 0 and "1 passed" in done.out, done.out + done.err


def test_a_file_behind_the_switch_is_a_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_one(): open('data', 'w').close()\n")
    done = traced.run([sys.executable, "-m", "pytest", *PLUGIN, "--dftrace", "--dftrace-stack", "test_a.py"], tmp_path)
    assert done.code == 0 and "1 passed" in done.out, done.err
    assert any(event.get("stack") for event in done.events() if str(event.get("file")).endswith("/data"))


def test_inside_another_program_it_says_what_to_do(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_one(): pass\n")
    program = f"import sys, pytest; sys.exit(pytest.main({[*PLUGIN, '--dftrace', 'test_it.py']!r}))"
    done = traced.run([sys.executable, "-c", program], tmp_path)
    assert done.code == 4 and "python -m dftrace run" in done.err


def test_under_dftrun_marks_are_checked_without_the_option(tmp_path: pathlib.Path) -> None:
    tests = "@pytest.mark.limit_io(opens=1)\ndef test_one(tmp_path): own(tmp_path); os.chdir('/')\n"
    done = run_pytest(tmp_path, tests, trace=False, before=[str(traced.DFTRUN), "-q"])
    assert done.code == 1 and counts(done) == {"opens": "3"}


def test_it_costs_nothing_unless_asked_for(tmp_path: pathlib.Path) -> None:
    """What counts I/O is not imported."""
    done = run_pytest(tmp_path, "def test_one():\n    import sys\n"
                                "    assert not {n for n in sys.modules if n.startswith('dftrace.integrations._w')}\n",
                      trace=False)
    assert done.code == 0, done.out
