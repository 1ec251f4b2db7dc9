"""InceptionV3 (Szegedy et al., 2015)."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.networks.applications.common import Wanted, convolved, ready_made
from weft.networks.layers.merging import concatenate
from weft.networks.layers.spatial.pooling import AveragePooling2D, MaxPooling2D
from weft.networks.models.model import Model


def _averaged(x: Tensor, filters: int) -> Tensor:
    return convolved(AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x), filters, (1, 1))


def _wide(x: Tensor, pooled: int, name: str) -> Tensor:
    """Branches of windows of 1, 5 and twice 3."""
    of_one = convolved(x, 64, (1, 1))
    of_five = convolved(convolved(x, 48, (1, 1)), 64, (5, 5))
    of_three = convolved(convolved(convolved(x, 64, (1, 1)), 96, (3, 3)), 96, (3, 3))
    made: Tensor = concatenate([of_one, of_five, of_three, _averaged(x, pooled)], axis=3, name=name)
    return made


def _long(x: Tensor, between: int, name: str) -> Tensor:
    """Branches of windows of 1, and of 7 along one side after the other."""
    of_one = convolved(x, 192, (1, 1))
    once = convolved(x, between, (1, 1))
    once = convolved(convolved(once, between, (1, 7)), 192, (7, 1))
    twice = convolved(x, between, (1, 1))
    for size, filters in (((7, 1), between), ((1, 7), between), ((7, 1), between), ((1, 7), 192)):
        twice = convolved(twice, filters, size)
    made: Tensor = concatenate([of_one, once, twice, _averaged(x, 192)], axis=3, name=name)
    return made


def _forked(x: Tensor, number: int) -> Tensor:
    """Branches of windows of 1, and of 3 along either side at once."""
    of_one = convolved(x, 320, (1, 1))
    once = convolved(x, 384, (1, 1))
    once = concatenate([convolved(once, 384, (1, 3)), convolved(once, 384, (3, 1))], axis=3, name=f"mixed9_{number}")
    twice = convolved(convolved(x, 448, (1, 1)), 384, (3, 3))
    twice = concatenate([convolved(twice, 384, (1, 3)), convolved(twice, 384, (3, 1))], axis=3)
    made: Tensor = concatenate([of_one, once, twice, _averaged(x, 192)], axis=3, name=f"mixed{9 + number}")
    return made


@ready_made
def InceptionV3(wanted: Wanted) -> Model:
    """InceptionV3, a model of images."""
    inputs = wanted.inputs(299, 75)
    x = convolved(inputs, 32, (3, 3), (2, 2), "valid")
    x = convolved(convolved(x, 32, (3, 3), padding="valid"), 64, (3, 3))
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)
    x = convolved(convolved(x, 80, (1, 1), padding="valid"), 192, (3, 3), padding="valid")
    x = MaxPooling2D((3, 3), strides=(2, 2))(x)
    for number, pooled in enumerate((32, 64, 64)):
        x = _wide(x, pooled, f"mixed{number}")
    of_three = convolved(x, 384, (3, 3), (2, 2), "valid")
    twice = convolved(convolved(convolved(x, 64, (1, 1)), 96, (3, 3)), 96, (3, 3), (2, 2), "valid")
    x = concatenate([of_three, twice, MaxPooling2D((3, 3), strides=(2, 2))(x)], axis=3, name="mixed3")
    for number, between in enumerate((128, 160, 160, 192), 4):
        x = _long(x, between, f"mixed{number}")
    of_three = convolved(convolved(x, 192, (1, 1)), 320, (3, 3), (2, 2), "valid")
    of_seven = convolved(convolved(convolved(x, 192, (1, 1)), 192, (1, 7)), 192, (7, 1))
    of_seven = convolved(of_seven, 192, (3, 3), (2, 2), "valid")
    x = concatenate([of_three, of_seven, MaxPooling2D((3, 3), strides=(2, 2))(x)], axis=3, name="mixed8")
    for number in range(2):
        x = _forked(x, number)
    x = wanted.classified(x, "predictions")
    return wanted.model(inputs, x, "inception_v3")
