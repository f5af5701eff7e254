# SPDX-License-Identifier: MIT
"""What the C library's headers declare and what it exports; and which of its functions have to do with files."""

import collections
import platform
import re

from call_table import split
from tracing import run, run_checked

Function = collections.namedtuple("Function", "type parameters")  # parameters as text: "const char *__path"

# Parts of other headers, and one for another language.
NO_HEADERS = re.compile(r"^(bits|gnu|asm|finclude)/")
# The C library in its parts; since 2.34 all but the first are empty shells.
LIBRARIES = ("libc", "libpthread", "librt", "libutil", "libdl")


def headers():
    """Public headers of the C library, as in #include."""
    machine = run_checked(["dpkg", "--print-architecture"]).out.decode().strip()  # others may be there for cross-compiling
    listing = run_checked(["dpkg", "-L", f"libc6-dev:{machine}"]).out.decode()
    found = [re.sub(r"^/usr/include/(\w+-linux-gnu\w*/)?", "", line) for line in listing.splitlines()
             if re.match(r"/usr/include/.*\.h$", line)]
    found = sorted(header for header in found if not NO_HEADERS.match(header))
    errors = compiler(["-E", "-P"], found, []).err.decode()
    broken = {int(line) for line in re.findall(r"In file included from <stdin>:(\d+)", errors)}  # #error: not for this machine
    return [header for number, header in enumerate(found, 2) if number not in broken]


def compiler(options, included, lines):
    """gcc on a file that includes these headers, and these lines behind."""
    source = ["#define _GNU_SOURCE", *(f"#include <{header}>" for header in included), *lines]
    return run(["gcc", "-std=gnu11", "-O1", *options, "-xc", "-"], stdin="\n".join(source).encode())


def end_of_group(text, at, brackets):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    while True:
        depth += (text[at] == brackets[0]) - (text[at] == brackets[1])
        at += 1
        if not depth:
            return at


def without(text, pattern, brackets, instead=" "):
    """The text without what stands in brackets behind the pattern, which ends with the opening one."""
    out, at = [], 0
    for found in re.finditer(pattern, text):
        if found.start() >= at:
            out.append(text[at:found.start()] + instead)
            at = end_of_group(text, found.end() - 1, brackets)
    return "".join(out) + text[at:]


def declared():
    """{name: Function} of all that the headers declare."""
    done = compiler(["-E", "-P"], headers(), [])
    text = re.sub(r"^#.*$", "", done.out.decode(), flags=re.M)
    text = without(text, r"__attribute__\s*\(", "()")
    text = re.sub(r'__asm__\s*\(\s*""\s*"(\w+)"\s*\)', r"@\1", text)
    text = without(text, r"(?<=\))\s*\{", "{}", ";")  # bodies of functions
    text = without(text, r"\{", "{}")                  # structures
    text = re.sub(r"\b(__extension__|extern|static|__inline|__inline__|inline|__restrict|restrict)\b", " ", text)
    functions = {}
    for piece in split(text, ";"):
        found = re.match(r"^([\w \*]+?)\s*\(?\b(\w+)\)?\s*\((.*)\)\s*(?:@(\w+))?$", piece)
        if found and not piece.startswith("typedef"):
            kind, name, parameters, other_name = found.groups()
            for symbol in {name, other_name or name}:
                functions[symbol] = Function(kind.strip(), split(parameters))
    return functions


def symbols(library, kinds="TWiVDBR"):
    """Names that a library defines for others (by default functions and data), whatever their version but GLIBC_PRIVATE, which
    the libraries of the C library alone can use."""
    listing = run_checked(["nm", "-D", "--defined-only", library]).out.decode()
    found = set()
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        if kind in kinds and not name.endswith("@GLIBC_PRIVATE"):
            found.add(name.split("@")[0])
    return found


def exported():
    """Functions of the C library."""
    listing = run_checked(["ldconfig", "-p"]).out.decode() if run(["which", "ldconfig"]).code == 0 else ""
    paths = {}
    for name, path in re.findall(r"^\s*(lib\w+)\.so\.\d+ \(libc6,[^)]*64[^)]*\) => (\S+)", listing, flags=re.M):
        paths.setdefault(name, path)
    return set().union(*(symbols(paths[name], "TWi") for name in LIBRARIES if name in paths)) - SHELLS


def version():
    return platform.libc_ver()[1]


SHELLS = {"__libpthread_version_placeholder", "__librt_version_placeholder", "__libutil_version_placeholder",
          "__libdl_version_placeholder"}

# --- what a function works on, by its declaration -------------------------------------------------------------------------

STREAM = re.compile(r"\b(__)?(FILE|DIR|FTS|FTS64)\b")
DESCRIPTOR_TYPE = re.compile(r"\b(mqd_t|struct (pollfd|aiocb|aiocb64|msghdr|mmsghdr)|fd_set|posix_spawn_file_actions_t)\b")
DESCRIPTOR = re.compile(r"^(unsigned int|int) ?\*? ?_*(\w*fds?\d?|fd(in|out)|\w*fildes|pipedes|max_fd|fp|s|amaster|aslave)(\[2\])?$")
PATH = re.compile(r"^(const )?char \*_*((|from_|to_)path(name)?|(|wtmp_|wtmpx_|special_)file(name)?|dir|dirname|name|fname|old|new|from|"
                  r"to|template|resolved|special|ut_line|tty|cat_name)$")
# These `name`s are of variables, users, groups, hosts, services, symbols.
OTHER_NAMES = re.compile(r"^(get|secure_get|set|unset)env$|^envz_|^get(alias|host|net|proto|rpc|serv)byname2?(_r)?$|"
                         r"^get(gr|pw|sg|sp)nam(_r)?$|^[gs]et(domain|host)name$|^setlogin$|^getlogin_r$|^dlv?sym$|^getaddrinfo$|"
                         r"^pthread_setname_np$|^__assert(_perror)?(_fail)?$")
# They open, or work on what no parameter names.
WITHOUT_PARAMETERS = {
    "epoll_create", "epoll_create1", "eventfd", "fanotify_init", "fsopen", "getpt", "inotify_init", "inotify_init1", "memfd_create",
    "pidfd_open", "posix_openpt", "rresvport", "rresvport_af", "socket", "rcmd", "rcmd_af", "rexec", "rexec_af", "syscall",
    "timerfd_create", "tmpnam", "tmpnam_r", "ctermid", "cuserid", "getcwd", "get_current_dir_name", "getwd", "sync", "vhangup",
    "fcloseall", "_flushlbf", "getttyent", "getfsent", "getpass", "glob", "glob64", "wordexp", "popen", "system", "err", "verr", "warn",
    "vwarn", "errx", "verrx", "warnx", "vwarnx", "error", "error_at_line", "psignal", "psiginfo", "herror", "daemon", "msync", "munmap",
    "mremap", "madvise", "closelog", "openlog", "syslog", "vsyslog"}
STANDARD_STREAMS = re.compile(r"^(getw?char(_unlocked)?|putw?char(_unlocked)?|gets|puts|perror|v?w?printf|v?w?scanf)$")
# Exported without a declaration, and not a form of something that has one.
HEADERLESS = {"__ivaliduser", "chflags", "fattach", "fchflags", "fdetach", "getmsg", "getpmsg", "gets", "isastream", "llseek",
              "pivot_root", "putmsg", "putpmsg", "svcfd_create", "svcunixfd_create", "uselib", "ustat", "xdrstdio_create"}


def subject(name, function):
    """What a function has to do with files, in a word; None: nothing."""
    texts = [function.type, *function.parameters]
    if any(STREAM.search(text) for text in texts):
        return "a stream"
    if any(DESCRIPTOR_TYPE.search(text) or DESCRIPTOR.match(text) for text in texts):
        return "a descriptor"
    if not OTHER_NAMES.match(name) and any(PATH.match(re.sub(r"\* +", "*", text)) for text in function.parameters):
        return "a path"
    if name in WITHOUT_PARAMETERS or STANDARD_STREAMS.match(name):
        return "a descriptor or a stream that no parameter names"
    return None


def about_files(functions, library):
    """{exported function: what it has to do with files}."""
    found = {name: subject(name, functions[name]) for name in library if name in functions}
    found.update({name: "a stream, or a file" for name in library if name in HEADERLESS or name.startswith("_IO_")})
    return {name: what for name, what in found.items() if what}
