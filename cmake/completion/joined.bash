    if [[ $cur == = ]]; then # bash cuts --by=file into three words
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
