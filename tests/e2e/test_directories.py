# SPDX-License-Identifier: MIT
"""Directories that settings and programs name otherwise than the kernel does; where traces lie, and traces that are removed; mounts."""

import json
import pathlib
import subprocess

import pytest

from tracing import (DFTMERGE, DFTRUN, LIBRARY, answer_of, compile_program, dftmerge, dump,
                     environment, equal, run, run_checked, traces, tracing, true)


def settled(directory):
    """real/{data,secret,other}, each with a file; and links: to real, to data from elsewhere, in data to secret and other."""
    for name in ("data", "secret", "other"):
        (directory / "real" / name / "sub").mkdir(parents=True)
        (directory / "real" / name / "in").write_text("x")
        (directory / "real" / name / "sub" / "in").write_text("x")
    (directory / "link").symlink_to(directory / "real")
    (directory / "far").mkdir()
    for name in ("data", "secret"):
        (directory / "far" / name).symlink_to(directory / "real" / name)
        (directory / "far" / f"{name}.in").symlink_to(directory / "real" / name / "in")
    (directory / "real" / "data" / "aside").symlink_to("../other")
    (directory / "real" / "data" / "hidden").symlink_to("../secret")
    return compile_program("directories.c", directory / "program")


def reads(directory):
    """Events of reading, and those that ask by path."""
    if not traces(directory):
        return 0, 0
    names = [event["name"] for event in dump(directory)]
    return names.count("read"), sum(name in ("fstatat", "newfstatat", "stat", "fstatat64") for name in names)


def recorded(directory, data_dir, way, where, name, cwd="."):
    out = directory / "out"
    run_checked(["rm", "-rf", out])
    done = run([directory / "program", way, where, name], cwd=directory / cwd, env=tracing(out / "t", DATA_DIR=data_dir))
    equal((done.code, done.out, done.err), (0, b"", b""), f"{data_dir}, {way} {where} {name}")
    return reads(out)


# Where "in" is, by each way to name it.
WAYS = [("path", "real/{}", "in"), ("cwd", "real/{}", "in"), ("dirfd", "real/{}", "in"), ("proc", "real/{}", "in"),
        ("path", "link/{}", "in"), ("cwd", "link/{}", "in"), ("dirfd", "link/{}", "in"), ("path", "./real/..//link/{}", "in"),
        ("cwd", "real/other", "../{}/in"), ("cwd", "far/data", "../{}/in"), ("dirfd", "real/other", "../{}/in"),
        ("path", "far", "{}/in"), ("cwd", "far", "{}/in"), ("path", "far", "{}.in"), ("dirfd", "far", "{}.in"),
        ("path", "far/{}/sub", "in"), ("path", "far/{}/sub/..", "in")]
# How a setting may name it.
SETTINGS = ["{here}/real/{name}", "real/{name}", "./real/{name}", "far/../real/{name}/", "{here}//real/./{name}", "link/{name}", "{here}/link/{name}",
            "far/{name}"]


def test_what_is_named_is_recorded(directory):
    settled(directory)
    for setting in SETTINGS:
        named = setting.format(here=directory, name="data")
        for way, where, name in WAYS if setting == SETTINGS[0] or "far" in setting else WAYS[:7]:
            equal(recorded(directory, named, way, where.format("data"), name.format("data")), (1, 1), f"{named}: {way} {where} {name}")
        for way, where, name in (("path", "real/other", "in"), ("cwd", "real/other", "in"), ("path", "far", "secret/in")):
            equal(recorded(directory, named, way, where, name), (0, 0), f"{named}: {way} {where} {name}")


def test_what_is_excluded_is_not(directory):
    settled(directory)
    for setting in SETTINGS:
        named = "!" + setting.format(here=directory, name="secret")
        for way, where, name in WAYS if setting == SETTINGS[0] or "far" in setting else WAYS[:7]:
            equal(recorded(directory, named, way, where.format("secret"), name.format("secret")), (0, 0), f"{named}: {way} {where} {name}")
        equal(recorded(directory, named, "cwd", "real/other", "in"), (1, 1), f"{named}: another directory")
    for extra in ("all:!real/secret", "real/data:!real/secret", f"{directory}/real:!link/secret"):
        equal(recorded(directory, extra, "path", "real/data/hidden", "in"), (0, 0), f"{extra}: a link from what is traced")
    equal(recorded(directory, "real/data:!real/secret", "path", "real/data/aside", "in"), (1, 1), "a link to what nothing is said of")


def test_a_directory_made_or_renamed_later(directory):
    settled(directory)
    shell = "mkdir later; echo x > later/in; ln -s later l2; cat l2/in; cd l2; cat in; cd ..; mv later moved; cat moved/in"
    for setting, where in (("later", {"later", "l2"}), ("!later", {"moved"})):
        for mode in (0, 1):
            out = directory / f"out{mode}"
            done = run(["sh", "-c", shell], cwd=directory / "far",
                       env=tracing(out / "t", DATA_DIR=setting, ENABLE_AGGREGATION=mode))
            run_checked(["rm", "-rf", directory / "far" / "moved", directory / "far" / "l2"])
            equal((done.code, done.out), (0, b"x\nx\nx\n"), "the shell")
            answer = answer_of("summary", "--by", "file", "-q", out)
            equal({g["file"].split("/")[-2] for g in answer["groups"] if g["file"].endswith("/in")}, where,
                  f"{setting}, aggregates {mode}")
            run_checked(["rm", "-rf", out])


def test_the_working_directory_is_gone(directory):
    settled(directory)
    (directory / "real" / "gone").mkdir()
    equal(recorded(directory, "all", "unlinked", f"{directory}/real/gone", "../data/in"), (1, 1), "removed")
    (directory / "real" / "gone").mkdir()
    equal(recorded(directory, "!real/secret", "unlinked", f"{directory}/real/gone", "../secret/in"), (0, 0), "removed, excluded")
    (directory / "real" / "here").mkdir()
    (directory / "real" / "here" / "in").write_text("x")
    equal(recorded(directory, "real/here", "renamed", f"{directory}/real/here", "in"), (1, 1), "renamed")


def test_mounted_over_and_bound(directory):
    settled(directory)
    if run(["unshare", "-Urm", "true"]).code:
        pytest.skip("no namespaces of users and mounts here")
    shell = ('mount --bind real/secret far/data/sub; t="env LD_PRELOAD=$L DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$O/t"; '
             '$t $P path far/data/sub in; echo x > kept; cd real/secret; mount -t tmpfs none "$PWD"; $t $P cwd . in')
    for setting, count in (("", 2), ("!", 0)):
        run_checked(["rm", "-rf", directory / "out"])
        done = run(["unshare", "-Urm", "sh", "-c", shell], cwd=directory,
                   env=environment(DFTRACER_DATA_DIR=f"{setting}{directory}/real/secret", P=directory / "program", L=LIBRARY,
                                   O=directory / "out"))
        equal((done.code, done.err), (0, b""), "mounts")
        equal(reads(directory / "out"), (count, count), f"{setting}secret")


def test_children_know_what_the_first_meant(directory):
    settled(directory)
    shell = 'cat real/data/in; cd far; cat ../real/data/in; cat ../real/secret/in; cd /; sh -c "cat {0}/real/data/in {0}/link/secret/in"'.format(directory)
    for setting, data, secret in (("real/data", 3, 0), ("!real/secret", 3, 0), ("link/secret", 0, 2)):
        for command in (["sh", "-c", shell], [DFTRUN, "-q", "--no-summary", "-o", directory / "out", "--", "sh", "-c", shell],
                        [DFTRUN, "-q", "--no-summary", "-o", directory / "out", "--data-dir", setting, "--", "sh", "-c", shell]):
            run_checked(["rm", "-rf", directory / "out"])
            env = environment(DFTRACER_DATA_DIR=setting) if command[0] == DFTRUN else tracing(directory / "out" / "t", DATA_DIR=setting)
            equal(run(command, cwd=directory, env=env).code, 0, "the shell")
            opened = [e["file"].split("/")[-2] for e in dump(directory / "out") if e["name"].startswith("open") and e["file"].endswith("/in")]
            equal((opened.count("data"), opened.count("secret")), (data, secret), f"{setting} of {command[0]}")


COMMANDS = """
import ctypes
libc = ctypes.CDLL(None)
environ = ctypes.c_void_p.in_dll(libc, "environ")
libc.popen.restype = ctypes.c_void_p
before = environ.value
for i in range(3):
    libc.system(b"cat f >/dev/null")
    libc.pclose(ctypes.c_void_p(libc.popen(b"cat f >/dev/null", b"r")))
print(environ.value == before)
"""


def test_commands_leave_the_environment_alone(directory):
    (directory / "f").write_text("x")
    done = run(["/usr/bin/python3", "-c", COMMANDS], cwd=directory, env=environment(LD_PRELOAD=LIBRARY, DFTRACER_ENABLE=1))
    equal((done.code, done.out, done.err), (0, b"True\n", b""), "environ behind system and popen")
    equal(len({e["pid"] for e in dump(directory) if e["name"] == "read" and e["file"] == str(directory / "f")}), 6, "programs that read")


SPAWNS = """
import os, subprocess, sys
os.chdir("deep")
open("/etc/passwd").close()
subprocess.run(["cat", "../f"]); os.system("cat ../f"); os.posix_spawn("/bin/cat", ["cat", "../f"], os.environ); os.wait()
subprocess.run(["sh", "-c", "cd /; cat {0}/f; sh -c 'cat {0}/f; :'"])
subprocess.run(["/usr/bin/python3", "-c", "import os; os.chdir('/'); os.system('cat {0}/f; :')"])
if not os.fork():
    os.chdir("er"); open("../../f").close(); os._exit(0)
os.wait()
os.execv("/bin/cat", ["cat", "../f"])
"""


def test_traces_lie_where_the_first_does(directory):
    """Those of programs that its programs run, too."""
    (directory / "deep" / "er").mkdir(parents=True)
    (directory / "f").write_text("x")
    (directory / "settings.yaml").write_text("enable: true\nprofiler:\n  log_file: rel/t\n  data_dirs: [f]\n")
    for where, settings in (("rel", {"DFTRACER_LOG_FILE": "rel/t", "DFTRACER_ENABLE": 1}), ("rel", {"DFTRACER_LOG_FILE": "./rel/t", "DFTRACER_ENABLE": 1}),
                            (".", {"DFTRACER_ENABLE": 1}), ("rel", {"DFTRACER_CONFIGURATION": "settings.yaml"}),
                            ("rel", {"DFTRACER_CONFIGURATION": f"{directory}/settings.yaml"})):
        done = run(["/usr/bin/python3", "-c", SPAWNS.format(directory)], cwd=directory, env=environment(LD_PRELOAD=LIBRARY, **settings))
        equal((done.code, done.out, done.err), (0, b"x" * 7, b""), f"{settings}")
        found = traces(directory)
        equal({path.parent for path in found}, {directory / where}, f"{settings}")
        equal(len(list((directory / where).glob("*-cat-*.dft"))), 7, f"{settings}: each cat")
        equal({e["ret"] for e in dump(*found) if e["name"] == "read" and e["file"] == str(directory / "f")}, {0, 1}, f"{settings}: what was read")
        for path in found:
            path.unlink()


def test_cleaned_environments_stay_clean(directory):
    done = run(["sh", "-c", "env -i /usr/bin/env; env | grep -c FOLLOWED"], cwd=directory, env=environment(LD_PRELOAD=LIBRARY, DFTRACER_ENABLE=1))
    equal(done.out, b"0\n", "variables")


def test_removed_traces_come_back_or_are_told(directory):
    (directory / "a").write_text("x\n")
    for mode in ([], ["--aggregate"]):
        out = directory / "traces"
        done = run([DFTRUN, *mode, "-o", out, "--", "sh", "-c", "cat a; rm -rf traces; cat a; exec cat a"], cwd=directory)
        equal((done.code, done.out), (0, b"x\nx\nx\n"), f"{mode}")
        true(b"traces were removed while the job ran" in done.err and b"not all of the job is here" in done.err, f"{mode}: {done.err!r}")
        true(b"nothing lost" not in done.err, f"{mode}: {done.err!r}")
        equal(len(traces(out)), 4, f"{mode}: sh, rm, cat, and the cat that sh became: {traces(out)}")
        true(b"perhaps traces of programs that had ended before 2 traces were removed" in done.err, f"{mode}: {done.err!r}")
        checked = dftmerge("check", out)
        true(checked.code == 0 and b"every block is whole, but traces of programs that had ended before may be gone" in checked.out,
             f"{mode}: {checked}")
        true(b"that had ended before may be missing" in checked.err, f"{mode}: {checked}")
        run_checked(["rm", "-rf", out])


WRITES = """
import os
out = os.open("data", os.O_RDWR | os.O_CREAT)
for i in range(30000):
    os.pwrite(out, b"x", 0)
print("written", flush=True)
input()
"""


def test_a_trace_that_is_gone_is_missed_at_once(directory):
    for mode in (0, 1):
        out = directory / f"out{mode}"
        program = subprocess.Popen(["/usr/bin/python3", "-S", "-c", WRITES], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=tracing(out / "t", ENABLE_AGGREGATION=mode, TRACE_INTERVAL_MS=10))
        try:
            equal(program.stdout.readline(), b"written\n", f"{mode}: the program")

            def told(*how):
                checked = json.loads(dftmerge("check", *how, "--json", out).out)
                page = json.loads(dftmerge("summary", "--json", out).out)
                return checked["good"], page["events"], checked["events_missing"], page["events_missing"]

            whole = told()
            true(whole[0] and whole[1] > 30000 and not whole[2], f"{mode}: {whole}")
            run_checked(["sh", "-c", f"rm {out}/*.dft"])
            good, here, missing, said = removed = told()
            equal((good, here + missing, said), (not missing, whole[1], missing), f"{mode}: removed")
            true(missing or mode, "the trace had events")
            if missing:
                equal(json.loads(dftmerge("findings", "--json", out).out)["findings"][0]["title"], "not all of the job is here", "first")
        finally:
            program.kill()
            program.communicate()
        equal(told()[1:], removed[1:], f"{mode}: killed")
        equal(told("--recover")[1:3], removed[1:3], f"{mode}: recovered")
        if not mode:  # of rows alone nobody knows how many events they are
            equal(told()[1:], removed[1:], "in a trace of its own")


LATER = """
import ctypes, os
open("link/f").read()
libc = ctypes.CDLL(None)
libc.mount(b"tmpfs", b"point x", b"tmpfs", 0, None)
os.mkdir("point x/d"); open("point x/d/g", "w").write("x" * 100)
os.symlink("../point x/d", "to/there")
open("to/there/g").read()
"""


def test_mounts_met_later_and_by_links(directory):
    if run(["unshare", "-Urm", "true"]).code:
        pytest.skip("no namespaces of users and mounts here")
    memory = pathlib.Path("/dev/shm") / f"dft {directory.name}"
    for path in (directory / "point x", directory / "to", memory):
        path.mkdir()
    (memory / "f").write_text("x")
    (directory / "link").symlink_to(memory)
    try:
        for mode in (0, 1):
            run_checked(["unshare", "-Urm", "env", f"LD_PRELOAD={LIBRARY}", "/usr/bin/python3", "-c", LATER], cwd=directory,
                        env=environment(DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=directory / f"out{mode}" / "t", DFTRACER_ENABLE_AGGREGATION=mode))
            (directory / "to" / "there").unlink()
            answer = answer_of("summary", "--by", "mount", "-q", directory / f"out{mode}")
            true({"/dev/shm", f"{directory}/point x"} <= {group["mount"] for group in answer["groups"]}, f"{answer}")
            true(not any(str(directory / "to") in group["mount"] for group in answer["groups"]), f"{answer}")
            both = run_checked([DFTMERGE, "summary", "--by", "file", "--mount", f"{directory}/point x", "--json", directory / f"out{mode}"]).out
            true(b"point x/d/g" in both and b"to/there/g" in both, f"{both!r}")
            if not mode:
                run_checked([DFTMERGE, "anonymize", "--new-key", directory / "key"])
            run_checked([DFTMERGE, "anonymize", "--key", directory / "key", "-o", directory / f"names{mode}", directory / f"out{mode}"])
            hidden = answer_of("summary", "--by", "mount", "-q", directory / f"names{mode}")
            equal(sorted(g["count"] for g in hidden["groups"]), sorted(g["count"] for g in answer["groups"]), "anonymized")
    finally:
        run_checked(["rm", "-rf", memory])
