# SPDX-License-Identifier: MIT
"""Magics of IPython and Jupyter: `%load_ext dftrace`, then `%%dftrace` on top of a cell shows the I/O of the cell.

    %%dftrace [--by KEYS] [--top N]       the cell, and then its I/O by file or other keys of dftmerge summary
    %dftrace [--by KEYS] [--top N] CODE   the same of one line
    %dftrace                              says whether I/O is traced, and where the traces are
"""

from __future__ import annotations

import html
import importlib
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

import dftrace
from dftrace import _preload, _table

from . import _limits, _merge, _window

SUMS = ("calls", "time", "read", "written", "opens", "fsyncs")
USAGE = "usage: %dftrace [--by KEYS] [--top N] [CODE], as in %%dftrace --by dir,op --top 5"


class CellFailed(Exception):
    """The cell has failed, and IPython has shown why: nothing is shown again, and the cells behind it are not run."""

    def _render_traceback_(self) -> List[str]:
        return []


@dataclass
class CellIO:
    """The I/O of a cell, of all its threads and of the processes that it has started.

    total: calls, time (ns), read and written (bytes), opens, fsyncs. groups: the same by the values of `keys`, that
    with the most time first.
    """

    keys: Tuple[str, ...]
    total: Dict[str, int]
    groups: List[Tuple[Tuple[str, ...], Dict[str, int]]]
    wall_ns: int
    startup_calls: int
    children: Dict[str, int]
    top: int = 10
    notes: List[str] = field(default_factory=list)

    def verdict(self) -> str:
        """One line: what the I/O of the cell is in all."""
        total = self.total
        if not total["calls"]:
            return "no I/O" + (f"; start-up: {_count(self.startup_calls, 'call')}" if self.startup_calls else "")
        parts = [f"I/O {_merge.duration(total['time'])}" + self._share(), f"{_merge.size(total['read'])} read",
                 f"{_merge.size(total['written'])} written", _count(total["calls"], "call"),
                 _count(total["opens"], "file") + " opened"]
        if total["fsyncs"]:
            parts.append(_count(total["fsyncs"], "fsync"))
        return ", ".join(parts)

    def _share(self) -> str:
        share = 100 * self.total["time"] / max(self.wall_ns, 1)
        return f" = {share:.1f} % of {_merge.duration(self.wall_ns)}"

    def _rows(self) -> List[List[str]]:
        shown, rest = self.groups[:self.top], self.groups[self.top:]
        rows = [[*SUMS, *self.keys]]
        rows += [[*_cells(sums), *map(_table.shown, keys)] for keys, sums in shown]
        if rest:
            others = {name: sum(sums[name] for _, sums in rest) for name in SUMS}
            rows.append([*_cells(others), "all others", *([""] * (len(self.keys) - 1))])
        return rows

    def _lines(self) -> List[str]:
        """What stands below the table."""
        lines = list(self.notes)
        if self.children["calls"]:
            lines.append(f"of that by processes that the cell has started: {_merge.duration(self.children['time'])}, "
                         f"{_count(self.children['calls'], 'call')}")
        if self.startup_calls and self.total["calls"]:
            lines.append(f"start-up, not in the table: {_count(self.startup_calls, 'call')}")
        return lines

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [self.verdict()]
        for row in rows if self.groups else []:
            numbers = "  ".join(f"{row[column]:>{widths[column]}}" for column in range(len(SUMS)))
            texts = "  ".join(f"{row[column]:<{widths[column]}}" for column in range(len(SUMS), len(row)))
            lines.append(f"{numbers}  {texts}".rstrip())
        return "\n".join([*lines, *self._lines()])

    def _repr_html_(self) -> str:
        def cell(tag: str, text: str, column: int) -> str:
            side = "right" if column < len(SUMS) else "left"
            return f'<{tag} style="text-align:{side}">{html.escape(text)}</{tag}>'

        parts = [f"<p><b>{html.escape(self.verdict())}</b></p>"]
        if self.groups:
            head, *rows = self._rows()
            parts.append("<table><thead><tr>" + "".join(cell("th", text, at) for at, text in enumerate(head)) +
                         "</tr></thead><tbody>")
            parts += ["<tr>" + "".join(cell("td", text, at) for at, text in enumerate(row)) + "</tr>" for row in rows]
            parts.append("</tbody></table>")
        return "\n".join([*parts, *(f"<p>{html.escape(line)}</p>" for line in self._lines())])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _cells(sums: Dict[str, int]) -> List[str]:
    return [_limits.text(name, sums[name]) if sums[name] else "-" for name in SUMS]


def _label(key: str, group: Dict[str, Any]) -> str:
    value = group["t_ns"] if key == "time" else group[key.partition(":")[0]]
    if value is None:
        return "-"
    if key == "time":
        return f"{value / 1e9:.3f}"
    text = str(value)
    if key in ("file", "dir") and text.startswith("/"):
        relative = os.path.relpath(text)
        return text if relative.startswith("..") else relative
    return text


def measure(window: _window.Window, keys: Sequence[str], top: int, wall_ns: int) -> CellIO:
    """The I/O of a window that has ended. Raises Unknown, also where a key does not exist."""
    window.find()
    totals = window.ask("op,class")
    asked = [*keys, *(key for key in ("op", "class") if key not in keys)]
    found = window.ask(",".join(asked))
    rows: Dict[Tuple[str, ...], List[Dict[str, Any]]] = {}
    for group in found:
        if group["class"] in _limits.IO:
            rows.setdefault(tuple(_label(key, group) for key in keys), []).append(group)
    groups = [(values, _limits.sums(parts, SUMS)) for values, parts in rows.items()]
    groups.sort(key=lambda item: (-item[1]["time"], item[0]))
    startup = sum(group["count"] for group in totals if group["class"] == "startup")
    children = _limits.sums([group for group in totals if group["child"]], SUMS)
    return CellIO(tuple(keys), _limits.sums(totals, SUMS), groups, wall_ns, startup, children, top)


# --- the magics -----------------------------------------------------------------------------------------


class _Usage(Exception):
    """Wrong options; the text says what to do."""


def _options(line: str) -> Tuple[List[str], int, str]:
    """Keys, number of rows, and the code that follows. Raises _Usage."""
    keys, top, rest = ["file"], 10, line.strip()
    while rest.startswith("-"):
        word, _, rest = rest.partition(" ")
        option, equals, value = word.partition("=")
        if not equals:
            value, _, rest = rest.strip().partition(" ")
        rest = rest.strip()
        if option in ("--by", "-b") and value:
            keys = value.split(",")
        elif option in ("--top", "-n") and value.isdigit() and int(value):
            top = int(value)
        else:
            raise _Usage(USAGE if option in ("--help", "-h") else f"%dftrace: {word} {value}: {USAGE}")
    return keys, top, rest


def why_not() -> str:
    """Why the I/O of this process is not traced; empty where it is."""
    if _preload.is_preloaded() and dftrace.enabled():
        return ""
    reason = os.environ.get("DFTRACE_KERNEL")
    if reason:
        return f"the I/O of this kernel is not traced: {reason}"
    return ("the I/O of this kernel is not traced: run `python -m dftrace kernel install`, and choose the kernel "
            '"Python 3 (dftrace)". Outside of notebooks: python -m dftrace run -m IPython')


def _run(shell: Any, code: str, keys: Sequence[str], top: int) -> Optional[CellIO]:
    """Runs a cell, and shows its I/O. Raises CellFailed where the cell fails."""
    import time

    display = importlib.import_module("IPython.display").display
    profile = getattr(getattr(shell, "profile_dir", None), "location", "")  # of the shell's own history
    window = _window.Window("cell", [profile] if profile else [])
    begin = time.perf_counter_ns()
    with dftrace.region(f"In [{shell.execution_count}]", category="jupyter"):
        result = shell.run_cell(code)
    wall = time.perf_counter_ns() - begin
    window.end()
    shown = None
    try:
        with dftrace.paused(thread=True):
            shown = measure(window, keys, top, wall)
    except _merge.Unknown as error:
        print(f"dftrace: {error}")
    if shown is not None:
        if os.environ.get("DFTRACER_STACK", "0") == "0" and {"line", "stack"} & set(keys):
            shown.notes.append("lines need call stacks: python -m dftrace kernel install --stack")
        display(shown)
    _fail_as(result)
    return shown


def _fail_as(result: Any) -> None:
    failure = result.error_before_exec or result.error_in_exec
    if failure is not None:
        raise CellFailed(f"the cell has failed: {type(failure).__name__}")


def _magic(shell: Any, line: str, cell: Optional[str] = None) -> None:
    """%dftrace and %%dftrace."""
    try:
        keys, top, code = _options(line)
        if cell is not None and code:
            raise _Usage(f"%%dftrace: {code}: {USAGE}")
    except _Usage as error:
        print(error)
        return
    reason = why_not()
    code = code if cell is None else cell
    if reason:
        print(f"dftrace: {reason}")
        if code:
            _fail_as(shell.run_cell(code))
    elif code:
        _run(shell, code, keys, top)
    else:
        print(f"dftrace: traces in {_merge.directory()}; all of the kernel's I/O: dftmerge {_merge.directory()}")


def install(shell: Any = None) -> None:
    """Registers %dftrace and %%dftrace with this shell, or with IPython's current one; again does no harm."""
    if shell is None:
        shell = importlib.import_module("IPython").get_ipython()
    if shell is None:
        raise RuntimeError("no IPython runs here: %load_ext dftrace is for notebooks and IPython")
    shell.register_magic_function(lambda line, cell=None: _magic(shell, line, cell), "line_cell", "dftrace")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext dftrace` calls."""
    install(shell)
    reason = why_not()
    print(f"dftrace: {reason}" if reason else
          f"dftrace: I/O is traced, in {_merge.directory()}; %%dftrace shows that of a cell")
