# SPDX-License-Identifier: MIT
"""The portable tarball: it is built, unpacked into another folder, and used there by an ordinary user."""

import json
import os
import pathlib
import subprocess

import pytest

from tracing import BUILD, environment, equal, need, run, run_checked, true

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534


def tarball(made=[]):
    """Builds it, once."""
    if not made:
        need("cmake", "readelf")
        done = run(["cmake", "--build", BUILD, "--target", "portable"], env={**os.environ, "LC_ALL": "C"})
        if done.code and b"unknown target" in done.out + done.err:
            pytest.skip("this build makes no portable tarball: static libraries are missing (cmake says which)")
        equal(done.code, 0, (done.out + done.err).decode(errors="replace")[-2000:])
        made.append(pathlib.Path(done.out.decode().split()[-1]))
        if not made[0].exists():
            made[0] = max(BUILD.glob("dftrace-*-linux-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    return made[0]


def unpacked(directory):
    """The folder of the tarball, in a place that every user can read."""
    directory.chmod(0o755)
    run_checked(["tar", "xzf", tarball()], cwd=directory)
    found = [path for path in directory.iterdir() if path.is_dir()]
    equal(len(found), 1, "folders in the tarball")
    return found[0].rename(directory / "moved")


def as_user(command, cwd):
    """As somebody without rights, where we are root; otherwise as ourselves."""
    more = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment(), stdin=subprocess.DEVNULL, timeout=600,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    equal(done.returncode, 0, done.stderr.decode(errors="replace"))
    return done


def place_for_user(directory):
    place = directory / "work"
    place.mkdir()
    place.chmod(0o777)
    return place


def test_tools_are_static_and_all_is_there(directory):
    top = unpacked(directory)
    for tool in ("dftmerge", "dftrun"):
        true("no dynamic section" in run_checked(["readelf", "-d", top / "bin" / tool]).out.decode(), f"{tool} is not static")
        headers = run_checked(["readelf", "-lW", top / "bin" / tool]).out.decode()
        true("INTERP" not in headers, f"{tool} has an interpreter")
        for question in ("--version", "--help"):
            equal(run([top / "bin" / tool, question]).out, run([BUILD / "bin" / tool, question]).out, f"{tool} {question}: as the build's own")
    for name in ("lib/libdftrace.so", "LICENSE", "README.md", "share/dftrace/weave/zlib.weave", "include/dftrace/dftrace.h",
                 "docs/tutorial.md", "examples/slow.c", "examples/fast.c", "docs/systems.md", "docs/commands/dftmerge.md"):
        true((top / name).is_file(), f"{name} is not in the tarball")
    for name in ("bash-completion/completions/dftmerge", "zsh/site-functions/_dftrun", "fish/vendor_completions.d/dftrun.fish"):
        true((top / "share" / name).is_file() or not (BUILD / "completion").is_dir(), f"{name} is not in the tarball")
    equal(sorted(str(path) for path in top.rglob("*") if path.is_dir() and not any(path.iterdir())), [], "empty folders")
    if (BUILD / "man").is_dir():
        true((top / "share/man/man1/dftrun.1").is_file(), "man pages are not in the tarball")


def test_an_ordinary_user_traces_with_it(directory):
    top = unpacked(directory)
    place = place_for_user(directory)
    source = place / "from"
    source.write_bytes(b"x" * 1000)
    as_user([top / "bin" / "dftrun", "-o", place / "traces", "--no-summary", "--", "dd", f"if={source}", f"of={place}/to", "bs=10"], place)
    equal((place / "to").read_bytes(), source.read_bytes(), "what dd wrote")
    done = as_user([top / "bin" / "dftmerge", "summary", "--json", "--by", "name", place / "traces"], place)
    calls = {group["name"]: group["count"] for group in json.loads(done.stdout)["groups"]}
    equal((calls["read"], calls["write"]), (101, 100), "calls of dd")
    same = run_checked([BUILD / "bin" / "dftmerge", "summary", "--json", "--by", "name", place / "traces"])
    equal(json.loads(done.stdout), json.loads(same.out), "the static dftmerge and the one of the build")


def test_features_with_static_libraries_work(directory):
    """What the build's own dftmerge can do, the static one can, too: but for the prompt's history."""
    need("g++")
    top = unpacked(directory)
    (directory / "names.cpp").write_text("#include <fcntl.h>\n#include <unistd.h>\n"
                                         "namespace far { __attribute__((noinline)) int away(int fd) { return write(fd, \"x\", 1) + 1; } }\n"
                                         "int main(int, char **v) { return far::away(open(v[1], O_CREAT | O_WRONLY, 0600)) - 2; }\n")
    run_checked(["g++", "-g", "-O1", "-o", directory / "names", directory / "names.cpp"])
    run_checked([top / "bin" / "dftrun", "-o", directory / "traces", "--no-summary", "--stack", "8", "--", directory / "names",
                 directory / "out"])
    for question in (["summary", "--by", "line"], ["summary", "--by", "stack"], ["sql"], ["export", "--format", "parquet"]):
        more = [directory / "traces"]
        if question == ["sql"]:
            more.append("select name, count(*) from events group by name order by name")
        elif question[0] == "export":
            more = ["-o", "PLACE", *more]
        answers = []
        for tool in (BUILD / "bin" / "dftmerge", top / "bin" / "dftmerge"):
            words = [str(word).replace("PLACE", str(directory / f"parquet-{len(answers)}")) for word in more]
            done = run([tool, *question, *words])
            answers.append((done.code, done.out))
        equal(answers[1], answers[0], f"dftmerge {' '.join(question)}")


def test_names_are_replaced_alike(directory):
    top = unpacked(directory)
    run_checked([top / "bin" / "dftrun", "-o", directory / "traces", "--no-summary", "--", "cat", HERE / "test_portable.py"])
    if b"was built without" in run([BUILD / "bin" / "dftmerge", "anonymize", "--new-key", directory / "key"]).err:
        pytest.skip("this build does not anonymize")
    answers = []
    for tool in (BUILD / "bin" / "dftmerge", top / "bin" / "dftmerge"):
        out = directory / f"public-{len(answers)}"
        run_checked([tool, "anonymize", "--key", directory / "key", "-o", out, directory / "traces"])
        answers.append(run_checked([tool, "dump", "--json", out]).out)
    equal(answers[1], answers[0], "anonymous events")


def test_a_terminal_without_libedit_still_has_a_prompt(directory):
    top = unpacked(directory)
    run_checked([top / "bin" / "dftrun", "-o", directory / "traces", "--no-summary", "--", "cat", HERE / "test_portable.py"])
    done = run([top / "bin" / "dftmerge", "sql", directory / "traces"], stdin=b"select count(*) > 0 as some from events;\n")
    if b"was built without" in done.err:
        pytest.skip("this build has no SQL")
    equal(done.code, 0, done.err)
    true(b"some" in done.out and b"1" in done.out, done.out)
