"""Shapes of batches joined from their parts, and a linear map whose variables are made where it is called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Initializer, ShapeLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dimension import Dimension
from weft.framework.types.tensor_shape import TensorShape
from weft.models.rnn.cell import BIAS_NAME, WEIGHTS_NAME
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims
from weft.ops.math.products import matmul
from weft.ops.nn.bias import bias_add
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope


def joined_shape(prefix: ShapeLike | Tensor, suffix: ShapeLike | Tensor, static: bool = False) -> Tensor | list[int | None]:
    """The shape of `prefix` followed by `suffix`, each a size, a shape, or a tensor of rank 0 or 1.

    Args:
        prefix, suffix: the parts.
        static: return a list in which unknown sizes are None, rather than a tensor.

    Raises:
        ValueError: a part is not fully known and a tensor is wanted.
    """
    if not static:
        return concat([_as_tensor(prefix), _as_tensor(suffix)], 0)
    parts = [TensorShape(each.dims) if isinstance(each, Tensor) else _as_shape(each) for each in (prefix, suffix)]
    return [*parts[0].as_list(), *parts[1].as_list()]


def linear_map(
    args: Tensor | Sequence[Tensor],
    output_size: int,
    bias: bool,
    bias_initializer: Initializer | None = None,
    kernel_initializer: Initializer | None = None,
) -> Tensor:
    """`concat(args) W + b`, `[batch, output_size]`; the variables `kernel` and `bias` are of the variable scope around it.

    Args:
        args: tensors `[batch, depth]`.
        output_size: the depth of the result.
        bias: whether there is a `b`.
        bias_initializer, kernel_initializer: of the two; zeros and the scope's when None.

    Raises:
        ValueError: there are no tensors, or they are not matrices of known depths.
    """
    tensors = [args] if isinstance(args, Tensor) else list(args or ())
    if not tensors:
        raise ValueError("`args` must be specified")
    shapes = [each.shape for each in tensors]
    for given in shapes:
        if given.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        if given[1].value is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {given}, but saw {given[1]}")
    dtype = tensors[0].dtype.base_dtype
    depth = sum(given[1].value for given in shapes)
    kernel = get_variable(WEIGHTS_NAME, [depth, output_size], dtype=dtype, initializer=kernel_initializer)
    product = matmul(tensors[0] if len(tensors) == 1 else concat(tensors, 1), kernel)
    if not bias:
        return product
    with variable_scope(get_variable_scope()) as inner:
        inner.set_partitioner(None)
        shift = get_variable(BIAS_NAME, [output_size], dtype=dtype, initializer=bias_initializer or zeros_initializer(dtype))
    return bias_add(product, shift)


def _as_tensor(part: ShapeLike | Tensor) -> Tensor:
    if isinstance(part, Tensor):
        if part.dims is not None and len(part.dims) == 0:
            return expand_dims(part, 0)
        if part.dims is None or len(part.dims) == 1:
            return part
        raise ValueError(f"prefix and suffix tensors must be scalars or vectors, but saw: {part}")
    shape = _as_shape(part)
    if not shape.is_fully_defined():
        raise ValueError(f"prefix and suffix must be fully defined, but saw: {shape}")
    return constant(np.asarray(shape.as_list(), np.int32))


def _as_shape(part: ShapeLike) -> TensorShape:
    return TensorShape([part]) if isinstance(part, int | Dimension) else TensorShape(part)
