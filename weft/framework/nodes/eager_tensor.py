"""EagerTensor: a tensor that has its value already, as tensors do inside of `tf.py_function`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np
from numpy.typing import DTypeLike

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.value_types import NumpyArray, OrNone


class EagerTensor(Tensor):
    """A tensor with a value, which Python and NumPy may ask for.

    Args:
        op: the operation that made it.
        value_index: which of the operation's outputs it is.
        dtype: the dtype of its elements.
    """

    __slots__ = ("_far_consumers", "value")

    def __init__(self, op: Operation, value_index: int, dtype: DType) -> None:
        super().__init__(op, value_index, dtype)
        # The array that the runtime has; None for the handle of a variable. Nobody changes it.
        self.value: NumpyArray | OrNone = None
        self._far_consumers: weakref.WeakSet[Operation] = weakref.WeakSet()

    def numpy(self) -> NumpyArray:
        """The value as an array of the caller's own; a scalar as a NumPy scalar, or bytes."""
        value = self.value
        if not isinstance(value, np.ndarray):
            return np.asarray(value)[()]
        return value.copy() if value.ndim else value[()]

    @property
    def ndim(self) -> int:
        """The rank."""
        return np.ndim(self.value)

    @property
    def device(self) -> str:
        """Where the value is: in the memory of this process."""
        return self.op.device or "/job:localhost/replica:0/task:0/device:CPU:0"

    def cpu(self) -> EagerTensor:
        """The tensor itself: its value is in host memory."""
        return self

    def set_shape(self, shape: object) -> None:
        """Check that the shape, which is known, fits."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}")

    # A tensor that is kept, such as the handle of a variable, does not keep what later calls make of it.

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input."""
        return [*super().consumers(), *self._far_consumers]

    def add_consumer(self, op: Operation) -> None:
        """Note that an operation takes this tensor as an input."""
        if op.graph is self.op.graph:
            super().add_consumer(op)
        else:
            self._far_consumers.add(op)

    def remove_consumer(self, op: Operation) -> None:
        """Forget one use of this tensor by an operation."""
        if op.graph is self.op.graph:
            super().remove_consumer(op)
        else:
            self._far_consumers.discard(op)

    def forget_consumers(self) -> None:
        """Forget who takes this tensor; for its graph, when no gradient goes through it any more."""
        self._consumers.clear()

    def eval(self, feed_dict: object = None, session: object = None) -> NoReturn:
        """Refuse to run: there is nothing to run.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("eval is not supported when eager execution is enabled, is .numpy() what you're looking for?")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NumpyArray:
        value = np.asarray(self.value)
        return value.copy() if dtype is None else value.astype(dtype)

    def __iter__(self) -> Iterator[Tensor]:  # type: ignore[override]
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[index] for index in range(len(self.value)))

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self.value)

    def __bool__(self) -> bool:  # type: ignore[override]
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)

    def __index__(self) -> int:
        return int(np.asarray(self.value).__index__())

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __contains__(self, item: object) -> bool:
        return item in np.asarray(self.value)

    def __format__(self, spec: str) -> str:
        value = self.numpy()
        return format(str(value) if isinstance(value, np.ndarray) else value, spec)

    def __str__(self) -> str:
        return f"tf.Tensor({self._shown(str)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._shown(repr)}>"

    def _shown(self, text_of: Callable[[object], str]) -> str:
        if self.dtype in (dtypes.resource, dtypes.variant):
            return "<unprintable>"
        value = self.numpy()
        return text_of(value) if isinstance(value, np.ndarray | bytes) else str(value)
