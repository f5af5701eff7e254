# SPDX-License-Identifier: MIT
"""Runs functions of dftrace when the program imports certain modules.

The startup folder executes this file before the program. It imports nothing, is not in sys.modules, and loads what it
needs from beside it when one of those modules is imported.
"""

import _imp
import os
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, Optional, Union

    Action = Callable[[ModuleType], None]

FOLDER = __file__.rpartition("/")[0]


def core() -> "Any":
    """The extension dftrace._core, None where this Python cannot load it. The program's own import of it is another."""
    module = sys.modules.get("dftrace._core")
    if module is not None:
        return module
    external = sys.modules["_frozen_importlib_external"]
    for suffix in _imp.extension_suffixes():
        file = FOLDER + "/_core" + suffix
        if os.path.exists(file):
            loader = external.ExtensionFileLoader("dftrace._core", file)
            module = loader.create_module(external.spec_from_file_location("dftrace._core", file, loader=loader))
            loader.exec_module(module)
            return module
    return None


def load(name: str) -> "dict[str, Any]":
    """Executes NAME.py of this folder outside sys.modules, with core() among its names. Returns the names."""
    loader = sys.modules["_frozen_importlib_external"].SourceFileLoader("dftrace." + name, FOLDER + "/" + name + ".py")
    names = {"__name__": "dftrace." + name, "__file__": loader.path, "core": core}
    exec(loader.get_code("dftrace." + name), names)
    return names


def install(name: str) -> None:
    """Installs dftrace.integrations.NAME, from this package where the program finds no other."""
    import importlib.util

    if importlib.util.find_spec("dftrace") is None:
        spec = importlib.util.spec_from_file_location("dftrace", FOLDER + "/__init__.py",
                                                      submodule_search_locations=[FOLDER])
        if spec is None or spec.loader is None:
            return
        sys.modules["dftrace"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    importlib.import_module("dftrace.integrations." + name).install()


def attempt(action: "Action", module: "ModuleType") -> None:
    """Runs an action. The program does not see it fail."""
    try:
        action(module)
    except Exception:
        pass


class Loader:
    """Executes a module as its own loader does, and runs the action behind it."""

    def __init__(self, loader: "Any", action: "Action") -> None:
        self.loader = loader
        self.action = action

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.loader, name)

    def create_module(self, spec: "ModuleSpec") -> "Optional[ModuleType]":
        """What the module's own loader makes."""
        module: "Optional[ModuleType]" = self.loader.create_module(spec)
        return module

    def exec_module(self, module: "ModuleType") -> None:
        """Gives the module its own loader back before it is executed."""
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        attempt(self.action, module)


class Finder:
    """The first entry of sys.meta_path: knows the modules that have an action, and asks the others for them."""

    def __init__(self, actions: "dict[str, Action]") -> None:
        self.actions = actions
        self.asking: "set[tuple[str, int]]" = set()

    def find_spec(self, name: str, path: "Optional[Sequence[Union[bytes, str]]]" = None,
                  target: "Optional[ModuleType]" = None) -> "Optional[ModuleSpec]":
        """The spec of a module with an action, whose loader runs it; else None."""
        action = self.actions.get(name)
        asked = (name, get_ident())
        if action is None or asked in self.asking:
            return None
        self.asking.add(asked)
        try:
            for finder in sys.meta_path:
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec: "Optional[ModuleSpec]" = find(name, path, target) if find else None
                if spec is not None:
                    if hasattr(spec.loader, "exec_module"):
                        spec.loader = Loader(spec.loader, action)  # type: ignore[assignment]
                    return spec
        finally:
            self.asking.discard(asked)
        return None


def roles(name: str) -> "Action":
    """The action of dftrace.roles for one module."""
    def act(module: "ModuleType") -> None:
        load("roles")[name](module)

    return act


def offer_frames(module: "ModuleType") -> None:
    """The extension offers Python's frames to the library when it is loaded."""
    core()


def integration(name: str) -> "Action":
    """The action of an integration."""
    def act(module: "ModuleType") -> None:
        install(name)

    return act


def begin(wanted: str) -> None:
    """Does what DFTRACE_PYTHON asks for: words with commas between."""
    actions: "dict[str, Action]" = {}
    for word in wanted.split(","):
        if word == "roles":
            actions["multiprocessing.process"] = roles("name_processes")
            # xdist's own modules are imported past us, by pytest's rewriting of assertions
            actions["_pytest.junitxml"] = actions["_pytest.setuponly"] = roles("name_xdist")
        elif word == "stack":
            attempt(offer_frames, sys)
        elif word in ("torch", "fsspec"):
            actions[word] = integration(word)
    for name in [name for name in actions if name in sys.modules]:  # a .pth file may have imported it
        attempt(actions.pop(name), sys.modules[name])
    if actions:
        sys.meta_path.insert(0, Finder(actions))


begin(os.environ.get("DFTRACE_PYTHON", ""))
