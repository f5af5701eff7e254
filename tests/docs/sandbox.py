# SPDX-License-Identifier: MIT
"""The folder in which commands of pages run: traces, programs and files by the names that pages use."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import time

import samples_test

ROOT, BUILD = samples_test.ROOT, samples_test.BUILD
HERE = pathlib.Path(__file__).resolve().parent

# Runs to be compared, each a folder of traces.
RUNS = ("traces/base", "traces/new", "traces/fast", "traces/slow", "traces/before", "traces/after", "base", "new", "base1", "base2", "base3",
        "new1", "new2", "new3", "traces/base1", "traces/base2", "traces/base3", "traces/new1", "traces/new2", "traces/new3", "node1/base",
        "node1/new", "node2/base", "node2/new")
# Absolute paths of pages lie in the folder, too; each is there, and empty but for installed programs.
ABSOLUTE = ("/scratch", "/lustre", "/gpfs", "/local", "/nvme", "/data", "/mnt", "/work", "/tmp", "/dev/shm", "/usr/local", "/opt/dftrace")
INSTALLED = ("/usr/local", "/opt/dftrace")
FILES = {
    "train.py": samples_test.TRAIN,
    "package/train.py": samples_test.TRAIN,
    "tests/test_store.py": samples_test.TEST_STORE,
    "test_store.py": samples_test.TEST_STORE,
    "app.cpp": "#include <fstream>\nint main()\n{\n    std::ofstream(\"lines.txt\") << \"a line\" << std::endl;\n}\n",
    "my-program.log": "1700000000.25 step 5 of run 3 began\n1700000001.5 step 5 of run 3 ended\n",
    "my.rules": r'app.step match="^([0-9.]+) step ([0-9]+) of run ([0-9]+) ([a-z]+)" id=\3/\2 event=\4 time=\1 in=app.run:\3 key=\2' + "\n",
    "my-limits.txt": "small-reads.request = 64 KiB   # a comment\nany.share = 0.5 %\nfsync = off\n",
    "job.sh": "#!/bin/sh\nsrun -n 2 dftrun -o traces --no-summary -- ./app\n",
    "file": "some text\n",
    "Makefile": "install:\n\tcp file installed && chown root installed 2>/dev/null || true\n",
}
LINKS = {"examples": "examples", "include": "include", "docs": "docs", "cmake": "cmake", "python": "python", "LICENSE": "LICENSE"}


def environment(folder):
    """Of the commands, which may write into their home. Python is Debian's, which has the modules of
    tests/packages.sh."""
    made = samples_test.environment()
    return {**made, "PATH": f"{folder / '.bin'}:{made['PATH']}", "HOME": str(folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}


def here(command, folder):
    """A command with absolute paths in the folder."""
    for path in ABSOLUTE:
        command = re.sub(rf"(?<![\w./~}}-]){path}(?![\w-])", f"{folder}/root{path}", command)
    return command


def run(folder, *command, **variables):
    done = subprocess.run(command, cwd=folder, env={**environment(folder), **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout)


def put_programs(folder):
    """./app, and what pages build or install."""
    for name in ABSOLUTE:
        (folder / f"root{name}").mkdir(parents=True, exist_ok=True)
    for name in INSTALLED:
        for part in ("bin", "lib"):
            (folder / f"root{name}/{part}").symlink_to(BUILD / part)
    (folder / "root/scratch/test").mkdir()
    (folder / "home").mkdir()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for name, target in LINKS.items():
        (folder / name).symlink_to(ROOT / target)
    # A sysroot and a build for another machine, as far as commands name them.
    (folder / "folder/bin").mkdir(parents=True)
    (folder / "folder/bin/cat").symlink_to("/bin/cat")
    (folder / "build").symlink_to(BUILD)
    (folder / "build-aarch64").symlink_to(BUILD)
    portable = f"dftrace-0.1.0-linux-{os.uname().machine}"
    run(folder, "tar", "czf", f"{portable}.tar.gz", "--transform", f"s,^[.],{portable},", "-C", "root/opt/dftrace", ".")
    (folder / ".bin").mkdir()
    (folder / ".bin/COMMAND").symlink_to("../app")
    if pathlib.Path("/usr/bin/python3").exists():
        for name in ("python", "python3"):
            (folder / ".bin" / name).symlink_to("/usr/bin/python3")
    (folder / "data.h5").write_bytes(bytes(20000))
    subprocess.run(["cc", "-g", "-O1", f"-I{ROOT}/include", HERE / "job.c", "-o", folder / "app"], check=True)


def put_traces(folder):
    """Two ranks of a job, runs of one process to be compared, and a workflow of Parsl."""
    run(folder, "srun", "-n", "2", "dftrun", "-o", "traces", "--stack", "8", "--no-summary", "--", "./app")
    for name in RUNS:
        run(folder, "dftrun", "-o", name, "--no-summary", "--", "./app")
    shutil.copytree(folder / "base", folder / "root/dev/shm/stage")  # what a killed job left
    run(folder, sys.executable, str(ROOT / "examples/workflow.py"), "workflow")
    for name in ("runinfo", "old"):
        (folder / name).mkdir()
        shutil.copy(folder / "workflow/monitoring.db", folder / name)
        with sqlite3.connect(folder / name / "monitoring.db") as database:  # as Parsl does, which has this state
            database.execute("insert into status select task_id, 'running_ended', datetime(timestamp, '+1 second'), run_id, try_id from status "
                             "where task_status_name = 'running'")
        database.close()
    run(folder, "dftmerge", "spans", "import", "workflow.db", "runinfo/", "workflow/traces")
    shutil.rmtree(folder / "workflow")


def make(folder):
    put_programs(folder)
    put_traces(folder)


def start_running(folder):
    """A traced process that runs, for commands about such: pages call it 12345."""
    made = environment(folder)
    running = subprocess.Popen([folder / "app"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**made, "RUN_ON": "1", "LD_PRELOAD": str(BUILD / "lib/libdftrace.so"), "DFTRACER_ENABLE": "1",
                                    "DFTRACER_LOG_FILE": str(folder / "traces/running")})
    while not list((folder / "traces").glob("running*.dft.live")):
        assert running.poll() is None, "app ended"
        time.sleep(0.01)
    return running
