# bash completion of dftrun                                                   -*- shell-script -*-
# Made by cmake/completion/generate.py of `dftrun --list-options`.

_dftrun_options() {
    case $1 in
@OPTIONS@
    esac
}

# Sets `kind` and `words`: what stands behind an option.
_dftrun_value() {
    kind='' words=''
    case $1 in
@VALUES@
    esac
}

# Completes COMMAND and its arguments, which begin at word $1.
_dftrun_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$2"; compgen -d -- "$2")
    fi
}

_dftrun() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options='' kind='' words='' before='' i word

    COMPREPLY=()
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == -- ]] && ((i < COMP_CWORD)); then
            _dftrun_command $((i + 1)) "$cur"
            return
        fi
        if [[ $word == -* ]]; then
            _dftrun_value "dftrun $word"
            [[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
            [[ -z $kind ]] || ((i++))
        elif [[ ! ($word =~ ^[0-9]+$ && ${COMP_WORDS[i - 1]} == --stack) ]]; then
            _dftrun_command "$i" "$cur"
            return
        fi
    done
@JOINED@
    _dftrun_value "dftrun $prev"
    case $kind in
@KINDS@
    *)
        _dftrun_options dftrun
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        ;;
    esac
}
complete -o default -F _dftrun dftrun
