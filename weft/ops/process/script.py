"""py_func: Python functions as nodes.

A GraphDef cannot hold a function, so the node holds a token, and this process keeps the function for as long as the
graph lives. The token names the process too: another one, such as a server that has functions of its own, refuses it
instead of running whichever function of its own has the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, overload

import numpy as np

from weft.errors import (
    InvalidArgumentError,
)
from weft.framework.building.aliases import Array, DTypeLike, Nest, TensorLike
from weft.framework.building.op_builder import build
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, datatype_name
from weft.ops.declaration import not_differentiable, op, unknown
from weft.ops.process import python_functions
from weft.platform.files.file_access import limited_to
from weft.platform.waits.function_wait import shown

_NOTHING: Final = " It has returned None: is its `return` lacking?"


def _call(token: str, inputs: list[Array], wanted: list[DType]) -> tuple[Array, ...]:
    function, name = python_functions.find(token), python_functions.short(token)
    # A scalar arrives as a NumPy scalar, a single string as bytes.
    arguments = [value if np.ndim(value) else value[()] for value in inputs]
    try:
        # The function is this process's own, whatever the graphs of others may touch here.
        with limited_to(None), python_functions.watched(lambda: shown(function)):
            result = function(*arguments)
    except BaseException as error:
        raise python_functions.translated(error) from error
    try:
        if isinstance(result, list | tuple):
            outputs = [_as_array(value) for value in result]
        else:
            outputs = [] if result is None else [_as_array(result)]
    except (NotImplementedError, TypeError, ValueError) as error:
        raise python_functions.translated(error) from error
    if len(outputs) != len(wanted):
        raise InvalidArgumentError.of(
            f"{name} returns {len(outputs)} values, but expects to see {len(wanted)} values.\n  The function is "
            f"{shown(function)}: it returns a list with a value for each type in Tout.{_NOTHING if result is None else ''}"
        )
    for index, (value, dtype) in enumerate(zip(outputs, wanted, strict=True)):
        found = dtypes.as_dtype(value.dtype)
        if found is not dtype:
            raise InvalidArgumentError.of(
                f"{index}-th value returned by {name} is {datatype_name(found)}, but expects {datatype_name(dtype)}\n"
                f"  The function is {shown(function)}: return np.asarray(value, np.{dtype.name}), or say "
                f"tf.{found.name} in "
                "Tout."
            )
    return tuple(outputs)


def _as_array(value: Array) -> Array:
    if isinstance(value, str | bytes):
        # np.asarray would drop NUL bytes at the end.
        array: Any = np.empty((), object)
        array[()] = value
    else:
        array = np.asarray(value, order="C")
        if array.dtype.kind == "S" and not isinstance(value, np.ndarray):
            array = np.asarray(value, object)
    if array.dtype.kind not in "SUO":
        return array
    texts = np.empty(array.size, object)
    texts[:] = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
    return texts.reshape(array.shape)


@op("PyFunc", "input: [Tin] -> output: [Tout]", infer=unknown, gradient=not_differentiable, stateful=True)
def py_func_node(ctx: OpContext, input: Array, *, token: str, Tout: list[DType]) -> Array:
    """The results of the function of that token: `n*[*argument] -> m*[*result]`."""
    return _call(token, input, Tout)


@op("PyFuncStateless", "input: [Tin] -> output: [Tout]", infer=unknown, gradient=not_differentiable, may_wait=True)
def py_func_stateless(ctx: OpContext, input: Array, *, token: str, Tout: list[DType]) -> Array:
    """The results of the function of that token; equal inputs give equal outputs.

    `n*[*argument] -> m*[*result]`
    """
    return _call(token, input, Tout)


# Several types; a str is one, though it is a sequence of them.
Types: TypeAlias = "list[Any] | tuple[Any, ...]"


@overload
def py_func(
    func: Callable[..., Nest],
    inp: Sequence[TensorLike],
    Tout: DTypeLike,
    stateful: bool = True,
    name: str | None = None,
) -> Tensor: ...
@overload
def py_func(
    func: Callable[..., Nest],
    inp: Sequence[TensorLike],
    Tout: Types,
    stateful: bool = True,
    name: str | None = None,
) -> list[Tensor]: ...
def py_func(
    func: Callable[..., Nest],
    inp: Sequence[TensorLike],
    Tout: DTypeLike | Sequence[DTypeLike],
    stateful: bool = True,
    name: str | None = None,
) -> Operation | list[Tensor] | Tensor:
    """Call a Python function on the arrays that are the values of tensors.

    The function runs in the process that built the graph, so the node must be placed on a task of that process. Its
    results are not converted: a Python float is a float64, which must be what `Tout` says. It has no gradient.

    Args:
        func: takes one array (or NumPy scalar, or bytes) per tensor and returns an array or a list of them.
        inp: the tensors.
        Tout: the dtype of the result, or the list of the dtypes of all results; an empty list makes an Operation.
        stateful: False promises that equal inputs give equal results.
        name: the node's name.

    Returns:
        A tensor, or a list of them as `Tout` says; an Operation where that is empty.

    Raises:
        TypeError: `inp` is no list.
        ValueError: `func` is no function.
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable, got func of type {type(func)}. Give the function itself, `py_func(f, ...)`, not "
            "what it returns."
        )
    if isinstance(inp, Tensor):
        raise TypeError(f"Expected list for 'input' argument to 'PyFunc' Op, not {inp}. Of one tensor it is [{inp.op.name}].")
    if not isinstance(inp, list | tuple):
        raise TypeError(f"Expected list for 'input' argument to 'PyFunc' Op, not {inp!r}. Of one value it is [value].")
    is_list = isinstance(Tout, list | tuple)
    wanted = [dtypes.as_dtype(dtype) for dtype in (Tout if isinstance(Tout, list | tuple) else [Tout])]
    definition = lookup("PyFunc" if stateful else "PyFuncStateless")
    node = build(definition, [list(inp)], {"token": python_functions.register(func), "Tout": wanted}, name)
    if not wanted:
        return node
    return list(node.outputs) if is_list else node.outputs[0]


@overload
def numpy_function(
    func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: DTypeLike, name: str | None = None
) -> Tensor: ...
@overload
def numpy_function(
    func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: Types, name: str | None = None
) -> list[Tensor]: ...
def numpy_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: Any, name: str | None = None) -> Any:
    """`py_func` of a function with state.

    Args:
        func: takes one array (or NumPy scalar, or bytes) per tensor and returns an array or a list of them.
        inp: the tensors.
        Tout: the dtype of the result, or the list of the dtypes of all results; an empty list makes an Operation.
    """
    return py_func(func, inp, Tout, stateful=True, name=name)
