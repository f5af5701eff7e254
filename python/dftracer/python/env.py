# SPDX-License-Identifier: MIT
"""What the environment says of tracing, under DFTracer's names."""

from __future__ import annotations

import os

import dftrace

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"
DFTRACER_TIME_METRIC_ENV = "DFTRACER_TIME_METRIC"

DFTRACER_INIT_PRELOAD: bool = os.getenv(DFTRACER_INIT_ENV, "PRELOAD") == "PRELOAD"
DFTRACER_LOG_LEVEL: str = os.getenv(DFTRACER_LOG_LEVEL_ENV, "ERROR")
#: Whether anything may be traced: what is False here stays a no-op to the end of the process.
DFTRACER_ENABLE: bool = dftrace.enabled() or os.getenv(DFTRACER_ENABLE_ENV, "0").lower() in ("1", "on", "true", "yes")

__all__ = [
    "DFTRACER_ENABLE", "DFTRACER_ENABLE_ENV", "DFTRACER_INIT_ENV", "DFTRACER_INIT_PRELOAD", "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV", "DFTRACER_TIME_METRIC_ENV",
]
