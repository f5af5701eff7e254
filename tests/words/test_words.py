# SPDX-License-Identifier: MIT
"""Words in comments and pages are names of the tree: of parameters, files, structs and rooms that are there.

Each rule takes {path: text} and gives what is wrong, so that trouble can be planted."""

import collections
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = ("aggregator/", "format/", "gpu/", "include/", "preload/", "python/", "report/", "tools/")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CONTRACT = re.compile(r"/\*((?:(?!\*/).)*)\*/\n((?:[^\n]+\n)*)", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# Files of others that comments name.
OTHERS = {"stdio.h", "unistd.h", "fcntl.h", "aio.h", "cuda.h", "link.h", "ffi.h", "mpi.h", "errno.h", "string.h", "stdlib.h", "vdbesort.c"}


def listed():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (ROOT / name).is_file()]


@pytest.fixture(scope="module", name="tree")
def read_tree():
    return {name: (ROOT / name).read_text() for name in listed() if name.endswith((".c", ".h", ".def", ".md", "ROOMS")) and "/node_modules/" not in name}


def sources(tree, ends=(".c", ".h")):
    return {name: text for name, text in tree.items() if name.startswith(CODE) and name.endswith(ends)}


def code_of(text):
    return STRING.sub("", COMMENT.sub("", text))


def tags(tree):
    """A tag names one struct. One that is written twice for two builds stands in one file."""
    found = collections.defaultdict(set)
    for name, text in sources(tree).items():
        for tag in re.findall(r"^struct (dft\w+) \{", text, re.MULTILINE):
            found[tag].add(name)
    return [f"struct {tag}: {' and '.join(sorted(names))}" for tag, names in found.items() if len(names) > 1]


def contracts(tree):
    """A word in backquotes above a declaration is one of its words, or a name or a whole text in the code of the folder."""
    folders = collections.defaultdict(set)
    for name, text in sources(tree, (".c", ".h", ".def")).items():
        folders[str(pathlib.PurePath(name).parent)].update(re.findall(r"\w+", code_of(text)) + re.findall(r'"(\w+)"', text))
    for name, text in sources(tree, (".h",)).items():
        known = folders[str(pathlib.PurePath(name).parent)]
        for comment, declared in CONTRACT.findall(text):
            for word in re.findall(r"`([a-z_]\w*)`", comment):
                if "(" in declared and word not in known and not re.search(rf"\b{word}\b", declared):
                    yield f"{name}: `{word}` above {declared.split('(')[0].split()[-1]}"


def files(tree):
    """A file of ours that a comment names is there."""
    there = {pathlib.PurePath(name).name for name in listed()} | {pathlib.PurePath(name).name for name in tree} | OTHERS
    for name, text in sources(tree).items():
        for comment in COMMENT.findall(text):
            for word in re.findall(r"(?<![<\w./*-])(?:\w+/)*(\w{4,}\.[ch])\b(?!\()", comment):
                if word not in there:
                    yield f"{name}: {word}"


def rooms(tree):
    """The README beside ROOMS names every room."""
    for name, text in tree.items():
        if pathlib.PurePath(name).name != "ROOMS":
            continue
        page = tree.get(name[:-len("ROOMS")] + "README.md")
        for room in re.findall(r"^(\w+):", text, re.MULTILINE) if page else ():
            if f"`{room}/`" not in page and f"`{room}`" not in page:
                yield f"{name}: README.md lacks `{room}/`"


def names(tree):
    """A name of ours in backquotes on a page is in the code."""
    known = set(re.findall(r"\w+", " ".join(sources(tree, (".c", ".h", ".def")).values())))
    for name, text in tree.items():
        for word in re.findall(r"`((?:struct )?dft_\w+)(?:\(\))?`", text) if name.endswith(".md") else ():
            if word.split()[-1] not in known | {"dft_fn"}:  # DFTracer's
                yield f"{name}: {word}"


@pytest.mark.parametrize("rule", [tags, contracts, files, rooms, names])
def test_words_are_names(tree, rule):
    assert not list(rule(tree))


@pytest.mark.parametrize(("rule", "planted"), [
    (tags, {"tools/a/x.h": "struct dft_x {\n", "preload/b/x.h": "struct dft_x {\n"}),
    (contracts, {"tools/a/x.h": "/* Into `room`. */\nint dft_x(char *text);\n"}),
    (files, {"tools/a/x.c": "/* As nosuch/nosuch_file.c does. */\n"}),
    (rooms, {"tools/ROOMS": "# What\nbase:\nnosuch: base\n", "tools/README.md": "| `base/` | all |\n"}),
    (names, {"docs/x.md": "`dft_nosuch_name` does it.\n", "tools/a/x.c": "int dft_x;\n"})])
def test_planted_trouble_is_found(rule, planted):
    assert len(list(rule(planted))) == 1
    assert not list(rule({name: text.replace("room", "text").replace("nosuch/nosuch_file.c", "tools/a/x.c").replace("nosuch: base\n", "")
                          .replace("dft_nosuch_name", "dft_x").replace("struct dft_x {", f"struct dft_{name[0]} {{") for name, text in planted.items()}))
