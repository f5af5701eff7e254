# SPDX-License-Identifier: MIT
"""Runs functions that assert what holds, one after the other, and tells of each."""


def run(tests):
    """Returns how many failed."""
    failed = 0
    for test in tests:
        try:
            test()
            print(f"ok      {test.__name__}")
        except AssertionError as error:
            failed += 1
            print(f"FAILED  {test.__name__}: {error}")
    return failed
