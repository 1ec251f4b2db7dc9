"""tf.image: image files as tensors, and images changed. This module only re-exports."""

from __future__ import annotations

from weft.ops.image.codecs import decode_bmp as decode_bmp
from weft.ops.image.codecs import decode_gif as decode_gif
from weft.ops.image.codecs import decode_image as decode_image
from weft.ops.image.codecs import decode_jpeg as decode_jpeg
from weft.ops.image.codecs import decode_png as decode_png
from weft.ops.image.codecs import encode_jpeg as encode_jpeg
from weft.ops.image.codecs import encode_png as encode_png
from weft.ops.image.codecs import extract_jpeg_shape as extract_jpeg_shape
from weft.ops.image.transforms import adjust_brightness as adjust_brightness
from weft.ops.image.transforms import adjust_contrast as adjust_contrast
from weft.ops.image.transforms import central_crop as central_crop
from weft.ops.image.transforms import convert_image_dtype as convert_image_dtype
from weft.ops.image.transforms import crop_to_bounding_box as crop_to_bounding_box
from weft.ops.image.transforms import flip_left_right as flip_left_right
from weft.ops.image.transforms import flip_up_down as flip_up_down
from weft.ops.image.transforms import grayscale_to_rgb as grayscale_to_rgb
from weft.ops.image.transforms import rgb_to_grayscale as rgb_to_grayscale
from weft.ops.image.transforms import rot90 as rot90
from weft.ops.image.transforms import transpose_image as transpose
from weft.ops.image.transforms import transpose_image as transpose_image
