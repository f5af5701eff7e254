# SPDX-License-Identifier: MIT
"""Roles: each process of a Python program says what it is, with the launcher and without it."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import textwrap
from typing import Any, Dict, List, Optional

import pytest

from traced import DFTMERGE, DFTRUN, SECONDS, TREE, Done, environment, merge, run

METHODS = ["fork", "forkserver", "spawn"]
HELPERS: Dict[str, List[str]] = {"fork": [], "spawn": ["resource_tracker"],
                                 "forkserver": ["forkserver", "resource_tracker"]}


def start(folder: pathlib.Path, program: str, *arguments: object, launcher: bool = True,
          env: Optional[Dict[str, str]] = None) -> Done:
    """Runs a program with the launcher, or under dftrun alone; it must end well."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    how: List[Any] = [sys.executable, "-m", "dftrace", "run", "-q"] if launcher else [DFTRUN, "-q", "--", sys.executable]
    done = run([*how, path, *arguments], folder, env)
    assert done.code == 0, done.err
    return done


def processes(done: Done) -> List[Dict[str, Any]]:
    """What ps knows of each program of each process; the notes of what was killed go to standard error."""
    text = subprocess.run([str(DFTMERGE), "ps", "--json", str(done.traces)], stdout=subprocess.PIPE, check=True,
                          timeout=SECONDS).stdout
    found: List[Dict[str, Any]] = json.loads(text)["processes"]
    return found


def roles(done: Done) -> List[str]:
    """The roles of processes that did not go on as another program."""
    return sorted(process["role"] or "-" for process in processes(done) if process["ended"] != "exec")


NAMED = """
    import multiprocessing, os, sys
    def work(name):
        open(f"of-{name}", "w").close()
    class Reader(multiprocessing.get_context(sys.argv[1]).Process):
        pass
    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        for process in (context.Process(target=work, args=("a",)), context.Process(target=work, name="shuffle é",
                        args=("b",)), Reader(target=work, args=("c",))):
            process.start()
            process.join()
            assert process.exitcode == 0
"""


@pytest.mark.parametrize("method", METHODS)
def test_processes_have_the_names_that_multiprocessing_knows(tmp_path: pathlib.Path, method: str) -> None:
    done = start(tmp_path, NAMED, method)
    kind = {"fork": "ForkProcess", "spawn": "SpawnProcess", "forkserver": "ForkServerProcess"}[method]
    helpers = HELPERS[method]
    assert roles(done) == sorted(["MainProcess", f"{kind}-1", "Reader-3", "shuffle é", *helpers])
    for role, file in ((f"{kind}-1", "of-a"), ("shuffle é", "of-b"), ("Reader-3", "of-c")):
        table = merge("summary", "--by", "role", "--file", f"*/{file}", done.traces).out
        assert any(line.startswith(f"{role} ") for line in table.splitlines()), table


@pytest.mark.parametrize("method", METHODS)
def test_pools(tmp_path: pathlib.Path, method: str) -> None:
    """All workers of a pool, and those of concurrent.futures, which are processes by their names."""
    done = start(tmp_path, """
        import concurrent.futures, multiprocessing, sys
        def work(barrier):
            return 1
        def meet(barrier_):
            global barrier
            barrier = barrier_
        def wait(number):
            barrier.wait(60)
        if __name__ == "__main__":
            context = multiprocessing.get_context(sys.argv[1])
            pool = context.Pool(3, meet, (context.Barrier(3),))
            pool.map(wait, range(3), 1)
            pool.close()
            pool.join()
            with concurrent.futures.ProcessPoolExecutor(2, context, meet, (context.Barrier(2),)) as executor:
                list(executor.map(wait, range(2)))
    """, method)
    kind = {"fork": "Fork", "spawn": "Spawn", "forkserver": "ForkServer"}[method]
    found = [role for role in roles(done) if role not in ("resource_tracker", "forkserver")]
    assert found == sorted(["MainProcess", *(f"{kind}PoolWorker-{n}" for n in (1, 2, 3)),
                            *(f"{kind}Process-{n}" for n in (4, 5))])


@pytest.mark.parametrize("method", METHODS)
def test_without_the_launcher_the_command_line_says_it(tmp_path: pathlib.Path, method: str) -> None:
    done = start(tmp_path, NAMED, method, launcher=False)
    worker = {"fork": "-", "spawn": "SpawnProcess", "forkserver": "ForkServerProcess"}[method]
    helpers = HELPERS[method]
    assert roles(done) == sorted(["-", worker, worker, worker, *helpers])


def test_a_command_line_counts_for_the_program_alone(tmp_path: pathlib.Path) -> None:
    """What a worker forks, and a program that names multiprocessing in its arguments, are not workers."""
    done = start(tmp_path, """
        import multiprocessing, os, subprocess, sys
        def work():
            pid = os.fork()
            if not pid:
                open("forked", "w").close()
                os._exit(0)
            os.waitpid(pid, 0)
        if __name__ == "__main__":
            process = multiprocessing.get_context(sys.argv[1]).Process(target=work)
            process.start()
            process.join()
            subprocess.run([sys.executable, "-c", "open('x', 'w')", "-c", "from multiprocessing.spawn import spawn_main"])
    """, "forkserver", launcher=False)
    assert roles(done) == ["-", "-", "-", "ForkServerProcess", "forkserver", "resource_tracker"]


def test_merged_traces_and_filters_have_them(tmp_path: pathlib.Path) -> None:
    done = start(tmp_path, NAMED, "spawn", launcher=False)
    merged = tmp_path / "merged.dft"
    assert merge("merge", "-o", merged, done.traces).code == 0
    for traces in (done.traces, merged):
        assert "[resource_tracker]" in merge("ps", traces).out
        table = merge("summary", "--role", "SpawnProcess", "--by", "role", traces).out
        assert "SpawnProcess" in table and "resource_tracker  " not in table
        timeline = merge("timeline", "--by", "role", "--json", traces)
        assert {series["role"] for series in json.loads(timeline.out)["series"]} == {"SpawnProcess", "resource_tracker",
                                                                                     None}
        assert "SpawnProcess  " in merge("timeline", "--by", "role", traces).out


def test_a_role_of_the_users(tmp_path: pathlib.Path) -> None:
    """set_role in the worker, and DFTRACER_ROLE of the job, come before what is made up."""
    program = """
        import multiprocessing, dftrace
        def work():
            dftrace.set_role("reader")
            open("of-it", "w").close()
        if __name__ == "__main__":
            process = multiprocessing.get_context("fork").Process(target=work)
            process.start()
            process.join()
    """
    assert roles(start(tmp_path, program)) == ["MainProcess", "reader"]
    shutil.rmtree(tmp_path / "traces")
    assert roles(start(tmp_path, program, env=environment(DFTRACER_ROLE="trainer"))) == ["reader", "trainer"]


@pytest.mark.parametrize("method", METHODS)
def test_a_worker_that_does_not_end(tmp_path: pathlib.Path, method: str) -> None:
    """Killed, or left by os._exit, or forked from a thread: named, with what it did."""
    done = start(tmp_path, """
        import multiprocessing, os, signal, sys, threading
        def work(name, end):
            for i in range(10):
                open(f"{name}-{i}", "w").close()
            os.kill(os.getpid(), signal.SIGKILL) if end == "killed" else os._exit(3)
        def begin(context):
            for end, code in (("killed", -9), ("left", 3)):
                process = context.Process(target=work, name=end, args=(end, end))
                process.start()
                process.join()
                assert process.exitcode == code
        if __name__ == "__main__":
            thread = threading.Thread(target=begin, args=(multiprocessing.get_context(sys.argv[1]),))
            thread.start()
            thread.join()
    """, method)
    assert {"killed", "left", "MainProcess"} <= set(roles(done))
    for name in ("killed", "left"):
        events = [event for event in done.events("--role", name) if f"/{name}-" in (event.get("file") or "")]
        assert len([event for event in events if event["name"].startswith("open")]) == 10


def test_children_of_other_kinds(tmp_path: pathlib.Path) -> None:
    """subprocess with variables of its own and without, posix_spawn, system, and an empty environment that is followed."""
    done = start(tmp_path, """
        import os, subprocess, sys
        def code(name):
            return [sys.executable, "-S", "-c", f"open('{name}', 'w')"]
        subprocess.run(code("inherited"), check=True)
        subprocess.run(code("more"), check=True, env=dict(os.environ, MORE="1"))
        subprocess.run(code("empty"), check=True, env={})
        os.waitpid(os.posix_spawn(sys.executable, code("spawned"), os.environ), 0)
        os.system("echo x > shell")
        subprocess.Popen(code("shown"), close_fds=False).wait()
    """, env=environment(DFTRACER_FOLLOW_EXEC=1))
    opened = {pathlib.Path(event["file"]).name for event in done.events() if event.get("file")}
    assert {"inherited", "more", "empty", "spawned", "shell", "shown"} <= opened


def library(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(subprocess.run([sys.executable, "-c", f"import {name}"], stderr=subprocess.DEVNULL,
                                             check=False).returncode != 0, reason=f"{name} is not installed")


@library("joblib")
@pytest.mark.parametrize("launcher", [True, False])
def test_loky(tmp_path: pathlib.Path, launcher: bool) -> None:
    done = start(tmp_path, """
        import joblib
        def work(number):
            open(f"of-{number}", "w").close()
        if __name__ == "__main__":
            joblib.Parallel(n_jobs=2)(joblib.delayed(work)(number) for number in range(4))
    """, launcher=launcher)
    found = roles(done)
    assert {"LokyProcess-1", "LokyProcess-2", "resource_tracker"} <= set(found)
    assert ("MainProcess" in found) == launcher


@library("xdist")
def test_pytest_xdist(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_some.py").write_text("import pytest\n@pytest.mark.parametrize('i', range(4))\n"
                                           "def test_some(i):\n    import multiprocessing\n    open(f'of-{i}', 'w')\n")
    done = run([sys.executable, "-m", "dftrace", "run", "-q", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider",
                "test_some.py"], tmp_path)
    assert done.code == 0, done.out + done.err
    assert {"pytest-xdist gw0", "pytest-xdist gw1"} <= set(roles(done))


@library("torch")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.long)])
def test_torch(tmp_path: pathlib.Path, method: str) -> None:
    done = start(tmp_path, """
        import sys, torch
        class Files(torch.utils.data.Dataset):
            def __len__(self):
                return 12
            def __getitem__(self, number):
                open(f"of-{number}", "w").close()
                return number
        if __name__ == "__main__":
            loader = torch.utils.data.DataLoader(Files(), batch_size=2, num_workers=3, multiprocessing_context=sys.argv[1])
            assert sorted(int(number) for batch in loader for number in batch) == list(range(12))
    """, method)
    found = [role for role in roles(done) if role.startswith(("Data", "Main"))]
    assert found == ["DataLoader worker 0/3", "DataLoader worker 1/3", "DataLoader worker 2/3", "MainProcess"]


def test_ranks_of_a_launcher(tmp_path: pathlib.Path) -> None:
    """torchrun's variables name the rank, and multiprocessing's name stands beside it."""
    program = """
        import os, subprocess, sys
        if len(sys.argv) > 1:
            import multiprocessing
            open("of-" + os.environ["RANK"], "w").close()
        else:
            for rank in "01":
                subprocess.run([sys.executable, __file__, "x"], check=True,
                               env=dict(os.environ, RANK=rank, LOCAL_RANK=rank, WORLD_SIZE="2"))
    """
    found = {(process["rank"], process["role"]) for process in processes(start(tmp_path, program))}
    assert {(0, "MainProcess"), (1, "MainProcess")} <= found


@pytest.mark.skipif(not shutil.which("mpirun"), reason="Open MPI is not installed")
def test_mpirun(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import multiprocessing, os\nopen('of-' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').close()\n")
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", 2, sys.executable, "-m", "dftrace", "run",
               "--data-dir", tmp_path, program]
    done = run(command, tmp_path)
    if "--allow-run-as-root" in done.err:
        pytest.skip("this mpirun is not Open MPI's")
    assert done.code == 0 and done.err.count("I/O of groups") <= 1, done.err
    assert {process["rank"] for process in processes(done) if process["role"] == "MainProcess"} == {0, 1}


def test_the_package_is_found_where_it_lies(tmp_path: pathlib.Path) -> None:
    """Integrations come from beside the startup folder when the program's path has no dftrace."""
    site = tmp_path / "site"
    subprocess.run(["cp", "-r", str(TREE), str(site)], check=True)
    integrations = site / "dftrace" / "integrations"
    integrations.mkdir(exist_ok=True)
    (integrations / "__init__.py").touch()
    (integrations / "torch.py").write_text("import torch\ndef install():\n    torch.seen = __file__\n")
    (tmp_path / "torch.py").write_text("here = 1\n")
    (tmp_path / "look.py").write_text("import sys\nassert 'dftrace' not in sys.modules\nimport importlib.util\n"
                                      "importlib.util.find_spec('torch')\nimport torch\nprint(torch.seen, "
                                      "type(torch.__spec__.loader).__name__, type(torch.__loader__).__name__)\n")
    env = environment(PYTHONPATH=site / "dftrace" / "startup", DFTRACE_PYTHON="torch")
    done = run([sys.executable, "look.py"], tmp_path, env)
    assert done.out == f"{integrations}/torch.py SourceFileLoader SourceFileLoader\n", done.err
