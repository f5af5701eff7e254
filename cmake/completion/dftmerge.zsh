#compdef dftmerge dftmerge-mpi
# Made by cmake/completion/generate.py of `dftmerge --list-options`.

_dftmerge_summary() {
  _arguments -s -S : \
@SUMMARY@ \
    '*:trace:_files'
}

_dftmerge_spans() {
  local -a verbs
  verbs=(
@VERBS@
  )
  if (( CURRENT == 2 )); then
    _describe -t verbs 'verb' verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
@VERB_CASES@
  esac
}

_dftmerge() {
  local -a commands
  commands=(
@COMMANDS@
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands 'command' commands
    _files
    return
  fi
  if [[ -z ${commands[(r)$words[2]:*]} ]]; then
    _dftmerge_summary
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
  (spans) _dftmerge_spans ;;
@CASES@
  esac
}

_dftmerge "$@"
