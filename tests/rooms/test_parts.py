# SPDX-License-Identifier: MIT
"""The law of the parts beside preload/ and tools/: the page's modules, the Python packages, and the C code of python/ and gpu/.

The page (report/src): no circle of modules; only page.js and main.js use pictures; a NAME_numbers.js computes and never draws.
Python: a package uses the packages that its line in python/ROOMS names. C of python/src and gpu: its own headers, the public
ones, and the one table of columns that every form of an event is written from."""
import ast
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
IMPORT = re.compile(r"""^(?:import\s[^'"]*?|export\s+(?:\*|\{[^}]*\})\s*from\s*)["'](\./|\.\./)([^"']+)["']""", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
CONDUCTORS = {"page.js", "main.js"}
TABLE = "tables/tables.def"
DRAWERS = {"draw.js", "table.js", "legend.js", "pictures/canvas.js"}


def modules_of(source):
    """{module: modules that it imports}, as paths below SOURCE; a file that does not exist is kept, for the caller to see."""
    found = {}
    for path in sorted(source.rglob("*.js")):
        names = ["".join(parts) for parts in IMPORT.findall(path.read_text())]
        used = {(path.parent / name).resolve().relative_to(source.resolve()).as_posix() for name in names}
        found[path.relative_to(source).as_posix()] = used
    return found


def reached(modules, start):
    """Every module that START needs, itself left out unless it stands in a circle."""
    seen, todo = set(), list(modules[start])
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(modules.get(name, ()))
    return seen


def wrong_modules(modules):
    wrong = []
    for name, used in modules.items():
        everything = reached(modules, name)
        wrong += [f"{name} imports {other}, which does not exist" for other in sorted(used - modules.keys())]
        if name in everything:
            wrong.append(f"{name} stands in a circle of imports")
        if "/" not in name and name not in CONDUCTORS and any(other.startswith("pictures/") for other in used):
            wrong.append(f"{name} uses a picture: only {' and '.join(sorted(CONDUCTORS))} may")
        if name.endswith("_numbers.js") and everything & DRAWERS:
            wrong.append(f"{name} computes, and reaches {' '.join(sorted(everything & DRAWERS))}, which draws")
    return wrong


def read_packages(path):
    """{package: packages that it may use}; a package is a folder below python/, by its dots."""
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    pairs = (line.split(":") for line in lines if line)
    return {name: set(used.split()) for name, used in pairs}


def package_of(name, packages):
    """The innermost of PACKAGES that holds the module NAME; None when none does."""
    parts = name.split(".")
    return next((".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in packages), None)


def imports_of(path, python):
    """The full names that a file imports: of a 'from a import b' both a and a.b, as b can be a module."""
    here = path.relative_to(python).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(here[:len(here) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            yield from (".".join(base + [alias.name]) for alias in node.names)


def wrong_packages(python, packages):
    wrong, seen = [], {name: set() for name in packages}
    for path in sorted(python.rglob("*.py")):
        package = package_of(".".join(path.relative_to(python).with_suffix("").parts), packages)
        if package is None:
            wrong.append(f"{path}: no line of ROOMS holds this file: add its package")
            continue
        for name in imports_of(path, python):
            used = package_of(name, packages)
            if used not in (None, package):
                seen[package].add(used)
                if used not in packages[package]:
                    wrong.append(f"{path}: {package} uses {name}, and ROOMS does not let it use {used}")
    return wrong + [f"ROOMS: {name} may use {used}, and does not" for name in packages for used in sorted(packages[name] - seen[name])]


def wrong_includes(folder, public):
    return [f"{path}: includes \"{name}\", which is neither its own nor public"
            for path in sorted(folder.glob("*.[ch]")) for name in INCLUDE.findall(path.read_text())
            if name != TABLE and not (folder / name).exists() and not (public / name).exists()]


def test_the_page():
    modules = modules_of(TOP / "report/src")
    assert len(modules) > 40 and wrong_modules(modules) == []


def test_the_packages():
    assert wrong_packages(TOP / "python", read_packages(TOP / "python/ROOMS")) == []


def test_c_beside_the_library():
    assert wrong_includes(TOP / "python/src", TOP / "include") + wrong_includes(TOP / "gpu", TOP / "include") == []


def test_planted_modules(tmp_path):
    for name, text in {"page.js": 'import { a } from "./low.js";\n', "low.js": 'import { b } from "./pictures/a.js";\n',
                       "draw.js": "", "pictures/a.js": 'import {\n  c,\n} from "../low.js";\n',
                       "pictures/a_numbers.js": 'import { d } from "./b.js";\n', "pictures/b.js": 'export { e } from "../draw.js";\n',
                       "pictures/c.js": 'import "./none.js";\n'}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    wrong = wrong_modules(modules_of(tmp_path))
    assert len(wrong) == 5 and sum("circle" in line for line in wrong) == 2
    assert any(line.startswith("low.js uses a picture") for line in wrong)
    assert any("a_numbers.js computes" in line for line in wrong) and any("none.js, which does not exist" in line for line in wrong)


def test_planted_packages(tmp_path):
    for name, text in {"ROOMS": "low:\nhigh: low side  # both\nside:\n", "low/a.py": "from high import b\n", "low/__init__.py": "",
                       "high/__init__.py": "from .b import x\nimport low.a\n", "high/b.py": "import os\n", "other/c.py": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    wrong = wrong_packages(tmp_path, read_packages(tmp_path / "ROOMS"))
    assert len(wrong) == 3 and "low uses high.b" in wrong[0] and "no line" in wrong[1] and wrong[2] == "ROOMS: high may use side, and does not"


def test_planted_includes(tmp_path):
    (tmp_path / "own.h").write_text("")
    (tmp_path / "a.c").write_text('#include "own.h"\n#include "dftrace/api.h"\n#include "ring/ring.h"\n')
    assert len(wrong_includes(tmp_path, TOP / "include")) == 1
