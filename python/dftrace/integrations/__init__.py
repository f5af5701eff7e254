# SPDX-License-Identifier: MIT
"""Integrations: regions from libraries that programs use, without a change of the program."""
