"""Sequences of numbers as arrays: padded to one length, or cut into windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.framework.aliases import Array, Nest


def pad_sequences(
    sequences: Sequence[Sequence[Nest]], maxlen: int | None = None, dtype: str = "int32", padding: str = "pre",
    truncating: str = "pre", value: float | str = 0.0,
) -> Array:  # fmt: skip
    """Sequences as one array: `[count, maxlen, ...]`.

    Args:
        sequences: lists of numbers, or of arrays of one shape.
        maxlen: the length; that of the longest when None.
        dtype: the type.
        padding: where values are added to shorter ones, "pre" or "post".
        truncating: where longer ones are cut, "pre" or "post".
        value: what is added.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for each in sequences:
        if not hasattr(each, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {each}")
    for name, given in (("Padding", padding), ("Truncating", truncating)):
        if given not in ("pre", "post"):
            raise ValueError(f'{name} type "{given}" not understood')
    lengths = [len(each) for each in sequences]
    length = max(lengths, default=0) if maxlen is None else maxlen
    inner = next((np.asarray(each).shape[1:] for each in sequences if len(each)), ())
    made = np.full((len(lengths), length, *inner), value, dtype=dtype)
    for row, each in zip(made, sequences, strict=True):
        kept: Array = np.asarray(each[-length:] if truncating == "pre" else each[:length], dtype=dtype) if length else []
        if len(kept):
            row[-len(kept) if padding == "pre" else 0 : None if padding == "pre" else len(kept)] = kept
    return made
