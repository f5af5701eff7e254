# SPDX-License-Identifier: MIT
"""The Python interpreter's own tests: every test has the same result plain and traced."""

import xml.etree.ElementTree

import pytest

from compare import BUILD, FULL, full, run_plain, run_traced, true
from python_modules import MODULES, SHORT, interpreter

CASES = []
TRIES = 5
STARTUP = str(BUILD / "python" / "dftrace" / "startup")  # what `python -m dftrace run` puts on PYTHONPATH
# Where processes begin. These run once more with names for processes; in CI the tests with these names.
NAMED = {
    "test_multiprocessing_fork": ("WithProcessesTestSubclassingProcess", "WithProcessesTestPoolWorkerLifetime"),
    "test_multiprocessing_spawn": ("WithProcessesTestProcess.test_*name*", "WithProcessesTestProcess.test_parent*"),
    "test_multiprocessing_forkserver": ("WithProcessesTestProcess.test_*name*", "WithProcessesTestSubclassingProcess"),
    "test_concurrent_futures": ("ProcessPoolFork*InitializerTest",),
    "test_asyncio": ("SubprocessThreadedWatcherTests.test_std*",),
}
TIMEOUT = 900


def command(module, patterns):
    chosen = [argument for pattern in patterns for argument in ("-m", pattern if pattern.startswith("test.") else f"*.{pattern}" if "." in pattern else pattern)]
    return [interpreter(module), "-m", "test", "-v", "--timeout", TIMEOUT, "--junit-xml", "../results.xml", *chosen, module]


def results(directory):
    """What each test came to: name -> kinds of all that was reported for it."""
    found = {}
    file = directory / "results.xml"
    if file.exists():
        for test in xml.etree.ElementTree.parse(file).iter("testcase"):
            kinds = sorted(child.tag for child in test if child.tag in ("failure", "error", "skipped"))
            found.setdefault(test.get("name"), []).extend(kinds or ["ok"])
        file.unlink()
    return found


def plain_results(directory, module, patterns):
    done = run_plain(directory, command(module, patterns), seconds=3000)
    return done, results(directory)


def traced_results(directory, module, patterns, settings, sound):
    settings = dict(settings)
    env = {"PYTHONPATH": STARTUP, "DFTRACE_PYTHON": "roles"} if settings.pop("NAMED", False) else None
    done = run_traced(directory, command(module, patterns), seconds=3000, settings=settings, sound=sound, env=env)
    return done, results(directory)


def message_of(done, name):
    """The last lines that the run has about this test."""
    text = (done.out + done.err).decode(errors="replace")
    at = max(text.rfind("ERROR: " + name.split(".")[-1]), text.rfind("FAIL: " + name.split(".")[-1]))
    return " | ".join((text[at:at + 1500] if at >= 0 else text[-800:]).splitlines()[-25:])


def stays_different(directory, module, name, settings):
    """Runs one test again. It is a difference when some traced run has a result that no plain run has."""
    pattern = (name,)
    plain = [plain_results(directory, module, pattern)[1].get(name) for _ in range(TRIES)]
    for _ in range(TRIES):
        done, found = traced_results(directory, module, pattern, settings, False)
        if found.get(name) not in plain:
            return f"{name}: plain {plain[0]}, traced {found.get(name)}: {message_of(done, name)}"
    return None


def compare_module(directory, module, patterns=(), **settings):
    if not interpreter(module):
        pytest.skip(f"no Python here has test.{module} (Debian: libpython3.*-testsuite)")
    done, plain = plain_results(directory, module, patterns)
    if not plain and f"\n{module} skipped".encode() in done.out:
        pytest.skip(f"{module} skips itself here")
    true(plain, f"no results of the plain run, exit code {done.code}: {done.out.decode()[-400:]}")
    traced_done, traced = traced_results(directory, module, patterns, settings, True)
    true(traced, f"no results of the traced run, exit code {traced_done.code}: "
                 f"{(traced_done.out + traced_done.err).decode(errors='replace')[-1500:]}")
    differ = sorted(name for name in plain.keys() | traced.keys() if plain.get(name) != traced.get(name))
    stay = [text for text in (stays_different(directory, module, name, settings) for name in differ) if text]
    true(not stay, f"{len(stay)} of {len(plain)} tests: " + "; ".join(stay))
    true(differ or traced_done.code == done.code, f"exit code {traced_done.code}, plain {done.code}: "
         f"{traced_done.err.decode(errors='replace')[-1500:]}")


def add(module, patterns, kind, only_full, **settings):
    def test(directory):
        compare_module(directory, module, patterns, **settings)
    test.__name__ = f"{module}{kind}"
    CASES.append(full(test) if only_full else test)


for module in MODULES:
    add(module, () if FULL else SHORT.get(module, ()), "", module not in SHORT)
    add(module, (), "_with_all_descriptors", True, DATA_DIR="all:pipe::socket:")
for module, short in NAMED.items():
    add(module, () if FULL else short, "_with_roles", False, NAMED=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_python(directory, case):
    case(directory)
