# bash completion of dftmerge and dftmerge-mpi                                -*- shell-script -*-
# Made by cmake/completion/generate.py of `dftmerge --list-options`.

# Sets `options`: those of a command.
_dftmerge_options() {
    case $1 in
@OPTIONS@
    esac
}

# Sets `kind` and `words`: what stands behind an option of a command.
_dftmerge_value() {
    case $1 in
@VALUES@
    esac
}

_dftmerge() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=summary options='' kind='' words='' before=''
    local commands='@COMMANDS@' verbs='@VERBS@'

    COMPREPLY=()
@JOINED@
    if ((COMP_CWORD > 1)) && [[ " $commands " == *" ${COMP_WORDS[1]} "* ]]; then
        command=${COMP_WORDS[1]}
    elif ((COMP_CWORD == 2)) && [[ ${COMP_WORDS[1]} == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
        return
    fi
    if [[ $command == spans ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur")
            return
        fi
        command="spans ${COMP_WORDS[2]}"
    fi
    _dftmerge_value "$command $prev"
    case $kind in
@KINDS@
    *)
        if [[ $cur == -* ]]; then
            _dftmerge_options "$command"
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        elif ((COMP_CWORD == 1)); then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -W "$commands help" -- "$cur"; compgen -f -- "$cur")
        fi
        ;;
    esac
}
complete -o default -F _dftmerge dftmerge dftmerge-mpi
