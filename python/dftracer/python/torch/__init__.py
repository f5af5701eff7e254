# SPDX-License-Identifier: MIT
"""DFTracer's handler for torch.profiler."""
