# SPDX-License-Identifier: MIT
"""DFTracer's module names on top of dftrace: programs that are annotated for DFTracer run unchanged.

>>> from dftracer.logger import dftracer, dft_fn, ai      # 1.x
>>> from dftracer.python import dftracer, dft_fn, ai      # 2.x
"""
