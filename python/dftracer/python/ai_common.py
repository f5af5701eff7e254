# SPDX-License-Identifier: MIT
"""The tree of ai and its names, as DFTracer 2.x names the module."""

from dftracer.python.ai import *  # noqa: F401,F403
from dftracer.python.ai import __all__ as __all__
