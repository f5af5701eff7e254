# SPDX-License-Identifier: MIT
"""Reads quantities as people see them, to hold them against the numbers that they are of."""

UNITS = {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "%": 1}


def close(text, value, what):
    """A quantity with its unit is VALUE, as exact as it is written."""
    number, _, unit = text.strip().partition(" ")
    half = 0.51 * 10**-len(number.partition(".")[2]) * UNITS[unit]
    assert abs(float(number.replace(",", "")) * UNITS[unit] - value) <= half, f"{what}: {text!r} of {value}"
