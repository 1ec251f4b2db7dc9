"""VGG16 and VGG19 (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.networks.applications.common import Wanted, ready_made
from weft.networks.layers.core import Dense, Flatten
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import MaxPooling2D
from weft.networks.models.model import Model


def _vgg(wanted: Wanted, name: str, counts: Sequence[int]) -> Model:
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
    return wanted.model(inputs, x, name)


@ready_made
def VGG16(wanted: Wanted) -> Model:
    """VGG16, a model of images."""
    return _vgg(wanted, "vgg16", (2, 2, 3, 3, 3))


@ready_made
def VGG19(wanted: Wanted) -> Model:
    """VGG19, a model of images."""
    return _vgg(wanted, "vgg19", (2, 2, 4, 4, 4))
