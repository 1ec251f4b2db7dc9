"""Conditional accumulators as objects: ConditionalAccumulator, SparseConditionalAccumulator."""

from __future__ import annotations

from typing import NamedTuple

from weft.framework.building.aliases import DTypeLike, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.data_flow import accumulators
from weft.ops.math.casting import cast


class ConditionalAccumulatorBase:
    """Sums gradients that workers push, and gives their mean when there are enough of them.

    It has a step: a gradient that was computed at an earlier one is dropped silently. It lives on the task that it is
    placed on; programs share it by `shared_name`.

    Args:
        dtype: the gradients' dtype.
        shape: their shape.
        accumulator_ref: the accumulator's handle.
    """

    __repr__ = printed("tf")

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, accumulator_ref: Tensor) -> None:
        self._dtype = as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the node that makes it, without its scope."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The gradients' dtype."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """The number of gradients in it, a scalar int32."""
        name = name or f"{self._name}_NumAccumulated"
        return accumulators.accumulator_num_accumulated(self._accumulator_ref, name=name)

    def report(self, name: str | None = None) -> Tensor:
        """The contributors since the last update, as JSON: step, count, needed, and the sessions known."""
        return accumulators.accumulator_report(self._accumulator_ref, name=name or f"{self._name}_Report")

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """An operation that drops gradients computed before this step from then on; a step back changes nothing.

        Args:
            new_global_step: [] int64.
        """
        return accumulators.accumulator_set_global_step(
            self._accumulator_ref, _as_step(new_global_step), name=name or f"{self._name}_SetGlobalStep"
        )

    def restart(self, global_step: TensorLike, name: str | None = None) -> Operation:
        """An operation that drops the gradients in it and begins at a step, which may be earlier than its own."""
        return accumulators.accumulator_restart(
            self._accumulator_ref, _as_step(global_step), name=name or f"{self._name}_Restart"
        )

    def limit(self, num_required: TensorLike, name: str | None = None) -> Operation:
        """An operation after which `take_grad` needs so many gradients at most, also where it waits already."""
        return accumulators.accumulator_limit(self._accumulator_ref, num_required, name=name or f"{self._name}_Limit")

    def join(self, name: str | None = None) -> Operation:
        """An operation that lets the report have this session before its first gradient."""
        return accumulators.accumulator_join(self._accumulator_ref, name=name or f"{self._name}_Join")

    def leave(self, everyone: bool = False, name: str | None = None) -> Operation:
        """An operation that says that this session gives no more gradients, or that `everyone` has ended."""
        return accumulators.accumulator_leave(self._accumulator_ref, everyone=everyone, name=name or f"{self._name}_Leave")


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums dense gradients.

    Args:
        dtype: the gradients' dtype.
        shape: their shape.
        shared_name: the name by which sessions share it; the node's name when None.
        name: the node's name.
        reduction_type: MEAN or SUM.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        _check_reduction("ConditionalAccumulator", reduction_type)
        handle = accumulators.conditional_accumulator(
            dtype=as_dtype(dtype),
            shape=as_dims(shape),
            shared_name="" if shared_name is None else shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, handle)

    def apply_grad(self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None) -> Operation:
        """An operation that adds a gradient unless `local_step` is before the accumulator's step.

        Args:
            grad: a tensor of the accumulator's dtype and shape.
            local_step: the step that it was computed from; those of earlier steps than the accumulator's are dropped.

        Raises:
            ValueError: its shape does not fit.
        """
        gradient = convert_to_tensor(grad, dtype=self._dtype)
        with naming("A gradient has the accumulator's shape.", gradient=gradient, accumulator=self._accumulator_ref):
            gradient.get_shape().assert_is_compatible_with(self._shape)
        return accumulators.accumulator_apply_gradient(self._accumulator_ref, _as_step(local_step), gradient, name=name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """The mean of the gradients; waits until there are `num_required`, takes all, and raises the step by one.

        Args:
            num_required: how many gradients it waits for.
        """
        taken: Tensor = accumulators.accumulator_take_gradient(
            self._accumulator_ref, _count(num_required), dtype=self._dtype, name=name
        )
        taken.set_shape(self._shape)
        return taken


class SparseAccumulatorTakeGradient(NamedTuple):
    """What a SparseConditionalAccumulator gives: the rows' indices, the rows, and the dense shape."""

    indices: Tensor
    values: Tensor
    shape: Tensor


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Sums gradients of some rows; a row's mean is over the gradients that had the row.

    Args:
        dtype: the gradients' dtype.
        shape: the shape of the dense gradient.
        shared_name: the name by which sessions share it; the node's name when None.
        name: the node's name.
        reduction_type: MEAN or SUM.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ) -> None:
        _check_reduction("SparseConditionalAccumulator", reduction_type)
        handle = accumulators.sparse_conditional_accumulator(
            dtype=as_dtype(dtype),
            shape=as_dims(shape),
            shared_name="" if shared_name is None else shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None) -> Operation:
        """An operation that adds an IndexedSlices unless `local_step` is before the accumulator's step.

        Args:
            grad: the gradient: rows and their indices.
            local_step: the step for which it was computed; one before the accumulator's own drops it.
        """
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """An operation that adds rows unless `local_step` is before the accumulator's step.

        Args:
            grad_indices: the rows' indices, [n].
            grad_values: the rows, [n, ...].
            grad_shape: the shape of the dense gradient.
            local_step: the step at which it was computed.
            name: the node's name.
        """
        has_known_shape = grad_shape is not None
        return accumulators.sparse_accumulator_apply_gradient(
            self._accumulator_ref,
            _as_step(local_step),
            cast(convert_to_tensor(grad_indices), dtypes.int64),
            convert_to_tensor(grad_values, dtype=self._dtype),
            cast(convert_to_tensor(grad_shape if has_known_shape else [], dtype=None if has_known_shape else dtypes.int64),
                 dtypes.int64),
            has_known_shape=has_known_shape,
            name=name,
        )  # fmt: skip

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> SparseAccumulatorTakeGradient:
        """Indices, values and dense shape of the mean; waits until there are `num_required` gradients, and takes all.

        Args:
            num_required: how many gradients are to be there.

        Returns:
            A tuple of `indices` `[n]` int64, `values` `[n, ...]` of the accumulator's dtype, and `shape` int64.
        """
        return SparseAccumulatorTakeGradient(
            *accumulators.sparse_accumulator_take_gradient(
                self._accumulator_ref, _count(num_required), dtype=self._dtype, name=name
            )
        )

    def take_indexed_slices_grad(self, num_required: TensorLike, name: str | None = None) -> IndexedSlices:
        """`take_grad` as an IndexedSlices.

        Args:
            num_required: how many gradients are to be there.
        """
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values=values, indices=indices, dense_shape=shape)


def _check_reduction(op: str, reduction_type: str) -> None:
    if reduction_type not in ("MEAN", "SUM"):
        raise ValueError(f"Attr 'reduction_type' of '{op}' Op passed string {reduction_type!r} not in: \"MEAN\", \"SUM\".")


def _as_step(step: TensorLike) -> Tensor:
    return cast(_scalar("step", convert_to_tensor(step)), dtypes.int64)


def _count(num_required: TensorLike) -> Tensor:
    # A tensor of another type is left to the node, which refuses it by a TypeError.
    is_there = isinstance(num_required, Tensor)
    return _scalar("num_required", convert_to_tensor(num_required, None if is_there else dtypes.int32, name="num_required"))


def _scalar(what: str, tensor: Tensor) -> Tensor:
    if tensor.dims:
        raise ValueError(f"Shape must be rank 0 but is rank {len(tensor.dims)}: {what} is one number")
    return tensor
