"""Ops that put dimensions in another order: Transpose, its conjugate, the swap of the last two, and inverse permutations."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, format_dims
from weft.framework.types.dims import brackets as brackets
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import not_differentiable, op, rank_of
from weft.ops.input_scope import input_scope


def _transposed(node: Operation) -> list[Dims]:
    dims, perm = node.inputs[0].dims, constant_value(node.inputs[1])
    count = node.inputs[1].dims[0] if rank_of(node.inputs[1]) == 1 else None  # type: ignore[index]
    if dims is not None and count is not None and len(dims) != count:
        raise ValueError(f"Dimension must be {len(dims)} but is {count}")
    rank = count if dims is None else len(dims)
    if rank is None:
        return [None]
    if perm is None:
        return [(None,) * rank]
    axes = [int(axis) for axis in perm]
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(f"perm dim {axis} is out of range of input rank {rank}")
    return [(None,) * rank if dims is None else tuple(dims[axis] for axis in axes)]


def _transpose_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [transpose_node(grad, invert_permutation(node.inputs[1])), None]


@op("Transpose", "x: T, perm: Tperm -> y: T",
    ranks={"perm": 1},
    memory_bound=True,
    infer=_transposed, static=("perm",), gradient=_transpose_gradient,
    types={"Tperm": INDEX}, defaults={"Tperm": dtypes.int32})  # fmt: skip
def transpose_node(xp: ArrayModule, x: Array, perm: Array) -> Result:
    """The input with dimension i of the output being dimension `perm[i]`: `[*sizes], [rank] -> [*permuted]`."""
    axes = tuple(int(axis) % max(len(x.shape), 1) for axis in perm)
    missing = sorted(set(range(len(axes))) - set(axes))
    if missing:
        listed = ",".join(str(axis) for axis in axes)
        raise InvalidArgumentError.of(f"{missing[0]} is missing from {{{listed}}}.")
    return xp.transpose(x, axes)


def _conjugate_transpose_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [conjugate_transpose(grad, invert_permutation(node.inputs[1])), None]


@op("ConjugateTranspose", "x: T, perm: Tperm -> y: T",
    ranks={"perm": 1},
    infer=_transposed, static=("perm",), types={"Tperm": INDEX},
    defaults={"Tperm": dtypes.int32}, gradient=_conjugate_transpose_gradient)  # fmt: skip
def conjugate_transpose(xp: ArrayModule, x: Array, perm: Array) -> Result:
    """The complex conjugate of the transposed input: `[*sizes], [rank] -> [*permuted]`."""
    return xp.conj(xp.transpose(x, tuple(int(axis) for axis in perm)))


@op(
    "ReversedAxes",
    "x: T -> perm: int32",
    infer=lambda node: [(rank_of(node.inputs[0]),)],
    gradient=not_differentiable,
    shape_only=True,
)
def reversed_axes(xp: ArrayModule, x: Array) -> Result:
    """The axes of the input, the last one first: `[...] -> [rank] int32`."""
    return np.arange(len(x.shape) - 1, -1, -1, dtype=np.int32)


def transpose(a: TensorLike, perm: TensorLike | None = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """Permute the dimensions of `a`; without `perm`, reverse them. `conjugate` also conjugates the elements.

    >>> sess.run(tf.transpose([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]], dtype=int32)

    Args:
        a: [...] tensor of any dtype.
        perm: [rank] list or tensor of int32 or int64: which dimension of `a` each of the result is.
        conjugate: whether complex elements are conjugated.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: `perm` is no permutation of the dimensions, as far as it is known.
        InvalidArgumentError: in a run, the same of a `perm` that only the run tells.
    """
    tensor = convert_to_tensor(a, name="a")
    node = conjugate_transpose if conjugate and tensor.dtype.is_complex else transpose_node
    if perm is None:
        count = rank_of(tensor)
        perm = range(count - 1, -1, -1) if count is not None else None
        if perm is None:
            with get_default_graph().name_scope(name) as scope:
                return node(tensor, reversed_axes(tensor, name="Range"), name=scope)
        perm = np.array(perm, np.int32)
    return node(tensor, perm, name=name or "transpose")


def matrix_transpose(a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Swap the last two dimensions of `a`.

    Args:
        a: [..., m, n] tensor of any dtype.
        conjugate: whether complex elements are conjugated.

    Returns:
        [..., n, m] tensor of the same dtype.

    Raises:
        ValueError: `a` has fewer than two dimensions.
    """
    with input_scope(name, "matrix_transpose", (a,)):
        tensor = convert_to_tensor(a, name="a")
        count = rank_of(tensor)
        if count is None:
            return swap_last(tensor, conjugate=conjugate, name="transpose")
        if count < 2:
            raise ValueError(f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {format_dims(tensor.dims)}")
        return transpose(tensor, [*range(count - 2), count - 1, count - 2], "transpose", conjugate)


def _swap_last_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [swap_last(grad, conjugate=node.attrs["conjugate"])]


@op("MatrixTranspose", "x: T -> y: T", infer=lambda node: [None],
    gradient=_swap_last_gradient)  # fmt: skip
def swap_last(xp: ArrayModule, x: Array, *, conjugate: bool = False) -> Result:
    """The input of unknown rank with its last two dimensions swapped: `[..., m, n] -> [..., n, m]`."""
    swapped = xp.swapaxes(x, -1, -2)
    return xp.conj(swapped) if conjugate else swapped


@op("InvertPermutation", "x: T -> y: T", ranks={"x": 1}, infer=lambda node: [node.inputs[0].dims],
    gradient=not_differentiable, types={"T": INDEX},
    defaults={"T": dtypes.int32})  # fmt: skip
def invert_permutation_node(xp: ArrayModule, x: Array) -> Result:
    """The permutation y with `y[x[i]] == i`: `[n] -> [n]`."""
    if xp is np:
        _check_permutation(x)
    return xp.argsort(x)


def _check_permutation(x: Array) -> None:
    seen = set()
    for each in x.tolist():
        if not 0 <= each < len(x):
            raise InvalidArgumentError.of(f"{each} is not between 0 and {len(x)}")
        if each in seen:
            raise InvalidArgumentError.of(f"{each} is duplicated in the input.")
        seen.add(each)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of a permutation, which must hold each of 0 ... n-1 once.

    Args:
        x: [n] tensor of int32 or int64.
    """
    return invert_permutation_node(x, name=name)


# EnsureShape.
