"""Forms of images' ops that later versions of TensorFlow have, in those of 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.op_builder import build
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import rank, reshape, shape, size
from weft.ops.array.stacking import stack
from weft.ops.image.boxes import draw_bounding_boxes_v2
from weft.ops.image.codecs import decode_bmp, decode_gif, decode_image_node, decode_png
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.elementwise import mul, real_div, sub
from weft.ops.strings.elementwise import substr
from weft.ops.tensorflow_forms.form import form

# Files of one black pixel, which a decoder is given in place of a file of another format.
_PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6360000000"
    "02000148afa4710000000049454e44ae426082"
)
_GIF: Final = bytes.fromhex("474946383761010001008100000000000000000000000000002c000000000100010000080400010404003b")
_OPAQUE_BMP: Final = bytes.fromhex(
    "424d3a0000000000000036000000280000000100000001000000010018000000000004000000c40e0000c40e0000000000000000000000000000"
)
# With channels of their own number only: the header tells 24 bits a pixel.
_BITS_AT: Final = 28


def _bmp(channels: int) -> bytes:
    return _OPAQUE_BMP[:_BITS_AT] + bytes([8 * (channels or 3)]) + _OPAQUE_BMP[_BITS_AT + 1 :]


@form(draw_bounding_boxes_v2)
def _draw_bounding_boxes(node: Operation, images: Tensor, boxes: Tensor, colors: Tensor) -> Tensor | None:
    palette = constant_value(node.inputs[2])
    if palette is None or np.size(palette):
        return None
    # The second version of 1.15 refuses to choose colours.
    (drawn,) = build(lookup("DrawBoundingBoxes"), [images, boxes], {}, "boxes").outputs
    return drawn


@form(decode_image_node)
def _decode_image(node: Operation, contents: Tensor) -> Tensor:
    """All decoders run, each on the file or on a pixel of its own format, and the parts of one are taken."""
    channels, dtype = node.attrs["channels"], node.attrs["dtype"]
    is_bmp = _starts_with(contents, b"BM")
    is_gif = _starts_with(contents, b"GIF") if channels in (0, 3) else constant(0)
    is_other = sub(sub(1, is_bmp), is_gif)
    wide = dtypes.uint16 if dtype is dtypes.uint16 else dtypes.uint8
    frames = decode_gif(_either(contents, _GIF, is_gif))
    decoded: list[tuple[Tensor, Tensor]] = [
        (decode_png(_either(contents, _PNG, is_other), channels=channels, dtype=wide), is_other),
        (_widened(decode_bmp(_either(contents, _bmp(channels), is_bmp), channels=channels), wide), is_bmp),
        (_widened(frames if node.attrs["expand_animations"] else frames[0], wide), is_gif),
    ]
    sizes = _chosen([(shape(pixels), rank(pixels), flag) for pixels, flag in decoded])
    pixels = reshape(_chosen([(reshape(each, [-1]), size(each), flag) for each, flag in decoded]), sizes)
    return real_div(cast(pixels, dtype), cast(255.0, dtype)) if dtype is dtypes.float32 else pixels


def _starts_with(contents: Tensor, signature: bytes) -> Tensor:
    """1 or 0, int32."""
    return cast(equal(substr(contents, 0, len(signature)), signature), dtypes.int32)


def _either(contents: Tensor, instead: bytes, is_meant: Tensor) -> Tensor:
    return gather(stack([constant(instead), contents]), is_meant)


def _widened(pixels: Tensor, dtype: dtypes.DType) -> Tensor:
    return mul(cast(pixels, dtype), 257) if dtype is dtypes.uint16 else pixels


def _chosen(vectors: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """The vector whose flag is 1; each comes with its length."""
    return concat([vector[: mul(length, flag)] for vector, length, flag in vectors], 0)
