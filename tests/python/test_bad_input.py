# SPDX-License-Identifier: MIT
"""What programs do wrongly, and libraries that are not as expected: the program goes on, what is missing is named."""

from __future__ import annotations

import pathlib
import subprocess

import pytest
from traced import DFTMERGE, LIBRARY, python

VALUES = """
    import dftrace
    from dftrace import _core
    class Bad:
        def __str__(self): raise RuntimeError
    class Index:
        def __index__(self): return 5
    class Stop:
        def __str__(self): raise KeyboardInterrupt
    values = {"big": 1 << 80, "least": -(1 << 63), "huge": 10 ** 5000, "nan": float("nan"), "surrogate": "a\\ud800b",
              "bytes": b"by", "none": None, "bad": Bad(), "index": Index(), "true": True, "long": "\\u00e9" * 100000,
              "nul": "a\\0b", "list": [1], "half": 0.5}
    try:
        import numpy
        values.update(int64=numpy.int64(7), float32=numpy.float32(0.5), array=numpy.zeros(2))
    except ImportError:
        pass
    for key, value in values.items():
        with dftrace.region("of " + key, **{key: value}) as r:
            r.update({key + " too": value})
        dftrace.instant(key, **{key: value})
        dftrace.metadata(key, value)
    with dftrace.region("keys", args={1: 2, "category": 3, "s\\ud800": 4, None: 5}): pass
    try:
        with dftrace.region("stopped", stop=Stop()): pass
    except KeyboardInterrupt:
        pass
    else:
        assert not dftrace.enabled(), "KeyboardInterrupt is lost"
    dftrace.thread_name("\\ud800"); dftrace.set_role("x" * 10000); dftrace.counter("huge", 10 ** 500)
    dftrace.counter("least", -10 ** 500); dftrace.counter("wide", -(1 << 70))
    _core.end("CAT", "never begun"); _core.event("E", "backwards", -5, -5)
    dftrace.resume()
"""


@pytest.mark.parametrize("plain", [False, True])
def test_values_of_any_kind(tmp_path: pathlib.Path, plain: bool) -> None:
    done = python(VALUES, tmp_path, plain=plain)
    assert done.err == ""
    if plain:
        return
    got = {event["name"]: event["args"] for event in done.events() if event.get("phase") == "instant"}
    assert got["big"] == {"big": str(1 << 80)} and got["least"] == {"least": -(1 << 63)} and got["true"] == {"true": 1}
    assert got["surrogate"] == {"surrogate": "a\\ud800b"} and got["bytes"] == {"bytes": "b'by'"}
    assert got["none"] == {"none": "None"} and "Bad" in got["bad"]["bad"] and got["index"] == {"index": 5}
    assert got["nul"] == {"nul": "a"} and got["list"] == {"list": "[1]"} and got["half"] == {"half": 0.5}
    assert set(got["long"]["long"]) == {"\u00e9"} and got["huge"]["huge"].startswith("0x")
    if "int64" in got:
        assert got["int64"] == {"int64": 7} and got["float32"] == {"float32": 0.5}
        assert got["array"] == {"array": "[0. 0.]"}
    counters = [(event["name"], event["args"]["value"]) for event in done.events() if event.get("phase") == "counter"]
    assert counters == [("huge", None), ("least", None), ("wide", float(-(1 << 70)))]  # infinite: null
    assert {e["name"]: e for e in done.events()}["of half"]["args"] == {"half": 0.5, "half too": 0.5}
    assert done.named("keys")[0]["args"] == {"1": 2, "category": 3, "s\\ud800": 4, "None": 5}


@pytest.mark.parametrize("wrong, says", [
    ("dftrace.region('a', 'b')", "a name or a function"), ("dftrace.region(5)", "decorates functions"),
    ("dftrace.region(int)", "decorate the methods"), ("dftrace.region('x', category=3)", "category= needs a str"),
    ("dftrace.region('x', args=4)", "args= needs a mapping"), ("dftrace.region().__enter__()", "needs a name"),
    ("dftrace.instant()", "one name"), ("dftrace.region('x')(print, print)", "one function"),
    ("type(dftrace.region('x'))()", "not called by programs"), ("type(dftrace.region(len))()", "not called by programs"),
    ("from dftrace import _core; _core.Span()", "not called by programs"),
    ("from dftrace import _core; _core.Steps()", "not called by programs"),
    ("dftrace.no_such_name", "has no attribute 'no_such_name'")])
def test_wrong_use_is_said(tmp_path: pathlib.Path, wrong: str, says: str) -> None:
    for plain in (False, True):
        done = python(f"import dftrace\n{wrong}\n", tmp_path, plain=plain, check=False)
        assert done.code == 1 and says in done.err


@pytest.mark.parametrize("wrong, says", [
    ("dftrace.relate('contains', 'a', 'b')", "TypeError: relate() needs ids"), ("dftrace.entity('', 'k')", "needs a type"),
    ("dftrace.entity('a', '')", "needs a key"), ("dftrace.entity('a', None)", "needs a key"),
    ("dftrace.region('x').uses('a', '')", "needs a key"), ("dftrace.set_role(5)", "a name needs a str, not"),
    ("dftrace.thread_name(None)", "a name needs a str, not"), ("dftrace.counter('a', 'b')", "counter() needs a number")])
def test_wrong_types_are_said_while_tracing(tmp_path: pathlib.Path, wrong: str, says: str) -> None:
    done = python(f"import dftrace\n{wrong}\n", tmp_path, check=False)
    assert done.code == 1 and says in done.err
    done = python("""
        from dftracer.python import dftracer, dft_fn
        log = dftracer.initialize_log()
        log.declare_entity("", None)
        log.relate_entities("contains", "a", "b")
        with dft_fn("c", "n") as f: f.uses("a", "")
    """, tmp_path)
    assert done.err == ""


OTHER = """
struct { unsigned version, size; int enabled; void *functions[40]; } dftrace_api_v1 = {VERSION, SIZE, 1, {0}};
"""


@pytest.mark.parametrize("version, size", [(2, 344), (1, 40)])
def test_a_library_of_another_version(tmp_path: pathlib.Path, version: int, size: int) -> None:
    (tmp_path / "other.c").write_text(OTHER.replace("VERSION", str(version)).replace("SIZE", str(size)))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libdftrace.so", "other.c"], cwd=tmp_path, check=True)
    done = python("""
        import dftrace
        @dftrace.region
        def function(): return 1
        assert function() == 1 and not dftrace.enabled()
        with dftrace.region("x", k=1): pass
        print(dftrace.why_off())
    """, tmp_path, plain=True, LD_PRELOAD=tmp_path / "libdftrace.so")
    assert "another version" in done.out and "install" in done.out and done.err == ""


INIT = """
    import os, sys, warnings
    import dftrace
    @dftrace.region
    def before(): return 1
    assert before() == 1 and not dftrace.enabled() and "dftrace run" in dftrace.why_off()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        on = dftrace.init(sys.argv[1], process_id=7)
        assert dftrace.init() == on
    print(on, len(caught), [str(one.message) for one in caught])
    before()
    with dftrace.region("after"): open(__file__).close()
"""


def test_init_without_the_launcher(tmp_path: pathlib.Path) -> None:
    (tmp_path / "traces").mkdir()
    done = python(INIT, tmp_path, tmp_path / "traces" / "t", plain=True)
    assert done.err == "" and done.out.startswith("True 1 ") and "python -m dftrace run" in done.out
    assert len(done.named("before")) == len(done.named("after")) == 1
    assert done.named("process_id")[0]["args"] == {"value": 7}


def test_tracing_switched_on_without_a_preload(tmp_path: pathlib.Path) -> None:
    (tmp_path / "traces").mkdir()
    program = "import dftrace\nwith dftrace.region('x'): pass\n"
    settings = {"DFTRACER_ENABLE": 1, "DFTRACER_LOG_FILE": tmp_path / "traces" / "t"}
    done = python(program, tmp_path, plain=True, **settings)
    assert done.err.count("RuntimeWarning: dftrace records annotations alone") == 1 and len(done.named("x")) == 1
    assert f"{tmp_path / 'program.py'}:1: RuntimeWarning" in done.err
    for module in ("dftracer.python", "dftracer.logger", "perfflowaspect.aspect"):
        done = python(f"pass\nimport {module}\n", tmp_path, plain=True, **settings)
        assert f"{tmp_path / 'program.py'}:2: RuntimeWarning" in done.err
    done = python(program, tmp_path, plain=True, PYTHONWARNINGS="error", **settings)
    assert done.err == "" and len(done.named("x")) == 2


def test_init_where_nothing_is_installed(tmp_path: pathlib.Path) -> None:
    done = python("""
        import warnings
        import dftrace
        from dftrace import _core, _find
        _find._prefixes = lambda: ["/no/such/prefix"]
        assert dftrace.init() is False
        with dftrace.region("x"): pass
        try:
            _find.tool("dftmerge")
        except _find.NotFound as error:
            print(error)
    """, tmp_path, plain=True, PATH="/usr/bin:/bin")
    assert "dftrace records nothing: libdftrace.so is not installed: looked in /no/such/prefix/lib" in done.err
    assert "dftmerge is not installed" in done.out and "DFTRACE_HOME" in done.out
    assert "pip installs annotations and the launcher alone" in done.out


@pytest.mark.parametrize("log", ["file/t", "/proc/none/x", "file"])
def test_a_log_directory_that_cannot_be_written(tmp_path: pathlib.Path, log: str) -> None:
    (tmp_path / "file").write_text("")
    program = INIT + "    print(dftrace.why_off())\n"
    done = python(program, tmp_path, tmp_path / log, plain=True)
    if log == "file":
        assert done.out.startswith("True 1 ") and done.out.endswith("None\n")
        return
    assert done.out.startswith("False 2 ") and "dftrace records nothing: no trace can be written to " in done.out
    assert done.out.splitlines()[-1].endswith("name another folder") and done.err == ""
    done = python(f"import dftrace\nassert dftrace.init('new/folder/t')\nassert dftrace.init({log!r})\n"
                  "with dftrace.region('x'): pass\n", tmp_path, plain=True)
    assert "goes on with the trace that it has" in done.err
    assert len(done._replace(traces=tmp_path / "new" / "folder").named("x")) == 1


@pytest.mark.parametrize("begin", ["dftrace.init(log_file=name, data_dirs='/nowhere')",
                                   "__import__('dftracer.logger').logger.dftracer.initialize_log(logfile=name)"])
def test_the_environment_comes_before_the_program(tmp_path: pathlib.Path, begin: str) -> None:
    program = f"""
        import os, subprocess, sys
        import dftrace
        name = os.path.abspath("program/t")
        {begin}
        with dftrace.region("x"): pass
    """
    settings = {"DFTRACER_ENABLE": 1, "DFTRACER_LOG_FILE": tmp_path / "traces" / "t"}
    for plain in (True, False):
        done = python(program, tmp_path, plain=plain, **settings)
        assert not (tmp_path / "program").exists() and len(done.named("x")) == 2 - plain
    done = python(program, tmp_path, plain=True, DFTRACER_ENABLE=1)
    assert len(done._replace(traces=tmp_path / "program").named("x")) == 1


def test_a_child_names_its_own_file(tmp_path: pathlib.Path) -> None:
    python("""
        import subprocess, sys
        import dftrace
        dftrace.init("traces/" + ("child" if sys.argv[1:] else "parent"))
        if not sys.argv[1:]:
            subprocess.run([sys.executable, __file__, "again"], check=True)
        with dftrace.region("x"): pass
    """, tmp_path, plain=True)
    names = [path.name for path in (tmp_path / "traces").iterdir()]
    assert sorted(name.split("-")[0].split(".")[0] for name in names) == ["child", "parent"], names


def test_what_is_installed_is_found(tmp_path: pathlib.Path) -> None:
    home = tmp_path / "home"
    (home / "lib").mkdir(parents=True)
    (home / "lib" / "libdftrace.so").symlink_to(LIBRARY)
    program = "from dftrace import _find\nprint(_find.library(), _find.tool('dftmerge'))\n"
    assert python(program, tmp_path, plain=True).out.split() == [str(LIBRARY), str(DFTMERGE)]
    at_home = python(program, tmp_path, plain=True, DFTRACE_HOME=home).out.split()[0]
    assert at_home == str(home / "lib" / "libdftrace.so")


def test_importing_changes_no_signal_handler(tmp_path: pathlib.Path) -> None:
    python("""
        import signal, sys
        before = [signal.getsignal(n) for n in sorted(signal.valid_signals())]
        import dftrace
        assert before == [signal.getsignal(n) for n in sorted(signal.valid_signals())]
        assert not {"typing", "inspect", "asyncio", "warnings"} & (set(sys.modules) - known)
    """.replace("import signal, sys", "import signal, sys\n        known = set(sys.modules)"), tmp_path)
