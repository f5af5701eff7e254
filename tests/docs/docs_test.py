# SPDX-License-Identifier: MIT
"""What is written for people is true.

Links, paths, commands, options, variables, macros and packages that pages name are there, and what is made is not stale.
"""

import os
import pathlib
import re
import subprocess
import sys


ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve() / "bin"


def listed():
    """All files of the tree: those that git knows, or all but builds where there is no git."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [line for line in done.stdout.splitlines() if (ROOT / line).exists()]
    files = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
    return [str(p) for p in files if not p.parts[0].startswith(("build", ".git"))]


FILES = listed()
FOLDERS = {str(parent) for name in FILES for parent in pathlib.PurePath(name).parents}
PAGES = [ROOT / name for name in FILES if name.endswith(".md")]
COMMANDS = sorted(p.stem for p in (ROOT / "docs" / "commands").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text_of(page):
    return page.read_text()


def prose(page):
    return FENCE.sub("", text_of(page))


def code_spans(page):
    return re.findall(r"`([^`\n]+)`", prose(page))


def place(page, word):
    return f"{page.relative_to(ROOT)}: {word}"


def anchors(page):
    """What headings of a page are called in links, as forges make it."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(name if name not in found else f"{name}-{found.count(name)}")
    return found


def test_links_lead_somewhere():
    wrong = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            if re.match(r"https?:|mailto:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (anchor and anchor not in anchors(there)):
                wrong.append(place(page, target))
    assert not wrong, wrong


def exists(page, word):
    """A path of the tree, from its top or from the page's folder. A pattern fits at least one file; {a,b} is a and b."""
    choice = re.search(r"\{([^}]*)\}", word)
    if choice:
        return all(exists(page, word.replace(choice.group(0), part)) for part in choice.group(1).split(","))
    for base in (ROOT, page.parent):
        relative = os.path.relpath(base / word, ROOT)
        if relative in FILES or relative in FOLDERS or any(pathlib.PurePath(name).match(relative) for name in FILES):
            return True
    return False


def test_tests_are_named():
    """A README of a folder of tests names each of them."""
    wrong = [name for readme in FILES if re.fullmatch(r"tests/\w+/README\.md", readme)
             for name in FILES if re.fullmatch(re.escape(os.path.dirname(readme)) + r"/test_\w+\.py", name)
             and os.path.basename(name) not in text_of(ROOT / readme)]
    assert not wrong, ("not in the README beside it", wrong)


def test_paths_exist():
    """Words of code that begin like a folder of the tree or of the page, and names of sources."""
    tops = {name.split("/")[0] for name in FILES if "/" in name}
    names = {name.rsplit("/", 1)[-1] for name in FILES}
    wrong = []
    for page in PAGES:
        folders = tops | {p.name for p in page.parent.iterdir() if p.is_dir() and p.name not in ("build", ".git")}
        for word in (word.rstrip(".,") for span in code_spans(page) for word in re.findall(r"(?<![<\w])[\w.*{},/-]+", span)):
            if "/" in word:
                missing = word.split("/")[0] in folders and not exists(page, word)
            else:
                missing = re.fullmatch(r"[\w-]+\.(c|h|S|def|py|sh)", word) and word not in names | OF_THE_READER
            if missing:
                wrong.append(place(page, word))
    assert not wrong, wrong


OF_THE_READER = {"train.py"}


def helped(command):
    """The options that a command's --help has."""
    words = ["dftmerge", *command.split("-")[1:]] if command.startswith("dftmerge") else [command]
    done = subprocess.run([BIN / words[0], *words[1:], "--help"], capture_output=True, text=True, check=True)
    lines = done.stdout.partition("Options:")[2] or done.stdout
    return {o for line in re.findall(r"^ +(-.*?)(?:  |$)", lines, re.MULTILINE) for o in re.findall(r"--[a-z-]+", line)}


def described_in(title):
    page = text_of(ROOT / "docs" / "commands" / "dftmerge.md")
    section = page.partition(f"## {title}\n")[2].partition("## ")[0]
    return set(re.findall(r"`(--[a-z-]+)[^`]*`", " ".join(re.findall(r"^- (.*?):", section, re.MULTILINE))))


def test_options_of_pages_are_those_of_help():
    common = {}
    for command in COMMANDS:
        if command in ("dftmerge", "dftmerge-mpi"):
            continue
        page = text_of(ROOT / "docs" / "commands" / f"{command}.md")
        section = re.search(r"^## Options$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL).group(1)
        has = set(re.findall(r"`(?:-\w, )?(--[a-z-]+)", " ".join(re.findall(r"(?:^- |, |: |\n  )(`--?[^`]+`)", section))))
        own = set(re.findall(r"(--[a-z-]+)", " ".join(re.findall(r"^- ((?:`[^`]+`(?:, )?)+)", section, re.MULTILINE))))
        has |= own
        if "(dftmerge.md#filters)" in section:
            has |= described_in("Filters")
        assert has == helped(command), (command, "missing in the page", helped(command) - has, "not an option", has - helped(command))
        for option in has - own:
            common[option] = command
    described = described_in("Common options") | described_in("Filters")
    assert described == set(common), (described ^ set(common))


def test_every_command_has_a_page():
    done = subprocess.run([BIN / "dftmerge", "--help"], capture_output=True, text=True, check=True)
    names = re.findall(r"^(?:[A-Z]\w+)? +(\w+) ", done.stdout.partition("Commands:")[2].partition("\n\n")[0], re.MULTILINE)
    assert sorted(["dftmerge", "dftmerge-mpi", "dftrun"] + [f"dftmerge-{name}" for name in [*names, "debug"]]) == COMMANDS


def missing_of(rows, root):
    """What each row of commands.def lacks: its file, its page, the schemas that it names, and a case of those."""
    sources = "".join(p.read_text() for p in sorted((root / "tools").rglob("*.c")))
    cases = (root / "tests" / "tools" / "test_json.py").read_text()
    verbs = {name for group, name, _ in rows if (root / "docs" / "commands" / f"dftmerge-{group}.md").exists()}
    for _, name, schemas in rows:
        if f"struct dft_command dft_command_{name} =" not in sources:
            yield f"{name}: no file in tools/ defines dft_command_{name}"
        if name not in verbs and not (root / "docs" / "commands" / f"dftmerge-{name}.md").exists():
            yield f"{name}: write docs/commands/dftmerge-{name}.md"
        for schema in schemas:
            if not (root / "docs" / "schema" / f"{schema}.json").exists():
                yield f"{name}: write docs/schema/{schema}.json"
            if f'"{schema}"' not in cases:
                yield f"{name}: tests/tools/test_json.py has no case of {schema}"
    for path in sorted((root / "docs" / "schema").glob("*.json")):
        if path.stem != "doctor" and not any(path.stem in schemas for _, _, schemas in rows):
            yield f"docs/schema/{path.name} stands in no row of commands.def"


def test_a_command_has_all_its_places():
    sys.path.insert(0, str(ROOT / "docs"))
    import generate
    rows = generate.commands()
    assert not list(missing_of(rows, ROOT)), list(missing_of(rows, ROOT))
    assert list(missing_of([*rows, ("Look", "nosuch", ["nowhere"])], ROOT)) == [
        "nosuch: no file in tools/ defines dft_command_nosuch", "nosuch: write docs/commands/dftmerge-nosuch.md",
        "nosuch: write docs/schema/nowhere.json", "nosuch: tests/tools/test_json.py has no case of nowhere"]
    assert list(missing_of([row for row in rows if row[1] != "sql"], ROOT)) == ["docs/schema/sql.json stands in no row of commands.def"]


def lines_of_shell():
    """Every line of code in a page that calls a program of ours: page, program with its command, the rest of the words."""
    for page in PAGES:
        indented = re.findall(r"^    (.*)$", prose(page), re.MULTILINE)
        blocks = [line for kind, block in FENCE.findall(text_of(page)) if kind in ("sh", "console") for line in block.splitlines()]
        for line in [*indented, *blocks, *code_spans(page)]:
            for name, rest in re.findall(r"(?:^|[\s/`$|(])(dftmerge(?:-mpi)?|dftrun)((?:\s+[^\s|;#&>]+)*)", line):
                yield page, name, rest.split()


def test_commands_and_options_exist():
    names = {c.split("-", 1)[1] for c in COMMANDS if c.startswith("dftmerge-")} - {"mpi"}
    everything = {name: helped(f"dftmerge-{name}") for name in names}
    wrong = []
    for page, program, words in lines_of_shell():
        if program == "dftrun":
            own = words[:words.index("--")] if "--" in words else words
            allowed = helped("dftrun")
        else:
            command = words[0] if words and words[0] in names else "summary"
            if words and re.fullmatch(r"[a-z]+", words[0]) and words[0] not in names | {"help", "traces", "and", "alone"}:
                wrong.append(place(page, f"{program} {words[0]}"))
            own, allowed = words, everything[command] | {"--help", "--version"}
        for option in own:
            if option.startswith("--") and len(option) > 2 and option.split("=")[0] not in allowed:
                wrong.append(place(page, f"{program} {' '.join(words)}: {option}"))
    assert not wrong, wrong


def test_variables_exist():
    table = (ROOT / "include" / "dftrace" / "config.def").read_text()
    known = {f"DFTRACER_{name}" for name in re.findall(r"DFT_OPTION\(\s*\w+,\s*(\w+)", table)}
    sources = "".join((ROOT / name).read_text() for name in FILES if re.match(r"(preload|tools|include)/.*\.[ch]$", name))
    known |= {f"DFTRACER_{name}" for name in re.findall(r'PREFIX "(\w+)"', sources)}
    known |= set(re.findall(r"\b(DFTMERGE_[A-Z_]+)\b", sources)) | set(re.findall(r"\b(DFTRACER_[A-Z_]+)\(", sources))
    known |= set(re.findall(r"#define (DFTRACER_\w+)", sources)) | {"DFTRACER_", "DFTMERGE_"}
    wrong = [place(page, word) for page in PAGES for word in set(re.findall(r"\b(?:DFTRACER|DFTMERGE)_[A-Z0-9_]*", text_of(page))) - known]
    assert not wrong, wrong


def test_macros_exist():
    """Rows of tables, options of the build: whatever is called DFT_ in code."""
    sources = "".join((ROOT / name).read_text() for name in FILES if re.search(r"(\.(c|h|def|py|sh|cmake)|CMakeLists\.txt)$", name))
    wrong = [place(page, word) for page in PAGES for word in set(re.findall(r"\bDFT_[A-Z_]+", text_of(page)))
             if not re.search(rf"\b{word}\b", sources)]
    assert not wrong, wrong


def test_what_is_made_is_not_stale():
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pictures_are_those_of_the_script():
    """Every picture is made by docs/pictures.py, and shown by a page."""
    done = subprocess.run([ROOT / "docs" / "pictures.py", "--list"], capture_output=True, text=True, check=True)
    there = {p.name for p in (ROOT / "docs" / "images").iterdir()}
    shown = {name for page in PAGES for name in re.findall(r"!\[[^]]+\]\([^)]*images/([^)/]+)\)", text_of(page))}
    assert there == set(done.stdout.split()) == shown, (there, done.stdout, shown)


def test_dependencies_are_those_of_packages_sh():
    script = (ROOT / "tests" / "packages.sh").read_text()
    needed = set(re.findall(r"^\s*(?:PATH=\S+ )?need_\w+ \S+ ([\w.+-]+)$", script, re.MULTILINE)) | set(re.findall(r"lacks ([a-z][\w.+-]*)$", script, re.MULTILINE))
    table = re.search(r"^## Dependencies$(.*?)(?=^## |\Z)", text_of(ROOT / "README.md"), re.MULTILINE | re.DOTALL).group(1)
    told = {word for row in re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE) for word in re.findall(r"`([^`]+)`", row)}
    told.discard("libpython3.N-testsuite")  # its name has the version in it
    assert told == needed, ("not in README.md", needed - told, "not in tests/packages.sh", told - needed)
    status = (ROOT / "CMakeLists.txt").read_text()
    hinted = set(re.findall(r"\(install [^:]*: ([\w-]+)\)", status)) | set(re.findall(r"dft_optional\(\w+ \S+ (\S+) ", status))
    assert hinted <= told, ("CMakeLists.txt names these", hinted - told)


def test_sources_name_their_licence():
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
    sources = [name for name in FILES if re.search(r"(\.(c|h|S|def|cpp|py|sh|cmake)|CMakeLists\.txt)$", name)]
    wrong = [name for name in sources if "SPDX-License-Identifier: MIT" not in "".join((ROOT / name).read_text().splitlines()[:2])]
    assert not wrong, wrong
