#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stand-in for docker, podman and apptainer: takes the flags that they take, and applies them with unshare, bind
mounts and chroot.

    container.py run [FLAG...] IMAGE COMMAND [ARGUMENT...]

IMAGE is a folder with a file system. A flag that is not known here is refused, as the real ones do. The command is
process 1 of a PID namespace of its own, on a host called box, and has no variable of ours but those of --env."""

import os
import pathlib
import shlex
import sys
import tempfile

USAGE = 125


def refuse(text):
    print(f"stand-in: {text}", file=sys.stderr)
    sys.exit(USAGE)


def parse(words):
    """Flags up to the image, as name and value."""
    flags, words = [], list(words)
    while words and words[0].startswith("-"):
        name, equals, value = words.pop(0).partition("=")
        if name in ("--rm", "--read-only", "--no-proc", "--no-shm"):
            flags.append((name, ""))
        elif name in ("--volume", "--bind", "--env", "--user", "--userns"):
            if not equals and not words:
                refuse(f"{name}: its value is missing")
            flags.append((name, value if equals else words.pop(0)))
        else:
            refuse(f"unknown flag: {name}")
    if len(words) < 2:
        refuse("usage: run [FLAG...] IMAGE COMMAND")
    return flags, words[0], words[1:]


def bind(root, value):
    """Lines of shell for HOST:INSIDE[:ro]."""
    parts = value.split(":")
    if len(parts) not in (2, 3) or parts[2:] not in ([], ["ro"]):
        refuse(f"invalid mount: {value}")
    outside, inside = parts[0], root + parts[1]
    if not os.path.exists(outside):
        refuse(f"no such file or directory: {outside}")
    make = f"mkdir -p {shlex.quote(inside)}"
    if os.path.isfile(outside):
        make = f"mkdir -p {shlex.quote(os.path.dirname(inside))} && : >>{shlex.quote(inside)}"
    yield make
    yield f"mount --bind {shlex.quote(outside)} {shlex.quote(inside)}"
    if parts[2:]:
        yield f"mount -o remount,bind,ro {shlex.quote(inside)}"


def script_of(flags, image, command, root):
    names = {name for name, _ in flags}
    yield "set -e"
    yield "hostname box"
    yield f"mount --bind {shlex.quote(image)} {root}"
    for name in ("usr", "etc"):
        yield f"mount --bind /{name} {root}/{name}"
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}"):
            yield f"mount --bind /{name} {root}/{name}"
    yield f"mount -t tmpfs tmpfs {root}/dev && : >{root}/dev/null && mount --bind /dev/null {root}/dev/null"
    if "--no-proc" not in names:
        yield f"mount -t proc proc {root}/proc"
    if "--no-shm" not in names:
        yield f"mkdir {root}/dev/shm && mount -t tmpfs -o size=64m shm {root}/dev/shm"
    for name, value in flags:
        if name in ("--volume", "--bind"):
            yield from bind(root, value)
    if "--read-only" in names:
        yield f"mount -o remount,bind,ro {root}"
    user = [f"--userspec={value}" for name, value in flags if name == "--user"]
    settings = [value for name, value in flags if name == "--env"]
    words = ["chroot", *user, root, "env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C", *settings, *command]
    yield "exec " + " ".join(shlex.quote(word) for word in words)


def main():
    if sys.argv[1:2] not in (["run"], ["exec"]):
        refuse("usage: run [FLAG...] IMAGE COMMAND")
    flags, image, command = parse(sys.argv[2:])
    root = tempfile.mkdtemp(prefix="root-", dir=pathlib.Path(image).parent)
    lines = "\n".join(script_of(flags, image, command, root))
    os.execvp("unshare", ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", lines])


if __name__ == "__main__":
    main()
