"""contrib.layers' functions without variables: pooling, dropout, and changes of shape or scale."""

from __future__ import annotations

from weft.framework.building.aliases import (
    Collections,
    ShapeLike,
    Sizes,
    TensorLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.functional.layer_functions import layout
from weft.models.functional.layer_outputs import collected
from weft.models.layers import core as layer_core
from weft.models.layers.pool import AveragePooling2D, AveragePooling3D, MaxPooling2D, MaxPooling3D, Pooling
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.filling import one_hot
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.input_scope import input_scope
from weft.ops.nn.softmax import softmax as nn_softmax
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


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
    """The greatest values of windows over images, in the inputs' layout and dtype.

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "NCHW".
        kernel_size: the size of the window, one int or one for each spatial dimension.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "VALID", which uses whole windows only, or "SAME", which lets windows reach beyond the borders.
        data_format: "NHWC", channels last, or "NCHW", channels second.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the name scope, "MaxPool2D" when None.
    """
    return _pooled(MaxPooling2D, "MaxPool2D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def avg_pool2d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The means of windows over images, in the inputs' layout and dtype.

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "NCHW".
        kernel_size: the size of the window, one int or one for each spatial dimension.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "VALID", which uses whole windows only, or "SAME", which lets windows reach beyond the borders.
        data_format: "NHWC", channels last, or "NCHW", channels second.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the name scope, "AvgPool2D" when None.
    """
    return _pooled(AveragePooling2D, "AvgPool2D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def max_pool3d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NDHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The greatest values of windows over volumes, in the inputs' layout and dtype.

    Args:
        inputs: `[batch, depth, height, width, channels]` floats, or `[batch, channels, depth, height, width]` with "NCDHW".
        kernel_size: the size of the window, one int or one for each spatial dimension.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "VALID", which uses whole windows only, or "SAME", which lets windows reach beyond the borders.
        data_format: "NDHWC" or "NCDHW".
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the name scope, "MaxPool3D" when None.

    Raises:
        ValueError: the layout is another, or the inputs' rank is not 5.
    """
    _check_volumes(data_format)
    return _pooled(MaxPooling3D, "MaxPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def avg_pool3d(
    inputs: TensorLike, kernel_size: Sizes, stride: Sizes = 2, padding: str = "VALID", data_format: str = "NDHWC",
    outputs_collections: Collections = None, scope: str | None = None,
) -> Tensor:  # fmt: skip
    """The means of windows over volumes, in the inputs' layout and dtype.

    Args:
        inputs: `[batch, depth, height, width, channels]` floats, or `[batch, channels, depth, height, width]` with "NCDHW".
        kernel_size: the size of the window, one int or one for each spatial dimension.
        stride: how far the window moves, one int or one for each spatial dimension.
        padding: "VALID", which uses whole windows only, or "SAME", which lets windows reach beyond the borders.
        data_format: "NDHWC" or "NCDHW".
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the name scope, "AvgPool3D" when None.

    Raises:
        ValueError: the layout is another, or the inputs' rank is not 5.
    """
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
    """The inputs with elements dropped at random while training, what is kept divided by `keep_prob`; else the inputs.

    Args:
        inputs: `[...]` floats.
        keep_prob: [] float, the probability from 0 to 1 that an element is kept.
        noise_shape: the shape of what is drawn, broadcast to that of the inputs; the inputs' when None.
        is_training: a bool, or a [] bool tensor. The default True drops, other than that of tf.layers.dropout.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the variable scope, "Dropout" when None.
        seed: the op seed, an int.

    Returns:
        The shape and dtype of `inputs`.
    """
    with variable_scope(scope, "Dropout", [inputs]) as opened:
        layer = layer_core.Dropout(1 - keep_prob, noise_shape, seed, opened.name, _scope=opened)
        return collected(outputs_collections, opened.name, layer(inputs, training=is_training))


@add_arg_scope
def flatten(inputs: TensorLike, outputs_collections: Collections = None, scope: str | None = None) -> Tensor:
    """All dimensions but the batch made one: `[batch, ...] -> [batch, size]`.

    Args:
        inputs: `[batch, ...]` of known rank, 2 at least.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the name scope, "Flatten" when None.

    Raises:
        ValueError: the rank is not known, or less than 2.
    """
    with input_scope(scope, "Flatten", (inputs,)) as name:
        inputs = convert_to_tensor(inputs)
        if inputs.shape.ndims is None or inputs.shape.ndims < 2:
            raise ValueError(f"Inputs must have a rank of at least 2, got shape {inputs.shape}")
        return collected(outputs_collections, name.rstrip("/"), layer_core.flatten(inputs))


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: TensorLike = 1.0,
    off_value: TensorLike = 0.0,
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> Tensor:
    """`[batch, num_classes]` with `on_value` at each label and `off_value` elsewhere.

    Args:
        labels: `[batch]` integers from 0 on; one that is no class gives a row of `off_value`.
        num_classes: the number of classes, an int.
        on_value, off_value: [] numbers of one dtype, which is that of the result.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        scope: the name scope, "OneHotEncoding" when None.
    """
    with input_scope(scope, "OneHotEncoding", (labels,)) as name:
        labels = convert_to_tensor(labels)
        if labels.dtype.base_dtype == dtypes.int32:
            get_default_graph().node_count.total += 1  # of TensorFlow's cast to int64
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collected(outputs_collections, name.rstrip("/"), outputs)


@add_arg_scope
def softmax(logits: TensorLike, scope: ScopeLike = None) -> Tensor:
    """Softmax over the last dimension of logits of any rank.

    Args:
        logits: `[..., classes]` floats; the number of classes must be known.
        scope: the variable scope, "softmax" when None.

    Returns:
        Probabilities in the shape and dtype of `logits`.
    """
    with variable_scope(scope, "softmax", [logits]):
        logits = convert_to_tensor(logits)
        flat = reshape(logits, [-1, logits.shape[-1].value])
        predictions = reshape(nn_softmax(flat), shape(logits))
        predictions.set_shape(logits.shape)
        return predictions
