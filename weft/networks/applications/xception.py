"""Xception (Chollet, 2016)."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Wanted, normalized, ready_made, relu
from weft.networks.layers.merging import add
from weft.networks.layers.spatial.convolutional import Conv2D, SeparableConv2D
from weft.networks.layers.spatial.pooling import MaxPooling2D
from weft.networks.models.model import Model


def _separable(x: Tensor, filters: int, name: str) -> Tensor:
    x = SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x)
    return normalized(x, f"{name}_bn")


def _shortcut(x: Tensor, filters: int) -> Tensor:
    x = Conv2D(filters, (1, 1), strides=(2, 2), padding="same", use_bias=False)(x)
    return normalized(x)


def _falling(x: Tensor, block: int, first: int, second: int, is_activated: bool = True) -> Tensor:
    """Two separable convolutions and a pooling, beside a shortcut."""
    name, beside = f"block{block}", _shortcut(x, second)
    if is_activated:
        x = relu(x, f"{name}_sepconv1_act")
    x = _separable(x, first, f"{name}_sepconv1")
    x = _separable(relu(x, f"{name}_sepconv2_act"), second, f"{name}_sepconv2")
    x = MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"{name}_pool")(x)
    made: Tensor = add([x, beside])
    return made


@ready_made
def Xception(wanted: Wanted) -> Model:
    """Xception, a model of images."""
    x = inputs = wanted.inputs(299, 71)
    for number, (filters, stride) in enumerate(((32, (2, 2)), (64, (1, 1))), 1):
        x = Conv2D(filters, (3, 3), strides=stride, use_bias=False, name=f"block1_conv{number}")(x)
        x = normalized(x, f"block1_conv{number}_bn")
        x = relu(x, f"block1_conv{number}_act")
    x = _falling(x, 2, 128, 128, False)
    x = _falling(x, 3, 256, 256)
    x = _falling(x, 4, 728, 728)
    for block in range(5, 13):
        beside = x
        for number in range(1, 4):
            name = f"block{block}_sepconv{number}"
            x = _separable(relu(x, f"{name}_act"), 728, name)
        x = add([x, beside])
    x = _falling(x, 13, 728, 1024)
    for number, filters in enumerate((1536, 2048), 1):
        x = relu(_separable(x, filters, f"block14_sepconv{number}"), f"block14_sepconv{number}_act")
    x = wanted.classified(x, "predictions")
    return wanted.model(inputs, x, "xception")
