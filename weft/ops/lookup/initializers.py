"""Initializers of static lookup tables: tensors of keys and values, or a text file."""

from __future__ import annotations

from typing import Any, Final

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.printed import printed
from weft.ops.lookup import vocabulary_file
from weft.ops.lookup.nodes import initialize_table_from_text_file_v2, lookup_table_import_v2


class TableInitializerBase:
    """Fills a table; see the subclasses.

    Args:
        key_dtype, value_dtype: the types of keys and values.
    """

    __repr__ = printed("tf.contrib.lookup")

    def __init__(self, key_dtype: DTypeLike, value_dtype: DTypeLike) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The keys' type."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The values' type."""
        return self._value_dtype

    @property
    def shared_name(self) -> str:
        """The name under which tables with the same contents may be one; empty when that is not known."""
        return ""

    def initialize(self, table: object) -> Operation:
        """The operation that fills a table, which `tf.tables_initializer` runs.

        Args:
            table: the table.

        Raises:
            NotImplementedError: the derived class does not say how.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how to fill a table")

    def _register(self, table: object, node: Operation) -> Operation:
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, node)
        return node


def check_table_dtypes(table: Any, key_dtype: DType, value_dtype: DType) -> None:
    """Refuse keys and values of other types than the table's; TypeError."""
    if key_dtype.base_dtype != table.key_dtype:
        raise TypeError(f"Invalid key dtype for table, expected {table.key_dtype} but got {key_dtype}.")
    if value_dtype.base_dtype != table.value_dtype:
        raise TypeError(f"Invalid value dtype for table, expected {table.value_dtype} but got {value_dtype}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values from two tensors.

    Args:
        keys, values: of the same shape.
        key_dtype, value_dtype: their types; the tensors' own when None.
        name: the name scope of the node that fills the table.
    """

    def __init__(
        self,
        keys: Tensor,
        values: Tensor,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype.base_dtype, self._values.dtype.base_dtype)

    def initialize(self, table: Any) -> Operation:
        """The operation that fills a table."""
        check_table_dtypes(table, self._keys.dtype, self._values.dtype)
        with get_default_graph().name_scope(self._name):
            return self._register(table, lookup_table_import_v2(table.resource_handle, self._keys, self._values))


class TextFileIndex:
    """The stand-ins for a column: the whole line, or its number, from 0."""

    WHOLE_LINE: Final = vocabulary_file.WHOLE_LINE
    LINE_NUMBER: Final = vocabulary_file.LINE_NUMBER


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a text file.

    Args:
        filename: the file, on the task that has the table.
        key_dtype, key_index: the keys' type, and the column they are in or a TextFileIndex.
        value_dtype, value_index: the same of the values.
        vocab_size: how many lines to take; all when None.
        delimiter: what separates columns.
        name: the name scope of the node that fills the table.

    Raises:
        ValueError: there is no file name, or an index does not fit its type.
    """

    def __init__(
        self,
        filename: TensorLike | None,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        if filename is None or (isinstance(filename, str | bytes) and not filename):
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        keys, values = as_dtype(key_dtype), as_dtype(value_dtype)
        _check_index("key", key_index, keys)
        _check_index("value", value_index, values)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        graph = get_default_graph()
        # Exports copy the files of this collection, whose names they have to know.
        self._filename = convert_to_tensor(filename, dtype=dtypes.string, name="asset_path")
        if self._filename.op.op_def.role is Role.CONSTANT:
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        self._path = filename
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name or "text_file_init"
        super().__init__(keys, values)

    @property
    def shared_name(self) -> str:
        """The file and what is taken from it."""
        size = "" if self._vocab_size is None else f"_{self._vocab_size}"
        name = self._path if isinstance(self._path, str) else self._filename.op.name
        return f"hash_table_{name}{size}_{self._key_index}_{self._value_index}"

    def initialize(self, table: Any) -> Operation:
        """The operation that fills a table."""
        check_table_dtypes(table, self.key_dtype, self.value_dtype)
        with get_default_graph().name_scope(self._name):
            node = initialize_table_from_text_file_v2(
                table.resource_handle, self._filename, key_index=self._key_index, value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size, delimiter=self._delimiter,
            )  # fmt: skip
            return self._register(table, node)


def _check_index(what: str, index: int, dtype: DType) -> None:
    if index < vocabulary_file.WHOLE_LINE:
        raise ValueError(f"`{what}_index` should be >= {vocabulary_file.WHOLE_LINE}, received: {index}.")
    if index == vocabulary_file.LINE_NUMBER and dtype is not dtypes.int64:
        raise ValueError(f"`{what}_dtype` must be int64 if `{what}_index` is {index}, received: {dtype}")
    if index == vocabulary_file.WHOLE_LINE and not (dtype is dtypes.string or dtype.is_integer):
        raise ValueError(f"`{what}_dtype` should be either integer or string for `{what}_index` {index}, received: {dtype}")


class TextFileStringTableInitializer(TextFileInitializer):
    """Line numbers as keys, lines as values; the arguments are TextFileInitializer's.

    Args:
        filename: the path of the file.
        key_column_index, value_column_index: the columns of keys and values; -2 for the whole line, -1 for its number.
        vocab_size: how many lines the file has; it is read once more to count them when None.
        delimiter: what stands between columns.
    """

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """Lines as keys, their numbers as values; the arguments are TextFileInitializer's.

    Args:
        filename: the path of the file.
        key_column_index, value_column_index: the columns of keys and values; -2 for the whole line, -1 for its number.
        vocab_size: how many lines the file has; it is read once more to count them when None.
        delimiter: what stands between columns.
        key_dtype: string or an integer dtype.
    """

    def __init__(
        self,
        filename: TensorLike | None,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: DTypeLike = dtypes.string,
    ) -> None:
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name)
