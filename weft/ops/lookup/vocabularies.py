"""Vocabularies: tables from strings or integers to their indices and back, with buckets for what is not in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.ops.array.constant import constant
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import size
from weft.ops.lookup.initializers import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from weft.ops.lookup.tables import LookupInterface, StaticHashTable, is_table_key, wrong_keys
from weft.ops.math.casting import cast
from weft.ops.math.comparison import not_equal
from weft.ops.math.elementwise import add
from weft.ops.strings.elementwise import as_string
from weft.ops.strings.hash_buckets import string_to_hash_bucket_fast, string_to_hash_bucket_strong


class HasherSpec(NamedTuple):
    """Which hash puts unknown keys into buckets.

    Args:
        hasher: "fasthash" or "stronghash".
        key: the two integers of a strong hash.
    """

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that nobody without the key of two unsigned integers can predict.

    Args:
        key: two integers, 0 or more.
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"`key` must have size 2, received {key}")
        if not all(isinstance(each, int) for each in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class IdTableWithHashBuckets(LookupInterface):
    """A table of indices, and buckets above them for keys that it does not have.

    Args:
        table: the table from keys to int64 indices; None to have buckets only.
        num_oov_buckets: how many buckets there are.
        hasher_spec: FastHashSpec or a StrongHashSpec.
        name: the object's name; the table's when None.
        key_dtype: the keys' type; the table's when None.

    Raises:
        ValueError: there is neither a table nor a bucket.
        TypeError: the table's types do not fit.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DTypeLike | None = None,
    ) -> None:
        keys = as_dtype(key_dtype or (table.key_dtype if table is not None else dtypes.string))
        if not is_table_key(keys):
            raise TypeError(f"Invalid `key_dtype`, expected integer or string, received {keys}.")
        if table is None and num_oov_buckets <= 0:
            raise ValueError(f"`oov_buckets` must be > 0 if no `table` is supplied, got {num_oov_buckets}.")
        if table is not None:
            _check_types(table, keys)
        self._table = table
        self._num_oov_buckets = num_oov_buckets
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"`hasher_spec` must be of type HasherSpec, got {type(hasher_spec)}.")
        self._hasher = hasher_spec
        name = name or (table.name if table is not None else "hash_bucket")
        self._table_name = name.rstrip("/").split("/")[-1]
        super().__init__(keys, dtypes.int64)

    @property
    def name(self) -> str:
        """The object's name, without its scope."""
        return self._table_name

    @property
    def initializer(self) -> Operation | None:
        """The operation that fills the table; None when there is none."""
        return None if self._table is None else self._table.initializer

    @property
    def init(self) -> Operation | None:
        """The operation that fills the table, by its former name."""
        return self.initializer

    @property
    def resource_handle(self) -> Tensor | None:
        """The table's handle; None when there is no table."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """The number of indices, those of buckets included."""
        with get_default_graph().name_scope(name or f"{self.name}_Size"):
            count = constant(0, dtypes.int64) if self._table is None else self._table.size()
            return count + self._num_oov_buckets

    @overload
    def lookup(self, keys: SparseTensor, name: str | None = None) -> SparseTensor: ...
    @overload
    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor: ...
    def lookup(self, keys: object, name: str | None = None) -> Tensor | SparseTensor:
        """The indices of keys, dense or sparse like these; those of buckets for keys that the table does not have."""
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values, name), keys.dense_shape)
        given = keys if isinstance(keys, Tensor) else convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
        if given.dtype.base_dtype != self._key_dtype:
            raise wrong_keys(given, self._key_dtype)
        if self._table is not None and self._table.key_dtype is dtypes.int64 and given.dtype is not dtypes.int64:
            given = cast(given, dtypes.int64)
        if self._num_oov_buckets == 0:
            found: Tensor = self._table.lookup(given, name=name)
            return found
        with get_default_graph().name_scope(name or f"{self.name}_Lookup"):
            buckets = self._bucket(given)
            if self._table is None:
                return buckets
            indices = self._table.lookup(given)
            buckets = add(buckets, self._table.size(), name="Add")
            return where_v2(not_equal(indices, self._table.default_value), indices, buckets)

    def _bucket(self, keys: Tensor) -> Tensor:
        texts = keys if keys.dtype.base_dtype is dtypes.string else as_string(keys)
        if self._hasher.hasher == "stronghash":
            return string_to_hash_bucket_strong(texts, self._num_oov_buckets, self._hasher.key, name="hash_bucket")
        if self._hasher.hasher != "fasthash":
            raise ValueError(f"Found unknown hasher {self._hasher.hasher} in `hasher_spec`")
        return string_to_hash_bucket_fast(texts, self._num_oov_buckets, name="hash_bucket")


def _check_types(table: Any, key_dtype: DType) -> None:
    if table.key_dtype.is_integer != key_dtype.is_integer:
        raise TypeError(f"Invalid `key_dtype`: expected one like the table's, {table.key_dtype}, received {key_dtype}.")
    if table.value_dtype is not dtypes.int64:
        raise TypeError(f"Invalid `value_dtype`: the table's values must be int64, they are {table.value_dtype}.")


class StaticVocabularyTable(IdTableWithHashBuckets):
    """Indices from an initializer, and buckets above them for keys that it does not have.

    Args:
        initializer: keys and int64 indices; None to have buckets only.
        num_oov_buckets: how many buckets there are, at least one.
        lookup_key_dtype: the type of keys to look up; the initializer's when None.
        name: the object's name.

    Raises:
        ValueError: there are no buckets. TypeError: the types do not fit.
    """

    def __init__(
        self,
        initializer: TableInitializerBase,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError(f"`num_oov_buckets` must be > 0; use StaticHashTable. Received: {num_oov_buckets}.")
        if initializer is not None and initializer.value_dtype is not dtypes.int64:
            raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64} but got {initializer.value_dtype}.")
        table = None if initializer is None else StaticHashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, name=name, key_dtype=lookup_key_dtype)


def index_table_from_tensor(
    vocabulary_list: TensorLike | None = None,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = dtypes.string,
    name: str | None = None,
    mapping: TensorLike | None = None,
) -> StaticHashTable | IdTableWithHashBuckets:
    """The table from the entries of a list to their positions.

    Args:
        vocabulary_list: strings or integers, each once.
        num_oov_buckets: how many buckets there are for what is not in the list.
        default_value: the index of what is not in the list, without buckets.
        hasher_spec: how to choose the bucket.
        dtype: the type of the keys that are looked up.
        name: the name scope.
        mapping: the former name of `vocabulary_list`.

    Returns:
        A lookup table; run `tf.tables_initializer()` before it is used.

    Raises:
        ValueError: there is no list, its type is not `dtype`, or `num_oov_buckets` is negative.
        TypeError: `dtype` is neither an integer nor a string.
    """
    vocabulary_list = mapping if vocabulary_list is None else vocabulary_list
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    _check_buckets(num_oov_buckets)
    key_dtype = as_dtype(dtype)
    if not is_table_key(key_dtype):
        raise TypeError("`dtype` must either be integer or string.")
    graph = get_default_graph()
    with graph.name_scope(name or "string_to_index"):
        keys = _list_of(convert_to_tensor(vocabulary_list))
        if keys.dtype.is_integer != key_dtype.is_integer:
            wanted = "integer" if key_dtype.is_integer else "non-integer"
            raise ValueError(f"Invalid `dtype`: Expected {wanted}, got {keys.dtype}.")
        if not keys.dtype.is_integer and keys.dtype.base_dtype is not key_dtype:
            raise ValueError(f"Invalid `dtype`: Expected {key_dtype}, got {keys.dtype}.")
        indices = cast(range_of(size(keys)), dtypes.int64)
        with graph.name_scope("hash_table"):
            keys = cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(keys, indices, name="table_init")
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> StaticHashTable | IdTableWithHashBuckets:
    """The table from the lines of a file to their numbers; see `index_table_from_tensor` and TextFileInitializer.

    Args:
        vocabulary_file: the path.
        num_oov_buckets: how many numbers other keys have, by their hashes, behind those of the lines.
        vocab_size: how many lines are read; all when None.
        default_value: for other keys where there are no such numbers.
        hasher_spec: the hash, FastHashSpec or a StrongHashSpec.
        key_dtype: string or an integer dtype.
        key_column_index, value_column_index: the columns of keys and values; -2 for the whole line, -1 for its number.
        delimiter: what stands between columns.

    Raises:
        ValueError: there is no file name, or a count is not as it should be.
        TypeError: `key_dtype` is neither an integer nor a string.
    """
    _check_file(vocabulary_file)
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size} for vocabulary_file: {vocabulary_file}.")
    keys = as_dtype(key_dtype)
    if not is_table_key(keys):
        raise TypeError("Dtype for `keys` should be either integer or string.")
    graph = get_default_graph()
    with graph.name_scope(name or "string_to_index"):
        with graph.name_scope("hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init",
                dtypes.int64 if keys.is_integer else keys,
            )  # fmt: skip
            table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, keys)


def _with_buckets(
    table: StaticHashTable, count: int, hasher_spec: HasherSpec, key_dtype: DType
) -> StaticHashTable | IdTableWithHashBuckets:
    if not count and table.key_dtype is key_dtype:
        return table
    return IdTableWithHashBuckets(table, count, hasher_spec, key_dtype=key_dtype)


def _check_buckets(count: int) -> None:
    if count < 0:
        raise ValueError(f"`num_oov_buckets` must be greater or equal than 0, got {count}.")


def _check_file(path: TensorLike | None) -> None:
    if path is None or (isinstance(path, str | bytes) and not path):
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")


def _list_of(words: Tensor) -> Tensor:
    if words.dims is not None and len(words.dims) != 1:
        raise ValueError(
            f"Shape must be rank 1 but is rank {len(words.dims)}: `vocabulary_list` is a list of words, such as ['a', 'b'], "
            f"not {words!r}."
        )
    return words


def index_to_string_table_from_tensor(
    vocabulary_list: TensorLike | None = None,
    default_value: TensorLike = "UNK",
    name: str | None = None,
    mapping: TensorLike | None = None,
) -> StaticHashTable:
    """The table from positions in a list to its strings; `default_value` for other indices.

    Args:
        vocabulary_list: the list, `[n]` string.
        default_value: a [] string.
        mapping: an older name of the list.

    Raises:
        ValueError: there is no list.
    """
    vocabulary_list = mapping if vocabulary_list is None else vocabulary_list
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    with get_default_graph().name_scope(name or "index_to_string"):
        values = _list_of(convert_to_tensor(vocabulary_list, dtype=dtypes.string))
        keys = cast(range_of(size(values)), dtypes.int64)
        return StaticHashTable(KeyValueTensorInitializer(keys, values, name="table_init"), default_value)


def index_to_string_table_from_file(
    vocabulary_file: TensorLike,
    vocab_size: int | None = None,
    default_value: TensorLike = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """The table from the numbers of a file's lines to the lines; `default_value` for other indices.

    Args:
        vocabulary_file: the path.
        vocab_size: how many lines are read; all when None.
        default_value: a [] string.
        key_column_index, value_column_index: the columns of keys and values; -2 for the whole line, -1 for its number.
        delimiter: what stands between columns.

    Raises:
        ValueError: there is no file name, or `vocab_size` is not positive.
    """
    _check_file(vocabulary_file)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    with get_default_graph().name_scope(name or "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init"
        )
        return StaticHashTable(initializer, default_value)


def string_to_index(
    tensor: TensorLike, mapping: TensorLike, default_value: int = -1, name: str | None = None
) -> Tensor | SparseTensor:
    """The positions of strings in a list; run `tf.tables_initializer` first.

    Args:
        tensor: strings, dense or sparse.
        mapping: the list, `[n]` string.
        default_value: for other strings.
    """
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(
    tensor: TensorLike, mapping: TensorLike, default_value: TensorLike = "UNK", name: str | None = None
) -> Tensor | SparseTensor:
    """The strings at positions of a list; run `tf.tables_initializer` first.

    Args:
        tensor: positions, int64, dense or sparse.
        mapping: the list, `[n]` string.
        default_value: for other positions.
    """
    return index_to_string_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)
