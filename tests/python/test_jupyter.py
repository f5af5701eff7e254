# SPDX-License-Identifier: MIT
"""The kernel of Jupyter under the tracer, with the real ipykernel: cells, errors, an interrupt, a restart, magics."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import re
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

import pytest
import traced

pytest.importorskip("ipykernel", reason="no ipykernel")
pytest.importorskip("jupyter_client", reason="no jupyter_client")
SECONDS = 120


class Answer(NamedTuple):
    """What a cell gave back."""

    status: str
    text: str  # streams and plain texts, in their order
    html: str
    errors: List[str]


def install(folder: pathlib.Path, *options: object, **more: Optional[object]) -> traced.Done:
    """Installs the kernel below the folder."""
    return traced.run([sys.executable, "-m", "dftrace", "kernel", "install", "--prefix", folder / "prefix", *options],
                      folder, traced.environment(**more))


class Kernel:
    """A kernel that Jupyter's own client has started by its specification."""

    def __init__(self, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        manager = importlib.import_module("jupyter_client.manager").KernelManager
        monkeypatch.setenv("JUPYTER_PATH", str(folder / "prefix" / "share" / "jupyter"))
        for name in list(os.environ):
            if name.startswith("DFTRACE") or name in ("LD_PRELOAD", "PYTHONPATH"):
                monkeypatch.delenv(name)
        self.manager: Any = manager(kernel_name="python3-dftrace", connection_file=str(folder / "connection.json"))
        self.errors = open(folder / "stderr", "wb")
        self.manager.start_kernel(cwd=str(folder), stderr=self.errors,
                                  env=dict(os.environ, IPYTHONDIR=str(folder / "ipython")))
        self.client: Any = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)

    def run(self, code: str, interrupt_at: str = "") -> Answer:
        """Runs a cell; interrupts the kernel when the cell prints this text."""
        texts: List[str] = []
        html: List[str] = []
        errors: List[str] = []

        def take(message: Dict[str, Any]) -> None:
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                texts.append(content["text"])
                if interrupt_at and interrupt_at in content["text"]:
                    self.manager.interrupt_kernel()
            elif kind in ("display_data", "execute_result"):
                texts.append(content["data"].get("text/plain", "") + "\n")
                html.append(content["data"].get("text/html", ""))
            elif kind == "error":
                errors.append("\n".join(content["traceback"]))

        reply = self.client.execute_interactive(code, timeout=SECONDS, output_hook=take, store_history=True)
        return Answer(reply["content"]["status"], "".join(texts), "".join(html), errors)

    def stop(self) -> None:
        """Ends the kernel as Jupyter does."""
        self.client.stop_channels()
        self.manager.shutdown_kernel()
        self.errors.close()


@pytest.fixture
def kernel(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    """A traced kernel, with the magics."""
    assert install(tmp_path).code == 0
    started = Kernel(tmp_path, monkeypatch)
    try:
        yield started
    finally:
        started.stop()


def test_a_cell_shows_its_io(kernel: Kernel, tmp_path: pathlib.Path) -> None:
    loaded = kernel.run("%load_ext dftrace")
    assert loaded.status == "ok" and f"I/O is traced, in {tmp_path / 'traces'}" in loaded.text, loaded
    answer = kernel.run("%%dftrace\nimport os, subprocess, threading\n"
                        "for n in range(3): open(f'f{n}', 'wb', 0).write(b'a' * 1000)\n"
                        "fd = os.open('f0', os.O_RDONLY); os.read(fd, 9); os.fsync(fd)\n"
                        "t = threading.Thread(target=lambda: open('t', 'wb', 0).write(b'b' * 24))\n"
                        "t.start(); t.join()\n"
                        "_ = subprocess.run(['cp', 'f0', 'copy'])\nprint('printed')\n6 * 7")
    assert answer.status == "ok", answer
    verdict = next(line for line in answer.text.splitlines() if line.startswith("I/O "))
    assert ", 1009 B read, 3.93 KiB written, " in verdict, answer.text  # with what cp read and wrote
    assert verdict.endswith(" calls, 7 files opened, 1 fsync"), answer.text
    assert verdict.count(" = ") == 1 and " % of " in verdict
    assert "printed" in answer.text and "42" in answer.text
    assert re.search(r"^calls +time +read +written +opens +fsyncs  file$", answer.text, re.M), answer.text
    assert re.search(r" 1000 B +1 +-  f1$", answer.text, re.M), answer.text
    assert "of that by processes that the cell has started: " in answer.text
    assert "<table>" in answer.html and "<b>I/O " in answer.html and ">f1</td>" in answer.html


def test_options_of_the_magics(kernel: Kernel, tmp_path: pathlib.Path) -> None:
    kernel.run("import dftrace\n%reload_ext dftrace\n%load_ext dftrace")
    line = kernel.run("%dftrace --by ext,op --top 1 open('a.bin', 'wb', 0).write(b'1' * 77)")
    assert line.status == "ok" and "77 B written" in line.text and re.search(r"  ext +op$", line.text, re.M), line
    assert re.search(r"  all others$", line.text, re.M)
    assert "no I/O" in kernel.run("%%dftrace\n1 + 1").text
    assert f"traces in {tmp_path / 'traces'}" in kernel.run("%dftrace").text
    for wrong in ("%dftrace --bx file 1", "%dftrace --top many 1", "%%dftrace --by file 1\n2"):
        answer = kernel.run(wrong)
        assert answer.status == "ok" and "usage: %dftrace [--by KEYS]" in answer.text, answer
    unknown = kernel.run("%%dftrace --by fil\nopen('b', 'w').close(); print('was run')")
    assert "was run" in unknown.text and "file" in unknown.text and unknown.status == "ok", unknown


def test_an_error_and_an_interrupt_in_a_cell(kernel: Kernel) -> None:
    kernel.run("%load_ext dftrace")
    failed = kernel.run("%%dftrace\nopen('c', 'wb', 0).write(b'12345')\nraise ValueError('on purpose')")
    assert failed.status == "error" and "5 B written" in failed.text, failed
    assert sum("on purpose" in error for error in failed.errors) == 1
    wrong = kernel.run("%%dftrace\n1 +")
    assert wrong.status == "error" and "SyntaxError" in "".join(wrong.errors)
    stopped = kernel.run("%%dftrace\nimport time\nopen('d', 'wb', 0).write(b'123')\n"
                         f"print('now', flush=True); time.sleep({SECONDS})", interrupt_at="now")
    assert stopped.status == "error" and "3 B written" in stopped.text, stopped
    assert "KeyboardInterrupt" in "".join(stopped.errors)
    after = kernel.run("6 * 7")
    while after.status == "aborted":  # a kernel refuses for a moment what comes behind an error
        after = kernel.run("6 * 7")
    assert after.text.strip() == "42", after


def test_a_restart_keeps_what_was_recorded(kernel: Kernel, tmp_path: pathlib.Path) -> None:
    kernel.run("%load_ext dftrace\nopen('before', 'wb', 0).write(b'1')")
    kernel.manager.restart_kernel(now=True)
    kernel.client.wait_for_ready(timeout=SECONDS)
    kernel.run("%load_ext dftrace")
    assert "2 B written" in kernel.run("%%dftrace\nopen('after', 'wb', 0).write(b'12')").text
    writes = traced.dump(tmp_path / "traces", "--name", "write")
    written = {os.path.basename(event["file"]): event["bytes"] for event in writes
               if event.get("bytes") and os.path.dirname(event["file"]) == str(tmp_path)}
    assert (written["before"], written["after"]) == (1, 2)
    regions = [event["name"] for event in traced.dump(tmp_path / "traces", "--cat", "jupyter")]
    assert regions and all(re.match(r"In \[\d+\]$", name) for name in regions)


def test_a_kernel_starts_where_no_trace_can_be_written(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    assert install(tmp_path, "-o", tmp_path / "file" / "traces").code == 0
    kernel = Kernel(tmp_path, monkeypatch)
    try:
        assert "is not traced: " in kernel.run("%load_ext dftrace").text
        answer = kernel.run("%%dftrace\nprint('was run')")
        assert answer.status == "ok" and "was run" in answer.text and "file/traces" in answer.text
        assert kernel.run("%%dftrace\n1 / 0").status == "error"
    finally:
        kernel.stop()
    assert "dftrace kernel: not traced: " in (tmp_path / "stderr").read_text()


def test_what_install_writes(tmp_path: pathlib.Path) -> None:
    done = install(tmp_path, "--name", "io", "--display-name", "I/O", "--output", "out", "--stack")
    assert done.code == 0, done.err
    folder = tmp_path / "prefix" / "share" / "jupyter" / "kernels" / "io"
    assert str(folder) in done.out and '"I/O"' in done.out
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["argv"] == [sys.executable, "-m", "dftrace", "kernel", "--output", str(tmp_path / "out"), "--stack=16",
                            "-f", "{connection_file}"]
    assert (spec["display_name"], spec["language"]) == ("I/O", "python")
    home = traced.run([sys.executable, "-m", "dftrace", "kernel", "install"], tmp_path,
                      traced.environment(HOME=tmp_path, JUPYTER_DATA_DIR=None, XDG_DATA_HOME=None))
    assert home.code == 0 and (tmp_path / ".local/share/jupyter/kernels/python3-dftrace/kernel.json").exists(), home


@pytest.mark.parametrize("words, text", [
    ((), "install it, or name the connection file"),
    (("install", "--usr"), "there is no option --usr. Did you mean --user?"),
    (("install", "--name"), "--name: its value is missing"),
    (("install", "--user", "--prefix", "x"), "--user and --prefix: one of the two"),
    (("instal",), "there is no command instal. Did you mean install?"),
    (("install", "--stack=deep"), "--stack takes a number of frames, 1 to 128 (0: no call stacks), not 'deep'"),
])
def test_wrong_usage(tmp_path: pathlib.Path, words: List[str], text: str) -> None:
    done = traced.run([sys.executable, "-m", "dftrace", "kernel", *words], tmp_path)
    assert done.code == 2 and text in done.err, done


def test_without_jupyter_it_says_what_to_install(tmp_path: pathlib.Path) -> None:
    program = ("import sys, importlib.util as u\nfind = u.find_spec\n"
               "u.find_spec = lambda name, *a: None if name == 'ipykernel' else find(name, *a)\n"
               "from dftrace import kernel\nprint(kernel.main(['install']), kernel.main(['-f', 'x']))\n")
    done = traced.run([sys.executable, "-c", program], tmp_path)
    assert done.out == "1 1\n" and done.err.count("python3-ipykernel") == 2, done


def test_the_extension_is_light(tmp_path: pathlib.Path) -> None:
    program = ("import sys, dftrace\nassert not [n for n in sys.modules if 'jupyter' in n or 'integrations' in n]\n"
               "dftrace.load_ipython_extension")
    assert traced.run([sys.executable, "-c", program], tmp_path).code == 0
