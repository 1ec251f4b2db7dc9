"""The `form` decorator, which says how nodes of one of weft's own ops are written in TensorFlow's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.built_at import Stack
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry import op_registry
from weft.framework.registry.tensorflow_form import Lists, TensorFlowForm
from weft.framework.types.dtypes import variant
from weft.ops.array.identity import identity_n, identity_node
from weft.ops.array.placeholder import placeholder_node
from weft.ops.declaration import definition_of

Form = Callable[..., "Tensor | Operation | Sequence[Tensor] | None"]


def form(*builders: Callable[..., object], with_lists: bool = False) -> Callable[[Form], Form]:
    """Register `rule(node, *inputs)` for the ops that `builders` add nodes of.

    The rule adds nodes to a graph of its own and returns what stands for the node's outputs, an operation for a node without
    any. It is given a tensor for each input, lists for lists; what is known of their values is asked of `node.inputs`. A node
    for which it returns None is written as it is.

    Args:
        builders: the functions that add nodes of the ops.
        with_lists: the rule also takes `lists`, the tensors that are written as lists; the first input may be one of them.
    """

    def decorate(rule: Form) -> Form:
        for builder in builders:
            register(definition_of(builder), rule, with_lists)
        return rule

    return decorate


def register(definition: OpDef, rule: Form, with_lists: bool = False) -> None:
    """Register the rule for an op that has no function of its own."""
    given = rule if with_lists else None

    def make(node: Operation, lists: Lists) -> TensorFlowForm | None:
        chosen = rule if given is None else functools.partial(given, lists=lists)
        return _made(definition, chosen, node, lists)

    op_registry.register_form(definition.name, make, with_lists)


def register_for_lists(definition: OpDef, rule: Form) -> None:
    """Register the rule for an op of TensorFlow's, for nodes that are given a TensorList."""

    def make(node: Operation, lists: Lists) -> TensorFlowForm | None:
        return _made(definition, rule, node, lists) if node.inputs[0] in lists else None

    op_registry.register_form(definition.name, make, takes_list=True)


def _made(definition: OpDef, rule: Form, node: Operation, lists: Lists) -> TensorFlowForm | None:
    graph = _Apart()
    with graph.as_default():
        arguments = [_argument(graph, tensor, tensor in lists) for tensor in node.inputs]
        result = rule(node, *(value for _, value in group(definition.inputs, node.attrs, arguments)))
        if result is None:
            return None
        last = result if isinstance(result, Operation) else _last([result] if isinstance(result, Tensor) else result)
    outside = {tensor.op for tensor in arguments}
    nodes = [op for op in graph.get_operations() if op not in outside and op is not last]
    return TensorFlowForm(arguments, [*nodes, last])


def _nowhere() -> Stack:
    return ()


class _Apart(Graph):
    """A graph that is written and forgotten."""

    _place = staticmethod(_nowhere)


_ARGUMENT: Final = definition_of(placeholder_node)


def _argument(graph: Graph, tensor: Tensor, is_list: bool) -> Tensor:
    dtype, dims = (variant, ()) if is_list else (tensor.dtype, tensor.dims)
    attrs = {"dtype": dtype.base_dtype, "shape": dims}
    made = graph.add_node(_ARGUMENT, graph.settle_name("argument"), (), [dtype], attrs).outputs[0]
    made.dims = dims
    return made


def _last(results: Sequence[Tensor]) -> Operation:
    """The operation whose outputs are the results."""
    first = results[0]
    if len(results) > 1:
        joined: list[Tensor] = identity_n(list(results), name=None)
        return joined[0].op
    if first.op.op_def is _ARGUMENT or len(first.op.outputs) > 1 or first.consumers():
        return identity_node(first).op
    return first.op
