# SPDX-License-Identifier: MIT
"""What torch's own profiler saw, as events of category "PP" beside the others.

>>> with torch.profiler.profile(on_trace_ready=trace_handler) as profiler: ...
"""

from __future__ import annotations

from typing import Any, Dict

from dftrace import _core
from dftracer.python.env import DFTRACER_ENABLE
from dftracer.python.tracer import dftracer

#: Arguments of events, and the attributes of torch's events that they are.
_ARGS = {"device": "device_type", "cpu_memory": "cpu_memory_usage", "is_remote": "is_remote",
         "device_memory_usage": "device_memory_usage", "total_cpu_percent": "total_cpu_percent",
         "total_device_percent": "total_device_percent"}


def _start_ns(profiler: Any) -> int:
    """When the profiler began, which the times of its events count from. Without it: when tracing began."""
    results = getattr(getattr(profiler, "profiler", None), "kineto_results", None)
    for name, factor in (("trace_start_ns", 1), ("trace_start_us", 1000)):
        if hasattr(results, name):
            return int(getattr(results, name)()) * factor
    return dftracer.get_instance().start_time * 1000


def _args_of(event: Any) -> Dict[str, Any]:
    args: Dict[str, Any] = {}
    for key, attribute in _ARGS.items():
        try:
            value = getattr(event, attribute)
            args[key] = float(value) if key.endswith("percent") else int(value)
        except Exception:  # versions of torch differ in what they have
            continue
    shapes = getattr(event, "input_shapes", None)
    args["input_size"] = sum(len(shape) for shape in shapes) if shapes else 0
    return args


def trace_handler(profiler_result: Any) -> None:
    """For torch.profiler.profile(on_trace_ready=trace_handler): records what the profiler saw."""
    if not DFTRACER_ENABLE:
        return
    dftracer.get_instance().mark_used("torch_profiler")
    start = _start_ns(profiler_result)
    for event in profiler_result.events() or ():
        span = event.time_range
        begin, length = start + round(span.start * 1000), round(span.elapsed_us() * 1000)
        _core.event("PP", str(event.key), begin, length, _args_of(event))
