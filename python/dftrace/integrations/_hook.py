# SPDX-License-Identifier: MIT
"""pytest.hookimpl with a type, which some versions of pluggy lack."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import pytest

_F = TypeVar("_F", bound=Callable[..., Any])


def hook(**options: bool) -> Callable[[_F], _F]:
    """The decorator pytest.hookimpl(**options)."""
    mark: Callable[[_F], _F] = pytest.hookimpl(**options)
    return mark
