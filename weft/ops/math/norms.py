"""Norms of whole tensors, and small algebra: L2Loss, global_norm, Cross, polyval, scalar_mul."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from weft.errors import FailedPreconditionError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, format_dims, merge_dims
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.stacking import stack
from weft.ops.declaration import op, scalar_shape
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import FLOATS, REAL, add, mul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import sqrt


@op("L2Loss", "t: T -> output: T", infer=scalar_shape, types={"T": FLOATS},
    gradient=lambda node, grad: [mul(node.inputs[0], grad)])  # fmt: skip
def l2_loss(xp: ArrayModule, t: Array) -> Result:
    """Half the sum of squares: `[...] -> scalar`.

    >>> sess.run(tf.nn.l2_loss([3.0, 4.0]))
    np.float32(12.5)

    Args:
        t: [...] tensor of a floating dtype.

    Returns:
        [] tensor of the type of the argument.
    """
    return xp.sum(t * t, dtype=t.dtype) / xp.asarray(2, t.dtype)


_Value: TypeAlias = "TensorLike | IndexedSlices | None"


def global_norm(t_list: Sequence[_Value], name: str | None = None) -> Tensor:
    """The square root of the sum of the squares of all elements of all tensors; None in the list is passed over.

    Args:
        t_list: a list of tensors or IndexedSlices of one floating dtype, each of any shape, and of None.

    Returns:
        [] tensor of the type of the values, or None where there are none.

    Raises:
        TypeError: `t_list` is no sequence.

    >>> sess.run(tf.global_norm([tf.constant([3.0]), tf.constant([4.0])]))
    np.float32(5.0)
    """
    with input_scope(name, "global_norm", _as_sequence(t_list)):
        squares = []
        for each in _values_of(t_list):
            if each is not None:
                with get_default_graph().colocate_with(each):
                    squares.append(l2_loss(each))
        half = reduce_sum(stack(squares))
        return sqrt(mul(half, constant(2, half.dtype), name="mul"), name="global_norm")


def _as_sequence(t_list: Sequence[_Value]) -> list[_Value]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"t_list should be a sequence, not {t_list!r}: of one tensor it is [tensor].")
    return list(t_list)


def _values_of(t_list: Sequence[_Value]) -> list[Tensor | None]:
    """The tensors of a list, IndexedSlices by their values."""
    return [
        None if each is None
        else each.values if isinstance(each, IndexedSlices)
        else convert_to_tensor(each, name=f"t_{index}")
        for index, each in enumerate(t_list)
    ]  # fmt: skip


def _cross_shape(node: Operation) -> list[Dims]:
    dims = merge_dims(node.inputs[0].dims, node.inputs[1].dims)
    if dims is not None and (not dims or dims[-1] not in (None, 3)):
        raise ValueError(f"Dimension must be 3 but is {dims[-1] if dims else 'missing'}")
    return [None if dims is None else (*dims[:-1], 3)]


def _cross_gradient(node: Operation, grad: Tensor) -> Gradients:
    a, b = node.inputs
    return [cross(b, grad), cross(grad, a)]


@op("Cross", "a: T, b: T -> product: T", infer=_cross_shape, gradient=_cross_gradient, types={"T": REAL})
def cross(xp: ArrayModule, a: Array, b: Array) -> Result:
    """The vector products of vectors of three elements: `[..., 3], [..., 3] -> [..., 3]`.

    Args:
        a, b: [..., 3] tensors of one shape and one floating or integer dtype.
    """
    if a.shape[-1] != 3:
        raise FailedPreconditionError.of(f"Cross-products are only defined for 3-element vectors, got {a.shape[-1]}")
    return xp.cross(a, b)


def scalar_mul(scalar: TensorLike, x: TensorLike | IndexedSlices, name: str | None = None) -> Tensor | IndexedSlices:
    """`scalar * x` for a tensor or IndexedSlices.

    Args:
        scalar: scalar of the dtype of `x`.
        x: [...] tensor or IndexedSlices of a numeric dtype; the result is of the same kind and shape.

    Raises:
        ValueError: the scalar is none, as far as its shape is known.

    >>> sess.run(tf.scalar_mul(2.0, tf.constant([1.0, 3.0])))
    array([2., 6.], dtype=float32)
    """
    if not isinstance(x, IndexedSlices):
        x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, x.dtype.base_dtype, name="scalar")
    if scalar.dims != ():
        raise ValueError(f"Only scalar multiply works, got shape {format_dims(scalar.dims)}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return mul(scalar, x, name=name)


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients (that of the highest power first) at `x`, by Horner's rule.

    Args:
        coeffs: a list of tensors of one numeric dtype whose shapes broadcast with that of `x`.
        x: [...] tensor of their dtype.

    Raises:
        ValueError: `coeffs` is no list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type found {type(coeffs)}.")
    with input_scope(name, "polyval", (*coeffs, x)):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return zeros_like(x)
        terms = [convert_to_tensor(each, x.dtype.base_dtype, name=f"coeff_{i}") for i, each in enumerate(coeffs)]
        total = terms[0]
        for term in terms[1:]:
            total = add(term, mul(total, x, name="mul"), name="add")
        return total
