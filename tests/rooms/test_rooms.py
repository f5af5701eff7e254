# SPDX-License-Identifier: MIT
"""The rooms: what may use what, held from the includes of the sources and from the symbols of the objects.

A layer (format, aggregator, preload, tools) uses the layers below it and only their public headers. Inside preload/ and tools/ a
room uses the rooms that its line in ROOMS names. A name in ROOMS that nothing needs is an error, too: the file says what is so.
Inside a layer no circle of files is larger than CIRCLE_MOST says, and DECLARED_LEAST of its declarations stand in the header with the
name of the file that defines them. Both numbers are as the tree has them: they may only get better.

Without objects in DFT_BUILD the includes alone are held.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", TOP / "build"))
LAYERS = {"format": (), "aggregator": ("format",), "preload": ("format", "aggregator"), "tools": ("format", "aggregator")}
HOUSES = ("preload", "tools")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
LINES_MAX = 60
CIRCLE_MOST = {"preload": 5, "tools": 5, "format": 2, "aggregator": 1}  # files that need each other's functions
DECLARED_LEAST = {"preload": 91, "tools": 85, "format": 54, "aggregator": 48}  # per cent
DECLARATION = re.compile(r"^(?!static|typedef|extern|return|#|\s)[^;{}=#]*?\b(dft_\w+)\s*\([^;{]*?\)[^;{()]*(?:__attribute__\s*\(\([^;]*?\)\))?\s*;", re.M)
NO_CODE = re.compile(r"/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.S | re.M)
SOURCES = (".c", ".h", ".S", ".def")


class BadRooms(Exception):
    """A ROOMS file that cannot be used: the text says which line, and what to do."""


def read_rooms(path):
    """The rooms of a ROOMS file: {room: [rooms it may use]}, from the ground up."""
    rooms = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([a-z]+):((?: +[a-z]+)*)", line)
        if not match:
            raise BadRooms(f"{path}:{number}: '{line}' is no line 'room: rooms that it may use'")
        room, used = match.group(1), match.group(2).split()
        for name in used:
            if name not in rooms:
                raise BadRooms(f"{path}:{number}: {room} uses '{name}', which is no room above it; those are: "
                               f"{' '.join(rooms) or 'none'}")
        if not (path.parent / room).is_dir():
            raise BadRooms(f"{path}:{number}: there is no folder for the room '{room}': make it, or correct the name")
        rooms[room] = used
    for folder in sorted({source.parent.name for source in path.parent.glob("*/*.c")} - set(rooms)):
        raise BadRooms(f"{path}: the folder '{folder}' has no line: add '{folder}: rooms that it may use'")
    return rooms


def room_of(path, house):
    """The room in which a source lies; None for one beside ROOMS, which may use every room."""
    parts = path.relative_to(house).parts
    return parts[0] if len(parts) > 1 else None


def layer_files(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def included_room(name, rooms, house):
    """The room of the header that is included as NAME, None when it is none of this house's."""
    room = name.split("/")[0]
    return room if room in rooms and (house / name).exists() else None


def check_house_includes(house, rooms, seen):
    """Each #include of a room's files; notes in seen[room] the rooms it uses. Returns what is wrong, a line each."""
    wrong = []
    headers = {path.name for path in house.glob("*/*.h")}
    for path in layer_files(house):
        room = room_of(path, house)
        for name in INCLUDE.findall(path.read_text(errors="replace")):
            used = included_room(name, rooms, house)
            if "/" not in name and name in headers:
                wrong.append(f"{path}: includes \"{name}\" without its room")
            elif used and room and used != room:
                seen[room].add(used)
                if used not in rooms[room]:
                    wrong.append(f"{path}: {room} includes \"{name}\", and ROOMS does not let {room} use {used}")
    return wrong


def check_layer_includes(top):
    """No layer includes a private header of another layer, or anything of a layer that it does not stand on."""
    wrong = []
    for layer, below in LAYERS.items():
        for path in layer_files(top / layer):
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                for other in LAYERS:
                    if other == layer:
                        continue
                    public = (top / other / "include" / name).exists()
                    private = name.startswith("../" + other) or (
                        (top / other / name).exists() and not any((base / name).exists() for base in (
                            path.parent, top / layer, top / layer / "include")))
                    if private or (public and other not in below):
                        wrong.append(f"{path}: {layer} includes \"{name}\" of {other}" +
                                     (", which is private" if other in below else ", which is no layer below it"))
    return wrong


KNOWN = {}  # path of an object: its symbols


def read_symbols(paths):
    """Fills KNOWN: (defined, undefined) external names of ours in each object. The wrappers' names are those of the C library: others mean that."""
    new = [str(path) for path in paths if str(path) not in KNOWN]
    for path in new:
        KNOWN[path] = (set(), set())
    for at in range(0, len(new), 200):
        for line in subprocess.run(["nm", "-A", "-P", "-g", *new[at:at + 200]], capture_output=True, text=True, check=True).stdout.splitlines():
            path, rest = line.split(": ", 1)
            name, kind = rest.split()[:2]
            if name.startswith("dft_"):
                KNOWN[path][kind in "Uvw"].add(name)


def owners_of(objects):
    """objects: [(owner, path)]. Returns ({name: owners that define it}, [(owner, path, undefined names)])."""
    owners, needs = {}, []
    read_symbols(path for _, path in objects)
    for owner, path in objects:
        defined, undefined = KNOWN[str(path)]
        for name in defined:
            owners.setdefault(name, set()).add(owner)
        needs.append((owner, path, undefined))
    return owners, needs


def check_house_objects(objects, rooms, seen):
    """objects: [(room, path)]. Each undefined symbol lies in the room itself or in one that it may use."""
    wrong = []
    owners, needs = owners_of(objects)
    for room, path, undefined in needs:
        for name in sorted(undefined & owners.keys()):
            if room in owners[name]:
                continue
            used = sorted(owners[name])[0]
            seen[room].add(used)
            if used not in rooms[room]:
                wrong.append(f"{path.name}: {room} uses {name} of {used}, and ROOMS does not let it")
    return wrong


def check_layer_objects(objects):
    """objects: [(layer, path)]. No layer needs a symbol of one above it, or beside it."""
    owners, needs = owners_of(objects)
    return [f"{path.name}: {layer} uses {name}, which only {' and '.join(sorted(owners[name]))} defines"
            for layer, path, undefined in needs for name in sorted(undefined & owners.keys())
            if not owners[name] & {layer, *LAYERS[layer]}]


def check_need(house, rooms, seen):
    return [f"{house / 'ROOMS'}: {room} may use {name}, and does not: take the name out"
            for room, used in rooms.items() for name in used if name not in seen[room]]


def circles(arrows):
    """arrows: {file: files it needs}. The sets of more than one file that need each other, largest first (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(at):
        index[at] = low[at] = len(index)
        stack.append(at)
        for to in sorted(arrows.get(at, ())):
            if to not in index:
                visit(to)
            if to in stack:
                low[at] = min(low[at], low[to])
        if low[at] == index[at]:
            circle = stack[stack.index(at):]
            del stack[-len(circle):]
            found.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for at in sorted(arrows):
        if at not in index:
            visit(at)
    return sorted((circle for circle in found if len(circle) > 1), key=len, reverse=True)


def check_circles(objects, most):
    """objects: [(file, path)]. No circle of files by their symbols is larger than `most`."""
    owners, needs = owners_of(objects)
    arrows = {file: {owner for name in undefined & owners.keys() for owner in owners[name]} - {file} for file, _, undefined in needs}
    return [f"{len(circle)} files need each other, and {most} may: {' '.join(circle)}" for circle in circles(arrows) if len(circle) > most]


def declarations(path):
    return DECLARATION.findall(NO_CODE.sub("", path.read_text(errors="replace")))


def check_declarations(headers, objects, least):
    """Of the functions that `headers` declare and `objects` define, so many per cent in the header of the file's own name."""
    owners, _ = owners_of(objects)
    known = [(path, name) for path in headers for name in declarations(path) if name in owners]
    apart = [(path, name) for path, name in known if path.stem not in {pathlib.Path(file).stem for file in owners[name]}]
    share = 100 - 100 * len(apart) / max(len(known), 1)
    if share >= least:
        return []
    return [f"{share:.1f} % of {len(known)} declarations stand in the header of their definer, and {least} % is the least"] + [
        f"{path}: {name} of {' '.join(sorted(owners[name]))}" for path, name in apart]


def built_objects(top, build, layer):
    """The objects of a layer whose source is there: a build folder keeps those of sources that are gone."""
    for folder in sorted((build / layer).glob("CMakeFiles/*.dir")):
        for path in sorted(folder.rglob("*.o")):
            if (top / layer / path.relative_to(folder).with_suffix("")).exists():
                yield path


def house_objects(top, build, house, rooms):
    return [(path.parent.name, path) for path in built_objects(top, build, house) if path.parent.name in rooms]


def file_objects(top, build, layer):
    """[(source, object)], without what CMake puts around the name."""
    return [(str(path).split(".dir/", 1)[1].removesuffix(".o"), path) for path in built_objects(top, build, layer)]


def layer_objects(top, build):
    return [(layer, path) for layer in LAYERS for path in built_objects(top, build, layer)]


def nothing(wrong):
    assert not wrong, "\n".join(wrong[:LINES_MAX] + ([f"and {len(wrong) - LINES_MAX} more"] if len(wrong) > LINES_MAX else []))


def some(objects):
    if not objects or not shutil.which("nm"):
        pytest.skip("there are no objects of it in this build, or no nm")
    return objects


@pytest.mark.parametrize("name", HOUSES)
def test_house(name):
    """Includes, symbols, and that every name in ROOMS is needed."""
    house = TOP / name
    rooms = read_rooms(house / "ROOMS")
    seen = {room: set() for room in rooms}
    nothing(check_house_includes(house, rooms, seen))
    objects = some(house_objects(TOP, BUILD, name, rooms))
    nothing(check_house_objects(objects, rooms, seen))
    if not {room for room, _ in objects} >= set(rooms):
        pytest.skip("not every room is in this build")
    nothing(check_need(house, rooms, seen))


def test_layers():
    nothing(check_layer_includes(TOP))
    nothing(check_layer_objects(some(layer_objects(TOP, BUILD))))


@pytest.mark.parametrize("layer", LAYERS)
def test_circles(layer):
    nothing(check_circles(some(file_objects(TOP, BUILD, layer)), CIRCLE_MOST[layer]))


@pytest.mark.parametrize("layer", LAYERS)
def test_declarations(layer):
    nothing(check_declarations((TOP / layer).rglob("*.h"), some(file_objects(TOP, BUILD, layer)), DECLARED_LEAST[layer]))


# Planted trouble: a small tree of its own, in which each rule is broken once.

def plant(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def compile_to(folder, source):
    out = folder / (pathlib.Path(source).name + ".o")
    subprocess.run([os.environ.get("CC", "cc"), "-c", folder / source, f"-I{folder / 'tools'}", "-o", out], check=True)
    return out


@pytest.fixture
def top(directory):
    """A right tree."""
    plant(directory, {"tools/ROOMS": "low:\nhigh: low\n", "tools/low/a.h": "int dft_a(void);\n",
                      "tools/low/a.c": "int dft_b(void);\nint dft_a(void) { return dft_b(); }\n", "tools/high/b.h": "int dft_b(void);\n",
                      "tools/high/b.c": "#include \"low/a.h\"\nint dft_b(void) { return dft_a(); }\n"})
    return directory


def objects_of(top):
    return compile_to(top, "tools/low/a.c"), compile_to(top, "tools/high/b.c")


def test_planted_includes(top):
    house = top / "tools"
    rooms = read_rooms(house / "ROOMS")
    seen = {room: set() for room in rooms}
    nothing(check_house_includes(house, rooms, seen))
    plant(top, {"tools/low/c.c": "#include \"high/b.h\"\n", "tools/low/d.c": "#include \"b.h\"\n"})
    assert len(check_house_includes(house, rooms, seen)) == 2, "an include upwards, and one without its room"
    assert len(check_need(house, {"low": [], "high": ["low"]}, {"low": set(), "high": set()})) == 1, "a name that nothing needs"
    plant(top, {"format/f.c": "#include \"../tools/low/a.h\"\n", "format/secret.h": "\n", "format/include/format/open.h": "\n",
                "tools/low/e.c": "#include \"secret.h\"\n#include \"format/open.h\"\n"})
    assert len(check_layer_includes(top)) == 2, "a private header, and a layer above"


def test_planted_symbols(top):
    low, high = objects_of(top)
    rooms = read_rooms(top / "tools" / "ROOMS")
    (wrong,) = check_house_objects([("low", low), ("high", high)], rooms, {room: set() for room in rooms})
    assert "uses dft_b of high" in wrong
    (wrong,) = check_layer_objects([("format", low), ("tools", high)])
    assert "tools defines" in wrong


def test_planted_circle(top):
    low, high = objects_of(top)
    files = [("low/a.c", low), ("high/b.c", high)]
    nothing(check_circles(files, 2))
    assert check_circles(files, 1) == ["2 files need each other, and 1 may: high/b.c low/a.c"]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": {"a"}}) == []


def test_planted_declarations(top):
    low, high = objects_of(top)
    files = [("low/a.c", low), ("high/b.c", high)]
    headers = [top / "tools/low/a.h", top / "tools/high/b.h"]
    nothing(check_declarations(headers, files, 100))
    plant(top, {"tools/low/shared.h": "/* int dft_a(void); */\nint\ndft_b(void);\nstatic inline int dft_c(void) { return dft_a(); }\n"})
    wrong = check_declarations([*headers, top / "tools/low/shared.h"], files, 67)
    assert len(wrong) == 2 and wrong[1].endswith("dft_b of high/b.c"), wrong


@pytest.mark.parametrize("text, word", (("low:\nhigh: lwo\n", "'lwo', which is no room above it"), ("low: high\nhigh:\n", "no room above"),
                                        ("low:\nhigh: low\nattic: low\n", "no folder for the room 'attic'"), ("low:\n", "'high' has no line"),
                                        ("low\n", "is no line")))
def test_planted_rooms(top, text, word):
    (top / "tools/ROOMS").write_text(text)
    with pytest.raises(BadRooms, match=word):
        read_rooms(top / "tools/ROOMS")
