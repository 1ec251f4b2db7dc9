"""The scopes that are open while a graph is built: names, devices, control dependencies, colocation, containers, attributes.

The state is immutable; entering a scope swaps the record, leaving swaps it back. Each thread (each context) has its own, so a
thread that builds a part of a graph inside `with tf.device(...)` does not disturb another one.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

DeviceFunction = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ControlFrame:
    """One `control_dependencies` block: the operations to wait for, and those made inside so far, which wait already."""

    operations: tuple[Any, ...]
    inside: set[Any] = dataclasses.field(default_factory=set)


@dataclasses.dataclass(frozen=True, slots=True)
class ScopeState:
    """The scopes that are open in one graph.

    `devices` holds device functions, outermost first, None where `tf.device(None)` stops the outer ones; `device_name` is what
    they amount to when all are plain names, None when a function must be asked per op.
    """

    name: str = ""
    devices: tuple[DeviceFunction | None, ...] = ()
    device_name: str | None = ""
    control: tuple[ControlFrame, ...] = ()
    colocation: tuple[Any, ...] = ()
    container: str = ""
    attrs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    gradient_overrides: Mapping[str, str] = dataclasses.field(default_factory=dict)
    original_op: Any = None
    control_flow: Any = None


EMPTY: Final = ScopeState()
# By the graphs themselves: one that is gone leaves its number in memory to another, which must not get its scopes.
_STATES: Final[ContextVar[Mapping[object, ScopeState]]] = ContextVar("weft_scopes")
_NONE: Final[Mapping[object, ScopeState]] = {}


def current(graph: object) -> ScopeState:
    """The scopes that are open in this graph, on this thread."""
    return _STATES.get(_NONE).get(graph, EMPTY)


def apply_device_functions(functions: Sequence[DeviceFunction | None], op: Any) -> None:
    """Let device functions decide on an operation's device, from the innermost outwards to where `tf.device(None)` stops."""
    for function in reversed(functions):
        if function is None:
            break
        op._set_device(function(op))


@contextlib.contextmanager
def entered(graph: object, **changes: Any) -> Iterator[ScopeState]:
    """Change the open scopes of a graph for the extent of the block."""
    before = current(graph)
    state = dataclasses.replace(before, **changes)
    _STATES.set({**_STATES.get(_NONE), graph: state})
    try:
        yield state
    finally:
        _restore(graph, before)


def _restore(graph: object, before: ScopeState) -> None:
    states = dict(_STATES.get(_NONE))
    if before is EMPTY:
        states.pop(graph, None)
    else:
        states[graph] = before
    _STATES.set(states)


def implied_control_inputs(frames: tuple[ControlFrame, ...], producers: Collection[object]) -> list[Any]:
    """The operations that a node inside these blocks must wait for, each once, outermost first.

    Left out is what its inputs imply already: an input's producer itself, and a block in which one of the producers was made.
    """
    needed: dict[Any, None] = {}
    for frame in frames:
        if frame.inside.isdisjoint(producers):
            needed.update((op, None) for op in frame.operations if op not in producers)
    return list(needed)
