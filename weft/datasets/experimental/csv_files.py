"""make_csv_dataset: batches of columns of CSV files, with names and types that the files themselves tell."""

from __future__ import annotations

import csv
import gzip
import io
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from weft.datasets.dataset import Dataset
from weft.datasets.experimental import transformations
from weft.datasets.experimental.transformations import parallel_interleave, shuffle_and_repeat
from weft.datasets.readers import CsvDataset
from weft.framework.building.aliases import Nest, NumberLike, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.platform.files import gfile

_TYPES: Final = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def shuffled_and_repeated(
    dataset: Dataset, num_epochs: int | None, shuffle: bool, buffer_size: NumberLike, seed: TensorLike | None
) -> Dataset:
    """The elements as often as wanted, in random order where that is wanted."""
    if shuffle and num_epochs != 1:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def make_csv_dataset(
    file_pattern: str | Sequence[str],
    batch_size: NumberLike,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Nest] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[int | str] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: NumberLike = 10000,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: NumberLike | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the records of CSV files: dicts of columns by name, and the label beside them where one is named.

    Args:
        file_pattern: files, or patterns of their names.
        batch_size: how many records are in a batch.
        column_names: the columns' names; the first line of the files when None.
        column_defaults: values for fields that are empty, or types for columns that must have values; told by the first
            records when None.
        label_name: the column that is the label.
        select_columns: the columns wanted, by name or number.
        field_delim, use_quote_delim, na_value, header: see `CsvDataset`.
        num_epochs: how often the records come; without end when None, and then all batches have one size.
        shuffle, shuffle_buffer_size, shuffle_seed: whether and how files and records come in random order.
        prefetch_buffer_size: how many batches are made ahead.
        num_parallel_reads: how many files are read at the same time.
        sloppy: see `parallel_interleave`.
        num_rows_for_inference: how many records tell the types; all when None.
        compression_type: "GZIP", or "" or None for none.
        ignore_errors: whether records that cannot be read are left out.

    Returns:
        A dataset of dicts of `[batch]` tensors, or of pairs of a dict and the label.

    Raises:
        ValueError: there are no such files or columns, or their names are not known, or differ between files.
    """
    paths = _paths(file_pattern)
    dataset = Dataset.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)
    probe = _Probe(paths, field_delim, use_quote_delim, compression_type)
    all_names = _all_names(probe, column_names, header)
    chosen = None if select_columns is None else _numbers(select_columns, all_names)
    wanted = range(len(all_names)) if chosen is None else chosen
    defaults = _checked_defaults(column_defaults, chosen)
    if defaults is None:
        defaults = probe.defaults(len(all_names), wanted, na_value, header, num_rows_for_inference)
    names = _chosen_names(all_names, wanted, label_name)

    def open_file(path: Tensor) -> Dataset:
        records: Dataset = CsvDataset(
            path, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, chosen
        )
        return records.apply(transformations.ignore_errors()) if ignore_errors else records

    def by_name(*columns: Tensor) -> Nest:
        features = OrderedDict(zip(names, columns, strict=True))
        return features if label_name is None else _with_label(features, label_name)

    dataset = dataset.apply(parallel_interleave(open_file, cycle_length=num_parallel_reads or 1, sloppy=sloppy))
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(by_name)
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _all_names(probe: _Probe, given: Sequence[str] | None, has_header: bool) -> Sequence[str]:
    """The names of all columns of the files."""
    if given is None and not has_header:
        raise ValueError("Cannot infer column names without a header line.")
    names = probe.names() if given is None else given
    if len(names) != len(set(names)):
        raise ValueError("Cannot have duplicate column names.")
    return names


def _chosen_names(names: Sequence[str], wanted: Sequence[int], label_name: str | None) -> list[str]:
    chosen = [names[number] for number in wanted]
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"`label_name` provided must be one of the columns. {label_name!r} is none of {chosen}.")
    return chosen


def _checked_defaults(given: Sequence[Nest] | None, chosen: Sequence[int] | None) -> Sequence[Nest] | None:
    if given is not None and chosen is not None and len(given) != len(chosen):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    return given


def _paths(file_pattern: str | Sequence[str]) -> list[str]:
    """The files that match, sorted; ValueError when there is none."""
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = sorted(path for pattern in patterns for path in gfile.Glob(pattern))
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found


def _numbers(columns: Sequence[int | str], names: Sequence[str]) -> list[int]:
    for column in columns:
        if isinstance(column, int) and not 0 <= column < len(names):
            raise ValueError(f"Column index {column} specified in select_columns out of valid range.")
        if not isinstance(column, int) and column not in names:
            raise ValueError(f"Value '{column}' specified in select_columns not a valid column index or name.")
    numbers = sorted({column if isinstance(column, int) else list(names).index(column) for column in columns})
    if len(numbers) != len(columns):
        raise ValueError("select_columns contains duplicate columns")
    return numbers


class _Probe:
    """Looks into CSV files while the graph is built.

    Args:
        paths: the files.
        delimiter: stands between fields.
        quoted: whether quotes may hold delimiters.
        compression: how the files are compressed.
    """

    def __init__(self, paths: Sequence[str], delimiter: str, quoted: bool, compression: str | None) -> None:
        if compression not in (None, "", "GZIP"):
            raise ValueError(f"compression_type ({compression}) is not supported for probing columns")
        self._paths = paths
        self._delimiter = delimiter
        self._quoting: Final = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        self._compression = compression

    def _rows(self, path: str) -> Iterator[list[str]]:
        with gfile.GFile(path, "rb") as file:
            data = gzip.decompress(file.read()) if self._compression else file.read()
        yield from csv.reader(io.StringIO(data.decode(), newline=""), delimiter=self._delimiter, quoting=self._quoting)

    def names(self) -> list[str]:
        """The fields of the first line, which all files have."""
        found: list[str] | None = None
        for path in self._paths:
            first = next(self._rows(path), None)
            if first is None:
                raise ValueError(f"Received StopIteration when reading the header line of {path}.  Empty file?")
            if found is not None and first != found:
                raise ValueError("Files have different column names in the header row.")
            found = first
        assert found is not None
        return found

    def defaults(self, count: int, columns: Sequence[int], missing: str, has_header: bool, limit: int | None) -> list[Tensor]:
        """A zero or an empty string of the narrowest type that holds all values of a column in the first records."""
        types: list[DType | None] = [None] * len(columns)
        for number, row in enumerate(self._records(has_header)):
            if limit is not None and number >= limit:
                break
            if len(row) != count:
                raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
            types = [_type_of(row[column], missing, kind) for column, kind in zip(columns, types, strict=True)]
        settled = [kind or dtypes.string for kind in types]
        return [constant(["" if kind is dtypes.string else 0], kind) for kind in settled]

    def _records(self, has_header: bool) -> Iterator[list[str]]:
        for path in self._paths:
            rows = self._rows(path)
            if has_header:
                next(rows, None)
            yield from rows


def _type_of(text: str, missing: str, before: DType | None) -> DType | None:
    if text in ("", missing):
        return before
    for place, kind in enumerate(_TYPES):
        if _HOLDS[place](text) and (before is None or before in _TYPES[: place + 1]):
            return kind
    return dtypes.string


def _is_integer(text: str, bits: int) -> bool:
    try:
        return -(1 << (bits - 1)) <= int(text) < 1 << (bits - 1)
    except ValueError:
        return False


def _is_float(text: str, kind: type[np.floating]) -> bool:
    try:
        with np.errstate(over="ignore"):
            number = float(kind(text))
        return number < np.inf
    except ValueError:
        return False


_HOLDS: Final[Sequence[Callable[[str], bool]]] = (
    lambda text: _is_integer(text, 32),
    lambda text: _is_integer(text, 64),
    lambda text: _is_float(text, np.float32),
    lambda text: _is_float(text, np.float64),
    lambda text: True,
)


def _with_label(features: OrderedDict[str, Tensor], label_name: str) -> tuple[OrderedDict[str, Tensor], Tensor]:
    label = features.pop(label_name)
    return features, label
