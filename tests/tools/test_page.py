# SPDX-License-Identifier: MIT
"""The page as people see it: it fits terminals of any width, its columns are aligned, its sums are right, like files
are one line, and odd inputs have a page, too."""

import fcntl
import os
import re
import struct
import subprocess
import termios

from pfw_files import Writer
from tooltest import BUILD, DFTMERGE, dftmerge, make, run, summary

START = 1_700_000_000_000_000
WIDTHS = (40, 60, 80, 120, 200)
LOCALES = ("C", "C.UTF-8")
BARS = "▏▎▍▌▋▊▉█▁▂▃▄▅▆▇·"


def page(*arguments, width=100, locale="C", expect=0):
    return dftmerge(*arguments, env={"COLUMNS": str(width), "LC_ALL": locale}, expect=expect).out.decode()


def tables(text):
    """[[title, header, lines ...]] of each section that is a table; a title may take several lines."""
    found = []
    for part in text.split("\n\n"):
        lines = part.split("\nanswered")[0].splitlines()
        header = next((i for i, line in enumerate(lines) if "  " in line), None)
        if header and re.match("Calls|Files|Groups|Ranks|Regions|Time", part):
            lines = [line for line in lines if not re.match(r"[\d,]+ others?: ", line)]  # ranks
            found.append([" ".join(lines[:header]), *lines[header:]])
    return found


def check_screen(text, width, what):
    for line in text.splitlines():
        assert len(line) <= width or (" " not in line.strip(" ->") and width < 60), (what, width, line)  # a word alone
        assert line == line.rstrip(), (what, width, line)


def check_table(table, what):
    """Each cell of a column of numbers ends where the column's title does."""
    header = table[1]
    for title in re.finditer(r"(?<!\S)\*?(calls|failed|time|p50|max|mean|I/O time)(?=  |$)", header):
        for line in table[2:]:
            cell = line[:title.end()].rsplit("  ", 1)[-1]
            assert len(line) < title.end() or not cell or (line[title.end() - 1] != " " and line[title.end():title.end() + 1] in ("", " ")), \
                (what, title[0], header, line)


def calls_of(where, calls, **more):
    """A trace of calls: (path, how many, microseconds each)."""
    writer = Writer("1.0.8", **more)
    at = START
    for path, count, duration in calls:
        for _ in range(count):
            writer.call("POSIX", "read", at, duration, path, ret=100)
            at += duration + 1
    where.mkdir(parents=True, exist_ok=True)
    (where / f"{len(os.listdir(where))}.pfw").write_text(writer.text())
    return where


def inputs(where):
    make(where / "odd", ranks=0, processes=2)
    make(where / "ranks", ranks=1, processes=40, hosts=3, events=50)
    make(where / "rows", processes=2, keep=0)
    make(where / "lossy", lossy=1)
    assert run(BUILD / "bin" / "make_ranks", where / "slow", "ranks=6", "seconds=40", "slow=2", "at=15").code == 0
    calls_of(where / "many", [(f"/scratch/project/user/a-long-name-of-a-run/step{i % 7}/part-{i:05}.h5", 2, 40) for i in range(100)])
    return [where / name for name in ("odd", "ranks", "rows", "lossy", "slow", "many")]


def test_it_fits_every_width(where):
    for trace in inputs(where):
        for locale in LOCALES:
            for width in WIDTHS:
                for more in ((), ("--by", "file"), ("--by", "process,name"), ("--sort", "calls")):
                    if more == ("--by", "process,name") and trace.name == "ranks":
                        continue
                    text = page("summary", *more, trace, width=width, locale=locale)
                    check_screen(text, width, (trace.name, more))
                    for table in tables(text):
                        check_table(table, (trace.name, width, more))
                    assert locale != "C" or not set(text) & set(BARS), text


def test_wider_ones_say_more(where):
    (odd, *_) = inputs(where)
    titles = [set(re.findall(r"\S+(?: \S+)*", next(t for t in tables(page(odd, width=w)) if t[0].startswith("Calls"))[1])) for w in WIDTHS]
    for narrow, wide in zip(titles, titles[1:]):
        assert narrow < wide, titles
    assert {"time", "name"} <= titles[0] and {"rate", "calls/s", "% of processes", "a call", "cat"} <= titles[-1], titles


def test_wide_ones_know_who_and_how_much(where):
    """How many processes made the calls, and the size that most asked for: the same from rows and from events."""
    make(where, processes=3)
    for words in ((), ("--events",)):
        groups = summary("--by", "op", *words, where)["groups"]
        text = page("summary", "--by", "op", *words, where, width=300)
        header = re.search("^op .*", text, re.M)[0]
        assert re.search(" a call +common size +rate +calls/s +processes$", header), header
        assert any(g["common_size"] for g in groups)
        for g in groups:
            cells = re.split("  +", re.search(f"^{g['op']} .*", text, re.M)[0])
            assert cells[-1] == str(g["processes"]), (g, cells)
            low = g["common_size"]
            assert low is None or {0: "0 B", 1: "1 B", 2: "2 B-64 B", 64: "64 B-1 KiB", 65536: "64 KiB-256 KiB"}.get(low, "iB-") in cells[-4], (g, cells)
    narrow = page("summary", "--by", "op", where, width=80)
    assert "processes" not in re.search("^op .*", narrow, re.M)[0] and "common" not in narrow
    make(where / "one", processes=1)
    assert "processes" not in page("summary", "--by", "op", where / "one", width=300)


def test_start_up_alone_has_tables(where):
    """Where a filter leaves nothing but start-up, the tables are of that."""
    calls_of(where, [("/opt/app/plug.so", 30, 50), ("/data/a", 10, 10)])
    text = page(where, width=200)
    assert "plug.so" not in text.split("Files by time")[1] and "Calls by time, without start-up\n" in text, text
    text = page("summary", "--file", "*.so", where, width=200)
    assert re.search("^Files by time.*\n.*\n.*plug.so +30 ", text, re.M) and re.search("^Calls by time\n.*\n.*read +30 ", text, re.M), text


def test_wrong_words_get_lists_that_fit(where):
    """The nearest word in the first line, then all there are."""
    make(where, processes=1)
    for words, nearest in (("--sort nmae", "name"), ("--by fiel", "file"), ("--sort p5o", "p50"), ("--sort time_p5_ns", "time_p50_ns")):
        said = dftmerge("summary", *words.split(), where, env={"COLUMNS": "60"}, expect=2).err.splitlines()
        assert said[0].endswith(f" Did you mean {nearest}?") and said[1].startswith("There are"), said
        assert all(len(line) <= 60 for line in said[1:]) and len(said) > 2, said
    said = dftmerge("sumary", where, env={"COLUMNS": "60"}, expect=2).err.splitlines()
    assert said[0].endswith("Did you mean 'summary'?") and said[1].startswith("Commands are") and max(map(len, said[1:])) <= 60, said


def test_other_commands_fit(where):
    make(where / "a", ranks=1, processes=6, events=60)
    make(where / "b", ranks=1, processes=6, events=90, seed=7)
    for width in (40, 60, 80, 120):
        for words in ("timeline --by rank", "timeline --heat", "ranks", "top --once", "top --once --sort errors"):
            wide = [line for line in page(*words.split(), where / "a", width=width).splitlines() if len(line) > width]
            assert not wide, (words, width, wide)
        wide = [line for line in page("compare", where / "a", where / "b", width=width).splitlines() if len(line) > width]
        assert not wide, (width, wide)
    titles = [re.search("^CALL .*", page("top", "--once", *more, where / "a", width=width), re.M)[0].split()
              for width, more in ((40, ()), (40, ("--sort", "errors")), (80, ()))]
    assert titles == [["CALL", "CALLS", "*TIME"], ["CALL", "TIME", "*FAILED"],
                      ["CALL", "CALLS", "CALLS/s", "*TIME", "BUSY", "BYTES", "BYTES/s", "FAILED"]], titles


def is_whole(counts):
    return len(counts) == 1 or sum(counts[:-1]) == counts[-1]


def test_sums_are_those_of_json(where):
    for trace in inputs(where):
        text = page(trace, width=200)
        by_class = {g["class"]: g for g in summary("--by", "class", trace)["groups"] if g["class"] not in ("none", "wait")}
        for total in re.findall(r"^all I/O +([\d,]+) ", text, re.M):
            assert int(total.replace(",", "")) == sum(g["count"] for g in by_class.values()), text
        assert ("all I/O" in text) == (len(by_class) > 1), text
        for table in tables(text):
            if not table[0].startswith(("Calls", "Files", "Groups")):
                continue
            at = re.search(r" \*?calls\b", table[1]).end()
            counts = [int(line[:at].rsplit(" ", 1)[-1].replace(",", "")) for line in table[2:]]
            if table[0].startswith("Calls"):
                assert is_whole(counts), table
            else:
                assert sum(counts) == sum(g["count"] for g in summary("--by", "file,class", trace)["groups"] if g["class"] != "none"), table


def test_like_files_are_one_line(where):
    many = calls_of(where / "many", [(f"/data/run-7/step{i:03}.h5", 1, 50) for i in range(30)] + [("/data/run-7/config", 1, 300)])
    text = page(many, width=120)
    assert "Files by time, below /data/run-7\n" in text, text
    assert re.search(r"^step#\.h5 +30 +30 ", text, re.M) and re.search(r"^config +1 +1 ", text, re.M), text
    few = calls_of(where / "few", [(f"/data/run-7/step{i:03}.h5", 1, 50) for i in range(8)])
    text = page(few, width=120, locale="C.UTF-8")
    assert "#" not in text.split("Files by time")[1].split("\n\n")[0], text
    same = calls_of(where / "same", [(f"/data/v2/node{i}/part-0001.bin", 1, 50) for i in range(25)])
    assert re.search(r"^(/data/)?v2/node#/part-0001\.bin +25 ", page(same, width=120), re.M), page(same, width=120)
    sources = calls_of(where / "sources", [(f"/src/{d}/{name}.c", 1, 50) for d in ("core", "io") for name in
                                           ("".join((a, b)) for a in "abcdef" for b in "uvwxyz")] + [("/out/log", 1, 2000)])
    text = page(sources, width=120)
    assert re.search(r"^(/src/)?core/ +36 +36 ", text, re.M) and re.search(r"^(/src/)?io/ +36 +36 ", text, re.M), text


def test_paths_are_those_of_the_program(where):
    """Relative to the directory in which the program ran, that is named, as findings have them."""
    make(where / "t", processes=1)
    (files,) = (t for t in tables(page("--sort", "calls", "--top", "100", where / "t", width=200)) if t[0].startswith("Files"))
    assert files[0] == "Files by calls, below /data", files
    shown = [re.split(" {2,}", line)[0] for line in files[2:]]
    assert "in/a.bin" in shown and "/x/1" in shown and not any(path.startswith("/data/") for path in shown), shown
    one = calls_of(where / "one", [("/data/in/a.bin", 1, 50), ("/scratch/1", 1, 50), ("/scratch/2", 1, 50)])  # in which nothing says where it ran
    assert "Files by time, below /scratch\n" in page(one, width=120) and re.search("^/data/in/a.bin ", page(one, width=120), re.M), page(one)


def test_paths_are_cut_at_whole_components(where):
    trace = calls_of(where / "t", [("/one/two/three/four/a.bin", 1, 90), ("/six/seven/eight-is-longer-than-the-others/b.bin", 1, 80)])
    for width in range(40, 100, 7):
        for line in tables(page("--by", "file", trace, width=width))[0][2:4]:
            shown = line.split()[0]
            if shown.startswith("..."):
                assert shown[3] == "/", line


def test_odd_inputs_have_a_page(where):
    one = calls_of(where / "one", [("/data/x", 1, 5)])
    for width in WIDTHS:
        text = page(one, width=width)
        check_screen(text, width, "one")
        assert " 1 process" in " ".join(text.split()) and "answered" in text, text
    make(where / "half", processes=4, ranks=1)
    for trace in sorted((where / "half").glob("*.dft"))[::2]:
        trace.write_bytes(b"no trace, though long enough for the header of one" * 10)
    done = run(DFTMERGE, where / "half", env={"COLUMNS": "80"})
    text = done.out.decode()
    assert done.code == 1 and "not all of the job is here" in text and "; lost: what could not be read" in " ".join(text.split()), text
    check_screen(text, 80, "half")


def test_deep_directories_have_a_page(where):
    """Paths of 30,000 directories, in a small stack: what they have in common is cut to the screen."""
    deep = "/data" + "/d" * 30_000
    trace = calls_of(where / "deep", [("/x", 1, 100_000), *((f"{deep}/{name}/f", 1, 50) for name in "abcd"), (f"{deep}/g", 1, 900)])
    done = run("sh", "-c", 'ulimit -s 1024; exec "$@"', "sh", DFTMERGE, "--top", "20", trace, env={"COLUMNS": "100"})
    assert done.code == 0, done.err
    check_screen(done.out.decode(), 100, "deep")
    assert re.search(r"^Files by time, below \.\.\.(/d)+$", done.out.decode(), re.M), done.out
    assert re.search(r"^Files by time, below\n\.\.\.(/d)+$", page("--top", "20", trace, width=40), re.M)


def test_a_closed_pipe_ends_it(where):
    make(where, processes=2)
    with subprocess.Popen([DFTMERGE, where], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode in (1, -13) and "Sanitizer" not in said, (process.returncode, said)


def on_a_terminal(*arguments, columns=90, **variables):
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen([DFTMERGE, *map(str, arguments)], stdout=theirs, stderr=subprocess.DEVNULL, env={**os.environ, **variables}) as process:
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:
            pass
        os.close(ours)
    assert process.returncode == 0
    return text.decode()


def test_colour_is_for_terminals(where):
    make(where, processes=2)
    plain = page(where, width=90)
    colour = on_a_terminal(where, TERM="xterm")
    assert "\x1b[2m" in colour and "\x1b[1m" in colour and "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", colour).replace("\r\n", "\n") == plain
    assert "\x1b" not in on_a_terminal(where, TERM="xterm", NO_COLOR="1") and "\x1b" not in on_a_terminal(where, TERM="dumb")
