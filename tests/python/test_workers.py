# SPDX-License-Identifier: MIT
"""Worker processes by every start method: each file that they read is in the trace as often as strace saw it read.

16 loaders of 6 workers each. strace is the independent source: it follows all processes and knows nothing of Python.
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
from typing import Counter

import pytest

from traced import SECONDS, dump, environment, run

LOADERS, WORKERS, FILES = 16, 6, 192
Reads = Counter[str]

# Each loader has its own share of the files, and each worker every sixth of it. A third of them is read twice.
POOL = """
    import multiprocessing, os, sys
    def work(number, loader):
        for name in range(loader, {files}, {loaders}):
            if name // {loaders} % {workers} == number:
                for again in range(2 if name % 3 == 0 else 1):
                    descriptor = os.open(f"data/{{name:04}}", os.O_RDONLY)
                    while os.read(descriptor, 1000):
                        pass
                    os.close(descriptor)
    def load(context, loader):
        workers = [context.Process(target=work, args=(number, loader)) for number in range({workers})]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        for loader in range({loaders}):
            load(context, loader)
"""
TORCH = """
    import os, sys, torch
    class Files(torch.utils.data.Dataset):
        def __init__(self, loader):
            self.names = range(loader, {files}, {loaders})
        def __len__(self):
            return len(self.names)
        def __getitem__(self, number):
            name = self.names[number]
            for again in range(2 if name % 3 == 0 else 1):
                descriptor = os.open(f"data/{{name:04}}", os.O_RDONLY)
                while os.read(descriptor, 1000):
                    pass
                os.close(descriptor)
            return name
    if __name__ == "__main__":
        for loader in range({loaders}):
            batches = torch.utils.data.DataLoader(Files(loader), batch_size=1, num_workers={workers},
                                                  multiprocessing_context=sys.argv[1])
            assert sorted(map(int, batches)) == list(range(loader, {files}, {loaders}))
"""


def strace_works() -> bool:
    return bool(shutil.which("strace")) and subprocess.run(
        ["strace", "-f", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def seen_by_strace(log: pathlib.Path, data: pathlib.Path) -> Reads:
    """The reads of each file, by strace's names for descriptors."""
    reads: Reads = collections.Counter()
    at = re.compile(rb"\bread\(\d+<" + os.fsencode(str(data)) + rb"/([^>]+)>")
    for line in log.read_bytes().splitlines():
        found = at.search(line)
        if found:
            reads[found[1].decode()] += 1
    return reads


def seen_by_dftrace(traces: pathlib.Path, data: pathlib.Path) -> Reads:
    """The same by the trace, event by event."""
    return collections.Counter(os.path.basename(event["file"])
                               for event in dump(traces, "--name", "read", "--file", f"{data}/*"))


def judge(folder: pathlib.Path, program: str, method: str) -> None:
    data = folder / "data"
    data.mkdir()
    for name in range(FILES):
        (data / f"{name:04}").write_bytes(b"x" * (name * 37 % 5000))
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program.format(files=FILES, loaders=LOADERS, workers=WORKERS)), encoding="utf-8")
    log = folder / "strace.log"
    done = run(["strace", "-f", "-y", "-qq", "-e", "trace=read", "-e", "signal=none", "-o", log, sys.executable, "-m",
                "dftrace", "run", "-q", "--data-dir", data, path, method], folder)
    assert done.code == 0, done.err
    expected, found = seen_by_strace(log, data), seen_by_dftrace(done.traces, data)
    assert len(expected) == FILES and sum(expected.values()) > FILES
    assert found == expected


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_each_read_of_each_worker_is_there(tmp_path: pathlib.Path, method: str) -> None:
    judge(tmp_path, POOL, method)


def has_torch() -> bool:
    return subprocess.run([sys.executable, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False,
                          env=environment(), timeout=SECONDS).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_each_read_of_each_loader_of_torch_is_there(tmp_path: pathlib.Path, method: str) -> None:
    if not has_torch() or not strace_works():
        pytest.skip("needs torch and strace")
    judge(tmp_path, TORCH, method)
