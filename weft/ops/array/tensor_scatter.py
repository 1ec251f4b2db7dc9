"""Updates put into a tensor that is no variable, at index vectors."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.filling import zeros_like
from weft.ops.array.gather_scatter import INDEX16, check_tensor_scattered, check_updates, gather_nd_node, scattered
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import Gradient, op, same_as_input
from weft.ops.math.elementwise import neg
from weft.ops.symbolic_gradient import vjp


def tensor_scattered_shape(node: Operation) -> list[Dims]:
    """The shape of the tensor, whose slices the updates are."""
    tensor, indices, updates = node.inputs
    if 0 in (tensor.dims or ()) and any(each.dims is not None and all(each.dims) for each in (indices, updates)):
        raise ValueError("Indices and updates specified for empty input")
    check_updates(indices.dims, updates.dims, tensor.dims)
    return same_as_input(node)


def _update_gradient(node: Operation, grad: Tensor) -> Gradients:
    _, indices, updates = node.inputs
    cleared = tensor_scatter_update_node(grad, indices, zeros_like(updates))
    return [cleared, None, gather_nd_node(grad, indices)]


def _tensor_scatter(name: str, how: str, gradient: Gradient) -> Callable[..., Tensor]:
    def kernel(xp: ArrayModule, tensor: Array, indices: Array, updates: Array, *, bad_indices_policy: str = "") -> Result:
        return scattered(xp, tensor, indices, -updates if how == "sub" else updates, "add" if how == "sub" else how)

    shapes = "`[*sizes, *inner], [*places, depth], [*places, *inner] -> [*sizes, *inner]`, depth being the number of `sizes`"
    kernel.__name__ = name
    kernel.__doc__ = f"The tensor with the updates put in at the index vectors ({how}): {shapes}."
    declare = op(
        name, "tensor: T, indices: Tindices, updates: T -> output: T", infer=tensor_scattered_shape, gradient=gradient,
        check=check_tensor_scattered, checks_traced=True, ranks={"tensor": AtLeast(1), "indices": AtLeast(1)},
        types={"Tindices": (*INDEX16, dtypes.uint16) if how == "set" else INDEX},
    )  # fmt: skip
    return declare(kernel)


tensor_scatter_update_node = _tensor_scatter("TensorScatterUpdate", "set", _update_gradient)
tensor_scatter_add_node = _tensor_scatter(
    "TensorScatterAdd", "add", lambda node, grad: [grad, None, gather_nd_node(grad, node.inputs[1])]
)
tensor_scatter_sub_node = _tensor_scatter(
    "TensorScatterSub", "sub", lambda node, grad: [grad, None, neg(gather_nd_node(grad, node.inputs[1]))]
)
tensor_scatter_max_node = _tensor_scatter("TensorScatterMax", "max", vjp)
tensor_scatter_min_node = _tensor_scatter("TensorScatterMin", "min", vjp)


def tensor_scatter_update(tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with the slices at `indices` replaced by `updates`.

    Args: those of `tf.tensor_scatter_add`.
    """
    return tensor_scatter_update_node(tensor, indices, updates, name=name)


def tensor_scatter_add(tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with `updates` added at `indices`.

    Args:
        tensor: [*sizes] tensor of a numeric dtype (of any dtype where elements are replaced).
        indices: [..., depth] tensor of int32 or int64: positions in its first `depth` dimensions.
        updates: [..., *rest] tensor of the dtype of `tensor`; `rest` are the sizes of `tensor` behind those.
    """
    return tensor_scatter_add_node(tensor, indices, updates, name=name)


def tensor_scatter_sub(tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
    """`tensor` with `updates` subtracted at `indices`.

    Args: those of `tf.tensor_scatter_add`.
    """
    return tensor_scatter_sub_node(tensor, indices, updates, name=name)
