# SPDX-License-Identifier: MIT
"""What strace says a program did, and the rules by which it must agree with a trace.

A trace holds the calls that cross into the C library, strace those that cross into the kernel. They agree wherever the
program makes the system call through an intercepted function. Every exception stands here as a rule with its reason.
"""

import collections
import errno
import os
import re

from tracing import environment, need, run

SystemCall = collections.namedtuple("SystemCall", "pid name args result error path family bytes")

# System call -> family, and where its path stands: a descriptor, (dirfd, path), or a path; AFTER: behind another argument.
FD, AT, PATH, AT_AFTER, PATH_AFTER = range(5)
SYSTEM_CALLS = {
    "open": ("open", PATH), "creat": ("open", PATH), "openat": ("open", AT), "close": ("close", FD),
    "read": ("read", FD), "readv": ("read", FD), "pread64": ("pread", FD), "preadv": ("pread", FD),
    "preadv2": ("pread", FD),
    "write": ("write", FD), "writev": ("write", FD), "pwrite64": ("pwrite", FD), "pwritev": ("pwrite", FD),
    "pwritev2": ("pwrite", FD), "lseek": ("lseek", FD),
    "stat": ("stat", PATH), "lstat": ("stat", PATH), "fstat": ("stat", FD), "newfstatat": ("stat", AT),
    "statx": ("stat", AT),
    "fsync": ("sync", FD), "fdatasync": ("sync", FD), "ftruncate": ("ftruncate", FD),
    "unlink": ("unlink", PATH), "unlinkat": ("unlink", AT), "mkdir": ("mkdir", PATH), "mkdirat": ("mkdir", AT),
    "rename": ("rename", PATH), "renameat": ("rename", AT), "renameat2": ("rename", AT),
    "chdir": ("chdir", PATH), "fchdir": ("chdir", FD), "dup": ("dup", FD), "dup2": ("dup", FD), "dup3": ("dup", FD),
    "fcntl": ("fcntl", FD),
    "access": ("access", PATH), "faccessat": ("access", AT), "faccessat2": ("access", AT),
    "rmdir": ("rmdir", PATH), "link": ("link", PATH), "linkat": ("link", AT), "symlink": ("symlink", PATH_AFTER),
    "symlinkat": ("symlink", AT_AFTER), "mknod": ("mknod", PATH), "mknodat": ("mknod", AT),
    "chmod": ("chmod", PATH), "fchmod": ("chmod", FD), "fchmodat": ("chmod", AT),
    "chown": ("chown", PATH), "lchown": ("chown", PATH), "fchown": ("chown", FD), "fchownat": ("chown", AT),
    "utime": ("utime", PATH), "utimes": ("utime", PATH), "futimesat": ("utime", AT), "utimensat": ("utime", AT),
    "truncate": ("truncate", PATH), "fallocate": ("fallocate", FD), "fadvise64": ("advice", FD), "readahead": ("advice", FD),
    "sync_file_range": ("sync", FD), "syncfs": ("sync", FD), "flock": ("flock", FD),
    "name_to_handle_at": ("handle", AT), "inotify_add_watch": ("watch", PATH_AFTER),
    **{f"{kind}{what}xattr": (f"{what}xattr", where) for kind, where in (("", PATH), ("l", PATH), ("f", FD))
       for what in ("get", "set", "list", "remove")},
}
# Event -> family. What is missing makes no system call of its own (readdir, ftell) or none that can be counted.
EVENTS = {
    "open": "open", "openat": "open", "creat": "open", "fopen": "open", "opendir": "open",
    "close": "close", "fclose": "close", "closedir": "close",
    "read": "read", "readv": "read", "pread": "pread", "preadv": "pread", "preadv2": "pread",
    "write": "write", "writev": "write", "dprintf": "write", "vdprintf": "write",
    "pwrite": "pwrite", "pwritev": "pwrite", "pwritev2": "pwrite", "lseek": "lseek",
    "stat": "stat", "lstat": "stat", "fstat": "stat", "fstatat": "stat", "statx": "stat",
    "fsync": "sync", "fdatasync": "sync", "ftruncate": "ftruncate", "unlink": "unlink", "unlinkat": "unlink",
    "mkdir": "mkdir", "mkdirat": "mkdir", "rename": "rename", "renameat": "rename", "renameat2": "rename",
    "chdir": "chdir", "fchdir": "chdir", "dup": "dup", "dup2": "dup", "dup3": "dup", "fcntl": "fcntl",
    "access": "access", "eaccess": "access", "faccessat": "access", "rmdir": "rmdir", "remove": "unlink", "shm_unlink": "unlink",
    "link": "link", "linkat": "link", "symlink": "symlink", "symlinkat": "symlink", "mkdtemp": "mkdir",
    "mknod": "mknod", "mknodat": "mknod", "mkfifo": "mknod", "mkfifoat": "mknod", "chmod": "chmod", "fchmod": "chmod",
    "fchmodat": "chmod", "chown": "chown", "lchown": "chown", "fchown": "chown", "fchownat": "chown",
    "utime": "utime", "utimes": "utime", "lutimes": "utime", "futimes": "utime", "futimens": "utime", "futimesat": "utime",
    "utimensat": "utime", "truncate": "truncate", "fallocate": "fallocate", "posix_fallocate": "fallocate",
    "posix_fadvise": "advice", "readahead": "advice", "sync_file_range": "sync", "syncfs": "sync", "flock": "flock",
    "lockf": "fcntl", "ftok": "stat", "isfdtype": "stat", "name_to_handle_at": "handle", "inotify_add_watch": "watch",
    "mkstemp": "open", "mkostemp": "open", "mkstemps": "open", "mkostemps": "open", "tmpfile": "open", "shm_open": "open",
    "setmntent": "open", "endmntent": "close",
    **{f"{kind}{what}xattr": f"{what}xattr" for kind in ("", "l", "f") for what in ("get", "set", "list", "remove")},
}
# Answered by the C library without asking the kernel, or by asking for something else.
WITHOUT_SYSTEM_CALL = [
    *((name, {"errno": 22}) for name in ("mkstemp", "mkostemp", "mkstemps", "mkostemps", "mkdtemp")),  # no template
    ("faccessat", {"mode": None, "flags": 0x200}),  # F_OK, AT_EACCESS: what realpath does, too
    ("fchmodat", {"flags": 0x100}),  # AT_SYMLINK_NOFOLLOW: changes /proc/self/fd/N
]
TRACED = ",".join([*sorted(SYSTEM_CALLS), "clone", "clone3", "fork", "vfork", "execve", "execveat", "exit_group",
                   "getdents64", "geteuid", "getegid", "getuid", "getgid"])

# Paths left out on both sides, with the reason.
OUTSIDE = [
    (re.compile(r"^(?!/)"), "pipes, sockets and the like have no path and are not traced"),
    (re.compile(r"^/(proc|sys)(/|$)"), "not traced by default (DFTRACER_DATA_DIR)"),
    (re.compile(r"^/dev/(?!shm/)"), "not traced by default (DFTRACER_DATA_DIR)"),
    (re.compile(r"\.so(\.[0-9.]+)?$|/etc/ld\.so\.|/glibc-hwcaps(/|$)|"
                r"/(tls|haswell|avx512_1|x86_64)(/(haswell|avx512_1|x86_64))*$"),
     "the dynamic loader opens, reads and closes libraries itself, and looks at where they might be"),
    (re.compile(r"/locale-archive$|^/usr/(lib|share)/locale/|/gconv-modules|/gconv/"),
     "locales and converters are opened inside libc"),
    (re.compile(r"^/etc/(nsswitch\.conf|passwd|group|localtime|host\.conf|resolv\.conf|hosts)$|/zoneinfo/"),
     "the name services and the time zone are read inside libc"),
    (re.compile(r"^/$"), "the name services look whether the root directory has changed"),
]
# Opens that libc makes for itself, by their flags; what happens to the descriptor later is seen only where the program
# uses it.
INSIDE_OPENS = [
    (re.compile(r"^O_RDONLY\|O_NOFOLLOW\|O_CLOEXEC\|O_PATH$"),
     "fchmodat: opens, looks, changes /proc/self/fd/N, closes"),
]
# eaccess looks at the file, asks who we are, then asks for access.
EACCESS = ["newfstatat", "geteuid", "getegid", "getuid", "getgid"]


def outside(path):
    return any(pattern.search(path) for pattern, _ in OUTSIDE)


def split_arguments(text):
    """Splits at commas outside of quotes, brackets and the <...> behind a descriptor."""
    arguments, depth, start, i = [], 0, 0, 0
    while i < len(text):
        c = text[i]
        if c == '"':
            i += 1
            while i < len(text) and text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif c == "<" and re.search(r"(^|[\s,{\[])(-?\d+|AT_FDCWD)$", text[start:i]):
            i = text.find(">", i)
            if i < 0:
                break
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            arguments.append(text[start:i].strip())
            start = i + 1
        i += 1
    arguments.append(text[start:].strip())
    return arguments


def unquote(text):
    """A C string literal as strace prints it; bytes that are not UTF-8 as Python's surrogateescape does."""
    body = text[1:text.rindex('"')]
    return body.encode("latin-1", "replace").decode("unicode_escape").encode("latin-1").decode("utf-8",
                                                                                               "surrogateescape")


def descriptor_path(text):
    """The path in 3</path>, or None."""
    found = re.match(r"^(?:-?\d+|AT_FDCWD)<(.*?)>(\(deleted\))?$", text)
    if not found:
        return None
    path = unquote('"' + found.group(1).replace('"', '\\"') + '"')
    return path[:-len(" (deleted)")] if path.endswith(" (deleted)") else path


class Group:
    """What threads share: the descriptors whose origin the program's image knows, and the working directory."""

    def __init__(self, cwd, known=()):
        self.cwd, self.known, self.spawned = cwd, set(known), False
        self.inside = set()  # descriptors that libc opened for itself


class Reader:
    """Turns the lines of `strace -f -y -s 0` into calls."""

    def __init__(self, cwd):
        self.cwd, self.pending, self.groups, self.calls = cwd, {}, {}, []
        self.starting = {}  # pid -> text of the clone that it is in
        self.dropped = collections.Counter()
        self.unknown_closes = collections.Counter()  # by path
        self.directories = set()  # paths read as such
        self.recent, self.last = {}, {}  # by pid: the names of its last calls, the position of the last one kept

    def read(self, lines):
        for line in lines:
            pid, _, text = line.rstrip("\n").partition(" ")
            text = text.strip()
            if text.startswith(("+++", "---")) or not pid.isdigit():
                continue
            pid = int(pid)
            if pid not in self.groups:
                self.adopt(pid)
            if text.endswith("<unfinished ...>"):
                self.pending[pid] = text[:-len("<unfinished ...>")]
                if re.match(r"(clone3?|v?fork)\(", text):
                    self.starting[pid] = text
                continue
            resumed = re.match(r"<\.\.\. \S+ resumed>(.*)", text)
            if resumed:
                text = self.pending.pop(pid) + resumed.group(1)
            self.starting.pop(pid, None)
            self.one(pid, text)
        self.calls = [call for call in self.calls if call]

    def adopt(self, pid):
        """A child's first line can come before the line that ends its parent's clone: take a parent that is in one."""
        if not self.groups:
            self.groups[pid] = Group(self.cwd)
        elif self.starting:
            parent, text = next(reversed(self.starting.items()))
            self.born(self.groups[parent], pid, text)

    def born(self, parent, pid, text):
        if "CLONE_THREAD" in text or "CLONE_FILES" in text:
            self.groups[pid] = parent
        else:
            self.groups[pid] = Group(parent.cwd, parent.known)
            # posix_spawn, popen and system: what happens before exec is libc's own; vfork() is a call of the program
            self.groups[pid].spawned = "CLONE_VFORK" in text and text.startswith("clone")

    def one(self, pid, text):
        found = re.match(r"(\w+)\((.*)\)\s+= (.*)$", text)
        if not found:
            return
        self.recent[pid] = [*self.recent.get(pid, [])[-4:], found.group(1)]
        last = self.last.get(pid)
        if self.recent[pid] == EACCESS and last is not None and self.calls[last].family == "stat":
            self.calls[self.last.pop(pid)] = None
            self.dropped["made by libc inside eaccess"] += 1
        name, arguments, result = found.group(1), split_arguments(found.group(2)), found.group(3)
        number = re.match(r"-?\d+", result)
        value = int(number.group()) if number else None
        error = re.match(r"-1 (E\w+)", result)
        group = self.groups[pid]
        if name in ("clone", "clone3", "fork", "vfork"):
            if value and value > 0 and value not in self.groups:
                self.born(group, value, text)
        elif name in ("execve", "execveat"):
            if value == 0:
                group = self.groups[pid] = Group(group.cwd)
        elif name == "getdents64":
            if value is not None and value >= 0:
                self.directories.add(descriptor_path(arguments[0]))
        elif name in SYSTEM_CALLS:
            self.known_call(pid, group, name, arguments, value, error.group(1) if error else None, result)

    def known_call(self, pid, group, name, arguments, value, error, result):
        family, where = SYSTEM_CALLS[name]
        path, fd = self.path_of(group, where, arguments)
        if family == "chdir" and value == 0:
            group.cwd = path
        if family == "open" and value is not None and value >= 0:
            path = descriptor_path(result) or path
        if family == "open":
            flags = ", ".join(arguments[2 if where == AT else 1:])
            if any(pattern.search(flags) for pattern, _ in INSIDE_OPENS):
                if not error:
                    group.inside.add(value)
                self.dropped["opened by libc for itself"] += 1
                return
        if fd in group.inside and "O_PATH" not in result and family in ("close", "stat"):
            if family == "close":
                group.inside.discard(fd)
            if fd not in group.known:
                self.dropped["on what libc opened for itself"] += 1
                return
        unknown = fd is not None and fd not in group.known
        if family == "close":
            group.known.discard(fd)
        elif fd is not None and error != "EBADF":
            group.known.add(fd)
        if value is not None and value >= 0 and (family in ("open", "dup") or "F_DUPFD" in "".join(arguments)):
            group.known.add(value)
        if arguments[2:] == ["F_OK", "AT_EACCESS"]:
            self.dropped["realpath asks whether there is what a path with a slash at its end names"] += 1
        elif group.spawned:
            self.dropped["made by libc between posix_spawn and exec"] += 1
        elif family == "close" and unknown and error != "EBADF":
            self.dropped["a close of an inherited descriptor that this image never used is not resolved"] += 1
            if path:
                self.unknown_closes[path] += 1
        elif family == "lseek" and path in self.directories:
            self.dropped["rewinddir and seekdir move inside libc"] += 1
        elif path is None and error != "EBADF":
            self.dropped["no file behind the descriptor"] += 1
        else:
            moved = value if family in ("read", "pread", "write", "pwrite") and value and value > 0 else 0
            self.last[pid] = len(self.calls)
            self.calls.append(SystemCall(pid, name, arguments, value, error, path, family, moved))

    def path_of(self, group, where, arguments):
        """The path that a call works on and, when it is reached by a descriptor, the descriptor's number."""
        if where in (AT_AFTER, PATH_AFTER):
            return self.path_of(group, AT if where == AT_AFTER else PATH, arguments[1:])
        if where == FD:
            number = re.match(r"-?\d+", arguments[0])
            return descriptor_path(arguments[0]), int(number.group()) if number else None
        text = arguments[1] if where == AT else arguments[0]
        base = descriptor_path(arguments[0]) if where == AT else group.cwd
        if base is None and re.match(r"-?\d", arguments[0]):  # not open
            return None, None
        if where == AT and text == "NULL":  # as futimens does
            return self.path_of(group, FD, arguments)
        if not text.startswith('"'):
            return None, None
        name = unquote(text)
        if where == AT and name == "":
            return base, int(re.match(r"-?\d+", arguments[0]).group())
        return (os.path.join(base or group.cwd, name) if name else None), None


def strace(command, cwd, directory, stdin=None, env=None):
    """Runs the program untraced under strace. Returns its result and the reader of its system calls."""
    need("strace")
    output = directory / "strace.txt"
    result = run(["strace", "-f", "-y", "-s", "0", "-e", "trace=" + TRACED, "-e", "signal=none", "-o", output, "--",
                  *command],
                 cwd=cwd, stdin=stdin, env=env or environment())
    with open(output, encoding="utf-8", errors="surrogateescape") as lines:
        reader = Reader(str(cwd))
        reader.read(lines)
        return result, reader


NOT_OPEN = "/(not open)"  # stands for the file of a call on a number that is not open


def normalise(path, replacements):
    if path in (None, NOT_OPEN):
        return NOT_OPEN
    path = os.path.realpath(path)
    for pattern, replacement in replacements:
        path = re.sub(pattern, replacement, path)
    return path


def streams_of(events, replacements):
    return {normalise(e["file"], replacements) for e in events if e["cat"] == "STDIO" and "file" in e}


def behind_streams(family):
    """Behind a stream the C library reads, writes, seeks and looks at the file by itself: there the trace has the
    stream's calls."""
    return family in ("read", "write", "lseek", "stat", "fcntl")


def count_system_calls(calls, streams, replacements):
    counts, moved = collections.Counter(), collections.Counter()
    for call in calls:
        path = normalise(call.path, replacements)
        if (call.path and outside(call.path)) or outside(path) or (path in streams and behind_streams(call.family)):
            continue
        counts[call.family, path] += 1
        moved["read" if "read" in call.family else "write", path] += call.bytes
    return counts, +moved


# System calls that a function of libc makes inside: event -> families, when it succeeds.
INSIDE = {
    "opendir": ["stat"],                    # an openat, counted as opendir's own, then is it a directory?
    "fdopendir": ["stat", "fcntl", "fcntl"],  # is it a directory, open for reading? then close-on-exec
    "freopen": ["open", "dup", "close"],    # opens, moves it to the stream's descriptor, closes the first
}


# And when it fails.
INSIDE_FAILED = {"eaccess": "stat"}     # looks at the file first


def count_events(events, streams, replacements):
    counts, moved = collections.Counter(), collections.Counter()
    for event in events:
        file = NOT_OPEN if event.get("errno") == errno.EBADF else None
        file = event.get("file", file)
        if file is None or event.get("phase"):
            continue
        path = normalise(file, replacements)
        if outside(file) or outside(path):
            continue
        if any(event["name"] == name and all(event.get(key) == value for key, value in what.items())
               for name, what in WITHOUT_SYSTEM_CALL):
            continue
        family, calls = EVENTS.get(event["name"]), event.get("calls", 1)
        if "errno" in event:
            family = INSIDE_FAILED.get(event["name"], family)
        for inside in INSIDE.get(event["name"], []) if "errno" not in event else []:
            if not (path in streams and behind_streams(inside)):
                counts[inside, path] += calls
        if family and not (path in streams and behind_streams(family)):
            counts[family, path] += calls
            moved["read" if "read" in family else "write", path] += event.get("bytes", 0)
    return +counts, +moved


def differences(reader, events, replacements=()):
    """Where strace and the trace disagree, as lines; empty when they agree. Also how much was compared."""
    streams = streams_of(events, replacements)
    kernel, kernel_bytes = count_system_calls(reader.calls, streams, replacements)
    trace, trace_bytes = count_events(events, streams, replacements)
    # A stream's descriptor is known by the stream: its fclose is seen where a close would not be.
    more = collections.Counter()
    for path, count in reader.unknown_closes.items():
        if normalise(path, replacements) in streams:
            more["close", normalise(path, replacements)] += count
    lines = []
    for what, a, b in (("calls", kernel, trace), ("bytes", kernel_bytes, trace_bytes)):
        for key in sorted(set(a) | set(b)):
            if not a[key] <= b[key] <= a[key] + (more[key] if what == "calls" else 0):
                lines.append(f"{key[0]} {key[1]}: {what} by strace {a[key]}, in the trace {b[key]}")
    return lines, sum(kernel.values())
