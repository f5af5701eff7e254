# SPDX-License-Identifier: MIT
"""Tracing that a program begins itself: annotations alone, since I/O needs the library before the program starts."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Optional, Sequence, Union

from . import _core, _find

NOTE = "dftrace records annotations alone: for I/O, too, start the program with `python -m dftrace run`"
Path = Union[str, "os.PathLike[str]"]


def _is_worker() -> bool:
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _note(text: str, level: int) -> None:
    """One warning for a job: workers say nothing. A program that makes errors of warnings gets none."""
    if _is_worker():
        return
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=level + 1)
    except RuntimeWarning:
        pass


def _load(level: int) -> None:
    try:
        path = _find.library()
        _core.load(path)
    except OSError as error:
        _note(f"dftrace records nothing: {error}", level + 1)
        return
    why = _core.why_off()
    _note(f"dftrace records nothing: {why}" if why else NOTE, level + 1)


def begin_alone() -> None:
    """Where DFTRACER_ENABLE=1 is set and no library was preloaded."""
    _load(4)


def init(log_file: Optional[Path] = None, data_dirs: Union[Path, Sequence[Path], None] = None,
         process_id: Optional[int] = None) -> bool:
    """Begins tracing where nothing else did, and says what of it.

    log_file: what names of trace files begin with. data_dirs: folders that tracing is limited to, one or several.
    process_id: a number of the job's own, such as a rank. What the launcher or the environment said comes first.
    Without a preloaded library annotations alone are recorded, and a warning says so. Processes that this one starts
    trace themselves. Returns whether events are recorded now.
    """
    log = None if log_file is None else os.fspath(log_file)
    if data_dirs is None or isinstance(data_dirs, (str, os.PathLike)):
        dirs = None if data_dirs is None else os.fspath(data_dirs)
    else:
        dirs = ":".join(os.fspath(folder) for folder in data_dirs)
    if not _core.enabled():
        os.environ["DFTRACER_ENABLE"] = "1"
        if log:
            os.environ.setdefault("DFTRACER_LOG_FILE", log)
        if dirs:
            os.environ.setdefault("DFTRACER_DATA_DIR", dirs)
        _load(2)
    _core.configure(log, dirs, -1 if process_id is None else process_id)
    return _core.enabled()
