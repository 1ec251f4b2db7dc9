"""ResNet of 50, 101 and 152 layers (He et al., 2015), and its second version (2016)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Wanted, normalized, ready_made, relu
from weft.networks.layers.merging import Add
from weft.networks.layers.spatial.borders import ZeroPadding2D
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import MaxPooling2D
from weft.networks.models.model import Model


def _norm(x: Tensor, name: str) -> Tensor:
    return normalized(x, name, epsilon=1.001e-5)


def _block(x: Tensor, filters: int, name: str, stride: int, has_shortcut: bool) -> Tensor:
    shortcut = x
    if has_shortcut:
        shortcut = _norm(Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x), f"{name}_0_bn")
    x = Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x)
    x = relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = Conv2D(filters, 3, padding="same", name=f"{name}_2_conv")(x)
    x = relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = _norm(Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x), f"{name}_3_bn")
    return relu(Add(name=f"{name}_add")([shortcut, x]), f"{name}_out")


def _stack(x: Tensor, filters: int, count: int, name: str, stride: int) -> Tensor:
    x = _block(x, filters, f"{name}_block1", stride, True)
    for number in range(2, count + 1):
        x = _block(x, filters, f"{name}_block{number}", 1, False)
    return x


def _second_block(x: Tensor, filters: int, name: str, stride: int, has_shortcut: bool) -> Tensor:
    before = relu(_norm(x, f"{name}_preact_bn"), f"{name}_preact_relu")
    if has_shortcut:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(before)
    else:
        shortcut = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = Conv2D(filters, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(before)
    x = relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    made: Tensor = Add(name=f"{name}_out")([shortcut, x])
    return made


def _second_stack(x: Tensor, filters: int, count: int, name: str, stride: int) -> Tensor:
    x = _second_block(x, filters, f"{name}_block1", 1, True)
    for number in range(2, count):
        x = _second_block(x, filters, f"{name}_block{number}", 1, False)
    return _second_block(x, filters, f"{name}_block{count}", stride, False)


def _resnet(wanted: Wanted, name: str, counts: Sequence[int], is_second: bool) -> Model:
    inputs = wanted.inputs(224, 32)
    x = ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(inputs)
    x = Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not is_second:
        x = relu(_norm(x, "conv1_bn"), "conv1_relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    stack: Callable[..., Tensor] = _second_stack if is_second else _stack
    strides = (2, 2, 2, 1) if is_second else (1, 2, 2, 2)
    for number, (count, filters, stride) in enumerate(zip(counts, (64, 128, 256, 512), strides, strict=True), 2):
        x = stack(x, filters, count, f"conv{number}", stride)
    if is_second:
        x = relu(_norm(x, "post_bn"), "post_relu")
    x = wanted.classified(x, "probs", pooled=("avg_pool", "max_pool"))
    return wanted.model(inputs, x, name)


@ready_made
def ResNet50(wanted: Wanted) -> Model:
    """ResNet of 50 layers, a model of images."""
    return _resnet(wanted, "resnet50", (3, 4, 6, 3), False)


@ready_made
def ResNet101(wanted: Wanted) -> Model:
    """ResNet of 101 layers, a model of images."""
    return _resnet(wanted, "resnet101", (3, 4, 23, 3), False)


@ready_made
def ResNet152(wanted: Wanted) -> Model:
    """ResNet of 152 layers, a model of images."""
    return _resnet(wanted, "resnet152", (3, 8, 36, 3), False)


@ready_made
def ResNet50V2(wanted: Wanted) -> Model:
    """The second ResNet of 50 layers, a model of images."""
    return _resnet(wanted, "resnet50v2", (3, 4, 6, 3), True)


@ready_made
def ResNet101V2(wanted: Wanted) -> Model:
    """The second ResNet of 101 layers, a model of images."""
    return _resnet(wanted, "resnet101v2", (3, 4, 23, 3), True)


@ready_made
def ResNet152V2(wanted: Wanted) -> Model:
    """The second ResNet of 152 layers, a model of images."""
    return _resnet(wanted, "resnet152v2", (3, 8, 36, 3), True)
