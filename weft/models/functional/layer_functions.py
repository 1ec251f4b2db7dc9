"""contrib.layers' functions: layers that normalize and activate, and put their variables and outputs into collections."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from weft.framework.building.aliases import (
    Activation,
    Collections,
    Getter,
    Initializer,
    Nest,
    Regularizer,
    Sizes,
    TensorLike,
    VariableCollections,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.functional.layer_outputs import add_variable, collected, variable_collections
from weft.models.layers import core as layer_core
from weft.models.layers.conv import Conv1D, Conv2D, Conv2DTranspose, Conv3D
from weft.models.layers.layer import Layer
from weft.ops.arg_scope import add_arg_scope
from weft.ops.nn.activation import elu as elu_function
from weft.ops.nn.activation import relu as relu_function
from weft.ops.nn.activation import relu6 as relu6_function
from weft.ops.nn.bias import bias_add as nn_bias_add
from weft.ops.nn.embedding import embedding_lookup
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


def weighted(
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

    Returns:
        [..., num_outputs] tensor of the inputs' type.

    Raises:
        ValueError: `num_outputs` is no int.

    >>> logits = tf.contrib.slim.fully_connected(tf.ones([2, 3]), 10, activation_fn=None, scope="logits")
    >>> logits.shape.as_list(), [variable.op.name for variable in tf.contrib.slim.get_model_variables()]
    ([2, 10], ['logits/weights', 'logits/biases'])
    """
    options = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of [{int}], got {type(num_outputs)}.")
    return weighted(lambda shared: layer_core.Dense(num_outputs, **shared), inputs, "fully_connected", scope, reuse, options)


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
        inputs: `[batch, ...spatial, channels]` floats, or `[batch, channels, ...spatial]` with a `data_format` such as
            "NCHW".
        num_outputs: the number of output channels.
        kernel_size: the size of the window, one int or one for each spatial dimension.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "SAME", which pads with zeros, or "VALID", which uses whole windows only.
        data_format: "NWC", "NHWC" or "NDHWC", or with the channels second "NCW", "NCHW" or "NCDHW"; channels last when None.
        rate: the distance between the elements that a window takes, one int or one for each spatial dimension.
        activation_fn: a function of the outputs; relu by default, None for none.
        normalizer_fn: a function such as `batch_norm`, in place of the biases.
        normalizer_params: a dict of its further arguments.
        weights_initializer, biases_initializer: make the variables' first values, by default Glorot's uniform numbers and
            zeros; there are no biases where theirs is None.
        weights_regularizer, biases_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        scope: the variable scope, "Conv" when None.
        conv_dims: how many spatial dimensions there must be; any when None.

    Returns:
        The activated outputs, with `num_outputs` channels.

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

    return weighted(make, inputs, "Conv", scope, reuse, options)


def _convolution_of(dims: int) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Tensor:
        return convolution(*args, **{**kwargs, "conv_dims": dims})

    function.__name__ = f"convolution{dims}d"
    function.__doc__ = (
        f"`convolution` of inputs with {dims} spatial dimension{'s' if dims > 1 else ''}, whatever `conv_dims` is.\n\n"
        "Args: those of `tf.contrib.layers.convolution`.\n\n"
        "Returns:\n    The activated outputs, with `num_outputs` channels.\n\n"
        "Raises:\n    ValueError: the rank or the layout does not fit.\n"
    )
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
    """`activation_fn` of the transpose of a convolution with weights and biases, which makes images larger.

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "NCHW".
        num_outputs: the number of output channels.
        kernel_size: the size of the window, one int or one for each spatial dimension.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "SAME", which pads with zeros, or "VALID", which uses whole windows only.
        data_format: "NHWC", channels last, or "NCHW", channels second.
        activation_fn: a function of the outputs; relu by default, None for none.
        normalizer_fn: a function such as `batch_norm`, in place of the biases.
        normalizer_params: a dict of its further arguments.
        weights_initializer, biases_initializer: make the variables' first values, by default Glorot's uniform numbers and
            zeros; there are no biases where theirs is None.
        weights_regularizer, biases_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        scope: the variable scope, "Conv2d_transpose" when None.

    Returns:
        The activated outputs, with `num_outputs` channels.

    Raises:
        ValueError: the rank or the layout does not fit.
    """
    options = dict(locals())

    def make(shared: dict[str, Any]) -> Layer:
        return Conv2DTranspose(num_outputs, kernel_size, stride, padding, layout(data_format), **shared)

    return weighted(make, inputs, "Conv2d_transpose", scope, reuse, options)


@add_arg_scope
def bias_add(
    inputs: TensorLike, activation_fn: Activation | None = None, initializer: Initializer = Zeros(),  # noqa: B008
    regularizer: Regularizer | None = None, reuse: Reuse = None, variables_collections: VariableCollections = None,
    outputs_collections: Collections = None, trainable: bool = True, data_format: str = "NHWC",
    scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """The inputs with a bias per channel, a variable "biases" that this makes, activated.

    Args:
        inputs: `[..., channels]` numbers, or `[batch, channels, ...]` with "NCHW".
        activation_fn: a function of the outputs; None for none.
        initializer: makes the bias's first value.
        regularizer: a function of the bias; what it returns is added to the collection REGULARIZATION_LOSSES.
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        data_format: "NHWC", channels last, or "NCHW", channels second.
        scope: the variable scope, "BiasAdd" when None.
    """
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        channels = inputs.shape[1 if data_format.startswith("NC") else -1].value
        biases = model_variable(
            "biases", [channels], inputs.dtype.base_dtype, initializer, regularizer, trainable,
            collections=variable_collections(variables_collections, "biases"),
        )  # fmt: skip
        outputs = nn_bias_add(inputs, biases, data_format)
        return finished(outputs, None, None, activation_fn, opened, outputs_collections)


def embed_sequence(
    ids: TensorLike, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
    initializer: Initializer | None = None, regularizer: Regularizer | None = None, trainable: bool = True,
    scope: ScopeLike = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """The rows of a table for ids, as `[..., embed_dim]` float32.

    Args:
        ids: `[...]` int32 or int64, from 0 to `vocab_size - 1`.
        vocab_size, embed_dim: the table's sizes, ints; needed unless it is reused.
        unique: accepted; the rows of ids that come twice are looked up twice.
        initializer: makes the table's first value; that of the scope when None.
        regularizer: a function of the table; what it returns is added to the collection REGULARIZATION_LOSSES.
        trainable: whether the table is added to the collection TRAINABLE_VARIABLES.
        scope: the variable scope, "EmbedSequence" when None.
        reuse: whether the table exists already; needs `scope`.

    Raises:
        ValueError: a size is not given, nor is the table reused.
    """
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


def repeat(inputs: Nest, repetitions: int, layer: Callable[..., Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """A layer applied again and again, each with variables of its own: scopes `NAME/NAME_1`, `NAME/NAME_2` ...

    Args:
        inputs: what the first layer takes, usually a tensor.
        repetitions: how many times, an int.
        layer: a function of the inputs and a `scope`, such as `tf.contrib.layers.conv2d`.
        args, kwargs: the layer's further arguments; a `scope` among them is NAME, in place of the layer's own name.

    Returns:
        What the last layer returns.
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        scope = scope or getattr(layer, "__name__", None) or layer.func.__name__  # type: ignore[attr-defined]
        for number in range(1, repetitions + 1):
            inputs = layer(inputs, *args, **kwargs, scope=f"{scope}_{number}")
        outputs: Tensor = inputs
        return outputs


def stack(inputs: Nest, layer: Callable[..., Tensor], stack_args: Iterable[Any], **kwargs: Any) -> Tensor:
    """A layer applied once for each item of `stack_args`, its further arguments: scopes `NAME/NAME_1`, `NAME/NAME_2` ...

    Args:
        inputs: what the first layer takes, usually a tensor.
        layer: a function of the inputs, the item and a `scope`, such as `tf.contrib.layers.fully_connected`.
        stack_args: for each layer its second argument, or a list or tuple of its further arguments.
        kwargs: arguments by name for all layers; a `scope` among them is NAME, in place of the layer's own name.

    Returns:
        What the last layer returns.
    """
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
