# SPDX-License-Identifier: MIT
"""The Python package is built and installed in each way that there is, without a network; what is missing is named."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import sys
import zipfile

import pytest

from tracing import ROOT, environment, equal, run, run_checked, true

USE = "import dftrace, dftrace._core\nwith dftrace.region('here', step=1): print(dftrace.__file__)"
PYTHONS = [name for name in (f"python3.{minor}" for minor in range(9, 20)) if shutil.which(name, path=environment()["PATH"])]


def python():
    """A Python with pip, venv and headers."""
    for there in ("/usr/bin/python3", sys.executable):
        code = ("import ensurepip, os, pip, sysconfig, venv\n"
                "raise SystemExit(not os.path.exists(sysconfig.get_paths()['include'] + '/Python.h'))")
        if os.path.exists(there) and not run([there, "-c", code]).code:
            return there
    pytest.skip("no Python with pip, venv and headers (python3-pip, python3-venv, python3-dev)")


def source(directory):
    """A copy of the project's parts that the package is made of."""
    top = directory / "project"
    shutil.copytree(ROOT / "python", top / "python", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copytree(ROOT / "include", top / "include")
    (top / "tools" / "tables").mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "tables" / "tables.def", top / "tools" / "tables")
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / name, top)
    return top / "python"


def backend(directory, folder, call, expect=0, **more):
    """Calls the backend as pip does; its last line of output."""
    code = f"import dftrace_backend as b; print(b.{call})"
    done = run([python(), "-c", code], cwd=folder, env=environment(PYTHONPATH=folder / "backend", **more))
    equal(done.code, expect, done.err.decode(errors="replace"))
    return done.err.decode() if expect else done.out.decode().splitlines()[-1]


def venv(directory, name):
    run_checked([python(), "-m", "venv", directory / name], cwd=directory)
    return directory / name / "bin" / "python"


def install(interpreter, directory, *words):
    run_checked([interpreter, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", *words], cwd=directory)


def used(interpreter, directory, **more):
    """Where the package was imported from, seen from another folder."""
    away = directory / "away"
    away.mkdir(exist_ok=True)
    return pathlib.Path(run_checked([interpreter, "-c", USE], cwd=away, env=environment(**more)).out.decode().strip())


def test_installs_into_an_environment_and_out_again(directory):
    folder = source(directory)
    own = venv(directory, "own")
    for options in ((), ("--no-build-isolation",)):
        install(own, directory, *options, folder)
        true(str(used(own, directory)).startswith(str(directory / "own")), "imported from the environment")
        run_checked([own, "-m", "pip", "check"], cwd=directory)
        run_checked([own, "-m", "pip", "uninstall", "-q", "-y", "dftrace"], cwd=directory)
        true(run([own, "-c", USE], cwd=directory).code, "it is gone")
        equal(list((directory / "own").rglob("*dftrace*")), [], "nothing stays behind")


def test_installs_into_a_folder(directory):
    install(python(), directory, "--target", directory / "target", source(directory))
    equal(used(python(), directory, PYTHONPATH=directory / "target"), directory / "target" / "dftrace" / "__init__.py", "file")


def test_editable(directory):
    """What is written to the source is what runs."""
    folder = source(directory)
    own = venv(directory, "own")
    install(own, directory, "-e", folder)
    equal(used(own, directory), folder / "dftrace" / "__init__.py", "file")
    (folder / "dftrace" / "added_later.py").write_text("ANSWER = 42\n")
    run_checked([own, "-c", "import dftrace.added_later as a; assert a.ANSWER == 42"], cwd=directory)


def test_from_its_own_archive(directory):
    """The archive is all that is needed, and its wheel is the tree's."""
    folder = source(directory)
    (directory / "out").mkdir()
    name = backend(directory, folder, f"build_sdist({str(directory / 'out')!r})")
    wheel = backend(directory, folder, f"build_wheel({str(directory / 'out')!r})")
    shutil.rmtree(directory / "project")
    own = venv(directory, "own")
    install(own, directory, directory / "out" / name)
    used(own, directory)
    run_checked(["tar", "-xf", directory / "out" / name], cwd=directory)
    (directory / "again").mkdir()
    backend(directory, directory / name[:-len(".tar.gz")], f"build_wheel({str(directory / 'again')!r})")
    with zipfile.ZipFile(directory / "out" / wheel) as one, zipfile.ZipFile(directory / "again" / wheel) as other:
        equal(one.namelist(), other.namelist(), "members")
        for member in one.namelist():
            equal(one.read(member), other.read(member), member)


def test_wheel_is_whole_and_the_same_each_time(directory):
    folder = source(directory)
    wheels = []
    for number in range(2):
        out = directory / f"out{number}"
        out.mkdir()
        name = backend(directory, folder, f"build_wheel({str(out)!r})", SOURCE_DATE_EPOCH=1700000000)
        for path in folder.rglob("*.py"):
            os.utime(path)
        wheels.append(out / name)
    equal(wheels[0].read_bytes(), wheels[1].read_bytes(), "bytes")
    true(re.fullmatch(r"dftrace-[0-9.]+-(cp39-abi3|cp3\d+-cp3\d+t)-linux_\w+\.whl", wheels[0].name), wheels[0].name)
    with zipfile.ZipFile(wheels[0]) as wheel:
        names = set(wheel.namelist())
        record = next(name for name in names if name.endswith("/RECORD"))
        listed = {line.rsplit(",", 2)[0]: line.rsplit(",", 2)[1:] for line in wheel.read(record).decode().splitlines()}
        equal(set(listed), names, "RECORD's names")
        for name, (digest, size) in listed.items():
            if name != record:
                data = wheel.read(name)
                equal((int(size), len(digest.split("=", 1)[1])), (len(data), 43), name)
                true(hashlib.sha256(data).digest().hex() == bytes_of(digest).hex(), name)
        true({"dftrace/py.typed", "dftrace/__init__.py", "dftrace/startup/sitecustomize.py"} <= names, "files")
    declared = re.search(r"^project\(dftrace VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    true(wheels[0].name.startswith(f"dftrace-{declared}-"), "the project's version")


def bytes_of(digest):
    return base64.urlsafe_b64decode(digest.split("=", 1)[1] + "=")


def test_one_wheel_for_all_versions(directory):
    """Each Python of this machine imports what the first one built."""
    pythons = os.environ.get("DFT_PYTHONS", "").split() or PYTHONS
    if len(pythons) < 2:
        pytest.skip("one version of Python is installed (DFT_PYTHONS names others)")
    out = directory / "tree"
    run_checked([pythons[0], ROOT / "python" / "backend" / "dftrace_backend.py", "tree", out], cwd=directory)
    for other in pythons:
        equal(used(other, directory, PYTHONPATH=out), out / "dftrace" / "__init__.py", other)


def test_tree_follows_its_source(directory):
    folder = source(directory)
    command = [python(), folder / "backend" / "dftrace_backend.py", "tree", directory / "tree"]
    run_checked(command, cwd=directory)
    program = next((directory / "tree" / "dftrace").glob("_core*.so"))
    before = program.stat().st_mtime_ns
    (folder / "dftrace" / "_find.py").rename(folder / "dftrace" / "other.py")
    run_checked(command, cwd=directory)
    there = {path.name for path in (directory / "tree" / "dftrace").iterdir()}
    true("other.py" in there and "_find.py" not in there, "renamed there, too")
    equal(program.stat().st_mtime_ns, before, "the extension is not compiled again")


def test_says_what_is_missing(directory):
    folder = source(directory)
    out = repr(str(directory))
    said = backend(directory, folder, f"build_wheel({out})", expect=1, CC="no-such-compiler")
    true(said.count("\n") == 1 and "no-such-compiler" in said and "install gcc" in said, said)
    hide = "import sysconfig\nall = sysconfig.get_paths\nsysconfig.get_paths = lambda *a: {**all(*a), 'include': '/no/include'}\n"
    (folder / "backend" / "sitecustomize.py").write_text(hide)
    said = backend(directory, folder, f"build_wheel({out})", expect=1)
    true(said.count("\n") == 1 and "apt-get install python3-dev" in said, said)
    (folder / "backend" / "sitecustomize.py").unlink()
    shutil.move(folder.parent / "include", folder.parent / "elsewhere")
    said = backend(directory, folder, f"build_wheel({out})", expect=1)
    true(said.count("\n") == 1 and "dftrace/api.h is neither in" in said, said)
    shutil.move(folder, directory / "alone")
    said = backend(directory, directory / "alone", f"build_sdist({out})", expect=1)
    true(said.count("\n") == 1 and "lies neither in dftrace's source tree" in said, said)
    equal([path for path in directory.iterdir() if path.suffix in (".whl", ".gz")], [], "nothing half-made")


def test_pip_says_what_is_missing(directory):
    done = run([python(), "-m", "pip", "install", "--no-index", "--target", directory / "target", source(directory)], cwd=directory,
               env=environment(CC="no-such-compiler"))
    said = (done.out + done.err).decode()
    true(done.code and "dftrace: no C compiler (no-such-compiler)" in said and "Traceback" not in said, said)


def test_source_that_does_not_compile(directory):
    folder = source(directory)
    with open(next((folder / "src").glob("core*.c")), "a", encoding="utf-8") as file:
        file.write("#error planted\n")
    said = backend(directory, folder, f"build_wheel({str(directory)!r})", expect=1)
    true("does not compile" in said and "planted" in said, said)
