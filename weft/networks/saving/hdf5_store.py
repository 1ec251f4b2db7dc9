"""HDF5 files as Keras lays them out: lists of names as attributes, and arrays as datasets. h5py is loaded by its first use."""

from __future__ import annotations

import importlib
import mmap
import os
import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array

# An attribute must fit into the header of its object, which HDF5 limits to 64 KiB.
_LARGEST_ATTRIBUTE: Final = 64512
_SUFFIXES: Final = (".h5", ".keras", ".hdf5")
# A heap of texts, version 1: its size follows, and its objects, each behind a header of index, references and size.
_HEAP: Final = b"GCOL\1\0\0\0"
_HEAP_HEADER: Final = struct.Struct("<8sQ")
_OBJECT_HEADER: Final = struct.Struct("<HHIQ")


def hdf5(what: str) -> Any:
    """The module h5py; ImportError, which names what needs it, where it is not installed."""
    try:
        return importlib.import_module("h5py")
    except ImportError as error:
        raise ImportError(f"{what} requires h5py when the file is HDF5 ({error}): pip install 'weft[hdf5]'") from error


def is_hdf5_path(path: str) -> bool:
    """Whether a path has a suffix of HDF5 files."""
    return path.endswith(_SUFFIXES)


def is_hdf5_file(path: str) -> bool:
    """Whether a file begins as HDF5 files do."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


def has_endless_heap(path: str) -> bool:
    """Whether a heap of texts in a file is damaged so that HDF5's library would read it for ever."""
    if not os.path.getsize(path):
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(_HEAP)
        while at >= 0:
            if _is_endless(data, at):
                return True
            at = data.find(_HEAP, at + 1)
    return False


def _is_endless(data: mmap.mmap, at: int) -> bool:
    """Whether the library takes no step from some object to the next."""
    if at + _HEAP_HEADER.size > len(data):
        return False
    _, size = _HEAP_HEADER.unpack_from(data, at)
    end = min(at + size, len(data))
    at += _HEAP_HEADER.size
    while at + _OBJECT_HEADER.size <= end:
        index, _, _, length = _OBJECT_HEADER.unpack_from(data, at)
        # The free space, which is number 0, counts its header.
        step = (length if index == 0 else _OBJECT_HEADER.size + (length + 7) // 8 * 8) % 2**64
        if step == 0:
            return True
        at += step
    return False


def write_names(group: Any, key: str, names: Sequence[str]) -> None:
    """Write a list of names as an attribute, or as several, numbered ones where one would be too large.

    Raises:
        RuntimeError: a name is too long for an attribute.
    """
    encoded = [name.encode("utf8") for name in names]
    too_long = [name for name in encoded if len(name) > _LARGEST_ATTRIBUTE]
    if too_long:
        raise RuntimeError(
            f"The following attributes cannot be saved to HDF5 file because they are larger than {_LARGEST_ATTRIBUTE} bytes: "
            f"{too_long}"
        )
    whole = np.asarray(encoded)
    if whole.nbytes <= _LARGEST_ATTRIBUTE:
        group.attrs[key] = whole if encoded else []
        return
    parts = -(-whole.nbytes // _LARGEST_ATTRIBUTE)
    while any(each.nbytes > _LARGEST_ATTRIBUTE for each in np.array_split(whole, parts)):
        parts += 1
    for number, each in enumerate(np.array_split(whole, parts)):
        group.attrs[f"{key}{number}"] = each


def read_names(group: Any, key: str) -> list[str]:
    """What `write_names` wrote; an empty list when there is no such attribute."""
    if key in group.attrs:
        return [_text(each) for each in group.attrs[key]]
    found: list[str] = []
    number = 0
    while f"{key}{number}" in group.attrs:
        found += [_text(each) for each in group.attrs[f"{key}{number}"]]
        number += 1
    return found


def write_arrays(group: Any, names: Sequence[str], arrays: Sequence[Array]) -> None:
    """Write arrays as datasets, and the list of their names."""
    write_names(group, "weight_names", names)
    for name, value in zip(names, arrays, strict=True):
        given = np.asarray(value)
        made = group.create_dataset(name, given.shape, dtype=given.dtype)
        if given.shape:
            made[:] = given
        else:
            made[()] = given


def read_arrays(group: Any) -> list[Array]:
    """The arrays that `write_arrays` wrote, in the order of their names."""
    return [np.asarray(group[name]) for name in read_names(group, "weight_names")]


def text_attribute(group: Any, key: str) -> str | None:
    """An attribute that is text; None when there is none."""
    value = group.attrs.get(key)
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    return value.decode("utf8") if isinstance(value, bytes) else str(value)
