"""Placeholders: nodes whose values the program feeds."""

from __future__ import annotations

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, DynamicShape, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, brackets, dims_compatible, format_dims
from weft.framework.types.dtypes import DType, datatype_name
from weft.framework.types.tensor_shape import as_dims
from weft.ops.declaration import Role, from_attr, op


@op("Placeholder", "-> output: dtype", role=Role.PLACEHOLDER, infer=from_attr("shape"), gradient=None)
def placeholder_node(ctx: OpContext, *, dtype: DType, shape: Dims = None) -> Result:
    """Refuse a step that needs this value and was not fed it: `-> [*shape]`."""
    raise _not_fed(ctx.node_name, dtype, shape)


@op("PlaceholderV2", "-> output: dtype", role=Role.PLACEHOLDER, infer=from_attr("shape"), gradient=None)
def placeholder_v2(ctx: OpContext, *, dtype: DType, shape: Dims) -> Result:
    """An older spelling of Placeholder, for graphs from elsewhere: `-> [*shape]`."""
    raise _not_fed(ctx.node_name, dtype, shape)


def _not_fed(name: str, dtype: DType, shape: Dims) -> InvalidArgumentError:
    kind = datatype_name(dtype)
    sizes = f" and shape {brackets(shape)}" if shape else ""
    return InvalidArgumentError.of(f"You must feed a value for placeholder tensor '{name}' with dtype {kind}{sizes}")


def placeholder(dtype: DTypeLike, shape: DynamicShape | None = None, name: str | None = None) -> Tensor:
    """Make a tensor whose value is fed to each run that needs it.

    Args:
        dtype: the type of the values.
        shape: what is known of their shape; None when nothing is.
        name: the node's name.

    >>> x = tf.placeholder(tf.float32, [None, 2])
    >>> sess.run(x * 2, {x: [[1, 2]]})
    array([[2., 4.]], dtype=float32)

    Returns:
        A tensor of that dtype and shape, whose value each run is fed.

    Raises:
        TypeError: `dtype` is a shape, which comes second.
    """
    if isinstance(dtype, list | tuple):
        raise TypeError(
            f"Expected DataType for argument 'dtype' not {dtype}: the type comes first, tf.placeholder(tf.float32, {dtype})"
        )
    return placeholder_node(dtype=dtype, shape=shape, name=name)


def _default_shape(node: Operation) -> list[Dims]:
    wanted, given = node.attrs["shape"], node.inputs[0].dims
    if not dims_compatible(wanted, given):
        raise ValueError(f"Shapes must be compatible: the default has {format_dims(given)}, not {format_dims(wanted)}")
    return [wanted]


@op(
    "PlaceholderWithDefault",
    "input: dtype -> output: dtype",
    role=Role.DEFAULT,
    infer=_default_shape,
    gradient=lambda node, grad: [grad],
)
def placeholder_default_node(xp: ArrayModule, input: Array, *, dtype: DType, shape: Dims) -> Result:
    """The default, unless a value is fed: `[...] -> [...]`."""
    return input


def placeholder_with_default(input: TensorLike, shape: DynamicShape, name: str | None = None) -> Tensor:
    """Pass `input` through unless another value, of a shape that fits `shape`, is fed.

    Args:
        input: [...] tensor of any dtype: the value where none is fed.
        shape: what is known of the shape of a value, with None for a size that may change; `input` fits it.

    Returns:
        A tensor of that shape and of the dtype of `input`.
    """
    return placeholder_default_node(input, shape=as_dims(shape), name=name)
