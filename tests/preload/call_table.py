# SPDX-License-Identifier: MIT
"""The rows of calls.def, and the functions that not_wrapped.txt gives a reason for."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
CALLS = HERE.parents[1] / "include" / "dftrace" / "calls.def"
NOT_WRAPPED = HERE / "not_wrapped.txt"

# Where the name stands among a row's arguments: DFT_CALL(category, OP, type, name, ...
NAME_AT = {"CALL": 3, "ENTRY": 3, "MODE": 3, "CUSTOM": 3, "VERSIONED": 3, "FORMAT": 2, "FORMAT_ENTRY": 2, "GATE": 1}
ALIASES = {"ALIAS", "CUSTOM_ALIAS"}
NO_FUNCTIONS = {"RECLASSIFIED", "EVENT", "OLDER", "CUSTOM_OLDER"}  # of their own


def split(text, at=","):
    """At the commas that lie in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == at and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [" ".join(part.split()) for part in parts]


def macros():
    """(kind, fields) of each row of calls.def that is a function of its own."""
    text = re.sub(r"/\*.*?\*/", "", CALLS.read_text(), flags=re.S)
    return [(kind, split(arguments))
            for kind, arguments in re.findall(r"^DFT_(\w+)\(([^;]*?)\)\s*(?=^DFT_|^#|\Z)", text, flags=re.S | re.M) if kind not in NO_FUNCTIONS]


def table():
    """(names of rows, {alias: name}) of calls.def."""
    rows, aliases = [], {}
    for kind, fields in macros():
        if kind in ALIASES:
            aliases[fields[1]] = fields[0]
        else:
            rows.append(fields[NAME_AT[kind]])
    return rows, aliases


def prototypes():
    """(name, type, prototype) of each row, but for those of other libraries."""
    rows = []
    for kind, fields in macros():
        if kind not in ALIASES and kind != "VERSIONED":
            at = NAME_AT[kind]
            rows.append((fields[at], "int" if kind.startswith("FORMAT") else fields[at - 1], fields[at + 1]))
    return rows


def versioned():
    """(name, type, prototype, version) of each row of another library."""
    return [(fields[3], fields[2], fields[5], fields[4].strip('"')) for kind, fields in macros() if kind == "VERSIONED"]


def older_rows():
    """Our names of old versions of functions."""
    return re.findall(r"^DFT_(?:CUSTOM_)?OLDER\(\w+, \w+, [\w *]+, (\w+),", CALLS.read_text(), flags=re.M)


def reasons():
    """[(symbol, reason)] of not_wrapped.txt; # begins a remark."""
    lines = [line for line in NOT_WRAPPED.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in (line + " ").split(" ", 1)) for line in lines]
