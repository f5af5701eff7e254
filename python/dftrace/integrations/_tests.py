# SPDX-License-Identifier: MIT
"""What pytest prints of the I/O of tests: why a limit was passed, and the table at the end."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Set, Tuple

import dftrace

from . import _limits, _merge, _window
from ._hook import hook

_PHASES = (" setup", " call", " teardown")


# --- a limit that was passed --------------------------------------------------------------------------


def judge(name: str, window: _window.Window, limits: _limits.Sums) -> str:
    """Why the test fails; empty where it does not. Raises Unknown."""
    groups = window.ask("op,class")
    done = _limits.sums(groups, limits)
    passed = _limits.exceeded(done, limits)
    if not passed:
        return ""
    lines = [f"{name} did more I/O than limit_io allows:", *_limits.verdict(done, limits)]
    by_file = window.ask("file,op,class")
    for measure in passed:
        lines += _most(by_file, "file", measure, f"{measure} by file")
    lines += _children(groups, passed)
    if os.environ.get("DFTRACER_STACK", "0") != "0":
        by_line = window.ask("line,op,class")
        for measure in passed:
            lines += _most(by_line, "line", measure, f"{measure} by line")
    else:
        lines.append("pytest --dftrace-stack names the lines")
    return "\n".join(lines)


def _most(groups: Iterable[Dict[str, Any]], key: str, measure: str, title: str, top: int = 5) -> List[str]:
    sums: Dict[str, int] = {}
    for group in groups:
        amount = _limits.sums([group], [measure])[measure]
        if amount and group[key]:
            sums[group[key]] = sums.get(group[key], 0) + amount
    if not sums:
        return []
    order = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    rows = [(_limits.text(measure, amount), _short(name)) for name, amount in order[:top]]
    if len(order) > top:
        rest = sum(amount for name, amount in order[top:])
        rows.append((_limits.text(measure, rest), "all others"))
    width = max(len(row[0]) for row in rows)
    return [title, *(f"  {amount:>{width}}  {name}" for amount, name in rows)]


def _short(path: str) -> str:
    """A path, or a line of a file, from the working directory on where it lies below that."""
    if not path.startswith("/"):
        return path
    try:
        relative = os.path.relpath(path)
    except OSError:  # the directory is gone
        return path
    return path if relative.startswith("..") else relative


def _children(groups: Iterable[Dict[str, Any]], passed: Iterable[str]) -> List[str]:
    own = [group for group in groups if group["child"]]
    done = _limits.sums(own, passed)
    parts = [f"{name} {_limits.text(name, amount)}" for name, amount in done.items() if amount]
    return [f"of that by processes that the test has started: {', '.join(parts)}"] if parts else []


# --- the table at the end -----------------------------------------------------------------------------

Row = Dict[str, int]


class Outputs:
    """Knows where this process's tests print to, and those of the workers of xdist."""

    def __init__(self) -> None:
        self._asked = False
        self.files: Set[str] = set()

    def pytest_runtest_call(self) -> None:
        """Output is captured now: the first test knows where."""
        if not self._asked:
            self._asked = True
            with dftrace.paused(thread=True):
                self.files.update(_window.output_files())

    def pytest_sessionfinish(self, session: Any) -> None:
        """A worker of xdist tells the one that prints the table."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["dftrace_outputs"] = sorted(self.files)

    @hook(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """What a worker has told."""
        self.files.update(getattr(node, "workeroutput", {}).get("dftrace_outputs", ()))


class Summary:
    """Prints which tests did the most I/O."""

    def __init__(self, top: int) -> None:
        self._top = top

    def pytest_terminal_summary(self, terminalreporter: Any, config: Any) -> None:
        """The table, and the command for more."""
        dftrace.flush()
        write = terminalreporter.write_line
        terminalreporter.write_sep("=", "I/O of the tests")
        folder = os.path.relpath(_merge.directory())
        outputs = config.pluginmanager.get_plugin("dftrace-outputs").files
        try:
            rows = _ask(_window.table(sorted(outputs)))
        except _merge.Unknown as error:
            write(f"not known: {error}", yellow=True)
            return
        for line in _table(rows, self._top):
            write(line)
        write(f"more: dftmerge summary --by region,file --region '*::*' {folder}")


def _ask(table: str) -> Dict[str, Row]:
    """The I/O of each test by name, of all threads of its process and of the processes that these have started."""
    folder = _merge.directory()
    paths = [os.path.join(folder, name) for name in sorted(_window.files())]
    paths = [path if os.path.exists(path) else path + ".live" for path in paths]
    if not paths:
        raise _merge.Unknown(f"no trace in {folder}")
    rows: Dict[str, Row] = {}
    for group in _by_worker(paths):
        for add, filters in (("io", ["--class", ",".join(_limits.IO)]), ("fsyncs", ["--class", "sync"]),
                             ("opens", ["--op", "open,fopen", "--class", "meta", "--errno", "0"])):
            answer = _merge.ask(["summary", "--by", "instance", "--region", "*::*", *filters], group, table)
            for instance in answer["instances"]:
                if instance["cat"] == "pytest" and not instance["name"].endswith(_PHASES):
                    _add(rows.setdefault(instance["name"], {}), add, instance)
    return rows


def _add(row: Row, what: str, instance: Dict[str, Any]) -> None:
    amounts = {what: instance["all_count"]}
    if what == "io":
        amounts = {"io": instance["all_io_ns"], "read": instance["all_read_bytes"],
                   "written": instance["all_write_bytes"], "time": instance["time_ns"]}
    for name, amount in amounts.items():
        row[name] = row.get(name, 0) + amount


def _by_worker(paths: List[str]) -> List[List[str]]:
    """The traces of each worker of xdist with those of its children; all together without workers."""
    if "PYTEST_XDIST_TESTRUNUID" not in os.environ and not _has_workers():
        return [paths]
    processes = _merge.ask(["ps"], paths)["processes"]
    workers: Dict[str, str] = {}
    parts: Dict[str, List[str]] = {}
    for process in processes:  # parents come first
        key = process["key"]
        worker = workers.get(process["child_of"] or "", "")
        if not worker and (process["role"] or "").startswith("pytest-xdist "):
            worker = key
        workers[key] = worker
        path = process["file"] or process["live_file"]
        if path not in parts.setdefault(worker, []):
            parts[worker].append(path)
    return list(parts.values())


def _has_workers() -> bool:
    import sys

    return "xdist.dsession" in sys.modules


def _table(rows: Dict[str, Row], top: int) -> List[str]:
    if not rows:
        return ["no test was run"]
    total = {name: sum(row.get(name, 0) for row in rows.values()) for name in ("io", "read", "written", "time")}
    share = 100 * total["io"] / total["time"] if total["time"] else 0
    tests = "1 test" if len(rows) == 1 else f"{len(rows)} tests"
    lines = [f"{tests}: I/O {_merge.duration(total['io'])} = {share:.1f} % of their time, "
             f"{_merge.size(total['read'])} read, {_merge.size(total['written'])} written"]
    order = sorted(rows.items(), key=lambda item: (-item[1].get("io", 0), item[0]))
    cells: List[Tuple[str, ...]] = [("I/O", "read", "written", "opens", "fsyncs", "test")]
    for name, row in order[:top]:
        bytes_of = [_merge.size(row[key]) if row.get(key) else "-" for key in ("read", "written")]
        calls = [f"{row[key]:,}" if row.get(key) else "-" for key in ("opens", "fsyncs")]
        cells.append((_merge.duration(row.get("io", 0)), *bytes_of, *calls, name))
    widths = [max(len(cell[column]) for cell in cells) for column in range(5)]
    for cell in cells:
        lines.append("  ".join(f"{cell[column]:>{widths[column]}}" for column in range(5)) + "  " + cell[5])
    if len(order) > top:
        lines.append(f"{len(order) - top} more: pytest --dftrace-top N")
    return lines
