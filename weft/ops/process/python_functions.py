"""Python functions that nodes call: their tokens, and what becomes of their errors.

A GraphDef cannot hold a function, so the node holds a token, and this process keeps the function for as long as the
graph lives. The token names the process too: another one, such as a server that has functions of its own, refuses it
instead of running whichever function of its own has the same number.
"""

from __future__ import annotations

import itertools
import os
import secrets
import weakref
from collections.abc import Callable
from typing import Any, Final

from weft.errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.platform.frames.program_frames import is_under_weft, is_weft
from weft.platform.process.interrupts import is_main_thread
from weft.platform.tracebacks import short_traceback
from weft.platform.waits.wait_watch import Watched


class _Registered:
    """A function with its token, alive while a graph refers to it."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: object) -> None:
        self.function = function


class _Tokens:
    """Makes tokens that no other process makes; a forked child goes on under a name of its own."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._process = ""
        self._rename()
        os.register_at_fork(after_in_child=self._rename)

    def _rename(self) -> None:
        self._process = secrets.token_hex(8)

    def take(self) -> str:
        """A token that was not given before."""
        return f"pyfunc_{next(self._numbers)}@{self._process}"


TOKENS: Final = _Tokens()
_BY_TOKEN: Final[weakref.WeakValueDictionary[str, _Registered]] = weakref.WeakValueDictionary()
_OF_GRAPH: Final[weakref.WeakKeyDictionary[Graph, list[_Registered]]] = weakref.WeakKeyDictionary()

_OF_FUNCTION: Final = "The step waits for it: look at what it waits for."
_ERRORS: Final = (
    (ValueError | TypeError, InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
)


def register(function: object) -> str:
    """The token of a function, or of what an op calls in its place; it lives as long as the outermost graph."""
    entry, token = _Registered(function), TOKENS.take()
    _BY_TOKEN[token] = entry
    graph = get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph  # type: ignore[attr-defined]
    _OF_GRAPH.setdefault(graph, []).append(entry)
    return token


def find(token: str) -> Any:
    """The function of a token.

    Raises:
        InvalidArgumentError: it is none of this process, or its graph is gone.
    """
    entry = _BY_TOKEN.get(token)
    if entry is None:
        raise InvalidArgumentError.of(
            f"callback {short(token)} is not found: py_func's function lives in the process that built the graph. "
            "Place the node on a task of that process, or build this part of the graph in the process that runs it"
        )
    return entry.function


def watched(shown: Callable[[], str]) -> Watched:
    """A wait for a function: who waits long is told for which."""
    return Watched(lambda: f"The function {shown()} of a py_func has run", _OF_FUNCTION)


def short(token: str) -> str:
    """A token in messages."""
    return token.partition("@")[0]


def translated(error: BaseException) -> OpError:
    """The error of a step in which a function raised; one that ends the main thread is raised as it is."""
    # Ctrl-C comes on the main thread alone. Elsewhere what the function raises, `sys.exit` too, would end a pool's thread,
    # and the step would never end.
    if not isinstance(error, Exception) and is_main_thread():
        raise error
    kind = next((made for types, made in _ERRORS if isinstance(error, types)), UnknownError)
    told = f"{type(error).__name__}: {error}"
    return kind.of(f"{told}\n{short_traceback.text_of(error).strip()}" if _is_of_program(error) else told)


def _is_of_program(error: BaseException) -> bool:
    """Whether it was raised in lines that its author wrote, and not in weft's own around them."""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not is_weft(file) and not is_under_weft(file):
            return True
        trace = trace.tb_next
    return False
