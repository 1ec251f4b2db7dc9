"""contrib.layers' first layers: a product, a bias and an activation, whose variables go to collections of their own."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from weft.framework.building.aliases import Activation, Initializer, Nest, Regularizer, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack, unstack
from weft.ops.math.products import matmul
from weft.ops.nn.activation import relu
from weft.ops.nn.bias import bias_add
from weft.ops.variables.fan_initializers import xavier_initializer
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.variable_scope import variable_scope


def legacy_fully_connected(
    x: TensorLike, num_output_units: int, activation_fn: Activation | None = None,
    weight_init: Initializer = xavier_initializer(),  # noqa: B008
    bias_init: Initializer | None = Zeros(),  # noqa: B008
    name: str | None = None, weight_collections: Sequence[str] = (GraphKeys.WEIGHTS,),
    bias_collections: Sequence[str] = (GraphKeys.BIASES,), output_collections: Sequence[str] = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True, weight_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
) -> Tensor:  # fmt: skip
    """`activation_fn(x w + b)` over the last dimension.

    Args:
        x: `[..., depth]`, of known depth and rank.
        num_output_units: the size of the result's last dimension.
        activation_fn: a function of the outputs; None for none.
        weight_init, bias_init: initializers; there is no bias where its is None.
        name: the variable scope, "fully_connected" when None.
        weight_collections, bias_collections: where the variables go, beside those of all variables.
        output_collections: where the outputs go.
        trainable: whether the variables are to be trained.
        weight_regularizer, bias_regularizer: functions whose values are regularization losses.

    Returns:
        `[..., num_output_units]`.

    Raises:
        ValueError: the rank, or the size of the last dimension, is not known, or the rank is 0 or 1.
    """
    graph = get_default_graph()
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        dims = x.shape.as_list() if x.shape.ndims is not None else []
        if len(dims) < 2 or dims[-1] is None:
            raise ValueError(f"legacy_fully_connected: x must be [..., depth] with a known depth, but is {x.shape}")
        kind = x.dtype.base_dtype
        kept = [*weight_collections, GraphKeys.GLOBAL_VARIABLES]
        w = get_variable(
            "weights", [dims[-1], num_output_units], kind, weight_init, weight_regularizer, trainable, list(dict.fromkeys(kept))
        )
        flat = x if len(dims) == 2 else reshape(x, [-1, dims[-1]])
        y = matmul(flat, w)
        if bias_init is not None:
            kept = [*bias_collections, GraphKeys.GLOBAL_VARIABLES]
            b = get_variable(
                "bias", [num_output_units], kind, bias_init, bias_regularizer, trainable, list(dict.fromkeys(kept))
            )
            y = bias_add(y, b)
        if len(dims) > 2:
            sizes: list[Nest] = [*unstack(shape_of(x), num=len(dims))[:-1], num_output_units]
            y = reshape(y, stack(sizes))
            y.set_shape([*dims[:-1], np.int64(num_output_units)])
        y = y if activation_fn is None else activation_fn(y)
        graph.add_to_collections(list(output_collections), y)
        return y


legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu)
