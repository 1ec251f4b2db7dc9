"""The learning phase: whether layers train. A tensor that is fed, unless the program has set it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.layers.core import either_branch
from weft.networks.state.graph_state import state_of
from weft.ops.array.placeholder import placeholder_with_default
from weft.ops.control_flow.init_scope import init_scope


def learning_phase() -> Tensor | int:
    """The phase of the default graph: what was set, or a scalar bool tensor, which is false unless it is fed."""
    with init_scope():
        graph = get_default_graph()
        state = state_of(graph)
        if state.learning_phase is None:
            state.learning_phase = phase_placeholder(graph)
            state.uses_phase = True
        return state.learning_phase


def phase_placeholder(graph: Graph) -> Tensor:
    """The scalar bool tensor of a graph that training feeds; made by the first call."""
    state = state_of(graph)
    if state.phase_placeholder is None:
        with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None):
            state.phase_placeholder = placeholder_with_default(False, (), name="keras_learning_phase")
    return state.phase_placeholder


def set_learning_phase(value: int) -> None:
    """Set the phase of the default graph to 0 (test) or 1 (train); layers that are called afterwards have it built in.

    Args:
        value: the phase.

    Raises:
        ValueError: it is neither 0 nor 1.
    """
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    state_of().learning_phase = value


@contextlib.contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """A block in which the phase of the default graph is 0 or 1.

    Args:
        value: the phase.
    """
    state = state_of()
    before = state.learning_phase
    set_learning_phase(value)
    try:
        yield
    finally:
        state.learning_phase = before


def symbolic_phase() -> Tensor | None:
    """The tensor that training feeds, if layers of the default graph have asked for one."""
    state = state_of()
    return state.phase_placeholder if state.uses_phase else None


def in_train_phase(x: Nest, alt: Nest, training: TensorLike | None = None) -> Nest:
    """`x` in training and `alt` otherwise, both tensors or functions that make them.

    Args:
        x, alt: tensors of one shape, or functions of nothing that make them.
        training: whether it is training, a Python value or a [] tensor; the graph's learning phase when None.
    """
    phase = learning_phase() if training is None else training
    return either_branch(phase, _function_of(x), _function_of(alt))


def in_test_phase(x: Nest, alt: Nest, training: TensorLike | None = None) -> Nest:
    """`alt` in training and `x` otherwise.

    Args: those of `tf.keras.backend.in_train_phase`.
    """
    return in_train_phase(alt, x, training)


def _function_of(value: Nest) -> Callable[[], Nest]:
    return value if callable(value) else lambda: value
