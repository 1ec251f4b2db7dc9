"""Ids by vocabulary: the position of a string or integer in a list, or in a file of one entry a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.models.feature_columns.categorical import KeyedColumn
from weft.models.feature_columns.column import dense
from weft.models.feature_columns.column_checks import check_key, check_same_kind, check_string_or_int, whole_number
from weft.models.feature_columns.contracts import StateManager
from weft.ops.lookup.tables import LookupInterface
from weft.ops.lookup.vocabularies import index_table_from_file, index_table_from_tensor
from weft.ops.math.casting import cast
from weft.platform.files import gfile
from weft.platform.files.missing_file import what_is_there
from weft.platform.logs import tf_logging


class _VocabularyColumn(KeyedColumn):
    """Ids that a table gives."""

    @property
    def feature_key(self) -> str:
        """The feature's name."""
        return self._key()

    @property
    def feature_dtype(self) -> DType:
        """The type as which the feature is parsed."""
        return self._dtype()

    def _key(self) -> str:
        raise NotImplementedError

    def _dtype(self) -> DType:
        raise NotImplementedError

    def _table(self, key_dtype: DType, name: str) -> LookupInterface:
        raise NotImplementedError

    def ids_of(self, feature: SparseTensor, state_manager: StateManager) -> SparseTensor:
        """The positions of the feature's elements in the vocabulary."""
        key, dtype = self._key(), self._dtype()
        check_same_kind(key, dtype, feature.dtype)
        check_string_or_int(feature.dtype, f"column_name: {key} input_tensor")
        if feature.dtype.is_integer:
            dtype = dtypes.int64
            feature = feature.with_values(cast(feature.values, dtypes.int64))
        name = f"{key}_lookup"
        table = self._table(dtype, name)
        state_manager.add_resource(self, name, table)
        return feature.with_values(dense(table.lookup(feature.values)))


class _FileFields(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int


class VocabularyFileCategoricalColumn(_VocabularyColumn, _FileFields):
    """Ids by the lines of a file; see `categorical_column_with_vocabulary_file`."""

    @property
    def num_buckets(self) -> int:
        """The file's lines, and the buckets for what is not in it."""
        return self.vocabulary_size + self.num_oov_buckets

    def _key(self) -> str:
        return self.key

    def _dtype(self) -> DType:
        return self.dtype

    def _table(self, key_dtype: DType, name: str) -> LookupInterface:
        return index_table_from_file(
            self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size, self.default_value, key_dtype=key_dtype, name=name
        )


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DType = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """A column of ids by the lines of a text file.

    Args:
        key: the feature's name.
        vocabulary_file: the file, one entry a line.
        vocabulary_size: how many of its lines to use; the file is counted now when None.
        num_oov_buckets: how many ids there are, behind those of the file, for what is not in it; chosen by hash.
        default_value: without such buckets, the id of what is not in the file; -1, for no id, when None.
        dtype: string, or a type of integers.

    Raises:
        ValueError: there is no such file, or the arguments do not fit together.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        vocabulary_size = _lines(key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    size = whole_number(vocabulary_size, "vocabulary_size", key)
    buckets = _checked_buckets(key, num_oov_buckets, default_value is not None)
    check_string_or_int(dtype, f"column_name: {key}")
    check_key(key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(key, vocabulary_file, size, buckets, dtype, default)


def _lines(key: str, path: str) -> int:
    if not gfile.Exists(path):
        raise ValueError(f"vocabulary_file in {key} does not exist. There is no file {path!r}.{what_is_there(path)}")
    with gfile.GFile(path) as file:
        count = sum(1 for _ in file)
    tf_logging.info(
        "vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.", count, key, path
    )
    return count


def _checked_buckets(key: str, count: int | None, has_default: bool) -> int:
    if not count:
        return 0
    if has_default:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if count < 0:
        raise ValueError(f"Invalid num_oov_buckets {count} in {key}.")
    return whole_number(count, "num_oov_buckets", key)


class _ListFields(NamedTuple):
    key: str
    vocabulary_list: tuple[str | bytes | int, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_VocabularyColumn, _ListFields):
    """Ids by the entries of a list; see `categorical_column_with_vocabulary_list`."""

    @property
    def num_buckets(self) -> int:
        """The entries, and the buckets for what is not among them."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _key(self) -> str:
        return self.key

    def _dtype(self) -> DType:
        return self.dtype

    def _table(self, key_dtype: DType, name: str) -> LookupInterface:
        return index_table_from_tensor(
            self.vocabulary_list, self.num_oov_buckets, self.default_value, dtype=key_dtype, name=name
        )


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[str | bytes | int],
    dtype: DType | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """A column of ids by the entries of a list.

    Args:
        key: the feature's name.
        vocabulary_list: strings or integers, each once.
        dtype: the type as which the feature is parsed; that of the list when None.
        default_value: without buckets, the id of what is not in the list; -1 for no id.
        num_oov_buckets: how many ids there are, behind those of the list, for what is not in it; chosen by hash.

    Returns:
        The column.

    Raises:
        TypeError: the list is a text.
        ValueError: the list is empty or has an entry twice, or the arguments do not fit together.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if isinstance(vocabulary_list, str | bytes):
        raise TypeError(
            f"vocabulary_list must be a list of words, column_name: {key}; got {vocabulary_list!r}, which is one: the words of "
            "a text are text.split(), those of a file categorical_column_with_vocabulary_file reads"
        )
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    entries = as_dtype(np.array(vocabulary_list).dtype)
    buckets = _checked_buckets(key, num_oov_buckets, default_value != -1)
    check_string_or_int(entries, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = entries
    elif dtype.is_integer != entries.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {entries} do not match, column_name: {key}")
    check_string_or_int(dtype, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, buckets)
