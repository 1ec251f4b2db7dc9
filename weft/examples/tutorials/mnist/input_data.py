"""The MNIST digits as batches: `read_data_sets(directory, one_hot=True).train.next_batch(100)`.

The files must be in the directory already: nothing is fetched from the network.
"""

from __future__ import annotations

import os
from typing import Any, Final, NamedTuple

import numpy as np

from weft.errors import NotFoundError
from weft.examples.tutorials.mnist.idx import read_images as extract_images
from weft.examples.tutorials.mnist.idx import read_labels as extract_labels
from weft.framework.building.aliases import Array, DTypeLike
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.value_types import NumpyArray
from weft.ops.random.seed import get_seed
from weft.platform.files import gfile

DEFAULT_SOURCE_URL: Final = "https://storage.googleapis.com/cvdf-datasets/mnist/"
TRAIN_IMAGES: Final = "train-images-idx3-ubyte.gz"
TRAIN_LABELS: Final = "train-labels-idx1-ubyte.gz"
TEST_IMAGES: Final = "t10k-images-idx3-ubyte.gz"
TEST_LABELS: Final = "t10k-labels-idx1-ubyte.gz"
_PIXELS: Final = 784


class DataSet:
    """Images and labels, given out in batches, epoch after epoch.

    Args:
        images: `[count, rows, columns, 1]`.
        labels: `[count]` or `[count, classes]`.
        fake_data: give out constants instead, for tests.
        one_hot: whether fake labels have a one per class.
        dtype: float32 to scale the pixels to [0, 1], uint8 to leave them.
        reshape: whether to give each image as one row of pixels.
        seed: the order of the batches; the graph's seed, or none, when None.

    Raises:
        TypeError: another dtype.
    """

    __repr__ = printed("tf.contrib.learn.datasets.mnist")

    def __init__(
        self,
        images: Array,
        labels: Array,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: DTypeLike = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, op_seed = get_seed(seed)
        self._random = np.random.RandomState(graph_seed if seed is None else op_seed)
        kind = dtypes.as_dtype(dtype).base_dtype
        if kind not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {kind!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._fake = fake_data
        self._num_examples = 10000
        if not fake_data:
            images, labels = _prepared(np.asarray(images), np.asarray(labels), kind, reshape)
            self._num_examples = len(images)
        self._images: NumpyArray = images
        self._labels: NumpyArray = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> NumpyArray:
        """The images, in the order of the current epoch."""
        return self._images

    @property
    def labels(self) -> NumpyArray:
        """The labels, in the order of the images."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many images there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often all images have been given out."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next images and labels; a batch over an epoch's end has the rest of it and the start of the next one.

        Args:
            batch_size: how many examples.
            fake_data: whether to give images of ones and labels of the class 0 instead.
            shuffle: whether each epoch has an order of its own.
        """
        if fake_data or self._fake:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * _PIXELS for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if not start and not self._epochs_completed and shuffle:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        rest_images, rest_labels = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        end -= self._num_examples
        self._index_in_epoch = end
        return (
            np.concatenate((rest_images, self._images[:end])),
            np.concatenate((rest_labels, self._labels[:end])),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        self._random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def _prepared(images: Any, labels: Any, kind: dtypes.DType, reshape: bool) -> tuple[Any, Any]:
    if len(images) != len(labels):
        raise ValueError(f"images and labels differ in number: images.shape: {images.shape} labels.shape: {labels.shape}")
    if reshape:
        if images.shape[3] != 1:
            raise ValueError(f"reshape=True needs images of depth 1, got shape {images.shape}")
        images = images.reshape(len(images), -1)
    if kind == dtypes.float32:
        images = images.astype(np.float32) * np.float32(1 / 255)
    return images, labels


class Datasets(NamedTuple):
    """The digits to train with, those to choose settings by, and those to test with.

    Args:
        train, validation, test: the three DataSets.
    """

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: object,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: DTypeLike = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Read the four gzipped MNIST files of a directory.

    Args:
        train_dir: the directory.
        fake_data: give out constants instead, for tests; no files are needed.
        one_hot: labels as rows with a one, instead of numbers.
        dtype: float32 to scale the pixels to [0, 1], uint8 to leave them.
        reshape: whether to give each image as one row of 784 pixels.
        validation_size: how many of the training images to set aside.
        seed: the order of the batches.
        source_url: where the files can be had; named in the error when they are missing.

    Returns:
        Three DataSets: `train`, `validation` and `test`.

    Raises:
        NotFoundError: a file is not in the directory.
        ValueError: a file is no MNIST file, or `validation_size` exceeds the training images.

    >>> from weft.examples.tutorials.mnist import input_data
    >>> images, labels = input_data.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(3, fake_data=True)
    >>> len(images), len(images[0]), labels[0]
    (3, 784, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """
    if fake_data:
        fake = [DataSet([], [], True, one_hot, dtype, reshape, seed) for _ in range(3)]
        return Datasets(*fake)
    images = _read(train_dir, TRAIN_IMAGES, source_url, extract_images)
    labels = _read(train_dir, TRAIN_LABELS, source_url, extract_labels, one_hot)
    test_images = _read(train_dir, TEST_IMAGES, source_url, extract_images)
    test_labels = _read(train_dir, TEST_LABELS, source_url, extract_labels, one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")

    def data_set(images: Array, labels: Array) -> DataSet:
        return DataSet(images, labels, dtype=dtype, reshape=reshape, seed=seed)

    return Datasets(
        train=data_set(images[validation_size:], labels[validation_size:]),
        validation=data_set(images[:validation_size], labels[:validation_size]),
        test=data_set(test_images, test_labels),
    )


def _read(directory: Any, name: str, source_url: str, extract: Any, *args: Any) -> Any:
    path = os.path.join(directory, name)
    if not gfile.Exists(path):
        raise NotFoundError.of(
            f"{path} does not exist, and files are not fetched from the network: put {source_url}{name} there"
        )
    with gfile.GFile(path, "rb") as file:
        return extract(file, *args)
