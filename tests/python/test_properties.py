# SPDX-License-Identifier: MIT
"""Random trees of regions, loops, generators and exceptions: the trace has exactly the events that the tree says."""

from __future__ import annotations

import collections
import pathlib
import tempfile
from typing import Any, Counter, List, Optional, Tuple

import pytest

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings, strategies  # noqa: E402
from traced import Event, python  # noqa: E402

KINDS = ("with", "reused", "function", "generator", "coroutine", "loop")
# (kind, name, raises, children); what raises is caught by the node around it, which goes on with its next child
Node = Tuple[str, str, bool, List[Any]]
NODES = strategies.recursive(
    strategies.tuples(strategies.sampled_from(KINDS), strategies.sampled_from("abc"), strategies.booleans(),
                      strategies.just([])),
    lambda inner: strategies.tuples(strategies.sampled_from(KINDS), strategies.sampled_from("abc"),
                                    strategies.booleans(), strategies.lists(inner, max_size=3)),
    max_leaves=12)

PROGRAM = """
    import asyncio, json, sys
    import dftrace

    class Expected(Exception):
        pass
    reused = {name: dftrace.region(name) for name in "abc"}

    def body(node):
        for child in node[3]:
            try:
                visit(child)
            except Expected:
                pass
        if node[2]:
            raise Expected

    def visit(node):
        kind, name = node[0], node[1]
        if kind == "with":
            with dftrace.region(name, raises=node[2]):
                body(node)
        elif kind == "reused":
            with reused[name]:
                body(node)
        elif kind == "function":
            dftrace.region(name)(body)(node)
        elif kind == "generator":
            @dftrace.region(name)
            def generator():
                yield 1
                body(node)
                yield 2
            assert list(generator()) == [1, 2]
        elif kind == "coroutine":
            @dftrace.region(name)
            async def coroutine():
                body(node)
            try:
                coroutine().send(None)
            except StopIteration:
                pass
        else:
            for element in dftrace.iter([1, 2], name):
                if element == 1:
                    body(node)

    for tree in json.load(sys.stdin if len(sys.argv) < 2 else open(sys.argv[1])):
        try:
            visit(tree)
        except Expected:
            pass
"""

Expected = Tuple[str, Optional[str], bool]  # name, the region around it (of a span: around its begin), is it a span's


def expected(node: Node, around: Optional[str]) -> List[Expected]:
    kind, name, raises, children = node
    inside = "step" if kind == "loop" else name
    events = [(name, around, kind in ("generator", "coroutine"))]
    if kind == "loop":
        turns = 1 if raises else 2
        events += [("step", name, False)] * turns + [("fetch", "step", False)] * (turns if raises else turns + 1)
    for child in children:
        events += expected(child, inside)
    return events


def seen(events: List[Event]) -> Counter[Expected]:
    """Complete spans stand in no region: that of their begin is taken."""
    begins = {e["id"]: e.get("region") for e in events if e.get("phase") == "async_begin"}
    return collections.Counter((e["name"], begins[e["id"]] if "id" in e else e.get("region"), "id" in e)
                               for e in events if e["cat"] == "APP" and e.get("phase") != "async_begin")


@settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(strategies.lists(NODES, min_size=1, max_size=8))
def test_trees(trees: List[Node]) -> None:
    import json

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "trees.json").write_text(json.dumps(trees))
        done = python(PROGRAM, folder, folder / "trees.json")
        assert done.err == ""
        events = done.events()
        assert seen(events) == collections.Counter(e for tree in trees for e in expected(tree, None))
        assert not any("ended_by" in e.get("args", {}) for e in events)
