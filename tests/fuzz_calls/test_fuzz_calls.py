# SPDX-License-Identifier: MIT
"""Random calls on files, plain and traced: the same results, errno and files; and a trace that says exactly what happened."""

import pytest

import fuzz_run
from fuzz_run import Size


@pytest.mark.parametrize("seed, size", [*((seed, Size(700, 3, 3)) for seed in range(1, 9)), (100, Size(4000, 2, 4))])
def test_seed(directory, seed, size):
    found = fuzz_run.examine(directory, fuzz_run.table(), seed, size, []).findings
    again = f"tests/fuzz_calls/fuzz.py --seeds {seed} --ops {size.ops} --processes {size.processes} --threads {size.threads}"
    assert not found, "\n".join([f"{len(found)} findings; make them small: {again}", *(finding.text for finding in found[:5])])
