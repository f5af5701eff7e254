# SPDX-License-Identifier: MIT
"""dftmerge serve: the data of the page while a program runs, and who gets them."""

import contextlib
import http.client
import pathlib
import re
import resource
import select
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import reportpage
from steady import Steady
from tracing import BUILD, DFTRUN, SECONDS, environment, equal, run, true

DFTMERGE = BUILD / "bin" / "dftmerge"


@contextlib.contextmanager
def server(*arguments, **more):
    """The address that it prints."""
    with subprocess.Popen([DFTMERGE, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more) as process:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(SECONDS)


def get(url):
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        return answer.read()


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def calls(url):
    """How many calls the data have of each name."""
    (run_,) = reportpage.unpack(get(url + "data"))
    table, names = run_.table(run_["cubes"][0]["table"]), run_.table("calls")["name"]
    count = {}
    for c, n in zip(table["c"], table["n"]):
        count[names[c]] = count.get(names[c], 0) + n
    return count


def traced(directory):
    (directory / "in").write_bytes(b"x" * 4096)
    return [DFTRUN, "--no-summary", "-o", directory / "traces", "--", "sh", "-c",
            "i=0; while [ $i -lt 200 ]; do cat in >/dev/null; i=$((i+1)); done"]


def test_shows_a_running_program_call_by_call(directory):
    with Steady(directory) as program:
        program.do("r 10")
        with server(program.place) as (url, _):
            true(b'name="dftrace-live" content="data"' in get(url), "the page fetches its data")
            reads = 10
            for more in (1, 100, 5000, 3):
                equal(calls(url)["pread"], reads, "reads so far")
                program.do(f"r {more}")
                reads += more
            equal(calls(url)["pread"], reads, "reads in all")
            equal(program.end(), 0, "exit code")
            equal(calls(url)["pread"], reads, "after its end")


def test_says_the_same_as_summary(directory):
    equal(run(traced(directory), cwd=directory, env=environment()).code, 0, "the program")
    with server("--name", "read,open*", directory / "traces") as (url, _):
        served = calls(url)
    page = run([DFTMERGE, "report", "-o", "-", "--name", "read,open*", directory / "traces"]).out
    (run_,) = reportpage.read(page)
    table, names = run_.table(run_["cubes"][0]["table"]), run_.table("calls")["name"]
    equal(sum(table["n"]), sum(served.values()), "calls")
    true(set(served) <= set(names) and served["read"] >= 200, served)


def test_waits_for_the_first_trace(directory):
    (directory / "traces").mkdir()
    with server(directory / "traces") as (url, _):
        equal(status_of(url), 200, "the page")
        with contextlib.suppress(urllib.error.HTTPError):
            get(url + "data")
            raise AssertionError("data without a trace")
        equal(status_of(url + "data"), 503, "data")
        run(traced(directory), cwd=directory, env=environment())
        true(calls(url)["read"] >= 200, "after the program")


def test_only_who_knows_the_address(directory):
    (directory / "traces").mkdir()
    with server(directory / "traces") as (url, _):
        port = int(re.match(r"http://127\.0\.0\.1:(\d+)/[0-9a-f]{32}/$", url).group(1))
        root = f"http://127.0.0.1:{port}/"
        for path in ("", "data", "x" * 32 + "/", url[len(root):-2] + "/", url[len(root):] + "../", url[len(root):] + "other"):
            equal(status_of(root + path), 404, path)
        true(url not in get(url).decode(), "the page does not hold its address")
        with server(directory / "traces") as (other, _):
            true(other != url and other.split("/")[3] != url.split("/")[3], "each server has a token of its own")
        listening = run(["ss", "-ltnH"]).out.decode() if pathlib.Path("/usr/bin/ss").exists() else ""
        true(f"0.0.0.0:{port}" not in listening and f"[::]:{port}" not in listening, listening)


def test_bad_requests_hold_nobody_up(directory):
    (directory / "traces").mkdir()
    with server(directory / "traces") as (url, process):
        port = int(url.split(":")[2].split("/")[0])
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
        for request, status in ((b"\r\n\r\n", 400), (b"GET\r\n\r\n", 400), (b"GET / SMTP\r\n\r\n", 400), (b"POST / HTTP/1.1\r\n\r\n", 405),
                                (b"GET " + b"/x" * 5000 + b" HTTP/1.1\r\n\r\n", 431), (b"GET /" + b"x" * 300 + b" HTTP/1.1\r\n\r\n", 431),
                                (b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n", 400), (bytes(range(256)) * 64, 431)):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.settimeout(SECONDS)
                connection.sendall(request)
                answer = connection.makefile("rb").readline()
                true(answer.startswith(b"HTTP/1.1 %d " % status), f"{request[:40]}: {answer}")
        equal(status_of(url), 200, "the page, beside clients that say nothing")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.request("HEAD", "/" + url.split("/", 3)[3])
        answer = connection.getresponse()
        true(answer.status == 200 and int(answer.getheader("Content-Length")) > 0 and not answer.read(), "HEAD")
        for s in silent:
            s.close()
        process.send_signal(signal.SIGINT)
        equal(process.wait(SECONDS), 0, "Ctrl-C ends it")


def left(process):
    """(descriptors, children) of the server."""
    proc = pathlib.Path(f"/proc/{process.pid}")
    return len(list((proc / "fd").iterdir())), len((proc / f"task/{process.pid}/children").read_text().split())


def until(process, is_so):
    end = time.monotonic() + SECONDS
    while not is_so(*left(process)) and time.monotonic() < end:
        time.sleep(0.02)
    true(is_so(*left(process)), left(process))


def test_requests_leave_nothing(directory):
    (directory / "traces").mkdir()
    with server(directory / "traces") as (url, process):
        port, descriptors = int(url.split(":")[2].split("/")[0]), left(process)[0]
        for n in range(300):
            if n % 3 == 0:
                socket.create_connection(("127.0.0.1", port)).close()
            elif n % 3 == 1:
                with socket.create_connection(("127.0.0.1", port)) as gone:
                    gone.sendall(f"GET /{url.split('/', 3)[3]} HTTP/1.1\r\n\r\n".encode())
            else:
                equal(status_of(url), 200, "the page")
        until(process, lambda fds, children: (fds, children) == (descriptors, 0))


def page_behind(url, first, room=None):
    """How long the page takes behind 100 clients that say this and read nothing, and these clients."""
    address, clients = ("127.0.0.1", int(url.split(":")[2].split("/")[0])), []
    for _ in range(100):
        clients.append(socket.socket())
        if room:
            clients[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        clients[-1].connect(address)
        clients[-1].sendall(first)
    start = time.monotonic()
    true(b"dftrace-live" in get(url), "the page")
    return time.monotonic() - start, clients


def test_nobody_is_held_up(directory):
    """Whoever connects may say nothing, half of a request, or not read the answer."""
    (directory / "traces").mkdir()
    with server(directory / "traces") as (url, process):
        descriptors, path = left(process)[0], "/" + url.split("/", 3)[3]
        whole = f"GET {path} HTTP/1.1\r\n\r\n".encode()
        served, clients = page_behind(url, whole)  # their answers have room: so long it takes on this machine
        for first in (b"", b"GET / HTTP", f"GET {path} HTTP/1.1\r\nHost:".encode(), whole):
            for one in clients:
                one.close()
            took, clients = page_behind(url, first, room=2048)
            true(took < served + 5, f"after {took:.1f} s, behind 100 times {first}; behind clients that are served {served:.1f} s")
            if first != whole:  # the server would have closed it, had it waited until its patience was over
                true(not select.select([clients[-1]], [], [], 0)[0], f"the last of 100 times {first} still waits")
        for one in clients:
            one.close()
        until(process, lambda fds, children: (fds, children) == (descriptors, 0))


def test_few_numbers_are_left(directory):
    """Connections that say nothing do not keep the last descriptors from whoever asks."""
    (directory / "traces").mkdir()
    with server(directory / "traces", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))) as (url, process):
        address = ("127.0.0.1", int(url.split(":")[2].split("/")[0]))
        silent = [socket.create_connection(address) for _ in range(60)]
        for _ in range(10):
            equal(status_of(url), 200, "the page")
        for one in silent:
            one.close()


def test_ends_while_all_are_busy(directory):
    """Who starts it may ignore that children end."""
    (directory / "traces").mkdir()
    for how in (signal.SIG_DFL, signal.SIG_IGN):
        with server(directory / "traces", preexec_fn=lambda how=how: signal.signal(signal.SIGCHLD, how)) as (url, process):
            for _ in range(20):
                equal(status_of(url), 200, "the page")
            until(process, lambda _, children: not children)  # they hold descriptors until they have ended
            before = left(process)[0]
            silent = [socket.create_connection(("127.0.0.1", int(url.split(":")[2].split("/")[0]))) for _ in range(12)]
            until(process, lambda fds, _: fds == before + 12)
            process.send_signal(signal.SIGINT)
            equal(process.wait(SECONDS), 0, "Ctrl-C ends it")
            for s in silent:
                s.close()


def test_usage(directory):
    (directory / "traces").mkdir()
    for port in ("x", "70000", "-1", ""):
        done = run([DFTMERGE, "serve", "--port", port, directory / "traces"])
        true(done.code == 2 and b"not a port" in done.err, done)
    done = run([DFTMERGE, "serve", directory / "missing"])
    true(done.code == 1 and b"missing" in done.err and b"No such file" in done.err, done)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run([DFTMERGE, "serve", "--port", str(taken.getsockname()[1]), directory / "traces"])
        true(done.code == 1 and b"in use" in done.err, done)
