# SPDX-License-Identifier: MIT
"""The target uninstall removes what `cmake --install` has written, and nothing else. What it leaves is named."""

import hashlib
import os
import shutil
import subprocess

import pytest

from packages import BUILD, equal, run_checked
from tracing import ROOT, environment, run, true

PROJECT = f"""cmake_minimum_required(VERSION 3.20)
project(small VERSION 1 LANGUAGES NONE)
include(GNUInstallDirs)
include({ROOT}/cmake/uninstall/begin.cmake)
install(FILES tool DESTINATION bin)
install(FILES module.py DESTINATION lib/python3.1/site-packages/small)
install(FILES link DESTINATION lib)
install(DIRECTORY texts DESTINATION share/doc/small)
include({ROOT}/cmake/uninstall.cmake)
"""


def project(directory):
    """A small project that installs with this project's files; its build folder."""
    source = directory / "source"
    (source / "texts" / "more").mkdir(parents=True)
    for name in ("tool", "module.py", "texts/page 1.md", "texts/more/page+2.md"):
        (source / name).write_text(name)
    os.symlink("tool", source / "link")
    (source / "CMakeLists.txt").write_text(PROJECT)
    run_checked(["cmake", "-S", source, "-B", directory / "build"])
    return directory / "build"


def install(build, prefix, **more):
    run_checked(["cmake", "--install", build, "--prefix", prefix], env=environment(**more))


def uninstall(build, **more):
    done = run(["cmake", "--build", build, "--target", "uninstall"], env=environment(**more))
    return done.code, (done.out + done.err).decode()


def tree(top):
    return sorted(str(path.relative_to(top)) for path in top.rglob("*"))


def test_removes_what_was_written(directory):
    build, prefix = project(directory), directory / "a prefix"
    install(build, prefix)
    (prefix / "lib/python3.1/site-packages/small/__pycache__").mkdir()
    (prefix / "lib/python3.1/site-packages/small/__pycache__/module.cpython-31.pyc").write_text("compiled")
    code, said = uninstall(build)
    true(not code and f"5 files removed from {prefix}" in said, said)
    true(not prefix.exists(), "the prefix was not there before")
    code, said = uninstall(build)
    true(code and "nothing was installed from" in said and "removed already" in said, said)


def test_leaves_what_was_there(directory):
    build, prefix = project(directory), directory / "prefix"
    for folder in ("bin", "lib/python3.1/site-packages", "share/doc"):
        (prefix / folder).mkdir(parents=True)
    (prefix / "bin" / "other").write_text("of somebody else")
    before = tree(prefix)
    for _ in range(2):  # also after a second time
        install(build, prefix)
    equal(uninstall(build)[0], 0, "exit code")
    equal(tree(prefix), before, "what is there, also empty folders")


def test_names_what_was_changed(directory):
    build, prefix = project(directory), directory / "prefix"
    install(build, prefix)
    (prefix / "bin" / "tool").write_text("another")
    (prefix / "lib" / "link").unlink()
    os.symlink("elsewhere", prefix / "lib" / "link")
    (prefix / "share/doc/small/texts/more/mine").write_text("mine")
    (prefix / "share/doc/small/texts/page 1.md").unlink()
    code, said = uninstall(build)
    true(not code and f"left {prefix}/bin/tool: it was changed since" in said and "link: it is another link now" in said, said)
    true("2 files removed" in said, said)
    equal(tree(prefix), ["bin", "bin/tool", "lib", "lib/link", "share", "share/doc", "share/doc/small", "share/doc/small/texts",
                         "share/doc/small/texts/more", "share/doc/small/texts/more/mine"], "what is left")


def test_leaves_files_of_a_package(directory):
    """A package was installed over it, and has the same file."""
    build, prefix = project(directory), directory / "prefix"
    install(build, prefix)
    (directory / "bin").mkdir()
    query = directory / "bin" / "dpkg-query"
    query.write_text(f"#!/bin/sh\necho 'small: {prefix}/bin/tool'\nexit 1\n")
    query.chmod(0o755)
    code, said = uninstall(build, PATH=f"{directory / 'bin'}:/usr/bin:/bin")
    true(not code and f"left {prefix}/bin/tool: a package has it now" in said, said)
    equal(tree(prefix), ["bin", "bin/tool"], "what is left")


def test_two_prefixes_and_a_staged_one(directory):
    build = project(directory)
    install(build, directory / "one")
    install(build, directory / "two")
    install(build, "/opt/small", DESTDIR=directory / "staged")
    true((directory / "staged/opt/small/bin/tool").exists(), "staged")
    code, said = uninstall(build)
    true(not code and said.count("5 files removed from") == 3, said)
    true(not any((directory / name).exists() for name in ("one", "two", "staged")), "all are gone")


def test_says_what_it_may_not_remove(directory):
    build, prefix = project(directory), directory / "prefix"
    install(build, prefix)
    folder = prefix / "bin"
    if os.geteuid():
        folder.chmod(0o555)
    elif subprocess.run(["chattr", "+i", folder], capture_output=True, check=False).returncode:
        pytest.skip("root may remove anything here")
    try:
        code, said = uninstall(build)
        true(code and f"{folder}/tool" in said and "as the user who installed them" in said, said)
    finally:
        if not os.geteuid():
            run(["chattr", "-i", folder])
        folder.chmod(0o755)
    equal(uninstall(build)[0], 0, "once it may")
    true(not prefix.exists(), "all is gone")


def test_this_project(directory):
    """The whole of it, by a record of its own: this build folder's is the user's."""
    prefix = directory / "prefix"
    install(BUILD, prefix)
    true(len(tree(prefix)) > 150 and (prefix / "bin" / "dftrun").exists(), "installed")
    (directory / "records").mkdir()
    record = BUILD / "installed" / hashlib.sha256(str(prefix).encode()).hexdigest()
    shutil.move(record, directory / "records")
    run_checked(["cmake", "-D", f"DFT_RECORDS={directory / 'records'}", "-P", ROOT / "cmake" / "uninstall" / "remove.cmake"])
    true(not prefix.exists(), "nothing is left")
