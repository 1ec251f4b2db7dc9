"""What forests take as features and labels, made one matrix of numbers, and what its columns were."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.joining import concat
from weft.ops.forest.growth_nodes import reinterpret_string_to_float
from weft.ops.forest.inputs import ColumnType
from weft.ops.math.casting import cast
from weft.ops.sparse.joining import sparse_concat
from weft.ops.sparse.tensors import sparse_tensor_to_dense
from weft.platform.logs import tf_logging

DATA_FLOAT: Final = int(ColumnType.FLOAT)
DATA_CATEGORICAL: Final = int(ColumnType.CATEGORICAL)
DTYPE_TO_FTYPE: Final = {
    dtypes.string: DATA_CATEGORICAL,
    dtypes.int32: DATA_CATEGORICAL,
    dtypes.int64: DATA_CATEGORICAL,
    dtypes.float32: DATA_FLOAT,
    dtypes.float64: DATA_FLOAT,
}
_DOOR: Final = "tf.contrib.tensor_forest.data_ops"


class DataColumn:
    """A column of the data: its name, whether it is of numbers or of categories, and how many features it has."""

    __repr__ = printed(_DOOR, lambda column: "unknown size" if column.size is None else f"size {column.size}")

    def __init__(self) -> None:
        self.name: str = ""
        self.original_type: int | str = ""
        self.size: int | None = 0

    # Called as the message that it is like.
    def SerializeToString(self) -> str:
        """The column as text."""
        size = "?" if self.size is None else self.size
        return f"name: {self.name} original_type: {self.original_type} size: {size}"


class DataColumnCollection:
    """Columns in their order."""

    __repr__ = printed(_DOOR, lambda columns: f"{columns.size()} columns")

    def __init__(self) -> None:
        self.cols: list[DataColumn] = []

    def add(self) -> DataColumn:
        """A new column behind the others."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self) -> int:
        """How many columns there are."""
        return len(self.cols)

    def SerializeToString(self) -> str:
        """The columns as text."""
        return "".join(f"{{{each.SerializeToString()}}}" for each in self.cols)


class TensorForestDataSpec:
    """The columns of which a forest's matrix of features was made."""

    __repr__ = printed(_DOOR, lambda spec: f"{spec.dense.size()} dense and {spec.sparse.size()} sparse columns")

    def __init__(self) -> None:
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size: int | None = 0

    def SerializeToString(self) -> str:
        """All columns as text, which the nodes of trees carry."""
        size = "?" if self.dense_features_size is None else self.dense_features_size
        dense, sparse = self.dense.SerializeToString(), self.sparse.SerializeToString()
        return f"dense_features_size: {size} dense: [{dense}] sparse: [{sparse}]"


def cast_to_float(tensor: Tensor) -> Tensor:
    """The numbers of a tensor; texts become numbers that tell them from others.

    Args:
        tensor: the tensor.
    """
    if tensor.dtype == dtypes.string:
        made: Tensor = reinterpret_string_to_float(tensor)
        return made
    return cast(tensor, dtypes.float32) if tensor.dtype.is_integer else tensor


def column_name(column_key: object, col_num: int) -> str:
    """The name of a column.

    Args:
        column_key: the key of the features' dict: a text, or a column.
        col_num: the column's number, which names what has no name.
    """
    return column_key if isinstance(column_key, str) else str(getattr(column_key, "column_name", col_num))


def parse_data(data: Nest) -> tuple[Tensor | None, SparseTensor | None, TensorForestDataSpec]:
    """Features as a forest takes them.

    Args:
        data: a matrix, dense or sparse, or a dict of such by name.

    Returns:
        The dense features and the sparse ones, None for none, and what their columns were.

    Raises:
        ValueError: how many features there are is not known.
    """
    spec = TensorForestDataSpec()
    if isinstance(data, dict):
        return _parsed(data, spec)
    if isinstance(data, SparseTensor):
        _describe_sparse(spec, "sparse_features", DTYPE_TO_FTYPE[data.dtype])
        return None, data, spec
    tensor = convert_to_tensor(data)
    column = spec.dense.add()
    column.name, column.original_type = "dense_features", DTYPE_TO_FTYPE[tensor.dtype]
    column.size = spec.dense_features_size = _width("dense_features", tensor)
    return tensor, None, spec


def _parsed(
    data: dict[str, Nest], spec: TensorForestDataSpec
) -> tuple[Tensor | None, SparseTensor | None, TensorForestDataSpec]:
    dense: list[Tensor] = []
    sparse: list[SparseTensor] = []
    total = 0
    for key in sorted(data):
        given = data[key]
        if isinstance(given, SparseTensor):
            if given.dtype == dtypes.float32:
                tf_logging.info("TensorForest does not support sparse continuous.")
                continue
            if not spec.sparse.size():
                _describe_sparse(spec, "all_sparse", DATA_CATEGORICAL)
            sparse.append(SparseTensor(given.indices, cast_to_float(given.values), given.dense_shape))
            continue
        column = spec.dense.add()
        column.original_type = DTYPE_TO_FTYPE[given.dtype]
        column.name = column_name(key, len(dense))
        column.size = 1 if given.get_shape().ndims == 1 else _width(key, given)
        total += column.size
        dense.append(cast_to_float(given))
    if dense:
        spec.dense_features_size = total
    tf_logging.info(spec.SerializeToString())
    return concat(dense, 1) if dense else None, sparse_concat(1, sparse) if sparse else None, spec


def _describe_sparse(spec: TensorForestDataSpec, name: str, kind: int) -> None:
    column = spec.sparse.add()
    column.name, column.original_type, column.size = name, kind, -1


def _width(name: object, tensor: Tensor) -> int:
    dims = tensor.dims
    if dims is None or len(dims) < 2 or dims[1] is None:
        raise ValueError(
            f"A forest has to know how many features there are: {name!r} is {tensor.get_shape()}, expected [batch, features]. "
            "Say so by a placeholder's shape, or by set_shape."
        )
    return dims[1]


def parse_labels(labels: Nest) -> Tensor:
    """Labels as a forest takes them.

    Args:
        labels: a tensor, dense or sparse, or a dict of such by name, which stand side by side.

    Returns:
        A float32 tensor.
    """
    if isinstance(labels, dict):
        return cast(concat([_dense(labels[key]) for key in sorted(labels)], 1), dtypes.float32)
    return cast(_dense(labels), dtypes.float32)


def _dense(labels: Nest) -> Tensor:
    return sparse_tensor_to_dense(labels, default_value=-1) if isinstance(labels, SparseTensor) else convert_to_tensor(labels)
