# SPDX-License-Identifier: MIT
"""dlopen and dlsym in woven programs: the loader answers as it does without us, whichever library asks, and what is found is woven."""

import collections
import pathlib
import platform

import pytest

from tracing import LIBRARY, dump, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
GCC = ["gcc", "-O1", "-g", "-D_GNU_SOURCE", f"-I{HERE}"]
INCLUDE = '#include "loading.h"\n'
RULES = "".join(f"lib{name}.so int {name}(int n) capture=*\n" for name in ("target", "other", "deep"))


def library(directory, name, text, *flags):
    """lib<name>.so, of C; `name` may have folders."""
    output = directory / name
    output = output.with_name(f"lib{output.name}.so")
    output.parent.mkdir(parents=True, exist_ok=True)
    source = output.with_suffix(".c")
    source.write_text(INCLUDE + text)
    run_checked([*GCC, "-shared", "-fPIC", source, *flags, f"-Wl,-soname,{output.name}", "-o", output])
    return output


def program(directory, text, *flags):
    source = directory / "program.c"
    source.write_text(INCLUDE + text)
    run_checked([*GCC, source, *flags, "-pthread", "-o", directory / "program"])
    return directory / "program"


def target(directory, name="target", value=1, where=""):
    return library(directory, where + name, f"int {name}(int n) {{ return n + {value}; }}\n")


def rpath(folder, old=False):
    """A search path in what is linked: RUNPATH, or RPATH, which libraries that are loaded inherit."""
    return [f"-Wl,-rpath,{folder}", "-Wl,--disable-new-dtags" if old else "-Wl,--enable-new-dtags"]


def compare(directory, *command, calls, preload="", **more):
    """The same with and without us; `calls` are those of woven functions, by name."""
    need("gcc")
    (directory / "out").mkdir()
    rules = directory / "rules.weave"
    rules.write_text(RULES)
    settings = {"LD_PRELOAD": preload} if preload else {}
    plain = run(command, cwd=directory, env=environment(**settings, **more))
    traced = tracing(directory / "out/t", WEAVE=rules)
    done = run(command, cwd=directory, env={**traced, **more, "LD_PRELOAD": f"{LIBRARY}:{preload}" if preload else str(LIBRARY)})
    if b"built without libffi" in done.err:
        pytest.skip("the library was built without libffi")
    equal((done.out.decode(), done.err, done.code), (plain.out.decode(), plain.err, plain.code), "what the program did")
    equal(plain.code, 0, plain.out)
    events = dump(directory / "out") if calls else []
    equal(collections.Counter(e["name"] for e in events if e["cat"] == "WEAVE"), calls, "calls of woven functions")
    return plain.out.decode()


def test_a_program_with_a_search_path(directory):
    """RUNPATH serves the program alone, RPATH what it loads, too; $ORIGIN is the caller's."""
    for old in (False, True):
        here = directory / ("rpath" if old else "runpath")
        target(here, where="hidden/")
        (here / "hidden/libcopy.so").write_bytes((here / "hidden/libtarget.so").read_bytes())
        plugin = library(here, "plugins/plugin", 'int entry(int n) { return call_in("libtarget.so", RTLD_NOW, "target", n); }\n')
        main = program(here, f"""
int main(void) {{
    printf("%d\\n", call_in("libtarget.so", RTLD_NOW, "target", 1));
    printf("%d\\n", call_in("$ORIGIN/hidden/libtarget.so", RTLD_NOW, "target", 2));
    printf("%d\\n", call_in("{plugin}", RTLD_NOW, "entry", 3));
    printf("%d\\n", call_in("{here}/hidden/libtarget.so", RTLD_NOW, "target", 4));
    return 0; }}
""", *rpath("$ORIGIN/hidden", old))
        out = compare(here, main, calls={"target": 4 if old else 3})
        equal(out.count("cannot open"), 0 if old else 1, out)


def test_a_library_with_a_search_path(directory):
    """It finds what the program does not; the libraries that it loads do not find it."""
    deep = target(directory, "deep", 100, "hidden/")
    target(directory, where="hidden/")
    needing = library(directory, "needing", "int deep(int n); int entry(int n) { return deep(n); }\n", deep)
    inner = library(directory, "inner", 'int entry(int n) { return call_in("libtarget.so", RTLD_NOW, "target", n); }\n')
    plugin = f"""
int entry(int n) {{
    int all = call_in("{inner}", RTLD_NOW, "entry", n);
    printf("%d\\n", all);
    printf("%d\\n", call_in("{needing}", RTLD_LAZY, "entry", n));
    printf("%d\\n", call_in("$ORIGIN/hidden/libtarget.so", RTLD_NOW, "target", n));
    return call_in("libtarget.so", RTLD_NOW | RTLD_LOCAL, "target", n); }}
"""
    old = library(directory, "old", plugin, *rpath(directory / "hidden", old=True))
    new = library(directory, "new", plugin, *rpath(directory / "hidden"))
    main = program(directory, f"""
int main(void) {{
    printf("%d\\n", call_in("{old}", RTLD_NOW, "entry", 1));
    printf("%d\\n", call_in("{new}", RTLD_NOW, "entry", 2));
    return 0; }}
""")
    out = compare(directory, main, calls={"target": 4})
    equal((out.count("libtarget.so: cannot open"), out.count("libdeep.so: cannot open")), (2, 2), out)


def test_a_search_path_that_is_inherited(directory):
    """A library that the program needs searches the RPATH of the one that needs it."""
    target(directory, where="hidden/")
    opening = library(directory, "opening", 'int entry(int n) { return call_in("libtarget.so", RTLD_NOW, "target", n); }\n')
    for old in (False, True):
        here = directory / ("rpath" if old else "runpath")
        middle = library(here, "middle", "int entry(int n); int middle(int n) { return entry(n); }\n", opening, "-Wl,--no-as-needed", "-ldl",
                         *rpath(f"{directory}:{directory}/hidden", old))
        main = program(here, 'int middle(int n); int main(void) { printf("%d\\n", middle(1)); return 0; }\n', middle, "-Wl,--allow-shlib-undefined", *rpath(here))
        out = compare(here, main, calls={"target": 1} if old else {})
        equal(out.count("cannot open"), 0 if old else 1, out)


def test_names_without_a_handle(directory):
    """RTLD_NEXT and RTLD_DEFAULT of the program, of its libraries, and of those it loads, also with functions of the same name and
    RTLD_DEEPBIND."""
    found = target(directory)
    front = library(directory, "front", """
int target(int n) { int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "target"); return next ? 10 * next(n) : -1; }
void *ask(void *handle, const char *name) { return dlsym(handle, name); }
""")
    ask = """
int entry(int n) {
    int (*function)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "target");
    say("nowhere", dlsym(RTLD_DEFAULT, "nowhere"));
    say("version", dlvsym(RTLD_DEFAULT, "target", "NONE_1"));
    return function ? function(n) : -1; }
"""
    plugin = library(directory, "plugin", ask)
    same = library(directory, "same", ask + "int target(int n) { return -n; }\n")
    symbolic = library(directory, "symbolic", ask + "int target(int n) { return -n; }\n", "-Wl,-Bsymbolic")
    own = library(directory, "own", ask.replace("entry", "ask_own") + "int target(int n) { return -n; }\n", "-Wl,-Bsymbolic")
    added = target(directory, "other", 1000)
    main = program(directory, f"""
#include <errno.h>
int target(int n), ask_own(int n); void *ask(void *handle, const char *name);
int main(void) {{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "target"), (*other)(int);
    printf("%d %d\\n", target(1), next ? next(2) : -1);
    say("RTLD_NEXT", dlsym(RTLD_NEXT, "nowhere")); say("RTLD_NEXT", ask(RTLD_NEXT, "nowhere"));
    say("RTLD_DEFAULT", dlsym(RTLD_DEFAULT, "nowhere")); say("RTLD_DEFAULT", ask(RTLD_DEFAULT, "nowhere"));
    say("handle", dlsym(dlopen(0, RTLD_NOW), "nowhere"));
    say("version", dlvsym(RTLD_NEXT, "target", "NONE_1"));
    dlsym(RTLD_DEFAULT, "nowhere"); errno = 77;
    next = (int (*)(int))dlsym(RTLD_NEXT, "target");
    printf("%d\\n", errno); say("an error before", (void *)next);
    say("before", dlsym(RTLD_DEFAULT, "other"));
    printf("%d\\n", ask_own(6));
    printf("%d\\n", call_in("{plugin}", RTLD_NOW, "entry", 3));
    for (int deep = 0; deep < 2; deep++) {{
        printf("%d\\n", call_in("{same}", RTLD_NOW | (deep ? RTLD_DEEPBIND : 0), "entry", 4));
        printf("%d\\n", call_in("{symbolic}", RTLD_NOW | (deep ? RTLD_DEEPBIND : 0), "entry", 5));
    }}
    say("to all", dlopen("{added}", RTLD_NOW | RTLD_GLOBAL));
    other = (int (*)(int))dlsym(RTLD_DEFAULT, "other");
    printf("%d\\n", other ? other(1) : -1);
    return 0; }}
""", "-Wl,--no-as-needed", front, found, own, *rpath(directory))
    # Through the front library: the program's two, the plugin's, and one of the two without RTLD_DEEPBIND.
    out = compare(directory, main, calls={"target": 4, "other": 1})
    equal([l for l in out.splitlines() if l.lstrip("-").isdigit()], ["77", "-6", "40", "50", "-5", "-4", "-5", "1001"], out)


def test_loading_while_loading(directory):
    """Constructors that load, look up and call, handles that are held twice, RTLD_NOLOAD, and dlclose."""
    found = target(directory)
    maker = library(directory, "maker", f"""
static void *held;
__attribute__((constructor)) static void load(void) {{ held = dlopen("{found}", RTLD_NOW); printf("%d\\n", call(held, "target", 1)); }}
__attribute__((destructor)) static void unload(void) {{ if (held) dlclose(held); }}
int entry(int n) {{ return call(held, "target", n); }}
""")
    main = program(directory, f"""
int main(void) {{
    for (int i = 0; i < 3; i++) {{
        void *twice, *maker;
        say("not loaded", dlopen("{found}", RTLD_NOW | RTLD_NOLOAD));
        maker = dlopen("{maker}", RTLD_LAZY);
        twice = dlopen("{found}", RTLD_NOW | RTLD_NOLOAD);
        printf("%d %d\\n", call(maker, "entry", i), call(twice, "target", i));
        say("no mode", dlopen("{found}", 0));
        printf("%d %d\\n", dlclose(maker), dlclose(twice));
    }}
    return 0; }}
""")
    compare(directory, main, calls={"target": 9})


def test_another_namespace(directory):
    """A library that lives there and is handed our dlopen loads into its own namespace."""
    found = target(directory)
    plugin = library(directory, "plugin", f"""
int entry(void *(*open)(const char *, int)) {{
    void *library = open("{found}", RTLD_NOW);
    Lmid_t its = -1;
    say("namespace", library);
    if (library) dlinfo(library, RTLD_DI_LMID, &its);
    printf("%d %d\\n", its > 0, library ? call(library, "target", 1) : -1);
    return fflush(stdout); }}
""")
    main = program(directory, f"""
int main(void) {{
    void *plugin = dlmopen(LM_ID_NEWLM, "{plugin}", RTLD_NOW), *(*volatile open)(const char *, int) = dlopen;
    int (*entry)(void *(*)(const char *, int)) = plugin ? (int (*)(void *(*)(const char *, int)))dlsym(plugin, "entry") : 0;
    printf("%d\\n", entry ? entry(open) : -1);
    printf("%d\\n", call_in("{found}", RTLD_NOW, "target", 1));
    return 0; }}
""")
    out = compare(directory, main, calls={"target": 1})
    true("\n1 2\n" in out, out)


def test_a_library_that_stands_in_for_dlopen(directory):
    """It comes before ours or behind it."""
    found = target(directory)
    front = library(directory, "front", """
void *dlopen(const char *file, int flags) {
    static void *(*next)(const char *, int);
    if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    if (file && strstr(file, "libtarget")) printf("dlopen\\n");
    return next(file, flags); }
""")
    main = program(directory, f'int main(void) {{ printf("%d\\n", call_in("{found}", RTLD_NOW, "target", 1)); return 0; }}\n')
    out = compare(directory, main, calls={"target": 1}, preload=str(front))
    equal(out.count("dlopen"), 1, out)


def test_many_threads(directory):
    """Callers with and without a search path load and look up at the same time."""
    target(directory, where="hidden/")
    other = target(directory, "other")
    entry = 'int entry(int n) {{ void *l = dlopen("{}", RTLD_NOW); n = call(l, "{}", n); if (l) dlclose(l); return n; }}\n'
    searching = library(directory, "searching", entry.format("libtarget.so", "target"), *rpath(directory / "hidden"))
    plain = library(directory, "plain", entry.format(other, "other"))
    main = program(directory, f"""
#include <pthread.h>
static void *load(void *file) {{
    long wrong = 0;
    for (int i = 0; i < 100; i++) {{
        void *library = dlopen(file, RTLD_NOW);
        wrong += call(library, "entry", i) != i + 1;
        if (library) dlclose(library);
    }}
    return (void *)wrong; }}
int main(void) {{
    pthread_t threads[4]; long all = 0; void *wrong;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, load, i % 2 ? "{searching}" : "{plain}");
    for (int i = 0; i < 4; i++) {{ pthread_join(threads[i], &wrong); all += (long)wrong; }}
    printf("%ld\\n", all);
    return 0; }}
""")
    compare(directory, main, calls={"target": 200, "other": 200})


def test_every_return_goes_where_its_call_was_made(directory):
    """Otherwise a processor with a shadow stack ends the program. Each way through the stand-ins is stepped through."""
    if platform.machine() != "x86_64":
        pytest.skip("the steps of other processors are not known here")
    need("gcc")
    found = target(directory)
    target(directory, "other", where="hidden/")
    plugin = library(directory, "plugin", """
int same(int n) { return n; }
int entry(int n) { return call_in("libother.so", RTLD_NOW, "other", n) + ((int (*)(int))dlsym(RTLD_DEFAULT, "same"))(1); }
""", *rpath(directory / "hidden"))
    front = library(directory, "front", 'int target(int n) { int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "target"); return next(n); }\n')
    # The loader's errors are longjmps, which move a real shadow stack themselves: so there are none between the breakpoints.
    main = program(directory, f"""
int target(int n);
int main(void) {{
    int all, (*of_version)(const char *);
    __asm__ volatile("int3");
    all = target(1) + call_in("{plugin}", RTLD_NOW, "entry", 2) + ((int (*)(int))dlsym(RTLD_DEFAULT, "target"))(3);
    of_version = (int (*)(const char *))dlvsym(RTLD_NEXT, "puts", "GLIBC_2.2.5");
    __asm__ volatile("int3");
    return all != 2 + 3 + 1 + 4 || !of_version; }}
""", "-Wl,--no-as-needed", front, found, *rpath(directory))
    run_checked([*GCC, HERE / "shadow_stack.c", "-o", directory / "shadow_stack"])
    rules = directory / "rules.weave"
    rules.write_text(RULES)
    done = run([directory / "shadow_stack", main], cwd=directory, env=tracing(directory / "out/t", WEAVE=rules))
    if done.code == 77:
        pytest.skip("programs may not be traced here")
    equal((done.code, done.err), (0, b""), done.out)
    calls = collections.Counter(e["name"] for e in dump(directory / "out") if e["cat"] == "WEAVE")
    equal(calls, {"target": 2, "other": 1}, "calls of woven functions")
    print(done.out.decode().splitlines()[-1])
