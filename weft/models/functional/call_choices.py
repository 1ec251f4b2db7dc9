"""What tensorflow.python.layers.utils has for programs' own layers: a choice while building, how many windows there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weft.framework.building.aliases import TensorLike
from weft.models.functional import static_choices

T = TypeVar("T")


def smart_cond(
    pred: TensorLike, true_fn: Callable[[], T] | None = None, false_fn: Callable[[], T] | None = None, name: str | None = None
) -> T:
    """The result of one of two functions, chosen while building where the predicate is known, by tf.cond otherwise."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError(f"smart_cond: true_fn and false_fn must be callable, got {true_fn!r} and {false_fn!r}")
    known = pred if isinstance(pred, int) else None
    return static_choices.smart_cond(pred if known is None else bool(known), true_fn, false_fn, name)


def conv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1) -> int | None:
    """How many windows of a filter there are along a dimension; None for one of unknown length."""
    if padding not in ("same", "valid", "full"):
        raise ValueError(f"conv_output_length: padding must be same, valid or full, got {padding!r}")
    if input_length is None:
        return None
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    places = {"same": input_length, "valid": input_length - reach + 1, "full": input_length + reach - 1}[padding]
    return (places + stride - 1) // stride
