"""The function by which a one-shot iterator makes its dataset: a copy of the nodes that make it, which takes no arguments."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

from weft.framework.context import scopes
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.attr_value import FunctionName
from weft.ops.control_flow.function_graph import FunctionGraph
from weft.ops.declaration import Role

_NUMBERS: Final = itertools.count()
_PLACEHOLDERS: Final = frozenset((Role.PLACEHOLDER, Role.DEFAULT))


class _Copies(FunctionGraph):
    """A function that copies what it uses of the graph around it."""

    def __init__(self, name: str, outer_graph: Graph) -> None:
        super().__init__(name, outer_graph)
        self._copied: dict[Operation, Operation] = {}

    def _stand_in(self, tensor: Tensor) -> Tensor:
        return self._copy(tensor.op).outputs[tensor.value_index]

    def _copy(self, op: Operation) -> Operation:
        known = self._copied.get(op)
        if known is None:
            _check_copyable(op)
            inputs = [self.capture(tensor) for tensor in op.inputs]
            types = [tensor.dtype for tensor in op.outputs]
            with scopes.entered(self, name="", devices=(), device_name="", control=()):
                known = self.add_node(op.op_def, self.unique_name(op.name), inputs, types, dict(op.attrs), ())
            # Failures are told of where the program built the node.
            known.built_from = op.built_from
            self._copied[op] = known
        return known


def _check_copyable(op: Operation) -> None:
    role = op.op_def.role
    if role in _PLACEHOLDERS:
        raise ValueError(
            f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value. With make_initializable_iterator it is "
            "fed when iterator.initializer runs."
        )
    makes_dataset = [tensor.dtype for tensor in op.outputs] == [dtypes.variant]
    if role is Role.VARIABLE or (op.op_def.stateful and not makes_dataset):
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does not support datasets "
            "that capture stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
            "`Dataset.make_initializable_iterator()`. (Original error: Cannot capture a stateful node "
            f"(name:{op.name}, type:{op.type}) by value.)"
        )


def dataset_factory(variant: Tensor, finish: Callable[[Tensor], Tensor]) -> FunctionName:
    """The function that makes a dataset.

    Args:
        variant: the dataset.
        finish: adds the nodes that an iterator wants behind the dataset's own.

    Raises:
        ValueError: the dataset depends on a placeholder, or on a variable or another node with state.
    """
    body = _Copies(f"_make_dataset_{next(_NUMBERS)}", get_default_graph())
    with body.building():
        made = finish(body.capture(variant))
    return body.finish([made])
