"""ImageNet's images as the networks take them, and its classes by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.framework.nodes.operation import Tensor
from weft.networks.datasets.files import cache_home
from weft.networks.state.defaults import image_data_format
from weft.ops.array.tiling import reverse

_MEANS = (103.939, 116.779, 123.68)
_TORCH = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_CLASSES = "imagenet_class_index.json"


def preprocess_input(x: Nest, data_format: str | None = None, mode: str = "caffe") -> Nest:
    """Images as networks were trained on them.

    Args:
        x: an image or a batch of them, 0 to 255, RGB: an array, which is changed in place where it is of floats, or a tensor.
        data_format: "channels_last" or "channels_first"; `image_data_format()` when None.
        mode: "caffe" for BGR around ImageNet's means, "tf" for -1 to 1, "torch" for ImageNet's means and deviations.

    Returns:
        The images, float32 where they were ints.

    Raises:
        ValueError: an unknown layout.
    """
    layout = data_format or image_data_format()
    if layout not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format {layout}")
    if not isinstance(x, Tensor):
        given = np.asarray(x)
        x = given if np.issubdtype(given.dtype, np.floating) else given.astype(np.float32)
    rank = len(x.shape)
    channel = rank - 1 if layout == "channels_last" else rank - 3
    shape = [3 if axis == channel else 1 for axis in range(rank)]

    def beside(numbers: tuple[float, ...]) -> Array:
        kind = np.float32 if isinstance(x, Tensor) else x.dtype
        return np.asarray(numbers, kind).reshape(shape)

    if mode == "tf":
        return _changed(x, beside((127.5,) * 3), beside((1.0,) * 3))
    if mode == "torch":
        return _changed(x, beside((255.0,) * 3), beside((0.0,) * 3), beside(_TORCH[0]), beside(_TORCH[1]))
    flipped = reverse(x, [channel]) if isinstance(x, Tensor) else np.flip(x, channel)
    return flipped - beside(_MEANS)


def _changed(x: Nest, by: Array, less: Array, means: Array | None = None, deviations: Array | None = None) -> Nest:
    if isinstance(x, Tensor):
        made = x / by - less
        return made if means is None else (made - means) / deviations
    x /= by
    x -= less
    if means is not None:
        x -= means
        x /= deviations
    return x


def preprocess_around_zero(x: Nest, data_format: str | None = None) -> Nest:
    """Images of 0 to 255 as numbers of -1 to 1.

    Args:
        x: an image or a batch of them, an array, which is changed in place where it is of floats, or a tensor.
        data_format: not looked at.

    Returns:
        The images.
    """
    return preprocess_input(x, data_format, "tf")


def preprocess_around_means(x: Nest, data_format: str | None = None) -> Nest:
    """RGB images of 0 to 255 as BGR images around ImageNet's means.

    Args:
        x: an image or a batch of them, an array or a tensor.
        data_format: "channels_last" or "channels_first"; `image_data_format()` when None.

    Returns:
        The images.
    """
    return preprocess_input(x, data_format, "caffe")


def preprocess_normalized(x: Nest, data_format: str | None = None) -> Nest:
    """Images of 0 to 255 as numbers around ImageNet's means, by its deviations.

    Args:
        x: an image or a batch of them, an array, which is changed in place where it is of floats, or a tensor.
        data_format: "channels_last" or "channels_first"; `image_data_format()` when None.

    Returns:
        The images.
    """
    return preprocess_input(x, data_format, "torch")


def decode_predictions(preds: Array, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """The most probable of ImageNet's classes for each image: `(number in WordNet, name, probability)`.

    Args:
        preds: `[batch, 1000]` probabilities.
        top: how many for each.

    Raises:
        ValueError: another shape, or Keras's file of the classes' names is not in its cache.
    """
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). Found array with "
            f"shape: {preds.shape}"
        )
    path = Path(cache_home()) / "models" / _CLASSES
    if not path.exists():
        raise ValueError(
            f"decode_predictions: weft downloads no names of classes. Put Keras's file {_CLASSES} at {path}: JSON, "
            'of {"0": ["n01440764", "tench"], ...}.'
        )
    names = json.loads(path.read_text(encoding="utf-8"))
    return [[(*names[str(place)], row[place]) for place in row.argsort()[-top:][::-1]] for row in preds]
