"""Functions whose ops tf has too, under the names, order and defaults that their arguments have in Keras."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.networks.backend.inspection import ndim
from weft.networks.state.defaults import floatx, image_data_format
from weft.ops.array import constant as constants
from weft.ops.array import filling, gather_scatter, shape_ops, stacking, tiling, transposing
from weft.ops.array import identity as identities
from weft.ops.control_flow import functional
from weft.ops.math import division
from weft.ops.nn import bias as biases


def constant(value: Nest, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """A constant, of Keras's type of floats unless told otherwise, also where the value is whole.

    Args:
        value: a number, or a nested list of numbers.
        dtype: the type; `floatx()` when None.
        shape: the shape; the value's when None.
        name: the node's name.
    """
    return constants.constant(value, dtype=floatx() if dtype is None else dtype, shape=shape, name=name or "Const")


def bias_add(x: TensorLike, bias: TensorLike, data_format: str | None = None) -> Tensor:
    """A bias added to each example: one number a channel, or one for each element of an example.

    Args:
        x: the examples.
        bias: a vector of channels, or a tensor with one dimension fewer than `x`, channels last.
        data_format: "channels_last" or "channels_first", of `x`; the layout that was set when None.

    Raises:
        ValueError: the bias has another number of dimensions, or the layout is unknown.
    """
    form = image_data_format() if data_format is None else data_format
    if form not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {form}")
    values, added = convert_to_tensor(x), convert_to_tensor(bias)
    rank, sizes = ndim(values) or 0, added.shape.as_list()
    if len(sizes) not in (1, rank - 1):
        raise ValueError(f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions")
    if rank == 2 and len(sizes) == 1:
        made: Tensor = biases.bias_add(values, added)
        return made
    if form == "channels_last":
        aligned = [1] * (rank - len(sizes)) + [-1 if size is None else size for size in sizes]
        return values + shape_ops.reshape(added, aligned)
    if len(sizes) > 1:
        added = transposing.transpose(added, [len(sizes) - 1, *range(len(sizes) - 1)])
        return values + shape_ops.expand_dims(added, 0)
    return values + shape_ops.reshape(added, [1, -1] + [1] * (rank - 2))


def gather(reference: TensorLike, indices: TensorLike) -> Tensor:
    """The rows of these numbers.

    Args:
        reference: the rows.
        indices: their numbers.
    """
    made: Tensor = gather_scatter.gather(reference, indices)
    return made


def ones_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones of a tensor's shape.

    Args:
        x: the tensor.
        dtype: the type of the ones; the tensor's when None.
        name: the node's name.
    """
    return filling.ones_like(x, dtype=dtype, name=name)


def zeros_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros of a tensor's shape.

    Args:
        x: the tensor.
        dtype: the type of the zeros; the tensor's when None.
        name: the node's name.
    """
    return filling.zeros_like(x, dtype=dtype, name=name)


def power(x: TensorLike, a: TensorLike) -> Tensor:
    """The elements to a power.

    Args:
        x: the elements.
        a: the exponent.
    """
    made: Tensor = division.power(x, a)
    return made


def reshape(x: TensorLike, shape: ShapeLike) -> Tensor:
    """The elements in another shape.

    Args:
        x: the tensor.
        shape: the shape, in which one size may be -1.
    """
    return shape_ops.reshape(x, shape)


def shape(x: TensorLike) -> Tensor:
    """The shape, as a tensor.

    Args:
        x: the tensor.
    """
    return shape_ops.shape(x)


def squeeze(x: TensorLike, axis: int) -> Tensor:
    """A tensor without a dimension of size 1.

    Args:
        x: the tensor.
        axis: the dimension.
    """
    return shape_ops.squeeze(x, [axis])


def stack(x: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors side by side along a new dimension.

    Args:
        x: the tensors.
        axis: where the new dimension is.

    Returns:
        A tensor with one dimension more.
    """
    return stacking.stack(x, axis=axis)


def stop_gradient(variables: Nest) -> Nest:
    """Values that count as constants in gradients.

    Args:
        variables: a tensor, or a list of them.

    Returns:
        A tensor, or a list of them.
    """
    if isinstance(variables, list | tuple):
        return [identities.stop_gradient(each) for each in variables]
    return identities.stop_gradient(variables)


def tile(x: TensorLike, n: int | Sequence[int]) -> Tensor:
    """A tensor repeated along its dimensions.

    Args:
        x: the tensor.
        n: how many times for each dimension.
    """
    made: Tensor = tiling.tile(x, [n] if isinstance(n, int) else n)
    return made


def transpose(x: TensorLike) -> Tensor:
    """A tensor with its dimensions in reverse order.

    Args:
        x: the tensor.
    """
    made: Tensor = transposing.transpose(x)
    return made


def map_fn(fn: Callable[[Nest], Nest], elems: Nest, name: str | None = None, dtype: Nest = None) -> Nest:
    """What a function makes of each of the elements along the first dimension.

    Args:
        fn: the function of one of them.
        elems: a tensor, or a structure of them.
        name: the name of the operations.
        dtype: the type of the results; the elements' when None.
    """
    return functional.map_fn(fn, elems, dtype=dtype, name=name)


def foldl(fn: Callable[[Nest, Nest], Nest], elems: Nest, initializer: Nest = None, name: str | None = None) -> Nest:
    """What a function of the result so far and the next element makes, from the first element on.

    Args:
        fn: the function.
        elems: a tensor, or a structure of them.
        initializer: what to begin with; the first element when None.
        name: the name of the operations.
    """
    return functional.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn: Callable[[Nest, Nest], Nest], elems: Nest, initializer: Nest = None, name: str | None = None) -> Nest:
    """What a function of the result so far and the next element makes, from the last element on.

    Args:
        fn: the function.
        elems: a tensor, or a structure of them.
        initializer: what to begin with; the last element when None.
        name: the name of the operations.
    """
    return functional.foldr(fn, elems, initializer=initializer, name=name)
