"""Branches, loops and calls of functions by `tensorflow.python.ops.functional_ops`: their functions are those of `Defun`.

A function is called with tensors and gives one, or several. Each call counts as the one node that TensorFlow makes of it, and
its results have that node's name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from weft.autodiff.defined_function import DefinedFunction
from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.graph_functions import device
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.identity import identity, identity_n
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.cond import cond as branch
from weft.ops.control_flow.ordering import group
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.comparison import equal, greater, less, logical_and, logical_or, not_equal
from weft.ops.math.elementwise import add

Function: TypeAlias = "Callable[..., object]"


def call_if(
    cond: TensorLike, inputs: Sequence[TensorLike], then_branch: Function, else_branch: Function, name: str | None = None
) -> list[Tensor] | Operation:
    """What one of two functions makes of the inputs.

    Args:
        cond: a [] bool; or a [] number, which holds unless it is 0, or a [] string, which holds unless it is empty.
        inputs: the tensors that both get.
        then_branch, else_branch: functions of these, whose results are of the same types.
        name: the name of the node; "If" when None.

    Returns:
        The results; an operation where the functions have none.
    """
    chosen, values = convert_to_tensor(cond), _tensors(inputs)
    with _call("If", name) as scope:
        made = branch(
            _holds(chosen), lambda: _made_or_done(then_branch, values), lambda: _made_or_done(else_branch, values),
            strict=True,
        )  # fmt: skip
        # Of effects alone a branch gives whether they were there.
        return _listed(made, scope) if isinstance(made, list) else group(made, name=scope)


def call_while(
    input_: Sequence[TensorLike], cond: Function, body: Function, name: str | None = None, hostmem: Sequence[int] | None = None
) -> list[Tensor]:
    """The inputs after a function has made new ones of them as long as another holds.

    Args:
        input_: the first values.
        cond: a function of the values; what it gives holds as in `call_if`.
        body: a function of the values that gives as many new ones, of the same types.
        name: the name of the node; "While" when None.
        hostmem: has no effect: where values lie is weft's to choose.
    """
    values = _tensors(input_)
    with _call("While", name) as scope:
        made = while_loop(
            lambda *now: _holds(_made(cond, now)[0]), lambda *now: _made(body, now), values,
            shape_invariants=_shapes_in(body, values),
        )  # fmt: skip
        return _listed(made, scope)


def call_for(
    start: TensorLike, limit: TensorLike, delta: TensorLike, inputs: Sequence[TensorLike], body: Function,
    name: str | None = None, hostmem: Sequence[int] | None = None, rewrite_with_while: bool | None = None,
) -> list[Tensor]:  # fmt: skip
    """The inputs after a function has made new ones of a counter and them, from `start` to before `limit` by `delta`.

    Args:
        start, limit, delta: [] int32; a negative `delta` counts down.
        inputs: the first values.
        body: a function of the counter and the values that gives as many new values.
        name: the name of the node; "For" when None.
        hostmem, rewrite_with_while: have no effect.
    """
    first, last, step = (convert_to_tensor(each, dtypes.int32) for each in (start, limit, delta))
    values = _tensors(inputs)

    def goes_on(i: Tensor, *_: Tensor) -> Tensor:
        up, down = logical_and(greater(step, 0), less(i, last)), logical_and(less(step, 0), greater(i, last))
        going: Tensor = logical_or(up, down)
        return going

    def next_values(i: Tensor, *now: Tensor) -> list[Tensor]:
        return [add(i, step), *_made(body, (i, *now))]

    with _call("For", name) as scope:
        with get_default_graph().control_dependencies([_check_way(first, last, step)]):
            first = identity(first)
        shapes = _shapes_in(next_values, [first, *values])
        return _listed(while_loop(goes_on, next_values, [first, *values], shape_invariants=shapes)[1:], scope)


def _check_way(start: Tensor, limit: Tensor, delta: Tensor) -> Operation:
    """An operation that fails unless steps of `delta` lead to the limit."""
    is_up, is_down = logical_and(greater(delta, 0), less(start, limit)), logical_and(less(delta, 0), greater(start, limit))
    is_right = logical_or(equal(start, limit), logical_or(is_up, is_down))
    return assert_that(is_right, ["Invalid start/limit/delta:", start, limit, delta])


def remote_call(
    target: TensorLike, args: Sequence[TensorLike], Tout: Sequence[DTypeLike], f: Function, name: str | None = None
) -> list[Tensor]:
    """What a function makes of tensors on a device.

    Args:
        target: the device's name, a string that is known while the graph is built.
        args: the tensors.
        Tout: the types of the results.
        f: the function.
        name: the name of the node; "RemoteCall" when None.

    Raises:
        ValueError: only a run would tell the device, or the function's results are of other types.
    """
    place = constant_value(convert_to_tensor(target, dtypes.string))
    if place is None:
        raise ValueError("remote_call needs a target that is known while the graph is built, such as '/device:CPU:0'.")
    values = _tensors(args)
    with _call("RemoteCall", name) as scope, device(place.item().decode()):
        made = _made(f, values)
        wanted = [as_dtype(each) for each in Tout]
        if [each.dtype.base_dtype for each in made] != wanted:
            raise ValueError(f"remote_call: Tout is {wanted}, and the function returns {[each.dtype for each in made]}.")
        return _listed(made, scope)


def partitioned_call(
    args: Sequence[TensorLike], f: Function, tout: Sequence[DTypeLike] | None = None,
    executing_eagerly: bool | None = None, config: object = None, executor_type: str | None = None,
) -> list[Tensor] | Operation:  # fmt: skip
    """What a function makes of tensors, its nodes on the devices that they name.

    Args:
        args: the tensors.
        f: the function.
        tout, executing_eagerly, config, executor_type: have no effect.

    Returns:
        The results; an operation where the function has none.
    """
    values = _tensors(args)
    with _call("PartitionedCall", None) as scope:
        made = _made_or_done(f, values)
        return group(made, name=scope) if isinstance(made, Operation) else _listed(made, scope)


def symbolic_gradient(
    input: Sequence[TensorLike], Tout: Sequence[DTypeLike], f: Function, name: str | None = None
) -> list[Tensor]:
    """The gradients of a function with respect to its arguments, zeros where there is none.

    Args:
        input: the arguments, and behind them the gradient with respect to each result.
        Tout: the types of the arguments, which say how many there are.
        f: the function.
        name: the name of the node; "SymbolicGradient" when None.
    """
    values = _tensors(input)
    count = len(Tout)
    with _call("SymbolicGradient", name) as scope:
        arguments = [identity(each) for each in values[:count]]
        made = _made(f, arguments)
        return _listed(gradients(made, arguments, values[count:], unconnected_gradients="zero"), scope)


def gradient_of(inputs: Sequence[TensorLike], f: DefinedFunction, name: str | None = None) -> list[Tensor]:
    """`symbolic_gradient` of a function that tells the types of its arguments.

    Args:
        inputs: the arguments, and behind them the gradient with respect to each result.
        f: what `Defun` made.
        name: the name of the node; "SymbolicGradient" when None.
    """
    return symbolic_gradient(inputs, f.declared_input_types, f, name)


def _tensors(values: Sequence[TensorLike]) -> list[Tensor]:
    return [convert_to_tensor(each) for each in values]


@contextlib.contextmanager
def _call(kind: str, name: str | None) -> Iterator[str]:
    graph = get_default_graph()
    with graph.name_scope(name or kind) as scope, graph.node_count.as_many_as(1):
        yield scope


def _made(function: Function, values: Sequence[Tensor]) -> list[Tensor]:
    """The results of a function, as a list; none where it only has effects."""
    made = function(*values)
    parts = list(made) if isinstance(made, list | tuple) else [made]
    with get_default_graph().control_dependencies([each for each in parts if isinstance(each, Operation)]):
        return [convert_to_tensor(each) for each in parts if each is not None and not isinstance(each, Operation)]


def _made_or_done(function: Function, values: Sequence[Tensor]) -> list[Tensor] | Operation:
    """The results of a function; the operation that has done its effects where it has none."""
    made = function(*values)
    return made if isinstance(made, Operation) else _made(lambda: made, ())


def _listed(made: object, scope: str) -> list[Tensor]:
    parts = made if isinstance(made, list | tuple) else [made]
    return list(identity_n(list(parts), name=scope)) if parts else []


def _holds(value: Tensor) -> Tensor:
    kind = value.dtype.base_dtype
    if kind is dtypes.bool:
        return value
    holds: Tensor = not_equal(value, "" if kind is dtypes.string else convert_to_tensor(0, kind))
    return holds


def _shapes_in(body: Function, values: Sequence[Tensor]) -> list[TensorShape]:
    """The shapes that values keep in a loop: sizes that the body changes are not known."""
    shapes: list[Dims] = [each.dims for each in values]
    graph = get_default_graph()
    while True:
        with graph.node_count.as_many_as(0):
            trial = FuncGraph("while_shapes", graph)
            with trial.building():
                parts = [
                    trial.add_argument(f"part_{index}", each.dtype.base_dtype, dims)
                    for index, (each, dims) in enumerate(zip(values, shapes, strict=True))
                ]
                made = _made(body, parts)
        if len(made) != len(shapes):
            return [TensorShape(dims) for dims in shapes]
        wider = [_both(dims, each.dims) for dims, each in zip(shapes, made, strict=True)]
        if wider == shapes:
            return [TensorShape(dims) for dims in shapes]
        shapes = wider


def _both(first: Dims, second: Dims) -> Dims:
    if first is None or second is None or len(first) != len(second):
        return None
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))
