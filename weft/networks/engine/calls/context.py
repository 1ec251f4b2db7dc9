"""The call of a layer that is under way: its phase goes to the layers that it calls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final, NamedTuple

from weft.framework.building.aliases import TensorLike
from weft.networks.config import KerasObject


class Call(NamedTuple):
    """A call under way: the layer, and the phase that it was called for, None when nobody said."""

    layer: KerasObject
    training: TensorLike | None


_CALL: Final[ContextVar[Call | None]] = ContextVar("weft_keras_call", default=None)


def current_call() -> Call | None:
    """The innermost call under way."""
    return _CALL.get()


@contextlib.contextmanager
def calling(layer: object, training: TensorLike | None) -> Iterator[None]:
    """A block in which a layer is being called."""
    token = _CALL.set(Call(layer, training))
    try:
        yield
    finally:
        _CALL.reset(token)
