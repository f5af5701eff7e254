# SPDX-License-Identifier: MIT
"""The weave files of GPUs, held against stand-ins of the vendors' libraries, and against the vendors' headers where
these are."""

import collections
import json
import pathlib
import re

import pytest

from tracing import dftmerge, dump, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE.parents[1] / "preload/weave/files"
SONAMES = {"CUDART": "libcudart.so.12", "CUDA": "libcuda.so.1", "HIP": "libamdhip64.so.6", "CUFILE": "libcufile.so.0"}


def build(directory, which):
    need("gcc")
    gcc = ["gcc", "-O1", "-D_GNU_SOURCE", f"-DSTUB_{which}", f"-I{HERE}"]
    run_checked([*gcc, "-shared", "-fPIC", f"-Wl,-soname,{SONAMES[which]}", HERE / "gpu_stub.c", "-o", directory / SONAMES[which]])
    run_checked([*gcc, HERE / "gpu_calls.c", directory / SONAMES[which], f"-Wl,-rpath,{directory}", "-o", directory / which])


def calls(directory, which, weave):
    """The regions of a run; plain and traced it says the same."""
    build(directory, which)
    more = {"LD_LIBRARY_PATH": str(directory)}
    plain = run([directory / which], cwd=directory, env={**environment(), **more})
    done = run([directory / which], cwd=directory, env={**tracing(directory / "out/t", WEAVE=weave), **more})
    if b"built without libffi" in done.err:
        pytest.skip("the library was built without libffi")
    equal((done.code, done.out, done.err), (plain.code, plain.out, b""), "what the program did")
    true(plain.code == 0 and plain.out.count(b"\n") > 3, plain)
    return [e for e in dump(directory / "out") if e["cat"] in ("CUDA", "CUDRV", "HIP", "CUFILE")], plain.out.decode()


def told(event, *arguments):
    return tuple([event["name"], event.get("size", 0), *((event.get("args") or {}).get(a) for a in arguments)])


def runtime_calls(prefix):
    long, short = "0x7f0012345678", "0xabc0"
    words = ["host-host", "host-device", "device-host", "device-device", "default", 5]
    return [*((f"{prefix}Memcpy", 100 + i, word, None) for i, word in enumerate(words)),
            (f"{prefix}MemcpyAsync", 1000, "host-device", long), (f"{prefix}MemcpyAsync", 1001, "device-host", long),
            (f"{prefix}MemcpyAsync", 1002, -1, "0x0"), (f"{prefix}Memcpy2DAsync", 200, "host-device", short),
            (f"{prefix}MemcpyPeerAsync", 77, "device-device", short), (f"{prefix}MemsetAsync", 50, None, short),
            (f"{prefix}LaunchKernel", 0, None, short), (f"{prefix}StreamSynchronize", 0, None, short)]


def sql(directory, question):
    done = dftmerge("sql", "--json", directory / "out", question)
    if b"built without" in done.err:
        pytest.skip("dftmerge was built without SQLite")
    equal(done.code, 0, done.err)
    return [tuple(row.values()) for row in json.loads(done.out)]


def test_cuda_runtime(directory):
    """Every call with its bytes, direction and stream; and the question that this is for."""
    events, out = calls(directory, "CUDART", "cudart")
    equal([told(e, "direction", "stream") for e in events], runtime_calls("cuda"), "calls")
    equal(len(events), len(out.splitlines()) - 1, "calls as the stand-in counted them")
    equal(told(events[10], "dst_device", "src_device")[2:], (1, 2), "devices")


def test_bytes_by_direction_and_stream(directory):
    calls(directory, "CUDART", "cudart")
    rows = sql(directory, "select args->>'direction' as direction, args->>'stream' as stream, count(*) as calls, sum(size) as bytes "
                          "from events where cat = 'CUDA' and stream is not null and direction is not null group by 1, 2 order by 1, 2")
    wanted = collections.Counter()
    times = collections.Counter()
    for _, size, direction, stream in runtime_calls("cuda"):
        if direction is not None and stream is not None:
            wanted[direction, stream] += size
            times[direction, stream] += 1
    equal({(str(d), s): (c, b) for d, s, c, b in rows}, {(str(d), s): (times[d, s], b) for (d, s), b in wanted.items()}, "the answer")


def test_hip_runtime(directory):
    events, out = calls(directory, "HIP", "hip")
    equal([told(e, "direction", "stream") for e in events], runtime_calls("hip"), "calls")
    equal(len(events), len(out.splitlines()) - 1, "calls as the stand-in counted them")


def test_cuda_driver(directory):
    """The name has the direction, and the runtime finds the functions by another one."""
    events, out = calls(directory, "CUDA", "cuda")
    equal([told(e, "direction", "stream") for e in events],
          [("cuMemcpyHtoD_v2", 200, "host-device", None), ("cuMemcpyDtoHAsync_v2", 201, "device-host", "0x10"),
           ("cuMemsetD32Async", 100, None, "0x20"), ("cuLaunchKernel", 0, None, "0x20"), ("cuGetProcAddress_v2", 0, None, None),
           ("cuMemcpyHtoDAsync_v2", 300, "host-device", "0x10"), ("cuGetProcAddress_v2", 0, None, None)], "calls")
    equal([e["args"]["grid_y"] for e in events if e["name"] == "cuLaunchKernel"], [2], "the launch")
    true("500 1 1" in out, "what is not found")


def test_cufile(directory):
    """Sizes and offsets that are told by pointers, too."""
    events, _ = calls(directory, "CUFILE", "cufile")
    equal([(*told(e, "direction", "stream"), e["offset"]) for e in events],
          [("cuFileWrite", 1000, "device-storage", None, 50), ("cuFileRead", 400, "storage-device", None, 100),
           ("cuFileReadAsync", 500, "storage-device", "0x30", 96)], "calls")


def test_pointers_that_cannot_be_read(directory):
    """A size behind a pointer is looked for with care: a stand-in fails on it before the program would."""
    need("gcc")
    (directory / "lib.c").write_text("long f(unsigned long *n) { return (long)n; }\n")
    (directory / "main.c").write_text("long f(void *n);\nint main(void) { unsigned long n = 9; "
                                      "return f((void *)8) != 8 || f((void *)0) || f(&n) != (long)&n || f((void *)-9L) != -9L; }\n")
    run_checked(["gcc", "-shared", "-fPIC", directory / "lib.c", "-o", directory / "libf.so"])
    run_checked(["gcc", directory / "main.c", directory / "libf.so", f"-Wl,-rpath,{directory}", "-o", directory / "main"])
    (directory / "f.weave").write_text("libf.so long f(size_t *n) size=n*10*2 offset=n\n")
    done = run([directory / "main"], cwd=directory, env=tracing(directory / "out/t", WEAVE=directory / "f.weave"))
    equal((done.code, done.err), (0, b""), "the run")
    equal([(e.get("size", 0), e.get("offset")) for e in dump(directory / "out") if e["name"] == "f"], [(0, None), (0, None), (180, 9), (0, None)], "calls")


def lines_of(name):
    """Functions of a weave file: their declarations and names."""
    for line in (FILES / f"{name}.weave").read_text().splitlines():
        match = re.match(r"lib\S+\s+((?:\w+ )+)(\w+)\((.*?)\)(?:  |$)", line)
        if match:
            yield match.group(1).strip(), match.group(2), match.group(3)


SHAPES = """
#include <type_traits>
#include <stdint.h>
#include <sys/types.h>
typedef void *ptr; typedef uint64_t uint64; typedef uint32_t uint32; typedef uint16_t uint16; typedef uint8_t uint8; typedef int32_t int32;
enum direction : unsigned {};
namespace own { struct dim3 { unsigned x, y, z; }; struct CUfileError_t { int code, driver; }; }
template <class A, class B> constexpr bool alike = sizeof(A) == sizeof(B) && std::is_class<A>::value == std::is_class<B>::value;
template <class> struct shape;
template <class R, class... A> struct shape<R (*)(A...)> {
    template <class> struct with;
    template <class S, class... B> struct with<S (*)(B...)> {
        template <bool same, class = void> struct each { static constexpr bool value = false; };
        template <class U> struct each<true, U> { static constexpr bool value = (alike<A, B> && ... && alike<R, S>); };
        static constexpr bool value = each<sizeof...(A) == sizeof...(B)>::value;
    };
};
#define SAME(function, ...) static_assert(shape<decltype(&function)>::with<__VA_ARGS__>::value, #function)
"""


def check_header(directory, weave, header, flags=()):
    """Each prototype passes what the vendor's does: as many values, of the same sizes."""
    need("g++")
    folders = [f for f in ("/usr/local/cuda/include", "/usr/include", "/opt/rocm/include") if (pathlib.Path(f) / header).exists()]
    if not folders:
        pytest.skip(f"there is no {header}")
    found = {}
    for result, name, arguments in lines_of(weave):
        found.setdefault(re.sub(r"_pt[ds][sz]$", "", name), f"{result} (*)({arguments.replace('struct dim3', 'own::dim3')})".replace("CUfileError_t (", "own::CUfileError_t ("))
    text = (pathlib.Path(folders[0]) / header).read_text(errors="replace")
    for name in [n for n in found if n == "cuGetProcAddress" or len(re.findall(rf"hipError_t {n}\(", text)) > 1]:
        del found[name]  # the header has a newer one by that name; C++ has others
    true(len(found) > 5, found)
    source = directory / "shapes.cpp"
    source.write_text(f"#include <{header}>\n{SHAPES}" + "".join(f"SAME({name}, {shape});\n" for name, shape in found.items()))
    run_checked(["g++", "-std=c++17", "-fsyntax-only", *flags, f"-I{folders[0]}", source])


def test_prototypes_are_those_of_the_runtimes_header(directory):
    check_header(directory, "cudart", "cuda_runtime_api.h")


def test_prototypes_are_those_of_the_drivers_header(directory):
    check_header(directory, "cuda", "cuda.h")


def test_prototypes_are_those_of_hips_header(directory):
    check_header(directory, "hip", "hip/hip_runtime_api.h", ["-D__HIP_PLATFORM_AMD__"])


def test_prototypes_are_those_of_cufiles_header(directory):
    check_header(directory, "cufile", "cufile.h")
