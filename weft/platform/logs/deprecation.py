"""Decorators of tensorflow.python.util.deprecation: a function that is on its way out warns its callers, once each."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from weft.platform.logs import tf_logging

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

_told: Final[set[tuple[object, ...]]] = set()
# Programs clear it by this name.
_PRINT_DEPRECATION_WARNINGS = True


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[F], F]:
    """A decorator for a function or class that will be removed.

    Args:
        date: when, as `YYYY-MM-DD`; None for some later version.
        instructions: what to use instead.
        warn_once: whether each such function warns at its first call only.
    """

    def decorate(func: F) -> F:
        def warn(given: tuple[object, ...], named: dict[str, object]) -> None:
            _warn((func,) if warn_once else None, f"{_name_of(func)} is deprecated {_when(date)}.\n{instructions}")

        return _before(func, warn)

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: str | tuple[str, object], warn_once: bool = True
) -> Callable[[F], F]:
    """A decorator for a function some of whose arguments will be removed.

    Args:
        date: when, as `YYYY-MM-DD`; None for some later version.
        instructions: what to use instead.
        deprecated_arg_names_or_tuples: names of arguments, or each with the value that still may be given.
        warn_once: whether each argument is warned of once only.

    Raises:
        ValueError: the function has no such argument.
    """
    pairs = [each if isinstance(each, tuple) else (each,) for each in deprecated_arg_names_or_tuples]

    def decorate(func: F) -> F:
        signature = inspect.signature(func)
        if unknown := [pair[0] for pair in pairs if pair[0] not in signature.parameters]:
            raise ValueError(f"{_name_of(func)} is said to have deprecated arguments that it does not have: {unknown}")

        def warn(given: tuple[object, ...], named: dict[str, object]) -> None:
            found = signature.bind_partial(*given, **named).arguments
            for pair in pairs:
                name = pair[0]
                if name in found and not (len(pair) > 1 and found[name] == pair[1]):
                    text = f"calling {_name_of(func)} with {name} is deprecated {_when(date)}.\n{instructions}"
                    _warn((func, name) if warn_once else None, text)

        return _before(func, warn)

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: object
) -> Callable[[F], F]:
    """A decorator for a function that will not take some values of its arguments any more, given as `name=value`.

    Args:
        date: when they go, "YYYY-MM-DD", or None for some day.
        instructions: what to do instead.
        warn_once: whether only the first such call is logged.
        deprecated_kwargs: the values, by the names of the arguments.
    """

    def decorate(func: F) -> F:
        signature = inspect.signature(func)

        def warn(given: tuple[object, ...], named: dict[str, object]) -> None:
            found = signature.bind_partial(*given, **named).arguments
            for name, value in deprecated_kwargs.items():
                if name in found and found[name] == value:
                    text = f"calling {_name_of(func)} with {name}={value!r} is deprecated {_when(date)}.\n{instructions}"
                    _warn((func, name) if warn_once else None, text)

        return _before(func, warn)

    return decorate


def deprecated_alias(deprecated_name: str, name: str, func_or_class: F, warn_once: bool = True) -> F:
    """The same function or class under its former name, which warns."""

    def warn(given: tuple[object, ...], named: dict[str, object]) -> None:
        text = f"The name {deprecated_name} is deprecated. Please use {name} instead."
        _warn((func_or_class, deprecated_name) if warn_once else None, text)

    return _before(func_or_class, warn)


def deprecated_argument_lookup(new_name: str, new_value: T, old_name: str, old_value: T) -> T:
    """The value of an argument that has two names.

    Raises:
        ValueError: both are given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """A scope in which nothing is warned of."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def _before(func: F, act: Callable[[tuple[object, ...], dict[str, object]], None]) -> F:
    """A function, or a subclass of a class, that does something when it is called."""
    if isinstance(func, type):
        base: type = func
        init: Callable[..., None] = base.__init__  # type: ignore[misc]

        def initialize(self: object, *given: object, **named: object) -> None:
            act(given, named)
            init(self, *given, **named)

        members = {"__doc__": base.__doc__, "__module__": base.__module__, "__init__": initialize}
        return type(base.__name__, (base,), members)  # type: ignore[return-value]

    @functools.wraps(func)
    def call(*given: object, **named: object) -> object:
        act(given, named)
        return func(*given, **named)

    return call  # type: ignore[return-value]


def _warn(key: tuple[object, ...] | None, text: str) -> None:
    if not _PRINT_DEPRECATION_WARNINGS or key in _told:
        return
    if key is not None:
        _told.add(key)
    tf_logging.warning(text)


def _name_of(func: Callable[..., object]) -> str:
    return f"{getattr(func, '__qualname__', func)} (from {func.__module__})"


def _when(date: str | None) -> str:
    return "and will be removed " + ("in a future version" if date is None else f"after {date}")
