# SPDX-License-Identifier: MIT
"""Programs of pages that a test cannot have: launchers and job systems, containers, builds, what is for root.

`standins.py FOLDER/PROGRAM ARGUMENT...` refuses options that the real program does not have, or that nobody has added
here yet, and checks what the arguments name. A launcher runs the command for a few ranks, with the variables that the
real one sets. A container runs the command here, with the paths that the volumes stand for.
"""

import pathlib
import sys

import containers
import launchers
import machine

PROGRAMS = {**launchers.PROGRAMS, **containers.PROGRAMS, **machine.PROGRAMS}


def put_into(folder):
    """Makes a folder for PATH of all stand-ins. They look for the build in DFT_BUILD."""
    for name in PROGRAMS:
        script = pathlib.Path(folder) / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -BEsS {pathlib.Path(__file__).resolve()} "$0" "$@"\n')
        script.chmod(0o755)


if __name__ == "__main__":
    sys.exit(PROGRAMS[pathlib.Path(sys.argv[1]).name](sys.argv[2:]))
