"""The shapes of layers' outputs by rule: a call would make the layers that a program's own layer has in it in another graph."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import ShapeLike
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.layer import Layer


def resized(input_shape: ShapeLike, layout: str, length: Callable[[int, int], int], filters: int | None = None) -> TensorShape:
    """The inputs' shape with other sizes in space.

    Args:
        input_shape: the inputs' shape, of a known rank.
        layout: a letter for each dimension, N for the batch and C for the channels.
        length: gives the size of a spatial dimension, of the inputs' size and the dimension's number among these.
        filters: the number of channels of the outputs; that of the inputs when None.

    Raises:
        ValueError: the inputs have another rank, or are smaller than the window.
    """
    dims = TensorShape(TensorShape(input_shape).as_list()).with_rank(len(layout)).as_list()
    in_space = [axis for axis, letter in enumerate(layout) if letter not in "NC"]
    for number, axis in enumerate(in_space):
        size = dims[axis]
        dims[axis] = None if size is None else length(size, number)
    if filters is not None:
        dims[layout.index("C")] = filters
    return TensorShape(dims)


def windows(size: int, window: int, stride: int, padding: str, dilation: int = 1) -> int:
    """How many windows fit along a dimension.

    Args:
        size: the size of the inputs.
        window: how many elements a window takes.
        stride: how far it moves.
        padding: "valid", "same", or "causal".
        dilation: the distance between the elements that it takes.
    """
    starts = size if padding in ("same", "causal") else size - (window - 1) * dilation
    return -(-starts // stride)


class Convolving(Layer):
    """A layer that makes other channels of what its windows see."""

    layout: str
    padding: str
    filters: int
    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]
    dilation_rate: tuple[int, ...]

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The shape of the outputs for a shape of inputs.

        Args:
            input_shape: the inputs' shape, the size of the batch in front.
        """
        return resized(input_shape, self.layout, self._windows, self.filters)

    def _op_padding(self) -> str:
        """The padding as ops name it; the inputs of a causal layer are padded ahead."""
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _windows(self, size: int, axis: int) -> int:
        window, stride, dilation = self.kernel_size[axis], self.strides[axis], self.dilation_rate[axis]
        return windows(size, window, stride, self.padding, dilation)
