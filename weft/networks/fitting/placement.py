"""Placement: the strategy under whose scope a model is made, and what follows from it for its training."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.context import replication
from weft.framework.types.replica_values import StrategyLike
from weft.networks.config import KerasObject
from weft.networks.state.graph_state import state_of
from weft.strategies.replicas.variables import SyncOnReadVariable

_Method = TypeVar("_Method", bound=Callable[..., Nest])


def strategy_in_scope() -> StrategyLike:
    """The strategy whose scope is open, of which the sessions of the default graph are told; None in a replica or without one.

    Raises:
        NotImplementedError: its workers each have a graph and servers: an Estimator trains there.
    """
    mode = replication.current()
    if mode is None or mode.replica is not None:
        return None
    strategy: StrategyLike = mode.strategy
    if strategy.extended.is_default:
        return None
    if strategy.extended.uses_servers or strategy.extended.experimental_between_graph:
        raise NotImplementedError(
            f"A Keras model under the scope of {strategy}: its workers train by an Estimator. Make the model outside of the "
            "scope, and give tf.keras.estimator.model_to_estimator a RunConfig with train_distribute=strategy, for "
            "tf.estimator.train_and_evaluate."
        )
    state_of().strategy = strategy
    return strategy


def shared_by_replicas(strategy: StrategyLike) -> StrategyLike:
    """The strategy if it has several replicas that share a batch, else None."""
    return strategy if strategy is not None and strategy.num_replicas_in_sync > 1 else None


def scope_of(strategy: StrategyLike) -> contextlib.AbstractContextManager[object]:
    """The scope of a strategy; of None nothing."""
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def check_made_in_scope(strategy: StrategyLike, variables: Sequence[VariableLike]) -> None:
    """Check that a model's variables were made under the strategy that it is compiled under; ValueError where they were not."""
    if strategy is None:
        return
    for each in variables:
        if not strategy.extended.variable_created_in_scope(each):
            raise ValueError(
                f"Variable ({each!r}) was not created in the distribution strategy scope of ({strategy}). It is most likely "
                "due to not all layers or the model or optimizer being created outside the distribution strategy scope. Make "
                "and compile the model under `with strategy.scope():`."
            )


def whole(variable: VariableLike) -> VariableLike:
    """What stands for a variable in a run beside the replicas: what they have together where each has its own."""
    return variable.together() if isinstance(variable, SyncOnReadVariable) else variable


def in_scope_of_model(method: _Method) -> _Method:
    """Let a method of a model run under the strategy that the model was made under."""

    @functools.wraps(method)
    def run(model: KerasObject, *args: Nest, **kwargs: Nest) -> Nest:
        with scope_of(model.strategy):
            return method(model, *args, **kwargs)

    return cast("_Method", run)
