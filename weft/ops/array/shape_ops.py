"""Ops that ask for shapes or change them without touching the elements: Shape, Rank, Reshape, Squeeze, Transpose ..."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, DynamicShape, Gradients, Result, TensorLike
from weft.framework.building.op_builder import build
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor, SparseTensorValue
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, format_dims
from weft.framework.types.dims import brackets as brackets
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.declaration import not_differentiable, op, rank_of, scalar_shape
from weft.ops.dispatch import dispatchable
from weft.platform.logs.deprecation import deprecated_argument_lookup

# All that has a shape.
_Shaped: TypeAlias = "TensorLike | SparseTensor | SparseTensorValue"

INDEX: Final = (dtypes.int32, dtypes.int64)


# Shape, Rank and Size.


def _vectors(node: Operation) -> list[Dims]:
    return [(rank_of(tensor),) for tensor in node.inputs]


@op(
    "Shape",
    "input: T -> output: out_type",
    infer=_vectors,
    gradient=not_differentiable,
    shape_only=True,
    known_elements=lambda node: node.inputs[0].dims,
    types={"out_type": INDEX},
)
def shape_node(xp: ArrayModule, input: Array, *, out_type: DType = dtypes.int32) -> Result:
    """The sizes of all dimensions: `[...] -> [rank]`."""
    return np.array(input.shape, out_type.as_numpy_dtype)


@op("ShapeN", "input: N*T -> output: N*out_type", infer=_vectors, gradient=not_differentiable, shape_only=True,
    types={"out_type": INDEX}, limits={"N": 1})  # fmt: skip
def shape_n(xp: ArrayModule, input: list[Array], *, out_type: DType = dtypes.int32) -> list[Result]:
    """The sizes of all dimensions of each input: `N*[...] -> N*[rank]`.

    Args:
        input: a list of tensors of one dtype.
        out_type: int32 or int64, the dtype of the results.
    """
    return [np.array(each.shape, out_type.as_numpy_dtype) for each in input]


@op("Rank", "input: T -> output: int32", infer=scalar_shape, gradient=not_differentiable, shape_only=True)
def rank_node(xp: ArrayModule, input: Array) -> Result:
    """The number of dimensions: `[...] -> scalar int32`."""
    return np.array(len(input.shape), np.int32)


@op(
    "Size",
    "input: T -> output: out_type",
    infer=scalar_shape,
    gradient=not_differentiable,
    shape_only=True,
    types={"out_type": INDEX},
)
def size_node(xp: ArrayModule, input: Array, *, out_type: DType = dtypes.int32) -> Result:
    """The number of elements: `[...] -> scalar`."""
    return np.array(math.prod(input.shape), out_type.as_numpy_dtype)


def shape(input: _Shaped, name: str | None = None, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """The shape of a tensor as a 1-D tensor; a constant when it is known while the graph is built.

    >>> sess.run(tf.shape(tf.zeros([2, 3])))
    array([2, 3], dtype=int32)

    Args:
        input: [...] tensor of any dtype, or a SparseTensor.
        out_type: int32 or int64, the dtype of the result.

    Returns:
        [rank] tensor of `out_type`.

    Raises:
        TypeError: `input` becomes no tensor.
    """
    return shape_internal(input, name, out_type=out_type)


def shape_internal(
    input: _Shaped, name: str | None = None, optimize: bool = True, out_type: DTypeLike = dtypes.int32
) -> Tensor:
    """`shape`; without `optimize` always a node that asks for the shape when the step runs."""
    if isinstance(input, SparseTensor | SparseTensorValue):
        return sparse_shape(input, out_type, name)
    tensor = convert_to_tensor(input)
    dims = tensor.dims
    if optimize and dims is not None and None not in dims:
        return constant(np.array(dims, np.int64), out_type, name=name or "Shape")
    return shape_node(tensor, out_type=out_type, name=name)


def sparse_shape(input: SparseTensor | SparseTensorValue, out_type: DTypeLike, name: str | None) -> Tensor:
    """The dense shape of a sparse tensor, in the type asked for."""
    dense_shape = convert_to_tensor(input.dense_shape, dtypes.int64)
    if dtypes.as_dtype(out_type) is dtypes.int64:
        return dense_shape
    with get_default_graph().name_scope(name or "Shape"):
        return cast_index(dense_shape, dtypes.as_dtype(out_type))


def cast_index(tensor: Tensor, dtype: DType, name: str = "Cast") -> Tensor:
    """Cast a tensor of sizes or positions."""
    return build(lookup("Cast"), [tensor], {"DstT": dtype}, name).outputs[0]


@dispatchable
def rank(input: _Shaped, name: str | None = None) -> Tensor:
    """The number of dimensions; a constant when it is known while the graph is built.

    Args:
        input: [...] tensor of any dtype, or a SparseTensor.

    Returns:
        [] int32 tensor.
    """
    if isinstance(input, SparseTensor | SparseTensorValue):
        return size_internal(input.dense_shape, name or "Rank")
    with get_default_graph().name_scope(name or "Rank") as scope:
        tensor = convert_to_tensor(input)
        if tensor.dims is not None:
            return constant(len(tensor.dims), dtypes.int32, name=scope)
        return rank_node(tensor, name=scope)


@dispatchable
def size(input: _Shaped, name: str | None = None, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """The number of elements; a constant when it is known while the graph is built.

    Args: those of `tf.shape`.

    Returns:
        [] tensor of `out_type`.
    """
    return size_internal(input, name, out_type)


def size_internal(input: _Shaped, name: str | None = None, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """`size`, for modules in which that name means something else."""
    if isinstance(input, SparseTensor):
        with get_default_graph().name_scope(name or "Size") as scope:
            sizes = sparse_shape(input, out_type, "Cast")
            return build(lookup("Prod"), [sizes, constant(0)], {}, scope).outputs[0]
    tensor = convert_to_tensor(input)
    dims = tensor.dims
    if dims is not None and None not in dims:
        return constant(math.prod(size for size in dims if size is not None), out_type, name=name or "Size")
    return size_node(tensor, out_type=out_type, name=name)


# Reshape.


_WILDCARD = "A -1 in one place of the shape stands for the size that the number of elements asks for."


def _free_size(dims: Sequence[int], given: Sequence[int]) -> int:
    """What a -1 stands for beside the given sizes.

    Beside a given 0 any size fits; as in TensorFlow it is what sizes other than 0 ask for: [0, 6] as [0, -1, 3] is [0, 2, 3].
    """
    known = math.prod(given)
    if known:
        return math.prod(dims) // known
    return math.prod(size for size in dims if size) // math.prod(size for size in given if size)


def _reshaped(node: Operation) -> list[Dims]:
    given = node.inputs[1].dims
    if given is not None and len(given) != 1:
        raise ShapeMisfit(f"Shape must be rank 1 but is rank {len(given)}", "A shape is a list of sizes, [n] for a vector.")
    wanted = constant_shape(node.inputs[1])
    if wanted is None:
        return [None]
    value = constant_value(node.inputs[1])
    unknown = wanted.count(None)
    if value is not None and unknown > 1:
        raise ValueError("Only one input size may be -1")
    dims = node.inputs[0].dims
    known = math.prod(size for size in wanted if size is not None)
    if dims is None or None in dims:
        part = 1 if dims is None else math.prod(size for size in dims if size is not None)
        if unknown == 0 and part and known % part:
            text = f"Dimension size must be evenly divisible by {part} but is {known}"
            raise ShapeMisfit(
                text, f"No number in the place of ? gives {brackets(dims)} the {known} elements of {brackets(wanted)}."
            )
        return [wanted]
    count = math.prod(dims)  # type: ignore[arg-type]
    if unknown == 0:
        if known != count:
            text = f"Cannot reshape a tensor with {count} elements to shape {brackets(wanted)} ({known} elements)"
            raise ShapeMisfit(text, _WILDCARD)
        return [wanted]
    if value is None and unknown > 1:
        return [wanted]
    if known == 0 and count:
        text = f"Cannot reshape a tensor with {count} elements to shape {brackets(wanted)} (0 elements)"
        raise ShapeMisfit(text, _WILDCARD)
    if known and count % known:
        text = f"Dimension size must be evenly divisible by {known} but is {count}"
        raise ShapeMisfit(text, f"No size in the place of -1 gives {brackets(wanted)} the {count} elements of the tensor.")
    free = _free_size(dims, [size for size in wanted if size is not None])  # type: ignore[arg-type]
    return [tuple(free if size is None else size for size in wanted)]


@op("Reshape", "tensor: T, shape: Tshape -> output: T", reshapes=True, memory_bound=True,
    infer=_reshaped, static=("shape",), types={"Tshape": INDEX},
    defaults={"Tshape": dtypes.int32},
    gradient=lambda node, grad: [reshape(grad, shape_internal(node.inputs[0])), None])  # fmt: skip
def reshape_node(xp: ArrayModule, tensor: Array, shape: Array) -> Result:
    """The elements in row-major order, in another shape; a -1 stands for the size that fits.

    `[...], [rank] -> [*shape]`.
    """
    if len(shape.shape) != 1:
        raise InvalidArgumentError.of(f"sizes input must be 1-D, not {brackets(shape.shape)}")
    return xp.reshape(tensor, _sizes_of(tuple(tensor.shape), tuple(np.asarray(shape).tolist())))


@functools.lru_cache(maxsize=1024)
def _sizes_of(given: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of a tensor of this shape that is reshaped, the -1 filled in."""
    negative = next((at for at, each in enumerate(sizes) if each < -1), None)
    if negative is not None:
        raise InvalidArgumentError.of(f"Size {negative} must be non-negative, not {sizes[negative]}")
    count, known = math.prod(given), math.prod(each for each in sizes if each != -1)
    free = sizes.count(-1)
    if free == 0 and known != count:
        raise InvalidArgumentError.of(f"Input to reshape is a tensor with {count} values, but the requested shape has {known}")
    if free > 1:
        first = sizes.index(-1)
        raise InvalidArgumentError.of(f"Only one input size may be -1, not both {first} and {sizes.index(-1, first + 1)}")
    if free and (count % known if known else count):
        raise InvalidArgumentError.of(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {known}"
        )
    filled = _free_size(given, [each for each in sizes if each != -1]) if free else 0
    return tuple(filled if each == -1 else each for each in sizes)


def reshape(tensor: TensorLike, shape: DynamicShape, name: str | None = None) -> Tensor:
    """The elements of `tensor` in another shape; one size may be -1, which stands for what is left.

    >>> sess.run(tf.reshape([1, 2, 3, 4], [-1, 2]))
    array([[1, 2],
           [3, 4]], dtype=int32)

    Args:
        tensor: [...] tensor of any dtype.
        shape: [rank] list or tensor of int32 or int64, or a TensorShape.

    Returns:
        A tensor of the same type and the shape `shape`.

    Raises:
        ValueError: the known sizes don't hold as many elements, two of them are -1, or one is below that.
        InvalidArgumentError: in a run, the same of sizes that only the run tells.
    """
    return reshape_node(tensor, shape, name=name)


# ExpandDims and Squeeze.


def _to_input_shape(node: Operation, grad: Tensor) -> Gradients:
    first = reshape(grad, shape_internal(node.inputs[0]))
    return [first] + [None] * (len(node.inputs) - 1)


def _expanded(node: Operation) -> list[Dims]:
    dims, axis = node.inputs[0].dims, constant_value(node.inputs[1])
    if dims is None:
        return [None]
    if axis is None:
        return [(None,) * (len(dims) + 1)]
    if np.size(axis) != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    at = int(np.ravel(axis)[0])
    if not -len(dims) - 1 <= at <= len(dims):
        raise ValueError(f"dim {at} not in the interval [{-len(dims) - 1}, {len(dims)}].")
    at += (len(dims) + 1) if at < 0 else 0
    return [(*dims[:at], 1, *dims[at:])]


@op("ExpandDims", "input: T, dim: Tdim -> output: T", reshapes=True, memory_bound=True,
    infer=_expanded, static=("dim",), gradient=_to_input_shape,
    types={"Tdim": INDEX}, defaults={"Tdim": dtypes.int32})  # fmt: skip
def expand_dims_node(xp: ArrayModule, input: Array, dim: Array) -> Result:
    """The input with a dimension of size 1 put in at `dim`: `[*outer, *inner], scalar -> [*outer, 1, *inner]`."""
    at = dim.reshape(-1).tolist()[0]
    rank = len(input.shape)
    if not -rank - 1 <= at <= rank:
        raise InvalidArgumentError.of(f"Tried to expand dim index {at} for tensor with {rank} dimensions.")
    at += (rank + 1) if at < 0 else 0
    return input.reshape((*input.shape[:at], 1, *input.shape[at:]))


@dispatchable
def expand_dims(
    input: TensorLike, axis: TensorLike | None = None, name: str | None = None, dim: TensorLike | None = None
) -> Tensor:
    """Put a dimension of size 1 in at `axis` (`dim` is an older name for it).

    >>> sess.run(tf.expand_dims([1, 2], 1))
    array([[1],
           [2]], dtype=int32)

    Args:
        input: [...] tensor of any dtype.
        axis: int32 scalar, the place of the new dimension in the result, from `-rank - 1` to `rank`.
        dim: an older name of `axis`.

    Returns:
        The tensor with one dimension more.

    Raises:
        ValueError: `axis` is left out, given by both names, or outside the rank.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return expand_dims_node(input, axis, name=name)


def _squeezed(node: Operation) -> list[Dims]:
    dims, axes = node.inputs[0].dims, node.attrs["squeeze_dims"]
    if dims is None:
        return [None]
    if not axes:
        return [None] if None in dims else [tuple(size for size in dims if size != 1)]
    gone = set()
    for axis in axes:
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"dim {axis} not in the interval [{-len(dims)}, {len(dims) - 1}].")
        gone.add(axis % len(dims))
    for axis in sorted(gone):
        if dims[axis] not in (None, 1):
            raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}")
    return [tuple(size for axis, size in enumerate(dims) if axis not in gone)]


@op("Squeeze", "input: T -> output: T", reshapes=True, memory_bound=True, infer=_squeezed, gradient=_to_input_shape)
def squeeze_node(xp: ArrayModule, input: Array, *, squeeze_dims: list[int] = []) -> Result:  # noqa: B006
    """The input without dimensions of size 1: those listed, or all.

    `[*outer, 1, *inner] -> [*outer, *inner]`.
    """
    rank = len(input.shape)
    axes = [axis % rank for axis in squeeze_dims] or [axis for axis in range(rank) if input.shape[axis] == 1]
    for axis in axes:
        if input.shape[axis] != 1:
            raise InvalidArgumentError.of(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {input.shape[axis]}")
    return input.reshape(tuple([each for axis, each in enumerate(input.shape) if axis not in axes]))


@dispatchable
def squeeze(
    input: TensorLike, axis: TensorLike | None = None, name: str | None = None, squeeze_dims: TensorLike | None = None
) -> Tensor:
    """Drop dimensions of size 1: those in `axis` (`squeeze_dims` is an older name for it), or all.

    >>> sess.run(tf.squeeze([[[1], [2]]]))
    array([1, 2], dtype=int32)

    Args:
        input: [...] tensor of any dtype.
        axis: a list of dimensions, each of size 1; one below zero counts from the end.
        squeeze_dims: an older name of `axis`.

    Returns:
        The tensor without those dimensions.

    Raises:
        ValueError: a dimension of `axis` is not there or not of size 1, as far as shapes are known; or both names are given.
        InvalidArgumentError: in a run, the same of sizes that only the run tells.
    """
    axis = deprecated_argument_lookup("axis", axis, "squeeze_dims", squeeze_dims)
    axes = [] if axis is None else [axis] if np.isscalar(axis) else axis
    return squeeze_node(input, squeeze_dims=axes, name=name)


# Transpose.


def _ensured(node: Operation) -> list[Dims]:
    dims, wanted = node.inputs[0].dims, node.attrs["shape"]
    if not dims_compatible(dims, wanted):
        raise ValueError(f"Shapes must be compatible: {format_dims(dims)} is not {format_dims(wanted)}")
    if dims is None or wanted is None:
        return [wanted if dims is None else dims]
    return [tuple(w if d is None else d for d, w in zip(dims, wanted, strict=True))]


@op("EnsureShape", "input: T -> output: T", infer=_ensured, gradient=lambda node, grad: [grad])
def ensure_shape_node(xp: ArrayModule, input: Array, *, shape: Dims) -> Result:
    """The input, whose shape must fit: `[...] -> [...]`."""
    if not dims_compatible(tuple(input.shape), shape):
        raise InvalidArgumentError.of(
            f"Shape of tensor {brackets(input.shape)} is not compatible with expected shape {brackets(shape)}."
        )
    return input


def ensure_shape(x: TensorLike, shape: DynamicShape, name: str | None = None) -> Tensor:
    """`x`, with the promise that its shape fits; InvalidArgumentError when a step finds that it does not.

    Args:
        x: [...] tensor of any dtype.
        shape: a TensorShape, or a list with None for each size that may be any.
    """
    return ensure_shape_node(x, shape=shape, name=name)
