# SPDX-License-Identifier: MIT
# A program in Python, and an environment of one's own.
tar xzf "$DOWNLOADS"/dftrace-*-linux-*.tar.gz
PATH=$(echo "$PWD"/dftrace-*/bin):$PATH
python3 -m venv env
env/bin/python -m pip install -q --no-index "$DOWNLOADS"/dftrace/python
env/bin/python -m dftrace run -o traces --data-dir "$PWD/data" train.py
dftmerge summary --by file,name --top 5 traces
