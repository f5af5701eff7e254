# SPDX-License-Identifier: MIT
"""What all tests in Python share: the directory of a case."""

import contextlib
import os
import pathlib
import shutil
import tempfile

import pytest


@pytest.fixture(name="directory")
def directory_of_a_case():
    """An empty one. It goes with all that lies in it, and with live files of its traces elsewhere, but under DFT_KEEP=1."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dft-test-")).resolve()
    yield directory
    if os.environ.get("DFT_KEEP"):
        print(f"kept {directory}")
        return
    for trace in directory.rglob("*.dft"):
        with contextlib.suppress(OSError):  # there is none, or its name would be too long
            pathlib.Path("/dev/shm", f"{trace.name}.live").unlink()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def where(directory):
    """Its other name, where `directory` is a word of the subject."""
    return directory
