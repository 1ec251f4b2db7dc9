"""tensorflow.python.ops.script_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.script import py_func as py_func
