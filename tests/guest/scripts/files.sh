# SPDX-License-Identifier: MIT
# Copies of a tree with everything in it: cp, rsync, tar, find, xargs, mv, split, dd, compressors. N: files.
set -e
mkdir -p in/deep/er
for i in $(seq "$N"); do seq "$i" $((i * 20)) >"in/f$i"; done
ln in/f1 in/hard
ln -s f2 in/soft
ln -s nosuch in/dangling
mkfifo in/fifo
chmod 640 in/f2
chmod u+s in/f3
truncate -s 3M in/sparse
printf middle | dd of=in/sparse bs=1 seek=1500000 conv=notrunc status=none
printf 'odd name' >'in/deep/a
b "c" '\'' *'
: >in/deep/er/empty
setfattr -n user.note -v text in/f1 2>/dev/null || true
find in -exec touch -h -d '2020-02-02 02:02:02.123456789' {} +
list() { (cd "$1" && find . -printf '%p %y %m %n %s %l %T@\n' | LC_ALL=C sort | sha256sum); }
sums() { (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -n 7 -P 1 sha256sum | sha256sum); }
list in; sums in
cp -a in copy; list copy; sums copy
cp -r --preserve=timestamps --sparse=always --reflink=never in copy2 ; sums copy2
tar -C in -cSf all.tar --sort=name . ; mkdir t1; tar -C t1 -xpf all.tar; list t1; sums t1
tar -C in -czf - --xattrs . | (mkdir t2; tar -C t2 -xzpf - --xattrs); list t2
tar -C in -c --use-compress-program='xz -T2 -0' -f all.txz . ; tar -tf all.txz | LC_ALL=C sort | sha256sum
tar -C in -cf inc0.tar -g snap . ; echo new >in/new; tar -C in -cf inc1.tar -g snap . ; tar -tf inc1.tar | LC_ALL=C sort
rm in/new snap all.txz inc0.tar inc1.tar; touch -d '2020-02-02 02:02:02.123456789' in
tar --delete -f all.tar ./f1; tar -rf all.tar -C in f1; tar -tf all.tar | sha256sum; rm all.tar
find in -type f -print0 | xargs -0 -P 2 -n 5 wc -c | grep -v total | LC_ALL=C sort | sha256sum
find in -type f -size +10k -exec cp {} . \; ; ls -1 | wc -l
sort -R --random-source=in/f9 in/f1? | sort -n -S 64K -T . --parallel=2 | uniq -c | sha256sum
seq 200000 | sort -r -S 100K -T . --batch-size=3 | tail -n 1
split -b 100k in/sparse part. ; cat part.* | cmp - in/sparse; rm part.*
gzip -nk in/f5; gunzip -c in/f5.gz | cmp - in/f5; rm in/f5.gz
! command -v zstd >/dev/null || { zstd -q -T2 in/sparse -o z; zstd -dc -q z | cmp - in/sparse; rm z; }
dd if=in/sparse of=dd1 bs=4k conv=sparse,fsync status=none; cmp dd1 in/sparse
dd if=in/f9 of=dd2 bs=7 skip=3 seek=2 count=20 iflag=fullblock oflag=append conv=notrunc status=none; sha256sum dd2
mkdir other; mv copy2 other/; mv other/copy2/f4 .; install -D -m 600 in/f6 inst/all/of/it; ln -sfn in/f7 inst/link
cp -al in/f8 hardcopy; stat -c '%h' in/f8; mktemp -u XXXX | wc -c
sed -i -e 's/1/one/' hardcopy; awk '{ print > ("awk" NR % 3); close("nosuch") }' in/f9; cat awk0 awk1 awk2 | wc
diff -r in copy >changes || true; wc -l <changes; printf 'a\nnew\n.\nw\nq\n' | ed -s in/f9 2>&1 || true
diff -u --label a --label b copy/f9 in/f9 >p || true; patch -s copy/f9 p || true; cmp copy/f9 in/f9
df in >/dev/null; du -s --apparent-size in/f1? | LC_ALL=C sort; truncate -s 10 f4; fallocate -l 8192 f4; fallocate -p -o 0 -l 4096 f4; stat -c %s f4
rm -rf other t1 copy
