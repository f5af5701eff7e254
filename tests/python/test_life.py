# SPDX-License-Identifier: MIT
"""Generators, coroutines and async generators: one span each, from the first step to the end, whoever ends it."""

from __future__ import annotations

import pathlib

from traced import Done, python


def begun(done: Done, name: str) -> int:
    return sum(e["name"] == name and e.get("phase") == "async_begin" for e in done.events())


def test_generators(tmp_path: pathlib.Path) -> None:
    done = python("""
        import threading, time
        import dftrace
        log = []
        @dftrace.region(k=1)
        def generator(n):
            try:
                for i in range(n):
                    log.append((yield i))
                return "done"
            except ValueError:
                yield "caught"
            finally:
                log.append("closed")
        def outer():
            assert (yield from generator(1)) == "done"
        assert list(generator(3)) == [0, 1, 2] and list(outer()) == [0]
        it = generator(3)
        next(it)
        time.sleep(0.02)
        assert it.send("sent") == 1 and log[-1] == "sent" and it.throw(ValueError("v")) == "caught"
        it.close()
        assert log[-1] == "closed"
        never = generator(1)
        del never
        it = generator(5)
        next(it)
        thread = threading.Thread(target=it.close)
        thread.start(); thread.join()
        kept = [generator(2)]
        next(kept[0])
        thread = threading.Thread(target=kept.clear)  # the collector's, in another thread
        thread.start(); thread.join()
        with dftrace.region("after"): pass
    """, tmp_path)
    spans = done.named("generator")
    assert len(spans) == begun(done, "generator") == 5
    assert max(e["dur"] for e in spans) >= 20_000_000 and all(e["args"] == {"k": 1} for e in spans)
    assert "region" not in done.named("after")[0]


def test_coroutines(tmp_path: pathlib.Path) -> None:
    done = python("""
        import asyncio, os, warnings
        import dftrace
        @dftrace.region
        async def parent(n):
            with open(__file__): pass
            task = asyncio.create_task(child(n))
            await asyncio.sleep(0)
            return n + await task
        @dftrace.region
        async def child(n):
            await asyncio.sleep(0.001)
            return n
        @dftrace.region
        async def cancelled():
            await asyncio.sleep(100)
        async def main():
            assert await asyncio.gather(*[parent(i) for i in range(5)]) == [2 * i for i in range(5)]
            task = asyncio.create_task(cancelled())
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            async with dftrace.region("block", k=1) as block:
                await child(1)
                block.update(ok=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                parent(1)
        asyncio.run(main())
    """, tmp_path)
    parents = {e["id"] for e in done.named("parent")}
    begins = [e for e in done.events() if e["name"] == "child" and e.get("phase") == "async_begin"]
    assert len(parents) == begun(done, "parent") == 5 and len(done.named("child")) == len(begins) == 6
    assert {e["args"]["parent"] for e in begins} == parents | {done.named("block")[0]["id"]}
    assert len(done.named("cancelled")) == 1 and done.named("block")[0]["args"] == {"k": 1, "ok": 1}
    opened = [e for e in done.events() if e["name"].startswith("open") and e.get("region") == "parent"]
    assert len(opened) == 5, "the calls between its steps are the coroutine's"


def test_blocks_go_on_through_waits(tmp_path: pathlib.Path) -> None:
    done = python("""
        import asyncio
        import dftrace
        @dftrace.region
        async def child(): pass
        @dftrace.region
        async def coroutine():
            async with dftrace.region("block"):
                for _ in range(3):
                    await asyncio.sleep(0.001)
                await child()
                with open(__file__): pass
            async for _ in dftrace.iter(numbers(), "loop"):
                await asyncio.sleep(0)
                await child()
            await child()
        @dftrace.region
        async def numbers():
            async with dftrace.region("across"):
                yield 1
                await asyncio.sleep(0)
                yield 2
                await child()
        asyncio.run(coroutine())
    """, tmp_path)
    begins = sorted((e for e in done.events() if e.get("phase") == "async_begin"), key=lambda e: int(e["id"]))
    name = {e["id"]: e["name"] for e in begins}
    parents = [name[e["args"]["parent"]] for e in begins if e["name"] == "child"]
    assert parents == ["block", "step", "step", "across", "coroutine"]
    assert done.named("block")[0]["dur"] >= 3_000_000
    assert len(begins) == len(name) == sum("id" in e and e.get("phase") != "async_begin" for e in done.events())
    assert {e.get("region") for e in done.named("open") if "program.py" in e["file"]} <= {None, "coroutine"}


def test_async_generators(tmp_path: pathlib.Path) -> None:
    done = python("""
        import asyncio, gc
        import dftrace
        log = []
        @dftrace.region
        async def numbers(n):
            try:
                for i in range(n):
                    log.append((yield i))
                    await asyncio.sleep(0)
            except ValueError:
                yield "caught"
            finally:
                log.append("closed")
        async def main():
            assert [i async for i in numbers(3)] == [0, 1, 2]
            it = numbers(3)
            assert await it.asend(None) == 0 and await it.asend("sent") == 1 and log[-1] == "sent"
            assert await it.athrow(ValueError()) == "caught"
            await it.aclose()
            assert log[-1] == "closed"
            it = numbers(2)
            await it.__anext__()
            del it
            gc.collect()
            for _ in range(3): await asyncio.sleep(0)
            async with dftrace.region("outer"):
                async for i in dftrace.iter(numbers(2), "loop", epoch=1):
                    async with dftrace.region("body"): pass
                async for i in dftrace.iter(numbers(2), "broken"):
                    break
        asyncio.run(main())
    """, tmp_path)
    assert len(done.named("numbers")) == begun(done, "numbers") == 5
    assert done.named("loop")[0]["args"] == {"epoch": 1, "count": 2} and done.named("broken")[0]["args"] == {"count": 1}
    steps = done.named("step")
    fetches = done.named("fetch")
    assert [any(s["ts"] == f["ts"] and s["dur"] >= f["dur"] for f in fetches) for s in steps] == [True] * 3
    parents = [e["args"]["parent"] for e in done.events() if e["name"] == "body" and e.get("phase") == "async_begin"]
    assert parents == [e["id"] for e in steps[:2]] and [e["args"]["step"] for e in steps] == [0, 1, 0]
    assert len(done.named("fetch")) == 4 and len(done.named("outer")) == 1


def test_ends_of_the_process(tmp_path: pathlib.Path) -> None:
    done = python("""
        import atexit, os, sys, threading
        import dftrace
        @dftrace.region
        def at_exit(): pass
        atexit.register(at_exit)
        class Deleted:
            @dftrace.region
            def __del__(self): at_exit()
        keep = Deleted()
        def forks():
            child = os.fork()
            if not child:
                with dftrace.region("in the child"):
                    os._exit(3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        thread = threading.Thread(target=forks)
        with dftrace.region("around"):
            thread.start(); thread.join()
        dftrace.region("left open").__enter__()
    """, tmp_path)
    assert done.err == ""
    assert done.named("in the child")[0]["args"] == {"ended_by": "_exit"}
    assert done.named("left open")[0]["args"] == {"ended_by": "exit"}
    assert len(done.named("Deleted.__del__")) == 1 and len(done.named("at_exit")) == 2 and len(done.named("around")) == 1


def test_a_daemon_thread_at_the_end(tmp_path: pathlib.Path) -> None:
    done = python("""
        import threading, time
        import dftrace
        def for_ever():
            while True:
                with dftrace.region("in a daemon"):
                    began.set()
        began = threading.Event()
        threading.Thread(target=for_ever, daemon=True).start()
        began.wait()
    """, tmp_path)
    assert done.err == "" and done.named("in a daemon")


def test_other_interpreters_of_the_process(tmp_path: pathlib.Path) -> None:
    done = python("""
        import sys, textwrap
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        import dftrace
        code = '''
        import sys
        sys.path[:0] = %r
        import dftrace
        @dftrace.region
        def within(): return 1
        with dftrace.region("around"):
            assert within() == 1 and dftrace.enabled()
        ''' % sys.path
        for _ in range(3):
            one = interpreters.create()
            interpreters.run_string(one, textwrap.dedent(code))
            interpreters.destroy(one)
    """, tmp_path)
    assert len(done.named("within")) == len(done.named("around")) == 3
