# SPDX-License-Identifier: MIT
"""What strace says a program did with mappings of files: the kernel's side of the events mmap, munmap, msync ...

The model is a dictionary of pages. It knows nothing of how the library keeps its table."""

import collections
import re

from system_calls import descriptor_path, split_arguments
from tracing import environment, need, run

PAGE = 4096
MAP_ANONYMOUS, MREMAP_DONTUNMAP = 0x20, 4
CALLS = ("mmap", "munmap", "mremap", "msync", "madvise", "mlock", "mlock2", "munlock", "remap_file_pages")

# A page of a mapping: the mappings are numbered, since each is an event of its own.
Page = collections.namedtuple("Page", "mapping file offset")
# further: the call has been counted with another file.
Event = collections.namedtuple("Event", "name file size offset flags error further")


class Space:
    """An address space."""

    def __init__(self, pages=()):
        self.pages, self.events, self.mappings = dict(pages), [], 0

    @staticmethod
    def range(address, length):
        return range(address // PAGE, (address + max(length, 1) + PAGE - 1) // PAGE)

    def clear(self, address, length):
        for page in self.range(address, length):
            self.pages.pop(page, None)

    def place(self, address, length, file, offset):
        self.mappings += 1
        for i, page in enumerate(self.range(address, length)):
            self.pages[page] = Page(self.mappings, file, offset + i * PAGE)

    def parts(self, address, length):
        """[first page, end page, file, offset] of what is mapped in a range."""
        found = []
        for page in self.range(address, length):
            at = self.pages.get(page)
            if at and found and found[-1][1] == page and found[-1][2] == at[:2]:
                found[-1][1] += 1
            elif at:
                found.append([page, page + 1, at[:2], at.offset])
        return found

    def on_mapped(self, name, address, length, flags, error):
        parts = self.parts(address, length)
        if not parts:
            return
        if error:
            self.events.append(Event(name, parts[0][2][1], length, parts[0][3], flags, error, False))
            return
        for i, (first, end, (_, file), offset) in enumerate(parts):
            start, stop = max(first * PAGE, address), min(end * PAGE, address + length)
            self.events.append(Event(name, file, stop - start, offset + start - first * PAGE, flags, None, i > 0))

    def mmap(self, arguments, result, error):
        length, flags, offset = (int(arguments[i], 0) for i in (1, 3, 5))
        path = descriptor_path(arguments[4])
        named = path is not None and path.startswith("/") and not flags & MAP_ANONYMOUS
        if named:
            self.events.append(Event("mmap", path, length, offset, flags, error, False))
        if not error:
            self.clear(result, length)
            if named:
                self.place(result, length, path, offset)

    def munmap(self, arguments, _, error):
        address, length = (int(a, 0) for a in arguments)
        self.on_mapped("munmap", address, length, 0, error)
        if not error:
            self.clear(address, length)

    def mremap(self, arguments, result, error):
        address, old, new, flags = (int(a, 0) for a in arguments[:4])
        parts = self.parts(address, old)
        if parts:
            self.events.append(Event("mremap", parts[0][2][1], new, parts[0][3], flags, error, False))
        if error:
            return
        if old and not flags & MREMAP_DONTUNMAP:
            self.clear(address, old)
        self.clear(result, new)
        for first, end, (_, file), offset in parts:
            start = result + first * PAGE - address // PAGE * PAGE
            stop = result + new if end == self.range(address, old).stop else min(start + (end - first) * PAGE, result + new)
            if start < stop:
                self.place(start, stop - start, file, offset)

    def remap_file_pages(self, arguments, _, error):
        address, length, _, page, flags = (int(a, 0) for a in arguments)
        parts = self.parts(address, length)
        if parts:
            file = parts[0][2][1]
            self.events.append(Event("remap_file_pages", file, length, page * PAGE, flags, error, False))
            if not error:
                self.place(address, length, file, page * PAGE)

    def other(self, name, arguments, error):
        flags = int(arguments[2], 0) if len(arguments) > 2 else 0
        self.on_mapped(name, int(arguments[0], 0), int(arguments[1], 0), flags, error)


def joined(lines):
    """(pid, call) of each line. A call that another process interrupted is on two lines: it comes with the second."""
    pending = {}
    for line in lines:
        pid, _, text = line.strip().partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            pending[pid] = text[:-len("<unfinished ...>")]
        resumed = re.match(r"<\.\.\. \S+ resumed>(.*)", text)
        yield pid, pending.pop(pid) + resumed.group(1) if resumed else text


def read(lines):
    """The address spaces of a run, in the order in which they came to be. No threads."""
    spaces, by_pid, forking = [], {}, None
    for pid, text in joined(lines):
        if pid in by_pid and re.match(r"(clone3?|v?fork)\(", text):
            forking = by_pid[pid] if text.startswith("vfork") else Space(by_pid[pid].pages)
        if pid not in by_pid:
            by_pid[pid] = Space() if forking is None else forking
            if by_pid[pid] not in spaces:
                spaces.append(by_pid[pid])
        found = re.match(r"(\w+)\((.*)\)\s+= (-?\w+)(?: (E\w+))?", text)
        if not found:
            continue
        name, arguments, result, error = found.group(1), split_arguments(found.group(2)), found.group(3), found.group(4)
        arguments = ["0" if a == "NULL" else a for a in arguments]
        if name in ("execve", "execveat") and not error:
            by_pid[pid].pages.clear()
        elif name in ("mmap", "munmap", "mremap", "remap_file_pages"):
            getattr(by_pid[pid], name)(arguments, int(result, 0), error)
        elif name in CALLS:
            by_pid[pid].other(name, arguments, error)
    return spaces


def strace(command, directory, stdin=None):
    """Runs the program untraced under strace. Returns its result and the events of each process."""
    need("strace")
    output = directory / "strace-maps.txt"
    names = ",".join([*CALLS, "clone", "clone3", "fork", "vfork", "execve", "execveat"])
    done = run(["strace", "-f", "-y", "-s", "0", "-X", "raw", "-e", "signal=none", "-e", "trace=" + names, "-o", output, "--", *command],
               cwd=directory, stdin=stdin, env=environment())
    with open(output, encoding="utf-8", errors="surrogateescape") as lines:
        return done, [space.events for space in read(lines)]
