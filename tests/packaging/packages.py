# SPDX-License-Identifier: MIT
"""Packages of the build, made by cpack, and what tests ask of them."""

import re
import subprocess

import pytest

from tracing import BUILD, equal, need, run_checked


def make(generator, out):
    """{name of the package: its file}"""
    need("cpack")
    done = subprocess.run(["cpack", "-G", generator, "-B", str(out)], cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    equal(done.returncode, 0, done.stdout.decode(errors="replace"))
    suffix = {"DEB": ".deb", "RPM": ".rpm", "TGZ": ".tar.gz"}[generator]
    return {re.split(r"[_-]\d", path.name)[0]: path for path in sorted(out.glob("*" + suffix))}


def debian(out):
    for program in ("dpkg-deb", "dpkg-shlibdeps"):
        need(program)
    packages = make("DEB", out)
    if "python3-dftrace" not in packages:
        pytest.skip("built without the Python package")
    return packages


def files_of(package):
    """Files and links in a Debian package, with their modes, as tar lists them."""
    listed = run_checked(["dpkg-deb", "-c", package]).out.decode().splitlines()
    rows = (line.split(None, 5) for line in listed)
    return {row[5].split(" -> ")[0].lstrip("."): (row[0], row[1]) for row in rows if not row[0].startswith("d")}


def field(package, name):
    return run_checked(["dpkg-deb", "-f", package, name]).out.decode().strip()
