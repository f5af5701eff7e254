# Made by cmake/completion/generate.py of `dftmerge --list-options`.

# The words that are typed, from the command on: without options before it, and their values.
function __dftmerge_words
    set -l words (commandline -opc)
    set -e words[1]
    while string match -q -- '-?*' $words[1]; and test "$words[1]" != --
        contains -- $words[1] @WITH_VALUE@; and set -e words[1]
        set -e words[1]
    end
    printf '%s\n' $words
end
# The command that is typed, with its verb: summary where none is named.
function __dftmerge_command
    set -l words (__dftmerge_words)
    if contains -- "$words[1]-$words[2]" @VERBED@
        echo $words[1]-$words[2]
    else if contains -- "$words[1]" @NAMES@
        echo $words[1]
    else
        echo summary
    end
end
function __dftmerge_is
    contains -- (__dftmerge_command) $argv
end
# Is the command the next word; or, behind the command in $argv, its verb?
function __dftmerge_at
    set -l words (__dftmerge_words)
    test "$words" = "$argv"
end

@COMMANDS@
complete -c dftmerge -n '__dftmerge_at' -a help -d 'Tells about a command'
complete -c dftmerge -n '__dftmerge_at help' -a '@HELPED@ filters'
@VERBS@
@OPTIONS@
