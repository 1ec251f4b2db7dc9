"""InceptionResNetV2 (Szegedy et al., 2016)."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Wanted, convolved, ready_made
from weft.networks.layers.core import Activation, Lambda
from weft.networks.layers.merging import Concatenate
from weft.networks.layers.spatial.pooling import AveragePooling2D, MaxPooling2D
from weft.networks.models.model import Model


def _block(x: Tensor, scale: float, kind: str, number: int, activation: str | None = "relu") -> Tensor:
    """A residual block: branches, joined and brought back to the channels of what entered."""
    if kind == "block35":
        first = convolved(x, 32, 1)
        middle = convolved(convolved(x, 32, 1), 32, 3)
        last = convolved(convolved(convolved(x, 32, 1), 48, 3), 64, 3)
        branches = [first, middle, last]
    else:
        width, size, others = (192, 7, (128, 160, 192)) if kind == "block17" else (192, 3, (192, 224, 256))
        first = convolved(x, width, 1)
        last = convolved(convolved(convolved(x, others[0], 1), others[1], [1, size]), others[2], [size, 1])
        branches = [first, last]
    name = f"{kind}_{number}"
    mixed = Concatenate(axis=3, name=f"{name}_mixed")(branches)
    channels = int(x.shape.as_list()[3] or 0)
    up = convolved(mixed, channels, 1, activation=None, use_bias=True, name=f"{name}_conv")
    x = Lambda(
        lambda both, scale: both[0] + both[1] * scale, output_shape=tuple(x.shape.as_list()[1:]), arguments={"scale": scale},
        name=name,
    )([x, up])  # fmt: skip
    return x if activation is None else Activation(activation, name=f"{name}_ac")(x)


@ready_made
def InceptionResNetV2(wanted: Wanted) -> Model:
    """InceptionResNetV2, a model of images."""
    inputs = wanted.inputs(299, 75)
    x = _stem(inputs)
    for number in range(1, 11):
        x = _block(x, 0.17, "block35", number)
    first = convolved(x, 384, 3, strides=2, padding="valid")
    second = convolved(convolved(convolved(x, 256, 1), 256, 3), 384, 3, strides=2, padding="valid")
    pooled = MaxPooling2D(3, strides=2, padding="valid")(x)
    x = Concatenate(axis=3, name="mixed_6a")([first, second, pooled])
    for number in range(1, 21):
        x = _block(x, 0.1, "block17", number)
    first = convolved(convolved(x, 256, 1), 384, 3, strides=2, padding="valid")
    second = convolved(convolved(x, 256, 1), 288, 3, strides=2, padding="valid")
    third = convolved(convolved(convolved(x, 256, 1), 288, 3), 320, 3, strides=2, padding="valid")
    pooled = MaxPooling2D(3, strides=2, padding="valid")(x)
    x = Concatenate(axis=3, name="mixed_7a")([first, second, third, pooled])
    for number in range(1, 10):
        x = _block(x, 0.2, "block8", number)
    x = _block(x, 1.0, "block8", 10, activation=None)
    x = convolved(x, 1536, 1, name="conv_7b")
    x = wanted.classified(x, "predictions")
    return wanted.model(inputs, x, "inception_resnet_v2")


def _stem(x: Tensor) -> Tensor:
    x = convolved(x, 32, 3, strides=2, padding="valid")
    x = convolved(convolved(x, 32, 3, padding="valid"), 64, 3)
    x = MaxPooling2D(3, strides=2)(x)
    x = convolved(convolved(x, 80, 1, padding="valid"), 192, 3, padding="valid")
    x = MaxPooling2D(3, strides=2)(x)
    first = convolved(x, 96, 1)
    second = convolved(convolved(x, 48, 1), 64, 5)
    third = convolved(convolved(convolved(x, 64, 1), 96, 3), 96, 3)
    pooled = convolved(AveragePooling2D(3, strides=1, padding="same")(x), 64, 1)
    made: Tensor = Concatenate(axis=3, name="mixed_5b")([first, second, third, pooled])
    return made
