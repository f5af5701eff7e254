#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which of Python's own test modules are run here, and which Python of this machine has them.

Run as a program: exit code 0 when every module of the short form is in some Python here (tests/packages.sh asks).
"""

import functools
import shutil
import subprocess
import sys

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
# All of the long form. Modules that read the clock or the load so much that two plain runs rarely agree are left out.
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

# Importing finds what a partial installation lacks, also behind the module. A module that skips itself is there.
IMPORT = """import importlib, sys, unittest
try:
    importlib.import_module("test." + sys.argv[1])
except unittest.SkipTest:
    pass
"""


@functools.lru_cache(maxsize=None)
def interpreter(module):
    """The first Python that has this test module: the one of Debian, or the one that runs this. None without one."""
    for python in ("/usr/bin/python3", sys.executable, shutil.which("python3")):
        try:
            done = subprocess.run([python, "-c", IMPORT, module], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return python
    return None


if __name__ == "__main__":
    sys.exit(not all(interpreter(module) for module in SHORT))
