"""Arrays of numbers that models are fed with, made of labels and vectors."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array


def to_categorical(y: Array, num_classes: int | None = None, dtype: str = "float32") -> Array:
    """The numbers of classes as rows with a one in that place: `[...] -> [..., num_classes]`.

    Args:
        y: the numbers, from 0.
        num_classes: the number of classes; one more than the greatest when None.
        dtype: of the result.

    Raises:
        IndexError: a number is not below `num_classes`.
    """
    labels = np.array(y, dtype="int")
    shape = labels.shape[:-1] if labels.ndim > 1 and labels.shape[-1] == 1 else labels.shape
    flat = labels.ravel()
    count = num_classes or int(flat.max()) + 1
    made = np.zeros((len(flat), count), dtype=dtype)
    made[np.arange(len(flat)), flat] = 1
    return made.reshape((*shape, count))


def normalize(x: Array, axis: int = -1, order: int = 2) -> Array:
    """An array whose vectors along an axis have norm 1; zeros stay.

    Args:
        x: the array.
        axis: the dimension of the vectors.
        order: of the norm, 2 for the Euclidean.
    """
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)
