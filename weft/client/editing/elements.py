"""Lists of the operations and tensors that programs mean: what they are of, makes and takes them, and stands in for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from weft.framework.building.aliases import Nest, ShapeLike
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.printed import printed
from weft.ops.array.placeholder import placeholder

DEFAULT_PREFIX = "geph"

_Element = TypeVar("_Element", Operation, Tensor)


def flat(values: Nest) -> list[Nest]:
    """The elements of a structure; one value alone is a structure.

    Args:
        values: the structure.
    """
    if isinstance(values, Operation | Tensor | Graph | str) or not isinstance(values, Iterable):
        return [values]
    return [each for value in (values.values() if isinstance(values, dict) else values) for each in flat(value)]


def make_list_of_op(ops: Nest, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False) -> list[Operation]:
    """The operations that are meant: those of a graph, of a list, or one.

    Args:
        ops: a graph, an operation, or operations.
        check_graph: whether all must be of one graph.
        allow_graph: whether a graph stands for all of its operations.
        ignore_ts: whether tensors are passed over.

    Raises:
        TypeError: something else is given, or several graphs.
    """
    if isinstance(ops, Graph):
        return list(_whole(ops, allow_graph).get_operations())
    return _elements(Operation, ops, Tensor if ignore_ts else None, check_graph)


def make_list_of_t(ts: Nest, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list[Tensor]:
    """The tensors that are meant: those of a graph, of a list, or one.

    Args:
        ts: a graph, a tensor, or tensors.
        check_graph: whether all must be of one graph.
        allow_graph: whether a graph stands for all of its tensors.
        ignore_ops: whether operations are passed over.

    Raises:
        TypeError: something else is given, or several graphs.
    """
    if isinstance(ts, Graph):
        return get_tensors(_whole(ts, allow_graph))
    return _elements(Tensor, ts, Operation if ignore_ops else None, check_graph)


def _whole(graph: Graph, allow_graph: bool) -> Graph:
    if not allow_graph:
        raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
    return graph


def _elements(kind: type[_Element], values: Nest, passed_over: type | None, check_graph: bool) -> list[_Element]:
    """All elements of a structure, which are of one kind, and of one graph if that is to be checked."""
    given = [each for each in flat(values) if passed_over is None or not isinstance(each, passed_over)]
    for each in given:
        if not isinstance(each, kind):
            raise TypeError(f"Expected a type in ({kind}), got: {type(each)}")
    if check_graph and len({id(each.graph) for each in given}) > 1:
        raise TypeError("Operation or tensor belongs to another graph than the rest: all must be of one.")
    return given


def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph.

    Args:
        graph: the graph.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts: Nest) -> list[Operation]:
    """The operations that make tensors.

    Args:
        ts: the tensors.
    """
    return [each.op for each in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Nest) -> list[Operation]:
    """The operations that take tensors, each once.

    Args:
        ts: the tensors.
    """
    return list(dict.fromkeys(op for each in make_list_of_t(ts, allow_graph=False) for op in each.consumers()))


class ControlOutputs:
    """The operations that wait for others.

    Args:
        graph: the graph.

    Raises:
        TypeError: it is none.
    """

    __repr__ = printed("tf.contrib.graph_editor", lambda outputs: f"of {outputs.graph!r}")

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    def get_all(self) -> dict[Operation, list[Operation]]:
        """All operations that wait: a list of them by the operation for which they wait."""
        return {op: list(op.control_consumers) for op in self._graph.get_operations() if op.control_consumers}

    def get(self, op: Operation) -> list[Operation]:
        """All operations that wait for one.

        Args:
            op: the operation.
        """
        return list(op.control_consumers)


def placeholder_name(t: Tensor | None = None, scope: str | None = None, prefix: str = DEFAULT_PREFIX) -> str:
    """The name of a placeholder that stands in for a tensor.

    Args:
        t: the tensor; None for none in particular.
        scope: the scope of the name; that of the tensor when None.
        prefix: what the name begins with.

    Raises:
        TypeError: `t` is no tensor.
    """
    if scope is not None and scope and not scope.endswith("/"):
        scope += "/"
    if t is None:
        return f"{scope or ''}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    own, _, base = t.op.name.rpartition("/")
    before = (f"{own}/" if own else "") if scope is None else scope
    return f"{before}{prefix}__{base}_{t.value_index}"


def make_placeholder_from_tensor(t: Tensor, scope: str | None = None, prefix: str = DEFAULT_PREFIX) -> Tensor:
    """A placeholder like a tensor.

    Args:
        t: the tensor.
        scope: the scope of its name; that of the tensor when None.
        prefix: what the name begins with.
    """
    made: Tensor = placeholder(t.dtype, t.shape, name=placeholder_name(t, scope, prefix))
    return made


def make_placeholder_from_dtype_and_shape(
    dtype: DType, shape: ShapeLike = None, scope: str | None = None, prefix: str = DEFAULT_PREFIX
) -> Tensor:
    """A placeholder of a dtype and a shape.

    Args:
        dtype: the dtype.
        shape: the shape; any when None.
        scope: the scope of its name.
        prefix: what the name begins with.
    """
    made: Tensor = placeholder(dtype, shape, name=placeholder_name(None, scope, prefix))
    return made
