# SPDX-License-Identifier: MIT
"""Names that lead elsewhere: what is opened through /proc/self/fd is the file itself, renamed directories have their new name, and a library's
old version of a function is not the C library's function, and each version of the C library's answers who is bound to it."""

import re

from tracing import LIBRARY, compile_program, dump, equal, need, run, run_checked, tracing, true


def test_files_come_out_as_a_person_expects(directory):
    program = compile_program("doors.c", directory / "doors")
    (directory / "work").mkdir()
    done = run([program, directory / "work"], env=tracing(directory / "out" / "trace"))
    equal((done.code, done.err), (0, b""), "exit code")
    events = [e for e in dump(directory / "out") if e.get("file", "").startswith(str(directory / "work"))]
    name = lambda e: re.sub("#.*", "#", e["file"][len(str(directory / "work")) + 1:])
    equal([(e["name"], name(e), e.get("offset")) for e in events if "bytes" in e and e["name"].endswith("read")],
          [("read", "file", 0), ("read", "file", 4), ("fread", "file", 0), ("read", "file", 0), ("read", "file", 0)], "reads")
    equal([name(e) for e in events if e["name"] in ("open", "openat", "fopen")],
          ["file"] * 5 + ["a/b", "a/one", "a/b/two", "c/three", "c/b/four", "c/gone", "c/#"], "opened")
    equal([(name(e), e.get("offset")) for e in events if e["name"] == "write"],
          [("file", 0), ("a/one", 0), ("c/three", 0), ("c/gone", 0), ("c/gone", 10), ("c/#", 0)],
          "written, also when it is deleted, or has no name")


def test_an_old_version_in_another_library_is_not_the_function(directory):
    (directory / "map").write_text("OLD_1.0 { global: calls_of_old_version; fsync; local: *; };\n")
    compile_program("old_version.c", directory / "libold.so", "-shared", "-fPIC", "-DOLD_VERSION", f"-Wl,--version-script={directory / 'map'}")
    program = compile_program("old_version.c", directory / "program", f"-L{directory}", "-lold", f"-Wl,-rpath,{directory}")
    (directory / "file").touch()
    for env in (None, tracing(directory / "out" / "trace")):
        done = run(["sh", "-c", f"exec {program} < {directory / 'file'}"], env=env)
        equal((done.code, done.out, done.err), (0, b"0 0\n", b""), "the C library's is called")
    equal([e["name"] for e in dump(directory / "out") if e["name"] == "fsync"], ["fsync"], "events")


def versions_of(library):
    """{function: {version: (address, is it the default one?)}}; the version None: none."""
    found = {}
    for line in run_checked(["nm", "-D", "--defined-only", library]).out.decode().splitlines():
        address, kind, symbol = line.split()
        name, at, version = symbol.partition("@")
        if kind in "TWi":
            found.setdefault(name, {})[version.lstrip("@") if at else None] = (address, version.startswith("@"))
    return found


def wrapped_in_versions(program):
    """What the C library of this machine has in several versions, and we have, too."""
    libraries = re.findall(r"=> (/\S*/lib(?:c|rt|util|dl|pthread)\.so\.\d+)", run_checked(["ldd", program]).out.decode())
    ours, found = versions_of(LIBRARY), {}
    for library in libraries:
        for name, versions in versions_of(library).items():
            if name in ours and None not in versions:
                found.setdefault(name, {}).update(versions)
    return {name: versions for name, versions in found.items() if len(versions) > 1}


LIBRARIES = ("-Wl,--no-as-needed", "-ldl", "-lrt", "-lutil", "-lpthread")  # of the C library, before 2.34


def versions_program(directory):
    program = compile_program("versions.c", directory / "program", *LIBRARIES)
    compile_program("versions.c", directory / "libunversioned.so", "-shared", "-fPIC", "-nostdlib", "-DUNVERSIONED")
    (directory / "script").write_text("exit 7\n")
    (directory / "script").chmod(0o755)
    (directory / "dangling").symlink_to("nowhere")
    return program


def test_each_version_of_a_function_is_ours(directory):
    need("nm", "ldd")
    wrapped = wrapped_in_versions(versions_program(directory))
    pairs = [(name, version) for name, versions in wrapped.items() for version in versions]
    true(len(pairs) > 20, f"functions in several versions: {pairs}")
    (directory / "pairs").write_text("".join(f'PAIR({i}, {name}, "{version}")\n' for i, (name, version) in enumerate(pairs)))
    program = compile_program("versions.c", directory / "linked", f'-DPAIRS="{directory / "pairs"}"', *LIBRARIES)
    done = run([program], env=tracing(directory / "out" / "trace"))
    equal((done.code, done.out.decode().splitlines()),
          (0, [f"{name}@{version} {LIBRARY.name}" for name, version in pairs]), "where they are")


def test_each_version_of_a_function_does_what_it_does_untraced(directory):
    need("nm", "ldd")
    program = versions_program(directory)
    ours, calls = versions_of(LIBRARY), 0
    for name, versions in wrapped_in_versions(program).items():
        addresses = {address for address, _ in versions.values()}
        if len(addresses) == 1:
            continue
        default = {version: is_default for version, (_, is_default) in versions.items()}
        equal({version: ours[name].get(version, (0, "absent"))[1] for version in versions}, default, f"versions of {name}")
        without = ["-"] if not name.endswith("64") else []
        outcomes = {}
        for version in [*versions, *without]:
            plain = run([program, name, version], cwd=directory)
            traced = run([program, name, version], cwd=directory, env=tracing(directory / f"{name}-{version}" / "trace"))
            equal(traced, plain, f"{name} of version {version}")
            event = name.removesuffix("64")
            true(event in [e["name"] for e in dump(directory / f"{name}-{version}")], f"{event} is an event")
            outcomes.setdefault(plain, set()).add(versions[version][0] if version in versions else None)
            equal(plain.code, 0, f"{name} of version {version}: {plain}")
            calls += 1
        equal(len(outcomes), len(addresses), f"outcomes of {name}, by which its versions are told apart: {outcomes}")
    true(calls >= 9, f"versions that were called: {calls}")
