    list)
        [[ $cur != *,* ]] || before=${cur%,*},
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur##*,}")
        compopt -o nospace
        ;;
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
    folders)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        ;;
    files | any) ;; # nothing here: readline completes names of files
