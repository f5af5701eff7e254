#compdef dftrun
# Made by cmake/completion/generate.py of `dftrun --list-options`.

_arguments -s -S : \
@SPECS@ \
    '(-)1:command:_command_names -e' \
    '*::arguments:_normal'
