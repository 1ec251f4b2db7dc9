"""Refuses an argument where it is given, if what would use it later fails at it: the error is then at the program's own line.

What a function takes is what its annotations say, as in the hints for errors of Python's own (`argument_hints`). Objects of the
program's own classes, and of weft's other than what a graph has, are taken: they may do what is asked of them.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Final

import numpy as np

from weft.platform.hints.annotated_types import allows, is_element
from weft.platform.hints.argument_hints import refusal

# Packages whose values are what they are.
_PLAIN: Final = frozenset(("builtins", "numpy"))


def check_arguments(function: Callable[..., object], **given: object) -> None:
    """Refuse what the annotations of a function do not allow.

    Any number is taken for one of another kind, and bytes for a text.

    Args:
        function: the function that the arguments were given to; `__init__` for a class.
        given: arguments by their names.

    Raises:
        TypeError: an argument is nothing that the function takes.

    >>> def repeat(text: str, times: int = 1) -> str:
    ...     check_arguments(repeat, text=text, times=times)
    ...     return text * times
    >>> repeat("x", "3")
    Traceback (most recent call last):
    TypeError: repeat: times is '3' (str); it takes int.
    """
    for name, value in given.items():
        if _is_plain(value) and not _is_taken(function, name, value):
            raise TypeError(refusal(function.__qualname__.removesuffix(".__init__"), function, name, value))


def check_flags(function: Callable[..., object], **given: object) -> None:
    """Refuse a text in the place of True or False: it is true, whatever it says.

    Args:
        function: the function that the arguments were given to; `__init__` for a class.
        given: arguments by their names.

    Raises:
        TypeError: one is a text.

    >>> def repeat(text: str, twice: bool = False) -> str:
    ...     check_flags(repeat, twice=twice)
    ...     return text * 2 if twice else text
    >>> repeat("x", "False")
    Traceback (most recent call last):
    TypeError: repeat: twice is 'False' (str); it takes bool.
    """
    for name, value in given.items():
        if isinstance(value, str | bytes):
            raise TypeError(refusal(function.__qualname__.removesuffix(".__init__"), function, name, value))


def _is_plain(value: object) -> bool:
    """Whether it is a value of Python's or NumPy's, or of a graph; a collection is one of such values alone."""
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple | set):
        return all(map(_is_plain, value))
    return type(value).__module__.partition(".")[0] in _PLAIN or is_element(value)


def _is_taken(function: Callable[..., object], name: str, value: object) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if allows(function, name, value):
        return True
    if isinstance(value, numbers.Real | np.number | np.bool_):
        return allows(function, name, 1)
    return isinstance(value, bytes) and allows(function, name, "")
