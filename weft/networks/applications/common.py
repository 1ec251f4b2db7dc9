"""What the ready-made networks share: the shapes that they take, their weights, and their last layers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.networks.datasets.files import cache_home
from weft.networks.engine.calls import history
from weft.networks.engine.input_layer import Input
from weft.networks.layers.core import Activation, Dense
from weft.networks.layers.normalization import BatchNormalization
from weft.networks.layers.spatial.convolutional import Conv2D
from weft.networks.layers.spatial.pooling import GlobalAveragePooling2D, GlobalMaxPooling2D
from weft.networks.models.model import Model
from weft.networks.models.source_inputs import get_source_inputs
from weft.networks.state.defaults import image_data_format

Sizes = tuple[int | None, ...]
Names = tuple[str | None, str | None]


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

    def _check(self) -> None:
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
        """The Input, or the given tensor, of a checked shape.

        Args:
            default_size: the usual number of rows and columns.
            least: the least one.

        Raises:
            ValueError: the shape does not fit, the weights are none, or are ImageNet's with another number of classes.
            NotImplementedError: the layout that was set is channels_first.
        """
        self._check()
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

    def classified(self, x: Tensor, name: str, average: str | None = "avg_pool", pooled: Names = (None, None)) -> Tensor:
        """The probabilities of the classes, or the outputs without the layers for classes.

        Args:
            x: the last images.
            name: that of the layer that gives the probabilities.
            average: that of the layer that takes the means before it.
            pooled: those of the layers for means and greatest values without it.
        """
        if not self.include_top:
            return self.pooled(x, *pooled)
        made: Tensor = GlobalAveragePooling2D(name=average)(x)
        made = Dense(self.classes, activation="softmax", name=name)(made)
        return made

    def model(self, inputs: Tensor, x: Tensor, name: str, files: tuple[str, str] | None = None) -> Model:
        """The network, with its weights.

        Args:
            inputs: what `inputs` gave.
            x: the outputs.
            name: the model's name.
            files: the names of Keras's files of ImageNet's weights, with and without the layers for classes, where they do not
                follow from the model's.
        """
        sources = inputs if self.input_tensor is None else get_source_inputs(self.input_tensor)
        made = Model(sources, x, name=name)
        if self.weights == "imagenet":
            usual = f"{name}_weights_tf_dim_ordering_tf_kernels"
            whole, bare = files or (f"{usual}.h5", f"{usual}_notop.h5")
            made.load_weights(_cached(name, whole if self.include_top else bare))
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


_DOC: Final = """{sentence}

Args:
    include_top: whether the layers for classes are part of it.
    weights: None for random ones, or the path of an HDF5 file of weights; "imagenet" reads Keras's file from the folder
        `models` of Keras's cache, `~/.keras` or KERAS_HOME, and downloads nothing.
    input_tensor: what the model is called on; an Input when None.
    input_shape: the images' `(height, width, channels)`; the usual size when None, or any without the layers for classes.
    pooling: "avg" or "max", the mean or greatest value of each channel, or None for images, without the layers for classes.
    classes: how many classes.

Returns:
    The model.
"""


class ReadyMade(Protocol):
    """The function that makes a network."""

    def __call__(
        self, include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None,
        input_shape: Sizes | None = None, pooling: str | None = None, classes: int = 1000,
    ) -> Model:  # fmt: skip
        """The network."""


def ready_made(build: Callable[[Wanted], Model]) -> ReadyMade:
    """The function that programs call for a network, with the arguments of all of these.

    Args:
        build: makes the network of what is wanted; its name, module and docstring, a sentence, become the function's.
    """

    def made(
        include_top: bool = True, weights: str | None = "imagenet", input_tensor: Nest = None, input_shape: Sizes | None = None,
        pooling: str | None = None, classes: int = 1000,
    ) -> Model:  # fmt: skip
        return build(Wanted(include_top, weights, input_tensor, input_shape, pooling, classes))

    made.__name__, made.__qualname__, made.__module__ = build.__name__, build.__qualname__, build.__module__
    made.__doc__ = _DOC.format(sentence=build.__doc__)
    return made


def normalized(x: Tensor, name: str | None = None, epsilon: float = 1e-3) -> Tensor:
    """Batch normalization over the channels."""
    made: Tensor = BatchNormalization(axis=3, epsilon=epsilon, name=name)(x)
    return made


def relu(x: Tensor, name: str) -> Tensor:
    """What is positive, in a layer of its own."""
    made: Tensor = Activation("relu", name=name)(x)
    return made


def convolved(
    x: Tensor, filters: int, size: Sequence[int] | int, strides: Sequence[int] | int = 1, padding: str = "same",
    activation: str | None = "relu", use_bias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A convolution with a bias, or with batch normalization in its place, and an activation: `NAME`, `NAME_bn`, `NAME_ac`."""
    x = Conv2D(filters, size, strides=strides, padding=padding, use_bias=use_bias, name=name)(x)
    if not use_bias:
        x = BatchNormalization(axis=3, scale=False, name=None if name is None else f"{name}_bn")(x)
    if activation is not None:
        x = Activation(activation, name=None if name is None else f"{name}_ac")(x)
    return x


def correction(x: Tensor, size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Zeros around images before a window with stride 2: one less in front of an even size, or of an unknown one.

    Args:
        x: the images.
        size: the window's rows and columns.
    """
    before = [size // 2 - (1 if rows is None else 1 - rows % 2) for rows in x.shape.as_list()[1:3]]
    return ((before[0], size // 2), (before[1], size // 2))
