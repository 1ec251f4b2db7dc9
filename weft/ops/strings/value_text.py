"""Short texts of arrays, as Assert, Print and string_format show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.framework.building.aliases import Array


def _element(item: object, quote: bool) -> str:
    if isinstance(item, bytes):
        text = item.decode("utf-8", "replace")
        return f'"{text}"' if quote else text
    if isinstance(item, bool):
        return str(int(item))
    return item if isinstance(item, str) else str(item)


def _items(array: Array) -> Array:
    """The array with numbers that need care as text: the fewest digits that give the number back, of two tries."""
    if array.dtype.kind == "c":
        return _texts(array, lambda item: f"({item.real:g},{item.imag:g})")
    if array.dtype == np.float64:
        return _texts(array, lambda item: _shortest(float(item), 15, 17, float))
    if array.dtype.kind in "fV":
        return _texts(array.astype(np.float32), lambda item: _shortest(float(item), 6, 9, np.float32))
    return array


def _shortest(value: float, few: int, many: int, kind: Callable[..., float | np.floating[Any]]) -> str:
    text = f"{value:.{few}g}"
    return text if kind(text) == kind(value) or value != value else f"{value:.{many}g}"


def _texts(array: Array, form: Callable[[Array], str]) -> Array:
    result = np.empty(array.size, object)
    result[:] = [form(item) for item in array.ravel()]
    return result.reshape(array.shape)


def summarize_first(array: Array, count: int) -> str:
    """The first `count` elements (all when negative), inner dimensions in brackets: `[1 2][3...]...`."""
    items = _items(array).ravel().tolist()
    limit = len(items) if count < 0 else min(count, len(items))
    text = "".join(_nested(array.shape, items, limit, [0], 0))
    return text + ("..." if len(items) > limit else "")


def _nested(shape: tuple[int, ...], items: list[object], limit: int, position: list[int], depth: int) -> list[str]:
    if not shape:
        return [_element(items[0], False)] if limit else []
    if position[0] >= limit:
        return []
    parts: list[str] = []
    if depth == len(shape) - 1:
        for index in range(shape[depth]):
            if position[0] >= limit:
                return [*parts, "..."] if depth else parts
            parts.append((" " if index else "") + _element(items[position[0]], False))
            position[0] += 1
        return parts
    for _ in range(shape[depth]):
        if position[0] < limit:
            parts += ["[", *_nested(shape, items, limit, position, depth + 1), "]"]
    return parts


def summarize_ends(array: Array, count: int) -> str:
    """The first and last `count` of each dimension (all when negative), as NumPy does: `[1 2 3 ... 8 9 10]`."""
    return _laid_out(_items(array), count, 0)


def _laid_out(array: Array, count: int, depth: int) -> str:
    if np.ndim(array) == 0:
        return _element(array.tolist() if isinstance(array, np.ndarray | np.generic) else array, True)
    size = len(array)
    inner = array.ndim - 1
    gap = " " if inner == 0 else "\n" * inner + " " * (depth + 1)
    if count >= 0 and size > 2 * count:
        kept: list[int | None] = [*range(count), None, *range(size - count, size)]
    else:
        kept = list(range(size))
    rows = ["..." if index is None else _laid_out(array[index], count, depth + 1) for index in kept]
    return f"[{gap.join(rows)}]"
