# SPDX-License-Identifier: MIT
"""dftracer, dft_fn and the types of values, as DFTracer 2.x names the module."""

from dftracer.python import *  # noqa: F401,F403
from dftracer.python import __all__ as __all__
