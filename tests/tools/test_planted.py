# SPDX-License-Identifier: MIT
"""What somebody has put where dftmerge reads or writes: links, pipes, devices, folders, huge files with holes.

No command waits, grows or dies by a signal. No file elsewhere changes."""

import gzip
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import time

from tooltest import DFTMERGE, make

SECONDS = 20      # a busy machine; what hangs does so for ever
MOST = 3 << 30    # address space of a command
HUGE = 12 << 30   # bytes of a file with holes
SANITIZED = bool(os.environ.get("DFT_SANITIZE"))


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))


def ask(*command, cwd=None, env=None):
    """Returns the exit code and what was said, after the command ended by itself."""
    with subprocess.Popen([DFTMERGE, *command], cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, preexec_fn=limit) as process:
        try:
            said = process.communicate(timeout=SECONDS)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{command}: waits for ever") from None
    assert process.returncode in (0, 1, 2), (command, process.returncode, said[-500:])
    return process.returncode, said


def state(folder):
    """All that must stay: names, kinds, modes, owners and contents."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        st = path.lstat()
        what = os.readlink(path) if path.is_symlink() else hashlib.md5(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[path.relative_to(folder)] = (st.st_mode, st.st_uid, st.st_gid, what)
    return found


def victims(where):
    folder = where / "victim"
    (folder / "folder").mkdir(parents=True)
    (folder / "empty").touch()
    (folder / "thesis").write_bytes(b"key = value\n" * 1000)
    (folder / "private").write_bytes(b"secret\n")
    (folder / "private").chmod(0o600)
    return folder


def plant(kind, path, victim, like):
    """Puts something of this kind at the path, which had a file like this one."""
    if path.is_symlink() or path.exists():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(path.parent)  # a path of a socket is short
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
        os.chdir(here)
    elif kind == "huge":
        shutil.copy(like, path) if like else path.touch()
        os.truncate(path, HUGE)
    elif kind == "hole":
        path.touch()
        os.truncate(path, HUGE)
    elif kind == "far":  # one byte at the end of a hole
        shutil.copy(like, path) if like else path.touch()
        with path.open("r+b") as file:
            file.seek(HUGE)
            file.write(b"x")
    else:  # a link to this victim
        path.symlink_to(victim / kind)


KINDS = ("pipe", "folder", "loop", "device", "socket", "huge", "hole", "far", "empty", "thesis", "private")
READERS = [("summary",), ("check", "--recover"), ("sql", "{}", "select count(*) from events"), ("top", "--once"), ("collect", "-o", "{out}"),
           ("control", "--wait", "0", "{}", "flush")]


def command_of(words, place, out):
    filled = [w.format(place, out=out) for w in words]
    return filled if filled != list(words) and "{}" in words else [*filled, str(place)]


def killed(where, name):
    """A trace and the live file of a process that was killed."""
    folder = make(where / name, processes=1, threads=2, events=60, block=20, live=1)
    return next(folder.glob("*.dft")), next(folder.glob("*.dft.live"))


def test_what_stands_beside_a_trace(where):
    trace, live = killed(where, "made")
    victim = victims(where)
    before = state(victim)
    for end in ("", ".live"):
        for kind in KINDS:
            for words in READERS:
                place = where / "t"
                place.mkdir()
                shutil.copy(trace, place / trace.name)
                if end:
                    shutil.copy(live, place / live.name)
                    plant(kind, place / live.name, victim, live)
                else:
                    shutil.copy(live, place / live.name)
                    plant(kind, place / trace.name, victim, trace)
                ask(*command_of(words, place, where / "out"))
                assert state(victim) == before, (end, kind, words)
                shutil.rmtree(place)
                shutil.rmtree(where / "out", ignore_errors=True)


def test_nobody_who_waits_at_a_pipe_is_woken(where):
    """To open a device or a pipe may have effects: a writer would go on, and then die of SIGPIPE."""
    trace, live = killed(where, "made")
    for planted in (trace, live):
        place = where / "t"
        place.mkdir()
        for path in (trace, live):
            shutil.copy(path, place)
        plant("pipe", place / planted.name, None, None)
        for words in READERS:
            with subprocess.Popen(["sh", "-c", 'exec 3> "$0"; echo woken', place / planted.name], stdout=subprocess.PIPE) as writer:
                time.sleep(0.1)
                ask(*command_of(words, place, where / "out"))
                assert stat.S_ISFIFO((place / planted.name).lstat().st_mode)
                assert writer.poll() is None, (planted.name, words)
                writer.kill()
                assert writer.stdout.read() == b"", (planted.name, words)
        shutil.rmtree(place)


def test_a_foreign_trace_with_holes(where):
    """A hole is passed over, and tells that a line is missing."""
    line = '{"id":1,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":10,"dur":5,"ph":"X","args":{"ret":3}}\n'
    for name in ("x.pfw", "x.pfw.gz"):
        pack = gzip.compress if name.endswith(".gz") else bytes
        for kind, parts in (("all", ()), ("before", (HUGE, line)), ("behind", ("[\n", line, HUGE)), ("within", ("[\n", line, HUGE, line, line))):
            place = where / f"{kind}-{name}"
            place.mkdir()
            with (place / name).open("wb") as file:
                for part in parts or (HUGE,):
                    file.seek(part, os.SEEK_CUR) if isinstance(part, int) else file.write(pack(part.encode()))
                file.truncate(file.tell())
            code, said = ask("check", place)
            assert code == 1 or kind == "all", (name, kind, said)
            code, said = ask("summary", "--json", place)
            assert not name.endswith(".pfw") or kind in ("all", "before") or json.loads(said[said.index("{"):said.rindex("}") + 1])["events"] >= 1, (name, kind, said)


def test_the_index_of_a_foreign_trace(where):
    victim = victims(where)
    (where / "x.pfw").write_text('[\n{"id":1,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":10,"dur":5,"ph":"X","args":{"ret":3}}\n')
    for kind in KINDS:
        for inside in (True, False):
            place = where / "t"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            shutil.copy(where / "x.pfw", place)
            (place / "x.pfw").chmod(0o600)
            if inside:
                (place / ".dftindex").mkdir()
                plant(kind, place / ".dftindex" / "x.pfw.dft", victim, None)
            elif kind == "thesis":
                (place / ".dftindex").symlink_to(victim / "folder")
            elif kind not in ("huge", "far"):
                plant(kind, place / ".dftindex", victim, None)
            before = state(victim)
            code, said = ask("summary", place, env={"HOME": str(where / "home")})
            assert code == 0 and "read" in said, (kind, inside, said)
            assert state(victim) == before, (kind, inside)
            for made in [*place.glob(".dftindex/*.pfw.dft"), *where.glob("home/.cache/dftrace/*")]:
                if made.is_file() and not made.is_symlink() and made.stat().st_size < HUGE:
                    assert not made.stat().st_mode & 0o077, (made, oct(made.stat().st_mode))


WRITERS = [("report", "-o"), ("merge", "-o"), ("export", "--format", "csv", "-o"), ("export", "--format", "pfw", "-o"),
           ("export", "--format", "perfetto", "-o"), ("export", "--format", "folded", "-o"), ("plot", "--kind", "bandwidth", "-o")]


def test_a_replaced_file_keeps_its_mode_and_owner(where):
    trace, _ = killed(where, "made")
    owner = 65534 if os.geteuid() == 0 else os.geteuid()
    for words in WRITERS:
        for mode, by_link in ((0o600, False), (0o640, True), (0o666, False)):
            out, link = where / "out.x", where / "link.x"
            out.write_text("before\n")
            out.chmod(mode)
            if os.geteuid() == 0:
                os.chown(out, owner, owner)
            link.unlink(missing_ok=True)
            link.symlink_to(out)
            code, said = ask(*words, link if by_link else out, trace)
            st = out.lstat()
            assert code < 2 and out.read_bytes() != b"before\n", (words, said)
            assert (stat.S_IMODE(st.st_mode), st.st_uid) == (mode, owner), (words, oct(st.st_mode), st.st_uid)
            assert link.is_symlink() and sorted(p.name for p in where.iterdir()) == ["link.x", "made", "out.x"], words
            out.unlink()


ACL, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


def access_list(group, mask, named=6, others=0):
    """Of an owner who reads and writes, and of the user 65534, who may what `named` says."""
    entries = ((1, 6, -1), (2, named, 65534), (4, group, -1), (16, mask, -1), (32, others, -1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def can_have_access_lists(folder):
    try:
        os.setxattr(folder, DEFAULT, access_list(0, 6))
        os.removexattr(folder, DEFAULT)
        return True
    except OSError:
        print(f"        (needs access lists in {folder})")
        return False


def access_list_of(path):
    try:
        return os.getxattr(path, ACL)
    except OSError:
        return None


def test_a_replaced_file_gets_no_access_list_of_its_directory(where):
    trace, _ = killed(where, "made")
    if not can_have_access_lists(where):
        return
    for had in (None, access_list(4, 4, 4)):
        out = where / "out.x"
        out.write_text("before\n")
        out.chmod(0o640)
        if had:
            os.setxattr(out, ACL, had)
        os.setxattr(where, DEFAULT, access_list(6, 6))
        code, said = ask("report", "-o", out, trace)
        assert code < 2 and out.read_bytes() != b"before\n", said
        assert (access_list_of(out), stat.S_IMODE(out.stat().st_mode)) == (had, 0o640), (had, access_list_of(out), oct(out.stat().st_mode))
        os.removexattr(where, DEFAULT)
        out.unlink()


def test_a_pipe_that_the_user_named_is_written(where):
    trace, _ = killed(where, "made")
    os.mkfifo(where / "pipe")
    with subprocess.Popen(["cat", where / "pipe"], stdout=subprocess.PIPE) as reader:
        ask("export", "--format", "csv", "-o", where / "pipe", trace)
        assert reader.communicate(timeout=SECONDS)[0].count(b"\n") > 10
    assert stat.S_ISFIFO((where / "pipe").lstat().st_mode)
    assert ask("export", "--format", "csv", "-o", "/dev/stdout", trace)[1].count("\n") > 10
    lines = subprocess.check_output([DFTMERGE, "export", "-q", "--format", "csv", "-o", "-", trace])
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        log = where / "log"
        log.write_bytes(b"LOG\n")
        with log.open("ab") as out:
            subprocess.run([DFTMERGE, "export", "-q", "--format", "csv", "-o", name, trace], stdout=out, check=True)
        assert log.read_bytes() == b"LOG\n" + lines, name
    assert ask("report", "-o", "/dev/full", trace)[0] == 1


def test_nothing_in_a_folder_of_outputs_is_followed(where):
    """Whoever knows which files an export makes may put links there first."""
    trace, _ = killed(where, "made")
    victim = victims(where)
    before = state(victim)
    formats = ("perfetto", "pfw", "perfflow", "csv", "folded", "folded-bytes", "fio", "dlio", "sqlite", "parquet")
    for words in (*(("export", "--format", name, "-o") for name in formats), ("export", "--format", "perfetto", "--max-bytes", "1M", "-o"),
                  ("merge", "--split-by", "host", "-o"), ("merge", "--group", "meta: class=meta", "-o")):
        out = where / "out"
        said = ask(*words, f"{out}/", trace)[1]
        names = [p.relative_to(out) for p in out.rglob("*") if p.is_file()] if out.is_dir() else []
        assert names or "perfflow" in words or "was built without" in said, (words, said)
        for kind in ("thesis", "private", "pipe") if names else ():
            shutil.rmtree(out)
            for name in names:
                (out / name).parent.mkdir(parents=True, exist_ok=True)
                plant(kind, out / name, victim, None)
            ask(*words, f"{out}/", trace)
            assert state(victim) == before, (words, kind)
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    (out / "events").symlink_to(victim / "folder")
    ask("export", "--format", "parquet", "-o", f"{out}/", trace)
    assert state(victim) == before


def test_recovered_traces_are_no_more_readable(where):
    trace, live = killed(where, "made")
    owner = 65534 if os.geteuid() == 0 else os.geteuid()
    for mode, with_trace in ((0o600, True), (0o644, True), (0o600, False), (0o640, False)):
        place = where / "t"
        place.mkdir()
        for path in (trace, live) if with_trace else (live,):
            shutil.copy(path, place)
        for path in place.iterdir():
            path.chmod(mode)
            if os.geteuid() == 0:
                os.chown(path, owner, owner)
        code, said = ask("check", "--recover", "--force", place)
        st = (place / trace.name).lstat()
        assert (stat.S_IMODE(st.st_mode), st.st_uid) == (mode, owner), (oct(mode), with_trace, oct(st.st_mode), st.st_uid, said)
        assert not (place / live.name).exists(), said
        shutil.rmtree(place)


def test_a_recovered_trace_has_the_access_list_of_its_live_file(where):
    _, live = killed(where, "made")
    if not can_have_access_lists(where):
        return
    for had in (access_list(0, 6), None):
        place = where / "t"
        place.mkdir()
        shutil.copy(live, place)
        (place / live.name).chmod(0o600)
        if had:
            os.setxattr(place / live.name, ACL, had)
        os.setxattr(place, DEFAULT, access_list(6, 6))
        code, said = ask("check", "--recover", "--force", place)
        trace = place / live.name.removesuffix(".live")
        assert (access_list_of(trace), trace.stat().st_mode & 0o777) == (had, 0o660 if had else 0o600), (said, oct(trace.stat().st_mode))
        shutil.rmtree(place)


def test_a_damaged_trace_keeps_its_mode_and_its_bytes(where):
    trace, _ = killed(where, "made")
    whole = bytearray(trace.read_bytes())
    whole[len(whole) // 2] ^= 255
    for by_link in (False, True):
        place, real = where / "t", where / "real"
        place.mkdir()
        real.mkdir()
        at = (real if by_link else place) / "x.dft"
        at.write_bytes(whole)
        at.chmod(0o600)
        if by_link:
            (place / "x.dft").symlink_to(at)
        _, said = ask("check", "--recover", "--force", place)
        kept = [p for p in [*place.iterdir(), *real.iterdir()] if not p.is_symlink() and p.read_bytes() == whole]
        assert kept, (by_link, said)
        assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in [*place.iterdir(), *real.iterdir()]), by_link
        assert str(at) in said, said
        assert (at.read_bytes() == whole) == by_link and len(list(real.iterdir())) == by_link
        shutil.rmtree(place)
        shutil.rmtree(real)


def test_a_repair_without_room_leaves_all_as_it_was(where):
    trace, _ = killed(pathlib.Path(tempfile.mkdtemp(dir=where.parent)), "made")
    whole = bytearray(trace.read_bytes())
    whole[len(whole) // 2] ^= 255
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "x", where], check=False, stderr=subprocess.DEVNULL).returncode:
        print("        (needs root and a mount)")
        return
    try:
        (where / "x.dft").write_bytes(whole)
        with (where / "fill").open("wb") as fill:
            try:
                fill.write(bytes(1 << 20))
            except OSError:
                pass
        code, said = ask("check", "--recover", "--force", where)
        assert code == 1 and "could not be written anew: No space left" in said, said
        assert sorted(p.name for p in where.iterdir()) == ["fill", "x.dft"] and (where / "x.dft").read_bytes() == whole, said
    finally:
        subprocess.run(["umount", where], check=True)


def test_what_stands_beside_a_database(where):
    """SQLite opens a journal beside it."""
    trace, _ = killed(where, "made")
    code, said = ask("export", "--format", "sqlite", "-o", where / "x.db", trace)
    if "was built without" in said:
        print("        (needs SQLite)")
        return
    (where / "link.db").symlink_to(where / "x.db")
    for end in ("-journal", "-wal"):
        for words in (("spans", "types", where / "x.db"), ("spans", "import", where / "x.db", trace), ("sql", where / "x.db", "select 1"),
                      ("spans", "types", where / "link.db")):
            os.mkfifo(where / f"x.db{end}")
            code, said = ask(*words)
            assert (code, f"x.db{end}: this is no regular file" in said) == (1, True), (end, words, said)
            os.unlink(where / f"x.db{end}")


def test_nobody_holds_collect_up(where):
    (where / "stage").mkdir()
    with subprocess.Popen(["flock", where / "stage", "sleep", "60"], start_new_session=True) as holder:
        time.sleep(0.3)
        code, said = ask("collect", "-o", where / "out", where / "stage")
        os.killpg(holder.pid, signal.SIGKILL)
    assert code == 1 and "locked by process" in said and "run it again" in said, said


def test_a_trace_that_is_cut_while_it_is_read(where):
    """Whoever else has the file may cut it at any time."""
    make(where / "made", processes=1, threads=4, events=50000, block=1000)
    one = next((where / "made").glob("*.dft")).read_bytes()
    trace = where / "x.dft"
    for i in range(12):
        trace.write_bytes(one * (1 + (48 << 20) // len(one)))
        with subprocess.Popen([DFTMERGE, "stat", trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(0.004 * (i + 1))
            os.truncate(trace, 5000)
        assert process.returncode in (0, 1), process.returncode


def test_a_signal_leaves_no_temporary_file(where):
    make(where / "made", processes=1, threads=4, events=50000, block=1000)
    out, stopped = where / "out", 0
    for form, name in (("csv", "x.csv"), ("perfetto", "x.json"), ("pfw", "x.pfw"), ("sqlite", "x.db")):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            out.mkdir()
            with subprocess.Popen([DFTMERGE, "export", "-q", "--format", form, "-o", out / name, where / "made"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and not list(out.iterdir()):
                    time.sleep(0.001)
                process.send_signal(number)
            stopped += process.returncode != 0
            assert [path.name for path in out.iterdir()] == ([] if process.returncode else [name]), (form, number, process.returncode, list(out.iterdir()))
            shutil.rmtree(out)
    assert stopped >= 6, stopped


def test_a_full_tmpfs(where):
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "x", where], check=False, stderr=subprocess.DEVNULL).returncode:
        print("        (needs root and a mount)")
        return
    try:
        _, live = killed(pathlib.Path(tempfile.mkdtemp(dir=where.parent)), "made")
        shutil.copy(live, where)
        with (where / "fill").open("wb") as fill:
            try:
                fill.write(bytes(1 << 20))
            except OSError:
                pass
        os.truncate(where / live.name, 8 << 20)  # a hole that has no room
        for words in (("summary",), ("check",), ("ps",), ("dump",), ("top", "--once")):
            ask(*words, where)
        used = shutil.disk_usage(where).used
        assert used <= 256 << 10, used
    finally:
        subprocess.run(["umount", where], check=True)
