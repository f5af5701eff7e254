# SPDX-License-Identifier: MIT
"""PerfFlowAspect's annotations on top of dftrace: programs that are annotated for it run unchanged."""
