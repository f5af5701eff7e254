# SPDX-License-Identifier: MIT
"""DFTracer's variant for debugging it: here the same as dftracer.python."""

from dftracer.python import *  # noqa: F401,F403
from dftracer.python import __all__ as __all__
