"""What `weft checkpoint export` writes: one file for those who have neither weft nor TensorFlow."""

from __future__ import annotations

import fnmatch
import importlib
import os
import sys
import zipfile
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.checkpoint.checkpoint_contents import checkpoint_path
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.slice_file_reader import open_checkpoint
from weft.cli.columns import size_text
from weft.framework import dtypes

KINDS: Final = (".npz", ".safetensors")


def export(checkpoint: str, output: str, patterns: Sequence[str], overwrite: bool) -> int:
    """Write the tensors whose names match a pattern to a new file.

    Raises:
        ValueError: no tensor matches, there is such a file, or the package that writes it is not installed.
    """
    if os.path.exists(output) and not overwrite:
        raise ValueError(f"{output!r} exists: --overwrite replaces it")
    with open_checkpoint(checkpoint_path(checkpoint)) as reader:
        names = [name for name in reader if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
        if not names:
            raise ValueError(f"no tensor of {reader.prefix} matches {' or '.join(map(repr, patterns))}")
        is_safetensors = output.endswith(".safetensors")
        strings = [name for name in names if is_safetensors and reader.dtype(name) == dtypes.string]
        tensors = {name: reader.lookup(name) for name in names if name not in strings}
    if is_safetensors:
        _write_safetensors(output, tensors)
    else:
        _write_npz(output, tensors)
    if strings:
        print(f"weft checkpoint: left out, since safetensors have no strings: {', '.join(strings)}", file=sys.stderr)
    print(f"Wrote {len(tensors)} tensors, {size_text(os.path.getsize(output))}, to {output}")
    return 0


def _write_npz(output: str, tensors: dict[str, Array]) -> None:
    """As `numpy.savez` does, which cannot have a tensor named as one of its own parameters.

    Strings become NumPy's bytes, so that no pickle is needed; types that NumPy's files cannot name, such as bfloat16, float32.
    """
    with zipfile.ZipFile(output, "w") as archive:
        for name, value in tensors.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, _plain(value), allow_pickle=False)


def _plain(value: Array) -> Array:
    if value.dtype.kind == "O":
        return value.astype(np.bytes_)
    return value.astype(np.float32) if value.dtype.kind == "V" or value.dtype.isbuiltin == 2 else value


def _write_safetensors(output: str, tensors: dict[str, Array]) -> None:
    try:
        library = importlib.import_module("safetensors.numpy")
    except ImportError:
        raise ValueError("writing .safetensors needs the package: pip install 'weft[safetensors]'") from None
    library.save_file(tensors, output)
