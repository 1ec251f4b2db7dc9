"""Batches of pictures, of arrays and of folders, that ImageDataGenerator changes at random."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator as IteratorType
from collections.abc import Sequence as SequenceType
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.networks.fitting.sequence import Sequence
from weft.networks.preprocessing.pictures import array_to_img, img_to_array, load_img


class Generator(Protocol):
    """What changes pictures, such as ImageDataGenerator."""

    @property
    def validation_split(self) -> float: ...

    def get_random_transform(self, img_shape: SequenceType[int], seed: int | None = None) -> dict[str, Nest]: ...
    def apply_transform(self, x: Array, transform_parameters: dict[str, Nest]) -> Array: ...
    def standardize(self, x: Array) -> Array: ...


class Iterator(Sequence):
    """Batches without end, and by their numbers; subclasses make a batch of the numbers of its samples.

    Threads may share it.

    Args:
        n: how many samples there are.
        batch_size: how many are in a batch.
        shuffle: whether to mix them, anew each time through.
        seed: of NumPy's random numbers, which are begun again with each batch; None leaves them as they are.
    """

    white_list_formats: Final = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n = n
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Array | None = None
        self.index_generator = self._flow_index()

    def _order(self) -> Array:
        return np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _begin_batch(self) -> None:
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1

    def __getitem__(self, index: int) -> Nest:
        if index >= len(self):
            raise ValueError(f"Asked to retrieve element {index}, but the Sequence has length {len(self)}")
        self._begin_batch()
        order = self.index_array = self._order() if self.index_array is None else self.index_array
        return self._get_batches_of_transformed_samples(order[self.batch_size * index : self.batch_size * (index + 1)])

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def on_epoch_end(self) -> None:
        """Mix the samples again."""
        self.index_array = self._order()

    def reset(self) -> None:
        """Begin again with the first batch."""
        self.batch_index = 0

    def _flow_index(self) -> IteratorType[Array]:
        while True:
            self._begin_batch()
            order = self.index_array
            if self.batch_index == 0 or order is None:
                order = self.index_array = self._order()
            start = self.batch_index * self.batch_size % self.n if self.n else 0
            self.batch_index = self.batch_index + 1 if self.n > start + self.batch_size else 0
            yield order[start : start + self.batch_size]

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Nest:
        return self.next()

    def next(self) -> Nest:
        """The next batch; after the last comes the first."""
        with self.lock:
            numbers = next(self.index_generator)
        return self._get_batches_of_transformed_samples(numbers)

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Nest:
        raise NotImplementedError


class SavedPictures:
    """Where batches are written for a look at them, if anywhere."""

    def __init__(self, folder: str | None, prefix: str, form: str, layout: str, hashes: float) -> None:
        self._folder = folder
        self._prefix = prefix
        self._form = form
        self._layout = layout
        self._hashes = int(hashes)

    def write(self, batch: Array, numbers: Array) -> None:
        if not self._folder:
            return
        for pixels, number in zip(batch, numbers, strict=True):
            name = f"{self._prefix}_{number}_{np.random.randint(self._hashes)}.{self._form}"
            array_to_img(pixels, self._layout, scale=True).save(os.path.join(self._folder, name))


class NumpyArrayIterator(Iterator):
    """Batches of arrays in memory; made by `ImageDataGenerator.flow`.

    Args:
        x: the pictures, `[n, rows, columns, channels]`, or a list of them and of further arrays of n rows.
        y: their labels; none when None.
        image_data_generator: what changes the pictures, an ImageDataGenerator.
        sample_weight: their weights; none when None.
        batch_size: how many pictures in a batch.
        shuffle: whether in another order in each epoch.
        seed: of order and changes.
        data_format: "channels_last" or "channels_first".
        save_to_dir, save_prefix, save_format: where to write the changed pictures, how their names begin, "png" or "jpeg".
        subset: "training" or "validation", where the generator splits; all when None.
        dtype: of the batches.

    Raises:
        ValueError: arrays of different lengths, of another rank than 4, or an unknown subset.
    """

    def __init__(
        self, x: Nest, y: Nest, image_data_generator: Generator, batch_size: int = 32, shuffle: bool = False,
        sample_weight: Nest = None, seed: int | None = None, data_format: str = "channels_last",
        save_to_dir: str | None = None, save_prefix: str = "", save_format: str = "png", subset: str | None = None,
        dtype: str = "float32",
    ) -> None:  # fmt: skip
        x, misc = _with_further(x)
        for name, values in (("`y` (labels)", y), ("`sample_weight`", sample_weight)):
            if values is not None and len(values) != len(x):
                raise ValueError(
                    f"`x` (images tensor) and {name} should have the same length. "
                    f"Found: x.shape = {np.shape(x)}, {np.shape(values)}"
                )
        if subset is not None:
            part = _subset(subset, int(len(x) * image_data_generator.validation_split), y)
            x, misc, y = x[part], [each[part] for each in misc], None if y is None else y[part]
        self.dtype = dtype
        self.x = np.asarray(x, dtype)
        self.x_misc = misc
        if self.x.ndim != 4:
            raise ValueError(
                f"Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape {self.x.shape}"
            )
        _warn_of_channels(self.x, data_format)
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.data_format = data_format
        self._saved = SavedPictures(save_to_dir, save_prefix, save_format, data_format, 1e4)
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Nest:
        batch = np.zeros((len(index_array), *self.x.shape[1:]), self.dtype)
        for place, number in enumerate(index_array):
            batch[place] = _changed(self.image_data_generator, self.x[number].astype(self.dtype))
        self._saved.write(batch, index_array)
        images: Nest = [batch, *(each[index_array] for each in self.x_misc)] if self.x_misc else batch
        if self.y is None:
            return images
        weights = () if self.sample_weight is None else (self.sample_weight[index_array],)
        return (images, self.y[index_array], *weights)


def _changed(generator: Generator, pixels: Array) -> Array:
    return generator.standardize(generator.apply_transform(pixels, generator.get_random_transform(pixels.shape)))


def _with_further(x: Nest) -> tuple[Nest, list[Array]]:
    """The images, and arrays that are given beside them in `[images, further]`."""
    if not isinstance(x, tuple | list):
        return np.asarray(x), []
    further = [np.asarray(each) for each in (x[1] if isinstance(x[1], list) else [x[1]])]
    for each in further:
        if len(each) != len(x[0]):
            raise ValueError(
                "All of the arrays in `x` should have the same length. Found a pair with: "
                f"len(x[0]) = {len(x[0])}, len(x[?]) = {len(each)}"
            )
    return np.asarray(x[0]), further


def _subset(subset: str, split: int, y: Nest) -> slice:
    if subset not in ("training", "validation"):
        raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')
    if y is not None and not np.array_equal(np.unique(y[:split]), np.unique(y[split:])):
        raise ValueError(
            "Training and validation subsets have different number of classes after the split. If your numpy arrays are "
            "sorted by the label, you might want to shuffle them."
        )
    return slice(None, split) if subset == "validation" else slice(split, None)


def _warn_of_channels(x: Array, data_format: str) -> None:
    axis = 3 if data_format == "channels_last" else 1
    if x.shape[axis] not in (1, 3, 4):
        warnings.warn(
            f'NumpyArrayIterator is set to use the data format convention "{data_format}" (channels on axis {axis}), i.e. '
            f"expected either 1, 3, or 4 channels on axis {axis}. However, it was passed an array with shape {x.shape} "
            f"({x.shape[axis]} channels).",
            stacklevel=3,
        )


class DirectoryIterator(Iterator):
    """Batches of picture files in a folder for each class; made by `ImageDataGenerator.flow_from_directory`.

    Args:
        directory: the folder with a folder for each class.
        image_data_generator: what changes the pictures, an ImageDataGenerator.
        target_size: rows and columns of the pictures in the batches.
        color_mode: "rgb", "rgba" or "grayscale".
        classes: the folders' names in the order of the labels; sorted when None.
        class_mode: the labels: "categorical", "binary", "sparse", "input" for the pictures themselves, or None for none.
        follow_links: whether links to folders are followed.
        interpolation: of changed sizes, such as "nearest" or "bilinear".
        batch_size: how many pictures in a batch.
        shuffle: whether in another order in each epoch.
        seed: of order and changes.
        data_format: "channels_last" or "channels_first".
        save_to_dir, save_prefix, save_format: where to write the changed pictures, how their names begin, "png" or "jpeg".
        subset: "training" or "validation", where the generator splits; all when None.
        dtype: of the batches.

    Raises:
        ValueError: an unknown mode, format or subset.
    """

    allowed_class_modes: Final = ("categorical", "binary", "sparse", "input", None)

    def __init__(
        self, directory: str, image_data_generator: Generator, target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb", classes: SequenceType[str] | None = None, class_mode: str | None = "categorical",
        batch_size: int = 32, shuffle: bool = True, seed: int | None = None, data_format: str = "channels_last",
        save_to_dir: str | None = None, save_prefix: str = "", save_format: str = "png", follow_links: bool = False,
        subset: str | None = None, interpolation: str = "nearest", dtype: str = "float32",
    ) -> None:  # fmt: skip
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}")
        self.directory = directory
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        self.color_mode = color_mode
        self.class_mode = class_mode
        self.data_format = data_format
        self.interpolation = interpolation
        self.dtype = dtype
        self.image_shape = image_shape(color_mode, self.target_size, data_format)
        folders = list(classes or sorted(each.name for each in Path(directory).iterdir() if each.is_dir()))
        self.num_classes = len(folders)
        self.class_indices = {name: number for number, name in enumerate(folders)}
        self._read_names(folders, split_of(subset, image_data_generator.validation_split), follow_links)
        self._saved = SavedPictures(save_to_dir, save_prefix, save_format, data_format, 1e7)
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _read_names(self, folders: list[str], split: tuple[float, float], follow_links: bool) -> None:
        self.filenames: list[str] = []
        numbers: list[int] = []
        for folder in folders:
            found = _names(os.path.join(self.directory, folder), self.white_list_formats, follow_links)
            part = found[int(split[0] * len(found)) : int(split[1] * len(found))]
            self.filenames += [os.path.join(folder, name) for name in part]
            numbers += [self.class_indices[folder]] * len(part)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, np.int32)

    @property
    def filepaths(self) -> list[str]:
        """The files."""
        return [os.path.join(self.directory, name) for name in self.filenames]

    @property
    def labels(self) -> Array:
        """The number of each file's class."""
        return self.classes

    @property
    def sample_weight(self) -> None:
        """There are no weights."""
        return

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Nest:
        paths = [os.path.join(self.directory, self.filenames[number]) for number in index_array]
        batch = read_pictures(self, self.image_data_generator, paths)
        self._saved.write(batch, index_array)
        classes = self.classes[index_array]
        if self.class_mode == "input":
            return batch, batch.copy()
        if self.class_mode in ("binary", "sparse"):
            return batch, classes.astype(self.dtype)
        if self.class_mode == "categorical":
            return batch, np.eye(self.num_classes, dtype=self.dtype)[classes]
        return batch


def image_shape(color_mode: str, sizes: SequenceType[int], data_format: str) -> tuple[int, ...]:
    """The shape of one picture; ValueError for an unknown color mode.

    Args:
        color_mode: "rgb", "rgba" or "grayscale".
        sizes: rows and columns.
        data_format: "channels_last" or "channels_first".
    """
    if color_mode not in ("rgb", "rgba", "grayscale"):
        raise ValueError("Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".')
    depth = {"rgb": 3, "rgba": 4, "grayscale": 1}[color_mode]
    return (*sizes, depth) if data_format == "channels_last" else (depth, *sizes)


class PictureBatches(Protocol):
    """How an iterator over files reads them."""

    image_shape: tuple[int, ...]
    target_size: tuple[int, ...]
    color_mode: str
    interpolation: str
    data_format: str
    dtype: str


def read_pictures(batches: PictureBatches, generator: Generator, paths: SequenceType[str]) -> Array:
    """The pictures of files in one array, changed as the generator says.

    Args:
        batches: tells the pictures' size and form.
        generator: what changes them.
        paths: the files.
    """
    made = np.zeros((len(paths), *batches.image_shape), batches.dtype)
    size = (batches.target_size[0], batches.target_size[1])
    for row, path in zip(made, paths, strict=True):
        with load_img(
            path, color_mode=batches.color_mode, target_size=size, interpolation=batches.interpolation
        ) as picture:  # fmt: skip
            row[...] = _changed(generator, img_to_array(picture, batches.data_format))
    return made


def split_of(subset: str | None, validation: float) -> tuple[float, float]:
    """The fractions of the files between which a subset lies; ValueError for an unknown one.

    Args:
        subset: "training", "validation", or None for all.
        validation: the fraction to validate with, which comes first.
    """
    splits = {None: (0, 1), "validation": (0, validation), "training": (validation, 1)}
    if subset not in splits:
        raise ValueError(f'Invalid subset name: {subset};expected "training" or "validation"')
    return splits[subset]


def _names(folder: str, formats: tuple[str, ...], follow_links: bool) -> list[str]:
    """The picture files in a folder and those below it, relative to it."""
    found = []
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links), key=lambda each: each[0]):
        found += [os.path.relpath(os.path.join(root, name), folder) for name in sorted(names) if name.lower().endswith(formats)]
    return found
