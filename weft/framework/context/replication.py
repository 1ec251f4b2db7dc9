"""The distribution strategy in whose scope a graph is being built, and the part of it: all replicas at once, or one of them.

Optimizers, metrics and moving averages ask here, for they work with whatever strategy there is; the strategies themselves are
`weft.strategies`. The record is one per thread (per context), as the graph's own scopes are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Protocol

from weft.framework.types.replica_values import Value


class Extended(Protocol):
    """The methods of `strategy.extended` that code beside the strategies calls."""

    def batch_reduce_to(self, reduce_op: Value, value_destination_pairs: Sequence[tuple[object, object]]) -> list[Value]: ...

    def reduce_to(self, reduce_op: Value, value: object, destinations: object) -> Value: ...

    def update(
        self, var: object, fn: Callable[..., object], args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None,
        group: bool = True,
    ) -> Value: ...  # fmt: skip

    def update_non_slot(
        self, colocate_with: object, fn: Callable[..., object], args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None, group: bool = True,
    ) -> Value: ...  # fmt: skip

    def non_slot_devices(self, var_list: Sequence[object]) -> object: ...

    def colocate_vars_with(self, colocate_with_variable: object) -> contextlib.AbstractContextManager[object]: ...


class Strategy(Protocol):
    """The part of a strategy that code beside the strategies uses."""

    @property
    def extended(self) -> Extended: ...

    @property
    def num_replicas_in_sync(self) -> int: ...

    @property
    def scales_loss(self) -> bool: ...

    def group(self, value: object, name: str | None = None) -> Value: ...

    def unwrap(self, value: object) -> tuple[Value, ...]: ...


class Replica(Protocol):
    """One of the replicas that a strategy builds."""

    @property
    def strategy(self) -> Strategy: ...

    @property
    def local_index(self) -> int: ...

    def merge_call(
        self, merge_fn: Callable[..., object], args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> Value: ...


@dataclass(frozen=True, slots=True)
class Mode:
    """What is being built: a replica, or what stands beside all of them when `replica` is None.

    `update_device` is the device whose copies of variables a function given to `extended.update` is changing.
    """

    strategy: Strategy
    replica: Replica | None = None
    update_device: str | None = None


_MODE: Final[ContextVar[Mode | None]] = ContextVar("weft_replication", default=None)


def current() -> Mode | None:
    """The mode of this thread; None outside the scope of any strategy."""
    return _MODE.get()


@contextlib.contextmanager
def entered(mode: Mode | None) -> Iterator[None]:
    """Build in a mode for the extent of the block."""
    token = _MODE.set(mode)
    try:
        yield
    finally:
        _MODE.reset(token)


def current_replica() -> Replica | None:
    """The replica that is being built; None beside replicas and outside the scope of any strategy."""
    mode = _MODE.get()
    return None if mode is None else mode.replica


def update_device() -> str | None:
    """The device of the update that is being built, or None."""
    mode = _MODE.get()
    return None if mode is None else mode.update_device
