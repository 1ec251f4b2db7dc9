"""What the ready-made networks share: the shapes that they take, their weights, and their last layers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.framework.aliases import Nest
from weft.framework.operation import Tensor
from weft.networks.datasets.files import cache_home
from weft.networks.engine.calls import history
from weft.networks.engine.input_layer import Input
from weft.networks.layers.core import Activation
from weft.networks.layers.normalization import BatchNormalization
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import GlobalAveragePooling2D, GlobalMaxPooling2D
from weft.networks.models.model import Model
from weft.networks.models.source_inputs import get_source_inputs
from weft.networks.state.defaults import image_data_format

Sizes = tuple[int | None, ...]


@dataclass
class Wanted:
    """What a program asks of a ready-made network.

    Attributes:
        include_top: whether the layers for classes are part of it.
        weights: None for random ones, a file, or "imagenet".
        input_tensor: what it is called on; an Input when None.
        input_shape: `(height, width, channels)`.
        pooling: "avg", "max", or None, for the last images without the layers for classes.
        classes: how many.
    """

    include_top: bool
    weights: str | None
    input_tensor: Nest
    input_shape: Sizes | None
    pooling: str | None
    classes: int

    def check(self) -> None:
        """Raise ValueError for weights that are none, or another number of classes than ImageNet's for its weights."""
        if self.weights not in (None, "imagenet") and not os.path.exists(str(self.weights)):
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on "
                f"ImageNet), or the path to the weights file to be loaded, but there is no file {self.weights!r}."
            )
        if self.weights == "imagenet" and self.include_top and self.classes != 1000:
            raise ValueError(
                f'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000, not {self.classes}'
            )
        if image_data_format() != "channels_last":
            raise NotImplementedError(
                "tf.keras.applications: the networks are made for channels_last; tf.keras.backend.set_image_data_format sets it"
            )

    def inputs(self, default_size: int, least: int) -> Tensor:
        """The Input, or the given tensor, of a checked shape."""
        shape = self._shape(default_size, least)
        if self.input_tensor is None:
            made: Tensor = Input(shape=shape)
            return made
        given: Tensor = self.input_tensor
        if history.history_of(given) is None:
            given = Input(tensor=given, shape=shape)
        return given

    def _shape(self, default_size: int, least: int) -> Sizes:
        given = self.input_shape
        default: Sizes = (default_size, default_size, 3)
        if self.weights == "imagenet" and self.include_top:
            if given is not None and tuple(given) != default:
                raise ValueError(
                    f"When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be {default}."
                )
            return default
        if given is None:
            return default if self.include_top else (None, None, 3)
        if len(given) != 3:
            raise ValueError("`input_shape` must be a tuple of three integers.")
        if self.weights == "imagenet" and given[-1] != 3:
            raise ValueError(f"The input must have 3 channels; got `input_shape={given}`")
        if any(size is not None and size < least for size in given[:2]):
            raise ValueError(f"Input size must be at least {least}x{least}; got `input_shape={given}`")
        if self.include_top and None in given:
            raise ValueError(f"If `include_top` is True, you should specify a static `input_shape`. Got `input_shape={given}`")
        return tuple(given)

    def pooled(self, x: Tensor, average: str | None = None, greatest: str | None = None) -> Tensor:
        """The outputs without the layers for classes."""
        if self.pooling == "avg":
            made: Tensor = GlobalAveragePooling2D(name=average)(x)
            return made
        if self.pooling == "max":
            made = GlobalMaxPooling2D(name=greatest)(x)
            return made
        return x

    def model(self, inputs: Tensor, x: Tensor, name: str, files: tuple[str, str]) -> Model:
        """The network, with its weights; `files` has ImageNet's with and without the layers for classes."""
        sources = inputs if self.input_tensor is None else get_source_inputs(self.input_tensor)
        made = Model(sources, x, name=name)
        if self.weights == "imagenet":
            made.load_weights(_cached(name, files[0] if self.include_top else files[1]))
        elif self.weights is not None:
            made.load_weights(self.weights)
        return made


def _cached(name: str, file: str) -> str:
    path = Path(cache_home()) / "models" / file
    if not path.exists():
        raise ValueError(
            f"{name}(weights='imagenet'): weft downloads no weights, and {path} is not there. Put Keras's file {file} there "
            "(it is among the releases of fchollet/deep-learning-models and keras-team/keras-applications on GitHub), give its "
            "path as weights=..., or take weights=None for random ones."
        )
    return str(path)


def convolved(
    x: Tensor, filters: int, size: Sequence[int] | int, strides: Sequence[int] | int = 1, padding: str = "same",
    name: str | None = None, norm: str | None = None, scale: bool = False, activation: str | None = "relu",
    activation_name: str | None = None,
) -> Tensor:  # fmt: skip
    """A convolution without bias, batch normalization and an activation."""
    x = Conv2D(filters, size, strides=strides, padding=padding, use_bias=False, name=name)(x)
    x = BatchNormalization(axis=3, scale=scale, name=norm)(x)
    return x if activation is None else Activation(activation, name=activation_name)(x)
