"""EagerValue: the part of a variable that gives Python its value, inside of the function of a `tf.py_function`."""

from __future__ import annotations

from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.value_types import NumpyArray


class EagerValue:
    """What can be asked for the value where operations run when they are made."""

    def read_value(self) -> Tensor:
        """A tensor with the value."""
        raise NotImplementedError

    def numpy(self) -> NumpyArray:
        """The value as an array, inside of the function of a `tf.py_function`.

        Raises:
            NotImplementedError: it is elsewhere, where only a run gives values.
        """
        value = self.read_value()
        if isinstance(value, EagerTensor):
            return value.numpy()
        raise NotImplementedError(
            f"numpy() is only available when eager execution is enabled. {self!r} has a value in a run only, which "
            "session.run of it returns."
        )
