"""tf.while_loop: a function repeated as long as a condition of its variables holds."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import described, naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.identity import identity_node
from weft.ops.composites import as_leaf, dims_of_parts, flat_tensors, packed
from weft.ops.control_flow.body_reads import read_inside, read_outside
from weft.ops.control_flow.nodes import build_node, function_name, share_captures
from weft.ops.math.comparison import less, logical_and


def while_loop(
    cond: Callable[..., Nest],
    body: Callable[..., Nest],
    loop_vars: Nest,
    shape_invariants: Nest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Nest:
    """The values of `loop_vars` after `body` has made new ones as long as `cond` of them is true.

    They come in the structure that `body` returns: a tuple of a body that returns a tuple, a list of one that returns a list.

    Args:
        cond: a function of the loop variables that returns a scalar bool tensor.
        body: a function of the loop variables that returns new ones, in the same structure but for lists and tuples outside.
        loop_vars: a (nested) tuple, list or dict of tensors, TensorArrays, SparseTensors and IndexedSlices.
        shape_invariants: the shapes that the variables keep, in the structure of `loop_vars`, or specs with such shapes; their
            first shapes when None.
        parallel_iterations: kept with the node; XLA orders the work itself.
        back_prop: whether gradients go through the loop.
        swap_memory: accepted; XLA places memory itself.
        name: the name scope.
        maximum_iterations: an upper bound for the number of iterations.
        return_same_structure: return a list or tuple of one variable as it is.

    Raises:
        TypeError: `cond` or `body` is no function, or does not return what it should.
        ValueError: `body` changes the structure, or a shape that should stay.
    """
    if not callable(cond):
        raise TypeError(f"cond must be callable. {_no_function(cond, 'i < 10')}")
    if not callable(body):
        raise TypeError(f"body must be callable. {_no_function(body, 'i + 1')}")
    if not hasattr(type(parallel_iterations), "__index__"):
        raise ValueError(f"`parallel_iterations` must be a positive integer: {parallel_iterations}")
    if parallel_iterations < 1:
        raise TypeError(f"parallel_iterations must be a positive integer. Got {parallel_iterations}.")
    graph = get_default_graph()
    if graph.runs_eagerly and loop_vars:
        return _run(cond, body, loop_vars, maximum_iterations)
    with graph.name_scope(name or "while") as scope:
        if not loop_vars:
            raise ValueError(
                "No loop variables provided: loop_vars holds the first values of what the body changes, such as "
                "[tf.constant(0)]; cond and body take one argument for each."
            )
        loop = _Loop(graph, scope, loop_vars, shape_invariants, _limit(maximum_iterations))
        loop.build(cond, body)
        results, count = loop.finish(parallel_iterations, back_prop)
    single = count == 1 and isinstance(results, list | tuple) and not return_same_structure
    return results[0] if single else results


def _run(cond: Callable[..., Nest], body: Callable[..., Nest], loop_vars: Nest, maximum_iterations: TensorLike | None) -> Nest:
    """The loop where operations run when they are made: the functions are called as often as it goes round."""
    left = itertools.count() if maximum_iterations is None else range(int(np.asarray(maximum_iterations)))
    values, is_bare = loop_vars, False
    for _ in left:
        if not _called(cond, values):
            break
        made = _called(body, values)
        is_bare = len(loop_vars) == 1 and not nest.is_nested(made)
        values = [made] if is_bare else made
        structure = values if isinstance(values, dict) else list(values)
        nest.assert_same_structure(loop_vars if isinstance(loop_vars, dict) else list(loop_vars), structure)
    results = nest.pack_sequence_as(values, [as_leaf(leaf) for leaf in nest.flatten(values)])
    return results[0] if is_bare else results


def _limit(maximum_iterations: TensorLike | None) -> Tensor | None:
    if maximum_iterations is None:
        return None
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.ndims not in (None, 0):
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    if not (limit.dtype.is_integer or limit.dtype.is_floating):
        raise TypeError(f"maximum_iterations must be a number, an int or a tensor of integers. Got {maximum_iterations!r}.")
    return limit


def _no_function(given: object, example: str) -> str:
    """What is wrong with a condition or body that cannot be called."""
    return f"Got {given!r}: a function of the loop variables is called while the loop is built, such as lambda i: {example}."


class _Loop:
    """A loop under construction: the initial values taken apart, and the two bodies."""

    def __init__(self, graph: Graph, scope: str, loop_vars: Nest, invariants: Nest, limit: Tensor | None) -> None:
        self._graph = graph
        self._limit = limit
        leaves = [as_leaf(leaf, name="loop_var") for leaf in nest.flatten(loop_vars)]
        self._vars = nest.pack_sequence_as(loop_vars, leaves)
        self._initial = flat_tensors(self._vars)
        # What is known of the parts of sparse tensors depends on the op that made them: it may be less after an iteration.
        whole = {id(leaf) for leaf in leaves}
        first = 0 if limit is None else 1
        self._parts = {index + first for index, tensor in enumerate(self._initial) if id(tensor) not in whole}
        self.dims = self._invariant_dims(leaves, loop_vars, invariants)
        if limit is not None:
            self._initial.insert(0, convert_to_tensor(0, dtype=limit.dtype.base_dtype, name="iteration_counter"))
            self.dims.insert(0, ())
        self._cond = FuncGraph(function_name(scope, "cond"), graph)
        self._body = FuncGraph(function_name(scope, "body"), graph)

    def _invariant_dims(self, leaves: Sequence[Nest], loop_vars: Nest, invariants: Nest) -> list[Dims]:
        given = [None] * len(leaves) if invariants is None else _flat_shapes(loop_vars, invariants)
        result: list[Dims] = []
        for leaf, shape in zip(leaves, given, strict=True):
            if not isinstance(leaf, Tensor) or shape is None:
                result.extend(dims_of_parts(leaf, None if shape is None else as_dims(shape)))
                continue
            dims = as_dims(shape)
            if not _is_within(leaf.dims, dims):
                raise ValueError(
                    f"The shape invariant specified for {leaf.name} is not compatible with the initial shape of the loop "
                    f"variable. It enters the loop with shape {leaf.shape}, but the specified shape invariant is "
                    f"{TensorShape(dims)}."
                )
            result.append(dims)
        return result

    def build(self, cond: Callable[..., Nest], body: Callable[..., Nest]) -> None:
        # In TensorFlow each variable has an Enter and a Merge, the condition a LoopCond, and the body is behind a Switch and an
        # Identity of each: random nodes get their seeds by the count.
        count = len(self._initial)
        with self._cond.building():
            counter, values = self._arguments(self._cond)
            self._cond.node_count.total += count
            _check_takes(cond, values, "cond")
            in_limit = None if counter is None else less(counter, self._limit)
            self._cond.outputs = [self._cond.output(self._predicate(in_limit, _called(cond, values)))]
        with self._body.building():
            counter, values = self._arguments(self._body)
            self._body.node_count.total += 1 + count
            _check_takes(body, values, "body")
            counted = [] if counter is None else [counter + 1]
            made = self._checked_result(values, _called(body, values))
            self._result = made
            outputs = counted + flat_tensors(made)
            self._check_outputs(outputs)
            self._body.outputs = [self._returned(index, tensor) for index, tensor in enumerate(outputs)]
        self._body.node_count.total -= len(self._cond.stands_in_for & self._body.stands_in_for)

    def _arguments(self, function: FuncGraph) -> tuple[Tensor | None, Nest]:
        arguments = [
            function.add_argument(tensor.op.name, tensor.dtype.base_dtype, dims)
            for tensor, dims in zip(self._initial, self.dims, strict=True)
        ]
        counter = arguments.pop(0) if self._limit is not None else None
        return counter, packed(self._vars, arguments)

    def _returned(self, index: int, tensor: Tensor) -> Tensor:
        # A variable that stays as it is remains its own argument, by which the runtime knows that it does.
        return tensor if tensor is self._body.inputs[index] else self._body.output(tensor)

    def _predicate(self, in_limit: Tensor | None, result: Nest) -> Tensor:
        predicate = convert_to_tensor(result)
        if predicate.dtype.base_dtype is not dtypes.bool:
            raise TypeError(
                f"Input 'input' of 'LoopCond' Op has type {predicate.dtype.base_dtype.name} that does not match expected type "
                f"of bool.\n  What `cond` returns: {described(predicate)}\n  It returns a comparison, such as tf.less(i, "
                "limit)."
            )
        if predicate.dims:
            raise ValueError(f"Shape must be rank 0 but is rank {len(predicate.dims)}: 'cond' of a loop must return a scalar")
        return predicate if in_limit is None else logical_and(in_limit, predicate)

    def _checked_result(self, values: Nest, result: Nest) -> Nest:
        if not nest.is_nested(result) or isinstance(result, dict) != isinstance(values, dict):
            result = [result]
        expected = list(values) if isinstance(values, list | tuple) else values
        with naming("What body returns becomes the loop variables of the next round: as many, in the same structure."):
            nest.assert_same_structure(expected, list(result) if isinstance(result, list | tuple) else result)
        return nest.pack_sequence_as(result, [_new_value(leaf) for leaf in nest.flatten(result)])

    def _check_outputs(self, outputs: Sequence[Tensor]) -> None:
        if len(outputs) != len(self._initial):
            raise ValueError(
                f"Number of inputs and outputs of 'body' must match 'loop_vars'. Got {len(outputs)} for the number of "
                f"inputs/outputs, and {len(self._initial)} for 'loop_vars'."
            )
        for index, (tensor, initial, dims) in enumerate(zip(outputs, self._initial, self.dims, strict=True)):
            if tensor.dtype.base_dtype is not initial.dtype.base_dtype:
                raise TypeError(
                    f"Loop variable {initial.name} enters the loop with type {initial.dtype.base_dtype.name}, but has type "
                    f"{tensor.dtype.base_dtype.name} after one iteration. A loop variable keeps its type."
                )
            if not _is_within(tensor.dims, dims) and not (index in self._parts and dims_compatible(tensor.dims, dims)):
                raise ValueError(
                    f"Input tensor '{initial.name}' enters the loop with shape {TensorShape(dims)}, but has shape "
                    f"{tensor.shape} after one iteration. To allow the shape to vary across iterations, use the "
                    "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
                )

    def finish(self, parallel_iterations: int, back_prop: bool) -> tuple[Nest, int]:
        """Add the node; returns its results in the body's structure, and how many tensors they have."""
        count = len(self._initial)
        with self._graph.node_count.as_many_as(2 * count):  # a NextIteration and an Exit of each variable
            read_inside([self._cond, self._body])
            captured = read_outside([self._cond, self._body], share_captures([self._cond, self._body]))
            self._body.outputs = self._body.outputs[:count] + self._body.inputs[count:]
            shapes = [*self.dims, *(tensor.dims for tensor in captured)]
            inputs = [*self._initial, *captured]
            attrs = {"output_shapes": shapes, "parallel_iterations": parallel_iterations}
            node = build_node(self._graph, "While", [self._cond, self._body], [inputs], attrs, "While")
            if not back_prop:
                node.attrs["_back_prop"] = False
            exits = [identity_node(output, name="Exit") for output in node.outputs[:count]]
        exits = exits[1:] if self._limit is not None else exits
        return packed(self._result, exits), len(exits)


def _check_takes(function: Callable[..., Nest], values: Nest, role: str) -> None:
    """Raise TypeError for a condition or body that cannot be called with the loop variables."""
    try:
        taken = inspect.signature(function)
        taken.bind(**values) if isinstance(values, dict) else taken.bind(*values)
    except TypeError as error:
        shown = ", ".join(str(getattr(each, "name", each)) for each in nest.flatten(values))
        raise TypeError(
            f"{role} {getattr(function, '__name__', repr(function))}() cannot take the {len(values)} loop variables: {error}. "
            f"cond and body take one argument for each of loop_vars: {shown}"
        ) from None
    except ValueError:
        return  # a function of C, which tells no signature


def _called(function: Callable[..., Nest], values: Nest) -> Nest:
    if isinstance(values, dict):
        return function(**values)
    return function(*values)


def _new_value(leaf: Nest) -> Nest:
    if isinstance(leaf, Operation):
        raise TypeError(f"can't convert Operation {leaf.name!r} to Tensor")
    return as_leaf(leaf)


def _is_within(dims: Dims, bound: Dims) -> bool:
    """Whether all shapes that `dims` allows are shapes that `bound` allows."""
    if bound is None:
        return True
    if dims is None or len(dims) != len(bound):
        return False
    return all(b is None or a == b for a, b in zip(dims, bound, strict=True))


def _flat_shapes(structure: Nest, shapes: Nest) -> list[Nest]:
    """The shape for each leaf; a list is a shape where the structure has a leaf."""
    if not nest.is_nested(structure):
        return [shapes.shape if isinstance(shapes, TensorSpec) else shapes]
    if not nest.is_nested(shapes) or len(structure) != len(shapes):
        try:
            nest.assert_same_structure(structure, shapes)
        except (ValueError, TypeError) as error:
            raise type(error)(f"shape_invariants must have one shape for each of loop_vars. {error}") from None
    pairs = zip(nest.children(structure), nest.children(shapes), strict=True)
    return [shape for part, each in pairs for shape in _flat_shapes(part, each)]
