"""SparseTensor: a tensor of which only some elements are stored, as three dense tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.framework.building.aliases import DTypeLike, Feeds, SessionLike, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context.default_stack import default_sessions
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.constant_value import constant_dims
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, format_dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims


class SparseTensorValue(NamedTuple):
    """A fetched SparseTensor as arrays, which is one form in which it may be fed.

    Args:
        indices: [n, rank] int64 array.
        values: [n] array.
        dense_shape: [rank] int64 array.
    """

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor:
    """Elements `values[i]` at the positions `indices[i]` of a tensor of shape `dense_shape`; the others are zero.

    `indices` is `[n, rank] int64`, `values` `[n]`, `dense_shape` `[rank] int64`. Most ops expect the indices in
    row-major order (`tf.sparse_reorder`) and without repetitions.

    Args:
        indices: [n, rank] int64: the positions.
        values: [n] tensor of any dtype: the elements there.
        dense_shape: [rank] int64: the shape of the whole.
    """

    @classmethod
    def from_value(cls, sparse_tensor_value: object) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue; a SparseTensor comes back as it is.

        Args:
            sparse_tensor_value: what a run gave, or a SparseTensor.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not is_sparse(sparse_tensor_value):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        value: Any = sparse_tensor_value
        return SparseTensor(indices=value.indices, values=value.values, dense_shape=value.dense_shape)

    def __init__(self, indices: object, values: TensorLike, dense_shape: object) -> None:
        with get_default_graph().name_scope("SparseTensor"):
            indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            values = convert_to_tensor(values, name="values")
            dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices: Tensor = indices
        self._values: Tensor = values
        self._dense_shape: Tensor = dense_shape
        self._dims: Dims = None
        _check_shapes(indices, values, dense_shape)

    @property
    def indices(self) -> Tensor:
        """The positions, `[n, rank] int64`."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements, `[n]`."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape, `[rank] int64`."""
        return self._dense_shape

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph of the three tensors."""
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        """The shape as far as it is known while the graph is built."""
        return TensorShape(merge_dims(constant_dims(self._dense_shape), self._dims))

    def get_shape(self) -> TensorShape:
        """The shape as far as it is known while the graph is built."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """Add what the program knows of the shape; ValueError when it contradicts what is known.

        Args:
            shape: that of the dense tensor it stands for; None for unknown sizes.
        """
        self._dims = merge_dims(as_dims(self.shape), as_dims(shape))

    def consumers(self) -> list[Operation]:
        """The operations that take the values as an input."""
        return self._values.consumers()

    def with_values(self, values: TensorLike) -> SparseTensor:
        """The same positions with other values.

        Args:
            values: one value for each row of `indices`.
        """
        return SparseTensor(self._indices, values, self._dense_shape)

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> SparseTensorValue:
        """Run the graph up to this tensor in the session given or the default one, and return its value.

        Args:
            feed_dict: values by placeholder, as for `Session.run`.
            session: the session; None for the default one.

        Raises:
            ValueError: there is no default session, and none is given.
        """
        if session is None:
            session = default_sessions.get_default()
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to `eval(session=sess)`"
            )
        indices, values, dense_shape = session.run([self._indices, self._values, self._dense_shape], feed_dict)
        return SparseTensorValue(indices, values, dense_shape)

    def __str__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"

    __repr__ = __str__


def _check_shapes(indices: Tensor, values: Tensor, dense_shape: Tensor) -> None:
    wanted = (("indices", indices, (None, None)), ("values", values, (None,)), ("dense_shape", dense_shape, (None,)))
    for what, tensor, dims in wanted:
        if not dims_compatible(tensor.dims, dims):
            raise ValueError(f"Shape {format_dims(tensor.dims)} of the {what} of a SparseTensor must have rank {len(dims)}")
    rows = None if indices.dims is None else indices.dims[0]
    count = None if values.dims is None else values.dims[0]
    if rows is not None and count is not None and rows != count:
        text = f"Dimensions {rows} and {count} are not compatible"
        raise ValueError(f"{text}: indices have a row for each value, and there are {rows} rows and {count} values.")
    rank = None if indices.dims is None else indices.dims[1]
    length = None if dense_shape.dims is None else dense_shape.dims[0]
    if rank is not None and length is not None and rank != length:
        text = f"Dimensions {rank} and {length} are not compatible: a row of indices has a number for each dimension"
        raise ValueError(f"{text}, and rows have {rank} and dense_shape {length} numbers.")


def is_sparse(value: object) -> bool:
    """Whether this is a SparseTensor or a SparseTensorValue."""
    return isinstance(value, SparseTensor | SparseTensorValue)


def convert_to_tensor_or_sparse_tensor(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> SparseTensor | Tensor:
    """A SparseTensor of a sparse value, else a Tensor; RuntimeError when a SparseTensor has another dtype.

    Args:
        value: a SparseTensor, a SparseTensorValue, or what `convert_to_tensor` takes.
        dtype: the dtype that a sparse value must have, and another shall get.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError(f"Sparse dtype mismatch. Requested: {dtypes.as_dtype(dtype).name}, Actual: {value.dtype.name}")
        return value
    return convert_to_tensor(value, dtype, name)
