"""Datasets of files: lines of text, TFRecords, records of one length, columns of CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.datasets import functions, sources, structure
from weft.datasets.dataset import Dataset
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import reshape
from weft.ops.data import files

_BUFFER_BYTES: Final = 256 * 1024
_CSV_BUFFER_BYTES: Final = 4 * 1024 * 1024
_LINE: Final = TensorSpec((), dtypes.string)


def _optional(name: str, value: TensorLike | None, default: Nest, dtype: dtypes.DType = dtypes.int64) -> Tensor:
    if value is not None:
        return convert_to_tensor(value, dtype=dtype, name=name)
    return constant(default, dtype, name=name)


def _filenames(filenames: TensorLike | Dataset) -> Dataset:
    """The names of files as a dataset; TypeError for one that has no single strings."""
    if not isinstance(filenames, Dataset):
        flat = reshape(convert_to_tensor(filenames, dtype=dtypes.string), [-1], name="flat_filenames")
        return Dataset(*sources.from_tensor_slices(flat))
    spec = filenames.element_spec
    if not isinstance(spec, TensorSpec) or spec.dtype is not dtypes.string:
        raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
    if as_dims(spec.shape) not in ((), None):
        raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
    return filenames


class _Records(Dataset):
    """The records of files, whatever they are.

    Args:
        filenames: names, or a dataset of names.
        open_file: makes the node that reads the file of a name.
        num_parallel_reads: how many files are read at the same time, record by record; one after the other when None.
    """

    def __init__(
        self, filenames: TensorLike | Dataset, open_file: Callable[[Tensor], Tensor], num_parallel_reads: int | None
    ) -> None:
        names = _filenames(filenames)

        def read(name: Tensor) -> Dataset:
            return Dataset(open_file(name), _LINE)

        if num_parallel_reads is None:
            made = functions.flat_map(names, read).made
        elif num_parallel_reads == -1:
            made = functions.interleave(names, read, -1, 1, num_parallel_reads).made
        else:
            made = functions.parallel_interleave(names, read, num_parallel_reads).made
        super().__init__(*made, inputs=(names,))


class TextLineDataset(_Records):
    r"""The lines of text files, without their ends.

    Args:
        filenames: names of files, or a dataset of names; fsspec's URLs are names too.
        compression_type: "GZIP", "ZLIB" or "" (none).
        buffer_size: accepted.
        num_parallel_reads: how many files are read at the same time, line by line.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("one\ntwo", file=file, flush=True)
    ...     line = tf.data.TextLineDataset(file.name).make_one_shot_iterator().get_next()
    ...     print(sess.run(line))
    b'one'
    """

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        super().__init__(filenames, lambda name: files.text_line_dataset(
            name, _optional("compression_type", compression_type, "", dtypes.string),
            _optional("buffer_size", buffer_size, _BUFFER_BYTES)), num_parallel_reads)  # fmt: skip


class TFRecordDataset(_Records):
    """The records of files of TFRecords; see `TextLineDataset` for the arguments.

    Args:
        filenames: the paths, a [] or [n] string tensor or a dataset of such.
        compression_type: "GZIP", "ZLIB", or "" or None for none.
        buffer_size: how many bytes are read at a time; weft chooses when None.
        num_parallel_reads: how many files are read at the same time; one after the other when None.
    """

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        super().__init__(filenames, lambda name: files.tf_record_dataset(
            name, _optional("compression_type", compression_type, "", dtypes.string),
            _optional("buffer_size", buffer_size, _BUFFER_BYTES)), num_parallel_reads)  # fmt: skip


class FixedLengthRecordDataset(_Records):
    """The records of one length in files.

    Args:
        filenames: names of files, or a dataset of names.
        record_bytes: the length of a record.
        header_bytes, footer_bytes: how many bytes at the beginning and at the end of each file are passed over.
        buffer_size: accepted.
        compression_type, num_parallel_reads: see `TextLineDataset`.
    """

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        record_bytes: TensorLike,
        header_bytes: TensorLike | None = None,
        footer_bytes: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        compression_type: TensorLike | None = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        super().__init__(filenames, lambda name: files.fixed_length_record_dataset_v2(
            name, _optional("header_bytes", header_bytes, 0), convert_to_tensor(record_bytes, dtypes.int64, "record_bytes"),
            _optional("footer_bytes", footer_bytes, 0), _optional("buffer_size", buffer_size, _BUFFER_BYTES),
            _optional("compression_type", compression_type, "", dtypes.string)), num_parallel_reads)  # fmt: skip


class CsvDataset(Dataset):
    """The records of CSV files, one component for each column.

    Args:
        filenames: names of files.
        record_defaults: for each column the value where there is none, or a type where there must be one.
        compression_type: see `TextLineDataset`.
        buffer_size: accepted.
        header: whether the first line of each file is no record.
        field_delim: stands between fields.
        use_quote_delim: whether quotes may hold delimiters.
        na_value: stands for a value that is not there, as an empty field does.
        select_cols: the numbers of the columns wanted, ascending; all when None.
    """

    def __init__(
        self,
        filenames: TensorLike,
        record_defaults: Sequence[Nest],
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        header: TensorLike = False,
        field_delim: TensorLike = ",",
        use_quote_delim: TensorLike = True,
        na_value: TensorLike = "",
        select_cols: TensorLike | None = None,
    ) -> None:
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        compression = _optional("compression_type", compression_type, "", dtypes.string)
        defaults = [column_default(each) for each in record_defaults]
        spec = tuple(TensorSpec((), each.dtype.base_dtype) for each in defaults)
        variant = files.csv_dataset(
            names, compression, _optional("buffer_size", buffer_size, _CSV_BUFFER_BYTES),
            convert_to_tensor(header, dtype=dtypes.bool, name="header"),
            convert_to_tensor(field_delim, dtype=dtypes.string, name="field_delim"),
            convert_to_tensor(use_quote_delim, dtype=dtypes.bool, name="use_quote_delim"),
            convert_to_tensor(na_value, dtype=dtypes.string, name="na_value"),
            _optional("select_cols", select_cols, []), defaults, output_shapes=structure.flat_shapes(spec),
        )  # fmt: skip
        super().__init__(variant, spec)


_COLUMN_TYPES: Final = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def column_default(value: Nest) -> Tensor:
    """A column's default; one without elements for a type, whose column must have values."""
    if isinstance(value, Tensor):
        return value
    try:
        dtype = None if isinstance(value, str | bytes) else as_dtype(value)
    except TypeError:
        dtype = None
    if dtype in _COLUMN_TYPES:
        return constant([], dtype)
    return convert_to_tensor(value, name="record_defaults")
