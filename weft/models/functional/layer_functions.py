"""contrib.layers' functions: layers that normalize and activate, and put their variables and outputs into collections."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from weft.framework import dtypes
from weft.framework.aliases import (
    Activation,
    Collections,
    Getter,
    Initializer,
    Regularizer,
    ShapeLike,
    Sizes,
    TensorLike,
    VariableCollections,
)
from weft.framework.collections import GraphKeys
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.models.functional.layer_outputs import add_variable, collected, variable_collections
from weft.models.layers import core as layer_core
from weft.models.layers.conv import Conv1D, Conv2D, Conv2DTranspose, Conv3D
from weft.models.layers.layer import Layer
from weft.models.layers.pool import AveragePooling2D, AveragePooling3D, MaxPooling2D, MaxPooling3D, Pooling
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.filling import one_hot
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.input_scope import input_scope
from weft.ops.nn.activation import elu as elu_function
from weft.ops.nn.activation import relu as relu_function
from weft.ops.nn.activation import relu6 as relu6_function
from weft.ops.nn.bias import bias_add as nn_bias_add
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.nn.softmax import softmax as nn_softmax
from weft.ops.variables.fan_initializers import xavier_initializer
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.scopes import ScopeLike, VariableScope
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse

_NAMES = {"kernel": "weights", "bias": "biases"}
_LAYOUTS = {"NHWC": "channels_last", "NWC": "channels_last", "NDHWC": "channels_last", None: "channels_last",
            "NCHW": "channels_first", "NCW": "channels_first", "NCDHW": "channels_first"}  # fmt: skip


# A function such as `batch_norm`, and its further arguments.
Normalizer = Callable[..., Tensor]
Options = Mapping[str, Any]


def model_variables(names: Mapping[str, str] = _NAMES) -> Getter:
    """A custom getter that makes model variables, by contrib's names for what the layers call them."""

    def made(getter: Getter, name: str, *args: object, collections: Sequence[str] | None = None, **kwargs: object) -> Any:
        scope, slash, last = name.rpartition("/")
        wanted = [*(collections or (GraphKeys.GLOBAL_VARIABLES,)), GraphKeys.MODEL_VARIABLES]
        return getter(f"{scope}{slash}{names.get(last, last)}", *args, collections=list(dict.fromkeys(wanted)), **kwargs)

    return made


def layout(data_format: str | None) -> str:
    """What tf.layers call a layout; ValueError for one that is none."""
    if data_format not in _LAYOUTS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    return _LAYOUTS[data_format]


def finished(
    outputs: Tensor, normalizer_fn: Normalizer | None, normalizer_params: Options | None,
    activation_fn: Activation | None, scope: VariableScope, outputs_collections: Collections,
) -> Tensor:  # fmt: skip
    """The outputs, normalized and activated as asked for, in the collections for them."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collected(outputs_collections, scope.name, outputs)


def _weighted(
    make: Callable[[dict[str, Any]], Layer],
    inputs: TensorLike,
    default: str,
    scope: ScopeLike,
    reuse: Reuse,
    options: dict[str, Any],
) -> Tensor:
    """A layer with weights and biases; `make` gets the arguments that all such layers share."""
    normalizer_fn, biases_initializer = options["normalizer_fn"], options["biases_initializer"]
    with variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=model_variables()) as opened:
        inputs = convert_to_tensor(inputs)
        layer = make({
            "activation": None, "use_bias": normalizer_fn is None and biases_initializer is not None,
            "kernel_initializer": options["weights_initializer"], "bias_initializer": biases_initializer,
            "kernel_regularizer": options["weights_regularizer"], "bias_regularizer": options["biases_regularizer"],
            "trainable": options["trainable"], "name": opened.name, "dtype": inputs.dtype.base_dtype,
            "_scope": opened, "_reuse": reuse,
        })  # fmt: skip
        outputs = layer(inputs)
        add_variable(layer.kernel, options["variables_collections"], "weights")  # type: ignore[attr-defined]
        add_variable(layer.bias, options["variables_collections"], "biases")  # type: ignore[attr-defined]
        return finished(
            outputs, normalizer_fn, options["normalizer_params"], options["activation_fn"], opened,
            options["outputs_collections"],
        )  # fmt: skip


@add_arg_scope
def fully_connected(
    inputs: TensorLike, num_outputs: int, activation_fn: Activation | None = relu_function,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """`activation_fn(inputs x weights + biases)`, over the last dimension of the inputs.

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
    """
    options = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of [{int}], got {type(num_outputs)}.")
    return _weighted(lambda shared: layer_core.Dense(num_outputs, **shared), inputs, "fully_connected", scope, reuse, options)


@add_arg_scope
def convolution(
    inputs: TensorLike, num_outputs: int, kernel_size: Sizes, stride: Sizes = 1, padding: str = "SAME",
    data_format: str | None = None, rate: Sizes = 1, activation_fn: Activation | None = relu_function,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None, conv_dims: int | None = None,
) -> Tensor:  # fmt: skip
    """`activation_fn` of a convolution with weights and biases, over sequences, images or volumes as the inputs' rank says.

    Args:
        inputs: `[batch, ...spatial, channels]`, or `[batch, channels, ...spatial]` with a `data_format` such as "NCHW".
        num_outputs: the number of outputs.
        kernel_size, stride, rate: one number, or one per spatial dimension.
        padding: "SAME" or "VALID".
        data_format: the layout.
        conv_dims: how many spatial dimensions there must be; any when None.

    The other arguments are those of `fully_connected`.

    Raises:
        ValueError: the rank or the layout does not fit.
    """
    options = dict(locals())
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    kind = {3: Conv1D, 4: Conv2D, 5: Conv3D}.get(rank or 0)
    if kind is None or conv_dims not in (None, (rank or 0) - 2):
        raise ValueError(
            f"Convolution expects input with rank {'3, 4 or 5' if conv_dims is None else conv_dims + 2}, got {rank}"
        )

    def make(shared: dict[str, Any]) -> Layer:
        return kind(num_outputs, kernel_size, stride, padding, layout(data_format), rate, **shared)

    return _weighted(make, inputs, "Conv", scope, reuse, options)


def _convolution_of(dims: int) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Tensor:
        return convolution(*args, **{**kwargs, "conv_dims": dims})

    function.__name__ = f"convolution{dims}d"
    function.__doc__ = f"`convolution` of inputs with {dims} spatial dimension{'s' if dims > 1 else ''}."
    # Its signature tells arg_scope which arguments there are.
    function.__wrapped__ = convolution  # type: ignore[attr-defined]
    function._key_op = f"convolution{dims}d"  # type: ignore[attr-defined]
    return add_arg_scope(function)


convolution1d, convolution2d, convolution3d = (_convolution_of(dims) for dims in (1, 2, 3))


@add_arg_scope
def convolution2d_transpose(
    inputs: TensorLike, num_outputs: int, kernel_size: Sizes, stride: Sizes = 1, padding: str = "SAME",
    data_format: str = "NHWC", activation_fn: Activation | None = relu_function,
    normalizer_fn: Normalizer | None = None, normalizer_params: Options | None = None,
    weights_initializer: Initializer = xavier_initializer(),  # noqa: B008
    weights_regularizer: Regularizer | None = None, biases_initializer: Initializer = Zeros(),  # noqa: B008
    biases_regularizer: Regularizer | None = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None,
    trainable: bool = True, scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """`activation_fn` of the transpose of a convolution; arguments as of `convolution`, without `rate`."""
    options = dict(locals())

    def make(shared: dict[str, Any]) -> Layer:
        return Conv2DTranspose(num_outputs, kernel_size, stride, padding, layout(data_format), **shared)

    return _weighted(make, inputs, "Conv2d_transpose", scope, reuse, options)


def _pooled(
    kind: type[Pooling], default: str, inputs: TensorLike, kernel_size: Sizes,
    stride: Sizes, padding: str, data_format: str, collections: Collections, scope: str | None,
) -> Tensor:  # fmt: skip
    with input_scope(scope, default, (inputs,)) as name:
        layer = kind(kernel_size, stride, padding, layout(data_format))
        inputs = convert_to_tensor(inputs)
        layer.check_inputs(inputs)
        outputs = layer.call(inputs)
        return collected(collections, name.rstrip("/"), outputs)


@add_arg_scope
def max_pool2d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The greatest values of windows over images; `kernel_size` and `stride` are one number, or one per dimension."""
    return _pooled(MaxPooling2D, "MaxPool2D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def avg_pool2d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The means of windows over images; `kernel_size` and `stride` are one number, or one per dimension."""
    return _pooled(AveragePooling2D, "AvgPool2D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def max_pool3d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NDHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The greatest values of windows over volumes; `kernel_size` and `stride` are one number, or one per dimension."""
    _check_volumes(data_format)
    return _pooled(MaxPooling3D, "MaxPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def avg_pool3d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NDHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The means of windows over volumes; `kernel_size` and `stride` are one number, or one per dimension."""
    _check_volumes(data_format)
    return _pooled(AveragePooling3D, "AvgPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


def _check_volumes(data_format: str) -> None:
    if data_format not in ("NDHWC", "NCDHW"):
        raise ValueError(f"data_format has to be either NCDHW or NDHWC. It is {data_format!r}.")


@add_arg_scope
def dropout(
    inputs: TensorLike, keep_prob: float | Tensor = 0.5, noise_shape: ShapeLike = None,
    is_training: TensorLike = True, outputs_collections: Collections = None, scope: ScopeLike = None,
    seed: int | None = None,
) -> Tensor:  # fmt: skip
    """Drop elements with probability `1 - keep_prob` while `is_training`, a bool or a tensor of one."""
    with variable_scope(scope, "Dropout", [inputs]) as opened:
        layer = layer_core.Dropout(1 - keep_prob, noise_shape, seed, opened.name, _scope=opened)
        return collected(outputs_collections, opened.name, layer(inputs, training=is_training))


@add_arg_scope
def flatten(inputs: TensorLike, outputs_collections: Collections = None, scope: str | None = None) -> Tensor:
    """All dimensions but the batch made one; the rank must be known and at least 2."""
    with input_scope(scope, "Flatten", (inputs,)) as name:
        inputs = convert_to_tensor(inputs)
        if inputs.shape.ndims is None or inputs.shape.ndims < 2:
            raise ValueError(f"Inputs must have a rank of at least 2, got shape {inputs.shape}")
        return collected(outputs_collections, name.rstrip("/"), layer_core.flatten(inputs))


@add_arg_scope
def bias_add(
    inputs: TensorLike, activation_fn: Activation | None = None, initializer: Initializer = Zeros(),  # noqa: B008
    regularizer: Regularizer | None = None, reuse: Reuse = None, variables_collections: VariableCollections = None,
    outputs_collections: Collections = None, trainable: bool = True, data_format: str = "NHWC",
    scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """Add a bias per channel and activate; arguments as of `fully_connected`."""
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        channels = inputs.shape[1 if data_format.startswith("NC") else -1].value
        biases = model_variable(
            "biases", [channels], inputs.dtype.base_dtype, initializer, regularizer, trainable,
            collections=variable_collections(variables_collections, "biases"),
        )  # fmt: skip
        outputs = nn_bias_add(inputs, biases, data_format)
        return finished(outputs, None, None, activation_fn, opened, outputs_collections)


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: TensorLike = 1.0,
    off_value: TensorLike = 0.0,
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> Tensor:
    """`[batch, num_classes]` with `on_value` at each label and `off_value` elsewhere."""
    with input_scope(scope, "OneHotEncoding", (labels,)) as name:
        labels = convert_to_tensor(labels)
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collected(outputs_collections, name.rstrip("/"), outputs)


@add_arg_scope
def softmax(logits: TensorLike, scope: ScopeLike = None) -> Tensor:
    """Softmax over the last dimension of logits of any rank."""
    with variable_scope(scope, "softmax", [logits]):
        logits = convert_to_tensor(logits)
        flat = reshape(logits, [-1, logits.shape[-1].value])
        predictions = reshape(nn_softmax(flat), shape(logits))
        predictions.set_shape(logits.shape)
        return predictions


def embed_sequence(
    ids: TensorLike, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
    initializer: Initializer | None = None, regularizer: Regularizer | None = None, trainable: bool = True,
    scope: ScopeLike = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The rows `[..., embed_dim]` of a table `[vocab_size, embed_dim]` for ids; ValueError without its sizes, unless reused."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(f"Must specify vocab size and embedding dimension when not reusing. Got vocab_size={vocab_size} and "
                         f"embed_dim={embed_dim}")  # fmt: skip
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        sizes = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        table = model_variable(
            "embeddings", shape=sizes, dtype=dtypes.float32, initializer=initializer, regularizer=regularizer,
            trainable=trainable,
        )  # fmt: skip
        return embedding_lookup(table, ids)


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """A layer applied again and again, each with variables of its own: scopes `NAME/NAME_1`, `NAME/NAME_2` ..."""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        scope = scope or getattr(layer, "__name__", None) or layer.func.__name__  # type: ignore[attr-defined]
        for number in range(1, repetitions + 1):
            inputs = layer(inputs, *args, **kwargs, scope=f"{scope}_{number}")
        outputs: Tensor = inputs
        return outputs


def stack(inputs: Any, layer: Callable[..., Tensor], stack_args: Iterable[Any], **kwargs: Any) -> Tensor:
    """A layer applied once for each item of `stack_args`, its further arguments: scopes `NAME/NAME_1`, `NAME/NAME_2` ..."""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Stack", [inputs]):
        scope = scope or getattr(layer, "__name__", None) or layer.func.__name__  # type: ignore[attr-defined]
        for number, given in enumerate(stack_args, 1):
            given = given if isinstance(given, list | tuple) else [given]
            inputs = layer(inputs, *given, **kwargs, scope=f"{scope}_{number}")
        outputs: Tensor = inputs
        return outputs


relu = functools.partial(fully_connected, activation_fn=relu_function)
relu6 = functools.partial(fully_connected, activation_fn=relu6_function)
elu = functools.partial(fully_connected, activation_fn=elu_function)
linear = functools.partial(fully_connected, activation_fn=None)
conv1d, conv2d, conv3d, conv2d_transpose = convolution1d, convolution2d, convolution3d, convolution2d_transpose
