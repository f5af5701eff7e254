#!/bin/sh
# SPDX-License-Identifier: MIT
# The program of a newcomer: writes forty files into a folder, packs them, and copies a part of the pack, 16 bytes at a
# time.
set -e
folder=${1:-work}
mkdir "$folder"
i=0
while [ $i -lt 40 ]; do
    cat "$0" >"$folder/part-$i"
    i=$((i + 1))
done
tar cf "$folder.tar" "$folder"
dd if="$folder.tar" of="$folder.copy" bs=16 count=3000 2>/dev/null
