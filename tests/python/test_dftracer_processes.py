# SPDX-License-Identifier: MIT
"""DFTracer's names in workers and threads, without the preload, without tracing, and without a library."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest
from traced import environment, merge, python

@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_trace_themselves(tmp_path: pathlib.Path, method: str) -> None:
    done = python("""
        import multiprocessing, os, sys
        from dftracer.python import dftracer, dft_fn, ai
        log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
        fn = dft_fn("WORK")
        @fn.log
        def work(step):
            with ai.data.item: pass
            return os.getpid()
        if __name__ == "__main__":
            with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                print(*pool.map(work, range(20), 1))
                pool.close()
                pool.join()
    """, tmp_path, method)
    assert done.counted() == {("WORK", "work"): 20, ("data", "item"): 20}
    assert sorted(event["args"]["step"] for event in done.named("work")) == list(range(20))
    assert sorted(event["pid"] for event in done.named("work")) == sorted(int(word) for word in done.out.split())


def test_threads(tmp_path: pathlib.Path) -> None:
    done = python("""
        import threading
        from dftracer.python import dft_fn, ai
        fn = dft_fn("T")
        @fn.log
        def outer(step):
            inner()
        @ai.compute.forward
        def inner():
            with ai.comm.send: pass
        def run():
            for step in fn.iter(range(100)): outer(step)
        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """, tmp_path)
    assert done.counted() == {("T", "outer"): 800, ("T", "loop.iter"): 800, ("T", "loop.yield"): 800,
                             ("compute", "forward"): 800, ("comm", "send"): 800}
    assert {e["region"] for e in done.named("send")} == {"forward"}
    assert {e["region"] for e in done.named("outer")} == {"loop.yield"}
    assert merge("check", done.traces).code == 0


def test_a_worker_that_is_killed(tmp_path: pathlib.Path) -> None:
    done = python("""
        import os, signal
        from dftracer.python import dft_fn, ai
        fn = dft_fn("K")
        @fn.log
        def work(step): pass
        pid = os.fork()
        if not pid:
            with ai.compute.forward:
                for step in range(10): work(step)
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(pid, 0)
        if not os.fork():
            work(10)
            os._exit(0)
        os.wait()
    """, tmp_path)
    assert sorted(event["args"]["step"] for event in done.named("work")) == list(range(11))


# --- without tracing ----------------------------------------------------------------------------------

NOTHING = """
    import sys
    from dftracer.logger import dftracer, dft_fn, ai
    from dftracer.python import dynamo, EntityRelation
    log = dftracer.initialize_log("traces/x", ".", -1)
    fn = dft_fn("C")
    def function(a): return a
    assert fn.log(function) is function and fn.log(name="x")(function) is function
    assert ai.compute.forward(function) is function and ai.compute.init(function) is function
    assert dynamo.compile(function) is function and dynamo.compile()(function) is function
    assert fn.log_static(staticmethod(function)).__func__ is function
    with fn as block, ai.compute(step=1) as more, dft_fn("A", "b"):
        block.update(step=1, args={"a": 1}).flush().reset()
        more.update(epoch=1)
    assert list(fn.iter([1, 2])) == list(ai.compute.iter([1, 2])) == [1, 2]
    assert log.get_time() == 0 and fn.uses("t", "k") == log.declare_entity("t", "k") == 0
    log.log_event("n", "c", 1, 2, {"a": 1})
    log.log_metadata_event("k", "v")
    log.relate_entities(EntityRelation.CONTAINS, 1, 2)
    log.finalize()
    assert "torch" not in sys.modules
    print("done")
"""


@pytest.mark.parametrize("value", [None, "0"])
def test_nothing_where_tracing_is_off(tmp_path: pathlib.Path, value: Any) -> None:
    done = python(NOTHING, tmp_path, plain=True, DFTRACER_ENABLE=value)
    assert done.out == "done\n" and done.err == "" and not done.traces.exists()


def test_annotations_alone_without_the_preload(tmp_path: pathlib.Path) -> None:
    done = python("""
        from dftracer.logger import dftracer, dft_fn, ai
        fn = dft_fn("C")
        @fn.log
        def early(): pass
        log = dftracer.initialize_log(logfile="traces/sub/x.pfw", data_dir=None, process_id=-1)
        early()
        with ai.compute: pass
        log.finalize()
    """, tmp_path, plain=True, DFTRACER_ENABLE=1)
    assert "annotations alone" in done.err
    assert done.counted() == {("C", "early"): 1, ("compute", "compute"): 1}
    assert all(path.name.startswith("x.pfw") for path in (tmp_path / "traces" / "sub").iterdir())


def test_without_a_library(tmp_path: pathlib.Path) -> None:
    tree = tmp_path / "tree"
    for package in ("dftrace", "dftracer"):
        shutil.copytree(pathlib.Path(environment()["PYTHONPATH"]) / package, tree / package)
    done = python("""
        from dftracer.logger import dftracer, dft_fn, ai
        fn = dft_fn("C")
        @fn.log
        def f(step): return step
        log = dftracer.initialize_log("traces/x", None, -1)
        with ai.compute, dft_fn("A", "b") as block:
            assert f(2) == 2 and block.uses("t", "k") == 0
        for _ in fn.iter(range(2)): pass
        log.log_event("n", "c", log.get_time(), 1)
        print("done")
    """, tmp_path, plain=True, DFTRACER_ENABLE=1, PYTHONPATH=tree, PATH="/nowhere", DFTRACE_HOME=tmp_path)
    assert done.out == "done\n" and "dftrace records nothing" in done.err
