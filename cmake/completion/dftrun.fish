# Made by cmake/completion/generate.py of `dftrun --list-options`.

# Are options still possible? The first word that is neither an option nor the value of one is COMMAND.
function __dftrun_is
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --
                return 1
            case '-*'
                contains -- $words[1] @WITH_VALUE@; and set -e words[1]
            case '*'
                return 1
        end
        set -e words[1]
    end
end

complete -c dftrun -x -a '(__fish_complete_subcommand @WITH_VALUE@)'
@OPTIONS@
