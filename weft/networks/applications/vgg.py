"""VGG16 and VGG19 (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.aliases import Nest
from weft.networks.applications.common import Sizes, Wanted
from weft.networks.layers.core import Dense, Flatten
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import MaxPooling2D
from weft.networks.models.model import Model


def _vgg(wanted: Wanted, name: str, counts: Sequence[int]) -> Model:
    wanted.check()
    x = inputs = wanted.inputs(224, 32)
    for block, (count, filters) in enumerate(zip(counts, (64, 128, 256, 512, 512), strict=True), 1):
        for number in range(1, count + 1):
            x = Conv2D(filters, (3, 3), activation="relu", padding="same", name=f"block{block}_conv{number}")(x)
        x = MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if wanted.include_top:
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
        x = Dense(wanted.classes, activation="softmax", name="predictions")(x)
    else:
        x = wanted.pooled(x)
    file = f"{name}_weights_tf_dim_ordering_tf_kernels"
    return wanted.model(inputs, x, name, (f"{file}.h5", f"{file}_notop.h5"))


def VGG16(
    include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None, input_shape: Sizes | None = None,
    pooling: str | None = None, classes: int = 1000,
) -> Model:  # fmt: skip
    """VGG16, a model of images; see `tf.keras.applications.ResNet50` for the arguments.

    Args:
        include_top, weights, input_tensor, input_shape, pooling, classes: as of `ResNet50`.

    Returns:
        The model.
    """
    return _vgg(Wanted(include_top, weights, input_tensor, input_shape, pooling, classes), "vgg16", (2, 2, 3, 3, 3))


def VGG19(
    include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None, input_shape: Sizes | None = None,
    pooling: str | None = None, classes: int = 1000,
) -> Model:  # fmt: skip
    """VGG19, a model of images; see `tf.keras.applications.ResNet50` for the arguments.

    Args:
        include_top, weights, input_tensor, input_shape, pooling, classes: as of `ResNet50`.

    Returns:
        The model.
    """
    return _vgg(Wanted(include_top, weights, input_tensor, input_shape, pooling, classes), "vgg19", (2, 2, 4, 4, 4))
