"""Files of named records with arrays in them, which Pythons with different NumPys read alike.

A file is a NumPy archive of two members: `index`, the records as JSON, and `blob`, the bytes of all arrays one behind another.
In a record an array is `{"array": [type, shape, where it begins, its size]}`; the type is TensorFlow's name, since NumPy has
none for bfloat16, and strings are their lengths (int64) before their bytes.

TensorFlow 1.15's Python 3.7 runs this file too.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np


class Writer:
    """Collects records and writes them as one file."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._records: list[Any] = []

    def array(self, type_name: str, array: Any) -> dict[str, Any]:
        """What stands for an array in a record."""
        array = np.asarray(array)
        if type_name == "string":
            texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.ravel().tolist()]
            data = np.array([len(text) for text in texts], np.int64).tobytes() + b"".join(texts)
        else:
            data = np.ascontiguousarray(array).tobytes()
        self._parts.append(data)
        self._size += len(data)
        return {"array": [type_name, list(array.shape), self._size - len(data), len(data)]}

    def bytes(self, data: bytes) -> dict[str, Any]:
        """What stands for bytes in a record."""
        return self.array("uint8", np.frombuffer(data, np.uint8))

    def add(self, record: Any) -> None:
        """Add a record: anything that JSON holds."""
        self._records.append(record)

    def write(self, path: str) -> None:
        """Write the file."""
        index = np.frombuffer(json.dumps(self._records).encode(), np.uint8)
        np.savez(path, index=index, blob=np.frombuffer(b"".join(self._parts), np.uint8))


class Reader:
    """The records of a file."""

    def __init__(self, path: str) -> None:
        with np.load(path) as members:
            self.records: list[Any] = json.loads(members["index"].tobytes().decode())
            self._blob = members["blob"].tobytes()

    def array(self, entry: Any, numpy_type: Any) -> Any:
        """The array that an entry stands for; `numpy_type` gives NumPy's type for the name of TensorFlow's."""
        type_name, shape, start, size = entry["array"]
        data = self._blob[start : start + size]
        if type_name != "string":
            return np.frombuffer(data, numpy_type(type_name)).reshape(shape).copy()
        made = np.empty(shape, object)
        flat = made.reshape(-1)
        lengths = np.frombuffer(data[: 8 * flat.size], np.int64)
        place = 8 * flat.size
        for i in range(flat.size):
            flat[i] = data[place : place + int(lengths[i])]
            place += int(lengths[i])
        return flat.reshape(shape)

    def bytes(self, entry: Any) -> bytes:
        """The bytes that an entry stands for."""
        start, size = entry["array"][2:]
        return self._blob[start : start + size]
