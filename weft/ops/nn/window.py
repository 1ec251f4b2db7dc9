"""The geometry of windows that move over a tensor: where they stand, and what padding that takes.

Convolutions and poolings share it. A window is described along some dimensions of a tensor: the spatial ones for a
convolution, all of them for a pooling, whose window may cover batch and channels too.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

from weft.framework.building.aliases import Array
from weft.framework.nodes.node_errors import BuildMisfit, ShapeMisfit
from weft.framework.types.dims import Dims

Slices = tuple[slice, ...]

LAYOUTS_2D: Final = ("NHWC", "NCHW")
LAYOUTS_3D: Final = ("NDHWC", "NCDHW")
PADDINGS: Final = ("SAME", "VALID", "EXPLICIT")
_FEW_PLACES: Final = 3
_WINDOWS: Final = 512
"""Windows that are remembered: an interpreted step asks for each of its own up to four times, which takes 1 µs then and not 4
(two cores, December 2026)."""


@dataclass(frozen=True)
class Window:
    """A window and its places, one entry per dimension.

    `low` and `high` is the padding (negative where the input is not used to its end), `outputs` how many places there are.
    """

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    outputs: tuple[int, ...]

    def positions(self) -> Iterator[tuple[int, ...]]:
        """The elements of the window, in row-major order."""
        return itertools.product(*(range(size) for size in self.size))

    def slices(self, position: Sequence[int]) -> Slices:
        """Where, in the padded input, all windows have their element `position`."""
        return tuple(
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride) if count else slice(0, 0)
            for at, dilation, count, stride in zip(position, self.dilations, self.outputs, self.strides, strict=True)
        )

    @property
    def paddings(self) -> tuple[tuple[int, int], ...]:
        """The padding as pairs."""
        return tuple(zip(self.low, self.high, strict=True))

    @property
    def is_padded(self) -> bool:
        """Whether the input is padded at all."""
        return any(self.low) or any(high > 0 for high in self.high)

    def without_first(self) -> Window:
        """The window along all dimensions but the first."""
        return Window(*(getattr(self, field.name)[1:] for field in fields(self)))

    @property
    def overlaps(self) -> bool:
        """Whether an element can be in more than one window."""
        return any(
            (size - 1) * dilation + 1 > stride
            for size, dilation, stride in zip(self.size, self.dilations, self.strides, strict=True)
        )

    def has_few_places(self, inputs: Sequence[int]) -> bool:
        """Whether the input's gradient, as a convolution, would multiply mostly zeros: inputs have many elements for a place.

        A convolution multiplies a window for each element of the inputs; to add up what each window gives takes one for each
        place. A window of 5 words, all 128 numbers of each, over 11 words has 7 places; the convolution took 1,408 windows of
        320 KB each, a minute a step.
        """
        return math.prod(inputs) > _FEW_PLACES * math.prod(self.strides) * math.prod(self.outputs)


def place(
    inputs: Sequence[int], size: Sequence[int], strides: Sequence[int], padding: str,
    dilations: Sequence[int] | None = None, explicit: Sequence[int] = (),
) -> Window:  # fmt: skip
    """The window over an input of this size.

    Args:
        inputs: the sizes of the dimensions.
        size: the window's size in each.
        strides: how far apart the windows are.
        padding: SAME, VALID or EXPLICIT.
        dilations: how far apart the elements of a window are; 1 when None.
        explicit: with EXPLICIT, the padding before and after, dimension by dimension.
    """
    dilations = dilations or (1,) * len(inputs)
    return _place(tuple(inputs), tuple(size), tuple(strides), padding, tuple(dilations), tuple(explicit))


@functools.lru_cache(_WINDOWS)
def _place(
    inputs: Sequence[int], size: tuple[int, ...], strides: tuple[int, ...], padding: str, dilations: tuple[int, ...],
    explicit: Sequence[int],
) -> Window:  # fmt: skip
    low, high, outputs = [], [], []
    for index, (count, length, stride, dilation) in enumerate(zip(inputs, size, strides, dilations, strict=True)):
        reach = (length - 1) * dilation + 1
        before, after = explicit[2 * index : 2 * index + 2] if padding == "EXPLICIT" else (0, 0)
        if padding == "SAME":
            places = -(-count // stride)
            total = max((places - 1) * stride + reach - count, 0)
            before, after = total // 2, total - total // 2
        else:
            places = max((count + before + after - reach) // stride + 1, 0)
        outputs.append(places)
        low.append(before)
        high.append(after)
    return Window(size, strides, dilations, tuple(low), tuple(high), tuple(outputs))


def output_size(
    count: int | None, size: int | None, stride: int, padding: str, dilation: int = 1, around: int = 0
) -> int | None:
    """The number of places of a window along a dimension, None where that is not known.

    Raises:
        ValueError: the window is larger than the input.
    """
    if count is None:
        return None
    if padding == "SAME":
        return -(-count // stride)
    if size is None:
        return None
    reach = (size - 1) * dilation + 1
    if count + around < reach:
        # A run has no window there, as long as one reaches beyond the border by less than a stride.
        misfit = BuildMisfit if count + around + stride >= reach else ShapeMisfit
        raise misfit(
            f"Negative dimension size caused by subtracting {reach} from {count + around}",
            'The window is larger than what it moves over: padding="SAME" lets it reach beyond the borders.',
        )
    return (count + around - reach) // stride + 1


@functools.cache
def spatial_axes(data_format: str) -> tuple[int, ...]:
    """The dimensions of a layout that are neither batch nor channels."""
    return tuple(index for index, letter in enumerate(data_format) if letter not in "NC")


def check_window_attrs(op: str, attrs: dict[str, Array], layouts: Sequence[str]) -> int:
    """The rank of the layouts; ValueError unless layout, strides, window and dilations are such as ops of that rank have."""
    value = attrs.get("data_format", layouts[0])
    if value not in layouts:
        listed = ", ".join(f'"{each}"' for each in layouts)
        raise ValueError(f"Attr 'data_format' of '{op}' Op passed string '{value}' not in: {listed}.")
    rank = len(layouts[0])
    for name in ("strides", "ksize", "dilations"):
        values = attrs.get(name)
        if values is None:
            continue
        if len(values) != rank:
            raise ValueError(f"{op} requires the {name} attribute to contain {rank} values, but got: {len(values)}")
        if min(values) <= 0:
            raise ValueError(f"{op} requires all values of the {name} attribute to be positive, but got: {list(values)}")
    return rank


def check_filter_rank(dims: Dims, rank: int) -> None:
    """Raise ValueError unless the rank of filters is `rank` or not known."""
    if dims is not None and len(dims) != rank:
        remedy = (
            "A filter is a variable of shape [height, width, channels, filters], such as tf.get_variable('w', [5, 5, 1, 32]), "
            "and not its shape."
        )
        text = f"Shape must be rank {rank} but is rank {len(dims)}"
        raise ShapeMisfit(text, remedy) if rank == 4 else ValueError(text)


def check_rank(dims: Dims, rank: int) -> None:
    """Raise ValueError unless the rank is `rank` or not known."""
    if dims is not None and len(dims) != rank:
        remedy = "A batch of images has 4 dimensions: tf.reshape(images, [-1, height, width, channels])."
        text = f"Shape must be rank {rank} but is rank {len(dims)}"
        raise ShapeMisfit(text, remedy) if rank == 4 else ValueError(text)
