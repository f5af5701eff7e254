# SPDX-License-Identifier: MIT
"""Settings of pytest for these tests: where the package lies, and tests that only the long form runs."""

from __future__ import annotations

import os
import sys
from typing import List

import pytest

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from traced import TREE  # noqa: E402

sys.path.insert(0, str(TREE))


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line("markers", "long: runs in tests/run.sh --full alone, or with DFT_LONG=1")


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    """Skips what is long, with a word."""
    if not os.environ.get("DFT_LONG"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="long: runs in tests/run.sh --full"))
