"""Sweeps: all rows of a matrix are updated, then all columns, each in as many steps as its batches need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weft.estimators.factorization.side import Update
from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.ops.array.filling import fill, ones_like
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.comparison import logical_not
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.math.unary import sqrt
from weft.ops.state.scatter_update import scatter_update
from weft.ops.variables.assign import assign, assign_add
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.training_util import get_global_step

COMPLETED_SWEEPS: Final = "completed_sweeps"
LOSS: Final = "WALS_loss"
RWSE: Final = "WALS_RWSE"


class SweepState:
    """The variables that tell where training is: which side is updated, which rows it has seen, the loss."""

    def __init__(self) -> None:
        self.is_row_sweep = _state(True, "is_row_sweep")
        self.is_done = _state(False, "is_sweep_done")
        self.completed = _state(0, COMPLETED_SWEEPS)
        self.loss = _state(0.0, LOSS)
        self.root_error = _state(0.0, RWSE)


@dataclass(frozen=True)
class SideSweep:
    """How one side is updated.

    Args:
        prepare: what runs before the side's sweep, one after the other.
        train: updates the side by a batch.
        forget: lets no row have been seen.
    """

    prepare: tuple[Operation, Operation]
    train: Operation
    forget: Operation


def side_sweep(
    state: SweepState, prepare: tuple[Operation, Operation], entries: SparseTensor, count: int,
    update: Callable[[SparseTensor], Update], name: str,
) -> SideSweep:  # fmt: skip
    """The sweep of one side, which is done when each of its rows has been in a batch.

    Args:
        state: where training is.
        prepare: what runs before the sweep.
        entries: a batch, `[rows, others]`.
        count: how many rows the side has.
        update: updates the side by entries.
        name: of the side, in its operations' names.
    """
    seen = _state(fill([count], False), f"processed_{name}")
    made = update(entries)
    rows = entries.indices[:, 0]
    told = [
        made.write,
        assign(state.loss, made.loss + made.regularization),
        assign(state.root_error, sqrt(made.loss / made.sum_weights)),
    ]
    with control_dependencies(told):
        noted = scatter_update(seen, rows, ones_like(rows, dtypes.bool), name=f"update_processed_{name}_indices")
    is_done = reduce_all(noted)
    train = group(
        assign(state.is_done, is_done), assign_add(state.completed, cast(is_done, dtypes.int32)), name=f"{name}_sweep_train_op"
    )
    return SideSweep(prepare, train, seen.initializer)


class SweepHook(SessionRunHook):
    """Runs in each step what updates the side whose turn it is, and before each sweep what prepares it.

    Args:
        state: where training is.
        begin: runs once in each session.
        rows, columns: the sides.
    """

    def __init__(self, state: SweepState, begin: Operation, rows: SideSweep, columns: SideSweep) -> None:
        self._state, self._begin, self._rows, self._columns = state, begin, rows, columns
        turned = assign(state.is_row_sweep, logical_not(state.is_row_sweep))
        self._switch = group(turned, rows.forget, columns.forget, name="sweep_switch_op")
        self._has_begun = False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Prepare a sweep if one begins; ask for the update."""
        session: Nest = run_context.session
        is_new = bool(session.run(self._state.is_done))
        if not self._has_begun:
            session.run(self._begin)
        if is_new:
            tf_logging.info("SweepHook starting the next sweep.")
            session.run(self._switch)
        side = self._rows if session.run(self._state.is_row_sweep) else self._columns
        if is_new or not self._has_begun:
            for each in side.prepare:
                session.run(each)
        self._has_begun = True
        return SessionRunArgs(side.train)


class CountStepsHook(SessionRunHook):
    """Counts each step in the global step, if there is one."""

    def __init__(self) -> None:
        step: VariableLike | None = get_global_step()
        self._count = None if step is None else assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: SessionRunContext) -> None:
        """Count it."""
        if self._count is not None:
            run_context.session.run(self._count)


class StopAtSweepHook(SessionRunHook):
    """Ends training after a number of sweeps.

    Args:
        completed: how many there were, `[] int32`.
        last: after how many it ends.
    """

    def __init__(self, completed: VariableLike, last: int) -> None:
        self._completed, self._last = completed, last

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask how many there were."""
        return SessionRunArgs(self._completed)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """End it."""
        if run_values.results >= self._last:
            run_context.request_stop()


def _state(first: TensorLike, name: str) -> VariableLike:
    return Variable(first, trainable=False, name=name, collections=[GraphKeys.GLOBAL_VARIABLES])
