#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the pictures of docs/images anew: traces programs, and draws what the commands make of the traces.

    docs/pictures.py [NAME...]      all, or these; needs build/ (or DFT_BUILD), cc, and Chromium for the .png
    docs/pictures.py --list         the names

A picture is up to 150 KB. Its page names it; tests/docs holds both lists against each other.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path(__file__).resolve().parent / "images"
ROOT = IMAGES.parent.parent
BIN = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve() / "bin"
LARGEST = 150_000
CHROMIUM = """chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --run-all-compositor-stages-before-draw
    --virtual-time-budget=8000""".split()
# A trainer that waits for three workers, of which one is slow, and saves its model after each epoch.
TRAIN = """import dftrace, multiprocessing, os, time
def work(number, asked, made):
    dftrace.set_role(f"loader worker {number}")
    for item in iter(asked.get, None):
        with dftrace.region("getitem"):
            with open(f"data/item-{item % 500:03}.bin", "rb", buffering=0) as file:
                while file.read(4096): pass
            time.sleep(0.004 if number == 2 else 0.0005)
        made.put(item)
if __name__ == "__main__":
    os.mkdir("data")
    for item in range(500):
        with open(f"data/item-{item:03}.bin", "wb") as file: file.write(bytes(65536))
    dftrace.set_role("trainer")
    asked, made = [multiprocessing.Queue() for _ in range(3)], multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(i, asked[i], made)) for i in range(3)]
    for worker in workers: worker.start()
    for epoch in range(4):
        with dftrace.region("epoch", epoch=epoch):
            for step in range(25):
                with dftrace.region("step", step=step):
                    for item in range(12): asked[item % 3].put(step * 12 + item)
                    with dftrace.region("wait for data"):
                        for item in range(12): made.get()
                    with dftrace.region("compute", category="COMPUTE"): time.sleep(0.01)
            with dftrace.region("checkpoint"), open("model.pt", "wb") as file:
                file.write(os.urandom(8 << 20))
                os.fsync(file.fileno())
    for queue in asked: queue.put(None)
    for worker in workers: worker.join()
"""


def run(where, *command, **variables):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=where, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


class Runs:
    """Folders of traces, below the one for all. Each is made when a picture first needs it."""

    def __init__(self, where):
        self.where = where

    def traces(self, name):
        to = pathlib.Path("traces") / name
        if not (self.where / to).exists():
            getattr(self, name)(to)
        return to

    def compiled(self, source, *options):
        run(self.where, "cc", "-g", "-O2", *options, ROOT / source, "-o", pathlib.Path(source).stem)
        return f"./{pathlib.Path(source).stem}"

    def traced(self, to, *command, **variables):
        run(self.where, BIN / "dftrun", "-q", "-o", to, "--", *command, **variables)

    def slow(self, to):
        (self.where / "demo").mkdir(exist_ok=True)
        self.traced(to, self.compiled("examples/slow.c"), "demo")

    def fast(self, to):
        (self.where / "demo").mkdir(exist_ok=True)
        self.traced(to, self.compiled("examples/fast.c"), "demo")

    def train(self, to):
        (self.where / "train.py").write_text(TRAIN)
        self.traced(to, "/usr/bin/python3", "train.py", PYTHONPATH=str(BIN.parent / "python"))

    def job(self, to):
        """Eight ranks; on rank 5 the file system becomes slow."""
        program = self.compiled("tests/findings/programs/ranks.c")
        slow = self.compiled("tests/findings/programs/slow_calls.c", "-D_GNU_SOURCE", "-shared", "-fPIC")
        job = {"LD_PRELOAD": str(self.where / slow), "OMPI_COMM_WORLD_SIZE": "8", "DFTRACER_JOB_ID": "4711",
               "DFTRACER_TRACE_INTERVAL_MS": "50", "SLOW_US": "500", "SLOW_RANK": "5", "SLOW_AFTER": "800",
               "SLOW_RANK_US": "1000"}
        words = [BIN / "dftrun", "-q", "-o", to, "--", program, "out", "2000", "4096", "own"]
        ranks = [subprocess.Popen(words, cwd=self.where, env={**os.environ, **job, "OMPI_COMM_WORLD_RANK": str(rank)})
                 for rank in range(8)]
        if any([rank.wait() for rank in ranks]):
            sys.exit("a rank failed")


def plot(kind, of, *options):
    def draw(runs, file):
        run(runs.where, BIN / "dftmerge", "plot", "--kind", kind, "-o", file, *options, runs.traces(of))
    return draw


def report(height, *of):
    """The first screen of the page."""
    def draw(runs, file):
        page = runs.where / "page.html"
        sides = [word for name in of for word in ("--", runs.traces(name))][1:]
        run(runs.where, BIN / "dftmerge", "report", "-o", page, *sides)
        run(runs.where, *CHROMIUM, f"--user-data-dir={runs.where / 'browser'}", f"--window-size=1000,{height}",
            f"--screenshot={file}", page.as_uri())
    return draw


PICTURES = {
    "report.png": report(750, "train"),
    "slow.png": report(750, "slow"),
    "compared.png": report(750, "slow", "fast"),
    "sizes.svg": plot("sizes", "slow"),
    "bandwidth.svg": plot("bandwidth", "train"),
    "loader.svg": plot("heatmap", "train", "--height", "300"),
    "ranks.svg": plot("heatmap", "job", "--height", "300"),
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(PICTURES))
        return
    if unknown := set(sys.argv[1:]) - set(PICTURES):
        sys.exit(f"no such picture: {' '.join(sorted(unknown))}; --list has the names")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as where:
        runs = Runs(pathlib.Path(where))
        for name in sys.argv[1:] or PICTURES:
            PICTURES[name](runs, IMAGES / name)
            size = (IMAGES / name).stat().st_size
            print(f"{name}: {size // 1000} KB")
            if size > LARGEST:
                sys.exit(f"{name} is larger than {LARGEST // 1000} KB: choose a smaller screen")


if __name__ == "__main__":
    main()
