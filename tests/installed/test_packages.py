# SPDX-License-Identifier: MIT
"""Packages in a system of their own: lintian, apt in a fresh Debian, an upgrade, a hand-made installation beside it,
RPM.

Debian's packages are installed in a folder that debootstrap fills (some minutes), from where this machine's apt takes
its own.
"""

import atexit
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from packages import BUILD, debian, equal, field, make, need, run_checked
from tracing import environment, run, true

out = pathlib.Path(tempfile.mkdtemp(prefix="dft-installed-"))
atexit.register(shutil.rmtree, out, ignore_errors=True)
top = out / "system"
made = {}
OF_APT = ("var/log", "var/cache", "var/lib/dpkg", "var/lib/apt", "proc", "sys", "dev", "tmp", "run")


def packages():
    if not made:
        made.update(debian(out / "packages"))
    return made


def needed():
    """The packages that ours depend on."""
    names = {re.split(r"[ :]", alternative.strip())[0] for package in packages().values()
             for alternative in field(package, "Depends").split(",") if alternative.strip()}
    return sorted(names - set(packages()))


def system():
    """Makes a small Debian with what our packages depend on, and our packages in /packages."""
    if os.geteuid():
        pytest.skip("that needs root")
    need("debootstrap", "unshare", "chroot", "apt-get")
    if (top / "packages").is_dir():  # without what a test that failed has left
        run(["chroot", top, "dpkg", "--purge", "--force-all", "dftrace", *packages()])
        return
    release = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)
    mirror = run(["apt-get", "indextargets", "--format", "$(REPO_URI)"]).out.decode().split()
    if not release or not mirror:
        pytest.skip("apt knows no release of Debian or no mirror")
    done = run(["debootstrap", "--variant=minbase", "--include=" + ",".join([*needed(), "man-db"]), release[1], top, mirror[0]],
               env={**environment(), **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}})
    if done.code:
        pytest.skip(f"debootstrap: {(done.out + done.err).decode(errors='replace').strip().splitlines()[-1]}")
    (top / "packages.new").mkdir()
    for package in packages().values():
        shutil.copy(package, top / "packages.new")
    (top / "packages.new").rename(top / "packages")


def inside(*command, expect=0):
    """Runs a command in the system, with /proc; what it prints."""
    script = f'mount -t proc proc "{top}/proc" && exec chroot "{top}" "$@"'
    env = environment(DEBIAN_FRONTEND="noninteractive")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *command], env=env, capture_output=True, check=False)
    text = (done.stdout + done.stderr).decode(errors="replace")
    equal((done.returncode, "" if done.returncode == expect else text), (expect, ""), " ".join(command))
    return text


def apt(*command):
    """apt without any source: what is needed is there."""
    return inside("apt-get", "-y", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=/dev/null", *command)


def ours():
    return [f"/packages/{path.name}" for path in packages().values()]


def tree(folder):
    """All files below a folder but what apt itself keeps, with the contents of files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(top))
        if not name.startswith(OF_APT) and name != "etc/ld.so.cache" and "__pycache__" not in name:
            is_file = path.is_file() and not path.is_symlink()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else ""
    return found


def same(before, after):
    changed = {name for name in set(before) | set(after) if before.get(name) != after.get(name)}
    equal(sorted(changed), [], "files that are others than before")


def purge():
    apt("purge", *packages())


def test_lintian_accepts(directory):
    need("lintian")
    done = run(["lintian", "--allow-root", "--fail-on", "error,warning", *packages().values()])
    equal((done.code, done.out.decode()), (0, ""), "lintian")


def test_apt_installs_and_removes(directory):
    system()
    before = tree(top)
    said = apt("install", *ours())
    true("hide" not in said, said)
    said = inside("sh", "-c", "cd /tmp && dftrun -o traces -- ls / && dftmerge summary --by name traces")
    true("Calls by time" in said and re.search(r"^opendir +1 ", said, re.M), said)
    true("not found" not in inside("ldd", "/usr/bin/dftmerge-mpi", "/usr/bin/dftmerge", "/usr/lib/libdftsqlite.so"), "libraries")
    inside("sh", "-c", "man -w dftrun && man -w dftmerge-summary && man dftmerge-mpi | grep -q 'dftmerge-mpi'")
    inside("python3", "-c", "import dftrace, dftracer.logger; dftrace.region('here')")
    inside("sh", "-c", "cd /tmp && python3 -m dftrace run -o python -- /usr/lib/python3/dist-packages/dftrace/roles.py && ls python/*.dft")
    inside("bash", "-c", ". /usr/share/bash-completion/completions/dftmerge-mpi && complete -p dftmerge-mpi")
    inside("sh", "-c", "LD_PRELOAD=libdftrace.so DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=/tmp/by-name cat /etc/passwd && ls /tmp/by-name*.dft")
    purge()
    same(before, tree(top))
    true(not list((top / "usr/lib/python3").rglob("*dftrace*")), "no module that Python has compiled")


def test_apt_upgrades_the_single_package(directory):
    """The package dftrace had the library, the tools and the headers; python3-dftrace needed it."""
    system()
    before = tree(top)
    for name, depends, files in (("dftrace", "libc6", ("bin/dftrun", "lib/libdftrace.so", "include/dftrace/dftrace.h", "share/doc/dftrace/LICENSE")),
                                 ("python3-dftrace", "dftrace (= 0.1.0)", ("lib/python3/dist-packages/dftrace/__init__.py",))):
        for file in files:
            path = directory / name / "usr" / file
            path.parent.mkdir(parents=True)
            path.write_text("old\n")
        (directory / name / "DEBIAN").mkdir()
        (directory / name / "DEBIAN" / "control").write_text(
            f"Package: {name}\nVersion: 0.1.0\nArchitecture: all\nMaintainer: x <x@x.invalid>\nDepends: {depends}\nDescription: old\n")
        run_checked(["dpkg-deb", "--root-owner-group", "-b", directory / name, top / "tmp" / f"{name}.old"])
    inside("dpkg", "-i", "/tmp/dftrace.old", "/tmp/python3-dftrace.old")
    apt("install", *ours())
    states = inside("sh", "-c", "dpkg-query -W -f '${Package} ${Status}\n' | grep dftrace")
    true(not re.search(r"^dftrace .* installed", states, re.M) and len(re.findall("ok installed", states)) == len(packages()), states)
    inside("sh", "-c", "dpkg --verify dftrace-tools libdftrace libdftrace-dev python3-dftrace && dftrun --version")
    purge()
    same(before, tree(top))


def test_a_hand_made_installation_beside_it(directory):
    """Files in /usr/local hide those of packages: the packages say so, and change nothing."""
    system()
    modules = inside("python3", "-c", "import sys; print('lib/python%d.%d/dist-packages' % sys.version_info[:2])").strip()
    run_checked(["cmake", "--install", BUILD, "--prefix", top / "usr/local"])
    by_pip = top / "usr/local" / modules / "dftrace/__init__.py"
    by_pip.parent.mkdir(parents=True)
    by_pip.write_text("")
    before = tree(top)
    said = apt("install", *ours())
    for package, file in (("libdftrace", "lib/libdftrace.so"), ("dftrace-tools", "bin/dftrun"), ("dftrace-tools", "share/man/man1/dftrun.1"),
                          ("libdftrace-dev", "include/dftrace/dftrace.h"), ("dftrace-mpi", "bin/dftmerge-mpi"),
                          ("python3-dftrace", f"{modules}/dftrace/__init__.py")):
        part = said.partition(f"\n{package}: these files were not installed by a package")[2].partition("Nothing was changed")[0]
        true(f"\n  /usr/local/{file}\n" in part and "--target uninstall" in part, f"{package}, {file}: {said}")
    equal({name: value for name, value in tree(top / "usr/local").items() if before.get(name) != value}, {}, "/usr/local is as it was")
    purge()
    same(before, tree(top))
    record = BUILD / "installed" / hashlib.sha256(str(top / "usr/local").encode()).hexdigest()
    (directory / "records").mkdir()
    shutil.move(record, directory / "records")
    run_checked(["cmake", "-D", f"DFT_RECORDS={directory / 'records'}", "-P",
                 pathlib.Path(__file__).resolve().parents[2] / "cmake" / "uninstall" / "remove.cmake"])
    shutil.rmtree(by_pip.parents[1])
    true(not [path for path in (top / "usr/local").rglob("*dft*")], "nothing is left in /usr/local")


def test_rpm_packages(directory):
    need("rpmbuild", "rpm", "rpm2archive")
    rpms = make("RPM", directory / "out")
    names = {"libdftrace", "libdftrace-devel", "dftrace-tools", "dftrace-doc"}
    true(names <= set(rpms), f"{sorted(rpms)}")
    for name, needs in (("libdftrace-devel", "libdftrace = "), ("dftrace-tools", "libdftrace = ")):
        requires = run_checked(["rpm", "-qp", "--requires", rpms[name]]).out.decode()
        true(needs in requires, f"{name}: {requires}")
    files = {name: run_checked(["rpm", "-qpl", package]).out.decode().split() for name, package in rpms.items()}
    true("/usr/bin/dftrun" in files["dftrace-tools"] and "/usr/share/zsh/site-functions/_dftrun" in files["dftrace-tools"], files)
    true("/usr/bin" not in files["dftrace-tools"] and "/usr/lib" not in files["libdftrace"], "folders of the system belong to it")
    listed = [file for name in rpms for file in files[name] if not file.endswith("/") and "." in file]
    equal(len(listed), len(set(listed)), "each file has one owner")
    for package in rpms.values():
        run_checked(["rpm2archive", package])
        run_checked(["tar", "-xf", f"{package}.tgz", "-C", directory])
    run_checked([directory / "usr/bin/dftrun", "-o", directory / "traces", "--", "ls", "/"])
