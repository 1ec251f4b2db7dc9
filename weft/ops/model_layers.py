"""tf.contrib.layers' functions: layers whose variables are model variables, with defaults that `arg_scope` sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from weft.framework.collections import GraphKeys
from weft.framework.graph import get_default_graph
from weft.framework.tensor_conversion import convert_to_tensor
from weft.ops.arg_scope import add_arg_scope
from weft.ops.fan_initializers import xavier_initializer
from weft.ops.identity import identity
from weft.ops.initializers import Zeros
from weft.ops.layer import Layer
from weft.ops.layer_conv import Conv2D
from weft.ops.layer_core import Dense, Dropout, Flatten
from weft.ops.layer_norm import BatchNormalization
from weft.ops.layer_pool import AveragePooling2D, MaxPooling2D
from weft.ops.nn_activation import relu
from weft.ops.variable_scope import VariableScope, variable_scope

_XAVIER = xavier_initializer()
_ZEROS = Zeros()
_LAYOUTS = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}


def _variable_getter(names: dict[str, str]) -> Callable[..., Any]:
    """A custom getter that makes model variables, and calls them as tf.contrib.layers does."""

    def getter(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        scope, slash, last = name.rpartition("/")
        collections = [*(kwargs.pop("collections", None) or [GraphKeys.GLOBAL_VARIABLES]), GraphKeys.MODEL_VARIABLES]
        return getter(f"{scope}{slash}{names.get(last, last)}", *args, collections=collections, **kwargs)

    return getter


_GETTER = _variable_getter({"kernel": "weights", "bias": "biases"})


def _layout(data_format: str | None) -> str:
    if data_format not in _LAYOUTS:
        raise ValueError("data_format has to be either NCHW or NHWC.")
    return _LAYOUTS[data_format]


def _collect(variables: Iterable[tuple[str, Any]], collections: Any) -> None:
    """Add variables to further collections: a list for all of them, or a dictionary by their part in the layer."""
    graph = get_default_graph()
    for part, variable in variables:
        chosen = collections.get(part) if isinstance(collections, dict) else collections
        if variable is not None and chosen:
            graph.add_to_collections(chosen, variable)


def _collected(outputs: Any, collections: Any) -> Any:
    if collections:
        get_default_graph().add_to_collections(collections, outputs)
    return outputs


def _with_weights(
    make: Callable[[VariableScope, bool], Any], inputs: Any, default_name: str, scope: Any, reuse: Any, biases_initializer: Any,
    normalizer: tuple[Any, Any], activation_fn: Any, collections: tuple[Any, Any],
) -> Any:  # fmt: skip
    """The outputs of a layer with weights, normalized or with biases, through the activation."""
    normalizer_fn, normalizer_params = normalizer
    with variable_scope(scope, default_name, [inputs], reuse=reuse, custom_getter=_GETTER) as opened:
        layer = make(opened, normalizer_fn is None and biases_initializer is not None)
        outputs = layer(inputs)
        _collect((("weights", layer.kernel), ("biases", layer.bias)), collections[0])
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return _collected(outputs, collections[1])


@add_arg_scope
def fully_connected(
    inputs: Any, num_outputs: int, activation_fn: Any = relu, normalizer_fn: Any = None, normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER, weights_regularizer: Any = None, biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
    trainable: bool = True, scope: Any = None,
) -> Any:  # fmt: skip
    """`activation_fn(inputs x weights + biases)`, over the last dimension of the inputs.

    Args:
        inputs: `[..., depth]`, of known depth.
        num_outputs: the number of outputs.
        activation_fn: None for none.
        normalizer_fn: a function such as `batch_norm` that stands for the biases, with `normalizer_params`.
        weights_initializer, biases_initializer: initializers; no biases when the latter is None.
        weights_regularizer, biases_regularizer: functions whose values are regularization losses.
        reuse: whether the variables exist already.
        variables_collections: further collections for the variables: a list, or a dictionary for "weights" and "biases".
        outputs_collections: collections for the outputs.
        trainable: whether the variables are to be trained.
        scope: the variable scope; a unique "fully_connected" when None.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    inputs = convert_to_tensor(inputs)

    def make(opened: VariableScope, use_bias: bool) -> Dense:
        return Dense(
            num_outputs, None, use_bias, weights_initializer, biases_initializer, weights_regularizer, biases_regularizer,
            trainable=trainable, name=opened.name, _scope=opened, _reuse=reuse,
        )  # fmt: skip

    return _with_weights(
        make, inputs, "fully_connected", scope, reuse, biases_initializer, (normalizer_fn, normalizer_params), activation_fn,
        (variables_collections, outputs_collections),
    )  # fmt: skip


@add_arg_scope
def conv2d(
    inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME", data_format: str | None = None,
    rate: Any = 1, activation_fn: Any = relu, normalizer_fn: Any = None, normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER, weights_regularizer: Any = None, biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
    trainable: bool = True, scope: Any = None,
) -> Any:  # fmt: skip
    """A convolution of images, biases and an activation; see `fully_connected`.

    Args:
        inputs: `[batch, height, width, channels]`, or with the channels second for `data_format` NCHW.
        num_outputs: the number of filters.
        kernel_size, stride, rate: one number, or one per spatial dimension.
        padding: "SAME" or "VALID".
    """
    inputs, layout = convert_to_tensor(inputs), _layout(data_format)

    def make(opened: VariableScope, use_bias: bool) -> Conv2D:
        return Conv2D(
            num_outputs, kernel_size, stride, padding, layout, rate, None, use_bias, weights_initializer, biases_initializer,
            weights_regularizer, biases_regularizer, trainable=trainable, name=opened.name, _scope=opened, _reuse=reuse,
        )  # fmt: skip

    return _with_weights(
        make, inputs, "Conv", scope, reuse, biases_initializer, (normalizer_fn, normalizer_params), activation_fn,
        (variables_collections, outputs_collections),
    )  # fmt: skip


@add_arg_scope
def batch_norm(
    inputs: Any, decay: Any = 0.999, center: bool = True, scale: bool = False, epsilon: float = 0.001,
    activation_fn: Any = None, param_initializers: Any = None, param_regularizers: Any = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS, is_training: Any = True, reuse: Any = None,
    variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True, fused: bool | None = None,
    data_format: str | None = "NHWC", scope: Any = None,
) -> Any:  # fmt: skip
    """Batch normalization over all dimensions but the channels.

    Args:
        inputs: a tensor of known rank.
        decay: how slowly the moving averages move.
        center, scale: whether there are an offset `beta` and a scale `gamma`.
        epsilon: what is added to the variance.
        activation_fn: None for none.
        param_initializers, param_regularizers: by the variable's name: beta, gamma, moving_mean, moving_variance.
        updates_collections: where the operations that move the averages go; None to run them with the outputs.
        is_training: whether to use the batch's own mean and variance; a bool tensor is possible.
        reuse, variables_collections, outputs_collections, trainable, scope: as of `fully_connected`.
        fused: whether one node is used; for images when None.
        data_format: NHWC or NCHW.
    """
    initializers, regularizers = param_initializers or {}, param_regularizers or {}
    named = {f"{name}_initializer": initializer for name, initializer in initializers.items()}
    named.update({f"{name}_regularizer": regularizer for name, regularizer in regularizers.items()})
    inputs = convert_to_tensor(inputs)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=_GETTER) as opened:
        layer = BatchNormalization(
            1 if _layout(data_format) == "channels_first" else -1, decay, epsilon, center, scale, fused=fused,
            trainable=trainable, name=opened.name, _scope=opened, _reuse=reuse, **named,
        )  # fmt: skip
        outputs = layer(inputs, training=is_training)
        parts = ("beta", "gamma", "moving_mean", "moving_variance")
        _collect(((part, getattr(layer, part)) for part in parts), variables_collections)
        if updates_collections is None:
            with get_default_graph().control_dependencies(layer.updates):
                outputs = identity(outputs)
        elif updates_collections != GraphKeys.UPDATE_OPS:
            for update in layer.updates:
                get_default_graph().add_to_collections(updates_collections, update)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return _collected(outputs, outputs_collections)


@add_arg_scope
def max_pool2d(
    inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
    outputs_collections: Any = None, scope: str | None = None,
) -> Any:  # fmt: skip
    """The maxima of windows of images."""
    layer = MaxPooling2D(kernel_size, stride, padding, _layout(data_format))
    return _without_variables(layer, "MaxPool2D", inputs, outputs_collections, scope)


@add_arg_scope
def avg_pool2d(
    inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
    outputs_collections: Any = None, scope: str | None = None,
) -> Any:  # fmt: skip
    """The means of windows of images."""
    layer = AveragePooling2D(kernel_size, stride, padding, _layout(data_format))
    return _without_variables(layer, "AvgPool2D", inputs, outputs_collections, scope)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """`[batch, k]` from `[batch, ...]`."""
    return _without_variables(Flatten(), "Flatten", inputs, outputs_collections, scope)


@add_arg_scope
def dropout(
    inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True, outputs_collections: Any = None,
    scope: str | None = None, seed: int | None = None,
) -> Any:  # fmt: skip
    """Set elements to zero at random in training, and scale the others by `1 / keep_prob`."""
    layer = Dropout(1 - keep_prob, noise_shape, seed)
    return _without_variables(layer, "Dropout", inputs, outputs_collections, scope, training=is_training)


def _without_variables(layer: Layer, default_name: str, inputs: Any, collections: Any, scope: str | None, **kwargs: Any) -> Any:
    with variable_scope(scope, default_name, [inputs]) as opened:
        layer._given_scope = opened
        return _collected(layer(convert_to_tensor(inputs), **kwargs), collections)
