"""contrib.layers' further convolutions: the transpose that makes volumes larger, and one filter for all channels."""

from __future__ import annotations

from weft.framework.building.aliases import (
    Activation,
    Collections,
    Initializer,
    Nest,
    Regularizer,
    Sizes,
    TensorLike,
    VariableCollections,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import Normalizer, Options, finished, layout, weighted
from weft.models.functional.layer_outputs import variable_collections
from weft.models.functional.static_choices import two_element_tuple
from weft.models.layers.conv import Conv3DTranspose
from weft.models.layers.layer import Layer
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.tiling import tile
from weft.ops.nn.activation import relu
from weft.ops.nn.bias import bias_add
from weft.ops.nn.separable_conv import depthwise_conv2d
from weft.ops.variables.fan_initializers import xavier_initializer
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse


@add_arg_scope
def convolution3d_transpose(
    inputs: TensorLike, num_outputs: int, kernel_size: Sizes, stride: Sizes = 1, padding: str = "SAME",
    data_format: str = "NDHWC", activation_fn: Activation | None = relu,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """`activation_fn` of the transpose of a convolution with weights and biases, which makes volumes larger.

    It is `convolution2d_transpose` of `[batch, depth, height, width, channels]`, or of volumes with the channels second where
    `data_format` is "NCDHW"; the scope is "Conv3d_transpose" when None.

    Args: those of `tf.contrib.layers.convolution2d_transpose`.

    Returns:
        The activated outputs, with `num_outputs` channels.

    Raises:
        ValueError: the rank or the layout does not fit.
    """
    options = dict(locals())

    def make(shared: dict[str, Nest]) -> Layer:
        return Conv3DTranspose(num_outputs, kernel_size, stride, padding, layout(data_format), **shared)

    return weighted(make, inputs, "Conv3d_transpose", scope, reuse, options)


@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 1, padding: str = "SAME",
    activation_fn: Activation | None = relu, normalizer_fn: Normalizer | None = None,
    normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer | None = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """The same filter over each channel of images, for itself, biases, and `activation_fn`.

    Args:
        inputs: `[batch, height, width, channels]` floats, of known channels.
        kernel_size: the size of the window, one int or two.
        stride: how far the window moves, one int or two.
        padding: "SAME", which pads with zeros, or "VALID", which uses whole windows only.
        activation_fn: a function of the outputs; relu by default, None for none.
        normalizer_fn: a function such as `batch_norm`, in place of the biases.
        normalizer_params: a dict of its further arguments.
        weights_initializer, biases_initializer: make the variables' first values; there are no biases where theirs is None.
        weights_regularizer, biases_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        scope: the variable scope, "ConvInPlane" when None.

    Returns:
        The activated outputs, with the channels of the inputs.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        kind, channels = inputs.dtype.base_dtype, int(inputs.shape.as_list()[-1] or 0)
        height, width = two_element_tuple(kernel_size)
        down, across = two_element_tuple(stride)
        weights = model_variable(
            "weights", [height, width, 1, 1], kind, weights_initializer, weights_regularizer, trainable,
            collections=variable_collections(variables_collections, "weights"),
        )  # fmt: skip
        outputs = depthwise_conv2d(inputs, tile(weights, [1, 1, channels, 1]), [1, down, across, 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            biases = model_variable(
                "biases", [channels], kind, biases_initializer, biases_regularizer, trainable,
                collections=variable_collections(variables_collections, "biases"),
            )  # fmt: skip
            outputs = bias_add(outputs, biases)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, opened, outputs_collections)


conv3d_transpose, conv2d_in_plane = convolution3d_transpose, convolution2d_in_plane
