"""Whether a node is inside a part that TensorFlow's XLA bridge compiles: never, weft compiles whole stages by itself.

The names are those of tensorflow.python.ops.control_flow_util, which layers of programs' own ask.
"""

from __future__ import annotations


def GraphOrParentsInXlaContext(graph: object) -> bool:
    """Return False."""
    return False


def IsInXLAContext(op: object) -> bool:
    """Return False."""
    return False


def GetContainingXLAContext(ctxt: object) -> None:
    """Return None: there is no such context."""
