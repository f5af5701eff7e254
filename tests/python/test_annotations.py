# SPDX-License-Identifier: MIT
"""Regions of Python programs: what stands in the trace is what the program did."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest
from traced import ROOT, TREE, environment, merge, python


def test_a_region_of_each_form(tmp_path: pathlib.Path) -> None:
    done = python("""
        import dftrace
        assert dftrace.enabled() and dftrace.why_off() is None
        @dftrace.region
        def plain(a, *, b=2):
            return a + b
        class Thing:
            @dftrace.region("made", category="IO", size=1.5, what="x")
            def method(self, x):
                return x
            @dftrace.region
            @staticmethod
            def fixed(x):
                return x
            @classmethod
            @dftrace.region
            def of_class(cls, x):
                return cls, x
        assert plain(1) == 3 and plain(1, b=5) == 6
        assert Thing().method(3) == 3 and Thing.fixed(4) == 4 and Thing.of_class(5) == (Thing, 5)
        with dftrace.region("checkpoint", step=3) as r:
            r.update(loss=0.1)
            dftrace.instant("now", x="y")
        dftrace.counter("depth", 4)
    """, tmp_path)
    events = {event["name"]: event for event in done.events() if event["cat"] in ("APP", "IO")}
    assert len(done.named("plain")) == 2
    assert events["made"]["cat"] == "IO" and events["made"]["args"] == {"size": 1.5, "what": "x"}
    assert "Thing.fixed" in events and "Thing.of_class" in events
    assert events["checkpoint"]["args"] == {"step": 3, "loss": 0.1}
    assert events["now"]["region"] == "checkpoint" and events["now"]["args"] == {"x": "y"}
    assert events["depth"]["args"] == {"value": 4}


BEHAVES = '''
    import copy, functools, gc, inspect, pickle, types, typing, weakref
    import dftrace

    @dftrace.region
    def plain(a: int, b: str = "x", *, c=3) -> float:
        "doc"
        return (a, b, c)

    plain.extra = 1
    assert plain(1) == (1, "x", 3) and plain(1, b=2, c=4) == (1, 2, 4) and plain(*[1], **{"c": 9}) == (1, "x", 9)
    names = plain.__name__, plain.__qualname__, plain.__doc__, plain.__module__
    assert names == ("plain", "plain", "doc", "__main__")
    assert str(inspect.signature(plain)) == "(a: int, b: str = 'x', *, c=3) -> float"
    assert typing.get_type_hints(plain) == {"a": int, "b": str, "return": float}
    assert pickle.loads(pickle.dumps(plain)) is plain and copy.deepcopy(plain) is plain
    assert plain.extra == 1 and plain.__dict__["extra"] == 1 and plain.__defaults__ == ("x",)
    assert inspect.unwrap(plain) is plain.__wrapped__ and weakref.ref(plain)() is plain
    for bad in (lambda: plain(), lambda: plain(1, 2, 3), lambda: plain(1, z=3)):
        try:
            bad()
        except TypeError as error:
            assert "plain()" in str(error)
        else:
            raise SystemExit("no error")

    class Class:
        @dftrace.region
        def method(self, x):
            return self, x
        @property
        @dftrace.region
        def value(self):
            return 5
        @functools.lru_cache(None)
        @dftrace.region
        def cached(self):
            return 6

    thing = Class()
    bound = thing.method
    assert bound(7) == (thing, 7) and bound.__self__ is thing and isinstance(bound, types.MethodType)
    assert list(map(bound, [1])) == [(thing, 1)] and functools.partial(bound, 2)() == (thing, 2)
    assert thing.value == 5 and thing.cached() == 6 and Class.method(thing, 3) == (thing, 3)

    def cycle():
        @dftrace.region
        def inner():
            return inner
        inner.itself = inner
        return weakref.ref(inner)

    gone = cycle()
    gc.collect()
    assert gone() is None, "a cycle is not collected"

    @dftrace.region
    def generator(): yield 1
    @dftrace.region
    async def coroutine(): pass
    @dftrace.region
    async def async_generator(): yield 1
    assert inspect.isgeneratorfunction(generator) and inspect.iscoroutinefunction(coroutine)
    assert inspect.isasyncgenfunction(async_generator) and pickle.loads(pickle.dumps(generator)) is generator
'''


@pytest.mark.parametrize("plain", [False, True])
def test_a_decorated_function_behaves_like_the_function(tmp_path: pathlib.Path, plain: bool) -> None:
    assert python(BEHAVES, tmp_path, plain=plain).err == ""


def test_exceptions_pass_and_regions_end(tmp_path: pathlib.Path) -> None:
    done = python("""
        import dftrace
        @dftrace.region
        def fails(n):
            with dftrace.region("within", n=n):
                raise KeyError(n)
        for n in range(3):
            try:
                fails(n)
            except KeyError as error:
                assert error.args == (n,) and error.__traceback__.tb_next.tb_frame.f_code.co_name == "fails"
            else:
                raise SystemExit(1)
        with dftrace.region("after"):
            pass
    """, tmp_path)
    assert [event["args"]["n"] for event in done.named("within")] == [0, 1, 2]
    assert all(event["region"] == "fails" for event in done.named("within")) and len(done.named("fails")) == 3
    assert "region" not in done.named("after")[0] and not any("ended_by" in e.get("args", {}) for e in done.events())


def test_one_region_is_used_again_nested_and_in_threads(tmp_path: pathlib.Path) -> None:
    done = python("""
        import threading
        import dftrace
        region = dftrace.region("again", k=1)
        @dftrace.region
        def recursive(n):
            return n and recursive(n - 1)
        def use(n):
            with region:
                if n:
                    use(n - 1)
        threads = [threading.Thread(target=use, args=(9,)) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        recursive(99)
        region.__enter__()
        other = threading.Thread(target=region.__exit__, args=(None, None, None))
        other.start(); other.join()
    """, tmp_path)
    again = done.named("again")
    assert len(again) == 41 and sum("region" in event for event in again) == 36
    assert [event["args"] for event in again].count({"k": 1}) == 40
    assert len(done.named("recursive")) == 100


def test_loops(tmp_path: pathlib.Path) -> None:
    done = python("""
        import dftrace
        loop = dftrace.iter([1, 2, 3], "epoch", epoch=2)
        assert len(loop) == 3 and list(loop) == [1, 2, 3]
        for value in dftrace.iter(range(10), "broken"):
            if value == 2:
                break
        try:
            for value in dftrace.iter(range(10), "raised"):
                raise OSError
        except OSError:
            pass
        def bad():
            yield 1
            raise KeyError
        try:
            list(dftrace.iter(bad(), "bad"))
        except KeyError:
            pass
        with dftrace.region("after"): pass
    """, tmp_path)
    assert done.named("epoch")[0]["args"] == {"epoch": 2, "count": 3}
    assert [done.named(name)[0]["args"]["count"] for name in ("broken", "raised", "bad")] == [3, 1, 1]
    assert [e["args"]["step"] for e in done.named("step")] == [0, 1, 2, 0, 1, 2, 0, 0]
    assert [e["region"] for e in done.named("fetch")] == ["step"] * 10
    assert [e["region"] for e in done.named("step")] == ["epoch"] * 3 + ["broken"] * 3 + ["raised", "bad"]
    enclosed = [f for s in done.named("step") for f in done.named("fetch") if s["ts"] <= f["ts"] < s["ts"] + s["dur"]]
    assert len(enclosed) == 8, "a step encloses its fetch"
    assert "region" not in done.named("after")[0]


def test_the_trainer_waits_in_all_steps(tmp_path: pathlib.Path) -> None:
    done = python("""
        import time
        import dftrace
        def load():
            for item in range(40):
                time.sleep(0.02)
                yield item
        @dftrace.region(category="COMPUTE")
        def compute(item): sum(range(1000))
        for item in dftrace.iter(load(), "epoch", epoch=0): compute(item)
    """, tmp_path)
    page = " ".join(merge("findings", done.traces).out.split())
    assert "the trainer waits" in page and 'in "fetch"' in page
    assert "and 40 of 40 steps wait longer than they compute" in page
    assert "Load in other processes" in page and "num_workers" in page


def test_pickled_by_cloudpickle(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("cloudpickle")
    done = python("""
        import pickle, subprocess, sys
        import cloudpickle, dftrace
        @dftrace.region("by value", k=1)
        def recursive(n):
            return n + recursive(n - 1) if n else 0
        @dftrace.region
        def generator():
            yield 1
        def outer(k):
            @dftrace.region
            def local(n):
                return n + k
            return local
        code = "import pickle, sys; f, g, l = pickle.load(sys.stdin.buffer); assert (f(3), list(g()), l(1)) == (6, [1], 3)"
        pickled = cloudpickle.dumps((recursive, generator, outer(2)))
        subprocess.run([sys.executable, "-c", code], input=pickled, check=True)
    """, tmp_path)
    assert len(done.named("by value")) == 4 and len(done.named("generator")) == 1


def test_types_are_strict(tmp_path: pathlib.Path) -> None:
    if not shutil.which("mypy"):
        pytest.skip("mypy is not installed")
    use = tmp_path / "use.py"
    use.write_text('''
import dftrace

@dftrace.region
def plain(a: int) -> str:
    return str(a)

@dftrace.region("name", category="IO", step=1)
def named(a: int) -> str:
    return plain(a)

reveal_type(plain)
reveal_type(named)
with dftrace.region("x") as r:
    r.update(k=1)
named("no")
''')
    done = subprocess.run(["mypy", "--strict", str(use)], cwd=tmp_path, env=environment(MYPYPATH=TREE), check=False,
                          stdout=subprocess.PIPE, universal_newlines=True)
    assert done.stdout.count("def (a: builtins.int) -> builtins.str") == 2, done.stdout
    assert "Found 1 error" in done.stdout and 'has incompatible type "str"' in done.stdout, done.stdout


def test_the_package_is_strict() -> None:
    if not shutil.which("mypy"):
        pytest.skip("mypy is not installed")
    done = subprocess.run(["mypy", "--strict", "--config-file", str(ROOT / "python" / "pyproject.toml"), "-p", "dftrace"],
                          cwd=TREE, env=environment(PYTHONPATH=None), check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    assert done.returncode == 0, done.stdout
