# SPDX-License-Identifier: MIT
"""Builds the Python package: wheels, editable wheels, source archives (PEP 517, PEP 660) and plain trees.

It needs the standard library, a C compiler and Python's headers. The same sources give the same bytes: members are
sorted, and carry the time of SOURCE_DATE_EPOCH.

    python3 backend/dftrace_backend.py tree DIR      writes an importable tree
    python3 backend/dftrace_backend.py check         says what is missing for building
    python3 backend/dftrace_backend.py version       prints the version
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Tuple

TOP = pathlib.Path(__file__).resolve().parents[1]  # python/ of the project, or the top of a source archive
PACKAGES = ("dftrace", "dftracer", "perfflowaspect")
PACKAGE_FILES = ("*.py", "*.pyi", "py.typed")
# Module, and which files of src/ it is made of.
EXTENSIONS = (("dftrace/_core", "core*.c"), ("dftrace/_arrow", "arrow*.c"))
# The name is the module: `pytest -p MODULE` then works with and without the entry point.
PLUGINS = {"pytest11": ("dftrace.integrations.pytest", "dftrace.integrations.pytest")}
FLAGS = ["-std=gnu11", "-O2", "-g0", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
         "-Wno-missing-field-initializers", "-Wno-cast-function-type"]
OLDEST = 0x03090000
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
SUMMARY = "Traces the I/O of Python programs, with their functions, epochs and workers"
DESCRIPTION = """\
dftrace shows where the I/O time of a program goes. This package brings annotations, a launcher
(`python -m dftrace run script.py`), integrations, and `dftrace.open()`, which reads traces.
The library and the tools (libdftrace.so, dftrun, dftmerge) are built and installed with CMake.
"""

Settings = Optional[Mapping[str, Any]]
Members = Dict[str, bytes]


def fail(text: str) -> NoReturn:
    """Ends the build with one line, which pip shows."""
    sys.exit(f"dftrace: {text}")


def version() -> str:
    """The project's version: of CMakeLists.txt, or of the source archive that this is."""
    for path, pattern in ((TOP / "PKG-INFO", r"^Version: (\S+)$"),
                          (TOP.parent / "CMakeLists.txt", r"^project\(dftrace VERSION ([0-9.]+)")):
        if path.is_file():
            found = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
            if found:
                return found[1]
    fail(f"no version: {TOP} lies neither in dftrace's source tree (with CMakeLists.txt above it) nor in a source "
         "archive; build in the tree, with pip 21.3 or later")


def folder_of(file: str, beside: str) -> pathlib.Path:
    """The folder of a file that the sources include: in a source archive, or beside this one."""
    for folder in (TOP / "include", TOP.parent / beside):
        if (folder / file).is_file():
            return folder
    fail(f"{file} is neither in {TOP / 'include'} nor in {TOP.parent / beside}; build in dftrace's source "
         "tree, with pip 21.3 or later")


def headers() -> pathlib.Path:
    return folder_of("dftrace/api.h", "include")


def tables() -> pathlib.Path:
    return folder_of("tables/tables.def", "tools")


def compiler() -> List[str]:
    """The C compiler: $CC, Python's own, or cc."""
    named = os.environ.get("CC")
    for command in [named] if named else [sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]:
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    fail(f"no C compiler ({named or 'cc'}): install gcc (Debian, Ubuntu: apt-get install gcc libc6-dev)")


def python_headers() -> str:
    """The folder that holds Python.h."""
    folder = sysconfig.get_paths()["include"]
    if not os.path.isfile(os.path.join(folder, "Python.h")):
        fail(f"{folder}/Python.h is missing: install Python's headers (Debian, Ubuntu: apt-get install python3-dev; "
             "Fedora: python3-devel)")
    return folder


def suffix() -> str:
    """What the names of extension modules end with; free-threaded Pythons have no stable interface."""
    return str(sysconfig.get_config_var("EXT_SUFFIX")) if FREE_THREADED else ".abi3.so"


def tag() -> str:
    """The wheel's tag: one for CPython 3.9 and later, and one for each free-threaded version."""
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    number = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{number}-{number}t-{platform}" if FREE_THREADED else f"cp39-abi3-{platform}"


def extensions() -> List[Tuple[str, List[pathlib.Path]]]:
    """Path of each extension module in the package, and its sources."""
    found = ((name + suffix(), sorted((TOP / "src").glob(pattern))) for name, pattern in EXTENSIONS)
    return [(name, sources) for name, sources in found if sources]


def compile_extension(sources: List[pathlib.Path], target: pathlib.Path) -> None:
    """Compiles and links one extension module. The file appears as a whole or not at all."""
    command = compiler() + FLAGS + shlex.split(os.environ.get("CFLAGS", ""))
    if not FREE_THREADED:
        command.append(f"-DPy_LIMITED_API={OLDEST:#010x}")
    command += [f"-ffile-prefix-map={TOP}=.", f"-I{headers()}", f"-I{tables()}", "-isystem", python_headers()]
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    command += ["-o", str(unfinished), *map(str, sources), *shlex.split(os.environ.get("LDFLAGS", "")), "-ldl"]
    target.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        if re.search(r"fatal error: '?(stdio|stdlib|string|errno|limits)\.h", text):
            fail("the C library's headers are missing: install libc6-dev (Fedora: glibc-devel)")
        fail(f"{target.name} does not compile:\n$ {shlex.join(command)}\n{text}")
    sys.stderr.write(text)
    os.replace(unfinished, target)


def package_files() -> Dict[str, pathlib.Path]:
    """Name in the wheel, and file, of all that is copied."""
    files = {}
    for package in PACKAGES:
        for pattern in PACKAGE_FILES:
            for path in (TOP / package).rglob(pattern):
                files[path.relative_to(TOP).as_posix()] = path
    return files


def metadata() -> bytes:
    """METADATA of the wheel and PKG-INFO of the source archive."""
    lines = ["Metadata-Version: 2.1", "Name: dftrace", f"Version: {version()}", f"Summary: {SUMMARY}", "License: MIT",
             "Requires-Python: >=3.9", "Classifier: License :: OSI Approved :: MIT License",
             "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Programming Language :: Python :: 3 :: Only",
             "Classifier: Programming Language :: Python :: Implementation :: CPython", "Classifier: Typing :: Typed",
             "Description-Content-Type: text/markdown"]
    return ("\n".join(lines) + "\n\n" + DESCRIPTION).encode()


def entry_points() -> bytes:
    """Plug-ins that other programs find by name."""
    there = {group: f"{name} = {module}" for group, (name, module) in PLUGINS.items()
             if (TOP / (module.replace(".", "/") + ".py")).is_file()}
    return "".join(f"[{group}]\n{line}\n" for group, line in there.items()).encode()


def information() -> Members:
    """The .dist-info folder but for RECORD."""
    folder = f"dftrace-{version()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: dftrace_backend\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    members = {f"{folder}/METADATA": metadata(), f"{folder}/WHEEL": wheel.encode()}
    if entry_points():
        members[f"{folder}/entry_points.txt"] = entry_points()
    for path in (TOP / "LICENSE", TOP.parent / "LICENSE"):
        if path.is_file():
            members[f"{folder}/LICENSE"] = path.read_bytes()
            break
    return members


def record(members: Members) -> Members:
    """These members and RECORD, which lists them."""
    lines = []
    for name, data in sorted(members.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    name = f"dftrace-{version()}.dist-info/RECORD"
    return {**members, name: ("".join(lines) + f"{name},,\n").encode()}


def epoch() -> int:
    """Time of all members, in seconds: SOURCE_DATE_EPOCH, or the first that zip files can hold."""
    try:
        return max(int(os.environ.get("SOURCE_DATE_EPOCH", "")), 315532800)
    except ValueError:
        return 315532800


def is_program(name: str) -> bool:
    return name.endswith(".so")


def write_wheel(directory: str, members: Members) -> str:
    name = f"dftrace-{version()}-{tag()}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(record(members).items()):
            member = zipfile.ZipInfo(path, time.gmtime(epoch())[:6])
            member.external_attr = (0o100755 if is_program(path) else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, data)
    return name


def build_wheel(wheel_directory: str, config_settings: Settings = None,
                metadata_directory: Optional[str] = None) -> str:
    """Writes a wheel into the directory and returns its name."""
    members = information()
    members.update((name, path.read_bytes()) for name, path in package_files().items())
    with tempfile.TemporaryDirectory() as folder:
        for name, sources in extensions():
            target = pathlib.Path(folder) / name
            compile_extension(sources, target)
            members[name] = target.read_bytes()
    return write_wheel(wheel_directory, members)


def build_editable(wheel_directory: str, config_settings: Settings = None,
                   metadata_directory: Optional[str] = None) -> str:
    """Writes a wheel that leads to this folder; extension modules are built beside the sources."""
    for name, sources in extensions():
        compile_extension(sources, TOP / name)
    return write_wheel(wheel_directory, {**information(), "dftrace.pth": f"{TOP}\n".encode()})


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Writes the .dist-info folder and returns its name."""
    write_files(pathlib.Path(metadata_directory), information())
    return f"dftrace-{version()}.dist-info"


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def write_files(directory: pathlib.Path, members: Members) -> None:
    """Writes those whose content is another than before."""
    for name, data in members.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)


def source_files() -> Members:
    """What a source archive holds: all that this backend reads."""
    files = dict(package_files())
    for pattern in ("src/*.[ch]", "backend/*.py", "pyproject.toml"):
        files.update((path.relative_to(TOP).as_posix(), path) for path in TOP.glob(pattern))
    members = {name: path.read_bytes() for name, path in files.items()}
    for path in sorted(headers().glob("dftrace/*")):
        if path.suffix in (".h", ".def"):
            members[f"include/dftrace/{path.name}"] = path.read_bytes()
    members["include/tables/tables.def"] = (tables() / "tables" / "tables.def").read_bytes()
    members.update((name.rsplit("/", 1)[1], data) for name, data in information().items() if name.endswith("LICENSE"))
    return {**members, "PKG-INFO": metadata()}


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Writes a source archive into the directory and returns its name."""
    top = f"dftrace-{version()}"
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(source_files().items()):
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size, member.mtime, member.mode = len(data), epoch(), 0o644
            archive.addfile(member, io.BytesIO(data))
    with open(os.path.join(sdist_directory, f"{top}.tar.gz"), "wb") as file:
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=epoch()) as stream:
            stream.write(plain.getvalue())
    return f"{top}.tar.gz"


def build_tree(directory: pathlib.Path) -> None:
    """Makes the directory an importable tree; compiles what is older than its sources, removes what is no more."""
    members = {name: path.read_bytes() for name, path in package_files().items()}
    write_files(directory, {**members, **information()})
    wanted = {directory / name for name in members}
    for name, sources in extensions():
        target = directory / name
        wanted.add(target)
        inputs = [*sources, *(TOP / "src").glob("*.h"), *headers().glob("dftrace/*"), tables() / "tables" / "tables.def",
                  pathlib.Path(__file__)]
        if not target.is_file() or any(path.stat().st_mtime >= target.stat().st_mtime for path in inputs):
            compile_extension(sources, target)
    for package in PACKAGES:
        for path in sorted((directory / package).rglob("*")):
            if path.is_file() and path not in wanted and path.suffix != ".pyc":
                path.unlink()


def main(arguments: List[str]) -> None:
    if arguments == ["version"]:
        print(version())
    elif arguments == ["check"]:
        headers(), tables(), compiler(), python_headers()
    elif len(arguments) == 2 and arguments[0] == "tree":
        build_tree(pathlib.Path(arguments[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
