"""Readers of series: arrays, CSV files, and files of Examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from weft.estimators.inputs.numpy_input import numpy_input_fn
from weft.framework.building.aliases import Array, DTypeLike, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.printed import printed
from weft.networks.time_series.feature_keys import TrainEvalFeatures
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import reshape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.io.csv_records import decode_csv
from weft.ops.io.parse_example import parse_example
from weft.ops.io.readers import ReaderBase, TextLineReader, TFRecordReader
from weft.ops.math.comparison import not_equal
from weft.ops.variables.assign import assign, is_variable_initialized
from weft.ops.variables.variable import Variable
from weft.training.input.input_producers import string_input_producer

_HINT: Final = 4096
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesReader:
    """Reads a series: a part at a time, or all of it."""

    __repr__ = printed("tf.contrib.timeseries")

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Refuse a series that is known to be too short.

        Args:
            minimum_dataset_size: how many times it has to have.
        """

    def read(self) -> dict[str, Tensor]:
        """A part of the series, again and again.

        Returns:
            Features by name, of some times that follow each other, `[n, ...]` each.
        """
        raise NotImplementedError(f"read is not implemented for {type(self).__name__}.")

    def read_full(self) -> dict[str, Tensor]:
        """The whole series.

        Returns:
            Features by name, of all times, `[n, ...]` each.
        """
        raise NotImplementedError(f"read_full is not implemented for {type(self).__name__}.")


class NumpyReader(TimeSeriesReader):
    """A series of arrays.

    Args:
        data: times `[n]`, values `[n]` or `[n, features]` and exogenous features `[n, ...]`, by name.
        read_num_records_hint: how many times are read at once.

    Raises:
        ValueError: times or values are missing, or shapes do not fit.
    """

    def __init__(self, data: Mapping[str, Nest], read_num_records_hint: int = _HINT) -> None:
        self._features = canonical_arrays(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Refuse a series that is too short.

        Args:
            minimum_dataset_size: how many times it has to have.

        Raises:
            ValueError: it has fewer.
        """
        found = self._features[_TIMES].shape[1]
        if found < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but only {found} records "
                "were available in the dataset. Either decrease the window size or provide more records."
            )

    def read(self) -> dict[str, Tensor]:
        """Features by name, of some times that follow each other, again and again."""
        features = {key: np.squeeze(value, axis=0) for key, value in self._features.items()}
        read: dict[str, Tensor] = numpy_input_fn(
            x=features, batch_size=self._read_num_records_hint, num_epochs=None, shuffle=False
        )()
        return read

    def read_full(self) -> dict[str, Tensor]:
        """Features by name, of all times."""
        # The whole series is one element of the queue.
        whole = numpy_input_fn(x=self._features, batch_size=1, num_epochs=None, queue_capacity=2, shuffle=False)()
        return {name: squeeze(value, axis=0) for name, value in whole.items()}


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series of files that a reader of `tf.ReaderBase` reads.

    A subclass defines `_get_reader`, which makes the reader, and `_process_records`, which makes features of `[n] string`.

    Args:
        filenames: a file, or several.
        read_num_records_hint: how many records are read at once.
    """

    def __init__(self, filenames: TensorLike, read_num_records_hint: int = _HINT) -> None:
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    def _get_reader(self) -> ReaderBase:
        raise NotImplementedError(f"_get_reader is not implemented for {type(self).__name__}.")

    def _process_records(self, lines: Tensor) -> dict[str, Tensor]:
        raise NotImplementedError(f"_process_records is not implemented for {type(self).__name__}.")

    def _get_filename_queue(self, epoch_limit: int) -> tuple[Nest, Variable]:
        """The queue of files, which ends after so many rounds, and the variable that counts these."""
        rounds = Variable(
            constant(0, dtype=dtypes.int64), name="epoch_limiter", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        names = reshape(convert_to_tensor(self._filenames), [-1])
        counted = cond(
            is_variable_initialized(rounds), lambda: rounds.count_up_to(epoch_limit), lambda: constant(0, dtype=dtypes.int64)
        )
        with get_default_graph().control_dependencies([counted]):
            names = identity(names)
        return string_input_producer(names, shuffle=False, capacity=1), rounds

    def read(self) -> dict[str, Tensor]:
        """Features by name, of some times that follow each other, again and again."""
        # Files without records end the input, rather than being read for ever.
        queue, rounds = self._get_filename_queue(epoch_limit=self._read_num_records_hint)
        reader = self._get_reader()
        with get_default_graph().control_dependencies([assign(rounds, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> dict[str, Tensor]:
        """Features by name, of all times."""
        reader = self._get_reader()
        queue, rounds = self._get_filename_queue(epoch_limit=2)
        with get_default_graph().control_dependencies([assign(rounds, 0)]):
            first_key, first = reader.read_up_to(queue, 1)

        # The series ends where its first record comes again.
        def is_new(key: Tensor, value: Tensor, number: Tensor, records: TensorArray) -> Tensor:
            return not_equal(squeeze(key, axis=0), squeeze(first_key, axis=0))

        def following(key: Tensor, value: Tensor, number: Tensor, records: TensorArray) -> Nest:
            next_key, next_value = reader.read_up_to(queue, 1)
            next_key.set_shape([1])
            next_value.set_shape([1])
            return next_key, next_value, number + 1, records.write(number, value)

        records = TensorArray(dtype=dtypes.string, size=0, dynamic_size=True)
        *_, records = while_loop(is_new, following, [constant([""]), first, 0, records])
        return self._process_records(records.concat())


class CSVReader(ReaderBaseTimeSeriesParser):
    """A series of CSV files.

    Args:
        filenames: a file, or several.
        column_names: the names of the columns: times, once, and values, once for each feature; others are exogenous.
        column_dtypes: the types of the columns; int64 for times and float32 for others when None.
        skip_header_lines: how many lines at the beginning of each file are left out.
        read_num_records_hint: how many lines are read at once.

    Raises:
        ValueError: a column is missing, or there are times twice.
    """

    def __init__(
        self, filenames: TensorLike, column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[DTypeLike] | None = None, skip_header_lines: int | None = None,
        read_num_records_hint: int = _HINT,
    ) -> None:  # fmt: skip
        _check_columns(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names (got "
                f"column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if sum(name == _TIMES for name in column_names) != 1:
            raise ValueError(f"Got more than one times column ('{_TIMES}'), but exactly one is required.")
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames, read_num_records_hint)

    def _get_reader(self) -> ReaderBase:
        return TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: Tensor) -> dict[str, Tensor]:
        if self._column_dtypes is None:
            types = [dtypes.int64 if name == _TIMES else dtypes.float32 for name in self._column_names]
        else:
            types = [as_dtype(each) for each in self._column_dtypes]
        # A number that is missing is an error, where the type was not given; times are 0 then, as in TensorFlow.
        is_given = self._column_dtypes is not None
        defaults = [
            zeros([1], dtype) if is_given or name == _TIMES else constant([], dtype)
            for name, dtype in zip(self._column_names, types, strict=True)
        ]
        by_name: dict[str, list[Tensor]] = {}
        for name, column in zip(self._column_names, decode_csv(lines, defaults), strict=True):
            by_name.setdefault(name, []).append(column)
        return {name: columns[0] if name == _TIMES else stack(columns, axis=1) for name, columns in by_name.items()}


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series of TFRecord files of Examples.

    Args:
        filenames: a file, or several.
        features: FixedLenFeatures by name: times, a whole number, values, and exogenous features.

    Raises:
        ValueError: times or values are missing.
    """

    def __init__(self, filenames: TensorLike, features: Mapping[str, Nest]) -> None:
        _check_columns(features)
        self._features = features
        super().__init__(filenames)

    def _get_reader(self) -> ReaderBase:
        return TFRecordReader()

    def _process_records(self, lines: Tensor) -> dict[str, Tensor]:
        found: dict[str, Tensor] = parse_example(serialized=lines, features=self._features)
        return found


def _check_columns(names: Sequence[str] | Mapping[str, Nest]) -> None:
    for name in (_TIMES, _VALUES):
        if name not in names:
            raise ValueError(f"'{name}' is a required column.")


def canonical_arrays(data: Mapping[str, Nest], require_single_batch: bool) -> dict[str, Array]:
    """Features as `[batch, times, ...]`, whatever of these dimensions they have.

    Args:
        data: times (a number, `[times]` or `[batch, times]`), values and exogenous features, which have further dimensions.
        require_single_batch: whether there may be one series alone.

    Raises:
        ValueError: times or values are missing, or shapes do not fit.
    """
    features = {key: np.array(value) for key, value in data.items()}
    if _TIMES not in features or _VALUES not in features:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    times = features[_TIMES]
    for key, value in features.items():
        if value.shape[: times.ndim] != times.shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. Got shape "
                f"{value.shape} for feature '{key}', but shape {times.shape} for '{_TIMES}'"
            )
    if times.ndim > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two ([batch size, series length]), but "
            f"got shape {times.shape}."
        )
    if times.ndim < 2:
        values = features[_VALUES]
        if values.ndim == times.ndim:
            features[_VALUES] = values[..., None]
        elif values.ndim > times.ndim + 1:
            raise ValueError(
                f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was expecting at most {times.ndim + 1} "
                f"since '{_TIMES}' has {times.ndim}, but got shape {values.shape}"
            )
        features = {key: value[(None,) * (2 - times.ndim)] for key, value in features.items()}
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features
