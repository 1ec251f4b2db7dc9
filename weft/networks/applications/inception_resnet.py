"""InceptionResNetV2 (Szegedy et al., 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.aliases import Nest
from weft.framework.operation import Tensor
from weft.networks.applications.common import Sizes, Wanted
from weft.networks.layers.core import Activation, Dense, Lambda
from weft.networks.layers.merging import Concatenate
from weft.networks.layers.normalization import BatchNormalization
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import AveragePooling2D, GlobalAveragePooling2D, MaxPooling2D
from weft.networks.models.model import Model


def _convolved(
    x: Tensor, filters: int, size: int | Sequence[int], strides: int = 1, padding: str = "same",
    activation: str | None = "relu", use_bias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    x = Conv2D(filters, size, strides=strides, padding=padding, use_bias=use_bias, name=name)(x)
    if not use_bias:
        x = BatchNormalization(axis=3, scale=False, name=None if name is None else f"{name}_bn")(x)
    if activation is not None:
        x = Activation(activation, name=None if name is None else f"{name}_ac")(x)
    return x


def _block(x: Tensor, scale: float, kind: str, number: int, activation: str | None = "relu") -> Tensor:
    """A residual block: branches, joined and brought back to the channels of what entered."""
    if kind == "block35":
        first = _convolved(x, 32, 1)
        middle = _convolved(_convolved(x, 32, 1), 32, 3)
        last = _convolved(_convolved(_convolved(x, 32, 1), 48, 3), 64, 3)
        branches = [first, middle, last]
    else:
        width, size, others = (192, 7, (128, 160, 192)) if kind == "block17" else (192, 3, (192, 224, 256))
        first = _convolved(x, width, 1)
        last = _convolved(_convolved(_convolved(x, others[0], 1), others[1], [1, size]), others[2], [size, 1])
        branches = [first, last]
    name = f"{kind}_{number}"
    mixed = Concatenate(axis=3, name=f"{name}_mixed")(branches)
    channels = int(x.shape.as_list()[3] or 0)
    up = _convolved(mixed, channels, 1, activation=None, use_bias=True, name=f"{name}_conv")
    x = Lambda(
        lambda both, scale: both[0] + both[1] * scale, output_shape=tuple(x.shape.as_list()[1:]), arguments={"scale": scale},
        name=name,
    )([x, up])  # fmt: skip
    return x if activation is None else Activation(activation, name=f"{name}_ac")(x)


def InceptionResNetV2(
    include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None, input_shape: Sizes | None = None,
    pooling: str | None = None, classes: int = 1000,
) -> Model:  # fmt: skip
    """InceptionResNetV2, a model of images; see `tf.keras.applications.ResNet50` for the arguments.

    Args:
        include_top, weights, input_tensor, input_shape, pooling, classes: as of `ResNet50`.

    Returns:
        The model.
    """
    wanted = Wanted(include_top, weights, input_tensor, input_shape, pooling, classes)
    wanted.check()
    inputs = wanted.inputs(299, 75)
    x = _stem(inputs)
    for number in range(1, 11):
        x = _block(x, 0.17, "block35", number)
    first = _convolved(x, 384, 3, strides=2, padding="valid")
    second = _convolved(_convolved(_convolved(x, 256, 1), 256, 3), 384, 3, strides=2, padding="valid")
    pooled = MaxPooling2D(3, strides=2, padding="valid")(x)
    x = Concatenate(axis=3, name="mixed_6a")([first, second, pooled])
    for number in range(1, 21):
        x = _block(x, 0.1, "block17", number)
    first = _convolved(_convolved(x, 256, 1), 384, 3, strides=2, padding="valid")
    second = _convolved(_convolved(x, 256, 1), 288, 3, strides=2, padding="valid")
    third = _convolved(_convolved(_convolved(x, 256, 1), 288, 3), 320, 3, strides=2, padding="valid")
    pooled = MaxPooling2D(3, strides=2, padding="valid")(x)
    x = Concatenate(axis=3, name="mixed_7a")([first, second, third, pooled])
    for number in range(1, 10):
        x = _block(x, 0.2, "block8", number)
    x = _block(x, 1.0, "block8", 10, activation=None)
    x = _convolved(x, 1536, 1, name="conv_7b")
    if include_top:
        x = GlobalAveragePooling2D(name="avg_pool")(x)
        x = Dense(classes, activation="softmax", name="predictions")(x)
    else:
        x = wanted.pooled(x)
    file = "inception_resnet_v2_weights_tf_dim_ordering_tf_kernels"
    return wanted.model(inputs, x, "inception_resnet_v2", (f"{file}.h5", f"{file}_notop.h5"))


def _stem(x: Tensor) -> Tensor:
    x = _convolved(x, 32, 3, strides=2, padding="valid")
    x = _convolved(_convolved(x, 32, 3, padding="valid"), 64, 3)
    x = MaxPooling2D(3, strides=2)(x)
    x = _convolved(_convolved(x, 80, 1, padding="valid"), 192, 3, padding="valid")
    x = MaxPooling2D(3, strides=2)(x)
    first = _convolved(x, 96, 1)
    second = _convolved(_convolved(x, 48, 1), 64, 5)
    third = _convolved(_convolved(_convolved(x, 64, 1), 96, 3), 96, 3)
    pooled = _convolved(AveragePooling2D(3, strides=1, padding="same")(x), 64, 1)
    made: Tensor = Concatenate(axis=3, name="mixed_5b")([first, second, third, pooled])
    return made
