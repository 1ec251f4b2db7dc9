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

# For each function the handlers, and the kinds that each of them takes.
_HANDLERS: Final[dict[object, list[tuple[tuple[type, ...], Callable[..., object]]]]] = {}


def register_handler(function: object, handler: Callable[..., object], kinds: tuple[type, ...]) -> None:
    """Let `handler(*args, **kwargs)` answer for a dispatchable function; it may return NotImplemented.

    Args:
        function: the function.
        handler: takes its arguments.
        kinds: the classes of which an argument, or an element of a list, has to be for the handler to be asked.
    """
    _HANDLERS.setdefault(function, []).append((kinds, handler))


def fallback(function: object, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """What the handlers of a function make of arguments that it has refused; NotImplemented if there is none."""
    for kinds, handler in _HANDLERS.get(function, ()):
        if any(_concerns(each, kinds) for each in (*args, *kwargs.values())):
            result = handler(*args, **kwargs)
            if result is not NotImplemented:
                return result
    return NotImplemented


def _concerns(argument: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(argument, list | tuple):
        return any(isinstance(each, kinds) for each in argument)
    return isinstance(argument, kinds)


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
