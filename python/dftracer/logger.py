# SPDX-License-Identifier: MIT
"""The names of DFTracer 1.x: dftracer, dft_fn and ai."""

from dftracer.python import *  # noqa: F401,F403
from dftracer.python import __all__ as __all__
from dftracer.python.env import *  # noqa: F401,F403
