# SPDX-License-Identifier: MIT
"""Programs that are annotated for DFTracer: they run unchanged, and the trace has the events that DFTracer's has."""

from __future__ import annotations

import collections
import json
import pathlib
import re
import shutil
import sys
from typing import Counter, Tuple

import pytest
from traced import Done, environment, merge, python, run

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]
needs_numpy = pytest.mark.skipif(numpy is None, reason="numpy is not installed (Debian: python3-numpy)")
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


# --- DFTracer's example: functions, a spawned worker, files -------------------------------------------

EXAMPLE = """
    import os
    import sys
    from multiprocessing import get_context
    from time import sleep

    import numpy as np
    from dftracer.python import dftracer, dft_fn

    logger = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
    dft_fn = dft_fn("COMPUTE")

    @dft_fn.log
    def log_events(index):
        sleep(0.01)

    def posix_calls(value):
        index, is_spawned = value
        f = open(f"data/demofile{index}.txt", "w+")
        f.write("Now the file has more content!")
        f.close()
        print("spawned", os.getpid(), flush=True)
        if is_spawned:
            logger.finalize()

    def npz_calls(index):
        records = np.random.randint(255, size=(8, 8, 1024), dtype=np.uint8)
        np.savez(f"data/demofile{index}.npz", x=records, y=[0] * 1024)

    def main():
        log_events(0)
        npz_calls(1)
        with get_context("spawn").Pool(1) as pool:
            pool.map(posix_calls, ((2, True),))
            pool.close()
            pool.join()
        logger.finalize()

    if __name__ == "__main__":
        main()
"""
CALL = re.compile(r"^\d+ +(?P<call>\w+)\((?P<words>.*)\) += (?P<result>-?\d+)(?:<(?P<path>[^>]*)>)?")
SAME = {"openat": "open", "pwrite64": "pwrite"}


def judged(log: pathlib.Path) -> Counter[Tuple[str, str]]:
    """From strace's log: how often each call was made with each file of the data folder."""
    counts: Counter[Tuple[str, str]] = collections.Counter()
    for line in log.read_text(errors="replace").splitlines():
        match = CALL.match(line)
        if not match or int(match["result"]) < 0:
            continue
        path = match["path"] if match["call"] == "openat" else match["words"].partition("<")[2].partition(">")[0]
        if path and "/data/" in path:
            counts[SAME.get(match["call"], match["call"]), pathlib.Path(path).name] += 1
    return counts


def seen(done: Done) -> Counter[Tuple[str, str]]:
    """From the trace, the same; a run of calls that is one event counts as its calls."""
    counts: Counter[Tuple[str, str]] = collections.Counter()
    for event in done.events():
        name = event["name"].replace("64", "").replace("openat", "open")
        is_judged = "/data/" in event.get("file", "") and name in ("open", "write", "pwrite", "close")
        if is_judged and event.get("ret", 0) >= 0:
            counts[name, pathlib.Path(event["file"]).name] += event.get("calls", 1)
    return counts


@needs_numpy
@needs_strace
def test_the_example_of_dftracer(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data").mkdir()
    done = python(EXAMPLE, tmp_path, DFTRACER_DATA_DIR=tmp_path / "data")
    plain = run(["strace", "-f", "-y", "-o", tmp_path / "log", "-e", "trace=openat,write,pwrite64,close",
                 sys.executable, tmp_path / "program.py"], tmp_path, environment())
    assert plain.code == 0, plain.err
    expected = judged(tmp_path / "log")
    assert expected["open", "demofile2.txt"] == 1 and expected["write", "demofile1.npz"] > 1
    assert seen(done) == expected
    assert done.counted() == {("COMPUTE", "log_events"): 1}
    assert done.named("log_events")[0]["dur"] >= 10_000_000
    worker = int(done.out.split()[1])
    assert {event["pid"] for event in done.events() if event.get("file", "").endswith("demofile2.txt")} == {worker}
    assert all(event["pid"] != worker for event in done.own())


# --- dft_fn -------------------------------------------------------------------------------------------

def test_decorators_names_and_arguments(tmp_path: pathlib.Path) -> None:
    done = python("""
        from dftracer.logger import dftracer, dft_fn as Profile
        log = dftracer.initialize_log("unused", "", -1)
        assert log is dftracer.get_instance()
        fn = Profile("IO")
        @fn.log
        def plain(a, b=2): return a + b
        @fn.log(name="renamed")
        def other(): return 1
        @fn.log
        def with_step(x, step=2, epoch=None): return step
        class Reader:
            epoch = 7
            @fn.log_init
            def __init__(self, image_size): self.image_size = image_size
            @fn.log
            def read(self, image_idx): return self, image_idx
            def step(self): pass
            @property
            def image_idx(self): raise RuntimeError("not yet")
            @staticmethod
            @fn.log_static
            def fixed(x): return x
            @fn.log_static(name="bare")
            @staticmethod
            def bare(step): return step
        assert plain(1) == 3 and plain(1, b=4) == 5 and other() == 1
        assert with_step(0) == 2 and with_step(0, 5, epoch=1) == 5 and with_step(0, step=6) == 6
        reader = Reader(2.5)
        assert reader.read(4) == (reader, 4) and Reader.fixed(3) == 3 and reader.bare(9) == 9
        assert plain.__name__ == "plain" and with_step.__wrapped__(0) == 2
        try:
            @fn.log
            def fails(): raise KeyError("x")
            fails()
        except KeyError as error:
            assert error.args == ("x",)
        else:
            raise AssertionError
    """, tmp_path)
    assert [(e["name"], e.get("args", {})) for e in done.own()] == [
        ("plain", {}), ("plain", {}), ("renamed", {}), ("with_step", {"step": 2}),
        ("with_step", {"step": 5, "epoch": 1}), ("with_step", {"step": 6}),
        ("Reader.__init__", {"epoch": 7, "image_size": 2.5}),
        ("Reader.read", {"epoch": 7, "image_size": 2.5, "image_idx": 4}),
        ("Reader.fixed", {}), ("bare", {}), ("fails", {})]
    assert {event["cat"] for event in done.own()} == {"IO"}


def test_blocks_update_reset_and_flush(tmp_path: pathlib.Path) -> None:
    done = python("""
        import time
        from dftracer.python import dft_fn, TagValue, TagDType, TagType
        with dft_fn("A", "block", epoch=1, step=2, image_idx=3, image_size=4) as block:
            block.update(epoch=5, args={"int": 1, "float": 0.5, "text": "t", "tag": TagValue("7", TagDType.INT)})
        with dft_fn(cat="A", name="off", enable=False) as off:
            off.update(step=1).flush().reset()
        def named_by_its_function():
            with dft_fn("A"):
                pass
        named_by_its_function()
        twice = dft_fn("A", "twice")
        with twice: pass
        with twice: pass
        timer = dft_fn("A", "timer")
        time.sleep(0.02)
        timer.flush()
        timer.reset()
        timer.update(step=9).flush()
        with dft_fn("A", "flushed") as early:
            early.flush()
        with dft_fn("A", "parts") as parts:
            parts.reset()
        assert TagValue(3, TagDType.FLOAT, TagType.VALUE).value() == (1, 3.0) and int(TagDType.STRING) == 2
        fn = dft_fn("B")
        fn.log_metadata("key", "value")
        @fn.log
        def inner():
            fn.update(step=3)
        inner()
        inner()
        @fn.log
        def replaced(step):
            fn.update(step=step + 1)
        replaced(5)
    """, tmp_path)
    events = done.own()
    assert events[0]["args"] == {"epoch": 5, "step": 2, "image_idx": 3, "image_size": 4.0, "int": 1, "float": 0.5,
                                 "text": "t", "tag": 7}
    assert done.counted() == {("A", "block"): 1, ("A", "named_by_its_function"): 1, ("A", "twice"): 2,
                              ("A", "timer"): 2, ("A", "flushed"): 1, ("A", "parts"): 2, ("B", "inner"): 2,
                              ("B", "replaced"): 1}
    first, second = done.named("timer")
    assert first["dur"] >= 20_000_000 > second["dur"] and second["args"] == {"step": 9}
    assert [event["args"] for event in done.named("inner")] == [{"step": 3}, {"step": 3}]
    assert merge("dump", "--json", done.traces).out.count('"args":{"step":6}') == 1
    assert [event["args"] for event in done.named("key")] == [{"value": "value"}]


def test_loops(tmp_path: pathlib.Path) -> None:
    done = python("""
        import os
        from dftracer.python import dft_fn
        fn = dft_fn("COMPUTE")
        def elements():
            for _ in range(3):
                os.stat("program.py")
                yield 1
            os.stat("program.py")
        def body():
            os.access("program.py", os.R_OK)
        assert sum(1 for _ in fn.iter(elements()) if not body()) == 3
        for number in fn.iter(range(5), name="batch", iter_name="n"):
            if number == 1:
                break
        try:
            for _ in fn.iter(range(2), name="bad"):
                raise KeyError
        except KeyError:
            pass
        assert list(fn.iter([])) == []
    """, tmp_path)
    assert done.counted() == {("COMPUTE", "loop.iter"): 3, ("COMPUTE", "loop.yield"): 3, ("COMPUTE", "batch.iter"): 2,
                             ("COMPUTE", "batch.yield"): 2, ("COMPUTE", "bad.iter"): 1, ("COMPUTE", "bad.yield"): 1}
    assert [event["args"] for event in done.named("loop.iter")] == [{"step": n} for n in (1, 2, 3)]
    assert [event["args"] for event in done.named("batch.yield")] == [{"n": 1}, {"n": 2}]
    regions = [(e["name"], e.get("region")) for e in done.events() if e.get("file", "").endswith("program.py")]
    assert [of for name, of in regions if "stat" in name and of] == ["loop.iter"] * 4
    assert [of for name, of in regions if name == "access"] == ["loop.yield"] * 3


def test_generators_and_coroutines_over_their_life(tmp_path: pathlib.Path) -> None:
    done = python("""
        import asyncio, inspect, time
        from dftracer.python import dft_fn, ai
        fn = dft_fn("LIFE")
        @fn.log
        def numbers(step):
            time.sleep(0.01)
            sent = yield 1
            assert sent == "s"
            time.sleep(0.01)
            return 5
        @fn.log
        async def waits(epoch):
            await asyncio.sleep(0.02)
            return epoch
        @ai.data.item
        async def items():
            await asyncio.sleep(0.02)
            yield 1
        assert inspect.isgeneratorfunction(numbers) and inspect.iscoroutinefunction(waits)
        fn.update(step=4, args={"k": "old"})
        generator = numbers(3)
        fn.update(args={"k": "new"})
        time.sleep(0.05)
        assert next(generator) == 1
        try:
            generator.send("s")
        except StopIteration as end:
            assert end.value == 5
        async def main():
            assert await asyncio.gather(waits(1), waits(2)) == [1, 2]
            assert [x async for x in items()] == [1]
        asyncio.run(main())
    """, tmp_path)
    generator, = done.named("numbers")
    assert 20_000_000 <= generator["dur"] and generator["args"] == {"step": 4, "k": "new"}
    assert merge("dump", "--json", done.traces).out.count('"args":{"step":4,"k":"new"}') == 1
    assert sorted(event["args"]["epoch"] for event in done.named("waits")) == [1, 2]
    assert all(event["dur"] >= 20_000_000 for event in done.named("waits") + done.named("item"))


# --- the logger ---------------------------------------------------------------------------------------

def test_events_with_given_times(tmp_path: pathlib.Path) -> None:
    done = python("""
        import time
        from dftracer.logger import dftracer
        from dftracer.python import TagValue, TagDType
        log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=5)
        log.enter_event()
        start = log.get_time()
        assert abs(start - time.time() * 1e6) < 60e6
        time.sleep(0.01)
        end = log.get_time()
        log.log_event("test", "cat2", start, end - start, {"epoch": 1, "index": "x"})
        log.log_event(name="typed", cat="cat2", start_time=start, duration=7, int_args={"i": (0, 1)},
                      float_args={"f": TagValue(0.5, TagDType.FLOAT).value()}, string_args={"s": TagValue("t")})
        log.exit_event()
        log.log_metadata_event("key", "value")
        log.set_app_metadata_int("ranks", 4)
        log.set_app_metadata_string("model", "m")
        log.mark_used("part")
        log.finalize()
        log.log_event("after", "cat2", log.get_time(), 0)
        print(start, end)
    """, tmp_path)
    start, end = (int(word) for word in done.out.split())
    test, = done.named("test")
    assert test["cat"] == "cat2" and test["args"] == {"epoch": 1, "index": "x"}
    assert abs(test["dur"] - (end - start) * 1000) < 1_000_000 and abs(test["ts"] - start * 1000) < 1_000_000
    typed, = done.named("typed")
    assert typed["args"] == {"i": 1, "f": 0.5, "s": "t"} and abs(typed["dur"] - 7000) < 100
    assert len(done.named("after")) == 1
    metadata = {e["name"]: e["args"].get("value") for e in done.events() if e.get("phase") == "metadata"}
    assert metadata == {"key": "value", "ranks": 4, "model": "m", "used": "part", "process_id": 5}


def test_events_that_overlap(tmp_path: pathlib.Path) -> None:
    """Fractions of microseconds are kept; in a viewer's file none is a slice that begins in another one and ends behind it."""
    done = python("""
        import time
        from dftracer.python import dftracer, DFTRACER_ENABLE
        assert DFTRACER_ENABLE
        log = dftracer.initialize_log(None, None, -1)
        start = log.get_time()
        time.sleep(0.02)
        log.log_event("a", "GPU", start, 3000)
        log.log_event("b", "GPU", start + 2000, 3000.25)
        log.log_event("c", "GPU", start + 2500.5, 100.125)
        log.finalize()
    """, tmp_path)
    found = {name: done.named(name)[0] for name in "abc"}
    assert abs(found["b"]["dur"] - 3_000_250) <= 2 and abs(found["c"]["dur"] - 100_125) <= 2, "ticks are rounded"
    assert abs(found["c"]["ts"] - found["a"]["ts"] - 2_500_500) <= 250, "the float has no finer time of today"
    exported = merge("export", "--format", "perfetto", "-o", tmp_path / "x.json", done.traces)
    assert exported.code == 0, exported.err
    records = [r for r in json.loads((tmp_path / "x.json").read_text())["traceEvents"] if r.get("cat") == "GPU"]
    assert {(r["name"], r["ph"]) for r in records} == {("a", "X"), ("b", "b"), ("b", "e"), ("c", "X")}, records


# --- export -------------------------------------------------------------------------------------------

def test_export_in_dftracers_own_format(tmp_path: pathlib.Path) -> None:
    done = python("""
        from dftracer.python import dft_fn, ai
        fn = dft_fn("COMPUTE")
        @fn.log
        def load(step, epoch=1): pass
        load(3)
        for _ in ai.pipeline.epoch.iter(range(1)): pass
    """, tmp_path)
    exported = merge("export", "--format", "pfw", "-o", tmp_path / "x.pfw", done.traces)
    assert exported.code == 0, exported.err
    lines = [json.loads(line) for line in (tmp_path / "x.pfw").read_text().splitlines() if line.startswith("{")]
    found = {(e["cat"], e["name"]): e for e in lines if e["ph"] == "X" and e["cat"] in ("COMPUTE", "pipeline")}
    assert list(found) == [("COMPUTE", "load"), ("pipeline", "epoch.iter"), ("pipeline", "epoch.block")]
    load = found["COMPUTE", "load"]
    assert load["args"]["step"] == 3 and load["args"]["epoch"] == 1
    assert found["pipeline", "epoch.block"]["args"]["count"] == 1
