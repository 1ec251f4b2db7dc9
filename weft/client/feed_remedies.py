"""The next step for a value that is fed and is no array of its tensor's type and shape."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import numpy as np

from weft.framework.types.dims import Dims, dims_compatible

# Images with channels first, channels last, and matrices, in the other order.
_ORDERS: Final = ((0, 2, 3, 1), (0, 3, 1, 2), (1, 0))


def for_value(value: object, problem: str) -> str:
    """A sentence, with a blank before it, on what makes an array of a value; empty where nothing is known.

    Args:
        value: what was fed.
        problem: what NumPy says of it.
    """
    if "inhomogeneous" in problem:
        return " Its rows have different lengths: pad them."
    if hasattr(value, "toarray"):
        return " value.toarray() is a dense array of it; a tf.sparse_placeholder takes a tf.SparseTensorValue."
    if hasattr(value, "iloc"):
        return " value.values is the array of a table whose columns are all numbers."
    if hasattr(value, "string_handle"):
        return " Feed its handle: session.run(iterator.string_handle())."
    if isinstance(value, dict):
        return " A placeholder takes one of its values, such as value[key]; each of them needs one of its own."
    if isinstance(value, Iterator | set | frozenset) or type(value).__name__ in ("dict_values", "dict_keys"):
        return " list(value) has its items."
    if callable(value):
        return f" It can be called: feed what {getattr(value, '__name__', 'it')}() returns."
    text = _text_in(value)
    if text is None:
        return ""
    if os.path.splitext(text)[1]:
        return f" {text[:40]!r} is the name of a file: feed what is read from it, or read it in the graph by tf.read_file."
    return " A text is no number: float(text) reads one, and words become numbers by a vocabulary."


def _text_in(value: object) -> str | None:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    if isinstance(value, np.ndarray) and value.dtype.kind in "US" and value.size:
        return str(value.ravel()[0])
    return value if isinstance(value, str) else None


def for_shape(dims: Dims, shape: tuple[int, ...]) -> str:
    """The next step for some arrays that don't fit: one example where a batch is wanted, one column for a vector.

    Args:
        dims: the placeholder's.
        shape: the array's.
    """
    wanted = dims or ()
    if len(wanted) == len(shape) + 1:
        if dims_compatible(wanted[:-1], shape) and wanted[-1] == 1:
            return "With a last dimension of size 1: np.expand_dims(value, -1)."
        if dims_compatible(wanted[1:], shape):
            return "A batch of this one: value[None], or [value] for a list."
    if len(wanted) == len(shape) - 1 and dims_compatible(wanted, shape[:-1]) and shape[-1] == 1:
        return "Without the last dimension: np.squeeze(value, -1)."
    for order in _ORDERS:
        if len(wanted) == len(shape) == len(order) and dims_compatible(wanted, tuple(shape[axis] for axis in order)):
            return f"Its dimensions have another order: np.transpose(value, {order})."
    known = [size for size in wanted if size is not None]
    if len(known) >= len(wanted) - 1 and np.prod(shape, dtype=int) % max(int(np.prod(known, dtype=int)), 1) == 0 and shape:
        sizes = ", ".join("-1" if size is None else str(size) for size in wanted)
        return f"It has the elements for it: np.reshape(value, [{sizes}])."
    return ""
