# SPDX-License-Identifier: MIT
"""Values of arguments as DFTracer passes them: with a type, and a word for its analysis that means nothing here."""

from __future__ import annotations

from enum import Enum
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

Value = Union[int, float, str]


class TagType(Enum):
    """What a value is to DFTracer's analysis."""

    KEY = 0
    VALUE = 1
    IGNORE = 2

    def __int__(self) -> int:
        return int(self.value)


class TagDType(Enum):
    """The type that a value is turned into."""

    INT = 0
    FLOAT = 1
    STRING = 2

    def __int__(self) -> int:
        return int(self.value)


_TYPES: Dict[TagDType, Callable[[Any], Value]] = {TagDType.INT: int, TagDType.FLOAT: float, TagDType.STRING: str}


class TagValue:
    """A value with its types: TagValue(3, TagDType.INT).value() is (0, 3). Raises what int() and float() raise."""

    def __init__(self, value: Any, dtype: TagDType = TagDType.STRING, tag_type: TagType = TagType.KEY) -> None:
        self._dtype = dtype
        self._value = _TYPES[dtype](value)
        self._tag_type = tag_type

    def value(self) -> Tuple[int, Value]:
        """The word for the analysis as a number, and the value."""
        return int(self._tag_type), self._value


def plain(value: Any) -> Any:
    """The value of a TagValue, of its value(), or the object itself."""
    if isinstance(value, TagValue):
        return value._value
    if isinstance(value, tuple) and len(value) == 2 and value[0] in (0, 1, 2):
        return value[1]
    return value


def _number(value: Any, kind: Callable[[Any], Value]) -> Any:
    try:
        return kind(value)
    except Exception:  # of whatever object that the program has there: its text is recorded
        return value


def known(epoch: Any, step: Any, image_idx: Any, image_size: Any, args: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The arguments that are not None, under DFTracer's names and with its types."""
    found: Dict[str, Any] = {}
    if epoch is not None:
        found["epoch"] = _number(epoch, int)
    if step is not None:
        found["step"] = _number(step, int)
    if image_idx is not None:
        found["image_idx"] = _number(image_idx, int)
    if image_size is not None:
        found["image_size"] = _number(image_size, float)
    if args:
        found.update((str(key), plain(value)) for key, value in args.items())
    return found
