# SPDX-License-Identifier: MIT
"""The site of the documentation in Chromium, from files: it searches, fits a phone, is dark on request, and asks
nobody.

Needs Sphinx and Chromium; runs in tests/run.sh --full.
"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from site_test import SITE, site  # noqa: F401

pytestmark = [pytest.mark.usefixtures("site"), pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")]
PHONE = 390  # pixels
# Shows pages one after the other in a frame as wide as a phone, and leaves what it saw in its own text.
LOOK = """<!doctype html><meta charset="utf-8"><body><script>
const pages = %s, seen = [];
const look = (page) => new Promise((done) => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.width = %d; frame.height = 800;
    frame.onload = () => setTimeout(() => {
        const inside = frame.contentDocument, top = inside.documentElement;
        seen.push({ page, width: top.scrollWidth, colour: frame.contentWindow.getComputedStyle(inside.body).backgroundColor,
                    found: [...inside.querySelectorAll('#search-results li a')].map((link) => link.getAttribute('href')),
                    toggles: top.classList.contains('no-js') ? 0 : inside.querySelectorAll('.theme-toggle').length,
                    copies: inside.querySelectorAll('.copybtn').length });
        frame.remove();
        done();
    }, page.includes('search') ? 3000 : 50);
    frame.src = page;
});
(async () => { for (const page of pages) await look(page); document.body.textContent = 'SEEN' + JSON.stringify(seen) + 'END'; })();
</script>"""


def browse(pages, *options):
    """What Chromium saw of each page, and what stands on its console."""
    with tempfile.TemporaryDirectory() as directory:
        page = pathlib.Path(directory) / "look.html"
        page.write_text(LOOK % (json.dumps([f"file://{SITE}/{page}" for page in pages]), PHONE))
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
                               "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={directory}/user", "--virtual-time-budget=600000",
                               *options, "--dump-dom", f"file://{page}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                              check=False)
    match = re.search(r"SEEN(.*)END", done.stdout, re.DOTALL)
    assert match, (done.stdout[-1000:], done.stderr[-1000:])
    seen = json.loads(match[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    return {pathlib.PurePath(one["page"]).name.partition("?")[0]: one for one in seen}, re.findall(r"CONSOLE.*", done.stderr)


def test_pages_fit_a_phone():
    seen, console = browse([str(path.relative_to(SITE)) for path in sorted(SITE.rglob("*.html"))])
    assert not console, console
    wide = {page: one["width"] for page, one in seen.items() if one["width"] > PHONE + 1}
    assert len(seen) > 40 and not wide, wide
    assert seen["tutorial.html"]["toggles"] and seen["tutorial.html"]["copies"], seen["tutorial.html"]


def test_search_finds_without_a_server():
    seen, console = browse(["search.html?q=fsync"])
    assert not console and len(seen["search.html"]["found"]) >= 3, (console, seen)
    assert any("findings" in link for link in seen["search.html"]["found"]), seen
    seen, _ = browse(["search.html?q=nosuchwordatall"])
    assert not seen["search.html"]["found"], seen


def test_dark_browsers_get_dark_pages():
    colours = [browse(["README.html"], *options)[0]["README.html"]["colour"] for options in ((), ("--blink-settings=preferredColorScheme=0",))]
    light, dark = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert light > 700 and dark < 150, colours
