# SPDX-License-Identifier: MIT
"""The environment in which a program of Python is traced from its start, without a launcher that stays."""

from __future__ import annotations

import os
import time
from typing import Dict, Mapping, Optional

from . import _find


def is_preloaded(environment: Optional[Mapping[str, str]] = None) -> bool:
    """Do these variables (default: this process's) say that I/O is traced?"""
    variables = os.environ if environment is None else environment
    return ("libdftrace.so" in variables.get("LD_PRELOAD", "") and
            variables.get("DFTRACER_ENABLE", "").lower() in ("1", "true", "on", "yes"))


def environment(directory: str, name: str, stack: int = 0) -> Dict[str, str]:
    """Variables for os.execve: this process's, and those that trace what is executed.

    directory: where the traces go; it is made. name: what their names begin with. stack: how many frames of the call
    stack each event has. Raises NotFound where libdftrace.so is not installed, OSError where directory cannot be
    written.
    """
    from . import run

    library = _find.library()
    os.makedirs(directory, exist_ok=True)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise PermissionError(13, "no permission to write", directory)
    now = time.time()
    variables = run.environment(run.Wish(stack=str(stack)), dict(os.environ), True)
    others = [path for path in variables.get("LD_PRELOAD", "").replace(":", " ").split()
              if not os.path.basename(path).startswith("libdftrace.so")]  # not twice, and no other copy
    variables["LD_PRELOAD"] = ":".join([library] + others)
    variables["DFTRACER_ENABLE"] = "1"
    prefix = f"{name}-{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{os.getpid()}"
    variables["DFTRACER_LOG_FILE"] = os.path.join(os.path.abspath(directory), prefix)
    variables["DFTRACER_RUN_ID"] = f"{os.uname().nodename}-{os.getpid()}-{now:.6f}"
    if stack:
        variables["DFTRACER_STACK"] = str(stack)
    return variables
