"""The Inception networks: branches of convolutions of several sizes side by side (Szegedy et al., 2014 and 2015)."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Collections, Nest
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.models.functional.batch_norm import batch_norm
from weft.models.functional.layer_functions import conv2d, fully_connected
from weft.models.functional.weightless_layers import avg_pool2d, dropout, max_pool2d, softmax
from weft.models.nets.image_classifier import EndPoints, sized, trunc_normal
from weft.models.nets.inception_plans import INCEPTION_V1, INCEPTION_V2, INCEPTION_V3
from weft.models.nets.planned_layers import Depth, built
from weft.ops.arg_scope import arg_scope
from weft.ops.array.shape_ops import squeeze
from weft.ops.nn.activation import relu
from weft.ops.variables.fan_initializers import variance_scaling_initializer
from weft.ops.variables.regularizers import l2_regularizer
from weft.ops.variables.scopes import VariableScope
from weft.ops.variables.variable_scope import variable_scope

Net = tuple[Tensor, EndPoints]
Scope = str | VariableScope | None


def _thinned(depth_multiplier: float, min_depth: int) -> Depth:
    if depth_multiplier <= 0:
        raise ValueError(f"depth_multiplier is not greater than zero. It is {depth_multiplier}.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def _arg_scope(weight_decay: float, normalizer: Callable[..., Tensor] | None, norm: dict[str, Nest]) -> dict[str, Nest]:
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=relu, normalizer_fn=normalizer,
            normalizer_params=norm,
        ) as scope,
    ):  # fmt: skip
        return scope


def _norm(collection: str, **further: object) -> dict[str, Nest]:
    averages = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
    return {
        "decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS, "variables_collections": averages,
        **further,
    }  # fmt: skip


def inception_v1_arg_scope(
    weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
) -> dict[str, Nest]:
    """The arguments of Inception v1's layers, for `with arg_scope(inception_v1_arg_scope()):`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
        use_batch_norm: whether convolutions are normalized over batches.
        batch_norm_var_collection: the collection of the averages.
    """
    if not use_batch_norm:
        return _arg_scope(weight_decay, None, {})
    return _arg_scope(weight_decay, batch_norm, _norm(batch_norm_var_collection))


def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars") -> dict[str, Nest]:
    """The arguments that Inception v2's layers had when it was trained, for `with arg_scope(...):`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
        batch_norm_var_collection: the collection of the moving averages.
    """
    return _arg_scope(weight_decay, batch_norm, _norm(batch_norm_var_collection))


def inception_v3_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars", batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001, updates_collections: Collections = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> dict[str, Nest]:  # fmt: skip
    """The arguments of Inception v3's layers; see `inception_v1_arg_scope`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
        batch_norm_var_collection: the collection of the averages.
        batch_norm_decay: that of the averages.
        batch_norm_epsilon: what normalization adds to the variance.
        updates_collections: where the averages' updates are put; None has them done with the step.
        use_fused_batchnorm: whether one op normalizes.
    """
    norm = _norm(
        batch_norm_var_collection, decay=batch_norm_decay, epsilon=batch_norm_epsilon,
        updates_collections=updates_collections, fused=use_fused_batchnorm,
    )  # fmt: skip
    return _arg_scope(weight_decay, batch_norm, norm)


def inception_v1_base(inputs: Tensor, final_endpoint: str = "Mixed_5c", scope: Scope = "InceptionV1") -> Net:
    """Inception v1 up to one of its layers.

    Args:
        inputs: images, `[batch, height, width, channels]`.
        final_endpoint: the last layer: Conv2d_1a_7x7, MaxPool_2a_3x3, Conv2d_2b_1x1, Conv2d_2c_3x3, MaxPool_3a_3x3,
            Mixed_3b to 3c, MaxPool_4a_3x3, Mixed_4b to 4f, MaxPool_5a_2x2, Mixed_5b or Mixed_5c.
        scope: the variable scope.

    Returns:
        That layer's output and all outputs by name.

    Raises:
        ValueError: there is no such layer.
    """
    weighted = arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01))
    with weighted:
        return built(INCEPTION_V1, inputs, final_endpoint, lambda depth: depth, scope, "InceptionV1")


def inception_v2_base(
    inputs: Tensor, final_endpoint: str = "Mixed_5c", min_depth: int = 16, depth_multiplier: float = 1.0, scope: Scope = None
) -> Net:
    """Inception v2 up to one of its layers; see `inception_v1_base`.

    Args:
        inputs: images, `[batch, height, width, channels]`.
        final_endpoint: the last layer; there are Mixed_3b to 3c, 4a to 4e and 5a to 5c.
        min_depth: the least depth of a layer.
        depth_multiplier: which part of its depth each layer has.
        scope: the variable scope.

    Returns:
        The outputs of the last layer, and those of all layers by name.
    """
    depth = _thinned(depth_multiplier, min_depth)
    return built(INCEPTION_V2, inputs, final_endpoint, depth, scope, "InceptionV2", separable=True)


def inception_v3_base(
    inputs: Tensor, final_endpoint: str = "Mixed_7c", min_depth: int = 16, depth_multiplier: float = 1.0, scope: Scope = None
) -> Net:
    """Inception v3 up to one of its layers; there are Mixed_5b to 5d, 6a to 6e and 7a to 7c.

    Args: those of `tf.contrib.slim.nets.inception.inception_v2_base`.

    Returns:
        The outputs of the last layer, and those of all layers by name.
    """
    depth = _thinned(depth_multiplier, min_depth)
    return built(INCEPTION_V3, inputs, final_endpoint, depth, scope, "InceptionV3", stem_padding="VALID")


def _fitting(net: Tensor, window: list[int]) -> list[int]:
    """The window, no larger than feature maps of known size."""
    sizes = net.get_shape().as_list()[1:3]
    return window if None in sizes else [min(size or 0, most) for size, most in zip(sizes, window, strict=True)]


def _classified(
    net: Tensor, end_points: EndPoints, pool: Callable[[Tensor], Tensor], num_classes: int,
    prediction_fn: Callable[..., Tensor], spatial_squeeze: bool, name: str, within: bool = False,
) -> Net:  # fmt: skip
    """The scores and predictions of features; the latter are named `within` the former's scope in the first network."""
    with variable_scope("Logits"):
        logits = _scores(pool(net), num_classes, spatial_squeeze, name)
        end_points["Logits"] = logits
        if within:
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    if not within:
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _scores(net: Tensor, num_classes: int, spatial_squeeze: bool, name: str, **further: object) -> Tensor:
    logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=name, **further)
    return squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


@sized(224)
def inception_v1(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., Tensor] = softmax, spatial_squeeze: bool = True, reuse: bool | None = None,
    scope: Scope = "InceptionV1",
) -> Net:  # fmt: skip
    """Inception v1, which is GoogLeNet.

    Args:
        inputs: images, `[batch, 224, 224, channels]`.
        num_classes: the number of classes.
        is_training: whether dropout drops and batch normalization uses the batch's statistics.
        dropout_keep_prob: which part of the last features dropout keeps.
        prediction_fn: makes predictions of scores; takes `scope`.
        spatial_squeeze: whether to take the dimensions of places out of the scores.
        reuse: whether the variables exist already; needs `scope`.
        scope: the variable scope.

    Returns:
        The scores, `[batch, num_classes]`, and the outputs of all layers, `Logits` and `Predictions` by name.
    """
    with (
        variable_scope(scope, "InceptionV1", [inputs], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=opened)

        def pool(net: Tensor) -> Tensor:
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            return dropout(net, dropout_keep_prob, scope="Dropout_0b")

        return _classified(net, end_points, pool, num_classes, prediction_fn, spatial_squeeze, "Conv2d_0c_1x1", True)


@sized(224)
def inception_v2(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.8,
    min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True, reuse: bool | None = None, scope: Scope = "InceptionV2",
) -> Net:  # fmt: skip
    """Inception v2.

    Args:
        inputs: images, `[batch, 224, 224, channels]` float32.
        num_classes: the number of classes.
        is_training: whether dropout drops and batch normalization uses the batch's statistics, a bool or a [] bool tensor.
        dropout_keep_prob: which part of the last features dropout keeps.
        min_depth: the least depth of a layer.
        depth_multiplier: which part of its depth each layer has.
        prediction_fn: makes predictions of scores; takes `scope`.
        spatial_squeeze: whether to take the dimensions of places out of the scores.
        reuse: whether the variables exist already; needs `scope`.
        scope: the variable scope.

    Returns:
        The scores, `[batch, num_classes]`, and the outputs of all layers, `Logits` and `Predictions` by name.

    Raises:
        ValueError: `depth_multiplier` is not positive.
    """
    with (
        variable_scope(scope, "InceptionV2", [inputs], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=opened)

        def pool(net: Tensor) -> Tensor:
            return _pooled(net, [7, 7], dropout_keep_prob)

        return _classified(net, end_points, pool, num_classes, prediction_fn, spatial_squeeze, "Conv2d_1c_1x1")


def _pooled(net: Tensor, window: list[int], keep_prob: float) -> Tensor:
    window = _fitting(net, window)
    net = avg_pool2d(net, window, padding="VALID", scope="AvgPool_1a_{}x{}".format(*window))
    return dropout(net, keep_prob=keep_prob, scope="Dropout_1b")


@sized(299)
def inception_v3(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.8,
    min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True, reuse: bool | None = None, scope: Scope = "InceptionV3",
) -> Net:  # fmt: skip
    """Inception v3, for images of 299 by 299.

    The outputs have `AuxLogits`, too: scores that are made of the layer Mixed_6e, for a loss beside that of the last ones.

    Args: those of `tf.contrib.slim.nets.inception.inception_v2`.

    Returns:
        The scores, `[batch, num_classes]`, and the outputs of all layers, `Logits` and `Predictions` by name.

    Raises:
        ValueError: `depth_multiplier` is not positive.
    """
    depth = _thinned(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=opened)
        end_points["AuxLogits"] = _auxiliary(end_points["Mixed_6e"], depth, num_classes, spatial_squeeze)

        def pool(net: Tensor) -> Tensor:
            end_points["PreLogits"] = net = _pooled(net, [8, 8], dropout_keep_prob)
            return net

        return _classified(net, end_points, pool, num_classes, prediction_fn, spatial_squeeze, "Conv2d_1c_1x1")


def _auxiliary(net: Tensor, depth: Depth, num_classes: int, spatial_squeeze: bool) -> Tensor:
    layers = arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME")
    with layers, variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        window = _fitting(net, [5, 5])
        net = conv2d(
            net, depth(768), window, weights_initializer=trunc_normal(0.01), padding="VALID",
            scope="Conv2d_2a_{}x{}".format(*window),
        )  # fmt: skip
        return _scores(net, num_classes, spatial_squeeze, "Conv2d_2b_1x1", weights_initializer=trunc_normal(0.001))
