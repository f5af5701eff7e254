#!/bin/sh
# SPDX-License-Identifier: MIT
# A thing that is there in one place is not installed again, and a thing that is nowhere is named once.
. "$(dirname "$0")/../packages.sh"

need_file no-such-file.a some-package
need_file no-such-file.a some-package
need_command sh none
need_command no-such-command other-package
for file in /usr/lib/*/libz.so; do # lies in one folder of several that are looked into
    [ ! -e "$file" ] || need_file libz.so zlib1g-dev
done
wanted=" some-package other-package"
if [ "$missing_packages" = "$wanted" ]; then
    echo "1 passed, 0 failed"
else
    echo "missing:$missing_packages, not:$wanted"
    echo "0 passed, 1 failed"
    exit 1
fi
