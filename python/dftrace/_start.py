# SPDX-License-Identifier: MIT
"""Tracing that a program begins itself: annotations alone, since I/O needs the library before the program starts."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Optional, Sequence, Union

from . import _core, _find

NOTE = "dftrace records annotations alone: for I/O, too, start the program with `python -m dftrace run`"
_PACKAGES = ("dftrace", "dftracer", "perfflowaspect")
Path = Union[str, "os.PathLike[str]"]


def _is_worker() -> bool:
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _note(text: str) -> None:
    """One warning for a job, at the program's line: workers say nothing. A program that makes errors of warnings gets
    none."""
    if _is_worker():
        return
    frame = sys._getframe()
    while frame.f_back and (str(frame.f_globals.get("__name__")).partition(".")[0] in _PACKAGES or
                            "importlib._bootstrap" in frame.f_code.co_filename):
        frame = frame.f_back
    try:
        warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno,
                               frame.f_globals.get("__name__"), frame.f_globals.setdefault("__warningregistry__", {}))
    except RuntimeWarning:
        pass


def _why_not(log: str) -> Optional[str]:
    """Why no trace file can be made whose name begins with `log`; None: one can, as far as can be seen."""
    folder = os.path.dirname(os.path.abspath(log))
    parent = folder
    while not os.path.lexists(parent) and parent != os.path.dirname(parent):
        parent = os.path.dirname(parent)
    try:
        if not os.path.isdir(parent):
            raise NotADirectoryError(20, os.strerror(20))
        if not os.access(parent, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
        if parent != folder:  # it is made later; not every file system takes folders
            probe = os.path.join(parent, f".dftrace-{os.uname().nodename}-{os.getpid()}")
            os.mkdir(probe)
            os.rmdir(probe)
    except OSError as error:
        return f"no trace can be written to {folder}: {error.strerror}: {parent}; name another folder"
    return None


def _say_why(why: str) -> None:
    _core.set_why_off(why)
    _note(f"dftrace records nothing: {why}")


def _load() -> None:
    log = os.environ.get("DFTRACER_LOG_FILE") or ("" if os.environ.get("DFTRACER_CONFIGURATION") else "trace")
    why = _why_not(log) if log else None
    if why:
        _say_why(why)
        return
    try:
        path = _find.library()
        _core.load(path)
    except OSError as error:
        _say_why(str(error))
        return
    off = _core.why_off()
    _note(f"dftrace records nothing: {off}" if off else NOTE)


def begin_alone() -> None:
    """Where DFTRACER_ENABLE=1 is set and no library was preloaded."""
    _load()


# The variables that init() of this process or of one before it has set: a program may name something else later.
_OURS = "_DFT_INIT"


def _wanted(variable: str, value: Optional[str]) -> Optional[str]:
    """The value, where the environment says nothing else; children find it in the environment."""
    ours = [name for name in os.environ.get(_OURS, "").split(",") if name]
    if not value or (os.environ.get(variable) and variable not in ours):
        return None
    if not _core.enabled():
        os.environ[variable] = value
        os.environ[_OURS] = ",".join(ours + [variable] * (variable not in ours))
    return value


def init(log_file: Optional[Path] = None, data_dirs: Union[Path, Sequence[Path], None] = None,
         process_id: Optional[int] = None) -> bool:
    """Begins tracing where nothing else did, and says what of it.

    log_file: what names of trace files begin with. data_dirs: folders that tracing is limited to, one or several.
    process_id: a number of the job's own, such as a rank. What the launcher or the environment said comes first.
    Without a preloaded library annotations alone are recorded, and a warning says so. Processes that this one starts
    trace themselves. Returns whether events are recorded now; where not, the warning and why_off() say why.
    """
    log = None if log_file is None else os.fspath(log_file)
    if data_dirs is None or isinstance(data_dirs, (str, os.PathLike)):
        dirs = None if data_dirs is None else os.fspath(data_dirs)
    else:
        dirs = ":".join(os.fspath(folder) for folder in data_dirs)
    log, dirs = _wanted("DFTRACER_LOG_FILE", log), _wanted("DFTRACER_DATA_DIR", dirs)
    if not _core.enabled():
        os.environ["DFTRACER_ENABLE"] = "1"
        _load()
    elif log and "libdftrace.so" not in os.environ.get("LD_PRELOAD", ""):
        why = _why_not(log)
        if why:
            _note(f"dftrace goes on with the trace that it has: {why}")
            log = None
    _core.configure(log, dirs, -1 if process_id is None else process_id)
    return _core.enabled()
