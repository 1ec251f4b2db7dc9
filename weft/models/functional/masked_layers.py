"""tf.contrib.model_pruning's functions of layers: as those of tf.contrib.layers, with masks of the weights."""

from __future__ import annotations

from weft.framework.building.aliases import (
    Activation,
    Collections,
    Initializer,
    Regularizer,
    Sizes,
    TensorLike,
    VariableCollections,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import Normalizer, Options, layout, weighted
from weft.models.layers.masked import MaskedConv2D, MaskedFullyConnected
from weft.ops.arg_scope import add_arg_scope
from weft.ops.nn.activation import relu
from weft.ops.variables.fan_initializers import xavier_initializer
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_store import Reuse


@add_arg_scope
def masked_convolution(
    inputs: TensorLike, num_outputs: int, kernel_size: Sizes, stride: Sizes = 1, padding: str = "SAME",
    data_format: str | None = None, rate: Sizes = 1, activation_fn: Activation | None = relu,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer | None = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """A convolution of images by weights that pruning takes out, with biases or a normalizer, and an activation.

    Args:
        inputs: `[batch, height, width, channels]`, or the channels second with "NCHW".
        num_outputs: how many channels come out.
        kernel_size, stride, rate: a number for both dimensions, or one for each.
        padding: "SAME" or "VALID".
        data_format: "NHWC", which None means, or "NCHW".
        activation_fn: a function of the outputs; relu by default, None for none.
        normalizer_fn: a function such as `batch_norm`, in place of the biases.
        normalizer_params: its further arguments.
        weights_initializer, biases_initializer: initializers; there are no biases where theirs is None.
        weights_regularizer, biases_regularizer: functions whose values are regularization losses.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them for "weights" and "biases".
        outputs_collections: where to add the outputs.
        trainable: whether the variables are to be trained.
        scope: the variable scope, "Conv" when None.

    Raises:
        ValueError: the inputs are no images, or the layout is none of images.
    """
    channels = layout(data_format)
    rank = convert_to_tensor(inputs).shape.ndims
    if rank != 4:
        raise ValueError(
            f"Sparse Convolution not supported for input with rank {rank}; expected [batch, height, width, channels]."
        )
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"Unsupported data format {data_format}: expected NHWC or NCHW.")
    return weighted(
        lambda options: MaskedConv2D(num_outputs, kernel_size, stride, padding, channels, rate, **options),
        inputs, "Conv", scope, reuse, {
            "activation_fn": activation_fn, "normalizer_fn": normalizer_fn, "normalizer_params": normalizer_params,
            "weights_initializer": weights_initializer, "weights_regularizer": weights_regularizer,
            "biases_initializer": biases_initializer, "biases_regularizer": biases_regularizer,
            "variables_collections": variables_collections, "outputs_collections": outputs_collections,
            "trainable": trainable,
        },
    )  # fmt: skip


@add_arg_scope
def masked_fully_connected(
    inputs: TensorLike, num_outputs: int, activation_fn: Activation | None = relu,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer | None = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """`activation_fn(inputs x weights + biases)`, over the last dimension, by weights that pruning takes out.

    Args:
        inputs: `[..., depth]`, of known depth.
        num_outputs: the number of outputs.
        activation_fn: a function of the outputs; relu by default, None for none.
        normalizer_fn: a function such as `batch_norm`, in place of the biases.
        normalizer_params: its further arguments.
        weights_initializer, biases_initializer: initializers; there are no biases where theirs is None.
        weights_regularizer, biases_regularizer: functions whose values are regularization losses.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them for "weights" and "biases".
        outputs_collections: where to add the outputs.
        trainable: whether the variables are to be trained.
        scope: the variable scope, "fully_connected" when None.

    Raises:
        ValueError: `num_outputs` is no int.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    return weighted(
        lambda options: MaskedFullyConnected(num_outputs, **options),
        inputs, "fully_connected", scope, reuse, {
            "activation_fn": activation_fn, "normalizer_fn": normalizer_fn, "normalizer_params": normalizer_params,
            "weights_initializer": weights_initializer, "weights_regularizer": weights_regularizer,
            "biases_initializer": biases_initializer, "biases_regularizer": biases_regularizer,
            "variables_collections": variables_collections, "outputs_collections": outputs_collections,
            "trainable": trainable,
        },
    )  # fmt: skip
