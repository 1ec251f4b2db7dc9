"""Copies of some operations of a graph, in it or in another, with others in the place of what they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.client.editing.elements import flat
from weft.client.editing.selection import get_walks_intersection_ops
from weft.client.editing.views import SubGraphView, make_view
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed


class TransformerInfo:
    """What a copy has made of each operation and tensor.

    Args:
        transformed_ops: the copies by what was copied.
        transformed_ts: the same for tensors, those too that others take the place of.
    """

    __repr__ = printed("tf.contrib.graph_editor", lambda info: f"{len(info._transformed_ops)} ops")

    def __init__(self, transformed_ops: dict[Operation, Operation], transformed_ts: Mapping[Tensor, Tensor]) -> None:
        self._transformed_ops = transformed_ops
        self._transformed_ts = dict(transformed_ts)

    def transformed(self, original: Nest, missing_fn: Callable[[Nest], Nest] | None = None) -> Nest:
        """What was made of an operation, a tensor, a subgraph, or a structure of these.

        Args:
            original: what was copied.
            missing_fn: a function of what was not copied; None stands for it when there is none.
        """
        return self._mapped(original, self._transformed_ops, self._transformed_ts, missing_fn)

    def original(self, transformed: Nest, missing_fn: Callable[[Nest], Nest] | None = None) -> Nest:
        """What an operation, a tensor, a subgraph, or a structure of these was made of.

        Args:
            transformed: the copies.
            missing_fn: a function of what is no copy; None stands for it when there is none.
        """
        ops = {copy: op for op, copy in self._transformed_ops.items()}
        tensors = {copy: tensor for tensor, copy in self._transformed_ts.items()}
        return self._mapped(transformed, ops, tensors, missing_fn)

    def _mapped(
        self, given: Nest, ops: Mapping[Operation, Operation], tensors: Mapping[Tensor, Tensor],
        missing_fn: Callable[[Nest], Nest] | None,
    ) -> Nest:  # fmt: skip
        if isinstance(given, SubGraphView):
            return SubGraphView([ops[each] for each in given.ops if each in ops])

        def one(each: Nest) -> Nest:
            found = ops.get(each) if isinstance(each, Operation) else tensors.get(each)
            return missing_fn(each) if found is None and missing_fn is not None else found

        return nest.map_structure(one, given)


class _Copy:
    """A copy that is being made."""

    def __init__(
        self, view: SubGraphView, replacements: Mapping[Tensor, Tensor], graph: Graph, dst_scope: str, src_scope: str
    ) -> None:
        self._inside = set(view.ops)
        self._graph = graph
        self._dst, self._src = dst_scope, src_scope
        self.ops: dict[Operation, Operation] = {}
        entering = {id(each) for each in view.inputs}
        self.tensors: dict[Tensor, Tensor] = {key: value for key, value in replacements.items() if id(key) in entering}

    def of_tensor(self, tensor: Tensor) -> Tensor:
        if tensor in self.tensors:
            return self.tensors[tensor]
        if tensor.op in self.ops:
            return self.ops[tensor.op].outputs[tensor.value_index]
        if tensor.graph is not self._graph:
            raise ValueError(
                f"{tensor!r} enters the subgraph from outside, and is of another graph than the copy: give a replacement for it"
            )
        return tensor

    def make(self, op: Operation) -> None:
        """Copy an operation, and before it what it takes."""
        waiting = [op]
        while waiting:
            each = waiting[-1]
            needed = [tensor.op for tensor in each.inputs if tensor not in self.tensors]
            before = [one for one in (*needed, *each.control_inputs) if one in self._inside and one not in self.ops]
            if not before:
                if each not in self.ops:
                    self._one(each)
                waiting.pop()
            else:
                waiting += before

    def _one(self, op: Operation) -> None:
        graph = self._graph
        name = op.name
        if self._src and name.startswith(self._src):
            name = name.removeprefix(self._src)
        controls = [self.ops.get(each, each) for each in op.control_inputs]
        kept = [each for each in controls if each.graph is graph]
        inputs = [self.of_tensor(each) for each in op.inputs]
        name, types = graph.unique_name(f"{self._dst}{name}"), [each.dtype for each in op.outputs]
        made = graph.add_node(op.op_def, name, inputs, types, dict(op.attrs), kept)
        made._set_device(op.device)
        made.original_op = op.original_op
        self.ops[op] = made
        for old, new in zip(op.outputs, made.outputs, strict=True):
            self.tensors[old] = new


def copy_with_input_replacements(
    sgv: Nest, replacement_ts: Mapping[Tensor, Tensor], dst_graph: Graph | None = None, dst_scope: str = "",
    src_scope: str = "", reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """Copy a subgraph, with other tensors in the place of some that enter it.

    Args:
        sgv: the subgraph, or its operations.
        replacement_ts: what takes the place of tensors that enter.
        dst_graph: the graph of the copy; the same when None.
        dst_scope: the name scope of the copy.
        src_scope: the name scope that is taken off the names.
        reuse_dst_scope: whether the scope may be there already.

    Returns:
        The copy, and what became of what.

    Raises:
        TypeError: `dst_graph` is no graph.
        ValueError: a tensor enters from another graph and has no replacement, or the types do not fit.
    """
    view = make_view(sgv)
    graph = dst_graph if dst_graph is not None else view.graph
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    for old, new in replacement_ts.items():
        if not old.dtype.is_compatible_with(new.dtype):
            raise ValueError(f"{new!r} cannot take the place of {old!r}: the dtypes differ")
    scope = dst_scope.rstrip("/")
    if scope and not reuse_dst_scope:
        scope = graph.unique_name(scope)
    copy = _Copy(view, replacement_ts, graph, f"{scope}/" if scope else "", f"{src_scope.rstrip('/')}/" if src_scope else "")
    with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None), graph.device(None):
        for op in view.ops:
            copy.make(op)
    return SubGraphView([copy.ops[each] for each in view.ops]), TransformerInfo(copy.ops, copy.tensors)


def copy(
    sgv: Nest, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> tuple[SubGraphView, TransformerInfo]:
    """Copy a subgraph.

    Args:
        sgv: the subgraph, or its operations.
        dst_graph: the graph of the copy; the same when None.
        dst_scope: the name scope of the copy.
        src_scope: the name scope that is taken off the names.
        reuse_dst_scope: whether the scope may be there already.

    Returns:
        The copy, and what became of what.

    Raises:
        TypeError: `dst_graph` is no graph.
        ValueError: a tensor enters from another graph.
    """
    return copy_with_input_replacements(sgv, {}, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Nest, replacement_ts: Mapping[Tensor, Tensor], dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Nest:  # fmt: skip
    """What tensors would be, were others in the place of some that they are made of: what lies between is copied.

    Args:
        target_ts: a tensor, or a structure of tensors.
        replacement_ts: the others, by what they take the place of.
        dst_scope: the name scope of the copies.
        src_scope: the name scope that is taken off the names.
        reuse_dst_scope: whether the scope may be there already.

    Returns:
        The structure, with the copies.

    Raises:
        ValueError: no target is made of what has a replacement.
    """
    targets = [each for each in flat(target_ts) if isinstance(each, Tensor)]
    between = get_walks_intersection_ops(list(replacement_ts), targets)
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(between, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, missing_fn=lambda original: original)
