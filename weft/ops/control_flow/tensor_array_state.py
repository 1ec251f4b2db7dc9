"""The arrays behind TensorArrayV3 handles: elements that are written and read one by one, and their gradients' arrays.

weft's own TensorArray is a value (`buffers`), so only graphs made by TensorFlow have these.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.types.dims import Dims, dims_compatible, merge_dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.held_objects import check_length


class HeldTensorArray:
    """An array of tensors of one type. Safe from any thread.

    Args:
        name: for messages.
        dtype: the elements' type.
        size: the number of elements at first.
        element_shape: what is known of the elements' shape.
        is_dynamic: whether a write behind the end makes it longer.
        clear_after_read: whether a read ends the element's life.
        same_shapes: whether all elements have the shape of the first one written.
        adds: whether a second write adds to the first: the array of a gradient.
    """

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_shape: Dims = None,
        is_dynamic: bool = False,
        clear_after_read: bool = True,
        same_shapes: bool = False,
        adds: bool = False,
    ) -> None:
        self.dtype = dtype
        self._name = name
        self._element_shape = element_shape
        self._is_dynamic = is_dynamic
        self._clear_after_read = clear_after_read
        self._same_shapes = same_shapes
        self._adds = adds
        self._lock = threading.RLock()
        check_length(size, f"TensorArray {name}")
        self._values: list[Array | None] = [None] * size
        self._shapes: list[tuple[int, ...] | None] = [None] * size
        self._cleared: set[int] = set()
        self._gradients: dict[str, HeldTensorArray] = {}

    def __len__(self) -> int:
        return len(self._values)

    def gradient(self, source: str, first: Sequence[int] = ()) -> HeldTensorArray:
        """The array of the elements' gradients for one call of tf.gradients; made when missing, as long as this one is.

        Args:
            source: what tells the calls apart.
            first: dimensions that a gradient's elements have before the elements' own.
        """
        with self._lock:
            found = self._gradients.get(source)
            if found is None:
                element = None if self._element_shape is None else (*first, *self._element_shape)
                found = HeldTensorArray(
                    f"{self._name}@{source}", self.dtype, len(self), element, clear_after_read=False, adds=True
                )
                found._shapes = [None if shape is None else (*first, *shape) for shape in self._shapes]
                self._gradients[source] = found
            return found

    def write(self, index: int, value: Array, dtype: DType) -> None:
        """Write an element, once; in the array of a gradient a second one is added."""
        with self._lock:
            self._check_write(index, value, dtype)
            known = self._values[index]
            if known is not None:
                value = np.asarray(known + value)
            self._values[index] = value
            self._shapes[index] = value.shape

    def _check_write(self, index: int, value: Array, dtype: DType) -> None:
        if dtype is not self.dtype:
            raise self._refused(f"Could not write to TensorArray index {index} because the value dtype is {dtype.name} but "
                                f"TensorArray dtype is {self.dtype.name}.")  # fmt: skip
        if index < 0 or (index >= len(self) and not self._is_dynamic):
            raise InvalidArgumentError.of(f"TensorArray {self._name}: Tried to write to index {index} but array is not "
                                          f"resizeable and size is: {len(self)}")  # fmt: skip
        if not dims_compatible(self._element_shape, value.shape):
            raise self._refused(f"Could not write to TensorArray index {index} because the value shape is {list(value.shape)} "
                                "which is incompatible with the TensorArray's inferred element shape: "
                                f"{TensorShape(self._element_shape)} (consider setting infer_shape=False).")  # fmt: skip
        more = check_length(index + 1, f"TensorArray {self._name}") - len(self)
        self._values.extend([None] * more)
        self._shapes.extend([None] * more)
        if index in self._cleared or (self._values[index] is not None and not self._adds):
            done = "read" if index in self._cleared else "written to"
            raise self._refused(f"Could not write to TensorArray index {index} because it has already been {done}.")
        if self._same_shapes:
            self._element_shape = merge_dims(self._element_shape, value.shape)

    def read(self, index: int, dtype: DType) -> Array:
        """An element; zeros for one that was never written, where its shape is known."""
        with self._lock:
            if dtype is not self.dtype:
                raise self._refused(f"TensorArray dtype is {self.dtype.name} but Op requested dtype {dtype.name}.")
            if not 0 <= index < len(self):
                raise InvalidArgumentError.of(
                    f"TensorArray {self._name}: Tried to read from index {index} but array size is: {len(self)}"
                )
            if index in self._cleared:
                raise self._refused(f"Could not read index {index} twice because it was cleared after a previous read (perhaps "
                                    "try setting clear_after_read = false?).")  # fmt: skip
            value = self._values[index]
            if value is None:
                return self._zeros(index)
            if self._clear_after_read:
                self._values[index] = None
                self._cleared.add(index)
            return value

    def _zeros(self, index: int) -> Array:
        shape = self._shapes[index] or self._element_shape
        if shape is None or None in shape:
            raise self._refused(
                f"Could not read from TensorArray index {index}. Furthermore, the element shape is not fully defined: "
                f"{TensorShape(shape)}. It is possible you are working with a resizeable TensorArray and stop_gradients is not "
                "allowing the gradients to be written. If you set the full element_shape property on the forward TensorArray, "
                "the proper all zeros tensor will be returned instead of incurring this error."
            )
        known = [size for size in shape if size is not None]
        return np.full(known, b"" if self.dtype.as_numpy_dtype is np.object_ else 0, self.dtype.as_numpy_dtype)

    def read_all(self, indices: Sequence[int], dtype: DType) -> list[Array]:
        """Several elements, which have to be of one shape."""
        values = [self.read(index, dtype) for index in indices]
        for other, value in zip(indices, values, strict=True):
            if value.shape != values[0].shape:
                raise InvalidArgumentError.of(
                    f"TensorArray {self._name} has inconsistent shapes. Index {indices[0]} has shape: {list(values[0].shape)} "
                    f"but index {other} has shape: {list(value.shape)}"
                )
        return values

    def empty(self, element_shape: Dims) -> Array:
        """What the elements are joined to when there are none: `[0, *element]`."""
        shape = merge_dims(self._element_shape, element_shape)
        if shape is None or None in shape:
            raise self._refused(f"has size zero, but element shape {TensorShape(shape)} is not fully defined. Currently only "
                                "static shapes are supported when packing zero-size TensorArrays.")  # fmt: skip
        return np.zeros([0, *(size for size in shape if size is not None)], self.dtype.as_numpy_dtype)

    def set_size(self, size: int) -> None:
        """Make it as long as what is scattered or split into it."""
        with self._lock:
            if size != len(self) and not self._is_dynamic:
                raise self._refused(f"TensorArray's size is not equal to the number of values ({len(self)} vs. {size}), and "
                                    "the TensorArray is not marked as dynamically resizeable")  # fmt: skip

    def _refused(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError.of(f"TensorArray {self._name}: {text}")
