"""Operators whose size is told by numbers, and not by their elements."""

from __future__ import annotations

from weft.framework.building.aliases import DynamicShape, SizeLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.matrices import adjoint_of
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import broadcast_dynamic_shape, broadcast_static_shape, broadcast_to
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal, assert_non_negative
from weft.ops.debugging.rank_checks import assert_rank
from weft.ops.math.casting import cast
from weft.ops.variables.ref_variable import RefVariable


class Sized(LinearOperator):
    """An operator that is known by its size and batch shape."""

    _rows: Tensor
    _columns: Tensor
    _batch: Tensor
    _is_checked: bool

    def _set_size(self, rows: SizeLike, columns: SizeLike | None, batch_shape: DynamicShape, is_checked: bool = False) -> None:
        """Take the sizes; where it `is_checked`, each run checks those that only it tells, and those of what is multiplied."""
        self._is_checked = is_checked
        self._rows = _size_tensor(rows, "num_rows", is_checked)
        self._columns = self._rows if columns is None else _size_tensor(columns, "num_columns", is_checked)
        self._batch = convert_to_tensor([] if batch_shape is None else batch_shape, dtypes.int32, name="batch_shape")
        known = constant_value(self._batch)
        if self._batch.shape.ndims not in (None, 1):
            raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {batch_shape}")
        if known is not None and (known < 0).any():
            raise ValueError(f"Argument batch_shape must be non-negative.  Found:{batch_shape}")
        if is_checked and known is None:
            self._batch = _checked_size(self._batch, 1, "batch_shape")

    def _shape(self) -> TensorShape:
        sizes = [constant_value(each) for each in (self._rows, self._columns)]
        return TensorShape(constant_dims(self._batch)).concatenate([None if size is None else int(size) for size in sizes])

    def _shape_tensor(self) -> Tensor:
        return concat([self._batch, stack([self._rows, self._columns])], axis=0)

    def _diagonal_shape(self) -> Tensor:
        return concat([self._batch, stack([self._rows])], axis=0)

    def _right(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """The matrices that the operator, or its adjoint, is multiplied with."""
        matrices = adjoint_of(x) if adjoint_arg else x
        if not self._is_checked:
            return matrices
        message = "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"
        fits = assert_equal(shape_of(matrices)[-2], self._rows if adjoint else self._columns, message=message)
        return with_dependencies([fits], matrices)

    def _widened(self, x: Tensor) -> Tensor:
        """The matrices, at least as many as the operator has."""
        if self.batch_shape.is_fully_defined() and x.shape.ndims is not None and x.shape.is_fully_defined():
            batch = broadcast_static_shape(self.batch_shape, x.shape[:-2])
            return x if batch == x.shape[:-2] else broadcast_to(x, batch.concatenate(x.shape[-2:]).as_list())
        sizes = shape_of(x)
        return broadcast_to(x, concat([broadcast_dynamic_shape(self._batch, sizes[:-2]), sizes[-2:]], axis=0))


def _size_tensor(size: SizeLike, name: str, is_checked: bool) -> Tensor:
    if isinstance(size, RefVariable):
        raise TypeError(
            f"Argument {name} cannot be reference type. Found: {size!r}: an assignment would change the operator. "
            "tf.identity(variable) is its value"
        )
    tensor = convert_to_tensor(size, name=name)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {size}")
    if tensor.shape.ndims not in (None, 0):
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {size}")
    known = constant_value(tensor)
    if known is not None and known < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {size}")
    if is_checked and known is None:
        tensor = _checked_size(tensor, 0, name)
    return cast(tensor, dtypes.int32)


def _checked_size(tensor: Tensor, rank: int, name: str) -> Tensor:
    checks = (
        assert_rank(tensor, rank, message=f"Argument {name} must be a {rank}-D Tensor"),
        assert_non_negative(tensor, message=f"Argument {name} must be non-negative."),
    )
    return with_dependencies(checks, tensor)
