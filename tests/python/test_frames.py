# SPDX-License-Identifier: MIT
"""Python lines in call stacks: each call's line is where the program made it."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
from typing import Any, Dict, List, Tuple

import pytest
from traced import ROOT, TREE, Done, merge, python, run, tracing

FRAME = re.compile(r"(?P<file>.*):(?P<line>\d+) (?P<function>\S+)$")


@functools.lru_cache(maxsize=None)
def pythons() -> Tuple[str, ...]:
    """This Python, those on PATH, and those installed side by side with one of them: one of each version."""
    names = [sys.executable, "python3", *(f"python3.{minor}" for minor in range(9, 14))]
    queue: List[str] = [path for path in (shutil.which(name) for name in names) if path]
    found: Dict[str, str] = {}
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name, sys.base_prefix, sep='\\n')"
    for path in queue:
        done = subprocess.run([path, "-c", ask], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              universal_newlines=True)
        if done.returncode:
            continue
        version, name, prefix = done.stdout.splitlines()
        if name == "cpython" and (3, 9) <= tuple(map(int, version.split("."))) <= (3, 13) and version not in found:
            found[version] = path
        for other in sorted(pathlib.Path(prefix).parent.glob("3.*/bin/python3")):
            if str(other) not in queue:
                queue.append(str(other))
    return tuple(found.values())


each_python = pytest.mark.parametrize("executable", pythons())


def traced(program: str, folder: pathlib.Path, executable: str = sys.executable, depth: int = 16) -> Done:
    """Runs a program with call stacks recorded."""
    program = "import dftrace\n" + textwrap.dedent(program)
    return python(program, folder, executable=executable, DFTRACER_STACK=depth)


def frames(event: Dict[str, Any]) -> List[str]:
    """The Python frames of an event, the innermost first: "file:line function", without the folders."""
    lines = [text for text in event.get("stack", []) if FRAME.match(text)]
    return [text.rsplit("/", 1)[-1] for text in lines]


def of_file(done: Done, name: str, call: str = "") -> List[Dict[str, Any]]:
    """The calls on a file, all or those of one name."""
    return [event for event in done.events() if str(event.get("file", "")).endswith(name)
            and call in ("", event["name"])]


def by_line(done: Done) -> Dict[str, int]:
    """Calls of each line, as the summary has it; without the folders."""
    out = json.loads(merge("summary", "--json", "--by", "line", done.traces).out)
    lines: Dict[str, int] = {}
    for group in out["groups"]:
        line = str(group["line"]).rsplit("/", 1)[-1]
        lines[line] = lines.get(line, 0) + group["count"]
    return lines


# What the interpreter itself says: the frames of each call of put.
ORACLE = '''
import dftrace, json, os, sys, threading
said = {}
def chain(frame):
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        yield "%s:%d %s" % (code.co_filename.rsplit("/", 1)[-1], frame.f_lineno, name.replace(" ", "_"))
        frame = frame.f_back
def put(name):
    descriptor, said[name] = os.open(name, os.O_CREAT | os.O_WRONLY), list(chain(sys._getframe()))
    os.close(descriptor)
'''
TELL = '''
with open("said.json", "w") as file:
    json.dump(said, file)
'''

FORMS = '''
def generator():
    for name in (
            "generator",):
        put(
            name)
        yield

class Thing:
    def method(self):
        with open("opened", "w") as file:
            put("method")

    @property
    def attribute(self):
        return [put(name) for name in ["comprehension"]]

def with_lambda():
    return (lambda name:
            put(name))("lambda")

async def inner():
    put("async")

async def outer():
    await inner()

def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass

list(generator())
Thing().method()
Thing().attribute
with_lambda()
drive(outer())
thread = threading.Thread(target=put, args=("thread",))
thread.start()
thread.join()
exec(compile("def made():\\n\\n    put('made')\\nmade()", "<erzeugt \\u00e4\\u0416\\U0001d11e>", "exec"))
exec(compile("\\n" * 70000 + "put('far')", "f\\u00e4r", "exec"))
sorted([1], key=lambda _: put("sorted"))
try:
    raise ValueError
except ValueError:
    put("handler")
finally:
    put("finally")
'''


def of_oracle(program: str, folder: pathlib.Path, executable: str) -> Dict[str, Tuple[List[str], List[str]]]:
    """Runs a program that calls put. For each name: the frames of the trace, and what the interpreter said."""
    done = python(ORACLE + program + TELL, folder, executable=executable, DFTRACER_STACK=16)
    said = json.loads((folder / "said.json").read_text())
    opened = {event["file"].rsplit("/", 1)[-1]: frames(event) for event in done.events() if event["name"] == "open"}
    return {name: (opened[name], frames_said) for name, frames_said in said.items()}


@each_python
def test_frames_are_what_the_interpreter_says(tmp_path: pathlib.Path, executable: str) -> None:
    found = of_oracle(FORMS, tmp_path, executable)
    assert len(found) == 11
    for name, (traced_frames, said) in found.items():
        assert traced_frames == said, name
    assert found["far"][0][1] == "f\u00e4r:70001 <module>"


@each_python
def test_the_line_of_the_summary_is_the_programs(tmp_path: pathlib.Path, executable: str) -> None:
    done = traced('''
        import os, pathlib, tempfile
        def load_item(path):
            return pathlib.Path(path).read_bytes()
        def unbuffered(path):
            with open(path, "rb", buffering=0) as file:
                return file.read()
        pathlib.Path("data").write_bytes(b"x" * 10)
        load_item("data")
        unbuffered("data")
        os.pread(os.open("data", 0), 5, 0)
        tempfile.mkdtemp(dir=".")
    ''', tmp_path, executable=executable)
    reads = {event["bytes"]: event for event in of_file(done, "data", "read") + of_file(done, "data", "pread")}
    assert frames(reads[5]) == ["program.py:12 <module>"]
    lines = by_line(done)
    assert lines["program.py:5 load_item"] >= 3 and lines["program.py:7 unbuffered"] >= 1
    assert lines["program.py:8 unbuffered"] >= 1 and lines["program.py:12 <module>"] == 2
    assert lines["program.py:13 <module>"] >= 1
    assert not [line for line in lines if line.startswith(("pathlib.py", "tempfile.py", "_local.py"))]


def test_recursion_is_cut_and_says_so(tmp_path: pathlib.Path) -> None:
    program = '''
def deep(n):
    if n:
        return deep(n - 1)
    put("deep")
deep(300)
'''
    for depth in (1, 20, 128):
        folder = tmp_path / str(depth)
        folder.mkdir()
        done = python(ORACLE + program + TELL, folder, DFTRACER_STACK=depth)
        said = json.loads((folder / "said.json").read_text())["deep"]
        stack = [event["stack"] for event in done.events()
                 if event["name"] == "open" and event["file"].endswith("/deep")][0]
        most = max(depth, 16)
        assert frames({"stack": stack}) == said[:most]
        assert stack.count("[outer frames left out]") == 1


def test_forked_workers_and_threads(tmp_path: pathlib.Path) -> None:
    done = traced('''
        import multiprocessing, threading
        def write(name):
            with open(name, "w") as file:
                file.write(name)
        def work(name):
            threads = [threading.Thread(target=write, args=(f"{name}.{i}",)) for i in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        if __name__ == "__main__":
            for method in ("fork", "spawn", "forkserver"):
                context = multiprocessing.get_context(method)
                workers = [context.Process(target=work, args=(f"{method}.{i}",)) for i in range(2)]
                for worker in workers: worker.start()
                for worker in workers: worker.join()
    ''', tmp_path)
    for method in ("fork", "spawn", "forkserver"):
        for event in (of_file(done, f"{method}.{i}.{k}", "write")[0] for i in range(2) for k in range(4)):
            assert frames(event)[0].endswith(" write") and frames(event)[0].startswith("program.py:"), event
    lines = by_line(done)
    assert lines["program.py:5 write"] >= 24


def test_numpy_reads_are_of_the_programs_line(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("numpy")
    done = traced('''
        import numpy
        numpy.save("a.npy", numpy.arange(1000))
        def load_item(path):
            return numpy.load(path)
        def raw(path):
            return numpy.fromfile(path, dtype="u1")
        load_item("a.npy")
        raw("a.npy")
    ''', tmp_path, executable=sys.executable)
    out = json.loads(merge("summary", "--json", "--by", "line", "--file", "*.npy", done.traces).out)
    lines = {str(group["line"]).rsplit("/", 1)[-1] for group in out["groups"]}
    assert lines == {"program.py:4 <module>", "program.py:6 load_item", "program.py:8 raw"}
    inner = [frames(event)[0] for event in of_file(done, "a.npy") if frames(event)]
    assert any(not frame.startswith("program.py") for frame in inner)


HAMMER = '''
import dftrace, asyncio, ctypes, gc, os, signal, sys, threading, time
libc = ctypes.CDLL(None)
os.dup2(os.open(".", os.O_RDONLY), signal.SIGUSR1)
libc.signal.argtypes, libc.signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
libc.signal(signal.SIGUSR1, ctypes.cast(libc.fchdir, ctypes.c_void_p))  # called with the signal's number
wake = os.open("wake", os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK)
signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
signal.signal(signal.SIGALRM, lambda *_: os.pread(here, 1, 0))
here = os.open(__file__, os.O_RDONLY)
class Noisy:
    def __init__(self): self.me = self
    def __del__(self): os.pread(here, 2, 0)
def made(i):
    space = {"os": os, "here": here}
    exec(compile("def f(n):\\n  os.pread(here, 3, 0)\\n  return f(n - 1) if n else [Noisy() for _ in 'ab']",
                 "<made %d>" % i, "exec"), {**space, "Noisy": Noisy}, space)
    space["f"].__globals__["f"] = space["f"]
    return space["f"](5)
def generate(n):
    for i in range(n):
        yield from (made(i + k) for k in range(2))
until, sent = time.monotonic() + float(sys.argv[1]), 0
def goes_on():
    return sent < 20 or time.monotonic() < until
def poke():
    global sent
    while goes_on():
        os.kill(os.getpid(), signal.SIGUSR1)
        sent += 1
        time.sleep(0.0005)
def work():
    while goes_on():
        list(generate(3))
        gc.collect(0)
loop = asyncio.new_event_loop()  # before signals come: it makes a named tuple, whose code is in no file
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
threads = [threading.Thread(target=target) for target in (poke, work, work)]
for thread in threads: thread.start()
async def wait():
    while goes_on():
        await asyncio.sleep(0.001)
        pid = os.fork()
        if not pid:
            made(1)
            os._exit(0)
        os.waitpid(pid, 0)
signal.signal(signal.SIGALRM, lambda *_: os.pread(here, 1, 0))
loop.run_until_complete(wait())
loop.close()
work()
for thread in threads: thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
print("done")
'''


@each_python
def test_handlers_and_destructors_do_io(tmp_path: pathlib.Path, executable: str) -> None:
    """Handlers of C (one that calls fchdir, the wake-up descriptor) come in the middle of the interpreter's changes.

    Not faulthandler: it reads the frame that it interrupts, and sometimes dies of it, traced or not.
    """
    done = python(HAMMER, tmp_path, "0.7", executable=executable, DFTRACER_STACK=32)
    assert done.out == "done\n"
    preads = [event for event in of_file(done, "program.py", "pread")]
    assert len(of_file(done, tmp_path.name, "fchdir")) >= 10
    assert len(preads) > 100 and all(frames(event) for event in preads)
    known = re.compile(r"(/.*/program\.py|/.*/lib/python3\.\d+/.*\.py|<made \d+>|<frozen .*>):[1-9]\d* [\w.<>]+$")
    assert {name for event in preads for name in event["stack"] if FRAME.match(name) and not known.match(name)} == set()


@each_python
def test_daemon_threads_at_the_end_of_the_interpreter(tmp_path: pathlib.Path, executable: str) -> None:
    done = traced('''
        import os, threading, atexit
        here = os.open(__file__, os.O_RDONLY)
        ready = threading.Barrier(9)
        def work():
            ready.wait()
            while True:
                os.pread(here, 10, 0)
        for _ in range(8):
            threading.Thread(target=work, daemon=True).start()
        ready.wait()
        atexit.register(lambda: os.pread(here, 7, 0))
    ''', tmp_path, executable=executable)
    last = [event for event in of_file(done, "program.py", "pread") if event["bytes"] == 7]
    assert frames(last[0])[0] == "program.py:13 <lambda>"


def test_without_stacks_there_is_no_python_line(tmp_path: pathlib.Path) -> None:
    done = python("import dftrace\nopen('x', 'w').close()", tmp_path)
    assert of_file(done, "/x") and not any("stack" in event for event in done.events())


def test_an_unknown_interpreter_says_so(tmp_path: pathlib.Path) -> None:
    """sys._getframe that fails stands for an interpreter whose frames are laid out in another way."""
    done = python('''
        import sys
        def unknown(*_):
            raise ValueError
        sys._getframe = unknown
        import dftrace
        open("x", "w").close()
    ''', tmp_path, DFTRACER_STACK=16)
    note = [event for event in done.events() if event["name"] == "python_lines_missing"]
    assert note and note[0]["args"] == {"value": "frames of this build of Python are not as expected"}
    assert not any(frames(event) for event in done.events())


def test_folded_stacks_have_python_in_place_of_the_loop(tmp_path: pathlib.Path) -> None:
    done = traced('''
        def outer():
            return inner()
        def inner():
            open("x", "w").close()
        outer()
    ''', tmp_path, depth=64)
    stack = of_file(done, "/x", "open")[0]["stack"]
    places = [i for i, text in enumerate(stack) if FRAME.match(text)]
    assert [stack[i].rsplit("/", 1)[-1] for i in places] == ["program.py:6 inner", "program.py:4 outer",
                                                            "program.py:7 <module>"]
    assert "_PyEval_EvalFrameDefault" not in stack
    assert 0 < places[0] and places[-1] < len(stack) - 1  # functions of C on either side
    folded = tmp_path / "folded"
    assert merge("export", "--format", "folded", "-o", folded, done.traces).code == 0
    assert ";outer_(program.py:4);inner_(program.py:6);" in folded.read_text()
    stacks = json.loads(merge("summary", "--json", "--by", "stack", done.traces).out)["groups"]
    assert any(";outer (program.py:4);inner (program.py:6);" in str(group["stack"]) for group in stacks)


def test_text_without_a_file_is_the_programs_where_nothing_else_is(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mine.py").write_text("def load():\n    open('x', 'w').close()\n")
    program = "import dftrace, mine; mine.load(); exec('mine.load()')\nopen('y', 'w').close()"
    done = run([sys.executable, "-c", program], tmp_path, tracing(tmp_path, DFTRACER_STACK=16,
                                                                  PYTHONPATH=f"{TREE}:{tmp_path}"))
    assert done.code == 0
    lines = by_line(done)
    assert lines["mine.py:2 load"] >= 4 and lines["<string>:2 <module>"] >= 2


@each_python
def test_the_launcher_needs_no_import(tmp_path: pathlib.Path, executable: str) -> None:
    (tmp_path / "data").write_text("x")
    (tmp_path / "train.py").write_text("def load_item():\n    return open('data').read()\nload_item()\n")
    done = run([executable, "-m", "dftrace", "run", "--stack", "-o", "traces", "train.py"], tmp_path)
    assert done.code == 0
    out = merge("summary", "--by", "line", "--file", "*/data", done.traces).out
    assert "/train.py:2 load_item" in out


SUBINTERPRETERS = '''
import dftrace, os, threading
try:
    import _interpreters as interpreters
    def run(text):
        one = interpreters.create("legacy")
        interpreters.exec(one, text)
        interpreters.destroy(one)
except ImportError:
    import _xxsubinterpreters as interpreters
    def run(text):
        one = interpreters.create()
        interpreters.run_string(one, text)
        interpreters.destroy(one)
TEXT = """
import os
def inner():
    os.close(os.open("inside", os.O_CREAT))
for _ in range(20):
    inner()
"""
def outer():
    run(TEXT)
outer()
thread = threading.Thread(target=outer)
thread.start()
thread.join()
open("after", "w").close()
'''


@each_python
def test_interpreters_inside_do_no_harm(tmp_path: pathlib.Path, executable: str) -> None:
    """A thread may be in an interpreter of its own; the frames are then of one of its interpreters."""
    done = python(SUBINTERPRETERS, tmp_path, executable=executable, DFTRACER_STACK=16)
    inside = [frames(event) for event in of_file(done, "/inside", "open")]
    assert len(inside) == 40
    known = {"<string>:4 inner", "<script>:4 inner", "program.py:22 outer", "program.py:13 run", "program.py:7 run"}
    assert all(not stack or stack[0] in known for stack in inside), inside[0]
    assert frames(of_file(done, "/after", "open")[0]) == ["program.py:28 <module>"]


def test_the_format_says_where_the_frames_are(tmp_path: pathlib.Path) -> None:
    """By a reader that was written from the format's description alone."""
    done = traced("""
        def outer():
            open("x", "w").close()
        outer()
    """, tmp_path)
    names: Dict[int, bytes] = {}
    stacks = []
    for path in done.traces.glob("*.dft"):
        reader = run([sys.executable, ROOT / "tests" / "format" / "read_dft.py", path], tmp_path)
        for block in json.loads(reader.out)["blocks"]:
            for name in block.get("names", []):
                if "text" in name:
                    names[name["id"]] = name["text"].encode("utf-8", "surrogateescape")
            if block["type"] == "EVENTS":
                stacks += [event["stack"] for event in block["events"] if event["stack"]]
    texts = {names[stack] for stack in stacks}
    assert all(text.startswith(b"STACK\0") and len(text) % 8 == 6 for text in texts)
    called = {names[int.from_bytes(text[at:at + 8], sys.byteorder)] for text in texts for at in range(6, len(text), 8)}
    assert {name.split(b"\0")[0] for name in called} == {b"FUNC", b"PYTHON"}
    assert {name for name in called if name.endswith(b" outer")} == {
        b"PYTHON\0" + os.fsencode(tmp_path / "program.py") + b":4 outer"}
