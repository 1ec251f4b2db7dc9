"""The assert_* family: checks on values, ranks and types, made while the graph is built as far as that is possible.

What is known to be wrong raises at once; the rest becomes an Assert operation, which some other op must wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import told_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import reshape
from weft.ops.array.slicing import strided_slice_node
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import no_op
from weft.ops.math.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import add_v2, mul, sub
from weft.ops.math.reduce_functions import reduce_all

# Values.


def _check(
    condition: Callable[[Array, Array], Array],
    static: Callable[[Array, Array], Array],
    x: Tensor,
    y: Tensor,
    data: Sequence[object],
    summarize: int | None,
) -> Operation:
    result = reduce_all(condition(x, y))
    values = told_value(x), told_value(y)
    if values[0] is not None and values[1] is not None:
        check_static(bool(np.all(static(*values))), data)
    return assert_that(result, data, summarize=summarize)


def check_static(holds: bool, data: Sequence[object]) -> None:
    if holds:
        return
    shown = (told_value(item) if isinstance(item, Tensor) else item for item in data)
    texts = (str(item if value is None else value) for item, value in zip(data, shown, strict=True))
    raise InvalidArgumentError.of("\n".join(texts))


# What all of these say of the error, with which a run fails (or the building, where the values are known then).
_REPORT: Final = """\
        data: tensors to show when it fails; the operands when None.
        summarize: how many elements to show of each; 3 when None.
        message: begins the error's text.

    Raises:
        InvalidArgumentError: it is known not to hold while the graph is built.
"""


def _binary(
    symbol: str, scope: str, condition: Callable[..., Tensor] | Callable[[Any, Any], Tensor], static: Array
) -> Callable[..., Operation]:
    def check(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[object] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with get_default_graph().name_scope(name or scope):
            if x is y and symbol == "==":
                return no_op()
            a = convert_to_tensor(x, name="x")
            b = convert_to_tensor(y, a.dtype.base_dtype, name="y")
            shown = list(data) if data is not None else [
                f"Condition x {symbol} y did not hold element-wise:", f"x ({a.name}) = ", a, f"y ({b.name}) = ", b
            ]  # fmt: skip
            if message is not None:
                shown = [message, *shown]
            return _check(condition, static, a, b, shown, summarize)

    check.__name__ = check.__qualname__ = scope
    check.__doc__ = f"""Make an operation that fails unless `x {symbol} y` for every pair of elements, after broadcasting.

    Args:
        x, y: [...] tensors of one numeric dtype, whose shapes broadcast; strings and booleans can be equal too.
{_REPORT}    """
    return check


assert_equal = _binary("==", "assert_equal", equal, np.equal)
assert_none_equal = _binary("!=", "assert_none_equal", not_equal, np.not_equal)
assert_less = _binary("<", "assert_less", less, np.less)
assert_less_equal = _binary("<=", "assert_less_equal", less_equal, np.less_equal)
assert_greater = _binary(">", "assert_greater", greater, np.greater)
assert_greater_equal = _binary(">=", "assert_greater_equal", greater_equal, np.greater_equal)


def _sign(symbol: str, scope: str, inner: Callable[..., Operation], zero_first: bool) -> Callable[..., Operation]:
    def check(
        x: TensorLike,
        data: Sequence[object] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with get_default_graph().name_scope(name or scope):
            a = convert_to_tensor(x, name="x")
            shown = list(data) if data is not None else [
                message or "", f"Condition x {symbol} 0 did not hold element-wise:", f"x ({a.name}) = ", a
            ]  # fmt: skip
            zero = convert_to_tensor(0, a.dtype.base_dtype, name="zero")
            pair = (zero, a) if zero_first else (a, zero)
            return inner(*pair, data=shown, summarize=summarize)

    check.__name__ = check.__qualname__ = scope
    check.__doc__ = f"""Make an operation that fails unless `x {symbol} 0` for every element.

    Args:
        x: [...] tensor of a real dtype.
{_REPORT}    """
    return check


assert_negative = _sign("<", "assert_negative", assert_less, False)
assert_positive = _sign(">", "assert_positive", assert_less, True)
assert_non_negative = _sign(">=", "assert_non_negative", assert_less_equal, True)
assert_non_positive = _sign("<=", "assert_non_positive", assert_less_equal, False)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Make an operation that fails unless `|x - y| <= atol + rtol * |y|`; both default to 10 epsilons of the type.

    Args:
        x, y: [...] tensors of one floating, complex or integer dtype, whose shapes broadcast.
        rtol, atol: scalars of the dtype of `x`, or of its parts when it is complex: the relative and the absolute tolerance.
        data: tensors to show when it fails; `x` and `y` by default.
        summarize: how many elements to show of each.
        message: begins the error's text.
    """
    with get_default_graph().name_scope(name or "assert_near"):
        a = convert_to_tensor(x, name="x")
        b = convert_to_tensor(y, a.dtype.base_dtype, name="y")
        epsilon = 10 * np.finfo(np.float32 if a.dtype.is_integer else a.dtype.real_dtype.as_numpy_dtype).eps
        kind = a.dtype.base_dtype.real_dtype
        relative = convert_to_tensor(float(epsilon) if rtol is None else rtol, kind, name="rtol")
        absolute_part = convert_to_tensor(float(epsilon) if atol is None else atol, kind, name="atol")
        shown = list(data) if data is not None else [
            message or "", f"x and y not equal to tolerance rtol = {relative}, atol = {absolute_part}",
            f"x ({a.name}) = ", a, f"y ({b.name}) = ", b,
        ]  # fmt: skip
        tolerance = add_v2(absolute_part, mul(relative, absolute(b)))
        return assert_that(reduce_all(less(absolute(sub(a, b)), tolerance)), shown, summarize=summarize)


def _neighbours(x: TensorLike, condition: Callable[[Array, Array], Array], name: str) -> Tensor:
    with get_default_graph().name_scope(name):
        values = reshape(convert_to_tensor(x, name="x"), [-1])
        later = strided_slice_node(values, [1], [0], [1], end_mask=1)
        earlier = strided_slice_node(values, [0], [-1], [1], begin_mask=1)
        return reduce_all(condition(earlier, later))


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether no element is less than the one before it, in row-major order.

    Args: those of `tf.contrib.framework.is_strictly_increasing`.

    Returns:
        [] bool tensor.
    """
    return _neighbours(x, less_equal, name or "is_non_decreasing")


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether every element is greater than the one before it, in row-major order.

    Args:
        x: [...] tensor of a real dtype.

    Returns:
        [] bool tensor.
    """
    return _neighbours(x, less, name or "is_strictly_increasing")


# Types.


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """Check that `x` is of an integer type; TypeError when not.

    Args:
        x: [...] tensor of any dtype.
        message: begins the error's text.

    Returns:
        An operation that does nothing.
    """
    with get_default_graph().name_scope(name or "assert_integer"):
        tensor = convert_to_tensor(x, name="x")
        if not tensor.dtype.is_integer:
            prefix = f"{message}  " if message else ""
            raise TypeError(f'{prefix}Expected "x" to be integer type.  Found: {tensor.name} of dtype {tensor.dtype}')
        return no_op(name="statically_determined_was_integer")


def assert_type(tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None) -> Operation:
    """Check that a tensor is of a type; TypeError when not.

    Args:
        tensor: a tensor, or what becomes one.
        tf_type: the dtype that it must have.
        message: begins the error's text.

    Returns:
        An operation that does nothing.
    """
    wanted = dtypes.as_dtype(tf_type)
    with get_default_graph().name_scope(name or "assert_type"):
        value = convert_to_tensor(tensor, name="tensor")
        if value.dtype.base_dtype is not wanted:
            prefix = f"{message}  " if message else ""
            raise TypeError(f"{prefix}{value.name} must be of type {wanted!r}; got {value.dtype.base_dtype!r}")
        return no_op(name="statically_determined_correct_type")


def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Whether this is a Tensor of numbers.

    Args:
        tensor: any object.
    """
    return isinstance(tensor, Tensor) and not (
        tensor.dtype.base_dtype in (dtypes.string, dtypes.bool, dtypes.resource, dtypes.variant)
        or tensor.dtype.base_dtype.is_quantized
    )


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: DTypeLike | None = None) -> DType:
    """The floating point type that all of `tensors` have (float32 for none); ValueError when there is no such type.

    Args:
        tensors: a list of tensors, or None.
        dtype: the type that they must have; None for any floating one.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    source: Any = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if wanted is None:
            wanted, source = found, tensor
        elif found is not wanted:
            same = f" as {getattr(source, 'name', source)}" if source is not None else ""
            raise ValueError(f"{getattr(tensor, 'name', tensor)}, type={found}, must be of the same type ({wanted}){same}.")
    wanted = wanted or dtypes.float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}. A number with a point has one, as 1.0.")
    return wanted


def assert_proper_iterable(values: TensorLike) -> None:
    """TypeError unless `values` is iterable, and neither a tensor, an array nor a string.

    Args:
        values: any object.
    """
    unwanted = (Tensor, np.ndarray, bytes, str)
    if isinstance(values, unwanted):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
