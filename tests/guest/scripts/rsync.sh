# SPDX-License-Identifier: MIT
# A tree synchronised: copies, changes, deletions, hard links, sparse files, compression over a pipe. N: files.
set -e
mkdir -p in/d
for i in $(seq "$N"); do seq "$i" $((i * 50)) >"in/d/f$i"; done
ln in/d/f1 in/hard; ln -s d/f2 in/soft; truncate -s 2M in/sparse
find in -exec touch -h -d '2021-01-01 00:00:00' {} +
list() { (cd "$1" && find . -printf '%p %y %m %n %s %l %T@\n' | LC_ALL=C sort | sha256sum); }
rsync -aHAXS --numeric-ids in/ out/; list in; list out
rm in/d/f3; seq 5000 >in/d/f4; touch -d '2021-01-02 00:00:00' in/d/f4 in/d in
rsync -aHi --delete in/ out/ | LC_ALL=C sort; list out
rsync -a --checksum --inplace --no-whole-file in/ out/
printf '#!/bin/sh\nshift\nexec "$@"\n' >rsh; chmod +x rsh
rsync -az -e "$PWD/rsh" in/ here:"$PWD/far/"; list far
rsync -a --link-dest=../out in/ linked/; stat -c %h linked/d/f5
diff -r in out && diff -r in far && echo same
