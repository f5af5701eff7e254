# Made by cmake/completion/generate.py of `dftmerge --list-options`.

# The command that is typed: summary where none is named.
function __dftmerge_command
    set -l words (commandline -opc)
    if not contains -- "$words[2]" @NAMES@
        echo summary
    else if test "$words[2]" = spans; and contains -- "$words[3]" @VERB_NAMES@
        echo spans-$words[3]
    else
        echo $words[2]
    end
end
function __dftmerge_is
    contains -- (__dftmerge_command) $argv
end
# Is word 1, the command, or word 2, the verb of spans, the next one?
function __dftmerge_at
    set -l words (commandline -opc)
    test (count $words) = $argv[1]; and test $argv[1] = 1 -o "$words[2]" = spans
end

@COMMANDS@
complete -c dftmerge -n '__dftmerge_at 1' -a help -d 'tells about a command'
@VERBS@
@OPTIONS@
