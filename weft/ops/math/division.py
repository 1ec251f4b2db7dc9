"""Division in all of TensorFlow's kinds, remainders, powers, and the products that take `0 * inf` for zero."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes import node_errors
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.selection import select_node
from weft.ops.declaration import broadcast, op
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import always, of_broadcast
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, not_equal
from weft.ops.math.elementwise import (
    COMPLEX,
    FLOATS,
    INEXACT,
    NUMBERS,
    REAL,
    add,
    conj_if_complex,
    mul,
    neg,
    real_div,
    sub,
    truncated_quotient,
    unbroadcast,
)  # fmt: skip
from weft.ops.math.unary import log
from weft.ops.traced_checks import note_wrong

# What true division makes of two tensors of one type.
TRUE_DIVISION: Final[dict[DType, DType]] = {
    **{kind: kind for kind in INEXACT},
    **dict.fromkeys((dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16), dtypes.float32),
    **dict.fromkeys((dtypes.uint32, dtypes.int32, dtypes.uint64, dtypes.int64), dtypes.float64),
}


def _check_divisor(y: Array) -> None:
    # Compiled code cannot raise; there XLA's result (-1) stands for divisors that it computes itself.
    if _is_known(y) and y.dtype.kind in "iu" and not y.all():
        raise InvalidArgumentError.of("Integer division by zero")
    if not _is_known(y) and y.dtype.kind in "iu":
        note_wrong(y == 0)


def _check_division(node: Operation, x: Array, y: Array) -> None:
    if y is not None:
        _check_divisor(y)


def _check_exponent(node: Operation, x: Array, y: Array) -> None:
    if _is_known(y) and y.dtype.kind == "i" and np.any(y < 0):
        raise InvalidArgumentError.of("Integers to negative integer powers are not allowed")


def _is_known(value: Array) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def _quotient_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    by = conj_if_complex(y)
    return [
        unbroadcast(real_div(grad, by), x, y),
        unbroadcast(mul(grad, real_div(real_div(neg(conj_if_complex(x)), by), by)), y, x, name="Reshape_1"),
    ]


@op(
    "Div",
    "x: T, y: T -> z: T",
    checks_traced=True,
    infer=broadcast,
    check=_check_division,
    gradient=_quotient_gradient,
    gradient_nodes=always(12),
    types={"T": NUMBERS},
)
def div_node(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x / y`, of integers the part before the point: `[...], [...] -> [...]`, broadcast."""
    if x.dtype.kind not in "iu":
        return x / y
    _check_divisor(y)
    return truncated_quotient(x, y)


@op("TruncateDiv", "x: T, y: T -> z: T", checks_traced=True,
    infer=broadcast, check=_check_division, gradient=lambda node, grad: [None, None],
    types={"T": NUMBERS})  # fmt: skip
def truncate_div(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x / y` rounded towards zero, for integers: `[...], [...] -> [...]`, broadcast.

    Args: those of `tf.math.multiply`.
    """
    if x.dtype.kind not in "iu":
        return x / y if x.dtype.kind == "c" else xp.trunc(x / y)
    _check_divisor(y)
    return truncated_quotient(x, y)


@op(
    "FloorDiv",
    "x: T, y: T -> z: T",
    checks_traced=True,
    infer=broadcast,
    check=_check_division,
    gradient=lambda node, grad: [None, None],
    types={"T": NUMBERS},
)
def floor_div(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x / y` rounded down: `[...], [...] -> [...]`, broadcast.

    Args: those of `tf.math.multiply`.
    """
    if x.dtype.kind not in "iu":
        return x / y if x.dtype.kind == "c" else xp.floor(x / y)
    _check_divisor(y)
    return x // y


def _floor_mod_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    return [unbroadcast(grad, x, y), unbroadcast(mul(grad, neg(floor_div(x, y))), y, x, name="Reshape_1")]


@op(
    "FloorMod",
    "x: T, y: T -> z: T",
    checks_traced=True,
    infer=broadcast,
    check=_check_division,
    gradient=_floor_mod_gradient,
    gradient_nodes=always(10),
    types={"T": REAL},
)
def floor_mod(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The remainder of floor division, which has the sign of `y`: `[...], [...] -> [...]`, broadcast.

    Args: those of `tf.greater`.
    """
    _check_divisor(y)
    return x % y


def _truncate_mod_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    return [unbroadcast(grad, x, y), unbroadcast(mul(grad, neg(truncate_div(x, y))), y, x, name="Reshape_1")]


@op("TruncateMod", "x: T, y: T -> z: T", checks_traced=True,
    infer=broadcast, check=_check_division, gradient=_truncate_mod_gradient,
    types={"T": (dtypes.int32, dtypes.int64, *FLOATS)})  # fmt: skip
def truncate_mod(xp: ArrayModule, x: Array, y: Array) -> Result:
    """The remainder of division rounded towards zero, which has the sign of `x`: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one floating dtype, or of int32 or int64, whose shapes broadcast.
    """
    _check_divisor(y)
    return xp.fmod(x, y)


@op("Mod", "x: T, y: T -> z: T", checks_traced=True, infer=broadcast, check=_check_division, gradient=_truncate_mod_gradient,
    types={"T": (dtypes.int32, dtypes.int64, *FLOATS)})  # fmt: skip
def mod_node(xp: ArrayModule, x: Array, y: Array) -> Result:
    """As TruncateMod, in older graphs: `[...], [...] -> [...]`, broadcast."""
    _check_divisor(y)
    return xp.fmod(x, y)


# The functions of the API.


@dispatchable
def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` as in Python 3: integers become float32 (8 and 16 bits) or float64 first.

    TypeError where the types differ, or cannot be divided.

    Args: those of `tf.math.multiply`.
    """
    with input_scope(name, "truediv", (x, y)) as scope:
        x, y = _of_one_type(x, y)
        kind = x.dtype.base_dtype
        wanted = TRUE_DIVISION.get(kind)
        if wanted is None:
            raise TypeError(f"Invalid dtype {kind!r} in __truediv__.")
        if wanted is not kind:
            x, y = cast(x, wanted), cast(y, wanted)
        return real_div(x, y, name=scope)


def _of_one_type(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, name="y", dtype_hint=x.dtype.base_dtype)
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise node_errors.types_differ(f"x and y must have the same dtype, got {x.dtype!r} != {y.dtype!r}", x=x, y=y)
    return x, y


@dispatchable
def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` as in Python 3.

    Args: those of `tf.math.multiply`.
    """
    # Numbers of Python's and arrays are divided as they are, as TensorFlow does.
    return truediv(x, y, name) if name is not None else x / y  # type: ignore[operator, return-value]


@dispatchable
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` as in Python 2: rounded down for integers.

    Args: those of `tf.math.multiply`.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    with input_scope(name, "div", (x, y)) as scope:
        x, y = _of_one_type(x, y)
        node = floor_div if x.dtype.is_integer else real_div
        return node(x, y, name=scope)


@dispatchable
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` rounded down, also for floats.

    Args: those of `tf.greater`.
    """
    return floor_div(x, y, name=name or "floordiv")


# Powers.


def _pow_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    conj_x, conj_y = conj_if_complex(x), conj_if_complex(y)
    of_x = mul(mul(grad, conj_y, name="mul"), pow_node(conj_x, sub(conj_y, 1, name="sub")), name="mul")
    # Where the base is not positive the derivative by the exponent is not real: TensorFlow takes 0.
    is_safe = not_equal(x, 0) if x.dtype.is_complex else greater(x, 0)
    logarithm = select_node(is_safe, log(select_node(is_safe, conj_x, ones_like(x))), zeros_like(x))
    of_y = mul(mul(grad, conj_if_complex(node.outputs[0]), name="mul"), logarithm, name="mul")
    return [unbroadcast(of_x, x, y), unbroadcast(of_y, y, x, name="Reshape_1")]


@op("Pow", "x: T, y: T -> z: T", infer=broadcast, check=_check_exponent, gradient=_pow_gradient,
    gradient_nodes=of_broadcast(16),
    types={"T": (*FLOATS, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, *COMPLEX)})  # fmt: skip
def pow_node(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x ** y`: `[...], [...] -> [...]`, broadcast."""
    if xp is np and y.dtype.kind == "i" and np.any(y < 0):
        raise InvalidArgumentError.of("Integers to negative integer powers are not allowed")
    return x**y


@dispatchable
def power(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x ** y`.

    Args:
        x, y: [...] tensors of one signed integer, floating or complex dtype, whose shapes broadcast.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
            An integer to a negative power is one too.
    """
    return pow_node(x, y, name=name)


# Products and quotients in which a zero wins over NaN and infinity.


def _zero_where(xp: ArrayModule, mask: Array, value: Array) -> Array:
    return xp.where(mask, xp.zeros_like(value), value)


def _no_zero(xp: ArrayModule, y: Array) -> Array:
    return xp.where(y == 0, xp.ones_like(y), y)


def _div_no_nan_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    by = conj_if_complex(y)
    of_y = mul(grad, div_no_nan_node(div_no_nan_node(neg(conj_if_complex(x)), by), by))
    return [unbroadcast(div_no_nan_node(grad, by), x, y), unbroadcast(of_y, y, x, name="Reshape_1")]


@op("DivNoNan", "x: T, y: T -> z: T", infer=broadcast, gradient=_div_no_nan_gradient, gradient_nodes=always(12),
    types={"T": INEXACT})  # fmt: skip
def div_no_nan_node(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x / y`, 0 where `y` is 0: `[...], [...] -> [...]`, broadcast."""
    return _zero_where(xp, y == 0, x / _no_zero(xp, y))


@dispatchable
def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, 0 where `y` is 0.

    Args: those of `tf.math.multiply_no_nan`.
    """
    return div_no_nan_node(x, y, name=name or "div_no_nan")


def _mul_no_nan_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    return [
        unbroadcast(mul_no_nan(grad, conj_if_complex(y)), x, y),
        unbroadcast(mul_no_nan(conj_if_complex(x), grad), y, x, name="Reshape_1"),
    ]


@op("MulNoNan", "x: T, y: T -> z: T", infer=broadcast, gradient=_mul_no_nan_gradient, types={"T": INEXACT})
def mul_no_nan(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x * y`, 0 where `y` is 0 even if `x` is infinite or NaN: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one floating or complex dtype, whose shapes broadcast.
    """
    return _zero_where(xp, y == 0, x * y)


def _xlogy_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    conj_x, conj_y = conj_if_complex(x), conj_if_complex(y)
    is_used = cast(not_equal(x, 0), x.dtype)
    return [
        unbroadcast(mul(grad, xlogy(is_used, conj_y)), x, y),
        unbroadcast(mul(grad, xdivy_node(conj_x, conj_y)), y, x, name="Reshape_1"),
    ]


@op("Xlogy", "x: T, y: T -> z: T", infer=broadcast, gradient=_xlogy_gradient, types={"T": INEXACT})
def xlogy(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x * log(y)`, 0 where `x` is 0: `[...], [...] -> [...]`, broadcast.

    Args: those of `tf.math.multiply_no_nan`.
    """
    return _zero_where(xp, x == 0, x * xp.log(xp.where(x == 0, xp.ones_like(y), y)))


def _xlog1py_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    conj_x, conj_y = conj_if_complex(x), conj_if_complex(y)
    is_used = cast(not_equal(x, 0), x.dtype)
    return [
        unbroadcast(mul(grad, xlog1py_node(is_used, conj_y)), x, y),
        unbroadcast(mul(grad, xdivy_node(conj_x, add(conj_y, 1))), y, x, name="Reshape_1"),
    ]


@op("Xlog1py", "x: T, y: T -> z: T", infer=broadcast, gradient=_xlog1py_gradient, types={"T": INEXACT})
def xlog1py_node(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x * log1p(y)`, 0 where `x` is 0: `[...], [...] -> [...]`, broadcast."""
    return _zero_where(xp, x == 0, x * xp.log1p(xp.where(x == 0, xp.ones_like(y), y)))


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log1p(y)`, 0 where `x` is 0.

    Args: those of `tf.math.multiply_no_nan`.
    """
    with input_scope(name, "xlog1py", (x,)):
        return xlog1py_node(x, y)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / x`, 0 where `x` is 0.

    Args: those of `tf.exp`.
    """
    with input_scope(name, "reciprocal_no_nan", (x,)) as scope:
        tensor = convert_to_tensor(x, name="x")
        return div_no_nan_node(constant(1, tensor.dtype, name="one"), tensor, name=scope)


def _xdivy_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    conj_x, conj_y = conj_if_complex(x), conj_if_complex(y)
    is_used = cast(not_equal(x, 0), x.dtype)
    of_y = mul(grad, xdivy_node(neg(conj_x), mul(conj_y, conj_y)))
    return [unbroadcast(mul(grad, xdivy_node(is_used, conj_y)), x, y), unbroadcast(of_y, y, x, name="Reshape_1")]


@op("Xdivy", "x: T, y: T -> z: T", infer=broadcast, gradient=_xdivy_gradient, types={"T": INEXACT})
def xdivy_node(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x / y`, 0 where `x` is 0: `[...], [...] -> [...]`, broadcast."""
    return _zero_where(xp, x == 0, x / xp.where(x == 0, xp.ones_like(y), y))


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, 0 where `x` is 0.

    Args: those of `tf.math.multiply_no_nan`.
    """
    with input_scope(name, "xdivy", (x,)):
        return xdivy_node(x, y)
