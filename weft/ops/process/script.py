"""py_func: Python functions as nodes.

A GraphDef cannot hold a function, so the node holds a token, and this process keeps the function for as long as the
graph lives. The token names the process too: another one, such as a server that has functions of its own, refuses it
instead of running whichever function of its own has the same number.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import secrets
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, overload

import numpy as np

from weft.errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from weft.framework import dtypes
from weft.framework.aliases import Array, DTypeLike, Nest, TensorLike
from weft.framework.dtypes import DType, datatype_name
from weft.framework.graph import Graph, get_default_graph
from weft.framework.op_builder import build
from weft.framework.op_context import OpContext
from weft.framework.op_registry import lookup
from weft.framework.operation import Operation, Tensor
from weft.ops.declaration import not_differentiable, op, unknown
from weft.ops.process.host_value import HostValue
from weft.platform import short_traceback
from weft.platform.file_access import limited_to
from weft.platform.interrupts import is_main_thread
from weft.platform.program_frames import is_under_weft, is_weft, shown_name
from weft.platform.wait_watch import Watched


class _Registered:
    """A function with its token, alive while a graph refers to it."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Nest]) -> None:
        self.function = function


class _Tokens:
    """Makes tokens that no other process makes; a forked child goes on under a name of its own."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._process = ""
        self._rename()
        os.register_at_fork(after_in_child=self._rename)

    def _rename(self) -> None:
        self._process = secrets.token_hex(8)

    def take(self) -> str:
        """A token that was not given before."""
        return f"pyfunc_{next(self._numbers)}@{self._process}"


_TOKENS: Final = _Tokens()
_BY_TOKEN: Final[weakref.WeakValueDictionary[str, _Registered]] = weakref.WeakValueDictionary()
_OF_GRAPH: Final[weakref.WeakKeyDictionary[Graph, list[_Registered]]] = weakref.WeakKeyDictionary()

_ERRORS: Final = (
    (ValueError | TypeError, InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
)

_OF_FUNCTION: Final = "The step waits for it: look at what it waits for."


def _register(function: Callable[..., Nest]) -> str:
    entry, token = _Registered(function), _TOKENS.take()
    _BY_TOKEN[token] = entry
    graph = get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph  # type: ignore[attr-defined]
    _OF_GRAPH.setdefault(graph, []).append(entry)
    return token


def _shown(function: Callable[..., Nest]) -> str:
    """A function in a message: its name, and the line of the program where it is."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    place = f" ({shown_name(code.co_filename)}:{code.co_firstlineno})" if code is not None else ""
    return f"{getattr(function, '__qualname__', repr(function))}{place}"


def _call(token: str, inputs: list[Array], wanted: list[DType]) -> tuple[Array, ...]:
    entry = _BY_TOKEN.get(token)
    name, _, _ = token.partition("@")
    if entry is None:
        raise InvalidArgumentError.of(
            f"callback {name} is not found: py_func's function lives in the process that built the graph. "
            "Place the node on a task of that process, or build this part of the graph in the process that runs it"
        )
    # A scalar arrives as a NumPy scalar, a single string as bytes.
    arguments = [value if np.ndim(value) else value[()] for value in inputs]
    try:
        # The function is this process's own, whatever the graphs of others may touch here.
        with limited_to(None), Watched(lambda: f"The function {_shown(entry.function)} of a py_func has run", _OF_FUNCTION):
            result = entry.function(*arguments)
    except BaseException as error:
        # Ctrl-C comes on the main thread alone. Elsewhere what the function raises, `sys.exit` too, would end a pool's thread,
        # and the step would never end.
        if not isinstance(error, Exception) and is_main_thread():
            raise
        raise _translated(error) from error
    try:
        if isinstance(result, list | tuple):
            outputs = [_as_array(value) for value in result]
        else:
            outputs = [] if result is None else [_as_array(result)]
    except (NotImplementedError, TypeError, ValueError) as error:
        raise _translated(error) from error
    if len(outputs) != len(wanted):
        raise InvalidArgumentError.of(
            f"{name} returns {len(outputs)} values, but expects to see {len(wanted)} values.\n  The function is "
            f"{_shown(entry.function)}: it returns a list with a value for each type in Tout."
        )
    for index, (value, dtype) in enumerate(zip(outputs, wanted, strict=True)):
        found = dtypes.as_dtype(value.dtype)
        if found is not dtype:
            raise InvalidArgumentError.of(
                f"{index}-th value returned by {name} is {datatype_name(found)}, but expects {datatype_name(dtype)}\n"
                f"  The function is {_shown(entry.function)}: return np.asarray(value, np.{dtype.name}), or say "
                f"tf.{found.name} in "
                "Tout."
            )
    return tuple(outputs)


def _translated(error: BaseException) -> OpError:
    kind = next((made for types, made in _ERRORS if isinstance(error, types)), UnknownError)
    told = f"{type(error).__name__}: {error}"
    return kind.of(f"{told}\n{short_traceback.text_of(error).strip()}" if _is_of_program(error) else told)


def _is_of_program(error: BaseException) -> bool:
    """Whether it was raised in lines that its author wrote, and not in weft's own around them."""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not is_weft(file) and not is_under_weft(file):
            return True
        trace = trace.tb_next
    return False


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


@op("PyFuncStateless", "input: [Tin] -> output: [Tout]", infer=unknown, gradient=not_differentiable)
def py_func_stateless(ctx: OpContext, input: Array, *, token: str, Tout: list[DType]) -> Array:
    """The results of the function of that token; equal inputs give equal outputs.

    `n*[*argument] -> m*[*result]`
    """
    return _call(token, input, Tout)


# Several types; a str is one, though it is a sequence of them.
_Types: TypeAlias = "list[Any] | tuple[Any, ...]"


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
    Tout: _Types,
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

    Raises:
        TypeError: `inp` is one tensor, no list.
        ValueError: `func` is no function.
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable, got func of type {type(func)}. Give the function itself, `py_func(f, ...)`, not "
            "what it returns."
        )
    if isinstance(inp, Tensor):
        raise TypeError(f"Expected list for 'input' argument to 'PyFunc' Op, not {inp}. Of one tensor it is [{inp.op.name}].")
    is_list = isinstance(Tout, list | tuple)
    wanted = [dtypes.as_dtype(dtype) for dtype in (Tout if isinstance(Tout, list | tuple) else [Tout])]
    definition = lookup("PyFunc" if stateful else "PyFuncStateless")
    node = build(definition, [list(inp)], {"token": _register(func), "Tout": wanted}, name)
    if not wanted:
        return node
    return list(node.outputs) if is_list else node.outputs[0]


@overload
def numpy_function(
    func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: DTypeLike, name: str | None = None
) -> Tensor: ...
@overload
def numpy_function(
    func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: _Types, name: str | None = None
) -> list[Tensor]: ...
def numpy_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: Any, name: str | None = None) -> Any:
    """`py_func` of a function with state.

    Args:
        func: takes one array (or NumPy scalar, or bytes) per tensor and returns an array or a list of them.
        inp: the tensors.
        Tout: the dtype of the result, or the list of the dtypes of all results; an empty list makes an Operation.
    """
    return py_func(func, inp, Tout, stateful=True, name=name)


@overload
def py_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: DTypeLike, name: str | None = None) -> Tensor: ...
@overload
def py_function(
    func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: _Types, name: str | None = None
) -> list[Tensor]: ...
def py_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: Any, name: str | None = None) -> Any:
    """Call a Python function on values that are like eager tensors: with `numpy()`, `dtype`, `shape` and arithmetic.

    What the function returns, NumPy's or Python's numbers too, becomes what `Tout` says. Operations of the graph cannot
    compute inside it, and it has no gradient, unlike TensorFlow's: use `tf.custom_gradient` around it, or `tf.jax_function`.

    Args:
        func: takes one value per tensor and returns a value or a list of them.
        inp: the tensors.
        Tout: the dtype of the result, or the list of the dtypes of all results; an empty list makes an Operation.
        name: the node's name.

    Raises:
        ValueError: `func` is no function.
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable, got func of type {type(func)}. Give the function itself, `py_func(f, ...)`, not "
            "what it returns."
        )
    wanted = [dtypes.as_dtype(dtype) for dtype in (Tout if isinstance(Tout, list | tuple) else [Tout])]

    @functools.wraps(func)
    def on_values(*arrays: Array) -> list[Array]:
        result = func(*[HostValue(array) for array in arrays])
        results = list(result) if isinstance(result, list | tuple) else [] if result is None else [result]
        if len(results) != len(wanted):
            # The node's own check names both numbers.
            return [np.asarray(0)] * len(results)
        return [_of_type(value, dtype) for value, dtype in zip(results, wanted, strict=True)]

    return py_func(on_values, inp, Tout, name=name or "EagerPyFunc")


def _of_type(value: Nest, dtype: DType) -> Array:
    if isinstance(value, Tensor):
        raise TypeError(
            f"py_function's function returned {value.name!r}, a tensor of a graph, which no session runs. "
            "Compute with NumPy on x.numpy(), or with graph operations outside the function"
        )
    array = value.numpy() if isinstance(value, HostValue) else value
    if dtype == dtypes.string:
        return array
    return np.asarray(array).astype(dtype.as_numpy_dtype, copy=False)
