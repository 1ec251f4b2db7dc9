"""contrib.layers.separable_conv2d: a convolution of each channel by itself, and one across them where outputs are asked for."""

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
from weft.models.functional.layer_functions import Normalizer, Options, finished, layout, model_variables
from weft.models.functional.layer_outputs import add_variable, variable_collections
from weft.models.layers.conv_arguments import per_axis
from weft.models.layers.separable import SeparableConv2D
from weft.ops.arg_scope import add_arg_scope
from weft.ops.nn.activation import relu
from weft.ops.nn.bias import bias_add
from weft.ops.nn.separable_conv import depthwise_conv2d
from weft.ops.variables.fan_initializers import xavier_initializer
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.scopes import ScopeLike, VariableScope
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse


@add_arg_scope
def separable_convolution2d(
    inputs: TensorLike, num_outputs: int | None, kernel_size: Sizes, depth_multiplier: int = 1, stride: Sizes = 1,
    padding: str = "SAME", data_format: str = "NHWC", rate: Sizes = 1, activation_fn: Activation | None = relu,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    pointwise_initializer: Initializer | None = None, weights_regularizer: Regularizer | None = None,
    biases_initializer: Initializer | None = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """A convolution of images in two parts: "depthwise_weights" for each channel, "pointwise_weights" across all channels.

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "NCHW".
        num_outputs: the number of output channels; None for the first part alone.
        kernel_size: the size of the window, one int or one for each spatial dimension.
        depth_multiplier: how many channels the first part makes of each channel.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "SAME", which pads with zeros, or "VALID", which uses whole windows only.
        data_format: "NHWC", channels last, or "NCHW", channels second.
        rate: the distance between the elements that a window takes, one int or one for each spatial dimension.
        activation_fn: a function of the outputs; relu by default, None for none.
        normalizer_fn: a function such as `batch_norm`, in place of the biases.
        normalizer_params: a dict of its further arguments.
        weights_initializer: makes the first value of the first part's weights; Glorot's uniform numbers by default.
        pointwise_initializer: the second part's; `weights_initializer` when None.
        weights_regularizer, biases_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES.
        biases_initializer: makes the biases' first value; there are no biases when None.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        scope: the variable scope, "SeparableConv2d" when None.

    Returns:
        The activated outputs.
    """
    options = dict(locals())
    names = {
        "bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"
    }  # fmt: skip
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=model_variables(names)) as opened:
        inputs = convert_to_tensor(inputs)
        outputs = _depthwise(inputs, options) if num_outputs is None else _separable(inputs, options, opened)
        return finished(outputs, normalizer_fn, normalizer_params, activation_fn, opened, outputs_collections)


def _separable(inputs: Tensor, options: dict[str, Nest], opened: VariableScope) -> Tensor:
    has_bias = options["normalizer_fn"] is None and options["biases_initializer"] is not None
    first = options["weights_initializer"]
    layer = SeparableConv2D(
        options["num_outputs"], options["kernel_size"], options["stride"], options["padding"],
        layout(options["data_format"]), options["rate"], options["depth_multiplier"], None, has_bias,
        depthwise_initializer=first, pointwise_initializer=options["pointwise_initializer"] or first,
        bias_initializer=options["biases_initializer"] or Zeros(), depthwise_regularizer=options["weights_regularizer"],
        pointwise_regularizer=options["weights_regularizer"], bias_regularizer=options["biases_regularizer"],
        trainable=options["trainable"], name=opened.name, dtype=inputs.dtype.base_dtype, _scope=opened,
        _reuse=options["reuse"],
    )  # fmt: skip
    outputs = layer(inputs)
    for variable, name in (
        (layer.depthwise_kernel, "weights"), (layer.pointwise_kernel, "weights"), (layer.bias, "biases")
    ):  # fmt: skip
        add_variable(variable, options["variables_collections"], name)
    return outputs


def _depthwise(inputs: Tensor, options: dict[str, Nest]) -> Tensor:
    data_format, dtype = options["data_format"], inputs.dtype.base_dtype
    channels, multiplier = inputs.shape[1 if data_format == "NCHW" else 3].value, options["depth_multiplier"]
    weights = model_variable(
        "depthwise_weights", [*per_axis(options["kernel_size"], 2, "kernel_size"), channels, multiplier], dtype,
        options["weights_initializer"], options["weights_regularizer"], options["trainable"],
        collections=variable_collections(options["variables_collections"], "weights"),
    )  # fmt: skip
    high, wide = per_axis(options["stride"], 2, "stride")
    strides = [1, 1, high, wide] if data_format == "NCHW" else [1, high, wide, 1]
    outputs = depthwise_conv2d(
        inputs, weights, strides, options["padding"], list(per_axis(options["rate"], 2, "rate")), data_format=data_format
    )
    if options["normalizer_fn"] is not None or options["biases_initializer"] is None:
        return outputs
    biases = model_variable(
        "biases", [channels * multiplier], dtype, options["biases_initializer"], options["biases_regularizer"],
        options["trainable"], collections=variable_collections(options["variables_collections"], "biases"),
    )  # fmt: skip
    return bias_add(outputs, biases, data_format)
