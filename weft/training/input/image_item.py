"""slim's handler for images in tf.train.Example records."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.case import case
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.functional import map_fn
from weft.ops.image.codecs import decode_image
from weft.ops.image.jpeg import decode_jpeg, is_jpeg
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_or
from weft.ops.strings.elementwise import decode_raw
from weft.training.input.example_decoder import Features, ItemHandler


class Image(ItemHandler):
    """An image, `[height, width, channels]`, of a feature with its file and one that names the file's format.

    Args:
        image_key: the feature of the file, "image/encoded" when None.
        format_key: the feature of the format, "image/format" when None: "raw" and "RAW" are bare pixels; in other files
            the format is found by itself.
        shape: the shape of the result, where it is known.
        channels: 1 for grey, 3 for colours, 4 with opacity; 0 as in the file.
        dtype: the type of the pixels.
        repeated: whether the feature has several files, of images of one size; the result is `[images, height, ...]`.
        dct_method: the transformation by which JPEG files are decoded; see `tf.image.decode_jpeg`.
    """

    def __init__(
        self, image_key: str | None = None, format_key: str | None = None, shape: ShapeLike = None, channels: int = 3,
        dtype: DTypeLike = dtypes.uint8, repeated: bool = False, dct_method: str = "",
    ) -> None:  # fmt: skip
        super().__init__([image_key or "image/encoded", format_key or "image/format"])
        self._shape = shape
        self._channels = channels
        self._dtype = dtypes.as_dtype(dtype)
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Features) -> Nest:
        contents, form = (keys_to_tensors[key] for key in self._keys)
        if self._repeated:
            return map_fn(lambda each: self._decoded(each, form), contents, dtype=self._dtype)
        return self._decoded(contents, form)

    def _decoded(self, contents: Tensor, form: Tensor) -> Tensor:
        def any_format() -> Tensor:
            return cast(decode_image(contents, channels=self._channels), self._dtype)

        def jpeg() -> Tensor:
            return cast(decode_jpeg(contents, channels=self._channels, dct_method=self._dct_method), self._dtype)

        is_raw = logical_or(equal(form, "raw"), equal(form, "RAW"))
        image = case(
            [(is_raw, lambda: decode_raw(contents, out_type=self._dtype))],
            default=lambda: cond(is_jpeg(contents), jpeg, any_format, name="cond_jpeg"), exclusive=True,
        )  # fmt: skip
        image.set_shape([None, None, self._channels or None])
        return image if self._shape is None else reshape(image, self._shape)
