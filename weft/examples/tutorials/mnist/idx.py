"""The IDX format of the MNIST files: a magic number, the sizes as 32-bit integers (big-endian), then the bytes."""

from __future__ import annotations

import gzip
import struct
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

_IMAGES: Final = 2051
_LABELS: Final = 2049


def read_images(file: IO[bytes]) -> NDArray[np.uint8]:
    """The images of a gzipped file, `[count, rows, columns, 1]`; ValueError when it is none.

    Args:
        file: the open file.
    """
    data = _unpacked(file)
    count, rows, columns = _sizes(data, _IMAGES, 3, "MNIST image file", file)
    return np.frombuffer(data, np.uint8, offset=16).reshape(count, rows, columns, 1)


def read_labels(file: IO[bytes], one_hot: bool = False, num_classes: int = 10) -> NDArray[Any]:
    """The labels of a gzipped file, `[count] uint8`, or `[count, num_classes] float64` with a one in each row.

    Args:
        file: the open file.
        one_hot: whether rows with a one are wanted.
        num_classes: their size.
    """
    data = _unpacked(file)
    (count,) = _sizes(data, _LABELS, 1, "MNIST label file", file)
    labels = np.frombuffer(data, np.uint8, offset=8)[:count]
    return np.eye(num_classes)[labels] if one_hot else labels


def _unpacked(file: IO[bytes]) -> bytes:
    # TensorFlow's readers say so too, in the output of the programs that read digits.
    print("Extracting", getattr(file, "name", file))
    return gzip.decompress(file.read())


def _sizes(data: bytes, magic: int, rank: int, what: str, file: object) -> tuple[int, ...]:
    found, *sizes = struct.unpack_from(f">{rank + 1}I", data)
    if found != magic:
        raise ValueError(f"Invalid magic number {found} in {what}: {getattr(file, 'name', file)}; expected {magic}")
    return tuple(sizes)
