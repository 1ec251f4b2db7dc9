"""Residual networks in their second form: units normalize and activate their inputs first (He et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import Collections
from weft.framework.nodes.operation import Tensor
from weft.models.functional.batch_norm import batch_norm
from weft.models.functional.layer_functions import conv2d
from weft.models.functional.layer_outputs import collected
from weft.models.functional.static_choices import last_dimension
from weft.models.nets.image_classifier import sized
from weft.models.nets.residual import Block, block_of, blocks_of, conv2d_same, subsample
from weft.models.nets.residual_networks import Built, Form, built
from weft.ops.arg_scope import add_arg_scope
from weft.ops.nn.activation import relu
from weft.ops.variables.variable_scope import variable_scope


@add_arg_scope
def bottleneck(
    inputs: Tensor, depth: int, depth_bottleneck: int, stride: int, rate: int = 1, outputs_collections: Collections = None,
    scope: str | None = None,
) -> Tensor:  # fmt: skip
    """A unit: three convolutions, of which the one in the middle has fewer channels, around which the inputs are added.

    Args:
        inputs: `[batch, height, width, channels]`.
        depth: the channels of the result.
        depth_bottleneck: those in between.
        stride: of the result.
        rate: the distance of the places that the filters in the middle take in.
        outputs_collections: where to add the result.
        scope: the variable scope.
    """
    bare = {"normalizer_fn": None, "activation_fn": None}
    with variable_scope(scope, "bottleneck_v2", [inputs]) as opened:
        active = batch_norm(inputs, activation_fn=relu, scope="preact")
        if depth == last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(active, depth, [1, 1], stride=stride, scope="shortcut", **bare)
        residual = conv2d(active, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, scope="conv3", **bare)
        return collected(outputs_collections, opened.name, shortcut + residual)


_FORM: Final = Form("resnet_v2", bottleneck, normalizes_first=True)


@sized(224)
def resnet_v2(
    inputs: Tensor, blocks: Sequence[Block], num_classes: int | None = None, is_training: bool | Tensor = True,
    global_pool: bool = True, output_stride: int | None = None, include_root_block: bool = True,
    reuse: bool | None = None, scope: str | None = None,
) -> Built:  # fmt: skip
    """A residual network of given blocks.

    Args:
        inputs: images, `[batch, height, width, channels]`.
        blocks: such as those of `resnet_v2_block`.
        num_classes: the number of classes; None for features without a last layer.
        is_training: whether batch normalization uses the batch's statistics.
        global_pool: whether to average over all places.
        output_stride: the stride of the result against the images, a multiple of 4; None for what the blocks make.
        include_root_block: whether the first convolution, 7 by 7 with stride 2, and pooling come before the blocks.
        reuse: whether the variables exist already; needs `scope`.
        scope: the variable scope.

    Returns:
        `[batch, 1, 1, num_classes or depth]`, with a height and width where not `global_pool`; and the outputs of all
        blocks by name.

    Raises:
        ValueError: the `output_stride` cannot be had.
    """
    return built(_FORM, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope)


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of bottleneck units, whose depth is four times `base_depth`; the last one has the stride.

    Args:
        scope: its variable scope.
        base_depth: the depth in the middle of its units.
        num_units: how many they are.
        stride: that of the block.
    """
    return block_of(bottleneck, scope, base_depth, num_units, stride)


def resnet_v2_50(
    inputs: Tensor, num_classes: int | None = None, is_training: bool | Tensor = True, global_pool: bool = True,
    output_stride: int | None = None, reuse: bool | None = None, scope: str = "resnet_v2_50",
) -> Built:  # fmt: skip
    """The residual network of 50 layers, version 2 of its units.

    Args:
        inputs: images, `[batch, height, width, channels]` float32.
        num_classes: the number of classes; None for features without a last layer.
        is_training: whether batch normalization uses the batch's statistics, a bool or a [] bool tensor.
        global_pool: whether to average over all places.
        output_stride: the stride of the result against the images, a multiple of 4; None for what the blocks make.
        reuse: whether the variables exist already; needs `scope`.
        scope: the variable scope.

    Returns:
        `[batch, 1, 1, num_classes or depth]`, with a height and width where not `global_pool`; and the outputs of all blocks
        by name.

    Raises:
        ValueError: the `output_stride` cannot be had.
    """
    blocks = blocks_of(bottleneck, (3, 4, 6, 3))
    return built(_FORM, inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v2_101(
    inputs: Tensor, num_classes: int | None = None, is_training: bool | Tensor = True, global_pool: bool = True,
    output_stride: int | None = None, reuse: bool | None = None, scope: str = "resnet_v2_101",
) -> Built:  # fmt: skip
    """The residual network of 101 layers, version 2 of its units.

    Args: those of `tf.contrib.slim.nets.resnet_v2.resnet_v2_50`.

    Returns:
        `[batch, 1, 1, num_classes or depth]`, with a height and width where not `global_pool`; and the outputs of all blocks
        by name.

    Raises:
        ValueError: the `output_stride` cannot be had.
    """
    blocks = blocks_of(bottleneck, (3, 4, 23, 3))
    return built(_FORM, inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v2_152(
    inputs: Tensor, num_classes: int | None = None, is_training: bool | Tensor = True, global_pool: bool = True,
    output_stride: int | None = None, reuse: bool | None = None, scope: str = "resnet_v2_152",
) -> Built:  # fmt: skip
    """The residual network of 152 layers, version 2 of its units.

    Args: those of `tf.contrib.slim.nets.resnet_v2.resnet_v2_50`.

    Returns:
        `[batch, 1, 1, num_classes or depth]`, with a height and width where not `global_pool`; and the outputs of all blocks
        by name.

    Raises:
        ValueError: the `output_stride` cannot be had.
    """
    blocks = blocks_of(bottleneck, (3, 8, 36, 3))
    return built(_FORM, inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)


def resnet_v2_200(
    inputs: Tensor, num_classes: int | None = None, is_training: bool | Tensor = True, global_pool: bool = True,
    output_stride: int | None = None, reuse: bool | None = None, scope: str = "resnet_v2_200",
) -> Built:  # fmt: skip
    """The residual network of 200 layers, version 2 of its units.

    Args: those of `tf.contrib.slim.nets.resnet_v2.resnet_v2_50`.

    Returns:
        `[batch, 1, 1, num_classes or depth]`, with a height and width where not `global_pool`; and the outputs of all blocks
        by name.

    Raises:
        ValueError: the `output_stride` cannot be had.
    """
    blocks = blocks_of(bottleneck, (3, 24, 36, 3))
    return built(_FORM, inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)
