"""SaveSpec and SaveableObject: what something that lives on a task says about how it is saved and restored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.framework.building.aliases import DeviceLike, DTypeLike, DynamicShape, VariableLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed


class SaveSpec:
    """One tensor of a savable object: what to write, under which name, as which slice of the tensor of that name.

    Args:
        tensor: the tensor, or a function that makes it where it is saved.
        slice_spec: the shape and slice, such as `10 20 0,5:0,20`; empty for a whole tensor.
        name: the key in checkpoints.
        dtype: its type, needed with a function.
        device: where it lives, needed with a function.
    """

    def __init__(
        self,
        tensor: Tensor | Callable[[], Tensor],
        slice_spec: str,
        name: str,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError(
                    f"SaveSpec {name!r}: with a callable `tensor`, an explicit dtype and device must be provided."
                )
            self.dtype: Any = dtype
            self.device: Any = device
        else:
            self.dtype = tensor.dtype
            self.device = tensor.device if device is None else device

    @property
    def tensor(self) -> Tensor:
        """The tensor to write."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Something that can be saved; subclasses say how it is restored.

    Args:
        op: what this object saves, so that it is not saved twice.
        specs: its tensors, all on one device.
        name: what errors call it.
    """

    __repr__ = printed("tf.train")

    def __init__(self, op: VariableLike, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self) -> Any:
        """The device of its tensors."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[DynamicShape] | None) -> Tensor | Operation:
        """Make the operation that restores the object.

        Args:
            restored_tensors: what was read, one tensor per spec.
            restored_shapes: the shapes to give them, None to take them as they are.

        Returns:
            The Operation, or the variable's new value.

        Raises:
            ValueError: the object has no way of restoring.
        """
        kind = type(self).__name__
        raise ValueError(f"Calling an abstract method: {kind} does not say how to restore {self.name!r}.")
