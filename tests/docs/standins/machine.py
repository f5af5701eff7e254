# SPDX-License-Identifier: MIT
"""Builds, packages, what is for root, other machines."""

import glob
import os
import pathlib
import re
import subprocess

from base import BUILD, SOURCE, fail, one, parse, real, run


def cmake(words):
    """Names that are given are those of the tree and of its build: generators, options, targets, folders."""
    if words[:1] == ["--build"]:
        options, rest = parse(words[2:], "--target -t -j --parallel --config", "-v --verbose")
        for target in options.get("--target", []) + options.get("-t", []):
            if target != "uninstall" and subprocess.run(["ninja", "-C", BUILD, "-t", "query", target], capture_output=True, check=False).returncode:
                fail(f"there is no target {target}")
    elif words[:1] == ["--install"]:
        options, rest = parse(words[2:], "--prefix --component --config", "--strip -v --verbose")
        install(one(options, "--prefix") or fail("without --prefix it installs into the system"))
    else:
        options, rest = parse(words, "-S -B -G -D -T --preset", "--fresh -Wno-dev")
        cache = (pathlib.Path(BUILD) / "CMakeCache.txt").read_text()
        for name, value in (setting.partition("=")[::2] for setting in options.get("-D", [])):
            if not name.startswith("CMAKE_") and not re.search(rf"^{re.escape(name.split(':')[0])}:", cache, re.MULTILINE):
                fail(f"there is no setting {name}")
            if name.startswith("CMAKE_TOOLCHAIN_FILE") and not (SOURCE / value).exists():
                fail(f"there is no {value}")
    if rest and rest != ["--"]:
        fail(f"{rest} is too much")
    return 0


def install(prefix):
    """The build under the names of an installed tree."""
    for name, folder in (("bin", "bin"), ("lib", "lib")):
        there = pathlib.Path(prefix) / name
        if not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            there.symlink_to(pathlib.Path(BUILD) / folder)


def cpack(words):
    if not os.path.exists("CPackConfig.cmake") or parse(words, "-G -C --config -B", "-V --verbose")[1]:
        fail(f"{os.getcwd()} is no folder of a build, or {words} is not understood")
    return 0


def ctest(words):
    options, rest = parse(words, "--test-dir -R -E -L -j --timeout", "--output-on-failure -V -N")
    if not os.path.basename(one(options, "--test-dir") or "build").startswith("build") or rest:
        fail(f"{words} is not understood")
    lists = "".join(path.read_text() for path in pathlib.Path(BUILD, "tests").glob("**/CTestTestfile.cmake"))
    names = re.findall(r"^add_test\(\W*([\w-]+)", lists, re.MULTILINE)
    if not any(re.search(one(options, "-R") or "", name) for name in names):
        fail(f"no test has a name like {one(options, '-R')}")
    return 0


def pip(words):
    options, rest = parse(words[1:], "--prefix --target -t -r", "--no-index --user -q --no-build-isolation")
    wrong = [path for path in rest if path.startswith(".") and not (SOURCE / path / "pyproject.toml").exists()]
    if words[:1] != ["install"] or wrong:
        fail(f"{words} is not understood")
    return 0


def sudo(words):
    return run(parse(words, "-u --user", "-E -n")[1])


def apt(words):
    """Packages are named in README.md, or files of packages that cpack makes."""
    options, words = parse(words, "-o", "-y -q -qq --no-install-recommends")
    if not words or words[0] not in ("install", "update", "remove", "purge"):
        fail(f"no command {words[:1]}")
    table = (SOURCE / "README.md").read_text().partition("## Dependencies")[2]
    options, names = parse(words[1:], "-o", "-y -q -qq --no-install-recommends")
    for name in names:
        ours = re.match(r"(\./|build/)?\S*\.deb$|(lib)?dftrace|python3-dftrace", name)
        if not ours and f"`{name}`" not in table:
            fail(f"{name} is no package that README.md names under Dependencies")
    return 0


def ssh(words):
    options, rest = parse(words, "-L -p -i -J", "-N -f")
    wrong = [way for way in options.get("-L", []) if not re.fullmatch(r"\d+:127\.0\.0\.1:\d+|\w+:127\.0\.0\.1:\w+", way)]
    if wrong or not rest:
        fail(f"{words} is not understood")
    return 0


def qemu(words):
    """Runs the native program with the variables."""
    options, command = parse(words, "-L -E")
    if not os.path.isdir(one(options, "-L") or "/"):
        fail(f"-L {one(options, '-L')} is no folder")
    return run(command, **dict(pair.split("=", 1) for pair in options.get("-E", [])))


def duckdb(words):
    """Files of Parquet that a query reads are there."""
    if real("duckdb"):
        return run([real("duckdb"), *words])
    options, rest = parse(words, "-c", "-csv -json")
    query = one(options, "-c") or fail("-c is missing")
    wrong = [pattern for pattern in re.findall(r"'([^']*\.parquet)'", query) if not glob.glob(pattern)]
    if wrong or rest:
        fail(f"there is no {wrong or rest}")
    return 0


PROGRAMS = {"cmake": cmake, "ctest": ctest, "cpack": cpack, "pip": pip, "sudo": sudo, "apt": apt, "apt-get": apt, "ssh": ssh, "qemu-aarch64": qemu,
            "duckdb": duckdb}
