"""What `weft checkpoint ls`, `show` and `verify` print."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Sequence

import numpy as np

from weft.checkpoint import files
from weft.checkpoint.checkpoint_contents import checkpoint_path
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.slice_file_reader import open_checkpoint
from weft.checkpoint.wholeness import damage_of
from weft.cli.columns import aligned, size_text
from weft.framework import dtypes

_INDEX = ".index"


def list_folder(folder: str) -> int:
    """Print a folder's checkpoints: name, when it was written, size; the latest is marked."""
    latest = latest_checkpoint(folder)
    rows = []
    for prefix in prefixes_in(folder):
        when = datetime.datetime.fromtimestamp(files.modified_s(prefix + _INDEX)).astimezone()
        size = sum(files.size(path) for path in files.matching(f"{files.escape(prefix)}.*"))
        is_latest = latest is not None and os.path.abspath(latest) == os.path.abspath(prefix)
        rows.append([os.path.basename(prefix), f"{when:%Y-%m-%d %H:%M:%S}", size_text(size), "latest" if is_latest else ""])
    print("\n".join(aligned(["checkpoint", "written", "size", ""], rows)))
    return 0


def prefixes_in(folder: str) -> list[str]:
    """The checkpoints of a folder, oldest first.

    Raises:
        ValueError: there are none, or no such folder.
    """
    if not files.is_directory(folder):
        raise ValueError(f"{folder!r} is no folder")
    indexes = files.matching(os.path.join(files.escape(folder), f"*{_INDEX}"))
    if not indexes:
        raise ValueError(f"{folder!r} has no checkpoints: no file there ends in {_INDEX}")
    return [path.removesuffix(_INDEX) for path in sorted(indexes, key=lambda path: (files.modified_s(path), path))]


def show(checkpoint: str, names: Sequence[str]) -> int:
    """Print the tensors of a checkpoint; of those that are named, what their values are."""
    with open_checkpoint(checkpoint_path(checkpoint)) as reader:
        if names:
            for name in names:
                print("\n".join(_told(name, reader.lookup(name), reader.dtype(name))))
            return 0
        entries = [(name, reader.dtype(name), reader.shape(name)) for name in reader]
        numbers = sum(int(np.prod(shape)) for _, _, shape in entries)
        # The size of strings is not known before they are read.
        total = sum(int(np.prod(shape)) * kind.size for _, kind, shape in entries if kind != dtypes.string)
        print(
            "\n".join(aligned(["tensor", "type", "shape"], [[name, kind.name, str([*shape])] for name, kind, shape in entries]))
        )
        print(f"{len(entries)} tensors, {numbers:,} elements, {size_text(total)} in {reader.prefix}")
    return 0


def _told(name: str, value: Array, kind: dtypes.DType) -> list[str]:
    """A tensor: its type, of numbers their range and how many are not finite, and its values, long ones shortened."""
    lines = [f"{name}: {kind.name} {[*value.shape]}"]
    if kind.is_floating and value.size:
        wide = value.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        if finite.size:
            lines.append(f"  from {finite.min():g} to {finite.max():g}, mean {finite.mean():g}, deviation {finite.std():g}")
        if finite.size < wide.size:
            lines.append(f"  {np.isnan(wide).sum()} NaN, {np.isinf(wide).sum()} infinite")
    shown = np.array2string(value, threshold=100, prefix="  ")
    return [*lines, f"  {shown}"]


def verify(checkpoints: Sequence[str]) -> int:
    """Read checkpoints whole, and say of each whether it is; 1 when one is not."""
    damaged = 0
    for prefix in [each for path in checkpoints for each in (prefixes_in(path) if files.is_directory(path) else [path])]:
        damage = damage_of(prefix)
        if damage is None:
            print(f"{prefix}: whole")
        else:
            text = f"{type(damage).__name__}: {damage.message}"
            print(f"weft checkpoint: {' '.join(text.split())}", file=sys.stderr)
            damaged = 1
    return damaged
