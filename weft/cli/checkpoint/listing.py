"""What `weft checkpoint ls`, `show` and `verify` print."""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.checkpoint import files
from weft.checkpoint.checkpoint_contents import checkpoint_path
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.slice_file_reader import has_slices, open_checkpoint, paths_of_slices
from weft.checkpoint.wholeness import damage_of
from weft.cli.columns import aligned, size_text
from weft.errors import DataLossError
from weft.framework.types import dtypes

_INDEX: Final = ".index"
_OF_V2: Final = re.compile(r"\.(index|data-\d{5}-of-\d{5})$")
_SHARD: Final = re.compile(r"-\d{5}-of-(\d{5})$")
_SHARD_PATTERN: Final = re.compile(r"-\?{5}-of-\d{5}$")


def list_folder(folder: str) -> int:
    """Print a folder's checkpoints: name, when it was written, size; the latest is marked."""
    prefixes, rows = prefixes_in(folder), []
    latest = latest_checkpoint(folder)
    for prefix in prefixes:
        when = datetime.datetime.fromtimestamp(_written_s(prefix)).astimezone()
        size = sum(files.size(path) for path in _files_of(prefix))
        is_latest = latest is not None and os.path.abspath(latest) == os.path.abspath(prefix)
        notes = [*(["V1"] if not files.exists(prefix + _INDEX) else []), *(["latest"] if is_latest else [])]
        rows.append([os.path.basename(prefix), f"{when:%Y-%m-%d %H:%M:%S}", size_text(size), ", ".join(notes)])
    print("\n".join(aligned(["checkpoint", "written", "size", ""], rows)))
    return 0


def _files_of(prefix: str) -> list[str]:
    if files.exists(prefix + _INDEX):
        return files.matching(f"{files.escape(prefix)}.*")
    metas = files.matching(f"{files.escape(_SHARD_PATTERN.sub('', prefix))}.meta")
    return [*paths_of_slices(prefix), *metas]


def _written_s(prefix: str) -> float:
    index = prefix + _INDEX
    return files.modified_s(index) if files.exists(index) else max(map(files.modified_s, paths_of_slices(prefix)))


def prefixes_in(folder: str) -> list[str]:
    """The checkpoints of a folder, oldest first.

    Raises:
        ValueError: there are none, or no such folder.
    """
    if not files.is_directory(folder):
        raise ValueError(f"{folder!r} is no folder")
    paths = [path for path in files.matching(os.path.join(files.escape(folder), "*")) if not files.is_directory(path)]
    found = {path.removesuffix(_INDEX) for path in paths if path.endswith(_INDEX)}
    # Of the V1 format, a file or several have the checkpoint's own name.
    others = (path for path in paths if not _OF_V2.search(path) and _may_have_slices(path))
    found.update(_SHARD.sub(lambda each: f"-?????-of-{each[1]}", path) for path in others)
    if not found:
        raise ValueError(f"{folder!r} has no checkpoints: no file there ends in {_INDEX}, and none is of the V1 format")
    return sorted(found, key=lambda prefix: (_written_s(prefix), prefix))


def _may_have_slices(path: str) -> bool:
    try:
        return has_slices(path)
    except DataLossError:
        return True


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
