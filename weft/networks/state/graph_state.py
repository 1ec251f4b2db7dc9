"""GraphState: what Keras keeps beside a graph, and for as long as the graph lives.

It lies in a collection of the graph under a key that is no string, so neither `get_all_collection_keys` nor a MetaGraph
shows it, and it goes when the graph goes: a table of graphs would hold them, since tensors lead back to their graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.replica_values import StrategyLike
from weft.networks.config import Config

_KEY: Final[Any] = ("keras",)


@dataclass
class GraphState:
    """Variables and the learning phase of one graph, and how its tensors came from layers."""

    learning_phase: Tensor | int | None = None
    # The placeholder of the phase, which stays the graph's when the phase is set and unset.
    phase_placeholder: Tensor | None = None
    uses_phase: bool = False
    variables: list[VariableLike] = field(default_factory=list)
    known_initialized: set[str] = field(default_factory=set)
    # By the name of the tensor: the call of a layer that made it, and its mask.
    histories: Config = field(default_factory=dict)
    masks: dict[str, Tensor] = field(default_factory=dict)
    # The optimizers of tf.train that models of this graph were compiled with: they make variables of their own.
    optimizers: list[Nest] = field(default_factory=list)
    # The strategy in whose scope a model of this graph was made: sessions need its devices.
    strategy: StrategyLike = None


def state_of(graph: Graph | None = None) -> GraphState:
    """The state of a graph, of the default one for None."""
    held = (graph or get_default_graph()).get_collection_ref(_KEY)
    if not held:
        held.append(GraphState())
    found: GraphState = held[0]
    return found


def forget(graph: Graph) -> None:
    """Drop the state of a graph."""
    graph.get_collection_ref(_KEY).clear()


def track_variable(variable: VariableLike) -> None:
    """Let Keras initialize this variable when a session first needs it."""
    state_of(variable.graph).variables.append(variable)
