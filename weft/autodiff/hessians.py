"""hessians: second derivatives."""

from __future__ import annotations

import functools
from typing import Any

from weft.autodiff.gradient_rows import looped_rows
from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape


def hessians(
    ys: TensorLike,
    xs: TensorLike,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The matrices of second derivatives of the sum of `ys`: for x of shape S a tensor of shape S + S.

    Args:
        ys, xs: a tensor or variable, or a list of them. A loop goes over the elements of each x.
        name: stands for nothing, as in TensorFlow: the nodes are named as those of `gradients`, in the scope of the call.
        colocate_gradients_with_ops, gate_gradients, aggregation_method: see `gradients`.

    Raises:
        ValueError: no y depends on an x.
    """
    wanted: list[VariableLike] = list(xs) if isinstance(xs, list | tuple) else [xs]
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    first = gradients(ys, wanted, **options)
    return [_matrix(gradient, x, options) for gradient, x in zip(first, wanted, strict=True)]


def _matrix(gradient: object, x: Any, options: dict[str, Any]) -> Tensor:
    if gradient is None:
        raise ValueError(f"hessians: no y depends on {x.name}")
    rows = looped_rows(reshape(convert_to_tensor(gradient), [-1]), [x], functools.partial(gradients, **options))[0]
    sizes = shape(x)
    twice = concat([sizes, sizes], 0)
    matrix = zeros(twice, x.dtype.base_dtype) if rows is None else reshape(rows, twice)
    matrix.set_shape(x.shape.concatenate(x.shape))
    return matrix
