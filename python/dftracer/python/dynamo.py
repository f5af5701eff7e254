# SPDX-License-Identifier: MIT
"""Dynamo: each operation of a compiled torch model as an event of category "dynamo".

>>> model = torch.compile(model, backend=create_backend())
>>> @dynamo.compile
... def forward(x): ...

torch is loaded when something is compiled.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Optional, Tuple, TypeVar, Union

from dftrace import _core
from dftracer.python.ai import DFTracerAI
from dftracer.python.env import DFTRACER_ENABLE

F = TypeVar("F", bound=Callable[..., Any])
CAT_DYNAMO = "dynamo"
_CALLS = ("call_module", "call_function", "call_method")


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise RuntimeError("PyTorch is not available: install torch to trace compiled models") from error


def _autograd() -> Tuple[Any, Any]:
    """aot_autograd and make_boxed_func. Raises RuntimeError where torch has none."""
    _torch()
    try:
        return (importlib.import_module("torch._dynamo.backends.common").aot_autograd,
                importlib.import_module("functorch.compile").make_boxed_func)
    except (ImportError, AttributeError) as error:
        raise RuntimeError(f"this torch has no AOT autograd ({error}): pass autograd=False") from error


def create_detailed_op_name(node: Any, gm: Any) -> str:
    """The name of a node's event: function.relu, method.view, or fc1.Linear_fc1 for a module."""
    base = str(node.target).replace(".", "_")
    if node.op == "call_module":
        return f"{node.target}.{type(gm.get_submodule(node.target)).__name__}_{base}"
    if node.op == "call_function":
        return f"function.{getattr(node.target, '__name__', node.target)}"
    return f"method.{base}" if node.op == "call_method" else f"{node.op}.{base}"


def begin_operation(name: str) -> None:
    """Called by compiled graphs before an operation."""
    _core.begin(CAT_DYNAMO, name, {"grad_enabled": int(sys.modules["torch"].is_grad_enabled())})


def end_operation(name: str) -> None:
    """Called by compiled graphs after an operation."""
    _core.end(CAT_DYNAMO, name)


class Dynamo(DFTracerAI):
    """Compiles functions and modules so that each of their operations is an event."""

    def __init__(self, name: Optional[str] = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
                 image_size: Any = None, enable: bool = True) -> None:
        super().__init__(cat=CAT_DYNAMO, name=name, epoch=epoch, step=step, image_idx=image_idx,
                         image_size=image_size, enable=enable)

    def add_enhanced_timing_to_graph(self, gm: Any) -> Any:
        """Adds calls before and after each operation to a torch.fx.GraphModule, and returns it."""
        for node in list(gm.graph.nodes) if DFTRACER_ENABLE and self._on else ():
            if node.op in _CALLS and node.target not in (begin_operation, end_operation):
                name = create_detailed_op_name(node, gm)
                with gm.graph.inserting_before(node):
                    gm.graph.call_function(begin_operation, (name,))
                with gm.graph.inserting_after(node):
                    gm.graph.call_function(end_operation, (name,))
        gm.recompile()
        return gm

    def backend(self, autograd: bool = True) -> Callable[..., Any]:
        """A backend for torch.compile. Raises RuntimeError without torch, or without its AOT autograd."""
        if not autograd:
            _torch()
            return lambda gm, *_, **__: self.add_enhanced_timing_to_graph(gm).forward
        aot_autograd, make_boxed_func = _autograd()

        def compiler(gm: Any, *_: Any, **__: Any) -> Any:
            return make_boxed_func(self.add_enhanced_timing_to_graph(gm).forward)

        made: Callable[..., Any] = aot_autograd(fw_compiler=compiler)
        return made

    def compile(self, f_py: Optional[F] = None, autograd: bool = True) -> Union[F, Callable[[F], F]]:
        """Compiles a function or a module, bare or with autograd=; as it is where nothing is traced.

        Raises RuntimeError without torch, or where autograd is asked for and torch has no AOT autograd.
        """
        if f_py is None:
            return lambda function: self._compiled(function, autograd)
        return self._compiled(f_py, autograd)

    def _compiled(self, function: F, autograd: bool) -> F:
        if not (DFTRACER_ENABLE and self._on):
            return function
        compiled: F = _torch().compile(function, backend=self.backend(autograd))
        return compiled

    def count_parameters(self, module: Any) -> Optional[int]:
        """How many parameters a module has; None: it is none."""
        return int(sum(p.numel() for p in module.parameters())) if hasattr(module, "parameters") else None


dynamo = Dynamo()


def create_backend(name: Optional[str] = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
                   image_size: Any = None, enable: bool = True, autograd: bool = True) -> Any:
    """A backend for torch.compile that makes each operation an event; see Dynamo.backend."""
    return Dynamo(name, epoch, step, image_idx, image_size, enable).backend(autograd)


def __getattr__(name: str) -> Any:
    # `from dftracer.python import dynamo` gives this module where it was loaded before: it does what the object does.
    return getattr(dynamo, name)


__all__ = ["Dynamo", "create_backend", "dynamo"]
