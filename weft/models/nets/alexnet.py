"""AlexNet and OverFeat: five convolutions and three fully connected layers (Krizhevsky, 2014; Sermanet et al., 2014)."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_functions import conv2d, fully_connected
from weft.models.functional.weightless_layers import max_pool2d
from weft.models.nets.image_classifier import class_scores, outcome, sized, trunc_normal
from weft.ops.arg_scope import arg_scope
from weft.ops.nn.activation import relu
from weft.ops.variables.initializers import Constant, Initializer, Zeros
from weft.ops.variables.regularizers import l2_regularizer
from weft.ops.variables.variable_scope import variable_scope


def _trained_scope(weight_decay: float, biases: Initializer) -> dict[str, Nest]:
    with (
        arg_scope(
            [conv2d, fully_connected], activation_fn=relu, biases_initializer=biases,
            weights_regularizer=l2_regularizer(weight_decay),
        ),
        arg_scope([conv2d], padding="SAME"),
        arg_scope([max_pool2d], padding="VALID") as scope,
    ):  # fmt: skip
        return scope


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> dict[str, Nest]:
    """The arguments of AlexNet's layers, for `with arg_scope(alexnet_v2_arg_scope()):`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
    """
    return _trained_scope(weight_decay, Constant(0.1))


@sized(224)
def alexnet_v2(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True, scope: str = "alexnet_v2",
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    """AlexNet in its second form, for one device and without local response normalization.

    Args:
        inputs: images, `[batch, height, width, channels]`; 224 by 224 where `spatial_squeeze`.
        num_classes: the number of classes.
        is_training: whether dropout drops.
        dropout_keep_prob: which part of the hidden units dropout keeps.
        spatial_squeeze: whether to take the dimensions of places out of the result.
        scope: the variable scope.

    Returns:
        The scores of the classes, `[batch, num_classes]`, and the outputs of all layers by name.
    """
    with variable_scope(scope, "alexnet_v2", [inputs]) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[collection]):
            net = conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = conv2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            for number, depth in ((3, 384), (4, 384), (5, 256)):
                net = conv2d(net, depth, [3, 3], scope=f"conv{number}")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            net = _dense(net, num_classes, is_training, dropout_keep_prob, (4096, 4096), 5)
        return outcome(net, collection, opened.name, spatial_squeeze)


def overfeat_arg_scope(weight_decay: float = 0.0005) -> dict[str, Nest]:
    """The arguments of OverFeat's layers, for `with arg_scope(overfeat_arg_scope()):`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
    """
    return _trained_scope(weight_decay, Zeros())


def overfeat(
    inputs: Tensor, num_classes: int = 1000, is_training: bool | Tensor = True, dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True, scope: str = "overfeat",
) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
    """OverFeat's fast network, for images of 231 by 231 where `spatial_squeeze`.

    Args: those of `tf.contrib.slim.nets.alexnet.alexnet_v2`.

    Returns:
        The scores of the classes, `[batch, num_classes]`, and the outputs of all layers by name.
    """
    with variable_scope(scope, "overfeat", [inputs]) as opened:
        collection = f"{opened.name}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [2, 2], scope="pool1")
            net = conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = max_pool2d(net, [2, 2], scope="pool2")
            for number, depth in ((3, 512), (4, 1024), (5, 1024)):
                net = conv2d(net, depth, [3, 3], scope=f"conv{number}")
            net = max_pool2d(net, [2, 2], scope="pool5")
            net = _dense(net, num_classes, is_training, dropout_keep_prob, (3072, 4096), 6)
        return outcome(net, collection, opened.name, spatial_squeeze)


def _dense(
    net: Tensor, num_classes: int, is_training: bool | Tensor, keep_prob: float, depths: tuple[int, int], window: int
) -> Tensor:
    with arg_scope([conv2d], weights_initializer=trunc_normal(0.005), biases_initializer=Constant(0.1)):
        return class_scores(
            net, num_classes, is_training, keep_prob, depths, window, {"biases_initializer": Zeros()}
        )  # fmt: skip
