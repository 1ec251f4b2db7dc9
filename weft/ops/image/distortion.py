"""SampleDistortedBoundingBox: a random part of an image that covers enough of a labelled box, to augment training data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op
from weft.ops.random import philox
from weft.ops.random.seed import get_seed
from weft.ops.random.taking import Take, from_the_start
from weft.ops.random.words import Words

_SIZES: Final = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_INT32_MAX: Final = 2**31 - 1


class _Box(NamedTuple):
    """A part of an image, in pixels."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def shared(self, other: _Box) -> int:
        """The area of the intersection."""
        return _Box(
            max(self.top, other.top), max(self.left, other.left), min(self.bottom, other.bottom), min(self.right, other.right)
        ).area


def _crop(words: Words, height: int, width: int, areas: Sequence[float], ratio: np.float32) -> _Box | None:
    """A random box, `ratio` times as wide as high, whose share of the image's area is in the range; None if there is none.

    It is found in float32, as by TensorFlow's kernel: a number that rounds the other way is another box.
    """
    if not 0 < ratio < math.inf:
        return None
    least, most = (np.float32(each) * np.float32(width) * np.float32(height) for each in areas)
    rows, max_rows = round(np.sqrt(least / ratio)), round(np.sqrt(most / ratio))
    if round(max_rows * ratio) > width:
        max_rows = int((width + 0.5 - 1e-7) / float(ratio))
    max_rows = min(max_rows, height)
    rows = min(rows, max_rows)
    if rows < max_rows:
        rows += _below(words, max_rows - rows + 1)
    columns = round(rows * ratio)
    # Rounding may have left the range by a pixel.
    if rows * columns < least:
        rows += 1
    elif rows * columns > most:
        rows -= 1
    columns = round(rows * ratio)
    if not (least <= rows * columns <= most and 0 < rows <= height and 0 < columns <= width):
        return None
    top = _below(words, height - rows) if rows < height else 0
    left = _below(words, width - columns) if columns < width else 0
    return _Box(top, left, top + rows, left + columns)


def _below(words: Words, limit: int) -> int:
    return int(words.below_32(1, limit)[0])


def _part_shapes(node: Operation) -> list[Dims]:
    size, boxes, covered = (each.dims for each in node.inputs[:3])
    for dims, rank in ((size, 1), (boxes, 3), (covered, 0)):
        if dims is not None and len(dims) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
    for dims, axis, wanted in ((size, 0, 3), (boxes, 2, 4)):
        if dims is not None and dims[axis] not in (None, wanted):
            raise ValueError(f"Dimension must be {wanted} but is {dims[axis]}")
    return [(3,), (3,), (1, 1, 4)]


@op("SampleDistortedBoundingBoxV2", "image_size: T, bounding_boxes: float, min_object_covered: float -> "
    "begin: T, size: T, bboxes: float", gradient=None, infer=_part_shapes, stateful=True,
    types={"T": _SIZES})  # fmt: skip
def sample_distorted_bounding_box_v2(
    ctx: OpContext, image_size: Array, bounding_boxes: Array, min_object_covered: Array, *, seed: int = 0, seed2: int = 0,
    aspect_ratio_range: Sequence[float] = (0.75, 1.33), area_range: Sequence[float] = (0.05, 1.0), max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False, take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """A random part of an image, for `slice` and as a box: `[3], [batch, n, 4], scalar -> [3], [3], [1, 1, 4]`."""
    words = Words.of_seeds(seed, seed2, int(take(max_attempts)))
    limits = _Limits(float(min_object_covered), aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    return _distorted(words, image_size, bounding_boxes, limits)


@op("StatelessSampleDistortedBoundingBox", "image_size: T, bounding_boxes: float, min_object_covered: float, seed: Tseed -> "
    "begin: T, size: T, bboxes: float", gradient=None, infer=_part_shapes, ranks={"seed": 1},
    types={"T": _SIZES, "Tseed": INDEX})  # fmt: skip
def stateless_sample_distorted_bounding_box(
    ctx: OpContext, image_size: Array, bounding_boxes: Array, min_object_covered: Array, seed: Array, *,
    aspect_ratio_range: Sequence[float] = (0.75, 1.33), area_range: Sequence[float] = (0.05, 1.0), max_attempts: int = 100,
    use_image_if_no_bounding_boxes: bool = False,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """A part of an image that the seed alone tells: `[3], [batch, n, 4], scalar, [2] -> [3], [3], [1, 1, 4]`."""
    words = Words(philox.stream_of_seed_tensor(np, seed))
    limits = _Limits(float(min_object_covered), aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    return _distorted(words, image_size, bounding_boxes, limits)


class _Limits(NamedTuple):
    """What the part has to meet, and how often one is drawn."""

    covered: float
    ratios: Sequence[float]
    areas: Sequence[float]
    attempts: int
    may_lack_boxes: bool


def _distorted(words: Words, image_size: Array, bounding_boxes: Array, limits: _Limits) -> tuple[Result, Result, Result]:
    """The first part drawn that meets the limits, else the whole image; the numbers are TensorFlow's for a seed."""
    height, width = (int(each) for each in image_size[:2])
    _check(image_size, bounding_boxes)
    _check_ranges(limits.covered, limits.ratios, limits.areas, limits.attempts)
    boxes = [_in_pixels(box, height, width) for box in bounding_boxes.reshape(-1, 4)]
    if not boxes:
        if not limits.may_lack_boxes:
            raise InvalidArgumentError.of(
                "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
                "provide any bounding boxes."
            )
        boxes = [_Box(0, 0, height, width)]
    chosen = _Box(0, 0, height, width)
    narrowest, widest = (np.float32(each) for each in limits.ratios)
    for _ in range(limits.attempts):
        ratio = words.floats(1)[0] * (widest - narrowest) + narrowest
        crop = _crop(words, height, width, limits.areas, ratio)
        if crop is not None and any(box.area and crop.shared(box) >= limits.covered * box.area for box in boxes):
            chosen = crop
            break
    top, left, bottom, right = chosen
    found = np.array([top / height, left / width, bottom / height, right / width], np.float32)
    begin = np.array([top, left, 0], image_size.dtype)
    return begin, np.array([bottom - top, right - left, -1], image_size.dtype), found.reshape(1, 1, 4)


def _in_pixels(box: Array, height: int, width: int) -> _Box:
    corners = top, left, bottom, right = tuple(np.float32(each) for each in box)
    wrong = [each for each in corners if not 0 <= each <= 1]
    if wrong:
        raise InvalidArgumentError.of(f"All bounding box coordinates must be in [0.0, 1.0]: {wrong[0]:g}")
    rows, columns = np.float32(height), np.float32(width)
    return _Box(int(top * rows), int(left * columns), int(bottom * rows), int(right * columns))


def _check(size: Array, boxes: Array) -> None:
    if size.shape != (3,):
        raise InvalidArgumentError.of(f"image_size must contain 3 elements {list(size.shape)}")
    if min(size[:2]) <= 0:
        raise InvalidArgumentError.of(f"image height and width must be positive, got {size[:2].tolist()}")
    for side, length in (("height", size[0]), ("width", size[1])):
        if length >= _INT32_MAX:
            raise InvalidArgumentError.of(f"image {side} cannot be >= int32 max, got {length}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise InvalidArgumentError.of(f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {list(boxes.shape)}")


def _check_ranges(covered: float, ratios: Sequence[float], areas: Sequence[float], max_attempts: int) -> None:
    """Refuse what no part can meet; NaN is in no range."""
    if not covered >= 0:
        raise InvalidArgumentError.of(f"Min object covered must be non-negative: {covered:g}")
    for what, values in (("Aspect ratio", ratios), ("Area", areas)):
        shown = f"[{', '.join(f'{each:g}' for each in values)}]"
        if len(values) != 2:
            raise InvalidArgumentError.of(f"{what} range field must specify 2 dimensions, got {shown}")
        if not (values[0] > 0 and values[1] > 0):
            raise InvalidArgumentError.of(f"{what} range must be non-negative: {shown}")
    if max(areas) > 1:
        raise InvalidArgumentError.of(f"Area range must be less then or equal to 1.0: {shown}")
    if max_attempts <= 0:
        raise InvalidArgumentError.of(f"Max attempts must be non-negative: {max_attempts}")


def _or_default(values: Sequence[float] | None, default: tuple[float, float]) -> list[float]:
    return [float(each) for each in (default if values is None else values)]


class SampleDistortedBoundingBoxV2(NamedTuple):
    """A part of an image: where it begins and its size, for `tf.slice`, and the part as a box."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampleDistortedBoundingBoxV2:
    """Choose a random part of an image that covers enough of one of its boxes.

    Args:
        image_size: `[height, width, channels]`, integers.
        bounding_boxes: `[batch, n, 4]`, shares of the height and width.
        seed, seed2: the node's two seeds, which make the choice repeatable whatever the graph's is; that and the node's place
            where neither is given.
        min_object_covered: the share of a box that the part covers at least.
        aspect_ratio_range: the part's width by height; 0.75 to 1.33 if None.
        area_range: the part's share of the image's area; 0.05 to 1 if None.
        max_attempts: after so many in vain the whole image is the part; 100 if None.
        use_image_if_no_bounding_boxes: whether the image is the box where there is none.
        name: the node's name.

    Returns:
        `begin` and `size` for `tf.slice`, and the part as a box, `[1, 1, 4]`, for `draw_bounding_boxes`.

    Raises:
        InvalidArgumentError: when it runs, with no boxes or with such as are not in [0, 1].
    """
    first, second = get_seed(None) if seed is None and seed2 is None else (seed, seed2)
    with get_default_graph().name_scope(name or "sample_distorted_bounding_box"):
        chosen = sample_distorted_bounding_box_v2(
            image_size, bounding_boxes, min_object_covered, seed=first or 0, seed2=second or 0,
            aspect_ratio_range=_or_default(aspect_ratio_range, (0.75, 1.33)), area_range=_or_default(area_range, (0.05, 1.0)),
            max_attempts=100 if max_attempts is None else max_attempts,
            use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes), name=name,
        )  # fmt: skip
        return SampleDistortedBoundingBoxV2(*chosen)


def sample_distorted_bounding_box_by_seed(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampleDistortedBoundingBoxV2:
    """`sample_distorted_bounding_box` as the second version of the API has it: by the graph's seed and one of its own.

    Args:
        image_size, bounding_boxes, min_object_covered: as there.
        seed: of the choice, beside the graph's; 0 for none.
        aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes, name: as there.

    Returns:
        `begin` and `size` for `tf.slice`, and the part as a box, `[1, 1, 4]`.
    """
    return sample_distorted_bounding_box(
        image_size, bounding_boxes, *get_seed(seed or None), min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, name,
    )  # fmt: skip
