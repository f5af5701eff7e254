# SPDX-License-Identifier: MIT
"""From download to answer, in six situations: each script has the commands that a newcomer types. See README.md beside
this file."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

import standins
import test_containers
import test_portable
import test_python as installed_python
import test_systems
from tracing import BUILD, LONG, SECONDS, dftmerge, environment, equal, need, run_checked, true

HERE = pathlib.Path(__file__).resolve().parent
COPIED = 3000  # calls of dd in job.sh


def desk(directory, *programs):
    """What a newcomer has: a folder with the downloads, and one with the program."""
    directory.chmod(0o755)
    downloads, work = directory / "downloads", directory / "work"
    downloads.mkdir()
    work.mkdir()
    work.chmod(0o777)
    shutil.copy(test_portable.tarball(), downloads)
    for program in programs:
        shutil.copy(HERE / program, work)
    return downloads, work


def follow(script, cwd, shell=("sh", "-eu"), place=".", **more):
    """Types the commands of a script into a shell; what they printed. The time is told, and decides nothing."""
    lines = [line for line in (HERE / script).read_text().splitlines() if line and not line.startswith("#")]
    began = time.monotonic()
    done = subprocess.run([*map(str, shell), "-c", "\n".join([f"cd {place}", *lines])], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False, **more)
    text = done.stdout.decode(errors="replace")
    print(f"{script}: {len(lines)} commands, {time.monotonic() - began:.1f} s to the answer", flush=True)
    equal(done.returncode, 0, f"{script}:\n{text}")
    return text


def copied(traces):
    """Calls and bytes of the slow copy, by the build's own dftmerge."""
    done = dftmerge("summary", "--json", "--by", "name", "--file", "*.copy", traces)
    return {g["name"]: (g["count"], g["bytes"]) for g in json.loads(done.out)["groups"] if g["name"] == "write"}


def answered(text, traces, ranks=1):
    equal(copied(traces), {"write": (ranks * COPIED, ranks * COPIED * 16)}, "what dd wrote, by the trace")
    # A finding is about measured time: on a busy machine, the copy may be no matter beside the rest. The table has it anyway.
    true("small writes" in text.lower() or "16-byte" in text or "16 B" in text or re.search(rf"\.copy +write +{ranks * COPIED:,}", text),
         f"the page does not name the slow copy:\n{text}")
    true(".copy" in text, f"the page does not name the file:\n{text}")


def test_no_root(directory):
    downloads, work = desk(directory, "job.sh")
    user = {"user": test_portable.NOBODY, "group": test_portable.NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    text = follow("no_root.sh", work, env=environment(DOWNLOADS=downloads, HOME=work), **user)
    answered(text, work / "traces")


def test_slurm(directory):
    downloads, work = desk(directory, "job.sh")
    stand_in(directory, "srun")
    text = follow("slurm.sh", work, env=environment(DOWNLOADS=downloads, PATH=f"{directory}/bin:{os.environ['PATH']}", DFT_BUILD=BUILD))
    answered(text, work / "traces", ranks=3)
    true("3 ranks" in text, f"the page is not about three ranks:\n{text}")


def stand_in(directory, name):
    (directory / "bin").mkdir(exist_ok=True)
    standins.put_into(directory / "bin")
    true((directory / "bin" / name).exists(), f"there is no stand-in for {name}")


def test_container(directory):
    image = test_containers.prepare(directory)
    downloads, work = desk(directory, "job.sh")
    image.rename(work / "image")
    text = follow("container.sh", work, env=environment(DOWNLOADS=downloads, PATH=f"{directory}/bin:{os.environ['PATH']}"))
    answered(text, work / "traces")


def test_python(directory):
    downloads, work = desk(directory, "train.py")
    interpreter = installed_python.python()
    installed_python.source(directory)
    (directory / "project").rename(downloads / "dftrace")
    (directory / "bin").mkdir()
    (directory / "bin" / "python3").symlink_to(interpreter)
    text = follow("python.sh", work, env=environment(DOWNLOADS=downloads, PATH=f"{directory}/bin:{os.environ['PATH']}"))
    true("read 60000 bytes" in text, text)
    done = dftmerge("summary", "--json", "--by", "name", "--file", "*/data/*", work / "traces")
    calls = {g["name"]: g for g in json.loads(done.out)["groups"]}
    equal((calls["read"]["count"], calls["read"]["bytes"]), (3 * 20 * 11, 60000), "reads of samples, by the trace")
    true("sample-" in text, f"the answer does not name the samples:\n{text}")


def in_chroot(directory, script, name, downloads):
    """Follows a script inside another system, in a folder of its own."""
    if not LONG:
        pytest.skip("makes a file system: tests/run.sh --full")
    root = test_systems.bootstrap(next(system for system in test_systems.SYSTEMS if system.name == name))
    place = root / f"newcomer-{script}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    shutil.copytree(downloads, place / "downloads")
    shutil.copy(HERE / "job.sh", place)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    shell = ["chroot", root, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive",
             f"DOWNLOADS=/{place.name}/downloads", "sh", "-eu"]
    text = follow(script, directory, shell, f"/{place.name}", env=environment())
    answered(text, place / "traces")


def test_old_glibc(directory):
    downloads, _ = desk(directory)
    in_chroot(directory, "old_glibc.sh", "xenial", downloads)


def test_plain_debian(directory):
    downloads, _ = desk(directory)
    if LONG:
        need("cpack", "dpkg-deb")
        run_checked(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", directory / "packages"], cwd=BUILD)
        for package in (directory / "packages").glob("*.deb"):
            shutil.copy(package, downloads)
    in_chroot(directory, "plain_debian.sh", "bookworm", downloads)
