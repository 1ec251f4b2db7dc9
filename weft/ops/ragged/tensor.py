"""RaggedTensor: rows of different lengths, as the values of all rows and the splits that say where each row begins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

import numpy as np

from weft.framework.building.aliases import DTypeLike, Feeds, Nest, SessionLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.context.default_stack import default_sessions
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import dims_compatible, format_dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.filling import ones
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.rank_checks import assert_rank_at_least
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.ragged import dense
from weft.ops.ragged.conversions import ragged_tensor_to_sparse
from weft.ops.ragged.nodes import INDEX, row_ids_node
from weft.ops.ragged.partitions import (
    last_plus_one,
    lengths_of,
    nrows_of,
    positive_axis,
    rowids_to_splits,
)
from weft.ops.ragged.row_schemes import (
    ROW_LENGTHS,
    ROW_LIMITS,
    ROW_SPLITS,
    ROW_STARTS,
    RowScheme,
    check_known_rows,
    rowid_checks,
)
from weft.ops.ragged.value import RaggedTensorValue, value_of

Values: TypeAlias = "Tensor | RaggedTensor"
# What a program may give for the values: a ragged tensor, its value, or what becomes a tensor.
ValuesLike: TypeAlias = "TensorLike | RaggedTensor | RaggedTensorValue"


class RaggedTensor:
    """A tensor one or more of whose dimensions have rows of different lengths.

    Row `i` is `values[row_splits[i]:row_splits[i + 1]]`; where `values` is ragged too, the inner dimension is. Made by the
    `from_*` functions and by `tf.ragged.constant`; its graph is that of the tensors in it.

    Args:
        values: the values of all rows, a tensor or a ragged one.
        row_splits: `[rows + 1]` int32 or int64, where rows begin and end.
        internal: whether one of these functions makes it.

    Raises:
        ValueError: `internal` is false, or the splits have another dtype.
    """

    __array_priority__ = 100

    def __init__(self, values: Values, row_splits: Tensor, internal: bool = False) -> None:
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                             "RaggedTensor.from_row_lengths())")  # fmt: skip
        if row_splits.dtype not in INDEX:
            raise ValueError("row_splits must have dtype int32 or int64")
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not row_splits.dtype:
            raise ValueError("RaggedTensor: the row_splits of the values have another dtype than row_splits: "
                             f"{values.row_splits.dtype.name} and {row_splits.dtype.name}")  # fmt: skip
        row_splits.get_shape().assert_has_rank(1)
        self._values = values
        self._row_splits = row_splits

    # What partitions the values into rows.

    @classmethod
    def from_row_splits(
        cls, values: ValuesLike, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows `values[row_splits[i]:row_splits[i + 1]]`.

        Args:
            values: `[nvals, ...]`, perhaps ragged itself.
            row_splits: `[nrows + 1]` int32 or int64, ascending from 0 to `nvals`.
            name: the name scope.
            validate: whether the run checks the splits; what is known while the graph is built is checked at once.

        Returns:
            A RaggedTensor `[nsplits - 1, (ragged), ...]` of the dtype of `values`.

        Raises:
            ValueError: `row_splits` is an empty list, or what is known of the splits is wrong.
        """
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        return cls._partitioned(ROW_SPLITS, values, row_splits, name, validate)

    @classmethod
    def from_row_lengths(
        cls, values: ValuesLike, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of these lengths, `[nrows]`, one after the other.

        Args:
            values: `[nvals, ...]`, perhaps ragged itself.
            row_lengths: `[nrows]` int32 or int64, of which the sum is `nvals`.
            validate: whether the run checks the lengths.

        Returns:
            A RaggedTensor `[nrows, (ragged), ...]` of the dtype of `values`.
        """
        return cls._partitioned(ROW_LENGTHS, values, row_lengths, name, validate)

    @classmethod
    def from_row_starts(
        cls, values: ValuesLike, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin at these places, `[nrows]`, and end where the next begins.

        Args:
            values: `[nvals, ...]`, perhaps ragged itself.
            row_starts: `[nrows]` int32 or int64, ascending from 0.
            validate: whether the run checks the starts.

        Returns:
            A RaggedTensor `[nrows, (ragged), ...]` of the dtype of `values`.
        """
        return cls._partitioned(ROW_STARTS, values, row_starts, name, validate)

    @classmethod
    def from_row_limits(
        cls, values: ValuesLike, row_limits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that end at these places, `[nrows]`, and begin where the one before ends.

        Args:
            values: `[nvals, ...]`, perhaps ragged itself.
            row_limits: `[nrows]` int32 or int64, ascending to `nvals`.
            validate: whether the run checks the limits.

        Returns:
            A RaggedTensor `[nrows, (ragged), ...]` of the dtype of `values`.
        """
        return cls._partitioned(ROW_LIMITS, values, row_limits, name, validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: ValuesLike,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows by the number of each value's row, `[nvals]`, ascending; without `nrows` the last one has a value.

        Args:
            values: `[nvals, ...]`, perhaps ragged itself.
            value_rowids: `[nvals]` int32 or int64, ascending.
            nrows: how many rows there are, of the type of `value_rowids`.
            validate: whether the run checks the row numbers.

        Returns:
            A RaggedTensor `[nrows, (ragged), ...]` of the dtype of `values`.

        Raises:
            ValueError: `nrows` is less than the row numbers ask for.
        """
        _check_flag(validate)
        with input_scope(name, "RaggedFromValueRowIds", _parts(values)):
            found, rowids = _typed(values, value_rowids, "value_rowids")
            rowids.get_shape().assert_has_rank(1)
            rows = last_plus_one(rowids) if nrows is None else convert_to_tensor(nrows, rowids.dtype, "nrows")
            rows.get_shape().assert_has_rank(0)
            check_known_rows(rows, rowids)
            _check_count(found, rowids)
            if validate:
                checks = [*_value_checks(found), *rowid_checks(rowids, rows, functools.partial(count_rows, found))]
                rowids = with_dependencies(checks, rowids)
            return cls(found, rowids_to_splits(rowids, rows), internal=True)

    @classmethod
    def _partitioned(
        cls, scheme: RowScheme, values: ValuesLike, partition: TensorLike, name: str | None, validate: bool
    ) -> RaggedTensor:
        _check_flag(validate)
        with input_scope(name, scheme.scope, _parts(values)):
            found, vector = _typed(values, partition, scheme.kind)
            vector.get_shape().assert_has_rank(1)
            count = functools.partial(count_rows, found)
            if validate:
                checks = [*scheme.checks(vector, count, scheme.message), *_value_checks(found)]
                vector = with_dependencies(checks, vector)
            return cls(found, scheme.splits(vector, count), internal=True)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: ValuesLike, nested_row_splits: Sequence[TensorLike], name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """A ragged dimension for each of the splits, the outermost first.

        Args:
            flat_values: `[nvals, ...]`, the innermost values.
            nested_row_splits: `[rows + 1]` int32 or int64 each, one for each ragged dimension.
            validate: whether the run checks the splits.

        Raises:
            TypeError: the splits are no list of tensors.
        """
        return cls._nested(cls.from_row_splits, "RaggedFromNestedRowSplits", flat_values, nested_row_splits, name, validate)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: ValuesLike, nested_row_lengths: Sequence[TensorLike], name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """A ragged dimension for each of the lengths, the outermost first.

        Args:
            flat_values: `[nvals, ...]`, the innermost values.
            nested_row_lengths: `[rows]` int32 or int64 each, one for each ragged dimension.
            validate: whether the run checks the lengths.

        Raises:
            TypeError: the lengths are no list of tensors.
        """
        return cls._nested(cls.from_row_lengths, "RaggedFromNestedRowlengths", flat_values, nested_row_lengths, name, validate)

    @classmethod
    def _nested(
        cls,
        make: Callable[..., RaggedTensor],
        scope: str,
        flat_values: ValuesLike,
        nested: Sequence[TensorLike],
        name: str | None,
        validate: bool,
    ) -> RaggedTensor:
        _check_flag(validate)
        _check_list(nested, scope.removeprefix("RaggedFromN").lower().replace("estedrow", "nested_row_"))
        with input_scope(name, scope, _parts(flat_values)):
            result: Nest = flat_values
            for partition in reversed(nested):
                result = make(result, partition, validate=validate)
            assert isinstance(result, RaggedTensor)
            return result

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: ValuesLike,
        nested_value_rowids: Sequence[TensorLike],
        nested_nrows: Sequence[TensorLike] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """A ragged dimension for each of the lists of row numbers, the outermost first.

        Args:
            flat_values: `[nvals, ...]`, the innermost values.
            nested_value_rowids: `[values]` int32 or int64 each, one for each ragged dimension.
            nested_nrows: how many rows each dimension has; as many as have a value when None.
            validate: whether the run checks the row numbers.

        Raises:
            ValueError: `nested_nrows` has another length than `nested_value_rowids`.
            TypeError: one of these is no list of tensors.
        """
        _check_flag(validate)
        _check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            counts: Sequence[TensorLike | None] = [None] * len(nested_value_rowids)
        else:
            _check_list(nested_nrows, "nested_nrows")
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError("nested_nrows must have the same length as nested_value_rowids")
            counts = nested_nrows
        with input_scope(name, "RaggedFromNestedValueRowIds", _parts(flat_values)):
            result: Nest = flat_values
            for rowids, count in reversed(list(zip(nested_value_rowids, counts, strict=True))):
                result = cls.from_value_rowids(result, rowids, count, validate=validate)
            assert isinstance(result, RaggedTensor)
            return result

    @classmethod
    def from_tensor(
        cls,
        tensor: TensorLike,
        lengths: TensorLike | Sequence[TensorLike] | None = None,
        padding: TensorLike | None = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = dtypes.int64,
    ) -> RaggedTensor:
        """Rows of a tensor, whole, of the lengths given, or without the padding at their ends.

        Args:
            tensor: `[n, m, ...]` or of higher rank.
            lengths: `[n]`; or one list for each ragged dimension.
            padding: the value, of the shape of an element, that is left out at the ends of rows.
            ragged_rank: how many of the inner dimensions become ragged.
            name: the name scope.
            row_splits_dtype: int32 or int64.

        Returns:
            A RaggedTensor of the rank and dtype of `tensor`, with `ragged_rank` ragged dimensions.

        Raises:
            ValueError: both `lengths` and `padding` are given, or the ragged rank does not fit.
            TypeError: `ragged_rank` is no int.
        """
        splits_type = as_dtype(row_splits_dtype)
        if lengths is not None and padding is not None:
            raise ValueError("Specify lengths or padding, but not both")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
        if ragged_rank <= 0:
            raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
        with input_scope(name, "RaggedFromTensor", [tensor]):
            whole = convert_to_tensor(tensor, name="tensor")
            whole.get_shape().with_rank_at_least(ragged_rank + 1)
            if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int | float | np.generic):
                nested = [convert_to_tensor(each, preferred_dtype=splits_type) for each in lengths]
                mask = cls.from_nested_row_lengths(ones(stack([reduce_sum(nested[-1])]), dtypes.bool), nested, validate=False)
                return cls.from_nested_row_lengths(dense.masked(whole, mask.to_tensor(False)), nested, validate=False)
            flat, splits = dense.rows_of(whole, lengths, padding, ragged_rank, splits_type)
            return cls.from_nested_row_splits(flat, splits, validate=False)

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = dtypes.int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix whose elements stand at the left of their rows; the run checks that they do.

        Args:
            st_input: a SparseTensor of rank 2.
            row_splits_dtype: int32 or int64.

        Raises:
            TypeError: it is no SparseTensor.
        """
        if not isinstance(st_input, SparseTensor):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
        with input_scope(name, "RaggedFromSparse", [st_input.indices]):
            rowids, nrows = dense.rows_of_sparse(st_input, as_dtype(row_splits_dtype))
            return cls.from_value_rowids(st_input.values, rowids, nrows, validate=False)

    # The parts.

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape as far as it is known while the graph is built; ragged dimensions are unknown."""
        dims = self._row_splits.dims
        rows = None if dims is None or dims[0] is None else dims[0] - 1
        return TensorShape([rows, None]).concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The shape as far as it is known while the graph is built."""
        return self.shape

    @property
    def graph(self) -> Graph:
        """The graph of the tensors."""
        return self._row_splits.graph

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Nest:
        """The values of all rows, a Tensor or again a RaggedTensor."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where each row begins, and where the last one ends: `[nrows + 1]`."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    def consumers(self) -> list[Operation]:
        """The operations that take one of the tensors as an input."""
        return [op for tensor in (self.flat_values, *self.nested_row_splits) for op in tensor.consumers()]

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value: `[nvals]`."""
        with input_scope(name, "RaggedValueRowIds", [self._row_splits]):
            return row_ids_node(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The row of each value, for each ragged dimension."""
        with input_scope(name, "RaggedNestedValueRowIds", [self._row_splits]):
            return tuple(row_ids_node(splits) for splits in self.nested_row_splits)

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """The number of rows, a scalar.

        Args:
            out_type: int32 or int64; that of the splits when None.
        """
        kind = self._row_splits.dtype if out_type is None else as_dtype(out_type)
        with input_scope(name, "RaggedNRows", [self._row_splits]):
            return nrows_of(self._row_splits, kind) - 1

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row begins: `[nrows]`."""
        with input_scope(name, "RaggedRowStarts", [self._row_splits]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends: `[nrows]`."""
        with input_scope(name, "RaggedRowLimits", [self._row_splits]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Nest:
        """The lengths of the rows along a dimension, of the shape of those before it.

        Args:
            axis: the dimension; 0 gives the number of rows.
        """
        with input_scope(name, "RaggedRowLengths", [self._row_splits]):
            axis = positive_axis(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return lengths_of(self._row_splits)
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            sizes = shape_of(self._values, out_type=self._row_splits.dtype)
            return self.with_values(ones(sizes[: axis - 1], self._row_splits.dtype) * sizes[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of the rows, for each ragged dimension."""
        with input_scope(name, "RaggedNestedRowLengths", [self._row_splits]):
            return tuple(map(lengths_of, self.nested_row_splits))

    def bounding_shape(
        self, axis: TensorLike | None = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """The shape of the least tensor that holds this one, or its sizes along `axis`.

        Args:
            axis: a dimension, or a tensor of several; the whole shape when None.
            out_type: int32 or int64; that of the splits when None.
        """
        kind = self._row_splits.dtype if out_type is None else as_dtype(out_type)
        with input_scope(name, "RaggedBoundingBox", [self._row_splits]):
            if isinstance(axis, int) and axis == 0:
                return self.nrows(kind)
            longest = [cast(maximum(reduce_max(lengths_of(splits)), 0), kind) for splits in self.nested_row_splits]
            if isinstance(axis, int) and axis == 1:
                return longest[0]
            inner = shape_of(self.flat_values, out_type=kind)[1:]
            box = concat([stack([self.nrows(kind), *longest]), inner], axis=0)
            return box if axis is None else gather(box, axis)

    # The same rows with something else.

    def with_values(self, new_values: ValuesLike) -> RaggedTensor:
        """The same rows with other values.

        Args:
            new_values: as many as there are, `[nvals, ...]`, perhaps ragged.
        """
        values = convert_to_tensor_or_ragged_tensor(new_values)
        values.shape.with_rank_at_least(1)
        values.shape[:1].assert_is_compatible_with(self._values.shape[:1])
        splits = self._row_splits
        if isinstance(values, RaggedTensor):
            return RaggedTensor(*match_splits(values, splits), internal=True)
        return RaggedTensor(values, splits, internal=True)

    def with_flat_values(self, new_values: ValuesLike) -> RaggedTensor:
        """The same rows, in all ragged dimensions, with other innermost values.

        Args:
            new_values: as many as there are innermost values, `[nvals, ...]`.
        """
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same tensor with splits of another type.

        Args:
            dtype: int32 or int64.

        Raises:
            ValueError: the type is neither int32 nor int64.
        """
        kind = as_dtype(dtype)
        if kind not in INDEX:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype is kind:
            return self
        values = self._values.with_row_splits_dtype(kind) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(values, cast(self._row_splits, kind), internal=True)

    def to_tensor(self, default_value: TensorLike | None = None, name: str | None = None) -> Tensor:
        """The least tensor that holds the rows, filled up with the default value, zero or '' by default.

        Args:
            default_value: a scalar of the dtype of the values, or of the shape of an innermost value.
        """
        with input_scope(name, "RaggedToTensor", [self._row_splits]):
            return dense.padded(self.flat_values, self.nested_row_splits, default_value)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The values at their places in a sparse tensor of the shape of `to_tensor`."""
        with input_scope(name, "RaggedToSparse", [self._row_splits]):
            if self.flat_values.shape.ndims is None:
                return SparseTensor(*ragged_tensor_to_sparse(list(self.nested_row_splits), self.flat_values))
            shape = cast(self.bounding_shape(), dtypes.int64)
            indices, values = dense.coordinates(self.flat_values, self.nested_row_splits)
            return SparseTensor(indices, values, shape)

    def to_list(self) -> NoReturn:
        """Not in a graph: fetch the tensor, and ask its value.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first and then "
            "use RaggedTensorValue.to_list()."
        )

    def eval(self, feed_dict: Feeds | None = None, session: SessionLike | None = None) -> RaggedTensorValue:
        """Run the graph up to this tensor in the session given or the default one, and return its value.

        Args:
            feed_dict: values by tensor, as for `Session.run`.
            session: the session; the default one when None.

        Raises:
            ValueError: there is no session.
        """
        session = default_sessions.get_default() if session is None else session
        if session is None:
            raise ValueError(
                "Cannot evaluate tensor using `eval()`: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to `eval(session=sess)`"
            )
        return value_of(session.run([self.flat_values, *self.nested_row_splits], feed_dict))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"


def override_operator(operator: str, function: object) -> None:
    """Give ragged tensors an operator: the modules of indexing and of arithmetic do so when they are imported."""
    setattr(RaggedTensor, operator, function)


def convert_to_tensor_or_ragged_tensor(
    value: ValuesLike, dtype: DTypeLike | None = None, preferred_dtype: DTypeLike | None = None, name: str | None = None
) -> Values:
    """A ragged tensor of a ragged one or of its value, else a Tensor.

    Raises:
        ValueError: a ragged tensor has another dtype.
    """
    if not isinstance(value, RaggedTensor | RaggedTensorValue):
        return convert_to_tensor(value, dtype, name, preferred_dtype)
    if isinstance(value, RaggedTensor):
        if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for RaggedTensor with dtype {value.dtype.name}: "
                f"{value}"
            )
        return value
    flat = convert_to_tensor(value.flat_values, dtype, "flat_values", preferred_dtype)
    return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)


def is_ragged(value: object) -> bool:
    """Whether this is a RaggedTensor or a RaggedTensorValue."""
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def match_splits(values: RaggedTensor, splits: Tensor) -> tuple[RaggedTensor, Tensor]:
    """Values and splits as they are if the types of all splits agree; ValueError otherwise."""
    if values.row_splits.dtype is not splits.dtype:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to convert them "
            "to compatible dtypes."
        )
    return values, splits


def splits_type_of(*tensors: Values) -> DType:
    """The type of the splits of some ragged tensors, int64 without any; ValueError when they have several."""
    kinds = {each.row_splits.dtype for each in tensors if isinstance(each, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to convert them "
            "to compatible dtypes."
        )
    return kinds.pop() if kinds else dtypes.int64


def count_rows(values: Values, dtype: DType) -> Tensor:
    """The number of rows of a ragged tensor, or the first size of another."""
    return values.nrows(dtype) if isinstance(values, RaggedTensor) else nrows_of(values, dtype)


def _parts(values: object) -> list[object]:
    """The tensor that tells the graph in which a name scope is opened."""
    if isinstance(values, RaggedTensor):
        return [values.flat_values]
    return [values] if isinstance(values, Tensor) else []


def _check_flag(validate: bool) -> None:
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _check_list(nested: object, what: str) -> None:
    if isinstance(nested, Tensor):
        raise TypeError(f"{what} must be a list of Tensors")


def _value_checks(values: Values) -> list[Operation]:
    return [] if isinstance(values, RaggedTensor) else [assert_rank_at_least(values, 1)]


def _check_count(values: Values, rowids: Tensor) -> None:
    dims = None if values.shape.ndims is None else tuple(values.shape.as_list()[:1])
    if not dims_compatible(dims, rowids.dims):
        raise ValueError(f"Shapes {format_dims(dims)} and {format_dims(rowids.dims)} are incompatible")


def _typed(values: ValuesLike, partition: TensorLike, name: str) -> tuple[Values, Tensor]:
    """Values and what partitions them, with one type for all that partitions."""
    found = convert_to_tensor_or_ragged_tensor(values, name="values")
    if isinstance(found, RaggedTensor):
        if not isinstance(partition, Tensor):
            return found, convert_to_tensor(partition, found.row_splits.dtype, name=name)
        if partition.dtype in INDEX and partition.dtype is not found.row_splits.dtype:
            raise ValueError(f"dtype mismatch: {name} ({partition.dtype!r}) vs values.row_splits ({found.row_splits.dtype!r})")
        tensor = partition
    elif isinstance(partition, np.ndarray) and partition.dtype == np.int32:
        tensor = convert_to_tensor(partition, name=name)
    else:
        tensor = convert_to_tensor(partition, preferred_dtype=dtypes.int64, name=name)
    if tensor.dtype not in INDEX:
        raise ValueError(f"{name} must have dtype int32 or int64")
    return found, tensor
