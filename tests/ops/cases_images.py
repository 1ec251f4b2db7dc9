"""Images resized, coloured and cut. What has no reference here is compared with TensorFlow in the differential
programs, and so are the gradients of what computes in float32 whatever comes in, which finite differences cannot see."""

from __future__ import annotations

import colorsys

import numpy as np

from weft.framework.types import dtypes
from weft.testing.op_checks import Case

_RANDOM = np.random.RandomState(0)
_IMAGES = _RANDOM.rand(2, 5, 4, 3).astype(np.float32)
# Levels that are far apart: a finite difference must not change which channel is the greatest.
_COLOURS = (_RANDOM.permutation(30).reshape(2, 5, 3) / 30 + 0.02).astype(np.float32)
_BOXES = np.array([[0.1, 0.2, 0.83, 0.91], [0.72, 0.9, 0.13, 0.21]], np.float32)
_LARGER, _SMALLER = np.array([7, 9], np.int32), np.array([3, 2], np.int32)
_SCORES = np.array([0.9, 0.75, 0.6, 0.95], np.float32)
_OVERLAPPING = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 5, 1, 6], [0, 5.1, 1, 6.1]], np.float32)
_OVERLAPS = np.array([[1, 0.8, 0, 0], [0.8, 1, 0, 0], [0, 0, 1, 0.8], [0, 0, 0.8, 1]], np.float32)


def _nearest(images, size):
    rows = np.arange(size[0]) * images.shape[1] // size[0]
    columns = np.arange(size[1]) * images.shape[2] // size[1]
    return images[:, rows][:, :, columns]


def _each_colour(convert):
    return lambda pixels: np.array([convert(*pixel) for pixel in pixels.reshape(-1, 3)]).reshape(pixels.shape)


def _turned(pixels, delta):
    return _each_colour(lambda *rgb: colorsys.hsv_to_rgb(*_with_hue(*colorsys.rgb_to_hsv(*rgb), float(delta))))(pixels)


def _with_hue(hue, saturation, value, delta):
    return (hue + delta) % 1.0, saturation, value


def _saturated(pixels, scale):
    def convert(*rgb):
        hue, saturation, value = colorsys.rgb_to_hsv(*rgb)
        return colorsys.hsv_to_rgb(hue, min(saturation * float(scale), 1.0), value)

    return _each_colour(convert)(pixels)


def _overlap_choice(*_):
    return np.array([3, 0], np.int32)


CASES = [
    Case("ResizeBilinear", [_IMAGES, _LARGER], sweep=False, gradient=False),
    Case("ResizeBilinear", [_IMAGES, _SMALLER], {"half_pixel_centers": True}, sweep=False, gradient=False, variant="centers"),
    Case("ResizeBicubic", [_IMAGES, _LARGER], {"align_corners": True}, sweep=False, gradient=False),
    Case("ResizeBicubic", [_IMAGES, _SMALLER], {"half_pixel_centers": True}, sweep=False, gradient=False, variant="centers"),
    Case("ResizeBilinearGrad", [_IMAGES[:, :3, :2] / 9, _IMAGES], sweep=False, gradient=False),
    Case("ResizeBicubicGrad", [_IMAGES[:, :3, :2] / 9, _IMAGES], sweep=False, gradient=False),
    Case("ResizeArea", [_IMAGES[:, :4], np.array([2, 2], np.int32)], sweep=False,
         expected=lambda images, size: images.reshape(2, 2, 2, 2, 2, 3).mean((2, 4))),
    Case("ResizeNearestNeighbor", [_IMAGES, _LARGER], expected=_nearest, sweep=False),
    Case("ImageProjectiveTransformV2", [_IMAGES, np.array([[1, 0, 1, 0, 1, 0, 0, 0]], np.float32), np.array([2, 2], np.int32)],
         {"interpolation": "NEAREST"}, expected=lambda x, maps, size: x[:, :2, 1:3], sweep=False),
    Case("ImageProjectiveTransformV3", [_IMAGES, np.array([[1, 0, -1, 0, 1, 0, 0, 0]], np.float32), np.array([2, 2], np.int32),
                                        np.float32(7)], {"interpolation": "BILINEAR"}, sweep=False, gradient=False,
         expected=lambda x, maps, size, fill: np.concatenate([np.full_like(x[:, :2, :1], 7), x[:, :2, :1]], 2)),
    Case("ImageProjectiveTransformV3", [_IMAGES, np.array([[1, 0, -2, 0, 1, 0, 0, 0]], np.float32), np.array([2, 3], np.int32),
                                        np.float32(7)], {"interpolation": "NEAREST", "fill_mode": "REFLECT"}, sweep=False,
         expected=lambda x, maps, size, fill: x[:, :2, [1, 0, 0]], gradient=False, variant="reflected"),
    Case("RGBToHSV", [_COLOURS], expected=_each_colour(colorsys.rgb_to_hsv), sweep=False),
    Case("HSVToRGB", [_COLOURS], expected=_each_colour(colorsys.hsv_to_rgb), sweep=False),
    Case("AdjustHue", [_COLOURS, np.float32(0.21)], expected=_turned, sweep=False, constant_inputs=(1,)),
    Case("AdjustSaturation", [_COLOURS, np.float32(0.6)], expected=_saturated, sweep=False),
    Case("CropAndResize", [_IMAGES, _BOXES, np.array([1, 0], np.int32), _SMALLER], sweep=False, gradient=False),
    Case("CropAndResize", [_IMAGES, _BOXES, np.array([1, 0], np.int32), _LARGER], {"method": "nearest"}, sweep=False,
         gradient=False,
         variant="nearest"),
    Case("NonMaxSuppressionV3", [_OVERLAPPING, _SCORES, np.int32(3), np.float32(0.5), np.float32(0)], expected=_overlap_choice,
         sweep=False, known_shape=False),
    Case("NonMaxSuppressionV4", [_OVERLAPPING, _SCORES, np.int32(3), np.float32(0.5), np.float32(0)],
         {"pad_to_max_output_size": True}, sweep=False, known_shape=False,
         expected=lambda *_: (np.array([3, 0, 0], np.int32), np.array(2, np.int32))),
    Case("NonMaxSuppressionV5", [_OVERLAPPING, _SCORES, np.int32(3), np.float32(0.5), np.float32(0), np.float32(0)],
         sweep=False, known_shape=False,
         expected=lambda *_: (np.array([3, 0], np.int32), np.array([0.95, 0.9], np.float32), np.array(2, np.int32))),
    Case("CombinedNonMaxSuppression",
         [_OVERLAPPING[None, :, None], np.float32(_SCORES)[None, :, None], np.int32(3), np.int32(2), np.float32(0.5),
          np.float32(0)], {"clip_boxes": False}, sweep=False,
         expected=lambda boxes, *_: (boxes[:, [3, 0], 0], np.array([[0.95, 0.9]], np.float32), np.zeros((1, 2), np.float32),
                                     np.array([2], np.int32))),
    Case("NonMaxSuppressionWithOverlaps", [_OVERLAPS, _SCORES, np.int32(3), np.float32(0.5), np.float32(0)],
         expected=_overlap_choice, sweep=False, known_shape=False),
    Case("DrawBoundingBoxes", [np.zeros((1, 3, 3, 1), np.float32), np.array([[[0, 0, 1, 1]]], np.float32)], sweep=False,
         expected=lambda *_: np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.float32)[None, :, :, None]),
    Case("AdjustContrastv2", [_IMAGES, np.float32(0.5)], sweep=False,
         expected=lambda x, f: (x - x.mean((1, 2), keepdims=True)) * f + x.mean((1, 2), keepdims=True)),
    Case("ResizeNearestNeighborGrad", [np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1), np.array([2, 2], np.int32)],
         sweep=False, expected=lambda *_: np.array([[10, 18], [42, 50]], np.float32)[None, :, :, None]),
    Case("CropAndResizeGradImage", [np.ones((2, 3, 2, 3), np.float32), _BOXES, np.array([1, 0], np.int32),
         np.array([2, 5, 4, 3], np.int32)], {"T": dtypes.float32}, sweep=False),
    Case("CropAndResizeGradBoxes", [np.ones((2, 3, 2, 3), np.float32), _IMAGES, _BOXES, np.array([1, 0], np.int32)],
         sweep=False),
    Case("DrawBoundingBoxesV2", [np.zeros((1, 3, 3, 1), np.float32), np.array([[[0, 0, 1, 1]]], np.float32),
         np.full((1, 1), 2, np.float32)], sweep=False,
         expected=lambda *_: np.array([[2, 2, 2], [2, 0, 2], [2, 2, 2]], np.float32).reshape(1, 3, 3, 1)),
]  # fmt: skip

WITHOUT_CASE = {
    "StatelessSampleDistortedBoundingBox": "draws by a stream; test_boxes has TensorFlow's numbers",
    "DecodeAndCropJpeg": "its input is a file; tests/differential/programs/images.txt",
    "AdjustJpegQuality": "what a JPEG file loses has no reference; tests/differential/programs/images.txt",
}

OWN_OPS = {"AdjustJpegQuality": "TensorFlow encodes and decodes; here one op does both"}
