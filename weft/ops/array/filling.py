"""Tensors of one value: Fill, zeros, ones and their `_like` forms, and one-hot vectors."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, DynamicShape, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.constant import const, constant
from weft.ops.array.shape_ops import INDEX, reshape, shape_internal
from weft.ops.declaration import definition_of, not_differentiable, op, rank_of, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.held_objects import handle_of, is_handle
from weft.ops.math.elementwise import NUMBERS, sum_to_like

# Larger tensors are filled when they are needed, so that graphs stay small.
_LARGEST_CONSTANT: Final = 1000


def _filled_shape(node: Operation) -> list[Dims]:
    dims, value = constant_shape(node.inputs[0]), constant_value(node.inputs[0])
    if value is not None and np.any(np.asarray(value) < 0):
        raise ValueError("Fill dimensions must be >= 0")
    if rank_of(node.inputs[0]) not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {rank_of(node.inputs[0])}")
    if rank_of(node.inputs[1]) not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {rank_of(node.inputs[1])}")
    return [dims]


@op("Fill", "dims: index_type, value: T -> output: T",
    ranks={"dims": 1, "value": 0},
    infer=_filled_shape, static=("dims",), told_while_building=True,
    gradient=lambda node, grad: [None, sum_to_like(grad, node.inputs[1])], types={"index_type": INDEX})  # fmt: skip
def fill_node(xp: ArrayModule, dims: Array, value: Array, *, index_type: DType = dtypes.int32) -> Result:
    """A tensor each element of which is `value`: `[rank], scalar -> [*dims]`."""
    return xp.broadcast_to(value, tuple(int(size) for size in np.ravel(dims)))


@op("Empty", "shape: int32 -> output: dtype",
    ranks={"shape": 1}, infer=lambda node: [constant_shape(node.inputs[0])],
    gradient=not_differentiable, stateful=True)  # fmt: skip
def empty(ctx: OpContext, shape: Array, *, dtype: DType, init: bool = False) -> Result:
    """A tensor whose elements nobody should rely on; here they are zeros: `[rank] -> [*shape]`."""
    return np.full(tuple(int(size) for size in np.ravel(shape)), zero_of(dtype), dtype.as_numpy_dtype)


def fill(dims: DynamicShape, value: TensorLike, name: str | None = None) -> Tensor:
    """Make a tensor of shape `dims` with every element equal to the scalar `value`.

    >>> sess.run(tf.fill([2, 2], 7))
    array([[7, 7],
           [7, 7]], dtype=int32)

    Args:
        dims: [rank] tensor or list of int32 or int64, or a TensorShape.
        value: scalar of any dtype, which is that of the result.

    Returns:
        A tensor of the shape `dims` and the type of `value`.

    Raises:
        ValueError: a size is negative, or `value` no scalar.
        InvalidArgumentError: in a run, a size is negative that only the run tells.
    """
    return fill_node(dims, value, name=name)


def zero_of(dtype: DType) -> bytes | np.generic | Array:
    """The zero of a type: b'' for strings, False for booleans."""
    return b"" if dtype is dtypes.string else np.zeros((), dtype.as_numpy_dtype)


def _one_value(shape: DynamicShape, dtype: DType, value: Array, name: str) -> Tensor:
    dims = None if isinstance(shape, Tensor) else _plain_dims(shape)
    is_list = isinstance(shape, Iterable)  # TensorFlow makes a constant of a list of sizes alone
    if dims is not None and is_list and (dtype is dtypes.string or math.prod(dims) < _LARGEST_CONSTANT):
        filled = np.full(dims, value, dtype.as_numpy_dtype)
        return const(value=filled, dtype=dtype, name=name)
    with get_default_graph().name_scope(name) as scope:
        if not isinstance(shape, Tensor):
            if dims is None and is_list:
                _compare_size(shape)
            shape = convert_to_tensor(TensorShape(dims)) if dims is not None else convert_to_tensor(shape, dtypes.int32)
        if shape.dims == ():
            shape = reshape(shape, [-1])
        return fill_node(shape, constant(value, dtype), name=scope)


def _compare_size(sizes: Any) -> None:
    """Add the nodes with which TensorFlow asks whether a tensor is small, in vain where sizes are tensors; no run has them.

    Later nodes get their names, and random ones their seeds, after these.
    """
    if any(isinstance(size, Tensor) for size in sizes):
        with contextlib.suppress(TypeError):
            operator.lt(functools.reduce(operator.mul, sizes), _LARGEST_CONSTANT)


def _plain_dims(shape: DynamicShape) -> tuple[int, ...] | None:
    try:
        dims = as_dims(shape)
    except (TypeError, ValueError):
        return None
    return None if dims is None or None in dims else dims  # type: ignore[return-value]


def zeros(shape: DynamicShape, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Make a tensor of zeros (empty strings, False).

    >>> sess.run(tf.zeros([2, 2]))
    array([[0., 0.],
           [0., 0.]], dtype=float32)

    Args:
        shape: [rank] list or tensor of int32, or a TensorShape.
        dtype: any dtype; the elements are b'' for strings.

    Returns:
        A tensor of zeros of that shape and type; of False or empty strings for bool and string.

    Raises:
        ValueError: a size is below -1.
        TypeError: a size is None.
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    return _one_value(shape, kind, zero_of(kind), name or "zeros")


def ones(shape: DynamicShape, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Make a tensor of ones (True).

    >>> sess.run(tf.ones([2, 2]))
    array([[1., 1.],
           [1., 1.]], dtype=float32)

    Args:
        shape: [rank] list or tensor of int32, or a TensorShape.
        dtype: a numeric dtype or bool.

    Returns:
        A tensor of ones of that shape and type.

    Raises:
        TypeError: the dtype has no one, as strings have none.
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    if kind is dtypes.string:
        raise TypeError("Expected string, got 1 of type 'int' instead.")
    return _one_value(shape, kind, np.ones((), kind.as_numpy_dtype), name or "ones")


@op("ZerosLike", "x: T -> y: T", infer=same_as_input, gradient=not_differentiable)
def zeros_like_node(xp: ArrayModule, x: Array) -> Result:
    """Zeros in the shape of the input: `[...] -> [...]`."""
    if x.dtype == object:
        return handle_of(x[()].zeros()) if is_handle(x) else zeros_of_objects(x)
    return xp.zeros_like(x)


def zeros_of_objects(x: Array) -> Array:
    """Zeros for strings, and for the elements of a TensorArray that have several shapes: `[...] -> [...]`."""
    if x.ndim != 1 or not any(isinstance(each, np.ndarray) for each in x):
        return np.full(x.shape, b"", object)
    result = np.empty(x.shape[0], object)
    result[:] = [np.zeros_like(each) for each in x]
    return result


@op("OnesLike", "x: T -> y: T", infer=same_as_input, gradient=not_differentiable,
    types={"T": (*NUMBERS, dtypes.bool)})  # fmt: skip
def ones_like_node(xp: ArrayModule, x: Array) -> Result:
    """Ones in the shape of the input: `[...] -> [...]`."""
    return xp.ones_like(x)


@dispatchable
def zeros_like(tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Zeros in the shape of `tensor`, of its dtype or the one given; a constant when the shape is known and small.

    >>> sess.run(tf.zeros_like([1, 2]))
    array([0, 0], dtype=int32)

    Args:
        tensor: [...] tensor, or what becomes one.
        dtype: the dtype of the result; that of `tensor` when None.
        optimize: whether a shape that is known while the graph is built may become a constant.

    Returns:
        A tensor of the shape of the argument.

    Raises:
        TypeError: `tensor` becomes none.
    """
    with get_default_graph().name_scope(name or "zeros_like") as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        # Programs give `optimize`, False, in its place; TensorFlow takes that for no dtype, too.
        kind = tensor.dtype.base_dtype if dtype is None or dtype is False else dtypes.as_dtype(dtype).base_dtype
        dims = tensor.dims
        if optimize and dims is not None and None not in dims:
            return zeros(dims, kind, scope)
        if kind is tensor.dtype.base_dtype:
            return zeros_like_node(tensor, name=scope)
        return fill_node(shape_internal(tensor, optimize=optimize), constant(zero_of(kind), kind), name=scope)


def is_zeros(tensor: Tensor) -> bool:
    """Whether a tensor is known to be zero everywhere, as a gradient is that nothing contributed to."""
    if tensor.op.op_def is definition_of(zeros_like_node):
        return True
    value = constant_value(tensor.op.inputs[1] if tensor.op.op_def is definition_of(fill_node) else tensor)
    return value is not None and not np.any(value)


@dispatchable
def ones_like(tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Ones in the shape of `tensor`, of its dtype or the one given.

    Args:
        tensor: [...] tensor, or what becomes one.
        dtype: the numeric or bool dtype of the result; that of `tensor` when None.
        optimize: whether a shape that is known while the graph is built may become a constant.

    Returns:
        A tensor of the shape of the argument.

    Raises:
        TypeError: `tensor` becomes none, or the dtype has no one.
    """
    with get_default_graph().name_scope(name or "ones_like") as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        kind = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        sizes = shape_internal(tensor, optimize=optimize)
        return fill_node(sizes, constant(np.ones((), kind.as_numpy_dtype), kind), name=scope)


def _one_hot_shape(node: Operation) -> list[Dims]:
    dims, depth, axis = node.inputs[0].dims, constant_value(node.inputs[1]), node.attrs["axis"]
    if axis < -1:
        raise ValueError(f"axis must be >= -1, but is {axis}")
    if depth is not None and np.ndim(depth):
        raise ValueError(
            f"Input must be scalar but has rank {np.ndim(depth)}: depth is the number of classes; indices come first, "
            "tf.one_hot(indices, depth)"
        )
    if depth is not None and depth < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {int(depth)}")
    if dims is None:
        return [None]
    at = len(dims) if axis == -1 else axis
    if at > len(dims):
        raise ValueError(f"axis must be at most {len(dims)}, but is {axis}")
    return [(*dims[:at], None if depth is None else int(depth), *dims[at:])]


@op("OneHot", "indices: TI, depth: int32, on_value: T, off_value: T -> output: T", infer=_one_hot_shape,
    gradient=not_differentiable, ranks={"on_value": 0, "off_value": 0},
    static=("depth",), types={"TI": (dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.int64)},
    defaults={"TI": dtypes.int64})  # fmt: skip
def one_hot_node(xp: ArrayModule, indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int = -1) -> Result:
    """`on_value` where the position along a new axis is the index, else `off_value`.

    `[...], scalar, scalar, scalar -> [..., depth, ...]`, the new axis at `axis` (last for -1).
    """
    if xp is np and not indices.ndim:
        # A label alone, as in a dataset's map: three calls of NumPy instead of seven.
        single = np.empty(int(depth), on_value.dtype)
        single.fill(off_value.item())
        if 0 <= indices < len(single):
            single[indices] = on_value.item()
        return single
    at = len(indices.shape) if axis == -1 else axis
    positions = np.arange(int(depth)).reshape((-1,) + (1,) * (len(indices.shape) - at))
    return xp.where(xp.expand_dims(indices, at) == positions, on_value, off_value)


def _as_given(value: TensorLike | None, tensor: Tensor | None, kind: DType, key: str) -> TensorLike:
    """What the node takes for a value: the tensor it is, or its number, which the node makes a constant of once more.

    Seeds count the nodes before them: a constant less, and a program's initial values are not TensorFlow's.
    """
    if tensor is None:
        return constant(int(key == "on_value"), kind, name=key)
    return tensor if tensor is value else np.asarray(value, kind.as_numpy_dtype)


@dispatchable
def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Vectors of length `depth` that are `on_value` (1) at the index, else `off_value` (0); -1 gives no 1 at all.

    Args:
        indices: [...] tensor of uint8, int32 or int64.
        depth: int32 scalar: the length of a vector.
        on_value, off_value: scalars of the dtype of the result.
        axis: where the new dimension stands in the result; -1, the default, puts it last.
        dtype: of the result; when None, that of the two values, or float32.

    Returns:
        [..., depth] tensor, with `depth` in the place `axis`.

    Raises:
        TypeError: the types of `on_value`, `off_value` and `dtype` differ.

    >>> sess.run(tf.one_hot([0, 2], 3))
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    with get_default_graph().name_scope(name or "one_hot") as scope:
        given = {"on_value": on_value, "off_value": off_value}
        wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        tensors = {
            key: convert_to_tensor(value, preferred_dtype=wanted, name="Const")
            for key, value in given.items()
            if value is not None
        }
        types = {key: tensor.dtype.base_dtype for key, tensor in tensors.items()}
        for key, found in types.items():
            if wanted is not None and found is not wanted:
                raise TypeError(f"dtype {found} of {key} does not match dtype parameter {wanted}")
        if len(types) == 2 and types["on_value"] is not types["off_value"]:
            raise TypeError(f"dtype {types['on_value']} of on_value does not match dtype {types['off_value']} of off_value")
        kind = wanted or next(iter(types.values()), dtypes.float32)
        values = {key: _as_given(given[key], tensors.get(key), kind, key) for key in given}
        on, off = values["on_value"], values["off_value"]
        return one_hot_node(indices, depth, on, off, axis=-1 if axis is None else axis, name=scope)
