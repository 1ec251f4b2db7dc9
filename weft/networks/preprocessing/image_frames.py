"""DataFrameIterator: batches of the picture files that a table names, with labels of its columns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from collections.abc import Sequence as SequenceType
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.networks.preprocessing.image_batches import Generator, Iterator, SavedPictures, image_shape, read_pictures, split_of

_NAMED: Final = ("binary", "categorical", "sparse")


class DataFrameIterator(Iterator):
    """Batches of the picture files that a table names; made by `ImageDataGenerator.flow_from_dataframe`.

    Args:
        dataframe: the table: a DataFrame of pandas, or columns by name.
        directory: the folder of the files; None where the table has whole paths.
        image_data_generator: what changes the pictures, an ImageDataGenerator.
        x_col, y_col, weight_col: the columns of files, of labels (a list of columns for several) and of the examples' weights.
        target_size: rows and columns of the pictures in the batches.
        color_mode: "rgb", "rgba" or "grayscale".
        classes: the labels that count; all when None. Their numbers go by the alphabet.
        class_mode: "categorical", "binary" or "sparse" for named classes, "raw" for the column's values, "multi_output" for a
            list of columns' values, "input" for the pictures themselves, or None for no labels.
        batch_size: how many pictures in a batch.
        shuffle: whether in another order in each epoch.
        seed: of order and changes.
        data_format: "channels_last" or "channels_first".
        save_to_dir, save_prefix, save_format: where to write the changed pictures, how their names begin, "png" or "jpeg".
        subset: "training" or "validation", where the generator splits; all when None.
        interpolation: of changed sizes, such as "nearest" or "bilinear".
        dtype: of the batches.
        validate_filenames: whether rows whose file is no picture are left out.

    Raises:
        ValueError: an unknown mode or subset, or another number of classes than two for "binary".
        TypeError: a column has other values than its use needs.
    """

    allowed_class_modes: Final = ("binary", "categorical", "input", "multi_output", "raw", "sparse", None)

    def __init__(
        self, dataframe: Nest, directory: str | None = None, image_data_generator: Generator | None = None,
        x_col: str = "filename", y_col: str | SequenceType[str] = "class", weight_col: str | None = None,
        target_size: tuple[int, int] = (256, 256), color_mode: str = "rgb", classes: SequenceType[str] | None = None,
        class_mode: str | None = "categorical", batch_size: int = 32, shuffle: bool = True, seed: int | None = None,
        data_format: str = "channels_last", save_to_dir: str | None = None, save_prefix: str = "", save_format: str = "png",
        subset: str | None = None, interpolation: str = "nearest", dtype: str = "float32", validate_filenames: bool = True,
    ) -> None:  # fmt: skip
        assert image_data_generator is not None
        self.directory, self.image_data_generator = directory or "", image_data_generator
        self.target_size, self.color_mode, self.class_mode = tuple(target_size), color_mode, class_mode
        self.data_format, self.interpolation, self.dtype = data_format, interpolation, dtype
        self.image_shape = image_shape(color_mode, self.target_size, data_format)
        self.num_classes: int | None = None
        table = _Table(dataframe, x_col, y_col, weight_col)
        table.check(class_mode, self.allowed_class_modes, classes)
        if validate_filenames:
            table.keep_pictures(self.directory, self.white_list_formats)
        if class_mode in _NAMED:
            known = table.keep_classes(classes)
            self.num_classes = len(known)
            self.class_indices = {name: number for number, name in enumerate(known)}
        table.keep_part(split_of(subset, image_data_generator.validation_split))
        self.filenames: list[str] = list(table.files())
        self.samples = len(self.filenames)
        self._weights: Array | None = table.weights()
        if class_mode in _NAMED:
            self.classes = [_numbers(each, self.class_indices) for each in table.labels()]
        self._labels: Nest = table.values(class_mode)
        self._saved = SavedPictures(save_to_dir, save_prefix, save_format, data_format, 1e7)
        told = f"Found {self.samples} {'' if validate_filenames else 'non-'}validated image filenames"
        print(told + (f" belonging to {self.num_classes} classes." if class_mode in _NAMED else "."))
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self) -> list[str]:
        """The files, in their folder."""
        return [os.path.join(self.directory, name) for name in self.filenames]

    @property
    def labels(self) -> Nest:
        """The number of each file's class, or its values; AttributeError where there are no labels."""
        if self.class_mode in ("multi_output", "raw"):
            return self._labels
        return self.classes

    @property
    def sample_weight(self) -> Array | None:
        """The examples' weights, if there are any."""
        return self._weights

    def _get_batches_of_transformed_samples(self, index_array: Array) -> Nest:
        files = self.filepaths
        batch = read_pictures(self, self.image_data_generator, [files[number] for number in index_array])
        self._saved.write(batch, index_array)
        if self.class_mode is None:
            return batch
        y = self._batch_labels(batch, index_array)
        return (batch, y) if self._weights is None else (batch, y, self._weights[index_array])

    def _batch_labels(self, batch: Array, index_array: Array) -> Nest:
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode == "multi_output":
            return [each[index_array] for each in self._labels]
        if self.class_mode == "raw":
            return self._labels[index_array]
        chosen = [self.classes[number] for number in index_array]
        if self.class_mode != "categorical":
            return np.array(chosen, self.dtype)
        made = np.zeros((len(batch), self.num_classes or 0), self.dtype)
        for row, numbers in zip(made, chosen, strict=True):
            row[numbers] = 1
        return made


def _numbers(label: Nest, known: dict[str, int]) -> Nest:
    return [known[each] for each in label] if isinstance(label, list | tuple) else known[label]


class _Table:
    """Columns by name, of which rows are left out bit by bit."""

    def __init__(self, frame: Nest, x_col: str, y_col: str | SequenceType[str], weight_col: str | None) -> None:
        self._x, self._y, self._weight = x_col, y_col, weight_col
        self._frame = frame
        self._rows: list[int] = list(range(len(frame[x_col])))
        self._kept: dict[int, Nest] = {}

    def _column(self, name: str) -> list[Any]:
        values = list(self._frame[name])
        return [values[row] for row in self._rows]

    def files(self) -> list[Any]:
        """The files."""
        return self._column(self._x)

    def labels(self) -> list[Nest]:
        """The names of classes, a list of them where a file has several."""
        found = self._column(str(self._y))
        return [self._kept.get(row, value) for row, value in zip(self._rows, found, strict=True)]

    def weights(self) -> Array | None:
        """The examples' weights."""
        return None if self._weight is None else np.array(self._column(self._weight))

    def values(self, mode: str | None) -> Nest:
        """The values of the columns of labels, for the modes that take them as they are."""
        if mode == "multi_output":
            return [np.array(self._column(name)) for name in self._y]
        if mode != "raw":
            return None
        if isinstance(self._y, str):
            return np.array(self._column(self._y))
        return np.stack([np.array(self._column(name)) for name in self._y], axis=1)

    def check(self, mode: str | None, modes: tuple[str | None, ...], classes: Nest) -> None:
        """Raise ValueError or TypeError unless the columns are what the mode needs."""
        if mode not in modes:
            raise ValueError(f"Invalid class_mode: {mode}; expected one of: {modes}")
        if mode == "multi_output" and not isinstance(self._y, list):
            raise TypeError(f'If class_mode="{mode}", y_col must be a list. Received {type(self._y).__name__}.')
        if not all(isinstance(each, str) for each in self.files()):
            raise TypeError(f"All values in column x_col={self._x} must be strings.")
        if mode in _NAMED:
            self._check_named(mode or "", classes)
        elif classes is not None and mode in ("raw", "input", None):
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"', stacklevel=4)
        weights = self.weights()
        if weights is not None and weights.dtype.kind not in "biuf":
            raise TypeError(f"Column weight_col={self._weight} must be numeric.")

    def _check_named(self, mode: str, classes: Nest) -> None:
        found = self.labels()
        if mode == "categorical":
            if not all(isinstance(each, str | list | tuple) for each in found):
                raise TypeError(f'If class_mode="{mode}", y_col="{self._y}" column values must be type string, list or tuple.')
            return
        if not all(isinstance(each, str) for each in found):
            raise TypeError(f'If class_mode="{mode}", y_col="{self._y}" column values must be strings.')
        if mode == "binary" and classes is not None and len(set(classes)) != 2:
            raise ValueError(f'If class_mode="binary" there must be 2 classes. {len(set(classes))} class/es were given.')
        if mode == "binary" and classes is None and len(set(found)) != 2:
            raise ValueError(f'If class_mode="binary" there must be 2 classes. Found {len(set(found))} classes.')

    def keep_pictures(self, directory: str, formats: tuple[str, ...]) -> None:
        """Leave out the rows whose file is no picture, with a warning."""
        paths = [os.path.join(directory, each) for each in self.files()]
        good = [path.lower().endswith(formats) and os.path.isfile(path) for path in paths]
        wrong = good.count(False)
        if wrong:
            warnings.warn(
                f'Found {wrong} invalid image filename(s) in x_col="{self._x}". These filename(s) will be ignored.',
                stacklevel=4,
            )
        self._rows = [row for row, is_good in zip(self._rows, good, strict=True) if is_good]

    def keep_classes(self, classes: Iterable[str] | None) -> list[str]:
        """Leave out the labels that are none of the classes, and rows without a label; the classes in order."""
        labels = self.labels()
        if classes is None:
            return sorted({name for each in labels for name in ([each] if isinstance(each, str) else each)})
        known = set(classes)
        kept = []
        for row, label in zip(self._rows, labels, strict=True):
            if isinstance(label, str):
                if label in known:
                    kept.append(row)
                continue
            self._kept[row] = [each for each in label if each in known]
            if self._kept[row]:
                kept.append(row)
        self._rows = kept
        return sorted(known)

    def keep_part(self, part: tuple[float, float]) -> None:
        """Keep what lies between two fractions of the rows."""
        count = len(self._rows)
        self._rows = self._rows[int(part[0] * count) : int(part[1] * count)]
