# SPDX-License-Identifier: MIT
"""What fsspec's operations are given and what they move, as their arguments and results say."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, Optional, Tuple

import dftrace

Args = Tuple[Any, ...]
Named = Dict[str, Any]
Measure = Callable[[Any, Args, Named], Optional[int]]


def length(value: Any) -> Optional[int]:
    """Bytes of a value, or of all values of a mapping or a list. None: it has none."""
    if isinstance(value, (bytes, bytearray)):
        return len(value)
    if isinstance(value, memoryview):
        return value.nbytes
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        sizes = [len(one) for one in value if isinstance(one, (bytes, bytearray))]
        return sum(sizes) if sizes else None
    return None


def nothing(_result: Any, _args: Args, _named: Named) -> Optional[int]:
    """Of an operation that moves no data."""
    return None


def _result(result: Any, _args: Args, _named: Named) -> Optional[int]:
    return length(result)


def _argument(at: int, name: str, args: Args, named: Named) -> Any:
    return args[at] if len(args) > at else named.get(name)


def _value(_result: Any, args: Args, named: Named) -> Optional[int]:
    """pipe(path, value), or pipe({path: value})."""
    value = _argument(1, "value", args, named)
    return length(value if value is not None else _argument(0, "path", args, named))


def _written(result: Any, args: Args, _named: Named) -> Optional[int]:
    if isinstance(result, int) and not isinstance(result, bool):
        return result
    return length(args[0]) if args else None


def _local(path: Any) -> Optional[int]:
    """The size of a local file; our question for it is not traced. Of a folder its files say it themselves."""
    if not isinstance(path, (str, os.PathLike)):
        return None
    with dftrace.paused(thread=True):
        try:
            return os.stat(path).st_size if os.path.isfile(path) else None
        except (OSError, ValueError):
            return None


def _got(_result: Any, args: Args, named: Named) -> Optional[int]:
    return _local(_argument(1, "lpath", args, named))


def _put(_result: Any, args: Args, named: Named) -> Optional[int]:
    return _local(_argument(0, "lpath", args, named))


OF: Dict[str, Measure] = {
    "cat": _result,
    "cat_file": _result,
    "cat_ranges": _result,
    "get_file": _got,
    "put_file": _put,
    "pipe": _value,
    "pipe_file": _value,
    "write": _written,
    "_fetch_range": _result,
}


def given(name: str, owner: Any, args: Args, named: Named) -> Dict[str, Any]:
    """The arguments for a region's begin: path, files where there are several, and the bytes asked for."""
    known: Dict[str, Any] = {}
    if name in ("read", "write", "_fetch_range", "_upload_chunk"):
        path = getattr(owner, "path", None)
        if name == "read" and args and isinstance(args[0], int) and args[0] >= 0:
            known["asked"] = args[0]
    elif name in ("put", "put_file"):
        path = _argument(1, "rpath", args, named)
    elif name in ("get", "get_file"):
        path = _argument(0, "rpath", args, named)
    else:
        path = _argument(0, "path", args, named)
    if isinstance(path, (list, tuple, dict)):
        known["files"] = len(path)
        path = next(iter(path), None)
    if isinstance(path, str):
        known["path"] = path
    if name == "open":
        known["mode"] = str(_argument(1, "mode", args, named) or "rb")
    return known
