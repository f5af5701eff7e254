# SPDX-License-Identifier: MIT
"""The menu of the site: its sections, and their pages by their path from the top of the tree, without .md.

README.md is the first page and stands above all sections. A page that stands nowhere is an error.
"""

import fnmatch

MENU = {
    "First steps": [
        "docs/tutorial",
        "docs/install",
        "docs/systems",
        "docs/limits",
        "docs/costs",
    ],
    "Reading the page": [
        "docs/reading-the-page",
        "docs/findings",
        "docs/comparing",
    ],
    "Recipes": [
        "docs/mpi-slurm",
        "docs/jobs",
        "docs/crashed",
        "docs/operators",
        "docs/containers",
        "docs/gpu",
        "docs/python",
        "docs/python-integrations",
        "docs/python-reading",
        "docs/cpp",
        "docs/annotations",
        "docs/selective",
        "docs/spans",
        "docs/sql",
        "docs/parquet",
        "docs/privacy",
        "docs/beside",
        "docs/compatibility",
    ],
    "Commands": [
        "docs/commands/dftrun",
        "docs/commands/dftmerge",
        "docs/commands/dftmerge-*",
    ],
    "Reference": [
        "docs/variables",
        "docs/json",
        "docs/trace-format",
        "CHANGELOG",
    ],
    "Design and contributing": [
        "docs/design",
        "docs/design/*",
        "format/README",
        "preload/README",
        "tools/README",
        "report/README",
        "tests/README",
        "CONTRIBUTING",
        "SECURITY",
    ],
}


def not_in_menu(pages):
    """What to do about each page (a path without .md) that no section has."""
    patterns = ["README", *(entry for entries in MENU.values() for entry in entries)]
    return [f"{page}.md stands in no menu: add it to a section of MENU in docs/site/menu.py"
            for page in sorted(pages) if not any(fnmatch.fnmatchcase(page, pattern) for pattern in patterns)]
