# SPDX-License-Identifier: MIT
"""`python -m dftrace run`: what it runs, how that ends, what it passes on, and what it says of wrong usage."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
from typing import Any, Dict, List, Optional

import pytest

from traced import BUILD, DFTRUN, LIBRARY, ROOT, SECONDS, TREE, Done, environment, merge, run

STARTUP = TREE / "dftrace" / "startup"
# Everything of a process that a launcher might change.
LOOK = """
import sys, os, json
print(json.dumps({"path": sys.path, "argv": sys.argv, "modules": sorted(sys.modules), "env": dict(os.environ),
                  "flags": list(sys.flags), "xoptions": sys._xoptions, "warnoptions": sys.warnoptions,
                  "cache": sorted(sys.path_importer_cache), "cwd": os.getcwd(), "name": __name__,
                  "site": getattr(sys.modules.get("sitecustomize"), "__file__", None),
                  "meta": [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path]}))
"""
NEW = {"DFTRACER_ENABLE", "DFTRACER_LOG_FILE", "DFTRACER_RUN_ID", "LD_PRELOAD", "DFTRACE_PYTHON", "PYTHONPATH"}
# dftrun leaves these to the shell that it does not have
SHELL = {"_", "SHLVL", "OLDPWD", "LC_CTYPE"}


def launch(folder: pathlib.Path, *arguments: object, python: str = sys.executable, flags: Any = (),
           env: Optional[Dict[str, str]] = None, stdin: Optional[str] = None) -> Done:
    """Runs `python FLAGS -m dftrace run ARGUMENTS` in the folder."""
    return run([python, *flags, "-m", "dftrace", "run", *arguments], folder, env, stdin)


def write(path: pathlib.Path, text: str) -> pathlib.Path:
    path.write_text(text, encoding="utf-8")
    return path


def look(done: Done) -> Dict[str, Any]:
    assert done.code == 0, done.err
    seen: Dict[str, Any] = json.loads(done.out)
    return seen


def same(plain: Dict[str, Any], traced: Dict[str, Any]) -> None:
    """All but the variables that are documented, and one entry of sys.meta_path, is as without the launcher."""
    assert traced["meta"].pop(0) == "Finder"
    new = {name for name in traced["env"] if name not in plain["env"]} - SHELL
    assert new <= NEW
    changed = {name for name in plain["env"] if traced["env"].get(name) != plain["env"][name]} - SHELL
    assert changed <= {"PYTHONPATH"}
    for what in plain.keys() - {"env"}:
        assert traced[what] == plain[what], what


@pytest.mark.parametrize("flags", [[], ["-X", "dev", "-W", "ignore::ImportWarning"], ["-Wonce", "-OO", "-u"],
                                   ["-Xutf8", "-B", "-bb"], ["-s"]])
def test_the_program_sees_what_it_sees_without(tmp_path: pathlib.Path, flags: List[str]) -> None:
    script = write(tmp_path / "look.py", LOOK)
    plain = look(run([sys.executable, *flags, script, "a", "-o", "--help"], tmp_path))
    traced = look(launch(tmp_path, "-q", script, "a", "-o", "--help", flags=flags))
    same(plain, traced)
    assert (tmp_path / "traces").is_dir()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the option -P is of Python 3.11")
def test_a_safe_path(tmp_path: pathlib.Path) -> None:
    script = write(tmp_path / "look.py", LOOK)
    plain = look(run([sys.executable, "-P", script], tmp_path))
    same(plain, look(launch(tmp_path, "-q", script, flags=["-P"])))


@pytest.mark.parametrize("flags", [["-I"], ["-E"]])
def test_an_interpreter_that_ignores_variables(tmp_path: pathlib.Path, flags: List[str]) -> None:
    """The launcher itself is found by its folder, because the variables are ignored for it, too."""
    script = write(tmp_path / "look.py", LOOK)
    plain = look(run([sys.executable, *flags, script], tmp_path))
    done = run([sys.executable, *flags, TREE / "dftrace", "run", "-q", script], tmp_path)
    traced = look(done)
    assert traced["path"] == plain["path"] and traced["modules"] == plain["modules"]
    assert traced["meta"] == plain["meta"]


def test_without_site_nothing_is_on_the_path(tmp_path: pathlib.Path) -> None:
    script = write(tmp_path / "look.py", LOOK)
    plain = look(run([sys.executable, "-S", script], tmp_path))
    traced = look(launch(tmp_path, "-q", script, flags=["-S"]))
    assert traced["path"] == plain["path"] and traced["meta"] == plain["meta"]
    assert "DFTRACE_PYTHON" not in traced["env"]


@pytest.mark.parametrize("before", [None, "", "/nowhere:", ":/nowhere", "/nowhere"])
def test_the_path_of_before_stays(tmp_path: pathlib.Path, before: Optional[str]) -> None:
    """Started by its folder, the launcher needs no PYTHONPATH of its own."""
    script = write(tmp_path / "look.py", LOOK)
    env = environment(PYTHONPATH=before)
    plain = look(run([sys.executable, script], tmp_path, env))
    done = run([sys.executable, TREE / "dftrace", "run", "-q", script], tmp_path, env)
    same(plain, look(done))


def test_modules_code_and_standard_input(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "looking.py", LOOK)
    for arguments, stdin in ((["-m", "looking", "x"], None), (["-c", LOOK, "-q"], None), (["-", "y"], LOOK)):
        plain = look(run([sys.executable, *arguments], tmp_path, None, stdin))
        same(plain, look(launch(tmp_path, "-q", *arguments, stdin=stdin)))
        same(plain, look(launch(tmp_path, "-q", "--", *arguments, stdin=stdin)))


def test_a_program_in_a_zip_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "app").mkdir()
    write(tmp_path / "app" / "__main__.py", LOOK)
    subprocess.run([sys.executable, "-m", "zipapp", "app"], cwd=tmp_path, check=True, timeout=SECONDS)
    plain = look(run([sys.executable, "app.pyz"], tmp_path))
    same(plain, look(launch(tmp_path, "-q", "app.pyz")))


def test_a_virtual_environment(tmp_path: pathlib.Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "v"], cwd=tmp_path, check=True, timeout=SECONDS)
    script = write(tmp_path / "look.py", LOOK)
    python = str(tmp_path / "v" / "bin" / "python")
    plain = look(run([python, script], tmp_path))
    same(plain, look(launch(tmp_path, "-q", script, python=python)))


@pytest.mark.parametrize("text", ["HERE = 1\n", "raise ValueError('mine')\n", "import nowhere_at_all\n", "import sys; "
                                  "sys.exit(7)\n", "def broken(:\n", None])
@pytest.mark.parametrize("name", ["sitecustomize", "usercustomize"])
def test_the_next_customize_is_imported_as_without(tmp_path: pathlib.Path, name: str, text: Optional[str]) -> None:
    """What it sets, and what site prints of its errors, is the same."""
    own = tmp_path / "own"
    own.mkdir()
    if text is not None:
        write(own / f"{name}.py", text)
    script = write(tmp_path / "s.py", f"import sys; m = sys.modules.get('{name}'); print(m and m.__file__, "
                   "getattr(m, 'HERE', None), m and m.__spec__.name)\n")
    env = environment(PYTHONPATH=own)
    plain = run([sys.executable, script], tmp_path, env)
    traced = run([sys.executable, script], tmp_path, dict(env, PYTHONPATH=f"{STARTUP}:{own}", DFTRACE_PYTHON="roles"))
    assert traced.out == plain.out and traced.code == plain.code
    assert traced.err.splitlines()[-1:] == plain.err.splitlines()[-1:]
    assert traced.err == plain.err or "Fatal Python error" in plain.err  # whose traceback has one frame more
    assert text != "HERE = 1\n" or f"{own}/{name}.py 1 {name}" in plain.out


def test_a_broken_startup_harms_nothing(tmp_path: pathlib.Path) -> None:
    """A folder without the files behind it, and words that nobody knows."""
    folder = tmp_path / "dftrace" / "startup"
    folder.mkdir(parents=True)
    (folder / "sitecustomize.py").write_bytes((STARTUP / "sitecustomize.py").read_bytes())
    for path in (folder, STARTUP):
        done = run([sys.executable, "-c", "import sys, multiprocessing; print(sys.path)"], tmp_path,
                   environment(PYTHONPATH=path, DFTRACE_PYTHON="nothing,,known,torch"))
        assert done.code == 0 and not done.err and str(path) not in done.out


def test_exit_codes_and_signals(tmp_path: pathlib.Path) -> None:
    assert launch(tmp_path, "-q", "-c", "import os; os._exit(41)").code == 41
    assert launch(tmp_path, "-q", "-c", "raise SystemExit(3)").code == 3
    done = launch(tmp_path, "-q", "-c", "1 / 0")
    assert done.code == 1 and "ZeroDivisionError" in done.err
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
        assert launch(tmp_path, "-q", "-c", f"import os; os.kill(os.getpid(), {int(number)})").code == -number


def test_a_signal_reaches_the_program(tmp_path: pathlib.Path) -> None:
    script = write(tmp_path / "s.py", "import signal, sys\n"
                   "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\nprint('ready', flush=True)\nsignal.pause()\n")
    with subprocess.Popen([sys.executable, "-m", "dftrace", "run", "-q", str(script)], cwd=tmp_path,
                          env=environment(), stdout=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stdout.readline() == b"ready\n"
        program.send_signal(signal.SIGTERM)
        assert program.wait(SECONDS) == 9


def test_the_page_and_the_options_of_dftrun(tmp_path: pathlib.Path) -> None:
    script = write(tmp_path / "s.py", "open('data.bin', 'wb').write(b'x' * 5000)\n")
    done = launch(tmp_path, "--output=deep/er", "--json", "page.json", "--data-dir", tmp_path, "-n5", script)
    assert done.code == 0 and not done.out and "data.bin" in done.err
    assert list((tmp_path / "deep" / "er").glob("*.dft"))
    assert json.loads((tmp_path / "page.json").read_text())
    done = launch(tmp_path, "--by", "name", "-o", "t2", script)
    assert "write" in done.err
    aggregated = launch(tmp_path, "--aggregate", "-q", "-o", "t3", script)
    assert aggregated.code == 0


def test_call_stacks(tmp_path: pathlib.Path) -> None:
    script = write(tmp_path / "s.py", "import os; print(os.environ['DFTRACER_STACK'], os.environ['DFTRACE_PYTHON'])\n")
    assert launch(tmp_path, "-q", "--stack", script).out == "16 roles,stack\n"
    assert launch(tmp_path, "-q", "--stack", "5", "--no-roles", script).out == "5 stack\n"
    assert launch(tmp_path, "-q", "--stack=0", "--torch", "--fsspec", script).out == "0 roles,torch,fsspec\n"


def test_no_roles(tmp_path: pathlib.Path) -> None:
    script = write(tmp_path / "look.py", LOOK)
    plain = look(run([sys.executable, script], tmp_path))
    traced = look(launch(tmp_path, "-q", "--no-roles", script))
    assert traced["meta"] == plain["meta"] and traced["env"]["PYTHONPATH"] == plain["env"]["PYTHONPATH"]
    assert "DFTRACE_PYTHON" not in traced["env"]


@pytest.mark.parametrize("arguments, says", [
    (["--tosch", "x.py"], "there is no option --tosch. Did you mean --torch?"),
    (["--zzz", "x.py"], "there is no option --zzz: python -m dftrace run --help"),
    (["-z", "x.py"], "there is no option -z"),
    (["nowhere.py"], "there is no file 'nowhere.py'; nothing was run"),
    ([], "which program shall be traced?"),
    (["-o"], "-o: its value is missing"),
    (["-m"], "-m: its value is missing"),
    (["--stack=100000", "x.py"], "--stack takes a number of frames, 1 to 128 (0: no call stacks), not '100000'"),
    (["--stack=many", "x.py"], "--stack takes a number of frames, 1 to 128 (0: no call stacks), not 'many'"),
    (["--torch=1", "x.py"], "--torch takes no value"),
    (["--quiet=1", "x.py"], "--quiet takes no value"),
])
def test_wrong_usage(tmp_path: pathlib.Path, arguments: List[str], says: str) -> None:
    done = launch(tmp_path, *arguments)
    assert done.code == 2 and f"dftrace run: {says}" in done.err and not done.out
    assert not list(tmp_path.iterdir())


def test_help(tmp_path: pathlib.Path) -> None:
    done = launch(tmp_path, "--help")
    assert done.code == 0 and "Examples:" in done.out and max(map(len, done.out.splitlines())) <= 120
    done = run([sys.executable, "-m", "dftrace", "rum"], tmp_path)
    assert done.code == 2 and "Did you mean run?" in done.err
    assert "run a Python program" in run([sys.executable, "-m", "dftrace", "--help"], tmp_path).out
    assert run([sys.executable, "-m", "dftrace"], tmp_path).code == 2


def test_without_dftrun(tmp_path: pathlib.Path) -> None:
    """The package alone, away from the tools."""
    subprocess.run(["cp", "-r", str(TREE), str(tmp_path / "site")], check=True)
    done = launch(tmp_path, "-c", "print('ran')", env=environment(PYTHONPATH=tmp_path / "site", PATH="/nowhere"))
    assert done.code == 125 and "dftrun is not installed" in done.err and not done.out
    env = environment(PYTHONPATH=tmp_path / "site", PATH="/nowhere", DFTRACE_HOME=BUILD)
    assert launch(tmp_path, "-q", "-c", "print('ran')", env=env).out == "ran\n"


def test_already_traced(tmp_path: pathlib.Path) -> None:
    """Under dftrun the program is named, and the library is preloaded once."""
    code = "import os, multiprocessing; print(os.environ['LD_PRELOAD'])"
    done = run([DFTRUN, "-q", "-o", "traces", "--", sys.executable, "-m", "dftrace", "run", "-o", "other", "-c", code],
               tmp_path)
    assert done.out == f"{os.path.realpath(LIBRARY)}\n" and not (tmp_path / "other").exists()
    assert "already traced: --output other has no effect" in done.err
    assert "[MainProcess]" in merge("ps", tmp_path / "traces").out


def test_a_folder_that_cannot_be_written(tmp_path: pathlib.Path) -> None:
    done = launch(tmp_path, "-o", "/proc/1/traces", "-c", "print('ran')")
    assert done.code == 125 and "no trace can be written" in done.err and not done.out


def test_a_folder_that_goes_away(tmp_path: pathlib.Path) -> None:
    """The program runs to its end, unharmed."""
    code = ("import os, shutil; shutil.rmtree('traces'); open('traces', 'w').close()\n"
            "for i in range(2000): open('data', 'w').write('x')\nprint('ran')")
    done = launch(tmp_path, "-c", code)
    assert done.code == 0 and done.out == "ran\n"
    assert "dftrun:" in done.err or "dftmerge:" in done.err


def test_a_preload_that_cannot_write(tmp_path: pathlib.Path) -> None:
    """Without dftrun nobody asks before: the program runs, and the library says at its end what is missing."""
    env = environment(LD_PRELOAD=LIBRARY, DFTRACER_ENABLE=1, DFTRACER_LOG_FILE="/proc/1/traces/t")
    done = run([sys.executable, "-c", "open('data', 'w').write('x'); print('ran')"], tmp_path, env)
    assert done.code == 0 and done.out == "ran\n" and "/proc/1/traces" in done.err


def test_the_version_is_the_projects(tmp_path: pathlib.Path) -> None:
    done = run([sys.executable, "-m", "dftrace", "--version"], tmp_path)
    listed = (ROOT / "CMakeLists.txt").read_text()
    assert done.out.split() == ["dftrace", listed.split("project(dftrace VERSION ")[1].split()[0]], done.err
