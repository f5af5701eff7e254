# SPDX-License-Identifier: MIT
"""DFTracer's names for torch: operations of compiled models, and what torch's profiler saw."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest
from traced import python

needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"),
                                 reason="torch is not installed (Debian: python3-torch)")


@needs_torch
def test_operations_of_a_graph(tmp_path: pathlib.Path) -> None:
    done = python("""
        import torch, torch.fx
        from dftracer.python import Dynamo, create_backend, dynamo
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc1 = torch.nn.Linear(4, 2)
            def forward(self, x):
                return torch.relu(self.fc1(x)).sum()
        model = Model()
        graph = torch.fx.symbolic_trace(model)
        x = torch.ones(1, 4)
        expected = model(x)
        compiled = create_backend(autograd=False)(graph, [x])
        assert torch.equal(compiled(x), expected)
        with torch.no_grad():
            compiled(x)
        assert dynamo.count_parameters(model) == 10 and dynamo.count_parameters(3) is None
        off = Dynamo(enable=False)
        assert off.compile(model) is model
        untouched = torch.fx.symbolic_trace(model)
        assert off.add_enhanced_timing_to_graph(untouched) is untouched and len(untouched.graph.nodes) == 5
    """, tmp_path)
    assert done.counted() == {("dynamo", name): 2 for name in ("fc1.Linear_fc1", "function.relu", "method.sum")}
    assert [event["args"]["grad_enabled"] for event in done.named("function.relu")] == [1, 0]


@needs_torch
def test_what_the_profiler_saw(tmp_path: pathlib.Path) -> None:
    done = python("""
        import time, torch
        from dftracer.python.torch.profiler import trace_handler
        from dftracer.python import dft_fn
        x = torch.ones(200, 200)
        with dft_fn("A", "outer"):
            with torch.profiler.profile(on_trace_ready=trace_handler):
                torch.mm(x, x)
    """, tmp_path)
    outer, = done.named("outer")
    product, = done.named("aten::mm")
    assert product["cat"] == "PP" and product["dur"] > 0 and "cpu_memory" in product["args"]
    assert outer["ts"] - 2_000_000 <= product["ts"] <= outer["ts"] + outer["dur"]


def test_without_torch(tmp_path: pathlib.Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    done = python("""
        import sys
        from dftracer.python import create_backend, dynamo
        import dftracer.python.torch.profiler
        assert "torch" not in sys.modules
        for call in (lambda: dynamo.compile(lambda x: x), create_backend, lambda: create_backend(autograd=False)):
            try:
                call()
            except RuntimeError as error:
                assert "PyTorch is not available" in str(error)
            else:
                raise AssertionError
        with dynamo: pass
        from dftracer.python.dynamo import Dynamo
        assert type(dynamo) is Dynamo
    """, tmp_path, PYTHONPATH=f"{tmp_path}:{__import__('traced').TREE}")
    assert done.counted() == {("dynamo", "dynamo"): 1}
