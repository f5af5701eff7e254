#!/usr/bin/env python3
"""The Python interpreter's own tests: every test has the same result plain and traced."""

import shutil
import subprocess
import sys
import xml.etree.ElementTree

from compare import FULL, Skip, Tests, full, run_plain, run_traced, true

tests = Tests()
TRIES = 5
TIMEOUT = 900

# In CI: the quick modules, and of the slow ones the tests with these names.
SHORT = {
    "test_os": (), "test_fileio": (), "test_posix": (), "test_mmap": (), "test_tempfile": (), "test_shutil": (),
    "test_selectors": ("EpollSelectorTestCase.test_register*", "EpollSelectorTestCase.test_unregister*"),
    "test_io": ("CIOTest", "CBuffered*", "CTextIOWrapperTest", "CMiscIOTest"),
    "test_signal": ("PosixTests", "WakeupFDTests", "PendingSignalsTests.test_pthread*", "PendingSignalsTests.test_sigpending*"),
    "test_subprocess": ("POSIXProcessTestCase.test_*fds*", "POSIXProcessTestCase.test_*errpipe*", "POSIXProcessTestCase.test_*fork*",
                        "POSIXProcessTestCase.test_preexec*", "POSIXProcessTestCase.test_remapping*", "ContextManagerTests"),
    "test_threading": ("ThreadJoinOnShutdown", "ThreadTests.test_*fork*", "ThreadTests.test_*daemon*", "ThreadTests.test_various*"),
    "test_multiprocessing_fork": ("WithProcessesTestQueue", "WithProcessesTestPoolWorkerLifetime"),
    "test_multiprocessing_spawn": ("WithProcessesTestConnection",),
}
MODULES = ["test_os", "test_io", "test_fileio", "test_posix", "test_subprocess", "test_multiprocessing_fork",
           "test_multiprocessing_spawn", "test_multiprocessing_forkserver", "test_threading", "test_signal", "test_mmap",
           "test_tempfile", "test_shutil", "test_selectors", "test_pathlib", "test_glob", "test_socket", "test_asyncio",
           "test_pty", "test_sqlite3", "test_zipfile", "test_tarfile", "test_dbm", "test_dbm_dumb", "test_dbm_gnu",
           "test_dbm_ndbm", "test_logging", "test_fcntl", "test_file", "test_largefile", "test_fork1", "test_wait3",
           "test_wait4", "test_popen", "test_poll", "test_epoll", "test_select", "test_gzip", "test_bz2", "test_lzma",
           "test_mailbox", "test_shelve", "test_fileinput", "test_filecmp", "test_ioctl", "test_openpty",
           "test_threadsignals", "test_concurrent_futures", "test_faulthandler", "test_resource", "test_cmd_line",
           "test_cmd_line_script", "test_eintr", "test_ctypes", "test_import", "test_memoryio", "test_univnewlines",
           "test_linecache", "test_netrc", "test_posixpath", "test_genericpath", "test_socketserver", "test_syslog",
           "test_thread", "test_threading_local", "test_queue", "test_sched", "test_crypt", "test_getpass", "test_runpy"]
"""Those that read the clock or the load of the machine so much that two plain runs rarely agree are not here."""


def interpreter():
    """The first Python that has its own tests: the one of Debian, or the one that runs this."""
    for python in ("/usr/bin/python3", sys.executable, shutil.which("python3")):
        found = subprocess.run([python, "-c", "import test.test_os, test.test_io"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
        if found.returncode == 0:
            return python
    raise Skip("no Python with its test modules (Debian: libpython3.*-testsuite)")


def command(module, patterns):
    chosen = [argument for pattern in patterns for argument in ("-m", pattern if pattern.startswith("test.") else f"*.{pattern}" if "." in pattern else pattern)]
    return [interpreter(), "-m", "test", "-v", "--timeout", TIMEOUT, "--junit-xml", "../results.xml", *chosen, module]


def results(directory):
    """What each test came to: name -> kinds of all that was reported for it."""
    found = {}
    file = directory / "results.xml"
    if file.exists():
        for test in xml.etree.ElementTree.parse(file).iter("testcase"):
            kinds = sorted(child.tag for child in test if child.tag in ("failure", "error", "skipped"))
            found.setdefault(test.get("name"), []).extend(kinds or ["ok"])
        file.unlink()
    return found


def plain_results(directory, module, patterns):
    done = run_plain(directory, command(module, patterns), seconds=3000)
    return done, results(directory)


def traced_results(directory, module, patterns, settings, sound):
    done = run_traced(directory, command(module, patterns), seconds=3000, settings=settings, sound=sound)
    return done, results(directory)


def message_of(done, name):
    """The last lines that the run has about this test."""
    text = (done.out + done.err).decode(errors="replace")
    at = max(text.rfind("ERROR: " + name.split(".")[-1]), text.rfind("FAIL: " + name.split(".")[-1]))
    return " | ".join((text[at:at + 1500] if at >= 0 else text[-800:]).splitlines()[-25:])


def stays_different(directory, module, name, settings):
    """Runs one test again. It is a difference when some traced run has a result that no plain run has."""
    pattern = (name,)
    plain = [plain_results(directory, module, pattern)[1].get(name) for _ in range(TRIES)]
    for _ in range(TRIES):
        done, found = traced_results(directory, module, pattern, settings, False)
        if found.get(name) not in plain:
            return f"{name}: plain {plain[0]}, traced {found.get(name)}: {message_of(done, name)}"
    return None


def compare_module(directory, module, patterns=(), **settings):
    done, plain = plain_results(directory, module, patterns)
    if not plain and (b"No module named" in done.out + done.err or f"\n{module} skipped".encode() in done.out):
        raise Skip(f"this Python has no {module}, or not here")
    true(plain, f"no results of the plain run, exit code {done.code}: {done.out.decode()[-400:]}")
    traced_done, traced = traced_results(directory, module, patterns, settings, True)
    true(traced, f"no results of the traced run, exit code {traced_done.code}: "
                 f"{(traced_done.out + traced_done.err).decode(errors='replace')[-1500:]}")
    differ = sorted(name for name in plain.keys() | traced.keys() if plain.get(name) != traced.get(name))
    stay = [text for text in (stays_different(directory, module, name, settings) for name in differ) if text]
    true(not stay, f"{len(stay)} of {len(plain)} tests: " + "; ".join(stay))
    true(differ or traced_done.code == done.code, f"exit code {traced_done.code}, plain {done.code}: "
         f"{traced_done.err.decode(errors='replace')[-1500:]}")


def add(module, patterns, kind, only_full, **settings):
    def test(directory):
        compare_module(directory, module, patterns, **settings)
    test.__name__ = f"{module}{kind}"
    tests.case(full(test) if only_full else test)


for module in MODULES:
    add(module, () if FULL else SHORT.get(module, ()), "", module not in SHORT)
    add(module, (), "_with_all_descriptors", True, DATA_DIR="all:pipe::socket:")

if __name__ == "__main__":
    sys.exit(tests.main())
