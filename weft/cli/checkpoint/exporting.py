"""What `weft checkpoint export` writes: one file for those who have neither weft nor TensorFlow."""

from __future__ import annotations

import fnmatch
import importlib
import os
import re
import sys
import zipfile
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.checkpoint.checkpoint_contents import checkpoint_path
from weft.checkpoint.entry_reader import Array
from weft.checkpoint.slice_file_reader import open_checkpoint
from weft.cli.columns import size_text
from weft.cli.whole_file import write_whole
from weft.framework.types import dtypes

KINDS: Final = (".npz", ".safetensors")
_SYSTEMS_ERROR: Final = re.compile(r"\(os error (\d+)\)")
_NO_SAFETENSORS: Final = (dtypes.string, dtypes.complex128)
_SAFETENSORS_SMALL: Final = (
    dtypes.bfloat16, dtypes.float8_e5m2, dtypes.float8_e4m3fn, dtypes.float8_e4m3fnuz, dtypes.float8_e5m2fnuz,
)  # fmt: skip


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
        left_out = [name for name in names if is_safetensors and reader.dtype(name) in _NO_SAFETENSORS]
        tensors = {name: reader.lookup(name) for name in names if name not in left_out}
    write = _write_safetensors if is_safetensors else _write_npz
    write_whole(output, lambda draft: write(draft, tensors))
    if left_out:
        told = f"left out, since safetensors have no strings or complex128: {', '.join(left_out)}"
        print(f"weft checkpoint: {told}", file=sys.stderr)
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
    return _widened(value) if value.dtype.kind == "V" or value.dtype.isbuiltin == 2 else value


def _widened(value: Array) -> Array:
    """The values in a type that every program has."""
    kind = dtypes.as_dtype(value.dtype)
    return value.astype(np.float32 if kind.is_floating else np.uint8 if kind.is_unsigned else np.int8)


def _write_safetensors(output: str, tensors: dict[str, Array]) -> None:
    try:
        library = importlib.import_module("safetensors.numpy")
    except ImportError:
        raise ValueError("writing .safetensors needs the package: pip install 'weft[safetensors]'") from None
    try:
        library.save_file({name: _of_safetensors(value) for name, value in tensors.items()}, output)
    except importlib.import_module("safetensors").SafetensorError as error:
        # It tells the system's errors in a text alone.
        code = _SYSTEMS_ERROR.search(str(error))
        if code is None:
            raise ValueError(str(error)) from None
        raise OSError(int(code[1]), os.strerror(int(code[1])), output) from None


def _of_safetensors(value: Array) -> Array:
    """What the format has no type for in a wider one, and in row-major order."""
    is_known = value.dtype.isbuiltin == 1 or dtypes.as_dtype(value.dtype) in _SAFETENSORS_SMALL
    return np.ascontiguousarray(value if is_known else _widened(value)).reshape(value.shape)
