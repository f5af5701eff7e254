# SPDX-License-Identifier: MIT
# A repository's life: commits, merges with a conflict, rebase, stash, gc, clones, push, fetch, bundles, bisect. N: commits.
set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
git config --global init.defaultBranch main
git config --global gc.auto 0
git config --global pack.threads 1
git config --global protocol.file.allow always
git init -q one
cd one
for i in $(seq "$N"); do
    mkdir -p "d$((i % 7))"
    seq "$i" $((i * 3)) >"d$((i % 7))/f$i"
    seq "$i" >>shared
    git add -A
    git commit -q -m "commit $i"
done
git checkout -q -b side HEAD~3
echo side >>shared
git mv d1 moved
git commit -q -a -m side
git checkout -q main
git merge -q side 2>&1 || { git status --short; git checkout -q --ours shared; git add -A; git commit -q -m merged; }
git tag -a v1 -m one
git checkout -q -b other v1~2
echo other >other
git add other
git commit -q -m other
git rebase -q main
echo dirty >>other
git stash -q
git stash pop -q
git diff --stat
git commit -q -a -m dirty
git worktree add -q ../tree side
git gc -q --prune=now
git repack -q -a -d -f
git fsck --full --strict
git clone -q --no-hardlinks . ../two
git clone -q --bare "file://$PWD" ../bare.git
cd ../two
git remote add bare ../bare.git
echo two >two
git add two
git commit -q -m two
git push -q bare HEAD:refs/heads/pushed 2>&1
git fetch -q bare 2>&1
git archive HEAD | tar tf - | LC_ALL=C sort | sha256sum
git bundle create -q ../all.bundle --all
git clone -q ../all.bundle ../three 2>&1
git log --all --format='%H %P %s' | sha256sum
git grep -c 1 | head -n 5
git blame other | sha256sum
git bisect start -q HEAD HEAD~5 >/dev/null
git bisect run sh -c 'test ! -f two' | tail -n 3
git bisect reset >/dev/null 2>&1
FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'cat; echo filtered' HEAD~2.. 2>&1 | tail -n 1
git submodule --quiet add "$PWD/../bare.git" sub 2>&1
git commit -q -m submodule
git fsck --full
cat ../bare.git/refs/heads/pushed
git status --short
