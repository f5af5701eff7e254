# SPDX-License-Identifier: MIT
"""What shells complete is what the programs take: commands, options, and the words of options with few of them."""

import re
import shutil

import pytest

from packages import BUILD, equal, run_checked
from tracing import environment, run, true

MADE = BUILD / "completion"
MISSING = "/no/such/trace"


def folder(shell):
    if not (MADE / shell).is_dir():
        pytest.skip("built without completions")
    return MADE / shell


def bash(directory, *asked):
    """What bash completes of the last of each words, by bash itself."""
    script = [f". '{folder('bash')}/dftmerge'; . '{folder('bash')}/dftrun'"]
    script.append("compopt() { :; }")  # works only while readline completes
    for words in asked:
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        script.append(f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMPREPLY=(); _{words[0]}; echo \"${{COMPREPLY[*]}}\"")
    done = run_checked(["bash", "--norc", "-c", "\n".join(script)], cwd=directory)
    equal(done.err, b"", "bash says nothing")
    return [line.split() for line in done.out.decode().splitlines()]


def listed():
    """{command: [(option, letter, argument, words)]}, as the programs tell it."""
    commands = {}
    for program in ("dftmerge", "dftrun"):
        for line in run_checked([BUILD / "bin" / program, "--list-options"]).out.decode().splitlines():
            kind, name, *rest = line.split("\t")
            if kind == "command":
                commands[name] = []
            else:
                commands[list(commands)[-1]].append((name, rest[0], rest[1], rest[2].split(",") if rest[2] else []))
    return commands


def helped(command):
    program = [BUILD / "bin" / "dftrun"] if command == "dftrun" else [BUILD / "bin" / "dftmerge", *command.split()]
    text = run_checked([*program, "--help"]).out.decode()
    lines = text.partition("Options:")[2] or text
    return {option for line in re.findall(r"^ +(-.*?)(?:  |$)", lines, re.MULTILINE) for option in re.findall(r"--?[a-zA-Z][a-z-]*", line)}


def test_bash_has_the_options_of_help(directory):
    commands = [name for name in listed() if name not in ("dftmerge", "spans", "debug")]
    asked = [[*(["dftrun"] if name == "dftrun" else ["dftmerge", *name.split()]), "-"] for name in commands]
    for name, got in zip(commands, bash(directory, *asked)):
        equal(set(got) - ({"--version"} if name == "summary" else set()), helped(name), name)


def test_bash_has_the_commands_of_help(directory):
    text = run_checked([BUILD / "bin" / "dftmerge", "--help"]).out.decode()
    commands = set(re.findall(r"^(?:[A-Z]\w+)? +(\w+) ", text.partition("Commands:")[2].partition("\n\n")[0], re.MULTILINE))
    got, helped_about, *verbs = bash(directory, ["dftmerge", ""], ["dftmerge", "help", ""], ["dftmerge", "spans", ""], ["dftmerge", "debug", ""])
    equal(set(got), commands | {"help", "debug"}, "commands")
    equal(set(helped_about), commands | {"filters", "debug"}, "what help tells about")
    equal({f"{command} {verb}" for command, those in zip(("spans", "debug"), verbs) for verb in those}, {name for name in listed() if " " in name}, "verbs")


def test_bash_completes(directory):
    (directory / "traces").mkdir()
    cases = {
        "dftmerge ti": "timeline", "dftmerge t": "timeline top traces", "dftmerge help exp": "export", "dftmerge help fil": "filters", "dftmerge debug st": "stat",
        "dftmerge export --format pa": "parquet", "dftmerge export --format = pa": "parquet",
        "dftmerge summary --by file,na": "file,name", "dftmerge -b file,na": "file,name", "dftmerge dump --op pw": "pwrite",
        "dftmerge dump --class sync,st": "sync,startup", "dftmerge top --sort by": "bytes bytes/s",
        "dftmerge spans se": "sequences", "dftmerge spans between --kind d": "density", "dftmerge traces --cla": "--class --classes",
        "dftmerge -q summ": "summary", "dftmerge --threads 2 su": "summary", "dftmerge --json fi": "findings", "dftmerge --by = file ra": "ranks",
        "dftmerge -q help exp": "export", "dftmerge -q spans se": "sequences", "dftmerge -q --by file export --format pa": "parquet",
        "dftmerge --format csv exp": "export", "dftmerge -q debug calls --js": "--json", "dftmerge -q debug calls --cl": "", "dftmerge --by cla": "class", "dftmerge -- su": "",
        "dftmerge summary --dir tr": "traces", "dftmerge summary --from 1": "",
        "dftrun --re": "--report", "dftrun -b cl": "class", "dftrun --container po": "podman", "dftrun --by = file,cl": "file,class", "dftrun -o tr": "traces",
        "dftrun --stack 5 --no": "--node --no-summary", "dftrun -q cma": "cmake", "dftrun -q -- cma": "cmake", "dftrun ls --": "",
    }
    for (words, wanted), got in zip(cases.items(), bash(directory, *(words.split(" ") for words in cases))):
        true(set(wanted.split()) <= set(got) and (wanted or not got) and ("cma" in words or len(got) == len(wanted.split())),
             f"{words}: {got}, expected {wanted}")


def test_programs_take_the_words(directory):
    """Each word that is completed is taken, and one that is none is refused."""
    asked = set()
    for command, options in listed().items():
        for name, _, _, words in options:
            if not words or (name, tuple(words)) in asked or command.startswith("spans"):
                continue  # spans first wants a database that is one
            asked.add((name, tuple(words)))
            more = {"report": ["-o", "x"], "plot": ["-o", "x"], "export": ["-o", "x"], "merge": ["-o", "x"]}.get(command.split()[0], [])
            for word in dict.fromkeys([*words[:12], *words[-3:], "nosuchword"]):
                paths = [MISSING] * (2 if command == "compare" else 1)
                program = [BUILD / "bin" / "dftmerge", *command.split()]
                if command == "dftrun":
                    program, paths = [BUILD / "bin" / "dftrun"], []
                done = run([*program, f"--{name}", word, *more, *paths], cwd=directory)
                said = done.err.decode()
                refused = done.code == 2 and MISSING not in said.replace(f"--{name}", "")
                true(refused == (word == "nosuchword"), f"{command} --{name} {word}: exit code {done.code}: {said}")


def test_no_help_names_the_listing(directory):
    for command in ([], ["summary"], ["spans"]):
        true(b"list-options" not in run_checked([BUILD / "bin" / "dftmerge", *command, "--help"]).out, str(command))


def test_zsh_reads_them(directory):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    for path in folder("zsh").iterdir():
        run_checked(["zsh", "-n", path])
        true(path.read_text().startswith("#compdef " + path.name[1:]), path.name)


def test_fish_completes(directory):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    cases = {"dftmerge time": {"timeline"}, "dftmerge export --format p": {"parquet", "perfetto", "perfflow", "pfw"},
             "dftmerge summary --by file,na": {"file,name"}, "dftmerge spans states --int": {"--interval"}, "dftrun --by cla": {"class"},
             "dftmerge -q --threads 2 time": {"timeline"}, "dftmerge -q debug st": {"stat"}, "dftmerge help fil": {"filters"},
             "dftmerge --rank 1 debug calls --js": {"--json"}, "dftmerge-mpi ranks --tele": {"--telemetry"}, "dftrun --rep": {"--report"}, "dftrun -o x dftmerge exp": {"export"},
             "dftrun --by file -- dftmerge exp": {"export"}}
    script = [f"source {path}" for path in folder("fish").iterdir()]
    for line in cases:
        script += [f"complete -C '{line}'", "echo =="]
    env = environment(XDG_CONFIG_HOME=directory, XDG_DATA_HOME=directory, PATH=f"{BUILD / 'bin'}:/usr/bin:/bin")
    done = run_checked(["fish", "--no-config", "-c", "\n".join(script)], cwd=directory, env={**env, "HOME": str(directory)})
    for (line, wanted), got in zip(cases.items(), re.split(r"^==\n", done.out.decode(), flags=re.M)):
        equal({row.split("\t")[0] for row in got.splitlines()}, wanted, line)
