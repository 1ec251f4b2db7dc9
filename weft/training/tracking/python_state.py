"""State of Python in checkpoints: objects that turn what they hold into bytes, and attributes that are NumPy arrays."""

from __future__ import annotations

import io
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.training.tracking.autotracking import TrackableBase

# The attribute's name in a checkpoint's description of its objects, and in keys.
PY_STATE: Final = "py_state"


class PythonState(TrackableBase):
    """An object whose state a checkpoint saves as bytes. A save asks for them; a restore gives them back at once, not in a run
    of the session.
    """

    def serialize(self) -> bytes | str:
        """The state as bytes or a text; the class of the program's own says what."""
        raise NotImplementedError(f"{type(self).__name__} is to say in 'serialize' what a checkpoint saves of it")

    def deserialize(self, string_value: bytes) -> None:
        """Take the state that a checkpoint has.

        Args:
            string_value: what `serialize` returned, as bytes.
        """
        raise NotImplementedError(f"{type(self).__name__} is to take in 'deserialize' what a checkpoint has saved of it")


class _HeldArray(PythonState):
    """One array of a NumpyState."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def serialize(self) -> bytes:
        written = io.BytesIO()
        np.save(written, self.array, allow_pickle=False)
        return written.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        self.array = np.load(io.BytesIO(string_value))


class NumpyState(TrackableBase):
    """An object whose attributes are NumPy arrays, which checkpoints save. A restore makes those that it lacks."""

    def __getattribute__(self, name: str) -> object:
        value = object.__getattribute__(self, name)
        return value.array if isinstance(value, _HeldArray) else value

    def __setattr__(self, name: str, value: object) -> None:
        if not isinstance(value, np.ndarray | np.generic):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. A NumpyState holds arrays "
                "alone: set other things as attributes of a tf.contrib.checkpoint.Checkpointable that holds it."
            )
        if value.dtype.hasobject:
            raise TypeError(
                f"Assigned an array of Python's objects to the {name} property of a NumpyState: {value!r}. A checkpoint saves "
                "arrays of numbers and of texts of one length; a tf.train.experimental.PythonState says itself what it saves."
            )
        held = self.__dict__.get(name)
        if isinstance(held, _HeldArray):
            held.array = value
        else:
            object.__setattr__(self, name, self._track_trackable(_HeldArray(value), name, overwrite=True))

    def __delattr__(self, name: str) -> None:
        self._held_by_name().pop(name, None)
        object.__delattr__(self, name)

    def _lookup_dependency(self, name: str) -> object:
        if name not in self._held_by_name():
            setattr(self, name, np.array([]))
        return self._held_by_name()[name]
