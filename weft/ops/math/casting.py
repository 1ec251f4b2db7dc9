"""Changing the type of a tensor's elements: Cast and what is built on it, Bitcast."""

from __future__ import annotations

from typing import Final, overload

import numpy as np

from weft.errors import UnimplementedError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.constant_value import constant_dims
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.elementwise import INEXACT, NUMBERS


def _cast_gradient(node: Operation, grad: Tensor) -> Gradients:
    source, target = node.inputs[0].dtype.base_dtype, node.outputs[0].dtype.base_dtype
    return [cast(grad, source) if source in INEXACT and target in INEXACT else None]


def _cast_elements(node: Operation) -> Dims:
    source = node.inputs[0]
    return constant_dims(source) if source.dtype.is_integer else None


@op(
    "Cast",
    "x: SrcT -> y: DstT",
    memory_bound=True,
    known_elements=_cast_elements,
    told_while_building=True,
    infer=same_as_input,
    gradient=_cast_gradient,
)
def cast_node(xp: ArrayModule, x: Array, *, DstT: DType, Truncate: bool = False) -> Result:
    """The elements in another type: floats lose what follows the point, complex numbers their imaginary part.

    `[...] -> [...]`.
    """
    target = np.dtype(DstT.as_numpy_dtype)
    if x.dtype.kind == "O" and target.kind != "O":
        raise UnimplementedError.of(f"Cast string to {DstT.name} is not supported; tf.string_to_number reads numbers")
    if target.kind == "O" and x.dtype.kind != "O":
        raise UnimplementedError.of(f"Cast {x.dtype.name} to string is not supported; tf.as_string writes numbers")
    if x.dtype.kind == "c" and target.kind != "c":
        x = x.real
    if target.kind in "iu" and x.dtype.kind not in "iub":
        return _to_integer(xp, x, target)
    return x.astype(target)


def _to_integer(xp: ArrayModule, x: Array, target: Array) -> Array:
    """Truncate floats as XLA does on every device: values outside the range become its ends, NaN becomes 0."""
    wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
    limits = np.iinfo(target)
    inside = (wide >= limits.min) & (wide < float(limits.max))
    value = xp.where(inside, wide, xp.zeros_like(wide)).astype(target)
    value = xp.where(wide >= float(limits.max), np.array(limits.max, target), value)
    return xp.where(wide < limits.min, np.array(limits.min, target), value)


@overload
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
@overload
def cast(x: SparseTensor, dtype: DTypeLike, name: str | None = None) -> SparseTensor: ...
@overload
def cast(x: IndexedSlices, dtype: DTypeLike, name: str | None = None) -> IndexedSlices: ...
@dispatchable
def cast(
    x: TensorLike | SparseTensor | IndexedSlices, dtype: DTypeLike, name: str | None = None
) -> Tensor | SparseTensor | IndexedSlices:
    """`x` (a tensor, SparseTensor or IndexedSlices) with elements of another type; itself when it has that type.

    >>> sess.run(tf.cast([1.7, -1.7], tf.int32))
    array([ 1, -1], dtype=int32)

    Args:
        x: [...] tensor, SparseTensor or IndexedSlices of a numeric, quantized or bool dtype.
        dtype: the dtype of the result. Floats lose what is behind the point in integers, complex numbers their imaginary part
            in reals.

    Returns:
        A tensor, or SparseTensor, of the same shape and the type `dtype`.

    Raises:
        TypeError: `x` becomes no tensor.
        UnimplementedError: in a run, it holds strings, or is to.
    """
    kind = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor):
        return x if x.dtype.base_dtype is kind else cast_node(x, DstT=kind, name=name)
    with input_scope(name, "Cast", (x,)) as scope:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, kind, name=scope), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, kind, name=scope), x.indices, x.dense_shape)
        tensor = convert_to_tensor(x, name="x")
        return tensor if tensor.dtype.base_dtype is kind else cast_node(tensor, DstT=kind, name=scope)


@dispatchable
def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Cast with values outside the range of the new type brought to its ends first.

    Args:
        value: [...] tensor of a numeric dtype.
        dtype: the dtype of the result.

    Returns:
        [...] tensor of `dtype`.
    """
    with input_scope(name, "saturate_cast", (value,)) as scope:
        tensor = convert_to_tensor(value, name="value")
        kind, source = dtypes.as_dtype(dtype).base_dtype, tensor.dtype.base_dtype
        if source.min < kind.min:
            tensor = maximum(tensor, convert_to_tensor(kind.min, dtype=source, name="min"))
        if source.max > kind.max:
            tensor = minimum(tensor, convert_to_tensor(_limit_within(kind, source), dtype=source, name="max"))
        return cast(tensor, kind, name=scope)


def _limit_within(kind: DType, source: DType) -> Array:
    """The greatest value of `kind` that `source` can hold exactly enough not to be rounded above it."""
    limit = source.as_numpy_dtype(kind.max)
    if kind.is_integer and source.is_floating and int(limit) > int(kind.max):
        limit = np.nextafter(limit, source.as_numpy_dtype(0))
    return limit


def to_float(x: TensorLike, name: str = "ToFloat") -> Tensor:
    """Cast to float32.

    >>> sess.run(tf.to_float([1, 2]))
    array([1., 2.], dtype=float32)

    Args:
        x: [...] tensor, SparseTensor or IndexedSlices of a numeric, quantized or bool dtype.

    Returns:
        `x` with elements of float32.

    Raises:
        UnimplementedError: in a run, `x` holds strings.
    """
    return cast(x, dtypes.float32, name=name)


def to_double(x: TensorLike, name: str = "ToDouble") -> Tensor:
    """Cast to float64.

    Args: those of `tf.to_float`.

    Returns:
        `x` with elements of float64.
    """
    return cast(x, dtypes.float64, name=name)


def to_int32(x: TensorLike, name: str = "ToInt32") -> Tensor:
    """Cast to int32.

    Args: those of `tf.to_float`.

    Returns:
        `x` with elements of int32.

    Raises:
        UnimplementedError: in a run, `x` holds strings.
    """
    return cast(x, dtypes.int32, name=name)


def to_int64(x: TensorLike, name: str = "ToInt64") -> Tensor:
    """Cast to int64.

    Args: those of `tf.to_float`.

    Returns:
        `x` with elements of int64.

    Raises:
        UnimplementedError: in a run, `x` holds strings.
    """
    return cast(x, dtypes.int64, name=name)


def to_bfloat16(x: TensorLike, name: str = "ToBFloat16") -> Tensor:
    """Cast to bfloat16.

    Args: those of `tf.to_float`.

    Returns:
        `x` with elements of bfloat16.
    """
    return cast(x, dtypes.bfloat16, name=name)


def to_complex64(x: TensorLike, name: str = "ToComplex64") -> Tensor:
    """Cast to complex64.

    Args: those of `tf.to_float`.

    Returns:
        `x` with elements of complex64.
    """
    return cast(x, dtypes.complex64, name=name)


def to_complex128(x: TensorLike, name: str = "ToComplex128") -> Tensor:
    """Cast to complex128.

    Args: those of `tf.to_float`.

    Returns:
        `x` with elements of complex128.
    """
    return cast(x, dtypes.complex128, name=name)


_BITS: Final = (*NUMBERS, dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32)


def _bitcast_shape(node: Operation) -> list[Dims]:
    dims, source, target = node.inputs[0].dims, node.inputs[0].dtype.size, node.outputs[0].dtype.size
    if dims is None or source == target:
        return [dims]
    if source > target:
        return [(*dims, source // target)]
    if not dims or dims[-1] not in (None, target // source):
        found = dims[-1] if dims else "A scalar"
        raise ValueError(f"Cannot bitcast due to shape. {found} does not match {target // source}")
    return [dims[:-1]]


@op("Bitcast", "input: T -> output: type", infer=_bitcast_shape, gradient=None, types={"T": _BITS, "type": _BITS})
def bitcast(xp: ArrayModule, input: Array, *, type: DType) -> Result:
    """The same bits taken for another type; a last dimension appears or goes when the sizes differ.

    `[..., n] -> [..., m]`, `[..., n] -> [...]` or `[...] -> [..., m]`.

    Args:
        input: [...] tensor of a numeric or quantized dtype.
        type: the dtype of the result: as wide as that of `input`, a part of it (a dimension comes last) or a multiple (the
            last dimension goes).
    """
    target = np.dtype(type.as_numpy_dtype)
    source = np.dtype(input.dtype)
    if source.itemsize == target.itemsize:
        return input.view(target)
    if source.itemsize > target.itemsize:
        ratio = source.itemsize // target.itemsize
        return xp.reshape(input, (*input.shape, 1)).view(target).reshape((*input.shape, ratio))
    return input.view(target).reshape(input.shape[:-1])
