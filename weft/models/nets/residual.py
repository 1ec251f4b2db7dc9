"""Residual networks: the blocks of both forms, and how strides are kept for dense predictions (He et al., 2016)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Collections, Nest
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Tensor
from weft.models.functional.batch_norm import batch_norm
from weft.models.functional.layer_functions import conv2d
from weft.models.functional.layer_outputs import collected
from weft.models.functional.weightless_layers import max_pool2d
from weft.ops.arg_scope import add_arg_scope, arg_scope
from weft.ops.array.padding import pad
from weft.ops.nn.activation import relu
from weft.ops.variables.fan_initializers import variance_scaling_initializer
from weft.ops.variables.regularizers import l2_regularizer
from weft.ops.variables.variable_scope import variable_scope

_NOT_REACHED = "The target output_stride cannot be reached."


class Block(NamedTuple):
    """A part of a residual network: units that follow each other.

    Args:
        scope: its variable scope.
        unit_fn: what makes a unit's output of its input, such as `resnet_v1.bottleneck`.
        args: the further arguments of each unit, such as `{"depth": 256, "depth_bottleneck": 64, "stride": 1}`.
    """

    scope: str
    unit_fn: Callable[..., Tensor]
    args: Sequence[Mapping[str, int]]


def block_of(unit_fn: Callable[..., Tensor], scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of like units, whose last one has the stride."""
    sizes = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return Block(scope, unit_fn, [{**sizes, "stride": 1}] * (num_units - 1) + [{**sizes, "stride": stride}])


def blocks_of(unit_fn: Callable[..., Tensor], counts: tuple[int, int, int, int]) -> list[Block]:
    """The four blocks of the published networks, with so many units each."""
    return [
        block_of(unit_fn, f"block{number}", 32 << number, count, 1 if number == 4 else 2)
        for number, count in enumerate(counts, 1)
    ]


def subsample(inputs: Tensor, factor: int, scope: str | None = None) -> Tensor:
    """Every `factor`-th row and column: `[batch, height, width, depth]` in and out.

    Args:
        inputs: feature maps.
        factor: 1 leaves them as they are.
        scope: the name of what does it.

    Returns:
        `[batch, ceil(height / factor), ceil(width / factor), depth]`.
    """
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Tensor, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: str | None = None
) -> Tensor:
    """A convolution whose padding does not depend on the stride: as one of stride 1, `subsample`d.

    Args:
        inputs: `[batch, height, width, depth]`.
        num_outputs: the depth of the result.
        kernel_size: the height and width of the filters.
        stride: of the result.
        rate: the distance of the places that a filter takes in.
        scope: the variable scope.
    """
    if stride == 1:
        same: Tensor = conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
        return same
    total = (kernel_size - 1) * rate
    margin = [total // 2, total - total // 2]
    padded = pad(inputs, [[0, 0], margin, margin, [0, 0]])
    strided: Tensor = conv2d(padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)
    return strided


@add_arg_scope
def stack_blocks_dense(
    net: Tensor, blocks: Sequence[Block], output_stride: float | None = None, outputs_collections: Collections = None
) -> Tensor:
    """Blocks upon each other; strides beyond `output_stride` become distances in the filters of what follows.

    Args:
        net: `[batch, height, width, depth]`.
        blocks: what to stack.
        output_stride: the stride of the result, a product of the units' strides from the first on; None for all of them.
        outputs_collections: where to add the blocks' outputs.

    Raises:
        ValueError: there is no such product.
    """
    stride = rate = 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as opened:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError(_NOT_REACHED)
                with variable_scope(f"unit_{number}", values=[net]):
                    if stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= unit.get("stride", 1)
            net = collected(outputs_collections, opened.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError(_NOT_REACHED)
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> dict[str, Nest]:
    """The arguments of residual networks' layers, for `with arg_scope(resnet_arg_scope()):`.

    Args:
        weight_decay: how much of the squared weights is a regularization loss.
        batch_norm_decay: that of the averages of batch normalization.
        batch_norm_epsilon: what it adds to the variance.
        batch_norm_scale: whether it has a factor, gamma.
    """
    norm = {
        "decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }  # fmt: skip
    with (
        arg_scope(
            [conv2d], weights_regularizer=l2_regularizer(weight_decay), weights_initializer=variance_scaling_initializer(),
            activation_fn=relu, normalizer_fn=batch_norm, normalizer_params=norm,
        ),
        arg_scope([batch_norm], **norm),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):  # fmt: skip
        return scope
