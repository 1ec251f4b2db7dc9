"""tf.cond: one of two functions, chosen by a tensor."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity_node
from weft.ops.composites import as_leaf, flat_tensors, packed
from weft.ops.control_flow.body_reads import read_outside
from weft.ops.control_flow.branch_outputs import open_branches
from weft.ops.control_flow.nodes import build_node, function_name, share_captures
from weft.ops.math.casting import cast


def cond(
    pred: TensorLike,
    true_fn: Callable[[], Nest] | None = None,
    false_fn: Callable[[], Nest] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Nest] | None = None,
    fn2: Callable[[], Nest] | None = None,
) -> Nest:
    """The result of `true_fn` or `false_fn`, as the value of `pred` says; nodes that they make run only when chosen.

    What the functions use of the graph around is computed in any case.

    Args:
        pred: a scalar bool tensor.
        true_fn, false_fn: functions without arguments that return (nested) tensors of equal structure and types.
        strict: keep lists and tuples of one element as they are.
        name: the name scope.
        fn1, fn2: the former names of the functions.

    Returns:
        What the function that was chosen returns, in its structure.

    Raises:
        TypeError: an argument is missing or no function, or `pred` is a Python bool.
        ValueError: what the functions return does not have the same structure or types.

    >>> x = tf.placeholder(tf.float32, [])
    >>> y = tf.cond(x > 0, lambda: x, lambda: -x)
    >>> sess.run(y, {x: -3.0})
    np.float32(3.0)
    """
    true_fn, false_fn = _checked(true_fn, fn1, "true_fn", "fn1"), _checked(false_fn, fn2, "false_fn", "fn2")
    if isinstance(pred, bool):
        raise TypeError(
            f"pred must not be a Python bool, got {pred}: what Python knows while the graph is built, it can decide by `if`. A "
            "comparison of tensors, such as tf.less(a, b), is decided in each run."
        )
    graph = get_default_graph()
    if graph.runs_eagerly:
        return _without_list(true_fn() if _predicate(pred) else false_fn(), strict)
    with graph.name_scope(name or "cond") as scope:
        predicate = _predicate(pred)
        # TensorFlow has a Switch of the predicate, and a node for each of its sides. A function has an If, and nothing else.
        # It converts the predicate for each of them, and for the pivot: a resource variable is read four times.
        graph.node_count.total += (6 if hasattr(pred, "handle") else 3) if graph.has_inline_bodies else 0
        then_graph, then_result = _branch(graph, scope, "true_fn", true_fn, strict)
        else_graph, else_result = _branch(graph, scope, "false_fn", false_fn, strict)
        _check_same(then_result, else_result)
        then_result, else_result = _with_like_indices(then_graph, then_result, else_graph, else_result)
        then_graph.outputs, else_graph.outputs = flat_tensors(then_result), flat_tensors(else_result)
        _check_types(then_graph, else_graph)
        shapes = [_common(a.dims, b.dims) for a, b in zip(then_graph.outputs, else_graph.outputs, strict=True)]
        bodies = [then_graph, else_graph]
        types = [tensor.dtype.base_dtype for tensor in then_graph.outputs]
        with graph.node_count.as_many_as(len(types)):
            captured = read_outside(bodies, share_captures(bodies), only_if_apart=True)
            node = build_node(graph, "If", bodies, [predicate, captured],
                              {"Tout": types, "output_shapes": shapes}, "If")  # fmt: skip
            open_branches(node, bodies)
            merged = [identity_node(output, name="Merge") for output in node.outputs]
        return packed(then_result, merged)


def _checked(
    function: Callable[..., Nest] | None, old: Callable[[], Nest] | None, name: str, old_name: str
) -> Callable[[], Nest]:
    if old is not None:
        if function is not None:
            raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
        function = old
    elif function is None:
        raise TypeError(f"cond(): {name} argument required")
    if not callable(function):
        raise TypeError(f"{name} must be callable. Got {function!r}: lambda: value makes a function of it.")
    return function


def _predicate(pred: TensorLike) -> Tensor:
    tensor = convert_to_tensor(pred, name="pred")
    if tensor.dtype.base_dtype is not dtypes.bool:
        found = tensor.dtype.base_dtype.name
        raise TypeError(
            f"Input 'pred' of 'Switch' Op has type {found} that does not match expected type of bool.\n  pred: "
            f"{described(tensor)}\n  A comparison makes one, such as tf.greater({tensor.op.name}, 0)."
        )
    if tensor.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}: the predicate of cond() must be a scalar, "
                         f"got {tensor}")  # fmt: skip
    return identity_node(tensor, name="pred_id")


def _branch(graph: Graph, scope: str, role: str, function: Callable[[], Nest], strict: bool) -> tuple[FuncGraph, Nest]:
    body = FuncGraph(function_name(scope, role.removesuffix("_fn")), graph)
    with body.building():
        result = function()
        if result is None:
            raise ValueError(f"{role} must have a return value. Both functions return tensors, of the same number and types.")
        leaves = [_returned(body, leaf, role == "true_fn") for leaf in nest.flatten(result)]
        result = nest.pack_sequence_as(result, leaves)
        result = packed(result, [body.output(tensor) for tensor in flat_tensors(result)])
    return body, _without_list(result, strict)


def _without_list(result: Nest, strict: bool) -> Nest:
    if not strict and isinstance(result, list | tuple) and len(result) == 1:
        return result[0]
    return result


def _returned(body: FuncGraph, leaf: Nest, chosen: bool) -> Nest:
    """A leaf of what a branch returns; an operation stands for the predicate that let it run."""
    if isinstance(leaf, Operation):
        with body.control_dependencies([leaf]), body.node_count.as_many_as(1):
            return identity_node(constant(chosen), name="ran")
    return as_leaf(leaf)


def _check_same(then_result: Nest, else_result: Nest) -> None:
    try:
        nest.assert_same_structure(then_result, else_result)
    except TypeError as error:
        raise TypeError(f"Incompatible return types of 'true_fn' and 'false_fn': {error}") from None
    except ValueError as error:
        raise ValueError(f"{error}\nThey are what true_fn and false_fn return.") from None
    if not nest.flatten(then_result):
        raise ValueError("'true_fn' and 'false_fn' must return at least one result.")


def _with_like_indices(then_graph: FuncGraph, then_result: Nest, else_graph: FuncGraph, else_result: Nest) -> tuple[Nest, Nest]:
    """The results, indices of slices as int64 where one branch has int32 and the other int64."""
    pairs = [list(pair) for pair in zip(nest.flatten(then_result), nest.flatten(else_result), strict=True)]
    for pair in pairs:
        if all(isinstance(leaf, IndexedSlices) for leaf in pair) and len({leaf.indices.dtype for leaf in pair}) > 1:
            pair[:] = [_long(body, leaf) for body, leaf in zip((then_graph, else_graph), pair, strict=True)]
    if not pairs:
        return then_result, else_result
    then_leaves, else_leaves = zip(*pairs, strict=True)
    return nest.pack_sequence_as(then_result, list(then_leaves)), nest.pack_sequence_as(else_result, list(else_leaves))


def _long(body: FuncGraph, slices: IndexedSlices) -> IndexedSlices:
    with body.building():
        indices = cast(slices.indices, dtypes.int64)
    return IndexedSlices(slices.values, indices, slices.dense_shape)


def _check_types(then_graph: FuncGraph, else_graph: FuncGraph) -> None:
    if len(then_graph.outputs) != len(else_graph.outputs):
        raise ValueError("true_fn and false_fn return different numbers of tensors.")
    for a, b in zip(then_graph.outputs, else_graph.outputs, strict=True):
        if a.dtype.base_dtype is not b.dtype.base_dtype:
            raise ValueError(
                f"Outputs of true_fn and false_fn must have the same type: {a.dtype.name}, {b.dtype.name}\n"
                f"  true_fn returns: {described(a)}\n  false_fn returns: {described(b)}\n  tf.cast converts one."
            )


def _common(a: Dims, b: Dims) -> Dims:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))
