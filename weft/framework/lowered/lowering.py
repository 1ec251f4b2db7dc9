"""How TensorFlow is to run a branch or a loop that draws random numbers, where a graph is written for it.

Left to itself it runs the functions of an If or a While with kernels of their own for each set of fetches, and the random ones
among them begin their sequences anew. Lowered to nodes among the others of the graph they keep them; but then iterations of a
loop run beside each other, unless they are told not to, and which of them draws first is a race.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tensorboard.compat.proto import node_def_pb2

from weft.framework.lowered.written_bodies import bodies
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role

_LOWERED: Final = "_lower_using_switch_merge"
_LOOPS: Final = frozenset((Role.LOOP, Role.RECORDING_LOOP))


def keep_random_order(op: Operation, written: Iterable[node_def_pb2.NodeDef]) -> None:
    """Have what was written for a branch or a loop draw as the runs before left its random numbers, iteration by iteration."""
    if not _draws(op):
        return
    for node in written:
        if op.op_def.bodies[0] in node.attr:
            node.attr[_LOWERED].b = True
            if op.op_def.role in _LOOPS:
                node.attr["parallel_iterations"].i = 1


def _draws(op: Operation) -> bool:
    """Whether a random node runs within."""
    return any(inner.op_def.is_random or _draws(inner) for function in bodies(op) for inner in function.get_operations())
