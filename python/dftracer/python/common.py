# SPDX-License-Identifier: MIT
"""DFTracer's logger and its annotations of functions, as DFTracer 2.x names the module."""

from dftrace.entities import EntityRelation, EntityRole, EntityStore
from dftracer.python.env import *  # noqa: F401,F403
from dftracer.python.function import dft_fn
from dftracer.python.tags import TagDType, TagType, TagValue
from dftracer.python.tracer import dftracer

__all__ = ["EntityRelation", "EntityRole", "EntityStore", "TagDType", "TagType", "TagValue", "dft_fn", "dftracer"]
