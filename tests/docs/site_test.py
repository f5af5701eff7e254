# SPDX-License-Identifier: MIT
"""The site of the documentation: it is built without a warning, its links lead somewhere, and it needs no network.

What is wrong in a page, in the menu or on the machine is said with what to do.
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import pytest

from menu import MENU, not_in_menu

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()
SITE = BUILD / "site"


class Page(html.parser.HTMLParser):
    """Where a page can be entered, where its links lead, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loads = path, {""}, [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag != "a":
            self.loads += [attributes[name] for name in ("src", "href", "srcset", "data") if attributes.get(name)]


def target_of(page, link):
    """The file and the anchor that a link leads to."""
    path, _, anchor = link.partition("#")
    path = path.partition("?")[0]
    there = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
    return there, urllib.parse.unquote(anchor)


def pages():
    return {path: Page(path) for path in sorted(SITE.rglob("*.html"))}


@pytest.fixture(scope="module")
def site():
    """Built without a warning."""
    lacks = missing()
    if lacks:
        pytest.skip(f"the site is not built without {lacks}")
    done = subprocess.run(["cmake", "--build", BUILD, "--target", "site"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return SITE


def test_is_built_without_a_warning(site):
    assert (site / "index.html").exists() and (site / "docs" / "tutorial.html").exists()


@pytest.mark.usefixtures("site")
def test_links_lead_somewhere():
    built = pages()
    wrong = []
    for page in built.values():
        for link in page.links:
            if re.match("https?:|mailto:", link):
                continue
            there, anchor = target_of(page.path, link)
            if not there.is_file() or SITE not in there.parents or (there in built and anchor not in built[there].ids):
                wrong.append(f"{page.path.relative_to(SITE)}: {link}")
    assert len(built) > 40 and not wrong, wrong[:20]


@pytest.mark.usefixtures("site")
def test_no_network_is_needed():
    """Pages and styles load files of the site alone, by paths that are relative: they work from any folder."""
    wrong = []
    for page in pages().values():
        loads = [link for link in page.loads if not link.startswith(("#", "data:"))]
        wrong += [f"{page.path.relative_to(SITE)}: {link}" for link in loads if not is_here(page.path, link)]
    for style in SITE.rglob("*.css"):
        links = re.findall(r"""(?:url\(|@import )\s*["']?([^"')\s;]+)""", re.sub(r"/\*.*?\*/", "", style.read_text(), flags=re.DOTALL))
        wrong += [f"{style.relative_to(SITE)}: {link}" for link in links if not link.startswith("data:") and not is_here(style, link)]
    modules = [str(script) for script in SITE.rglob("*.js") if re.search(r"^import\b", script.read_text(), re.MULTILINE)]
    assert not wrong and not modules, (wrong[:20], modules)


def is_here(page, link):
    there, _ = target_of(page, link)
    return not re.match(r"\w+:|/", link) and there.is_file() and SITE in there.parents


@pytest.mark.usefixtures("site")
def test_names_no_path_of_this_machine():
    wrong = [str(path) for path in SITE.rglob("*") if path.is_file() and path.name != ".buildinfo" and
             (str(ROOT).encode() in path.read_bytes() or str(BUILD).encode() in path.read_bytes())]
    assert not wrong, wrong


@pytest.mark.usefixtures("site")
def test_first_page_leads_to_all():
    built = pages()
    seen, todo = set(), [SITE / "index.html"]
    while todo:
        page = todo.pop()
        if page in built and page not in seen:
            seen.add(page)
            todo += [target_of(page, link)[0] for link in built[page].links]
    assert set(built) - seen <= {SITE / "search.html"}, set(built) - seen


@pytest.mark.usefixtures("site")
def test_search_knows_all_pages():
    text = (SITE / "searchindex.js").read_text()
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    there = {str(path.relative_to(SITE).with_suffix("")) for path in pages()} - {"index", "search"}
    assert set(index["docnames"]) == there, set(index["docnames"]) ^ there
    tutorial = index["docnames"].index("docs/tutorial")
    found = index["terms"]["journal"]
    assert tutorial in (found if isinstance(found, list) else [found])


def copy_of_pages(folder):
    for name in ("docs", "examples", "include"):
        shutil.copytree(ROOT / name, folder / name)
    for path in [ROOT / "LICENSE", *ROOT.glob("*.md"), *ROOT.glob("*/README.md")]:
        (folder / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, folder / path.relative_to(ROOT))


def sphinx(folder, **variables):
    command = ["sphinx-build", "-q", "-W", "--keep-going", "-b", "dummy", "-c", folder / "docs/site", "-d", folder / "doctrees", folder,
               folder / "none"]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", **variables}
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False)


@pytest.mark.usefixtures("site")
def test_what_is_wrong_is_an_error():
    """A page in no menu, a link to nothing, an anchor that is none, a page of the menu that is gone."""
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        copy_of_pages(folder)
        (folder / "docs/new.md").write_text("# New\n\n[a](none.md) [b](tutorial.md#none)\n")
        (folder / "docs/sql.md").unlink()
        done = sphinx(folder)
        assert done.returncode == 1 and "exception" not in done.stdout, done.stdout
        for message in ("docs/new.md stands in no menu: add it to a section of MENU in docs/site/menu.py", "none.md",
                        "tutorial.md#none", "docs/sql"):
            assert message in done.stdout, (message, done.stdout)


@pytest.mark.usefixtures("site")
def test_what_is_missing_is_named():
    """Without Sphinx the target says what to install; without one of its parts the settings do."""
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.20)\nproject(site NONE)\ninclude({ROOT}/cmake/site.cmake)\n")
        subprocess.run(["cmake", "-S", folder, "-B", folder / "build", "-DDFT_SPHINX="], stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run(["cmake", "--build", folder / "build", "--target", "site"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        assert done.returncode != 0 and "apt-get install python3-sphinx python3-myst-parser" in done.stdout, done.stdout
        (folder / "sitecustomize.py").write_text("import importlib.util\nfind = importlib.util.find_spec\n"
                                                 "importlib.util.find_spec = lambda name, *rest: None if name == 'furo' else find(name, *rest)\n")
        shutil.copytree(ROOT / "docs/site", folder / "docs/site")
        done = sphinx(folder, PYTHONPATH=directory)
        assert done.returncode != 0 and "apt-get install furo" in done.stdout, done.stdout


def test_menu_has_all_pages():
    """Also without Sphinx."""
    there = [str(path.relative_to(ROOT).with_suffix("")) for path in (ROOT / "docs").rglob("*.md")]
    assert not not_in_menu(there), not_in_menu(there)
    gone = [entry for entries in MENU.values() for entry in entries if not list(ROOT.glob(f"{entry}.md"))]
    assert not gone, ("MENU in docs/site/menu.py names pages that are not there", gone)


def missing():
    """What the site needs and is not installed."""
    if not shutil.which("sphinx-build"):
        return "sphinx-build"
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(["sphinx-build", "-q", "-b", "dummy", "-c", ROOT / "docs/site", directory, f"{directory}/none"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return (re.findall("apt-get install .*", done.stdout) or [None])[0]
