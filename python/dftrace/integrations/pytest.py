# SPDX-License-Identifier: MIT
"""A plug-in of pytest: `pytest --dftrace` traces the tests, and says which of them did the most I/O.

    @pytest.mark.limit_io(bytes="10 MiB", opens=100, fsyncs=0)
    def test_load(): ...

The test fails when it does more. pytest finds the plug-in where dftrace is installed; elsewhere -p names it:
`pytest -p dftrace.integrations.pytest`.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Generator

import pytest

from ._hook import hook

_Steps = Generator[None, Any, None]
_MARK = ("limit_io(bytes=, read=, written=, opens=, reads=, writes=, fsyncs=, stats=, failed=, calls=, time=): fail "
         'the test when it does more I/O, as in limit_io(bytes="10 MiB", opens=100). Checked by pytest --dftrace')
_TOP = 10
_STACK = 16
_AGAIN = "DFTRACE_PYTEST"  # set in the process that is executed, so that it is executed once


def install() -> None:
    """Nothing is left to do: pytest finds this module by its entry point, or by -p."""


def pytest_addoption(parser: Any) -> None:
    """The options."""
    group = parser.getgroup("dftrace", "I/O of tests")
    group.addoption("--dftrace", action="store_true", help="trace the I/O of the tests, and check limit_io")
    group.addoption("--dftrace-output", metavar="DIR", help="directory for the traces (default: traces)")
    group.addoption("--dftrace-stack", action="store_true",
                    help="record call stacks, 16 frames deep: failures of limit_io name lines")
    group.addoption("--dftrace-top", metavar="N", type=int, help=f"tests in the table (default: {_TOP})")
    group.addoption("--dftrace-strict", action="store_true", help="fail tests with limit_io where nothing is traced")
    parser.addini("dftrace_strict", "fail tests with limit_io where nothing is traced", type="bool", default=False)


# --- executing pytest under the preload -------------------------------------------------------------


def _execute_again(config: Any, option: Any) -> None:
    """Executes pytest in place of this process, with the library loaded before all else."""
    from dftrace import _preload

    if not option.dftrace and not _preload.is_preloaded():
        given = {"--dftrace-output": option.dftrace_output is not None, "--dftrace-stack": option.dftrace_stack,
                 "--dftrace-top": option.dftrace_top is not None}
        for name in [name for name, is_given in given.items() if is_given][:1]:
            raise pytest.UsageError(f"{name} does nothing without --dftrace: add --dftrace")
    if not option.dftrace or _preload.is_preloaded() or "PYTEST_XDIST_WORKER" in os.environ:
        return
    if _AGAIN in os.environ:
        raise pytest.UsageError("--dftrace: the library was not loaded: this Python drops LD_PRELOAD")
    parameters = getattr(config, "invocation_params", None)
    if parameters is not None and list(map(str, parameters.args)) != sys.argv[1:]:
        raise pytest.UsageError("--dftrace works on the command line: pytest.main() is inside of another program; run "
                                "that one by `python -m dftrace run`")
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().split(b"\0")[:-1]
    directory = option.dftrace_output or "traces"
    try:
        variables = _preload.environment(directory, "pytest", _STACK if option.dftrace_stack else 0)
    except OSError as error:
        raise pytest.UsageError(f"--dftrace: {error}") from None
    variables[_AGAIN] = str(os.getpid())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable.encode(), *words[1:]], variables)


@hook(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> _Steps:
    """Before any conftest.py runs, and before output is captured."""
    _execute_again(early_config, early_config.known_args_namespace)
    yield


@hook(tryfirst=True)
def pytest_cmdline_main(config: Any) -> None:
    """The same where a conftest.py names this plug-in."""
    _execute_again(config, config.option)


# --- what is recorded ---------------------------------------------------------------------------------


def pytest_configure(config: Any) -> None:
    """Makes the mark known, and begins to record where anything is traced."""
    config.addinivalue_line("markers", _MARK)
    os.environ.pop(_AGAIN, None)
    strict = config.getoption("dftrace_strict") or config.getini("dftrace_strict")
    config.pluginmanager.register(Limits(strict), "dftrace-limits")
    from dftrace import _preload

    if not _preload.is_preloaded():
        return
    import dftrace

    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        dftrace.set_role("pytest-xdist " + worker)
    from dftrace.integrations import _tests  # now, not within a test

    config.pluginmanager.register(Regions(), "dftrace-regions")
    config.pluginmanager.register(_tests.Outputs(), "dftrace-outputs")
    top = config.getoption("dftrace_top")
    if config.getoption("dftrace") and not worker:
        config.pluginmanager.register(_tests.Summary(_TOP if top is None else top), "dftrace-summary")


class Regions:
    """Each test is a region of category pytest, and in it its phases are."""

    def __init__(self) -> None:
        import dftrace

        self._region = dftrace.region

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> _Steps:
        """A test with all that belongs to it."""
        with self._region(item.nodeid, category="pytest"):
            yield

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> _Steps:
        """Fixtures begin."""
        with self._region(item.nodeid + " setup", category="pytest"):
            yield

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> _Steps:
        """The test's function."""
        with self._region(item.nodeid + " call", category="pytest"):
            yield

    @hook(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> _Steps:
        """Fixtures end."""
        with self._region(item.nodeid + " teardown", category="pytest"):
            yield


# --- limit_io -----------------------------------------------------------------------------------------


class Limits:
    """Holds marked tests against their limits."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.unchecked: Dict[str, int] = {}  # why: how many tests

    @hook(trylast=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """A mark that cannot be understood is an error of its test."""
        if item.get_closest_marker("limit_io") is None:
            return
        self._limits(item)
        if self.strict and not _is_traced():
            pytest.fail("limit_io was not checked: run pytest --dftrace", pytrace=False)

    @hook(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> _Steps:
        """Puts the check around the test's function, inside of all that pytest does around it."""
        if item.get_closest_marker("limit_io") is None:
            yield
            return
        limits = self._limits(item)
        if not _is_traced():
            self._not_checked("run pytest --dftrace")
            yield
            return
        import dftrace
        from dftrace.integrations._window import Window

        run = item.runtest

        def runtest() -> None:
            window = Window("limit_io")
            run()
            window.end()
            with dftrace.paused(thread=True):
                text = self._check(item, window, limits)
            if text:
                pytest.fail(text, pytrace=False)

        item.runtest = runtest
        try:
            yield
        finally:
            del item.runtest

    @hook(trylast=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        """A worker of xdist tells the others what it did not check."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["dftrace_unchecked"] = self.unchecked

    @hook(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """What a worker of xdist did not check."""
        for why, count in getattr(node, "workeroutput", {}).get("dftrace_unchecked", {}).items():
            self.unchecked[why] = self.unchecked.get(why, 0) + count

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Says which limits nobody has looked at."""
        for why, count in self.unchecked.items():
            tests = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.write_line(f"limit_io not checked in {tests}: {why}", yellow=True)

    def _limits(self, item: Any) -> Dict[str, int]:
        from dftrace.integrations import _limits

        try:
            return _limits.of_marks(item.iter_markers("limit_io"))
        except _limits.Wrong as error:
            wrong = str(error)
        pytest.fail(wrong, pytrace=False)

    def _not_checked(self, why: str) -> None:
        self.unchecked[why] = self.unchecked.get(why, 0) + 1

    def _check(self, item: Any, window: Any, limits: Dict[str, int]) -> str:
        """Why the test fails, or nothing."""
        from dftrace.integrations import _merge, _tests

        try:
            window.find()
            return _tests.judge(item.nodeid, window, limits)
        except _merge.Unknown as error:
            self._not_checked(str(error))
            return f"limit_io was not checked: {error}" if self.strict else ""


def _is_traced() -> bool:
    from dftrace import _preload

    if not _preload.is_preloaded():
        return False
    import dftrace

    return dftrace.enabled()
