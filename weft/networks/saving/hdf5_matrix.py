"""HDF5Matrix: rows of a dataset in an HDF5 file, for `fit` to take batches of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.framework.types.printed import printed
from weft.networks.saving.hdf5_store import hdf5


class HDF5Matrix:
    """Rows of a dataset in an HDF5 file, read when they are asked for.

    Args:
        datapath: the file.
        dataset: the name of the dataset in it.
        start: the first row.
        end: the row behind the last; all rows when None.
        normalizer: a function of the rows that are read.

    Raises:
        ImportError: h5py is not installed.
    """

    # Open files by path: several matrices share one.
    refs: ClassVar[dict[str, Any]] = {}

    __repr__ = printed("tf.keras.utils", lambda matrix: f"shape={matrix.shape} dtype={matrix.dtype}")

    def __init__(
        self, datapath: str, dataset: str, start: int = 0, end: int | None = None,
        normalizer: Callable[[Array], Array] | None = None,
    ) -> None:  # fmt: skip
        if datapath not in self.refs:
            self.refs[datapath] = hdf5("HDF5Matrix").File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        example = self._normal(self.data[0:1])
        self._base_shape, self._base_dtype = example.shape[1:], example.dtype

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Nest) -> Array:
        if isinstance(key, slice):
            if key.stop is not None and key.stop > len(self):
                raise IndexError(f"rows to {key.stop} of {len(self)} were asked for")
            first, last, step = key.indices(len(self))
            if step < 0:
                return self[np.arange(first, last, step)]
            return self._normal(self.data[first + self.start : last + self.start : step])
        rows = np.asarray(key)
        wrong = rows[(rows < -len(self)) | (rows >= len(self))]
        if wrong.size:
            raise IndexError(f"row {wrong.flat[0]} of {len(self)} was asked for")
        rows = rows % max(len(self), 1) + self.start
        if rows.ndim == 0:
            return self._normal(self.data[int(rows)])
        # HDF5 reads rows in ascending order, each once.
        order, places = np.unique(rows, return_inverse=True)
        return self._normal(self.data[order.tolist()][places])

    def _normal(self, rows: Array) -> Array:
        return rows if self.normalizer is None else self.normalizer(rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all rows together."""
        return (len(self), *self._base_shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        found: np.dtype[Any] = self._base_dtype
        return found

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))
