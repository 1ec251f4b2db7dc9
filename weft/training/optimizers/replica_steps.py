"""What replicas that train in step share: the accumulators of their gradients, and the tokens by which they go on.

`SyncReplicasOptimizer` tells how a step goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from weft.framework.building.aliases import SessionLike, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import fill
from weft.ops.array.placeholder import placeholder
from weft.ops.control_flow.ordering import group
from weft.ops.data_flow.conditional_accumulator import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from weft.ops.data_flow.queue import FIFOQueue
from weft.ops.data_flow.queue_nodes import queue_reopen
from weft.ops.variables.assign import assign
from weft.ops.variables.variable import Variable
from weft.training.sessions.quorum import Count

T = TypeVar("T")


class GradientAccumulators:
    """One accumulator for each variable, on the variable's device."""

    def __init__(self) -> None:
        self._placed: list[tuple[ConditionalAccumulatorBase, str]] = []

    def add(
        self, gradient: Tensor | IndexedSlices, variable: Variable, count: int, local_step: Variable
    ) -> tuple[Any, Operation]:
        """The mean of `count` gradients of a variable, and this replica's push of its own, stamped with its step.

        Raises:
            ValueError: the gradient is neither a Tensor nor an IndexedSlices.
        """
        shared_name = f"{variable.name}/grad_accum"
        if isinstance(gradient, Tensor):
            with get_default_graph().control_dependencies(None):
                dense = ConditionalAccumulator(gradient.dtype, shape=variable.get_shape(), shared_name=shared_name)
            self._placed.append((dense, variable.device))
            return dense.take_grad(count), dense.apply_grad(gradient, local_step=local_step)
        if isinstance(gradient, IndexedSlices):
            with get_default_graph().control_dependencies(None):
                sparse = SparseConditionalAccumulator(gradient.dtype, shape=(), shared_name=shared_name)
            self._placed.append((sparse, variable.device))
            push = sparse.apply_indexed_slices_grad(gradient, local_step=local_step)
            return sparse.take_indexed_slices_grad(count), push
        raise ValueError(f"Unknown grad type! Got {type(gradient).__name__} for variable {variable.name!r}")

    def at_each(self, make: Callable[[ConditionalAccumulatorBase], T]) -> list[T]:
        """A node for every accumulator, on its device."""
        made = []
        for accumulator, device in self._placed:
            with get_default_graph().device(device):
                made.append(make(accumulator))
        return made

    def at_each_task(self, make: Callable[[ConditionalAccumulatorBase], T]) -> list[T]:
        """A node for the first accumulator of each task, which knows the sessions as well as the task's others."""
        first = {device: accumulator for accumulator, device in reversed(self._placed)}
        made = []
        for device, accumulator in first.items():
            with get_default_graph().device(device):
                made.append(make(accumulator))
        return made


class StepTokens:
    """The queue of tokens; each carries the global step to the replica that draws it.

    Args:
        global_step: the variable that counts the updates.
    """

    def __init__(self, global_step: Any) -> None:
        self._global_step = global_step
        with get_default_graph().control_dependencies(None):
            self.queue = FIFOQueue(
                -1, [global_step.dtype.base_dtype], shapes=[()], name="sync_token_q", shared_name="sync_token_q"
            )
        self.per_step: Any = None
        """The variable that tells how many tokens an update puts into the queue; see `add_per_step`."""

    def add_per_step(self, count: int) -> None:
        """Make the number of tokens of an update, beside the queue; in no collection, since only the chief initializes it."""
        make_variable: Any = Variable
        with get_default_graph().control_dependencies(None):
            self.per_step = make_variable(initial_value=count, trainable=False, collections=[], name="sync_rep_tokens_per_step")

    def put(self, count: TensorLike) -> Operation:
        """Put so many tokens of the global step into the queue."""
        # Reading explicitly makes the value that of after the control dependencies.
        step = self._global_step
        return self.queue.enqueue_many((fill([count], step.read_value() if isinstance(step, Variable) else step),))

    def put_beside(self, count: int) -> Operation:
        """As `put`, on the device of the global step, outside of all scopes."""
        graph = get_default_graph()
        with graph.device(self._global_step.device), graph.name_scope(None):
            return self.put(count)

    def put_first(self, count: int) -> Operation:
        """As `put_beside`, of tokens by which replicas may start: what an earlier job has left there goes."""
        with get_default_graph().device(self._global_step.device):
            # An earlier job on these parameter servers closed the queue when it ended, or this one's chief left tokens there.
            reopened = queue_reopen(self.queue.queue_ref)
        with get_default_graph().control_dependencies([reopened]):
            return self.put_beside(count)


class CountLimit:
    """The node that makes another Count hold, for the update that waits as well."""

    def __init__(self, tokens: StepTokens, accumulators: GradientAccumulators) -> None:
        self._accumulators = accumulators
        required, per_step, more = self._fed = tuple(placeholder(dtypes.int32, []) for _ in range(3))
        # The update that waits has tokens for as many as it was to be made of: those who come in have none.
        steps = [assign(tokens.per_step, per_step), tokens.put(more)]
        self._op = group(*steps, *accumulators.at_each(lambda each: each.limit(required)))

    def at_first(self, count: Count) -> Operation:
        """The operation that makes a count hold when a job begins, before anybody waits."""
        return group(*self._accumulators.at_each(lambda each: each.limit(count.required)))

    def set(self, session: SessionLike, count: Count, before: Count) -> None:
        """Make a count hold in place of the one before."""
        required, per_step, more = self._fed
        session.run(self._op, {required: count.required, per_step: count.tokens, more: max(0, count.tokens - before.tokens)})
