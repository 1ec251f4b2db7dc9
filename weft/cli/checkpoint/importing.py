"""What `weft checkpoint import` does: makes a checkpoint of a file that NumPy or safetensors wrote."""

from __future__ import annotations

import fnmatch
import importlib
import lzma
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import ml_dtypes
import numpy as np

from weft.checkpoint import files
from weft.checkpoint.bundle_format import index_filename
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.entry_reader import Array
from weft.cli.checkpoint.exporting import KINDS
from weft.cli.columns import size_text

# Those of the format; its package's own reader for NumPy knows no types of 8 bits.
_SAFETENSORS_TYPES: Final[dict[str, type]] = {
    "BOOL": np.bool_, "I8": np.int8, "U8": np.uint8, "I16": np.int16, "U16": np.uint16, "I32": np.int32, "U32": np.uint32,
    "I64": np.int64, "U64": np.uint64, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F32": np.float32, "F64": np.float64,
    "C64": np.complex64, "F8_E5M2": ml_dtypes.float8_e5m2, "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}  # fmt: skip

# RuntimeError is that of an archive with a password or in an unknown compression, MemoryError that of an invented shape.
_UNREADABLE: Final = (zipfile.BadZipFile, EOFError, ValueError, zlib.error, lzma.LZMAError, RuntimeError, MemoryError)


def import_file(given: str, checkpoint: str, patterns: Sequence[str], renamed: Mapping[str, str], overwrite: bool) -> int:
    """Write the arrays whose names match a pattern to a new checkpoint, under the names that `renamed` gives them.

    Raises:
        ValueError: the file is none of these kinds or damaged, an array can be in no checkpoint, two would have one name, none
            matches, there is such a checkpoint, or the package that reads the file is not installed.
    """
    if files.exists(index_filename(checkpoint)) and not overwrite:
        raise ValueError(f"there is a checkpoint {checkpoint!r}: --overwrite replaces it")
    arrays = _read_safetensors(given) if given.endswith(KINDS[1]) else _read_npz(given)
    chosen = {name: value for name, value in arrays.items() if any(fnmatch.fnmatchcase(name, each) for each in patterns)}
    if not chosen:
        raise ValueError(f"no array of {given} matches {' or '.join(map(repr, patterns))}")
    unknown = sorted(set(renamed) - set(chosen))
    if unknown:
        raise ValueError(f"{given} has no array {unknown[0]!r} to rename")
    names = [renamed.get(name, name) for name in chosen]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ValueError(f"two arrays of {given} would be named {doubled[0]!r}")
    with BundleWriter(checkpoint) as writer:
        for name, value in zip(names, chosen.values(), strict=True):
            writer.add(name, value)
    total = sum(value.nbytes for value in chosen.values())
    print(f"Wrote {len(chosen)} tensors, {size_text(total)}, to {checkpoint}")
    return 0


def _read_npz(path: str) -> dict[str, Array]:
    if os.path.getsize(path) and not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no archive of arrays, as numpy.savez writes it")
    arrays = {}
    try:
        with np.load(path, allow_pickle=False) as archive:
            for name in archive.files:
                value = archive[name]
                if not isinstance(value, np.ndarray):
                    raise ValueError(f"its member {name!r} is no array")
                arrays[name] = value
    except (*_UNREADABLE, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the file cannot be opened
        place = f" behind {list(arrays)[-1]!r}" if arrays else ""
        raise ValueError(f"{path}: the archive is damaged or of objects{place}: {error}") from error
    return {name: _of_checkpoints(value, name, path) for name, value in arrays.items()}


def _of_checkpoints(value: Array, name: str, path: str) -> Array:
    if value.dtype.kind in "SU":
        return np.char.encode(value, "utf-8").astype(object) if value.dtype.kind == "U" else value.astype(object)
    if value.dtype.kind not in "biufc" or value.dtype.itemsize > 16:
        raise ValueError(f"{path}: array {name!r} is of type {value.dtype}, which checkpoints do not have")
    return value


def _read_safetensors(path: str) -> dict[str, Array]:
    try:
        library = importlib.import_module("safetensors")
    except ImportError:
        raise ValueError("reading .safetensors needs the package: pip install 'weft[safetensors]'") from None
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = library.deserialize(data)
    except library.SafetensorError as error:
        raise ValueError(f"{path}: {error} ({os.path.getsize(path)} bytes)") from error
    arrays = {}
    for name, told in sorted(found):
        kind = _SAFETENSORS_TYPES.get(told["dtype"])
        if kind is None:
            raise ValueError(f"{path}: array {name!r} is of type {told['dtype']}, which checkpoints do not have")
        arrays[name] = np.frombuffer(told["data"], np.dtype(kind)).reshape(told["shape"])
    return arrays
