"""Checks of values that are not known while code is traced.

Compiled code cannot raise. A kernel that would refuse a value tells here what is wrong with it, and who traces the kernel may
collect that and let the compiled code report it; then the step is interpreted to raise the error. Where nobody collects, the
kernel computes something else, as XLA does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final

_FOUND: Final[ContextVar[list[Any] | None]] = ContextVar("found", default=None)
_IS_INNER: Final[ContextVar[bool]] = ContextVar("is_inner", default=False)
_ROWS: Final[ContextVar[Mapping[int, Any]]] = ContextVar("rows", default={})  # noqa: B039 - never changed


class UncheckedError(TypeError):
    """A check inside of a branch or loop of what is traced: its outcome cannot be collected outside."""


def note_wrong(is_wrong: object) -> None:
    """Tell that the step must not go on where `is_wrong`, a traced bool."""
    found = _FOUND.get()
    if found is None:
        return
    if _IS_INNER.get():
        raise UncheckedError("a check within a branch or loop of the traced code")
    found.append(is_wrong)


@contextlib.contextmanager
def collected() -> Iterator[list[Any]]:
    """Collect what kernels tell that are traced in the block."""
    found: list[Any] = []
    tokens = _FOUND.set(found), _IS_INNER.set(False)
    try:
        yield found
    finally:
        _FOUND.reset(tokens[0])
        _IS_INNER.reset(tokens[1])


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    """Trace a kernel once more in the block, which has been checked before."""
    token = _FOUND.set(None)
    try:
        yield
    finally:
        _FOUND.reset(token)


@contextlib.contextmanager
def in_inner_trace() -> Iterator[None]:
    """Trace a branch or a loop in the block, whose values do not reach the code around it."""
    token = _IS_INNER.set(True)
    try:
        yield
    finally:
        _IS_INNER.reset(token)


@contextlib.contextmanager
def lengthened(rows: Mapping[int, Any]) -> Iterator[None]:
    """Trace in the block what gets more rows than a run has.

    Args:
        rows: by the size that arrays have in their first dimension, the number of rows that a run has, a traced integer.
    """
    token = _ROWS.set(rows)
    try:
        yield
    finally:
        _ROWS.reset(token)


def rows_in_run(size: int) -> Any:
    """How many rows, of so many as an array has while it is traced, there are in a run: an integer, which may be traced."""
    return _ROWS.get().get(size, size)
