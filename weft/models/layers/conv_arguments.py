"""The arguments of layers with windows: a number for each axis, layouts, paddings, numbers of filters."""

from __future__ import annotations

import operator
from typing import Final

from weft.framework.building.aliases import Nest, Sizes
from weft.framework.types.dimension import Dimension

_LETTERS: Final = {1: "W", 2: "HW", 3: "DHW"}


def per_axis(value: Sizes, rank: int, name: str) -> tuple[int, ...]:
    """One number, or one per spatial dimension, such as a part of a shape, as the latter; ValueError otherwise."""
    try:
        sizes = (value,) * rank if hasattr(value, "__index__") else tuple(value)
        given = tuple(_whole(each) for each in sizes)
    except TypeError:
        given = ()
    if len(given) != rank:
        raise ValueError(f"The `{name}` argument must be a tuple of {rank} integers. Received: {value}")
    return given


def _whole(size: Nest) -> int:
    if isinstance(size, Dimension):
        if size.value is None:
            raise TypeError("the size of a window is not known")
        return size.value
    return operator.index(size)


def whole_filters(filters: int) -> int:
    """How many channels come out; ValueError for a fraction of one."""
    if int(filters) != filters:
        raise ValueError(f"Ambiguous dimension: {filters}: filters, the number of channels that come out, is a whole number")
    return int(filters)


def layout_of(data_format: str, rank: int) -> str:
    """The layout that "channels_last" or "channels_first" means; ValueError for anything else."""
    if data_format in ("channels_last", "channels_first"):
        return f"N{_LETTERS[rank]}C" if data_format == "channels_last" else f"NC{_LETTERS[rank]}"
    raise ValueError(f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {data_format}')


def padding_of(padding: str) -> str:
    """A padding ("valid" or "same", in any case) in small letters; ValueError for anything else."""
    if padding.upper() not in ("VALID", "SAME"):
        raise ValueError(
            f'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
            f"Received: {padding}"
        )
    return padding.lower()
