"""Elementwise arithmetic on one tensor or two, with broadcasting, and what all such ops share.

A binary op's gradient sums over the dimensions along which an input was broadcast (`unbroadcast`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Gradients, Result, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, brackets, dims_compatible, merge_dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.identity import identity
from weft.ops.declaration import broadcast, one_count, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import always, of_broadcast
from weft.ops.held_objects import handle_of, is_handle

REAL = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64, dtypes.uint8, dtypes.int8, dtypes.uint16,
        dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)  # fmt: skip
COMPLEX = (dtypes.complex64, dtypes.complex128)
NUMBERS = REAL + COMPLEX
FLOATS = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
INEXACT = FLOATS + COMPLEX
SIGNED = (*FLOATS, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


def _second_input(node: Operation) -> list[Dims]:
    return [node.inputs[1].dims]


def _sum_to_like_gradient(node: Operation, g: Tensor) -> Gradients:
    return [broadcast_like(g, node.inputs[0]), None]


@op("SumToLike", "x: T, like: T -> output: T", infer=_second_input, gradient=_sum_to_like_gradient)  # fmt: skip
def sum_to_like(xp: ArrayModule, x: Array, like: Array) -> Result:
    """Sum `x` over the dimensions along which `like` was broadcast to it: `[*sizes], [...] -> [...]`."""
    if x.shape == like.shape:
        return x
    # As a method: NumPy's function, and to find the axes each time, cost 5 µs more, of 7 (two cores, December 2026).
    return x.sum(axis=_widened_axes(x.shape, like.shape), dtype=x.dtype).reshape(like.shape)


@functools.lru_cache(maxsize=256)
def _widened_axes(shape: tuple[int, ...], before: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions along which an array was broadcast from one of an earlier shape."""
    lead = len(shape) - len(before)
    return (*range(lead), *(lead + i for i, size in enumerate(before) if size == 1 and shape[lead + i] != 1))


@op("BroadcastLike", "x: T, like: T -> output: T", infer=_second_input, gradient=lambda node, g: [
    sum_to_like(g, node.inputs[0]), None])  # fmt: skip
def broadcast_like(xp: ArrayModule, x: Array, like: Array) -> Result:
    """Broadcast `x` to the shape of `like`: `[*sizes], [...] -> [...]`."""
    return xp.broadcast_to(x, like.shape)


def unbroadcast(gradient: Tensor | IndexedSlices, tensor: Tensor, *others: Tensor, name: str = "Reshape") -> Tensor:
    """The gradient of a broadcast input: summed, or as it is when `tensor` cannot have been broadcast.

    That is so when its static shape equals the gradient's, or when the op's other inputs cannot have widened it.

    Args:
        name: that of the node that sums, TensorFlow's name of the last of its own: `Reshape_1` for an op's second input.
    """
    if isinstance(gradient, IndexedSlices):  # that of a gather
        gradient = convert_to_tensor(gradient)
    dims = tensor.dims
    if dims is not None:
        if None not in dims and gradient.dims == dims:
            return gradient
        # The gradients that a program gives may have another shape than what they are of.
        if others and all(_cannot_widen(dims, other.dims) for other in others) and dims_compatible(gradient.dims, dims):
            return gradient
    return sum_to_like(gradient, tensor, name=name)


def _cannot_widen(dims: tuple[int | None, ...], other: Dims) -> bool:
    """Whether broadcasting with `other` leaves a tensor of this shape as it is, whatever the unknown sizes are."""
    if other is None or len(other) > len(dims):
        return False
    return all(
        size == 1 or (mine is not None and mine != 1) for mine, size in zip(dims[len(dims) - len(other) :], other, strict=True)
    )


def _sum_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    return [unbroadcast(grad, x, y), unbroadcast(grad, y, x, name="Reshape_1")]


@op(
    "Add",
    "x: T, y: T -> z: T",
    memory_bound=True,
    ufunc=np.add,
    infer=broadcast,
    gradient=_sum_gradient,
    gradient_nodes=of_broadcast(0, of_equals=0),
    types={"T": (*NUMBERS, dtypes.string)},
)
def add(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x + y`; strings are joined: `[...], [...] -> [...]`, broadcast.

    >>> sess.run(tf.add([1, 2], 3))
    array([4, 5], dtype=int32)

    Args:
        x, y: [...] tensors of one numeric dtype or of strings, whose shapes broadcast.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return x + y


@op(
    "AddV2",
    "x: T, y: T -> z: T",
    memory_bound=True,
    ufunc=np.add,
    infer=broadcast,
    gradient=_sum_gradient,
    gradient_nodes=of_broadcast(0, of_equals=0),
    types={"T": NUMBERS},
)
def add_v2(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x + y`; the form that newer graphs have: `[...], [...] -> [...]`, broadcast."""
    return x + y


def _sub_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    return [unbroadcast(grad, x, y), unbroadcast(neg(grad), y, x, name="Reshape_1")]


@op(
    "Sub",
    "x: T, y: T -> z: T",
    memory_bound=True,
    ufunc=np.subtract,
    infer=broadcast,
    gradient=_sub_gradient,
    gradient_nodes=of_broadcast(1, of_equals=1),
    types={"T": NUMBERS},
)
def sub(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x - y`: `[...], [...] -> [...]`, broadcast.

    >>> sess.run(tf.subtract([5, 3], 1))
    array([4, 2], dtype=int32)

    Args:
        x, y: [...] tensors of one numeric dtype, whose shapes broadcast.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return x - y


def _mul_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    return [
        unbroadcast(mul(grad, conj_if_complex(y)), x, y),
        unbroadcast(mul(conj_if_complex(x), grad), y, x, name="Reshape_1"),
    ]


def conj_if_complex(tensor: Tensor) -> Tensor:
    """The complex conjugate of a complex tensor, anything else as it is."""
    return conj_node(tensor) if tensor.dtype.is_complex else tensor


@op(
    "Mul",
    "x: T, y: T -> z: T",
    memory_bound=True,
    ufunc=np.multiply,
    infer=broadcast,
    gradient=_mul_gradient,
    gradient_nodes=of_broadcast(2, of_equals=2),
    types={"T": NUMBERS},
)
def mul(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x * y`: `[...], [...] -> [...]`, broadcast.

    >>> sess.run(tf.multiply([1, 2], 3))
    array([3, 6], dtype=int32)

    Args:
        x, y: [...] tensors of one numeric dtype, whose shapes broadcast.

    Returns:
        A tensor of the type of both, of the shape to which they are broadcast.

    Raises:
        TypeError: the dtypes differ, or are others than these.
        ValueError: known shapes don't broadcast.
        InvalidArgumentError: in a run, shapes don't broadcast that only the run tells.
    """
    return x * y


def _conj_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [conj_node(grad)]


@op("Conj", "input: T -> output: T", infer=same_as_input, gradient=_conj_gradient,
    types={"T": COMPLEX}, defaults={"T": dtypes.complex64})  # fmt: skip
def conj_node(xp: ArrayModule, input: Array) -> Result:
    """The complex conjugate: `[...] -> [...]`."""
    return xp.conj(input)


def _neg_gradient(node: Operation, grad: Tensor | IndexedSlices) -> Gradients:
    # The opposite of slices is slices, as in TensorFlow.
    return [neg(grad) if isinstance(grad, Tensor) else -grad]


@op("Neg", "x: T -> y: T", memory_bound=True, infer=same_as_input, gradient=_neg_gradient,
    types={"T": (*SIGNED, *COMPLEX)})  # fmt: skip
def neg(xp: ArrayModule, x: Array) -> Result:
    """`-x`: `[...] -> [...]`.

    Args:
        x: [...] tensor of a signed integer, floating or complex dtype; the result has its shape and dtype.
    """
    return xp.negative(x)


@op("Square", "x: T -> y: T", infer=same_as_input, gradient=lambda node, grad: [
    mul(grad, mul(conj_if_complex(node.inputs[0]), 2))], types={"T": NUMBERS})  # fmt: skip
def square(xp: ArrayModule, x: Array) -> Result:
    """`x * x`: `[...] -> [...]`.

    >>> sess.run(tf.square([2.0, -3.0]))
    array([4., 9.], dtype=float32)

    Args:
        x: [...] tensor of a numeric dtype; the result has its shape and dtype.

    Returns:
        [...] tensor of the type and shape of the argument, or a SparseTensor of a SparseTensor.

    Raises:
        TypeError: `x` is of another dtype.
    """
    return x * x


def _squared_difference_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    wide = mul(mul(grad, 2), sub(x, y))
    return [unbroadcast(wide, x, y), unbroadcast(neg(wide), y, x, name="Reshape_1")]


@op("SquaredDifference", "x: T, y: T -> z: T", infer=broadcast, gradient=_squared_difference_gradient,
    gradient_nodes=of_broadcast(5, of_equals=5), types={"T": (*FLOATS, dtypes.int32, dtypes.int64, *COMPLEX)})  # fmt: skip
def squared_difference(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`(x - y) * (x - y)`, the second factor conjugated: `[...], [...] -> [...]`, broadcast.

    Args:
        x, y: [...] tensors of one floating or complex dtype, or of int32 or int64, whose shapes broadcast.
    """
    difference = x - y
    return xp.conj(difference) * difference


def _real_div_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    by = conj_if_complex(y)
    of_y = mul(grad, real_div(neg(conj_if_complex(node.outputs[0])), by))
    return [unbroadcast(real_div(grad, by), x, y), unbroadcast(of_y, y, x, name="Reshape_1")]


@op("RealDiv", "x: T, y: T -> z: T", memory_bound=True, infer=broadcast, gradient=_real_div_gradient,
    gradient_nodes=always(12), types={"T": NUMBERS})  # fmt: skip
def real_div(xp: ArrayModule, x: Array, y: Array) -> Result:
    """`x / y`, of integers the part before the point: `[...], [...] -> [...]`, broadcast.

    Args: those of `tf.math.multiply`.
    """
    return truncated_quotient(x, y) if x.dtype.kind in "iu" else x / y


def truncated_quotient(x: Array, y: Array) -> Array:
    """The quotient of two integer arrays rounded towards zero."""
    quotient, remainder = x // y, x % y
    # Floor division is one too low where the signs differ and something is left.
    return quotient + ((remainder != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


def _reciprocal_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [reciprocal_grad(node.outputs[0], grad)]


@op("Reciprocal", "x: T -> y: T", infer=same_as_input, gradient=_reciprocal_gradient, types={"T": (*SIGNED, *COMPLEX)})
def reciprocal(xp: ArrayModule, x: Array) -> Result:
    """`1 / x`: `[...] -> [...]`.

    Args:
        x: [...] tensor of a signed integer, floating or complex dtype; the result has its shape and dtype.
    """
    return xp.ones_like(x) / x


@op("Inv", "x: T -> y: T", infer=same_as_input, gradient=_reciprocal_gradient, types={"T": (*SIGNED, *COMPLEX)})
def inv(xp: ArrayModule, x: Array) -> Result:
    """`1 / x`; an older name of Reciprocal: `[...] -> [...]`."""
    return xp.ones_like(x) / x


def _reciprocal_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    y, dy = conj_if_complex(node.inputs[0]), node.inputs[1]
    return [mul(mul(conj_if_complex(grad), -2), mul(y, dy)), reciprocal_grad(y, grad)]


@op("ReciprocalGrad", "y: T, dy: T -> z: T", infer=one_count, gradient=_reciprocal_grad_gradient,
    types={"T": INEXACT})  # fmt: skip
def reciprocal_grad(xp: ArrayModule, y: Array, dy: Array) -> Result:
    """The gradient of Reciprocal, from its output: `[...], [...] -> [...]`, of one shape."""
    y = xp.conj(y)
    return -dy * y * y


def _add_n_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [grad] * len(node.inputs)


def _merged_inputs(node: Operation) -> list[Dims]:
    dims: Dims = None
    for tensor in node.inputs:
        dims = merge_dims(dims, tensor.dims)
    return [dims]


@op("AddN", "inputs: N*T -> sum: T", limits={"N": 1}, memory_bound=True, infer=_merged_inputs, gradient=_add_n_gradient,
    types={"T": (*NUMBERS, dtypes.variant)})  # fmt: skip
def add_n_node(xp: ArrayModule, inputs: list[Array]) -> Result:
    """The sum of the inputs: `N*[...] -> [...]`."""
    if is_handle(inputs[0]):
        return handle_of(functools.reduce(operator.add, (each[()] for each in inputs)))
    first = inputs[0].shape
    for number, each in enumerate(inputs):
        if each.shape != first:  # arrays would be broadcast
            raise InvalidArgumentError.of(
                "Inputs to operation AddN must have the same size and shape. "
                f"Input 0: {brackets(first)} != input {number}: {brackets(each.shape)}"
            )
    if xp is np and len(inputs) > 2:
        # In one array: twenty gradients of 512 KB take 0.27 ms so instead of 0.34 (two loaded cores, December 2026).
        total = inputs[0] + inputs[1]
        for each in inputs[2:]:
            total += each
        return total
    return functools.reduce(operator.add, inputs)


@dispatchable
def add_n(inputs: Iterable[TensorLike | IndexedSlices], name: str | None = None) -> Tensor:
    """Add tensors (IndexedSlices are made dense) of one shape and dtype; the sum of one tensor is that tensor.

    Args:
        inputs: a list of [...] tensors or IndexedSlices of one shape and numeric dtype.

    Returns:
        [...] tensor of the same shape and dtype.

    Raises:
        ValueError: `inputs` is no list of tensors, or it is empty, or the shapes differ.
        TypeError: the types differ.

    >>> sess.run(tf.add_n([[1, 2], [3, 4]]))
    array([4, 6], dtype=int32)
    """
    message = "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
    if not isinstance(inputs, Iterable) or isinstance(inputs, Tensor):
        raise ValueError(f"{message}; got {inputs!r}: of one tensor the list is [tensor].")
    tensors = [convert_to_tensor(each) for each in inputs]
    if not tensors:
        raise ValueError(f"{message}; the list is empty: has nothing been added to the collection that it is of?")
    if len(tensors) == 1:
        return identity(tensors[0], name) if name else tensors[0]
    return add_n_node(tensors, name=name)


@op("AccumulateNV2", "inputs: N*T -> sum: T", infer=lambda node: [node.attrs["shape"]], gradient=_add_n_gradient,
    types={"T": NUMBERS}, limits={"N": 1})  # fmt: skip
def accumulate_n_v2(xp: ArrayModule, inputs: list[Array], *, shape: Dims) -> Result:
    """The sum of the inputs, all of the shape given: `N*[...] -> [...]`."""
    return functools.reduce(operator.add, inputs)


def accumulate_n(
    inputs: Sequence[TensorLike], shape: ShapeLike = None, tensor_dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Add tensors of one shape and dtype; those that are not known fit `shape` and one another.

    Args:
        inputs: a list of [...] tensors of one shape and numeric dtype.
        shape: their shape, which is told where the inputs do not tell it.
        tensor_dtype: their dtype; needed for nothing but a check.

    Returns:
        [...] tensor of the same shape and dtype.

    Raises:
        ValueError: `inputs` is no list of tensors of one dtype, or shapes differ.
        TypeError: `tensor_dtype` is not the inputs' dtype.
    """
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError(message)
    tensors = [convert_to_tensor(each) for each in inputs]
    kind = tensors[0].dtype.base_dtype
    if any(each.dtype.base_dtype is not kind for each in tensors):
        raise ValueError(message)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not kind:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {kind}")
    dims = as_dims(shape)
    for each in tensors:
        dims = merge_dims(dims, each.dims)
    if len(tensors) == 1 and name is None:
        return tensors[0]
    if len(tensors) == 1:
        return identity(tensors[0], name)
    if dims is None or None in dims:
        return add_n_node(tensors, name=name or "AccumulateNV2")
    return accumulate_n_v2(tensors, shape=dims, name=name)
