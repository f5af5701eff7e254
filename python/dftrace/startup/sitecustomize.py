# SPDX-License-Identifier: MIT
"""What `python -m dftrace run` puts in front of a program: the only file of a folder on PYTHONPATH.

Takes its folder off sys.path, does what DFTRACE_PYTHON asks for, then imports the sitecustomize that would have been
found without it. So sys.modules has that one, and site prints what it raises. Any Python may come here, of any age.
"""

import sys

_folder = __file__.rpartition("/")[0]
sys.path[:] = [_entry for _entry in sys.path if _entry != _folder]
sys.path_importer_cache.pop(_folder, None)
sys.modules.pop("sitecustomize", None)
try:
    if sys.version_info >= (3, 9):
        _file = _folder.rpartition("/")[0] + "/_hooks.py"
        _loader = sys.modules["_frozen_importlib_external"].SourceFileLoader("dftrace._hooks", _file)
        exec(_loader.get_code("dftrace._hooks"), {"__name__": "dftrace._hooks", "__file__": _file})
except Exception:  # whatever is wrong here, the program runs
    pass
import sitecustomize  # noqa: E402,F401
