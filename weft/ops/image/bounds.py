"""Images cropped and padded to boxes, whose places and sizes are numbers or tensors."""

from __future__ import annotations

import contextlib
from typing import TypeAlias

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.padding import pad, slice_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_greater, assert_greater_equal
from weft.ops.image.transforms import EITHER, image_of
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum

_Size: TypeAlias = int | Tensor


def image_batch(
    image: TensorLike, what: str = "image", may_be_empty: bool = False, is_asserted: bool = True
) -> tuple[Tensor, bool]:
    """The images as a batch, and whether they were one; a tensor of unknown rank counts as one image.

    Args: those of `image_of`.

    Raises:
        ValueError: the rank is known, and not 3 or 4, or it is known that there is no pixel and one is wanted.
    """
    tensor, before = image_of(image, what, EITHER, may_be_empty, is_asserted)
    return (tensor, True) if before else (expand_dims(tensor, 0), False)


def _sizes_of(images: Tensor) -> tuple[_Size, _Size]:
    """Height and width, as numbers where they are known."""
    _, height, width, _ = images.shape.as_list()
    if height is not None and width is not None:
        return height, width
    found = shape(images)
    return found[1] if height is None else height, found[2] if width is None else width


def _known(value: _Size) -> int | None:
    if not isinstance(value, Tensor):
        return int(value)
    found = constant_value(value)
    return None if found is None else int(found)


class _Checks:
    """Claims about sizes: those that are known are checked at once, the others when the graph runs."""

    def __init__(self) -> None:
        self._asserts: list[object] = []

    def at_least(self, value: _Size, least: _Size, message: str) -> None:
        """`value >= least`."""
        a, b = _known(value), _known(least)
        if a is None or b is None:
            self._asserts.append(assert_greater_equal(value, least, message=message))
            # TensorFlow asserts by a comparison; later random nodes get their seeds by the count.
            get_default_graph().node_count.total -= 12
        elif a < b:
            raise ValueError(message)

    def positive(self, value: _Size, message: str) -> None:
        """`value > 0`."""
        found = _known(value)
        if found is None:
            self._asserts.append(assert_greater(value, 0, message=message))
        elif found <= 0:
            raise ValueError(message)

    def then(self, tensor: Tensor) -> Tensor:
        """The tensor, once all claims have been checked."""
        return with_dependencies(self._asserts, tensor) if self._asserts else tensor


def crop_to_bounding_box(
    image: TensorLike, offset_height: _Size, offset_width: _Size, target_height: _Size, target_width: _Size
) -> Tensor:
    """The part of an image or a batch that begins at the offsets and has the target size.

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of any dtype.
        offset_height, offset_width: the first row and column: ints or int32 scalars.
        target_height, target_width: the size: ints or int32 scalars.

    Raises:
        ValueError: the box is empty or begins before the image, or does not fit it; InvalidArgumentError where only a run
            tells.
    """
    with get_default_graph().name_scope("crop_to_bounding_box"):
        images, is_batch = image_batch(image)
        height, width = _sizes_of(images)
        checks = _Checks()
        for what, offset, target, whole in (
            ("height", offset_height, target_height, height),
            ("width", offset_width, target_width, width),
        ):
            checks.at_least(offset, 0, f"offset_{what} must be >= 0, got {_shown(offset)}.")
            checks.positive(target, f"target_{what} must be > 0, got {_shown(target)}.")
            text = f"{what} must be >= target + offset: {_shown(whole)} is less than {_shown(target)} + {_shown(offset)}."
            checks.at_least(whole, target + offset, text)
        begin = stack([0, offset_height, offset_width, 0])
        cropped = slice_of(checks.then(images), begin, stack([-1, target_height, target_width, -1]))
        return _shaped(cropped, images, target_height, target_width, is_batch)


def _shown(size: _Size) -> str:
    known = _known(size)
    return repr(size.name) if known is None and isinstance(size, Tensor) else str(known)


def _shaped(result: Tensor, images: Tensor, height: _Size, width: _Size, is_batch: bool) -> Tensor:
    batch, _, _, channels = images.shape.as_list()
    result.set_shape([batch, _known(height), _known(width), channels])
    return result if is_batch else squeeze(result, [0])


def pad_to_bounding_box(
    image: TensorLike, offset_height: _Size, offset_width: _Size, target_height: _Size, target_width: _Size
) -> Tensor:
    """An image or a batch within zeros, beginning at the offsets in a box of the target size.

    Args: those of `tf.image.crop_to_bounding_box`.

    Raises:
        ValueError: an offset is negative, or the image does not fit; InvalidArgumentError where only a run tells.
    """
    with get_default_graph().name_scope("pad_to_bounding_box"):
        images, is_batch = image_batch(image)
        height, width = _sizes_of(images)
        below, right = target_height - offset_height - height, target_width - offset_width - width
        checks = _Checks()
        checks.at_least(offset_height, 0, "offset_height must be >= 0")
        checks.at_least(offset_width, 0, "offset_width must be >= 0")
        checks.at_least(below, 0, "height must be <= target - offset")
        checks.at_least(right, 0, "width must be <= target - offset")
        margins = reshape(stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        return _shaped(pad(checks.then(images), margins), images, target_height, target_width, is_batch)


def resize_image_with_crop_or_pad(image: TensorLike, target_height: _Size, target_width: _Size) -> Tensor:
    """Crop an image or a batch around its centre, or pad it evenly with zeros, to the target size.

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of any dtype.
        target_height, target_width: the size: ints or int32 scalars.

    Returns:
        A tensor of the same dtype, of that size.

    Raises:
        ValueError: a target is not positive; InvalidArgumentError where only a run tells.

    >>> tf.image.resize_image_with_crop_or_pad(tf.zeros([5, 7, 3]), 4, 8).shape
    TensorShape([Dimension(4), Dimension(8), Dimension(3)])
    """
    tensor = convert_to_tensor(image, name="image")
    with get_default_graph().name_scope("resize_image_with_crop_or_pad"), _counted_where_unknown(tensor):
        images, is_batch = image_batch(tensor)
        checks = _Checks()
        checks.positive(target_width, "target_width must be > 0.")
        checks.positive(target_height, "target_height must be > 0.")
        images = checks.then(images)
        height, width = _sizes_of(images)
        cropped = crop_to_bounding_box(
            images, _more(height, target_height) // 2, _more(width, target_width) // 2,
            _less(height, target_height), _less(width, target_width),
        )  # fmt: skip
        padded = pad_to_bounding_box(
            cropped, _more(target_height, height) // 2, _more(target_width, width) // 2, target_height, target_width
        )
        # TensorFlow's result waits for checks, if there are any; later random nodes get their seeds by the count.
        get_default_graph().node_count.total += 1
        return _shaped(padded, images, target_height, target_width, is_batch)


def _counted_where_unknown(image: Tensor) -> contextlib.AbstractContextManager[None]:
    """Count TensorFlow's nodes that crop or pad an image of unknown height and width: later seeds go by the count."""
    dims = image.dims
    if dims is None or len(dims) not in (3, 4) or dims[-3] is not None or dims[-2] is not None:
        return contextlib.nullcontext()
    return get_default_graph().node_count.as_many_as((176 if len(dims) == 3 else 175) + (2 if dims[-1] is None else 0))


def _more(a: _Size, b: _Size) -> _Size:
    """How much larger a is than b, or 0."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return maximum(convert_to_tensor(a, dtypes.int32) - convert_to_tensor(b, dtypes.int32), 0)
    return max(a - b, 0)


def _less(a: _Size, b: _Size) -> _Size:
    """The smaller one."""
    return a - _more(a, b)


def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The middle of an image or a batch, of this fraction of its height and width.

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of any dtype.
        central_fraction: a number above 0, 1 at most.

    Raises:
        ValueError: the fraction is not in (0, 1], or the rank is not 3 or 4.
    """
    if not 0.0 < central_fraction <= 1.0:
        told = f"Got {central_fraction}: it is the part of the height and width to keep."
        raise ValueError(f"central_fraction must be within (0, 1]. {told}")
    with get_default_graph().name_scope("central_crop"):
        if convert_to_tensor(image).shape.ndims is None:
            raise ValueError(
                "`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = None. Give it a shape with set_shape: "
                "tf.image.decode_image tells none."
            )
        if central_fraction == 1.0:
            return convert_to_tensor(image)
        tensor, before = image_of(image, "image", EITHER)
        assert tensor.dims is not None
        height, width = _size_along(tensor, before), _size_along(tensor, before + 1)
        top, left = _border(height, central_fraction), _border(width, central_fraction)
        tall, wide = height - 2 * top, width - 2 * left
        begin, size = stack([*[0] * before, top, left, 0]), stack([*[-1] * before, tall, wide, -1])
        cropped = slice_of(tensor, begin, size)
        cropped.set_shape([*tensor.dims[:before], _known(tall), _known(wide), tensor.dims[-1]])
        return cropped


def _size_along(tensor: Tensor, axis: int) -> _Size:
    """A size, as a number where it is known."""
    known: int | None = tensor.shape[axis].value
    return shape(tensor)[axis] if known is None else known


def _border(size: _Size, fraction: float) -> _Size:
    """The pixels to leave out before the middle."""
    from_size = _known(size)
    if from_size is not None:
        return int((from_size - from_size * fraction) / 2)
    exact = cast(size, dtypes.float64)
    return cast((exact - exact * fraction) / 2, dtypes.int32)
