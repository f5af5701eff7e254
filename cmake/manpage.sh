#!/bin/sh
# SPDX-License-Identifier: MIT
# One manual page of one page of docs/commands: manpage.sh LOWDOWN PAGE.md MANUAL.1
set -eu
lowdown=$1
page=$2
manual=$3
name=$(basename "$page" .md)
# The first heading is the title of the manual. A link to a page or a section leaves its text. Code is bold, as in other
# manuals.
sed -e 1,2d -e 's/\[\([^]]*\)\]([^)]*\.md[^)]*)/\1/g' -e 's/\[\([^]]*\)\](#[^)]*)/\1/g' "$page" | awk '/^## / { $0 = toupper($0) } { print }' |
    "$lowdown" -s -Tman -m "title=$name" -m section=1 -m source=dftrace -m shiftheadinglevelby=-1 |
    sed 's/\\fC/\\fB/g' >"$manual.new"
mv "$manual.new" "$manual"
