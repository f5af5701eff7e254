#compdef dftmerge dftmerge-mpi
# Made by cmake/completion/generate.py of `dftmerge --list-options`.

_dftmerge_summary() {
  _arguments -s -S : \
@SUMMARY@ \
    '*:trace:_files'
}

# Completes the verb, from `verbs`; else leaves it in words[1], and fails.
_dftmerge_verb() {
  if (( CURRENT == 2 )); then
    _describe -t verbs 'verb' verbs
    return 0
  fi
  shift words
  (( CURRENT-- ))
  return 1
}

_dftmerge() {
  local -a commands verbs valued helps filters
  local at=2
  commands=(
@COMMANDS@
  )
  helps=('help:Tells about a command')
  filters=('filters:Tells how to choose events')
  valued=(@WITH_VALUE@)
  while (( at < CURRENT )) && [[ $words[at] == -?* && $words[at] != -- ]]; do
    (( at += ${valued[(Ie)$words[at]]} ? 2 : 1 ))
  done
  if (( CURRENT == at )) && [[ $words[at] != -* ]]; then
    _describe -t commands 'command' commands -- helps
    _files
    return
  fi
  if (( at < CURRENT )) && [[ $words[at] == help ]]; then
    _describe -t commands 'command' commands -- filters
    return
  fi
  if (( at > CURRENT )) || [[ -z ${commands[(r)$words[at]:*]} ]]; then
    _dftmerge_summary
    return
  fi
  shift $(( at - 1 )) words
  (( CURRENT -= at - 1 ))
  case $words[1] in
@VERB_CASES@
@CASES@
  esac
}

_dftmerge "$@"
