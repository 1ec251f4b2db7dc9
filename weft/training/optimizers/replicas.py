"""Optimizers in the scope of a strategy: the loss that they differentiate, and the step that all replicas make together."""

from __future__ import annotations

from collections.abc import Iterable

from weft.framework.context import replication
from weft.framework.context.replication import Strategy
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.replica_values import Function, Value
from weft.models.losses import Reduction, last_reduction
from weft.ops.variables.assign import assign_add


def scaled_for_replicas(loss: Tensor) -> Tensor:
    """The loss, divided by the number of replicas where a strategy asks for it: gradients are summed over replicas."""
    mode = replication.current()
    if mode is None or not is_mean_over_replicas():
        return loss
    count = mode.strategy.num_replicas_in_sync
    return loss * (1.0 / count) if count > 1 else loss


def is_mean_over_replicas() -> bool:
    """Whether replicas' losses become one by their mean: an Estimator says so, and the last loss of the graph is no sum."""
    mode = replication.current()
    return mode is not None and mode.strategy.scales_loss and last_reduction() != Reduction.SUM


def apply_in_replica(
    distributed_apply: Function,
    grads_and_vars: Iterable[tuple[Value, Value]],
    global_step: Value,
    name: str | None,
) -> Value:
    """Apply gradients of a replica, together with those of the others.

    Raises:
        RuntimeError: no replica is being built.
        ValueError: there is no pair, or no gradient.
    """
    replica = replication.current_replica()
    if replica is None:
        raise RuntimeError(
            "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context. A strategy's step is a "
            "function that minimizes, and strategy.experimental_run_v2(function) calls it for each replica."
        )
    pairs = list(grads_and_vars)
    if not pairs:
        raise ValueError("No variables provided.")
    wanted = tuple((gradient, variable) for gradient, variable in pairs if gradient is not None)
    if not wanted:
        raise ValueError(f"No gradients provided for any variable: {[variable.name for _, variable in pairs]}.")
    return replica.merge_call(distributed_apply, args=(wanted, global_step, name))


def step_of_replicas(strategy: Strategy, finished: Value, global_step: Value, name: str) -> Value:
    """The end of a step: after all updates, with one added to the copies of the global step."""
    if global_step is None:
        return strategy.group(finished, name=name)
    with get_default_graph().control_dependencies([op for each in finished for op in _flat(each)]):
        return strategy.extended.update(global_step, assign_add, args=(1,), kwargs={"name": name})


def _flat(item: Value) -> list[Value]:
    return [each for part in item for each in _flat(part)] if isinstance(item, list | tuple) else [item]
