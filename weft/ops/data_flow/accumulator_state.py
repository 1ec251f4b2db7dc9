"""The state behind conditional accumulators: gradients summed until enough of them are fresh."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any, Final, TypedDict

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.unshared import unshared
from weft.framework.types.dims import Dims, dims_compatible, format_dims
from weft.framework.types.dtypes import DType
from weft.ops.data_flow.contributors import Contributors, ReplicaReport
from weft.ops.data_flow.row_order import RowOrder
from weft.ops.data_flow.taker_line import Taker, TakerLine

_LOG: Final = logging.getLogger("weft.accumulators")


class AccumulatorReport(TypedDict):
    """The step, how many gradients there are and are waited for (None when nobody waits), since when, and who gave them."""

    step: int
    count: int
    needed: int | None
    waited_s: float
    replicas: list[ReplicaReport]


@unshared
class AccumulatorState:
    """Sums gradients that are not older than its step. Safe from any thread; `take` blocks.

    Taking gives the mean (or the sum) of what was added, empties the accumulator and raises its step by one, so that
    gradients computed before are dropped from then on.

    Args:
        name: for messages.
        dtype: the gradients' dtype.
        shape: their shape.
        reduction_type: MEAN or SUM.
    """

    def __init__(self, name: str, dtype: DType, shape: Dims, reduction_type: str) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = self._declared_shape = shape
        self.reduction_type = reduction_type
        self._line = TakerLine()
        self._changed = self._line.changed
        self._contributors = Contributors()
        self._step = 0
        self._count = 0
        self._dropped = 0
        self._limit: int | None = None
        # Somebody looks at it and tells of updates that wait, as SyncReplicasOptimizer does.
        self._is_watched = False

    def check_same(self, dtype: DType, shape: Dims, reduction_type: str) -> None:
        """Refuse a program that declares the accumulator otherwise."""
        wanted = (
            ("dtype", self.dtype.name, dtype.name),
            ("shape", format_dims(self._declared_shape), format_dims(shape)),
            ("reduction type", self.reduction_type, reduction_type),
        )
        for what, has, asked in wanted:
            if has != asked:
                told = f"Shared conditional accumulator '{self.name}' has {what} {has} but requested {what} was {asked}."
                raise InvalidArgumentError.of(told)

    @property
    def count(self) -> int:
        """The number of gradients in it."""
        with self._changed:
            return self._count

    @property
    def dropped(self) -> int:
        """The number of gradients that came too late, since the accumulator was made."""
        with self._changed:
            return self._dropped

    def report(self) -> AccumulatorReport:
        """As `progress`, for somebody who tells of updates that wait: the accumulator itself tells no more of them."""
        with self._changed:
            self._is_watched = True
        return self.progress()

    def progress(self) -> AccumulatorReport:
        """How far it is with the gradients of its step."""
        with self._changed:
            first, now_s = self._line.first, time.monotonic()
            return {
                "step": self._step,
                "count": self._count,
                "needed": None if first is None else self._needed(first.num_required),
                "waited_s": 0.0 if first is None else now_s - first.began_s,
                "replicas": self._contributors.report(now_s),
            }

    def set_step(self, step: int) -> None:
        """Drop gradients of earlier steps from now on; going back is ignored."""
        with self._changed:
            self._step = max(self._step, step)

    def restart(self, step: int) -> None:
        """Begin at a step, which may be an earlier one: gradients that are here are dropped, and the limit is lifted.

        Replicas that gave them give them again, once they have a token of this step.
        """
        with self._changed:
            if self._count:
                self._taken(self._count)
            self._count, self._step, self._limit = 0, step, None
            self._contributors.begin_again()

    def limit(self, num_required: int) -> None:
        """Let takers, also those that wait, need so many gradients at most."""
        with self._changed:
            self._limit = num_required
            self._line.wake()

    def join(self, ctx: OpContext) -> None:
        """Know the session as one that will give gradients."""
        with self._changed:
            self._contributors.join(ctx.session, time.monotonic())

    def leave(self, ctx: OpContext, everyone: bool) -> None:
        """Note that the session gives no more gradients; with `everyone`, forget all sessions: their job is over."""
        with self._changed:
            if everyone:
                self._contributors.forget_all()
            else:
                self._contributors.leave(ctx.session)

    def _needed(self, num_required: int) -> int:
        return num_required if self._limit is None else min(num_required, self._limit)

    def apply(self, ctx: OpContext, local_step: int, *gradient: object) -> bool:
        """Add a gradient that was computed at `local_step`; tells whether it was fresh."""
        with self._changed:
            self._check(*gradient)
            self._contributors.note(ctx.session, time.monotonic(), local_step >= self._step)
            if local_step < self._step:
                self._dropped += 1
                return False
            self._add(*gradient)
            self._count += 1
            self._line.wake()
            return True

    def take(self, ctx: OpContext, num_required: int) -> Array:
        """Wait until there are so many gradients, and take them all.

        Raises:
            InvalidArgumentError: `num_required` is not positive.
            CancelledError: the step was cancelled.
        """
        if num_required <= 0:
            raise InvalidArgumentError.of(f"Argument num_required must be positive, but was {num_required}")
        taker = Taker(
            num_required, time.monotonic(),
            is_enough=lambda: self._count >= self._needed(num_required),
            tell=lambda waited_s: self._tell(ctx, num_required, waited_s),
        )  # fmt: skip
        return self._line.take(ctx, taker, self._reset)

    def _tell(self, ctx: OpContext, num_required: int, waited_s: float) -> None:
        if self._is_watched:
            return
        _LOG.warning(
            "%s %r has waited %.0f s for gradients in the accumulator %r, which has %d of %d. Run apply_grad as often, in "
            "other threads or tasks; gradients whose local_step is below its step are dropped (%d so far).",
            ctx.op.type, ctx.op.name, waited_s, self.name, self._count, self._needed(num_required), self._dropped,
        )  # fmt: skip

    def _reset(self) -> Tensor:
        taken = self._taken(self._count)
        self._count = 0
        self._step += 1
        self._contributors.begin_again()
        return taken

    def close(self) -> None:
        """Wake all waiters; the accumulator is being dropped."""
        self._line.close()

    def _check(self, *gradient: object) -> None:
        raise NotImplementedError

    def _add(self, *gradient: object) -> None:
        raise NotImplementedError

    def _taken(self, count: int) -> Tensor:
        raise NotImplementedError


class DenseAccumulatorState(AccumulatorState):
    """Sums arrays."""

    _sum: Any = None

    def _check(self, *gradient: Array) -> None:
        found = gradient[0].shape
        if not dims_compatible(self.shape, found) or (self._sum is not None and self._sum.shape != found):
            expected = format_dims(self.shape if self._sum is None else self._sum.shape)
            raise InvalidArgumentError.of(f"Accumulator '{self.name}': Shape mismatch: expected {expected}, got {list(found)}")

    def _add(self, *gradient: object) -> None:
        (value,) = gradient
        self._sum = np.array(value) if self._sum is None else self._sum + value

    def _taken(self, count: int) -> Array:
        taken, self._sum = self._sum, None
        return taken if self.reduction_type == "SUM" else (taken / count).astype(taken.dtype)


class SparseAccumulatorState(AccumulatorState):
    """Sums rows by index. The mean of a row is over the gradients that had that row."""

    def __init__(self, name: str, dtype: DType, shape: Dims, reduction_type: str) -> None:
        # As in TensorFlow, a shape without dimensions stands for one that is not known.
        super().__init__(name, dtype, shape, reduction_type)
        self.shape = shape or None
        self._rows: dict[int, Any] = {}
        self._row_counts: dict[int, int] = {}
        self._order = RowOrder()

    def _check(self, *gradient: Array) -> None:
        indices, values, shape = gradient
        if indices.ndim != 1:
            raise InvalidArgumentError.of(
                f"Accumulator '{self.name}': Input indices should be vector but received shape: {list(indices.shape)}"
            )
        if shape.ndim != 1:
            raise InvalidArgumentError.of(
                f"Accumulator '{self.name}': Input shape should be vector but received shape: {list(shape.shape)}; leave it "
                "out, or give the sizes of the gradient as if it were dense"
            )
        if values.ndim == 0:
            raise InvalidArgumentError.of(f"Accumulator '{self.name}': Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise InvalidArgumentError.of(
                f"Accumulator '{self.name}': Expected {len(indices)} non-empty input values, got {len(values)}"
            )
        self._check_shape(indices, values, shape)

    def _check_shape(self, indices: Array, values: Array, shape: Array) -> None:
        own = self.shape or ()
        if len(shape):
            self._check_dims("shape", own, shape.tolist(), 0)
        rows = own[0] if own else None
        outside = (indices < 0) | (indices >= rows) if rows is not None else indices < 0
        if outside.any():
            place = int(np.argmax(outside))
            raise InvalidArgumentError.of(
                f"Accumulator '{self.name}': Shape mismatch: index of slice {place} exceeded limits of shape; index is "
                f"{indices[place]}{'' if rows is None else f' exceeded {rows}'}"
            )
        self._check_dims("values", own, values.shape, 1)
        held = next(iter(self._rows.values()), None)
        if held is not None:
            if held.ndim != values.ndim - 1:
                raise InvalidArgumentError.of(
                    f"Accumulator '{self.name}': Shape mismatch: expected values rank {held.ndim + 1}, got {values.ndim}"
                )
            self._check_dims("values", (None, *held.shape), values.shape, 1)

    def _check_dims(self, what: str, expected: Sequence[int | None], found: Sequence[int], first: int) -> None:
        """Compare from the dimension `first` on; a gradient may have further dimensions that the accumulator was not told."""
        if len(found) < len(expected):
            raise InvalidArgumentError.of(
                f"Accumulator '{self.name}': Shape mismatch: expected {what} rank at least {len(expected)}, got {len(found)}"
            )
        for dim, (size, asked) in enumerate(zip(found, expected, strict=False)):
            if dim >= first and asked not in (None, size):
                raise InvalidArgumentError.of(
                    f"Accumulator '{self.name}': Shape mismatch: expected {what} dim {dim} to be {asked}, got {size}"
                )

    def _add(self, *gradient: Array) -> None:
        indices, values, _ = gradient
        # A row that occurs twice in one gradient is one contribution.
        unique, places = np.unique(indices, return_inverse=True)
        summed = np.zeros((len(unique), *values.shape[1:]), values.dtype)
        np.add.at(summed, places, values)
        self._order.add(dict.fromkeys(indices.tolist()))
        for index, row in zip(unique.tolist(), summed, strict=True):
            known = self._rows.get(index)
            self._rows[index] = row if known is None else known + row
            self._row_counts[index] = self._row_counts.get(index, 0) + 1

    def _taken(self, count: int) -> Array:
        indices = self._order.take()
        if self.reduction_type == "SUM":
            rows = [self._rows[index] for index in indices]
        else:
            rows = [self._rows[index] / self._row_counts[index] for index in indices]
        dtype = self.dtype.as_numpy_dtype
        inner = tuple(n or 0 for n in (self.shape or ())[1:])
        values = np.array(rows, dtype) if rows else np.zeros((0, *inner), dtype)
        self._rows, self._row_counts = {}, {}
        # As in TensorFlow, how many rows there are is -1 unless the accumulator was told, whatever the gradients said.
        known = (self.shape[0] if self.shape else None, *values.shape[1:]) if rows or self.shape is None else self.shape
        return np.array(indices, np.int64), values, np.array([-1 if n is None else n for n in known], np.int64)
