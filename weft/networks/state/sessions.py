"""The session that Keras runs in: the default one, the one that the program set, or one that Keras opens for a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from weft.client.session import Session, get_default_session
from weft.framework.building.aliases import Array, SessionLike, VariableLike
from weft.framework.compat.behavior import executing_eagerly
from weft.framework.graphs.graph import Graph, get_default_graph, reset_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.layers.effects import variables_of_layers
from weft.networks.state.graph_state import GraphState, forget, state_of
from weft.networks.state.phase import phase_placeholder
from weft.ops.variables.assign import is_variable_initialized
from weft.ops.variables.options import VariableAggregation
from weft.proto.messages import ConfigProto
from weft.strategies.replicas.variables import DistributedVariable, SyncOnReadVariable
from weft.training.tracking.session_choice import register_session_provider


@dataclass
class _Held:
    """The session of Keras in this process, which all threads share, and whether programs initialize variables themselves."""

    session: SessionLike | None = None
    manual_initialization: bool = False


_HELD: Final = _Held()


def get_session(op_input_list: Iterable[object] = ()) -> SessionLike:
    """The session to run in, with the variables of its graph's Keras layers initialized.

    The default session if there is one; else the one of `set_session`, if it runs the default graph; else a new one.

    Args:
        op_input_list: not used.
    """
    session = _session()
    if not _HELD.manual_initialization:
        initialize_variables(session)
    return session


def _session() -> SessionLike:
    default: SessionLike | None = get_default_session()
    if default is not None:
        return default
    if _HELD.session is None or _HELD.session.graph is not get_default_graph():
        strategy = state_of().strategy
        _HELD.session = Session(config=None if strategy is None else strategy.update_config_proto(ConfigProto()))
    return _HELD.session


def set_session(session: SessionLike | None) -> None:
    """Let Keras run in this session wherever there is no default one.

    Args:
        session: the session; None for none.
    """
    _HELD.session = session


def clear_session() -> None:
    """Forget the default graph with all that Keras keeps of it, and the session: names count from the beginning again.

    The new graph has the learning phase's placeholder as its first nodes, so that its random nodes have TensorFlow's seeds.
    """
    forget(get_default_graph())
    reset_default_graph()
    if not executing_eagerly():
        phase_placeholder(get_default_graph())
    if isinstance(_HELD.session, Session):
        _HELD.session.close()
    _HELD.session = None


def manual_variable_initialization(value: bool) -> None:
    """Set whether the program initializes the variables of Keras itself; False at the start.

    Args:
        value: whether it does.
    """
    _HELD.manual_initialization = value


def initialize_variables(session: SessionLike) -> None:
    """Initialize those variables of Keras in the session's graph that have no value there.

    A variable is asked about once. A finalized graph takes no more nodes, and its variables are those of the session that
    finalized it, so nothing is done there.
    """
    graph = session.graph
    if graph.finalized:
        return
    state = state_of(graph)
    asked = [each for each in _candidates(graph, state) if each.name not in state.known_initialized]
    if not asked:
        return
    with graph.as_default(), graph.control_dependencies(None):
        flags = session.run([is_variable_initialized(each) for each in asked])
    missing = [each for each, flag in zip(asked, flags, strict=True) if not flag]
    if missing:
        session.run([each.initializer for each in missing])
    state.known_initialized.update(each.name for each in asked)


def _candidates(graph: Graph, state: GraphState) -> list[VariableLike]:
    from_optimizers = [each for optimizer in state.optimizers for each in optimizer.variables()]
    return [*dict.fromkeys((*state.variables, *variables_of_layers(graph), *from_optimizers))]


def batch_get_value(tensors: Sequence[VariableLike]) -> list[Array]:
    """The values of variables or tensors, of one run.

    Args:
        tensors: the variables or tensors.
    """
    return [] if not tensors else list(get_session(tensors).run(list(tensors)))


def batch_set_value(tuples: Iterable[tuple[VariableLike, Array]]) -> None:
    """Give variables values, in one run and without further nodes: their initializers run with the values fed.

    Args:
        tuples: pairs of a variable and an array of its shape.
    """
    setter, feeds = value_setter(tuples)
    if setter:
        get_session().run(setter, feed_dict=feeds)


def value_setter(
    tuples: Iterable[tuple[VariableLike, Array]],
) -> tuple[list[Operation], dict[Tensor, Array]]:
    """What to run and to feed so that variables get values: their initializers, those of all copies where they have several.

    Args:
        tuples: pairs of a variable and an array of its shape.
    """
    pairs = [
        (copy, np.asarray(own, copy.dtype.base_dtype.as_numpy_dtype))
        for variable, value in tuples
        for copy, own in _values_of_copies(variable, value)
    ]
    feeds = {variable.initializer.inputs[1]: value for variable, value in pairs}
    return [variable.initializer for variable, _ in pairs], feeds


def _values_of_copies(variable: VariableLike, value: Array) -> list[tuple[VariableLike, Array]]:
    """A variable and its value, or its copies on several devices and theirs, which are together the value."""
    if not isinstance(variable, DistributedVariable):
        return [(variable, value)]
    is_sum = isinstance(variable, SyncOnReadVariable) and variable.aggregation is VariableAggregation.SUM
    return [(copy, value / len(variable.values) if is_sum else value) for copy in variable.values]


register_session_provider(get_session)
