# SPDX-License-Identifier: MIT
"""The integration of fsspec, with the real library: what is recorded of each kind of file system, and counted once."""

from __future__ import annotations

import collections
import pathlib
import zipfile
from typing import Any, Dict, List, Tuple

import pytest

from traced import Done, python, run, tracing

pytest.importorskip("fsspec", reason="fsspec is not installed (python3-fsspec)")

BEGIN = """
import sys
import dftrace.integrations.fsspec as integration
assert integration.install() == [], integration.install()
import fsspec
"""
# Object storage of our own: blocking with blocks that are fetched, and asynchronous.
MADE = BEGIN + """
import asyncio
from fsspec.asyn import AsyncFileSystem
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

DATA = bytes(range(250)) * 4

class File(AbstractBufferedFile):
    def _fetch_range(self, start, end):
        return DATA[start:end]
    def _upload_chunk(self, final=False):
        return True

class Blocks(AbstractFileSystem):
    protocol = "blocks"
    def _open(self, path, mode="rb", **options):
        return File(self, path, mode, **options)
    def info(self, path, **options):
        return {"name": path, "size": len(DATA), "type": "file"}

class Store(AsyncFileSystem):
    protocol = ("store", "stores")
    async def _info(self, path, **options):
        return {"name": path, "size": 10, "type": "file"}
    async def _cat_file(self, path, start=None, end=None, **options):
        await asyncio.sleep(0.02)
        if path == "none":
            raise FileNotFoundError(path)
        return bytes(10)
    async def _pipe_file(self, path, value, **options):
        await asyncio.sleep(0)
    async def _get_file(self, rpath, lpath, **options):
        with open(lpath, "wb") as file:
            file.write(bytes(10))
"""


def operations(done: Done) -> List[Tuple[str, Dict[str, Any]]]:
    """Names and arguments, in the order of their ends."""
    events = [e for e in done.events() if e["cat"] == "FSSPEC"]
    return [(e["name"], e.get("args", {})) for e in sorted(events, key=lambda e: (e["ts"] + e["dur"], -e["ts"]))]


def moved(done: Done) -> Dict[str, int]:
    """The bytes of each operation."""
    sums: Dict[str, int] = collections.Counter()
    for name, args in operations(done):
        if "bytes" in args:
            sums[name] += args["bytes"]
    return dict(sums)


def test_operations_of_a_file_system_count_once(tmp_path: pathlib.Path) -> None:
    done = python(BEGIN + """
import os
os.mkdir("there")
fs = fsspec.filesystem("memory")
fs.pipe("/a/x", b"12345")
fs.pipe({"/a/y": b"123", "/a/z": b"1234"})
assert fs.cat("/a/x") == b"12345"
assert fs.cat(["/a/y", "/a/z"]) == {"/a/y": b"123", "/a/z": b"1234"}
assert fs.cat_file("/a/x", start=1, end=3) == b"23"
fs.get("/a/x", "there/x")
fs.put("there/x", "/b/x")
with fs.open("/a/x") as file:
    assert file.read(2) == b"12"
with fs.open("/a/w", "wb") as file:
    file.write(b"1234567")
fs.ls("/a"); fs.info("/a/x"); fs.exists("/none"); fs.rm("/a/w")
""", tmp_path)
    assert moved(done) == {"memory.pipe": 12, "memory.cat": 12, "memory.cat_file": 2, "memory.get": 5, "memory.put": 5,
                           "memory.read": 2, "memory.write": 7}
    names = [name for name, _ in operations(done)]
    assert {"memory.ls", "memory.info", "memory.exists", "memory.rm"} <= set(names)
    of = dict(operations(done))
    assert of["memory.read"] == {"path": "/a/x", "asked": 2, "bytes": 2}
    assert of["memory.put"]["path"] == "/b/x"
    assert ("memory.cat", {"path": "/a/y", "files": 2, "bytes": 7}) in operations(done)


def test_local_files_and_archives(tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/x", "zipped")
    done = python(BEGIN + """
with fsspec.open("file://" + sys.argv[1] + "/t", "w") as file:
    file.write("abc")
with fsspec.open(sys.argv[1] + "/t", "rb") as file:
    assert file.read() == b"abc"
with fsspec.open("zip://in/x::file://" + sys.argv[1] + "/a.zip") as file:
    assert file.read() == b"zipped"
""", tmp_path, tmp_path)
    of = dict(operations(done))
    assert of["file.write"]["bytes"] == 3
    assert ("file.read", {"path": str(tmp_path / "t"), "bytes": 3}) in operations(done)
    assert of["zip.open"] == {"path": "in/x", "mode": "rb"}


def test_a_cache_says_what_it_had(tmp_path: pathlib.Path) -> None:
    done = python(BEGIN + """
fsspec.filesystem("memory").pipe("/x", b"12345")
for i in range(3):
    with fsspec.open("simplecache::memory://x", simplecache={"cache_storage": "cache"}) as file:
        assert file.read() == b"12345"
""", tmp_path)
    opens = [args for name, args in operations(done) if name == "simplecache.open"]
    assert [(args["hits"], args["misses"]) for args in opens] == [(0, 1), (1, 0), (1, 0)]
    assert moved(done)["memory.get"] == 5  # what is behind the cache, once


def test_blocks_of_a_file(tmp_path: pathlib.Path) -> None:
    done = python(MADE + """
fs = Blocks()
with fs.open("x", block_size=100) as file:
    for at, count in ((0, 10), (10, 10), (500, 50)):
        file.seek(at)
        assert file.read(count) == DATA[at:at + count]
assert fs.cat_file("x") == DATA
with fs.open("y", "wb", block_size=100) as file:
    file.write(bytes(250))
cached = fsspec.filesystem("blockcache", fs=fs, cache_storage="cache")
for i in range(2):
    with cached.open("x", block_size=100) as file:
        assert file.read(10) == DATA[:10]
""", tmp_path)
    reads = [args for name, args in operations(done) if name == "blocks.read"]
    assert [(r["asked"], r["bytes"], r["hits"], r["misses"], r["fetched"]) for r in reads] == [
        (10, 10, 0, 1, 110), (10, 10, 1, 0, 0), (50, 50, 0, 1, 150), (10, 10, 0, 1, 100), (10, 10, 1, 0, 0)]
    assert moved(done)["blocks.cat_file"] == 1000
    assert moved(done)["blocks.write"] == 250
    opens = [(a["hits"], a["misses"]) for name, a in operations(done) if name == "blockcache.open"]
    assert opens == [(0, 1), (1, 0)]


def test_asynchronous_file_systems(tmp_path: pathlib.Path) -> None:
    done = python(MADE + """
import pickle
fs = Store()
fs.cat_file("a")
fs.cat(["b", "c"])
fs.pipe_file("a", b"123")
fs.get("a", "got")
try:
    fs.cat_file("none")
except FileNotFoundError as error:
    assert error.args == ("none",)
else:
    sys.exit(1)
pickle.loads(pickle.dumps(fs)).cat_file("pickled")
awaited = Store(asynchronous=True)
async def main():
    await asyncio.gather(*[awaited._cat_file(path) for path in "pqr"])
asyncio.run(main())
""", tmp_path)
    assert moved(done) == {"store.cat_file": 50, "store.cat": 20, "store.pipe_file": 3, "store.get": 10}
    at_once = sorted((e for e in done.named("store.cat_file") if e["args"]["path"] in "pqr"), key=lambda e: e["ts"])
    assert len(at_once) == 3
    assert at_once[2]["ts"] < at_once[0]["ts"] + at_once[0]["dur"], "they were not recorded side by side"
    failed = [args for name, args in operations(done) if args.get("path") == "none"]
    assert failed == [{"path": "none"}]


def test_http(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("aiohttp", reason="aiohttp is not installed: fsspec has no http:// without it")
    pytest.importorskip("requests", reason="requests is not installed: fsspec has no http:// without it")
    (tmp_path / "data").write_bytes(b"x" * 1000)
    done = python(BEGIN + """
import functools, http.server, threading
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}/data"
assert len(fsspec.filesystem("http").cat_file(url)) == 1000
with fsspec.open(url) as file:
    assert len(file.read()) == 1000
server.shutdown()
""", tmp_path, tmp_path)
    assert moved(done) == {"http.cat_file": 1000, "http.read": 1000}


def test_errors_and_threads_pass_unchanged(tmp_path: pathlib.Path) -> None:
    done = python(BEGIN + """
import threading
fs = fsspec.filesystem("memory")
try:
    fs.cat_file("/none")
except FileNotFoundError:
    pass
else:
    sys.exit(1)
fs.pipe("/x", b"1" * 100)
threads = [threading.Thread(target=lambda: [fs.cat_file("/x") for _ in range(50)]) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""", tmp_path)
    assert moved(done)["memory.cat_file"] == 4 * 50 * 100
    assert sum(name == "memory.cat_file" for name, _ in operations(done)) == 201
    assert "note" not in done.err


def test_nothing_is_hooked_when_tracing_is_off(tmp_path: pathlib.Path) -> None:
    python("""
        import fsspec, fsspec.spec
        before = dict(vars(fsspec.spec.AbstractFileSystem))
        import sys
        finders = list(sys.meta_path)
        import dftrace.integrations.fsspec as integration
        assert integration.install() == []
        assert dict(vars(fsspec.spec.AbstractFileSystem)) == before and sys.meta_path == finders
        """, tmp_path, plain=True)


def test_by_the_launcher(tmp_path: pathlib.Path) -> None:
    """The program does not know of it; fsspec is imported when it is."""
    import sys

    from traced import environment

    (tmp_path / "p.py").write_text("import fsspec\nfs = fsspec.filesystem('memory')\nfs.pipe('/x', b'1')\n"
                                   "fs.cat('/x')\n")
    done = run([sys.executable, "-m", "dftrace", "run", "--fsspec", "-o", tmp_path / "traces", "p.py"], tmp_path,
               environment())
    assert done.code == 0, done.err
    assert moved(done) == {"memory.pipe": 1, "memory.cat": 1}
    assert "memory.cat" in done.err


def test_versions_that_lack_something(tmp_path: pathlib.Path) -> None:
    """What is missing is named, and the rest is recorded."""
    done = run([*_python("""
import fsspec, fsspec.asyn
sync = fsspec.asyn.sync
del fsspec.asyn.sync
import dftrace.integrations.fsspec as integration
assert integration.install() == ["fsspec.asyn.sync"], integration.install()
fsspec.filesystem("memory").pipe("/x", b"1")
""", tmp_path)], tmp_path, tracing(tmp_path))
    assert done.code == 0, done.err
    assert moved(done) == {"memory.pipe": 1}


def _python(program: str, folder: pathlib.Path) -> List[str]:
    import sys

    (folder / "q.py").write_text(program)
    return [sys.executable, str(folder / "q.py")]
