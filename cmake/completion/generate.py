#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes completions for bash, zsh and fish of what `dftmerge --list-options` and `dftrun --list-options` print.

generate.py DFTMERGE.txt DFTRUN.txt FOLDER: writes FOLDER/bash, FOLDER/zsh and FOLDER/fish.
"""

import collections
import pathlib
import re
import sys

Option = collections.namedtuple("Option", "name letter argument words help")
HERE = pathlib.Path(__file__).resolve().parent
LISTS = {"LIST", "KEYS"}  # several words with commas
FILES = {"FILE", "FILE.db", "NAME|FILE", "OUT", "RULES", "TRACE", "GLOB"}
FOLDERS = {"DIR", "D"}


def words_of(name, text):
    """What can be typed without quotes. Operations are in capital letters in their table alone."""
    words = [word for word in text.split(",") if re.fullmatch(r"[\w./-]+", word)]
    return tuple(dict.fromkeys(word.lower() if name == "op" else word for word in words))


def read(path):
    """{command: (help, [its options])} of a listing."""
    commands = {}
    for line in pathlib.Path(path).read_text().splitlines():
        kind, name, *rest = line.split("\t")
        if kind == "command":
            options = []
            commands[name] = (rest[0], options)
        else:
            letter, argument, words, told = rest
            options.append(Option(name, letter, argument, words_of(name, words), told))
    return commands


def kind_of(option):
    """What stands behind the option: nothing (""), words, several words with commas, files, folders or anything."""
    if not option.argument or option.argument.startswith("["):
        return ""
    if option.words:
        return "list" if option.argument in LISTS else "words"
    if option.name in ("dir", "mount", "root") or option.argument in FOLDERS:
        return "folders"
    return "files" if option.argument in FILES else "any"


def filled(template, **values):
    """What the templates of one shell share lies in files of its own."""
    text = (HERE / template).read_text()
    values |= {name: (HERE / f"{name.lower()}.bash").read_text().rstrip("\n") for name in ("JOINED", "KINDS")}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def spellings(option):
    return [f"--{option.name}"] + ([f"-{option.letter}"] if option.letter else [])


def with_value(options):
    """The options that take one wherever they are known. Short ones first: fish takes long ones at the beginning for
    its own."""
    valued, flags = set(), set()
    for option in options:
        (valued if kind_of(option) else flags).update(spellings(option))
    return " ".join(sorted(valued - flags, key=lambda word: (len(word), word)))


# --- bash ----------------------------------------------------------------------------------------------------


def bash_options(commands):
    return "\n".join(f"    '{name}') options='{' '.join(word for option in options for word in spellings(option))}' ;;"
                     for name, (_, options) in commands.items())


def bash_verbs(verbs):
    return "\n".join(f"    {command}) verbs='{' '.join(those)}' ;;" for command, those in verbs.items())


def bash_values(commands):
    """A case for each kind and its words, of all options that take these."""
    alike = collections.defaultdict(list)
    for name, (_, options) in commands.items():
        for option in options:
            if kind_of(option):
                alike[kind_of(option), option.words].extend(f"'{name} {word}'" for word in spellings(option))
    return "\n".join(f"    {' | '.join(cases)}) kind={kind} words='{' '.join(words)}' ;;" for (kind, words), cases in alike.items())


# --- zsh -----------------------------------------------------------------------------------------------------


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_spec(option):
    action = {"words": f"({' '.join(option.words)})", "list": f"_sequence compadd - {' '.join(option.words)}", "files": "_files",
              "folders": "_files -/", "any": " "}
    value = f":{zsh_text(option.argument)}:{action[kind_of(option)]}" if kind_of(option) else ""
    long = f"--{option.name}" + ("=" if value else "")
    told = f"[{zsh_text(option.help)}]{value}"
    if not option.letter:
        return f"    '{long}{told}'"
    return f"    '(-{option.letter} --{option.name})'{{-{option.letter}{'+' if value else ''},{long}}}'{told}'"


def zsh_specs(options):
    return " \\\n".join(zsh_spec(option) for option in options)


def zsh_commands(commands):
    return "\n".join(f"    '{name}:{zsh_text(told)}'" for name, (told, _) in commands.items())


def zsh_cases(commands):
    return "\n".join(f"  ({name}) _arguments -s -S : \\\n{zsh_specs(options)} \\\n    '*:trace:_files' ;;"
                     for name, (_, options) in commands.items() if options)


def zsh_verbs(verbs):
    return "\n".join(f"  ({command})\n    verbs=(\n{zsh_commands(those)}\n    )\n    _dftmerge_verb && return\n    case $words[1] in\n{zsh_cases(those)}\n"
                     "    esac ;;" for command, those in verbs.items())


# --- fish ----------------------------------------------------------------------------------------------------


def fish_text(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(option):
    action = {"": "", "words": f" -x -a {fish_text(' '.join(option.words))}",
              "list": f" -x -a {fish_text('(__fish_append , ' + ' '.join(option.words) + ')')}", "files": " -r -F",
              "folders": " -x -a '(__fish_complete_directories)'", "any": " -x"}[kind_of(option)]
    return f"-l {option.name}" + (f" -s {option.letter}" if option.letter else "") + f"{action} -d {fish_text(option.help)}"


def fish_options(program, commands):
    """One line for all commands in which an option is the same."""
    alike = collections.defaultdict(list)
    for name, (_, options) in commands.items():
        for option in options:
            alike[option].append(name.replace(" ", "-"))
    return "\n".join(f"complete -c {program} -n '__{program}_is {' '.join(names)}' {fish_option(option)}"
                     for option, names in alike.items())


def fish_commands(condition, commands):
    return "\n".join(f"complete -c dftmerge -n '{condition}' -a {name} -d {fish_text(told)}" for name, (told, _) in commands.items())


# --- all -----------------------------------------------------------------------------------------------------


def main(merge_list, run_list, folder):
    merge, run = read(merge_list), read(run_list)
    by = next(option.words for option in merge["summary"][1] if option.name == "by")
    _, options = run["dftrun"]
    options[:] = [option._replace(words=by) if option.name == "by" else option for option in options]
    top = merge.pop("dftmerge")
    names = {name: value for name, value in merge.items() if " " not in name}
    verbs = {command: {name.split()[1]: value for name, value in merge.items() if name.startswith(command + " ")} for command in names}
    verbs = {command: those for command, those in verbs.items() if those}
    merge["summary"][1].append(Option("version", "", "", (), top[1][1].help))
    before = with_value(option for _, options_of in merge.values() for option in options_of)
    made = {
        "bash/dftmerge": filled("dftmerge.bash", OPTIONS=bash_options(merge), VALUES=bash_values(merge), COMMANDS=" ".join(names),
                                VERBS=bash_verbs(verbs)),
        "bash/dftrun": filled("dftrun.bash", OPTIONS=bash_options(run), VALUES=bash_values(run)),
        "zsh/_dftmerge": filled("dftmerge.zsh", COMMANDS=zsh_commands(names), WITH_VALUE=before,
                                CASES=zsh_cases({name: value for name, value in names.items() if name not in verbs}),
                                VERB_CASES=zsh_verbs(verbs), SUMMARY=zsh_specs(merge["summary"][1])),
        "zsh/_dftrun": filled("dftrun.zsh", SPECS=zsh_specs(options)),
        "fish/dftmerge.fish": filled("dftmerge.fish", NAMES=" ".join(names), WITH_VALUE=before,
                                     VERBED=" ".join(f"{command}-{verb}" for command, those in verbs.items() for verb in those),
                                     COMMANDS=fish_commands("__dftmerge_at", names), HELPED=" ".join(names),
                                     VERBS="\n".join(fish_commands(f"__dftmerge_at {command}", those) for command, those in verbs.items()), OPTIONS=fish_options("dftmerge", merge)),
        "fish/dftrun.fish": filled("dftrun.fish", OPTIONS=fish_options("dftrun", run), WITH_VALUE=with_value(options)),
        "fish/dftmerge-mpi.fish": "complete -c dftmerge-mpi -w dftmerge\n",
    }
    for name, text in made.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: generate.py DFTMERGE.txt DFTRUN.txt FOLDER")
    main(*sys.argv[1:])
