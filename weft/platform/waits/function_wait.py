"""Waits for functions of the program that weft calls, such as a hook's method: who waits long is told for which."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Final, ParamSpec, TypeVar

from weft.platform.frames.program_frames import is_of_weft, shown_name
from weft.platform.waits.wait_watch import Watched

_P = ParamSpec("_P")
_Result = TypeVar("_Result")

_ADVICE: Final = "What called it goes on when it returns: look at what it reads and waits for."


def shown(function: Callable[..., object] | Iterator[object]) -> str:
    """A function, or a generator that one made, in a message: its name, and the line of the program where it is."""
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None) or getattr(function, "gi_code", None)
    place = f" ({shown_name(code.co_filename)}:{code.co_firstlineno})" if code is not None else ""
    return f"{getattr(function, '__qualname__', repr(function))}{place}"


def watched(function: Callable[_P, _Result]) -> Callable[_P, _Result]:
    """The function, so that it is told of when it takes long; one of weft's itself, since these tell of their waits."""
    if is_of_weft(function):
        return function

    def call(*args: _P.args, **kwargs: _P.kwargs) -> _Result:
        with Watched(lambda: f"The function {shown(function)} has run", _ADVICE):
            return function(*args, **kwargs)

    return call


def call_watched(function: Callable[_P, _Result], *args: _P.args, **kwargs: _P.kwargs) -> _Result:
    """Call a function once, and tell of it when it takes long."""
    return watched(function)(*args, **kwargs)
