# SPDX-License-Identifier: MIT
"""Containers: a command runs here, with the paths that volumes stand for."""

import os
import pathlib
import re
import sys

from base import PROGRAM, fail, parse, run


def inside(volumes, variables, command):
    """Runs a command of a container here: paths that volumes make are those on this side."""
    places = {}
    for volume in volumes:
        host, _, rest = volume.partition(":")
        if not os.path.exists(host):
            fail(f"{host} of the volume {volume} is not there")
        places[os.path.normpath(rest.split(":")[0] or host)] = os.path.abspath(host)

    def here(text):
        for place in sorted(places, key=len, reverse=True):
            text = re.sub(rf"(?<![\w./]){re.escape(place)}(?![\w-])", lambda _: places[place], text)
        return text

    for variable in variables:
        name, equals, value = variable.partition("=")
        if equals:
            os.environ[name] = here(value)
        elif name not in os.environ:
            fail(f"the variable {name} is handed on, and not set")
    library = os.environ.get("LD_PRELOAD")
    if library and not os.path.exists(library):
        fail(f"LD_PRELOAD={library} is not there inside")
    return run([here(word) for word in command])


def podman(words):
    if not words or words[0] not in ("run", "build", "exec", "cp"):
        fail(f"{PROGRAM} {words[:1]} is not known. If there is such a command, add it to tests/docs/standins")
    options, rest = parse(words[1:], "-v --volume -e --env -u --user --name -w --workdir --tmpfs --mount --pid --ipc --network --entrypoint --userns "
                          "--security-opt --cap-add --memory --shm-size -t --tag -f --file --gpus --device --group-add --hostname --uts",
                          "--rm -i -it --interactive --tty --read-only --init -d --detach --privileged --env-host")
    if words[0] != "run":
        return 0
    if not rest:
        fail("an image is missing")
    volumes = options.get("-v", []) + options.get("--volume", [])
    for mount in options.get("--mount", []):
        parts = dict(part.partition("=")[::2] for part in mount.split(","))
        if parts.get("type") == "bind":
            volumes.append(f"{parts.get('source') or parts.get('src')}:{parts.get('target') or parts.get('dst') or parts.get('destination')}")
    return inside(volumes, options.get("-e", []) + options.get("--env", []), rest[1:])


def apptainer(words):
    if not words or words[0] not in ("exec", "run"):
        fail(f"{PROGRAM} {words[:1]} is not known. If there is such a command, add it to tests/docs/standins")
    options, rest = parse(words[1:], "-B --bind --env --env-file --pwd -H --home -W --workdir --overlay --mount --network",
                          "-C --containall -c --contain -e --cleanenv --nv --rocm --no-home --writable-tmpfs -p --pid -u --userns -f --fakeroot --no-mount")
    if not rest:
        fail("an image is missing")
    binds = [bind if ":" in bind else f"{bind}:{bind}" for value in options.get("-B", []) + options.get("--bind", []) for bind in value.split(",")]
    return inside(binds, [pair for value in options.get("--env", []) for pair in re.split(r",(?=\w+=)", value)], rest[1:])


def kubectl(words):
    known = ("apply", "create", "delete", "get", "logs", "exec", "cp", "wait", "run", "describe", "config")
    if not words or words[0] not in known:
        fail(f"no command {words[:1]} of {known}")
    for at, word in enumerate(words):
        if word in ("-f", "--filename") and words[0] in ("apply", "create"):
            text = sys.stdin.read() if words[at + 1] == "-" else pathlib.Path(words[at + 1]).read_text()
            if not re.search(r"^apiVersion: \S", text, re.MULTILINE) or not re.search(r"^kind: [A-Z]\w+$", text, re.MULTILINE) or "\t" in text:
                fail(f"{words[at + 1]} is no object of Kubernetes")
    return 0


PROGRAMS = {"podman": podman, "docker": podman, "apptainer": apptainer, "singularity": apptainer, "kubectl": kubectl}
