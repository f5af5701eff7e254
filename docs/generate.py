#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the parts of docs/ that are made from something else: the tables of variables.md, findings.md and sql.md, and
the members of json.md.

    docs/generate.py            writes them anew
    docs/generate.py --check    exit code 1, and the name of the page, where one is stale
"""

import json
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
# In the order of json.md. The name of a schema is the command's, but for the answers of `summary --by instance`, and of
# `ranks` to telemetry files.


# --- variables ----------------------------------------------------------------------------------------------------------


def strings(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def words_of_types():
    """The words that each type of option takes, as the parsers of the library have them."""
    source = (ROOT / "preload" / "settings" / "config.c").read_text()
    found = re.findall(r"static int parse_(\w+)\([^)]*\)\s*{[^}]*?WORDS\(([^)]*)\)", source)
    words = {name: ", ".join(f"`{word}`" for word in re.findall(r'"(\w+)"', text)) for name, text in found}
    return {**words, "BOOL": "`0`, `1`", "TEXT": "text", "UINT": "number", "MODE": "octal number"}


def options():
    """The rows of config.def: variable, type, default, help."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "include" / "dftrace" / "config.def").read_text(), flags=re.DOTALL)
    row = re.compile(r'DFT_OPTION\(\s*\w+,\s*(\w+),\s*(\w+),\s*("[^"]*"|\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')
    rows = [(f"DFTRACER_{name}", kind, default, strings(more)) for name, kind, default, more in row.findall(text)]
    assert len(rows) == text.count("DFT_OPTION("), "config.def has a row that cannot be read"
    return rows


def show_default(default):
    if default == '""':
        return ""
    return f"`{default.strip(chr(34)) if default.startswith(chr(34)) else default.rsplit('_', 1)[-1]}`"


def variables():
    types = words_of_types()
    lines = ["| variable | values | default | meaning |", "| --- | --- | --- | --- |"]
    for name, kind, default, more in options():
        lines.append(f"| `{name}` | {types[kind]} | {'' if kind == 'MODE' else show_default(default)} | {more} |")
    return lines


# --- findings -------------------------------------------------------------------------------------

UNITS = {"BYTES": [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)], "NS": [("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9)],
         "COUNT": [("", 1)], "SHARE": [("%", 10)], "TIMES": [("", 1000)]}


def show_limit(unit, value):
    """In the largest unit that needs no fraction, as `dftmerge findings --list` has it."""
    if unit == "PATTERNS":
        source = (ROOT / "tools" / "job" / "region_kinds.c").read_text()
        return "`" + re.search(rf'\[{value}\] =\s+"([^"]*)"', source).group(1).replace("|", "\\|") + "`"
    value = int(value)
    word, factor = next((u for u in reversed(UNITS[unit]) if value % u[1] == 0), UNITS[unit][0])
    return f"{value / factor:g} {word}".strip()


def findings():
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "tools" / "findings" / "findings.def").read_text(), flags=re.DOTALL)
    quoted = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    kind = re.compile(r"DFT_FINDING\(\s*(\w+),\s*" + quoted + r",\s*" + quoted + r"\)")
    limit = re.compile(r"DFT_LIMIT\(\s*(\w+),\s*\w+,\s*" + quoted + r",\s*(\w+),\s*(\w+),\s*" + quoted + r"\)")
    limits = limit.findall(text)
    assert len(kind.findall(text)) == text.count("DFT_FINDING(") and len(limits) == text.count("DFT_LIMIT("), "a row of findings.def cannot be read"
    lines = ["| kind or limit | value | advice, or why the limit is so |", "| --- | --- | --- |"]
    for code, name, advice in kind.findall(text):
        lines.append(f"| **{strings(name)}** | | {strings(advice)} |")
        lines += [f"| `{strings(name)}.{strings(own)}` | {show_limit(unit, value)} | {strings(reason)} |"
                  for of, own, unit, value, reason in limits if of == code]
    return lines


# --- commands -------------------------------------------------------------------------------------


def commands():
    """(group, name, schemas) of each command of dftmerge, in the order of --help; the group of a verb is its command."""
    text = (ROOT / "tools" / "command" / "commands.def").read_text()
    rows = re.findall(r'^DFT_COMMAND(?:_VERB)?\("?(\w*)"?, (\w+), "([^"]*)"\)$', text, re.MULTILINE)
    assert len(rows) == len(re.findall("^DFT_COMMAND", text, re.MULTILINE)), "a row of commands.def cannot be read"
    return [(group, name, schemas.split()) for group, name, schemas in rows]


def list_of_commands():
    lines = []
    groups = [group for group, _, _ in commands()]
    for i, (group, name, _) in enumerate(commands()):
        page = DOCS / "commands" / f"dftmerge-{name}.md"
        if not group or not page.exists():
            continue
        if not i or groups[i - 1] != group:
            lines += ["", f"{group}:", ""]
        lines.append(f"- [{name}]({page.name}): {re.search(rf'^dftmerge-{name} - (.*)$', page.read_text(), re.MULTILINE).group(1)}")
    return lines[1:]


# --- tables of SQL --------------------------------------------------------------------------------


def rows_of(path, word, fields):
    """The rows WORD(...) of a list of macros: FIELDS values each, of which texts may be in several pieces."""
    text = re.sub(r"/\*.*?\*/|^#[^\n]*", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    field = r'(\w+|(?:"(?:[^"\\]|\\.)*"\s*)+)'
    found = re.findall(word + r"\(\s*" + r",\s*".join([field] * fields) + r"\)", text)
    assert len(found) == len(re.findall(word + r"\(", text)), f"{path.name} has a row that cannot be read"
    return [[strings(value) if value.startswith('"') else value for value in row] for row in found]


def sql():
    tables = ROOT / "tools" / "tables"
    lines = []
    columns = rows_of(tables / "tables.def", "DFT_TABLE_COLUMN", 6)
    for code, name, more in rows_of(tables / "tables.def", "DFT_TABLE", 3):
        lines += [f"### {name}", "", f"{more[0].upper() + more[1:]}.", ""]
        if code == "EVENTS":
            lines += events(rows_of(tables / "tables.def", "DFT_EVENT_COLUMN", 7))
        else:
            lines += ["| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
            lines += [f"| `{column}` | {kind.lower()} | {unit} | {meaning} |" for of, _, column, kind, unit, meaning in columns if of == code]
        lines.append("")
    lines += ["## Views", "", "| view | what it shows | columns |", "| --- | --- | --- |"]
    for name, more, query in rows_of(tables / "views.def", "DFT_VIEW", 3):
        lines.append(f"| `{name}` | {more} | {', '.join(f'`{column}`' for column in columns_of(query))} |")
    return [line.replace("\\", "") for line in lines]


def events(columns):
    """The columns of events, with their names in lines, and what it means that an object of JSON lacks one."""
    kinds = {"UNSIGNED": "integer", "OBJECT": "text"}
    lacks = {"NEVER": "", "NULL": "null", "ZERO": "0", "ONE": "1"}
    return ["| column | in lines | type | unit | meaning | absent from JSON |", "| --- | --- | --- | --- | --- | --- |",
            *(f"| `{column}` | {f'`{line}`' if line else ''} | {kinds.get(kind, kind.lower())} | {unit} | {meaning} | {lacks[absent] if line else ''} |"
              for _, column, line, kind, unit, absent, meaning in columns)]


def columns_of(query):
    """The names that a select gives its columns."""
    depth, part, parts = 0, "", []
    for word in re.split(r"([(),]|\bfrom\b)", query.removeprefix("select ")):
        depth += (word == "(") - (word == ")")
        if not depth and word in (",", "from"):
            parts.append(part.split()[-1].split(".")[-1])
            part = ""
            if word == "from":
                return parts
        else:
            part += word
    raise ValueError(query)


# --- members of JSON ----------------------------------------------------------------------------------------------------


def resolve(schema, root):
    while "$ref" in schema:
        schema = {**root["definitions"][schema["$ref"].rsplit("/", 1)[1]], **{k: v for k, v in schema.items() if k != "$ref"}}
    return schema


def type_of(schema, root):
    if "enum" in schema:
        return "one of " + ", ".join(f"`{word}`" if word else "null" for word in schema["enum"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "array" in kinds:
        kinds = ["array of " + type_of(resolve(schema["items"], root), root)] + [k for k in kinds if k != "array"]
    return " or ".join(kinds)


def members(schema, root, depth=0):
    """A line for each member, those of an object below it; an array's, or a map's, are those of what is in it."""
    below = schema
    while (inner := below.get("items") or below.get("additionalProperties")) and isinstance(inner, dict):
        below = resolve(inner, root)
    for name, member in below.get("properties", {}).items():
        member = resolve(member, root)
        words = ": ".join(word for word in (f"`{name}` ({type_of(member, root)})", member.get("description")) if word)
        yield "  " * depth + "- " + words
        if "$comment" not in member:  # the members are described above
            yield from members(member, root, depth + 1)


def json_members():
    lines = []
    for name in [*(schema for _, _, schemas in commands() for schema in schemas), "doctor"]:
        schema = json.loads((DOCS / "schema" / f"{name}.json").read_text())
        lines += [f"## {name}", "", f"{schema['description']} Schema: [{name}.json](schema/{name}.json).", ""]
        made = list(members(schema, schema))
        lines += [*made, ""] if made else []
    return lines[:-1]


# --- pages --------------------------------------------------------------------------------------------------------------

MADE = {"commands/dftmerge.md": list_of_commands, "variables.md": variables, "json.md": json_members, "findings.md": findings, "sql.md": sql}


def made_anew(name):
    begin, end = "<!-- made by docs/generate.py, do not edit -->", "<!-- end of what is made -->"
    before, _, rest = (DOCS / name).read_text().partition(begin)
    _, found, after = rest.partition(end)
    assert found, f"docs/{name} has no place for what is made"
    return "\n".join([before + begin, "", *MADE[name](), "", end + after])


def main():
    stale = [name for name in MADE if made_anew(name) != (DOCS / name).read_text()]
    for name in stale:
        if "--check" in sys.argv[1:]:
            print(f"docs/{name} is stale: run docs/generate.py")
        else:
            (DOCS / name).write_text(made_anew(name))
    sys.exit(1 if stale and "--check" in sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
