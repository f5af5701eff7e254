# SPDX-License-Identifier: MIT
"""Debian packages have the files that they should, depend on each other, and work where they are unpacked."""

import atexit
import gzip
import os
import pathlib
import re
import shutil
import sys
import tempfile

from packages import BUILD, debian, equal, field, files_of, make, run_checked
from tracing import ROOT, environment, true

made = {}
out = pathlib.Path(tempfile.mkdtemp(prefix="dft-debian-"))
atexit.register(shutil.rmtree, out, ignore_errors=True)
COMMANDS = sorted(path.stem for path in (ROOT / "docs" / "commands").glob("*.md"))
USE = "import dftrace, dftrace._core\nwith dftrace.region('here', step=1): print(dftrace.__file__)"


def packages():
    if not made:
        made.update(debian(out))
    return made


def below(folder, place, *patterns):
    found = [path for pattern in patterns for path in (ROOT / folder).rglob(pattern) if path.is_file()]
    return {f"{place}/{path.relative_to(ROOT / folder)}" for path in found}


def manuals(*names):
    return {f"/usr/share/man/man1/{name}.1.gz" for name in names} if (BUILD / "man").is_dir() else set()


def expected():
    """{package: its files}, but those that each package has in its folder of documents."""
    completion, fish = "/usr/share/bash-completion/completions", "/usr/share/fish/vendor_completions.d"
    zsh = "/usr/share/zsh/vendor-completions"
    lintian = "/usr/share/lintian/overrides"
    return {
        "libdftrace": {"/usr/lib/libdftrace.so", "/usr/lib/libdftracer_core.so", "/usr/lib/libdftracer_preload.so",
                       "/usr/share/dftrace/valgrind/dftrace.supp", f"{lintian}/libdftrace"}
                      | below("preload/weave/files", "/usr/share/dftrace/weave", "*.weave")
                      | {"/usr/lib/libdftcupti.so" for module in BUILD.glob("lib/libdftcupti.so")},
        "libdftrace-dev": below("include", "/usr/include", "*.h") | {"/usr/share/pkgconfig/dftrace.pc", "/usr/share/pkgconfig/dftracer.pc"}
                          | {f"/usr/lib/cmake/dftrace/dftrace{part}.cmake" for part in ("Config", "ConfigVersion", "Targets")}
                          | {f"/usr/lib/cmake/dftracer/dftracer-config{part}.cmake" for part in ("", "-version")},
        "dftrace-tools": {"/usr/bin/dftrun", "/usr/bin/dftmerge", "/usr/lib/libdftsqlite.so", f"{lintian}/dftrace-tools",
                          f"{completion}/dftrun", f"{completion}/dftmerge", f"{zsh}/_dftrun", f"{zsh}/_dftmerge",
                          f"{fish}/dftrun.fish", f"{fish}/dftmerge.fish"}
                         | manuals(*(name for name in COMMANDS if name != "dftmerge-mpi")),
        "dftrace-mpi": {"/usr/bin/dftmerge-mpi", f"{completion}/dftmerge-mpi", f"{fish}/dftmerge-mpi.fish"} | manuals("dftmerge-mpi"),
        "dftrace-doc": below("docs", "/usr/share/doc/dftrace/docs", "*.md", "*.json", "*.png", "*.svg")
                       | below("examples", "/usr/share/doc/dftrace/examples", "[a-pr-z]*.*")
                       | {"/usr/share/doc/dftrace/README.md", "/usr/share/doc/dftrace/CHANGELOG.md"},
        "python3-dftrace": {f"/usr/lib/python3/dist-packages/{path.relative_to(BUILD / 'python')}"
                            for path in (BUILD / "python").rglob("*") if path.is_file() and "__pycache__" not in path.parts},
    }


def test_each_has_its_files(directory):
    wanted = expected()
    if not (BUILD / "bin" / "dftmerge-mpi").exists():
        del wanted["dftrace-mpi"]
    equal(set(packages()), set(wanted), "packages")
    for name, files in wanted.items():
        documents = {f"/usr/share/doc/{name}/{file}" for file in ("changelog.gz", "changelog.Debian.gz", "copyright")}
        have = files_of(packages()[name])
        equal((set(have) - files - documents, (files | documents) - set(have)), (set(), set()), f"{name}: too much, and missing")
        for file, (mode, owner) in have.items():
            kind = "rwxr-xr-x" if file.startswith("/usr/bin/") else "rw-r--r--"
            true(owner == "root/root" and (mode[0] == "l" or mode == "-" + kind), f"{file}: {mode} {owner}")


def test_they_depend_on_each_other(directory):
    version = field(packages()["libdftrace"], "Version")
    for name, needed in (("libdftrace-dev", "libdftrace"), ("dftrace-tools", "libdftrace"), ("dftrace-mpi", "dftrace-tools"),
                         ("python3-dftrace", "dftrace-tools")):
        if name in packages():
            true(f"{needed} (= {version})" in field(packages()[name], "Depends").split(", "), name)
    equal(re.sub(r" \(.*?\)", "", field(packages()["libdftrace"], "Depends")), "libc6", "the library needs the C library alone")
    true("python3:any" in field(packages()["python3-dftrace"], "Depends"), "python3")
    for name in ("libdftrace", "libdftrace-dev", "dftrace-tools", "dftrace-doc"):
        equal((field(packages()[name], "Conflicts"), field(packages()[name], "Replaces")), ("dftrace", "dftrace"), name)
    summaries = {field(package, "Description").splitlines()[0] for package in packages().values()}
    equal(len(summaries), len(packages()), "each says what it is")


def test_they_work_where_they_are_unpacked(directory):
    for package in packages().values():
        run_checked(["dpkg-deb", "-x", package, directory])
    usr = directory / "usr"
    env = environment(PYTHONPATH=usr / "lib" / "python3" / "dist-packages", PYTHONDONTWRITEBYTECODE=1)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    done = run_checked([usr / "bin" / "dftrun", "-o", directory / "traces", "--", python, "-c", USE], env=env, cwd=directory)
    equal(done.out.decode().strip(), str(usr / "lib/python3/dist-packages/dftrace/__init__.py"), "which package Python took")
    true("Time by class" in done.err.decode(), done.err.decode())
    events = run_checked([usr / "bin" / "dftmerge", "dump", "--json", directory / "traces"]).out.decode()
    true('"name":"here"' in events.replace(" ", ""), "the region is in the trace")
    if shutil.which("pkg-config"):
        flags = run_checked(["pkg-config", "--cflags", "--variable=preload", "dftrace"],
                            env=environment(PKG_CONFIG_PATH=usr / "share" / "pkgconfig")).out.decode().strip()
        true(os.path.samefile(flags.split()[-1], usr / "lib" / "libdftrace.so"), flags)


def test_changelog_and_copyright(directory):
    run_checked(["dpkg-deb", "-x", packages()["dftrace-tools"], directory])
    documents = directory / "usr" / "share" / "doc" / "dftrace-tools"
    first = gzip.decompress((documents / "changelog.Debian.gz").read_bytes()).decode().splitlines()[0]
    true(first.startswith(f"dftrace ({field(packages()['dftrace-tools'], 'Version')}) "), first)
    text = (documents / "copyright").read_text()
    for line in (ROOT / "LICENSE").read_text().splitlines()[4:]:
        true(not line or f" {line}\n" in text, f"the licence has: {line}")


def test_tarball(directory):
    packed = make("TGZ", directory / "tar")
    equal(len(packed), 1, "tarballs")
    run_checked(["tar", "-xf", packed["dftrace"], "-C", directory])
    top = next(directory.glob("dftrace-*"))
    run_checked([top / "bin" / "dftrun", "-o", directory / "traces", "--", "ls", "/"])
    true((top / "share/zsh/site-functions/_dftrun").exists() and not (top / "usr").exists(), "the usual layout")
