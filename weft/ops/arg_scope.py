"""arg_scope: default arguments for the functions that a block calls.

    with arg_scope([conv2d, fully_connected], activation_fn=relu):
        conv2d(images, 64, [3, 3])

The functions must be decorated with `add_arg_scope`; what a call says itself comes first, then the innermost scope.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_Scope = dict[Any, dict[str, Any]]
_SCOPE: Final[ContextVar[_Scope | None]] = ContextVar("weft_arg_scope", default=None)


def current_arg_scope() -> _Scope:
    """The default arguments in force, by function."""
    return _SCOPE.get() or {}


def add_arg_scope(func: _F) -> _F:
    """Let `arg_scope` set default keyword arguments of a function.

    Args:
        func: the function.

    Returns:
        The function, which takes the scopes' arguments.
    """

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(with_defaults, {}), **kwargs})

    with_defaults.takes_arg_scope = True  # type: ignore[attr-defined]
    return with_defaults  # type: ignore[return-value]


def has_arg_scope(func: object) -> bool:
    """Whether `arg_scope` may set arguments of this function.

    Args:
        func: any function.
    """
    return hasattr(func, "takes_arg_scope")


def arg_scoped_arguments(func: Callable[..., object]) -> tuple[str, ...]:
    """The names of the keyword arguments that scopes may set for a decorated function.

    Args:
        func: the decorated function.

    Raises:
        ValueError: it is not decorated.
    """
    if not has_arg_scope(func):
        raise ValueError(f"{func} is not decorated with @add_arg_scope")
    parameters = inspect.signature(func).parameters.values()
    return tuple(each.name for each in parameters if each.default is not each.empty)


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: object, **kwargs: object) -> Iterator[_Scope]:
    """Set default arguments of functions for a block.

    Args:
        list_ops_or_scope: a list of decorated functions; or what an earlier `arg_scope` gave, to have that again.
        **kwargs: the arguments.

    Returns:
        A context manager, which gives the scope.

    Raises:
        ValueError: a function is not decorated, or arguments are given with an earlier scope.
        TypeError: `list_ops_or_scope` is neither.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
        scope = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, list | tuple):
            name = getattr(list_ops_or_scope, "__name__", "")
            raise TypeError(
                "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict), got "
                f"{f'the function {name}: [{name}] is a list of it' if name else repr(list_ops_or_scope)}"
            )
        scope = dict(current_arg_scope())
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                raise ValueError(f"{function} is not decorated with @add_arg_scope")
            scope[function] = {**scope.get(function, {}), **kwargs}
    token = _SCOPE.set(scope)
    try:
        yield scope
    finally:
        _SCOPE.reset(token)
