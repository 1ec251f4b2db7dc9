"""hessians: second derivatives."""

from __future__ import annotations

from typing import Any

from weft.autodiff.gradients import gradients
from weft.framework.aliases import TensorLike, VariableLike
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.shape_ops import reshape
from weft.ops.array.stacking import stack


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
        ys, xs: a tensor or variable, or a list of them. The shape of each x must be known: the graph gets nodes for
            each of its elements.
        name: stands for nothing, as in TensorFlow: the nodes are named as those of `gradients`, in the scope of the call.
        colocate_gradients_with_ops, gate_gradients, aggregation_method: see `gradients`.

    Raises:
        ValueError: an x has no known shape, or no y depends on it.
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
    dims = x.get_shape().as_list() if x.get_shape().ndims is not None else [None]
    if None in dims:
        raise ValueError(f"hessians: the shape of {x.name} must be known, but it is {x.get_shape()}")
    if gradient is None:
        raise ValueError(f"hessians: no y depends on {x.name}")
    flat = reshape(convert_to_tensor(gradient), [-1])
    size = x.get_shape().num_elements()
    rows = [_row(gather(flat, index), x, options) for index in range(size)]
    if not rows:
        return reshape(flat, [*dims, *dims])
    return reshape(stack(rows), [*dims, *dims])


def _row(element: Tensor, x: Any, options: dict[str, Any]) -> Tensor:
    row = gradients(element, x, **options)[0]
    return zeros_like(x) if row is None else convert_to_tensor(row)
