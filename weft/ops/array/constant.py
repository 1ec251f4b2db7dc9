"""Const: values that are part of the graph."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import DTypeLike, DynamicShape, Result, TensorLike
from weft.framework.building.tensor_conversion import register_tensor_conversion_function, set_constant_function
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes, tensor_util
from weft.framework.types.dimension import Dimension
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.declaration import Role, not_differentiable, op


def _const_shape(op: Operation) -> list[Dims]:
    value, dtype = op.attrs["value"], op.attrs["dtype"]
    if value.dtype != dtype.as_numpy_dtype and value.dtype.kind in "biufc":
        kind = dtypes.as_dtype(value.dtype).name
        raise ValueError(f"Type mismatch between value ({kind}) and dtype ({dtype.name})")
    return [value.shape]


@op("Const", "-> output: dtype", role=Role.CONSTANT, infer=_const_shape, gradient=not_differentiable)
def const(*, value: np.ndarray, dtype: DType) -> Result:
    """The array of the attribute itself: `-> [...]`."""
    return value


def constant(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: DynamicShape | None = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """Make a constant tensor.

    Args:
        value: a number, string, array or (nested) list of these.
        dtype: the type wanted; inferred when None (Python floats are float32, ints int32).
        shape: the shape wanted; the last value is repeated to fill it, unless `verify_shape`.
        name: the node's name.
        verify_shape: whether a value of another shape is an error.

    Returns:
        A tensor of the value's shape, or of `shape`.

    Raises:
        TypeError: the value does not fit the dtype, or (with `verify_shape`) the shape.
        ValueError: the value is ragged or has more elements than the shape.

    >>> sess.run(tf.constant(7, shape=[2, 2]))
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    return _constant(value, dtype, shape, name, verify_shape)


def _constant(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: DynamicShape = None,
    name: str | None = None,
    verify_shape: bool = False,
) -> Tensor:
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    array = tensor_util.as_array(value, wanted)
    if shape is not None:
        dims = as_dims(shape)
        if dims is None or None in dims:
            raise TypeError(
                f"The shape of a constant must be known, got {TensorShape(dims)}: tf.fill takes sizes that a run tells."
            )
        array = tensor_util.fill_shape(array, dims, verify_shape)
    if isinstance(value, np.ndarray) and array is value:
        # The program may change its array later; the constant must not follow.
        array = array.copy()
    array.flags.writeable = False
    kind = wanted or dtypes.as_dtype(array.dtype)
    return const(value=array, dtype=kind, name=name)


def _shape_to_tensor(value: TensorShape, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    shape = TensorShape(value)
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
    sizes = [size for size in shape.as_list() if size is not None]
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype {dtype.name}: it must be int32 or int64")
    kind = dtype or (dtypes.int64 if any(size > 2**31 - 1 for size in sizes) else dtypes.int32)
    return _constant(sizes, kind, name=name or "shape_as_tensor")


def _dimension_to_tensor(value: Dimension, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if value.value is None:
        raise ValueError("Cannot convert an unknown Dimension to a Tensor: ?")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a Dimension to dtype {dtype.name}: it must be int32 or int64")
    return _constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


set_constant_function(_constant)
register_tensor_conversion_function(TensorShape, _shape_to_tensor, 100)
register_tensor_conversion_function(Dimension, _dimension_to_tensor, 100)
