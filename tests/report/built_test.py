# SPDX-License-Identifier: MIT
"""The committed page is that of its sources, small, and asks nothing of a network. Needs neither npm nor a browser."""

import base64
import hashlib
import pathlib
import re


ROOT = pathlib.Path(__file__).resolve().parents[2] / "report"
PAGE = (ROOT / "built" / "report.html").read_bytes()
MOST_BYTES = 300_000
AROUND = ("build.mjs", "package.json", "package-lock.json", "page.css", "page.html")


def sources():
    """Files of the page, in order of their paths."""
    inside = (p.relative_to(ROOT).as_posix() for p in (ROOT / "src").rglob("*") if p.is_file())
    return sorted([*AROUND, *inside])


def test_is_that_of_its_sources():
    digest = hashlib.sha256()
    for path in sources():
        digest.update(path.encode() + b"\0" + (ROOT / path).read_bytes() + b"\0")
    (found,) = re.findall(rb'<meta name="dftrace-sources" content="([^"]*)">', PAGE)
    assert found.decode() == digest.hexdigest(), "report/built is stale: `cd report && npm ci && npm run build` makes it anew"


def test_is_small():
    assert len(PAGE) < MOST_BYTES, f"{len(PAGE)} bytes"


def test_has_a_place_for_data_and_for_an_address():
    for mark in (b'id="dftrace-data"></script>', b'name="dftrace-live" content=""'):
        assert PAGE.count(mark) == 1, (mark, PAGE.count(mark))


def test_asks_for_nothing():
    (policy,) = re.findall(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', PAGE)
    rules = dict(rule.strip().split(b" ", 1) for rule in policy.split(b";"))
    assert rules[b"default-src"] == b"'none'" and rules[b"connect-src"] == b"'self'", policy
    assert not re.search(rb'<(?:script|link|img|iframe)[^>]*(?:src|href)=', PAGE), "something is loaded"
    scripts = [s for s in re.findall(rb"<script>(.*?)</script>", PAGE, re.DOTALL)]
    assert scripts and all(f"'sha256-{base64.b64encode(hashlib.sha256(s).digest()).decode()}'".encode() in rules[b"script-src"] for s in scripts)
    assert b"unsafe" not in policy, policy


def test_the_lock_file_names_no_host():
    lock = (ROOT / "package-lock.json").read_text()
    assert '"resolved"' not in lock and "://" not in re.sub(r'"url": "[^"]*"', "", lock)


def test_has_the_notices_of_what_is_inside():
    for words in (b"Leon Sorokin", b"Arjun Barrett", b"The above copyright notice and this permission notice"):
        assert words in PAGE, words
