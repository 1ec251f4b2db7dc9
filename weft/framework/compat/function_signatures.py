"""The arguments that functions take, by the names of tensorflow.python.util.function_utils."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(fn: Callable[..., object]) -> list[inspect.Parameter]:
    if not callable(fn):
        raise TypeError(
            f"fn should be a function-like object, but is of type {type(fn)}. Give the function itself, such as lambda: "
            "dataset, and not what it returns."
        )
    return list(inspect.signature(fn).parameters.values())


def fn_args(fn: Callable[..., object]) -> tuple[str, ...]:
    """The names of the arguments of a function, a method (without self), an object that can be called, or a partial.

    Returns:
        A tuple of str.
    """
    bound = set(fn.keywords) if isinstance(fn, functools.partial) else set()
    return tuple(each.name for each in _parameters(fn) if each.kind in _POSITIONAL and each.name not in bound)


def has_kwargs(fn: Callable[..., object]) -> bool:
    """Whether a function takes any keyword arguments (`**kwargs`)."""
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in _parameters(fn))


def get_func_name(func: Callable[..., object]) -> str:
    """The name of a function."""
    return getattr(func, "__name__", type(func).__name__)
