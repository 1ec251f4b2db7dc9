"""DenseNet of 121, 169 and 201 layers (Huang et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Wanted, normalized, ready_made, relu
from weft.networks.layers.merging import Concatenate
from weft.networks.layers.spatial.borders import ZeroPadding2D
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import AveragePooling2D, MaxPooling2D
from weft.networks.models.model import Model

_GROWTH = 32


def _activated(x: Tensor, norm_name: str, relu_name: str) -> Tensor:
    return relu(normalized(x, norm_name, epsilon=1.001e-5), relu_name)


def _dense_block(x: Tensor, count: int, name: str) -> Tensor:
    for number in range(1, count + 1):
        own = f"{name}_block{number}"
        new = _activated(x, f"{own}_0_bn", f"{own}_0_relu")
        new = Conv2D(4 * _GROWTH, 1, use_bias=False, name=f"{own}_1_conv")(new)
        new = _activated(new, f"{own}_1_bn", f"{own}_1_relu")
        new = Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=f"{own}_2_conv")(new)
        x = Concatenate(axis=3, name=f"{own}_concat")([x, new])
    return x


def _transition(x: Tensor, name: str) -> Tensor:
    x = _activated(x, f"{name}_bn", f"{name}_relu")
    x = Conv2D(int(x.shape.as_list()[3] or 0) // 2, 1, use_bias=False, name=f"{name}_conv")(x)
    made: Tensor = AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)
    return made


def _densenet(wanted: Wanted, name: str, counts: Sequence[int]) -> Model:
    inputs = wanted.inputs(224, 32)
    x = ZeroPadding2D(padding=((3, 3), (3, 3)))(inputs)
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(x)
    x = _activated(x, "conv1/bn", "conv1/relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = MaxPooling2D(3, strides=2, name="pool1")(x)
    for number, count in enumerate(counts, 2):
        x = _dense_block(x, count, f"conv{number}")
        if number < 5:
            x = _transition(x, f"pool{number}")
    x = _activated(x, "bn", "relu")
    x = wanted.classified(x, "fc1000", pooled=("avg_pool", "max_pool"))
    return wanted.model(inputs, x, name)


@ready_made
def DenseNet121(wanted: Wanted) -> Model:
    """DenseNet of 121 layers, a model of images."""
    return _densenet(wanted, "densenet121", (6, 12, 24, 16))


@ready_made
def DenseNet169(wanted: Wanted) -> Model:
    """DenseNet of 169 layers, a model of images."""
    return _densenet(wanted, "densenet169", (6, 12, 32, 32))


@ready_made
def DenseNet201(wanted: Wanted) -> Model:
    """DenseNet of 201 layers, a model of images."""
    return _densenet(wanted, "densenet201", (6, 12, 48, 32))
