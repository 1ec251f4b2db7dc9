"""VGG: convolutions of 3 by 3 in groups, each group followed by pooling (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import conv2d, fully_connected, repeat
from weft.models.functional.weightless_layers import max_pool2d
from weft.models.nets.image_classifier import class_scores, outcome, sized
from weft.ops.arg_scope import arg_scope
from weft.ops.nn.activation import relu
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.regularizers import l2_regularizer
from weft.ops.variables.variable_scope import variable_scope

_DEPTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> dict[str, Nest]:
    """The arguments that VGG's layers had when it was trained, for `with arg_scope(vgg_arg_scope()):`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
    """
    with (
        arg_scope(
            [conv2d, fully_connected], activation_fn=relu, weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=Zeros(),
        ),
        arg_scope([conv2d], padding="SAME") as scope,
    ):  # fmt: skip
        return scope


def _vgg(
    counts: Sequence[int], inputs: Tensor, num_classes: int, is_training: bool | Tensor, keep_prob: float,
    spatial_squeeze: bool, scope: str, default: str,
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    with variable_scope(scope, default, [inputs]) as opened:
        # vgg_19 alone names its collection after the variable scope, in TensorFlow too.
        collection = f"{opened.name if default == 'vgg_19' else opened.original_name_scope}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = inputs
            for number, (count, depth) in enumerate(zip(counts, _DEPTHS, strict=True), 1):
                net = repeat(net, count, conv2d, depth, [3, 3], scope=f"conv{number}")
                net = max_pool2d(net, [2, 2], scope=f"pool{number}")
            net = class_scores(net, num_classes, is_training, keep_prob, (4096, 4096), 7, {})
        return outcome(net, collection, opened.name, spatial_squeeze)


@sized(224)
def vgg_a(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True, scope: str = "vgg_a",
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    """VGG with 11 layers.

    Args:
        inputs: images, `[batch, height, width, channels]`, at least 224 by 224 if `spatial_squeeze` is to be possible.
        num_classes: the number of classes.
        is_training: whether dropout drops.
        dropout_keep_prob: which part of the hidden units dropout keeps.
        spatial_squeeze: whether to take the dimensions of places, both 1 for images of 224 by 224, out of the result.
        scope: the variable scope.

    Returns:
        The scores of the classes, `[batch, num_classes]`, and the outputs of all layers by name.
    """
    return _vgg((1, 1, 2, 2, 2), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, "vgg_a")


@sized(224)
def vgg_16(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True, scope: str = "vgg_16",
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    """VGG with 16 layers.

    Args: those of `tf.contrib.slim.nets.vgg.vgg_a`.

    Returns:
        The scores of the classes, `[batch, num_classes]`, and the outputs of all layers by name.
    """
    return _vgg((2, 2, 3, 3, 3), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, "vgg_16")


@sized(224)
def vgg_19(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True, scope: str = "vgg_19",
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    """VGG with 19 layers.

    Args: those of `tf.contrib.slim.nets.vgg.vgg_a`.

    Returns:
        The scores of the classes, `[batch, num_classes]`, and the outputs of all layers by name.
    """
    return _vgg((2, 2, 4, 4, 4), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, "vgg_19")


vgg_d = vgg_16
vgg_e = vgg_19
