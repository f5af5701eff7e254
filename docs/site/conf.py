# SPDX-License-Identifier: MIT
"""Settings of Sphinx, which makes the site of the pages as they lie in the tree: `cmake --build BUILD --target
site`."""

import importlib.util
import pathlib
import re
import shutil
import sys

from sphinx.errors import ConfigError
from sphinx.util import logging

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from menu import MENU, not_in_menu

PACKAGES = {"myst_parser": "python3-myst-parser", "sphinx_copybutton": "python3-sphinx-copybutton", "furo": "furo"}
missing = [package for module, package in PACKAGES.items() if not importlib.util.find_spec(module)]
if missing:
    raise ConfigError(f"The site needs more Debian packages: apt-get install {' '.join(missing)}")

project = html_title = "dftrace"
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "*/README.md", "docs/**.md"]
exclude_patterns = ["build*", ".*"]
root_doc = "README"
nitpicky = True
myst_heading_anchors = 6
html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = html_show_copyright = html_use_index = False
html_show_search_summary = False  # browsers do not let a page from a file read other files
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True


def add_menu(app, docname, source):
    """The menu is not part of README.md, where forges would show it as text."""
    if docname == root_doc:
        for title, pages in MENU.items():
            lines = ["", "```{toctree}", ":hidden:", ":glob:", f":caption: {title}", *(f"/{page}" for page in pages), "```", ""]
            source[0] += "\n".join(lines)


def check_menu(app, env):
    for message in not_in_menu(env.found_docs):
        logging.getLogger(__name__).warning(message)


def mend_theme(app, error):
    """Debian ships furo in parts, which browsers do not load from files, and without its rule for browsers that are
    dark."""
    if error or app.builder.format != "html":
        return
    static = pathlib.Path(app.outdir) / "_static"
    script, style = static / "scripts/furo.js", static / "styles/furo.css"
    text = script.read_text()
    part = 'import Gumshoe from "./gumshoe-patched.js";'
    if part in text:
        script.write_text(text.replace(part, (static / "scripts/gumshoe-patched.js").read_text()))
    text = style.read_text()
    part = "@import url(/javascript/normalize.css/normalize.css);"
    if part in text:
        text = text.replace(part, pathlib.Path("/usr/share/javascript/normalize.css/normalize.css").read_text())
    dark = re.search(r'body\[data-theme="dark"\] (\{[^}]*\})', text)
    if dark and "prefers-color-scheme" not in text:
        text += f'\n@media not print {{ @media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {dark[1]} }} }}\n'
    style.write_text(text)


def add_index(app, error):
    """The first page also has the name that browsers and web servers look for."""
    if not error and app.builder.format == "html":
        shutil.copy(pathlib.Path(app.outdir) / f"{root_doc}.html", pathlib.Path(app.outdir) / "index.html")


def setup(app):
    app.connect("source-read", add_menu)
    app.connect("env-check-consistency", check_menu)
    app.connect("build-finished", mend_theme)
    app.connect("build-finished", add_index)
