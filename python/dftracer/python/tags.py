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


#: Parameters and attributes whose values are recorded, and their types.
KNOWN: Dict[str, Callable[[Any], Value]] = {"epoch": int, "step": int, "image_idx": int, "image_size": float}


def typed(name: str, value: Any) -> Any:
    """The value of a known parameter in its type; what cannot be turned into that stays as it is."""
    kind = KNOWN[name]
    if type(value) is kind:
        return value
    try:
        return kind(value)
    except Exception:  # of whatever object that the program has there: its text is recorded
        return value


def known(epoch: Any, step: Any, image_idx: Any, image_size: Any, args: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The arguments that are not None, under DFTracer's names and with its types."""
    given = (("epoch", epoch), ("step", step), ("image_idx", image_idx), ("image_size", image_size))
    found: Dict[str, Any] = {name: typed(name, value) for name, value in given if value is not None}
    if args:
        found.update((str(key), plain(value)) for key, value in args.items())
    return found
