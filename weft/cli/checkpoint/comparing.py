"""What `weft checkpoint diff` prints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weft.checkpoint.checkpoint_contents import checkpoint_path
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.slice_file_reader import CheckpointFile, open_checkpoint


def compare(first: str, second: str, tolerance: float) -> int:
    """Print what differs between two checkpoints, a line a tensor; 1 when something does."""
    with open_checkpoint(checkpoint_path(first)) as one, open_checkpoint(checkpoint_path(second)) as other:
        lines = list(_differences(one, other, tolerance))
        same = len(set(one) | set(other)) - len(lines)
    print("\n".join([*lines, f"{len(lines)} tensors differ, {same} are the same"]))
    return 1 if lines else 0


def _differences(one: CheckpointFile, other: CheckpointFile, tolerance: float) -> Iterator[str]:
    for name in sorted({*one, *other}):
        if not other.has(name):
            yield f"- {name}: only in {one.prefix}"
        elif not one.has(name):
            yield f"+ {name}: only in {other.prefix}"
        else:
            what = _difference(one, other, name, tolerance)
            if what:
                yield f"! {name}: {what}"


def _difference(one: CheckpointFile, other: CheckpointFile, name: str, tolerance: float) -> str:
    kinds = [f"{reader.dtype(name).name} {[*reader.shape(name)]}" for reader in (one, other)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0]} and {kinds[1]}"
    return _of_values(one.lookup(name), other.lookup(name), tolerance)


def _of_values(first: Array, second: Array, tolerance: float) -> str:
    """How values of one type and shape differ; empty when they do not. A NaN is like a NaN."""
    if first.dtype.kind in "Ob":
        differing = int(np.count_nonzero(first != second))
        return f"{differing} of {first.size} elements differ" if differing else ""
    # Small floats have no arithmetic of their own, and unsigned numbers no negative differences.
    wide = np.complex128 if first.dtype.kind == "c" else np.longdouble
    one: Array = first.astype(wide)
    other: Array = second.astype(wide)
    with np.errstate(invalid="ignore"):
        gap = np.abs(one - other)
    is_same = (one == other) | (np.isnan(one) & np.isnan(other)) | (gap <= tolerance)
    differing = int(first.size - np.count_nonzero(is_same))
    return f"{differing} of {first.size} elements differ, by {gap[~is_same].max():.6g} at most" if differing else ""
