# bash completion of dftmerge and dftmerge-mpi                                -*- shell-script -*-
# Made by cmake/completion/generate.py of `dftmerge --list-options`.

# Sets `options`: those of a command.
_dftmerge_options() {
    case $1 in
@OPTIONS@
    esac
}

# Sets `verbs`: those of a command.
_dftmerge_verbs() {
    case $1 in
@VERBS@
    esac
}

# Sets `kind` and `words`: what stands behind an option of a command.
_dftmerge_value() {
    case $1 in
@VALUES@
    esac
}

# Sets `at`: which word is the command, behind options and their values; that of an option that summary does not know
# is taken for one unless it is a command. More than COMP_CWORD: a value is typed.
_dftmerge_at() {
    local word next

    _dftmerge_options summary
    for ((at = 1; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]} next=${COMP_WORDS[at + 1]} kind=''
        [[ $word == -?* && $word != -- ]] || break
        if [[ $next == = ]]; then
            ((at += 2))
            continue
        fi
        _dftmerge_value "summary $word"
        if [[ -n $kind ]] || [[ $word != *=* && " $options " != *" $word "* && $next != -?* && " $commands " != *" $next "* ]]; then
            ((at++))
        fi
    done
    kind='' words='' options=''
}

_dftmerge() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=summary options='' kind='' words='' before='' at
    local commands='@COMMANDS@' verbs=''

    COMPREPLY=()
@JOINED@
    _dftmerge_at
    if ((COMP_CWORD > at)) && [[ " $commands " == *" ${COMP_WORDS[at]} "* ]]; then
        command=${COMP_WORDS[at]}
    elif ((COMP_CWORD == at + 1)) && [[ ${COMP_WORDS[at]} == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands filters" -- "$cur")
        return
    fi
    _dftmerge_verbs "$command"
    if [[ -n $verbs ]]; then
        if ((COMP_CWORD == at + 1)); then
            mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur")
            return
        fi
        command="$command ${COMP_WORDS[at + 1]}"
    fi
    _dftmerge_value "$command $prev"
    case $kind in
@KINDS@
    *)
        if [[ $cur == -* ]]; then
            _dftmerge_options "$command"
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        elif ((COMP_CWORD == at)); then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -W "$commands help" -- "$cur"; compgen -f -- "$cur")
        fi
        ;;
    esac
}
complete -o default -F _dftmerge dftmerge dftmerge-mpi
