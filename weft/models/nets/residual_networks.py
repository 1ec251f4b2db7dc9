"""How a residual network is put together of its root, its blocks and its end; the two forms differ in where they normalize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.models.functional.batch_norm import batch_norm
from weft.models.functional.layer_functions import conv2d
from weft.models.functional.layer_outputs import convert_collection_to_dict
from weft.models.functional.weightless_layers import max_pool2d, softmax
from weft.models.nets.residual import Block, conv2d_same, stack_blocks_dense
from weft.ops.arg_scope import arg_scope
from weft.ops.math.reduce_functions import reduce_mean
from weft.ops.nn.activation import relu
from weft.ops.variables.variable_scope import variable_scope

Built = tuple[Tensor, dict[str, Tensor]]


@dataclass(frozen=True)
class Form:
    """Which residual networks: the name, its unit, and whether units normalize their inputs rather than their outputs."""

    name: str
    bottleneck: Callable[..., Tensor]
    normalizes_first: bool


def built(
    form: Form, inputs: Tensor, blocks: Sequence[Block], num_classes: int | None, is_training: bool | Tensor,
    global_pool: bool, output_stride: int | None, include_root_block: bool, reuse: bool | None, scope: str | None,
) -> Built:  # fmt: skip
    """A network of this form, and the outputs of its layers by name."""
    with variable_scope(scope, form.name, [inputs], reuse=reuse) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        outputs = [conv2d, form.bottleneck, stack_blocks_dense]
        with arg_scope(outputs, outputs_collections=collection), arg_scope([batch_norm], is_training=is_training):
            stride: float | None = output_stride
            net = inputs
            if include_root_block:
                net, stride = _rooted(form, net, stride)
            net = stack_blocks_dense(net, blocks, stride)
            if form.normalizes_first:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points: dict[str, Nest] = convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = softmax(net, scope="predictions")
            return net, end_points


def _rooted(form: Form, net: Tensor, stride: float | None) -> tuple[Tensor, float | None]:
    """What the first convolution and pooling make, and the stride that is left for the blocks."""
    if stride is not None:
        if stride % 4 != 0:
            raise ValueError("The output_stride needs to be a multiple of 4.")
        stride /= 4
    bare = arg_scope([conv2d], activation_fn=None, normalizer_fn=None) if form.normalizes_first else nullcontext()
    with bare:
        net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return max_pool2d(net, [3, 3], stride=2, scope="pool1"), stride
