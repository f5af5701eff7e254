# SPDX-License-Identifier: MIT
# What bash does with descriptors, processes and jobs. Run by bash.
# shellcheck disable=SC2154,SC2320 # a coprocess sets two_PID; $? is that of a redirection
echo one >a; echo two >>a; cat <a | tr a-z A-Z | tee b >c
exec 7<>a; read -r line <&7; echo "got $line" >&7; exec 7>&-
{ echo grouped; ls; } >d 2>&1
cat <<END >e
here document $((6 * 7))
$(for i in 1 2 3; do echo "line $i"; done)
END
cat <<<'here string' >>e
head -c 200000 /dev/zero | tr '\0' x >big
read -r word <<<"$(cat big)"; echo "${#word}"
exec 5>f; exec 6>&5; echo dup >&6; exec 5>&- 6>&-
exec {number}>g; echo "$number is at least 10: $((number >= 10))"; echo x >&$number; exec {number}>&-
exec 200>h 250>i 255>&1; echo high >&200; echo higher >&250; echo out >&255; exec 200>&- 250>&- 255>&-
diff <(seq 10) <(seq 2 11); paste <(seq 3) <(seq 4 6) <(seq 7 9)
seq 1000 | tee >(wc -l >j) >(md5sum >k) | tail -n 1; until [ -s j ] && [ -s k ]; do sleep 0.05; done; cat j k
coproc two { while read -r l; do echo "co $l"; done; }
echo hi >&"${two[1]}"; read -r answer <&"${two[0]}"; echo "$answer"
pid=$two_PID; eval "exec ${two[1]}>&-"; wait "$pid"; echo "coproc $?" # the variable goes with the process
mapfile -t lines < <(seq 5); echo "${lines[@]}"
(trap 'echo at exit' EXIT; exit 3); echo "$?"
trap 'echo usr1' USR1; kill -USR1 $$; trap - USR1
sleep 100 & kill %1; wait %1; echo "killed $?"
set -m
(sleep 0.1; exit 7) & wait -n; echo "wait -n $?"
sh -c 'kill -STOP $$; exit 4' & stopped=$!
until [ "$(ps -o stat= $stopped | cut -c1)" = T ]; do sleep 0.05; done
kill -CONT $stopped; while kill -0 $stopped 2>/dev/null; do wait $stopped; done; wait $stopped; echo "continued $?"
set +m
false | true | (exit 9); echo "${PIPESTATUS[@]}"
set -o pipefail; false | true; echo $?; set +o pipefail
yes | head -n 2; echo "${PIPESTATUS[@]}"
(ulimit -n 16; exec 9</dev/null; cat <a)
(ulimit -f 4; head -c 10000 /dev/zero >limited) 2>/dev/null; echo "limited $?"; wc -c <limited
(exec >closed; echo in; exec >&-; echo nowhere) 2>/dev/null; echo $?; cat closed
cat nosuch; ./nosuch; echo $?; : >notexec; ./notexec; echo $?
printf '#!/bin/sh\necho script "$@"\n' >script; chmod +x script; ./script 1 2
printf 'echo no hash line "$0"\n' >plainscript; chmod +x plainscript; ./plainscript
set -C; echo x >a; echo "noclobber $?"; set +C
for i in $(seq 30); do (echo "$i" | cat >/dev/null) & done; wait; echo all
shopt -s globstar nullglob; mkdir -p x/y/z; touch x/y/z/{1..20}; echo **/*1
exec -a renamed bash -c 'echo $0; exec 3<a; read -u 3 l; echo $l; test -t 0; echo $?'
