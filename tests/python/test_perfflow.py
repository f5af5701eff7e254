# SPDX-License-Identifier: MIT
"""Programs that are annotated for PerfFlowAspect: they run unchanged, and an export has the file that it writes."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List

import pytest
from traced import Done, merge, python


def exported(done: Done, tmp_path: pathlib.Path) -> List[Dict[str, Any]]:
    """What `dftmerge export --format perfflow` writes into one file."""
    path = tmp_path / "x.pfw"
    done = merge("export", "--format", "perfflow", "-o", path, done.traces)
    assert done.code == 0, done.err
    lines: List[Dict[str, Any]] = json.loads(path.read_text())
    return lines


def phases(lines: List[Dict[str, Any]], name: str) -> str:
    """The phases of an event's records."""
    return "".join(line["ph"] for line in lines if line["name"] == name)


POINTCUTS = """
    import asyncio
    import perfflowaspect
    import perfflowaspect.aspect
    from perfflowaspect import aspect

    @perfflowaspect.aspect.critical_path()
    def around(message): return message
    @aspect.critical_path(pointcut="before")
    def before(): pass
    @aspect.critical_path(pointcut="after")
    def after(): pass
    @aspect.critical_path(pointcut="around_async")
    def around_async(): pass
    @aspect.critical_path(pointcut="before_async", scope="job")
    def before_async(): pass
    @aspect.critical_path(pointcut="after_async", scope="job")
    def after_async(): pass
    class Thing:
        @aspect.critical_path()
        def method(self): return self
    @aspect.critical_path()
    async def coroutine():
        await asyncio.sleep(0.02)
        return 3
    @aspect.critical_path()
    def generator():
        yield 4
    @aspect.critical_path()
    def fails(): raise KeyError("x")

    assert around("hello") == "hello" and around.__name__ == "around"
    for function in (before, after, around_async, before_async, after_async):
        assert function() is None
    thing = Thing()
    assert thing.method() is thing
    assert asyncio.run(coroutine()) == 3 and list(generator()) == [4]
    try:
        fails()
    except KeyError:
        pass
    aspect.sync_event("before", "direct", "file.py")
    aspect.sync_event("after", "direct", "file.py")
    aspect.async_event("before", "flight", "file.py", scope="s", id=7)
    aspect.async_event("instant", "flight", "file.py", id=7)
    aspect.async_event("after", "flight", "file.py", scope="s", id=7)
    aspect.async_event("before", "unnumbered", "file.py")
    for call in (aspect.sync_event, aspect.async_event):
        try:
            call("around", "x", "y")
        except ValueError as error:
            assert "around" in str(error)
        else:
            raise AssertionError
"""


def test_each_pointcut(tmp_path: pathlib.Path) -> None:
    done = python(POINTCUTS, tmp_path)
    lines = exported(done, tmp_path)
    assert {name: phases(lines, name) for name in sorted({line["name"] for line in lines})} == {
        "Thing.method": "BE", "after": "E", "after_async": "e", "around": "BE", "around_async": "be", "before": "B",
        "before_async": "b", "coroutine": "be", "direct": "BE", "fails": "BE", "flight": "be", "generator": "be",
        "unnumbered": "b"}
    of = {line["name"]: line for line in lines}
    assert of["around"]["cat"] == "__main__" and of["direct"]["cat"] == "file.py"
    assert of["before_async"]["scope"] == of["after_async"]["scope"] == "job"
    assert of["flight"]["id"] == 7 and of["flight"]["scope"] == "s" and of["unnumbered"]["id"] == 123
    begin, end = (line["ts"] for line in lines if line["name"] == "coroutine")
    assert end - begin >= 20_000
    assert merge("check", done.traces).code == 0


def test_options(tmp_path: pathlib.Path) -> None:
    done = python(POINTCUTS, tmp_path, PERFFLOW_OPTIONS="name=n:log-filename-include=name:cpu-mem-usage=True:"
                  "log-event=Compact:log-format=Object")
    assert merge("export", "--format", "perfflow", "-o", f"{tmp_path}/out/", done.traces).code == 0
    path, = (tmp_path / "out").iterdir()
    assert path.name == "perfflow.object.n.pfw"
    lines = json.loads(path.read_text())["traceEvents"]
    assert phases(lines, "around") == "XCC" and phases(lines, "before") == "B"
    assert [line["args"]["memory_usage"] > 0 for line in lines if line["name"] == "around" and line["ph"] == "C"] == [
        True, False]


@pytest.mark.parametrize("settings", [{"PERFFLOW_OPTIONS": "log-enable=False"}, {"DFTRACER_ENABLE": None}])
def test_functions_run_when_nothing_is_recorded(tmp_path: pathlib.Path, settings: Dict[str, Any]) -> None:
    done = python(POINTCUTS, tmp_path, **settings)
    assert done.err == ""
    assert not list(done.traces.iterdir()) or not any(e["cat"] in ("__main__", "file.py") for e in done.events())


def test_a_pointcut_that_is_not_known(tmp_path: pathlib.Path) -> None:
    done = python("""
        from perfflowaspect.aspect import critical_path
        @critical_path("arround")
        def function(): return 3
        assert function() == 3
    """, tmp_path)
    assert "Did you mean 'around'?" in done.err and not done.named("function")


def test_threads(tmp_path: pathlib.Path) -> None:
    done = python("""
        from concurrent.futures import ThreadPoolExecutor
        from perfflowaspect import aspect
        @aspect.critical_path(pointcut="before_async", scope="outer")
        def begins(): pass
        @aspect.critical_path(pointcut="after_async", scope="outer")
        def ends(message): return message
        @aspect.critical_path()
        def outer():
            with ThreadPoolExecutor(4) as pool:
                futures = [(begins(), pool.submit(ends, "hello"))[1] for _ in range(50)]
                return [future.result() for future in futures]
        assert outer() == ["hello"] * 50
    """, tmp_path)
    lines = exported(done, tmp_path)
    assert phases(lines, "begins") == "b" * 50 and phases(lines, "ends") == "e" * 50 and phases(lines, "outer") == "BE"
    for name in ("begins", "ends"):
        assert sorted(line["id"] for line in lines if line["name"] == name) == list(range(1, 51))
