"""Dispatch: what an op does with an argument that is no tensor, such as a ragged tensor.

A function is called as ever; only when it refuses its arguments (TypeError, ValueError) are the handlers asked that were
registered for it. So the ordinary call pays nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# The kinds that handlers take; without one among the arguments no handler is asked.
_KINDS: Final[list[type]] = []
_HANDLERS: Final[dict[object, Callable[..., object]]] = {}


def register_kind(kind: type) -> None:
    """Let handlers be asked when an argument, or an element of a list, is of this class."""
    _KINDS.append(kind)


def register_handler(function: object, handler: Callable[..., object]) -> None:
    """Let `handler(*args, **kwargs)` answer for a dispatchable function; it may return NotImplemented."""
    _HANDLERS[function] = handler


def fallback(function: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """What the handler of a function makes of arguments that it has refused; NotImplemented if there is none."""
    handler = _HANDLERS.get(function)
    if handler is None or not any(map(_concerns, (*args, *kwargs.values()))):
        return NotImplemented
    return handler(*args, **kwargs)


def _concerns(argument: object) -> bool:
    if isinstance(argument, list | tuple):
        return any(isinstance(each, tuple(_KINDS)) for each in argument)
    return isinstance(argument, tuple(_KINDS))


def dispatchable(function: Callable[P, T]) -> Callable[P, T]:
    """Give a function a place for a handler; builders of nodes have one already."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            result = fallback(call, args, kwargs)
            if result is NotImplemented:
                raise
            return result  # type: ignore[return-value]

    return call
