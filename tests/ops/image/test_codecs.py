"""Image files as tensors: what comes out of each format, and what goes in."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

import weft as tf

RANDOM = np.random.RandomState(0)
RGB = RANDOM.randint(0, 256, (5, 4, 3)).astype(np.uint8)
RGBA = RANDOM.randint(0, 256, (5, 4, 4)).astype(np.uint8)
GREY = RANDOM.randint(0, 256, (5, 4)).astype(np.uint8)
GREY_ALPHA = RANDOM.randint(0, 256, (5, 4, 2)).astype(np.uint8)
SMOOTH = np.stack([np.add.outer(np.arange(32), np.arange(24)) * k for k in (1, 2, 4)], axis=-1).astype(np.uint8)


def file_of(pixels: np.ndarray, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("pixels", [RGB, RGBA, GREY[..., None], GREY_ALPHA], ids=["rgb", "rgba", "grey", "grey and alpha"])
@pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "batch"])
def test_a_png_that_was_encoded_is_decoded_to_the_same_pixels(
    run: Callable[[Any], Any], pixels: np.ndarray, batch: tuple[int, ...]
) -> None:
    encoded = tf.image.encode_png(np.broadcast_to(pixels, batch + pixels.shape))
    assert encoded.shape == batch
    for data in np.ravel(run(encoded)).tolist():
        decoded = tf.io.decode_png(data)
        assert decoded.dtype == tf.uint8
        assert decoded.shape.as_list() == [None, None, None]
        assert np.array_equal(run(decoded), pixels)


# The first pixels as TensorFlow decodes them.
@pytest.mark.parametrize(
    ("pixels", "channels", "first"),
    [
        (RGB, 0, [172, 47, 117]), (RGB, 1, [92]), (RGB, 3, [172, 47, 117]), (RGB, 4, [172, 47, 117, 255]),
        (RGBA, 1, [220]), (RGBA, 3, [163, 254, 203]), (RGBA, 4, [163, 254, 203, 114]),
        (GREY, 0, [93]), (GREY, 3, [93, 93, 93]), (GREY, 4, [93, 93, 93, 255]),
        (GREY_ALPHA, 1, [98]), (GREY_ALPHA, 3, [98, 98, 98]), (GREY_ALPHA, 4, [98, 98, 98, 62]),
    ],
)  # fmt: skip
def test_channels_are_made_and_dropped_as_asked(
    run: Callable[[Any], Any], pixels: np.ndarray, channels: int, first: list[int]
) -> None:
    decoded = tf.image.decode_png(file_of(pixels), channels=channels)
    assert decoded.shape.as_list() == [None, None, channels or None]
    assert run(decoded)[0, 0].tolist() == first
    wide = run(tf.image.decode_png(file_of(pixels), channels=channels, dtype=tf.uint16))
    assert wide.dtype == np.uint16
    if channels != 1:
        assert wide[0, 0].tolist() == [value * 257 for value in first]


def test_sixteen_bits_of_grey_are_kept_or_halved(run: Callable[[Any], Any]) -> None:
    deep = GREY.astype(np.uint16) * 257
    data = run(tf.image.encode_png(deep[..., None]))
    assert np.array_equal(run(tf.image.decode_png(data, dtype=tf.uint16))[..., 0], deep)
    assert np.array_equal(run(tf.image.decode_png(data))[..., 0], GREY)


def test_a_palette_is_applied(run: Callable[[Any], Any]) -> None:
    buffer = io.BytesIO()
    palette = Image.fromarray(RGB).quantize(8)
    palette.save(buffer, "PNG")
    assert np.array_equal(run(tf.image.decode_png(buffer.getvalue())), np.asarray(palette.convert("RGB")))


@pytest.mark.parametrize("pixels", [SMOOTH, SMOOTH[..., :1]], ids=["rgb", "grey"])
def test_a_jpeg_keeps_about_the_same_pixels(run: Callable[[Any], Any], pixels: np.ndarray) -> None:
    data = run(tf.io.encode_jpeg(pixels, quality=100, chroma_downsampling=False))
    assert data.startswith(b"\xff\xd8\xff")
    decoded = run(tf.image.decode_jpeg(data))
    assert decoded.shape == pixels.shape
    assert np.abs(decoded.astype(int) - pixels).max() <= 6  # TensorFlow's fast transform
    assert run(tf.image.extract_jpeg_shape(data)).tolist() == list(pixels.shape)
    assert run(tf.image.decode_jpeg(data, channels=1)).shape == (32, 24, 1)
    assert run(tf.image.decode_jpeg(data, ratio=8)).shape == (4, 3, pixels.shape[2])


def test_each_decoder_takes_the_other_formats_of_single_images(run: Callable[[Any], Any]) -> None:
    jpeg = file_of(SMOOTH, "JPEG")
    assert np.array_equal(run(tf.image.decode_png(jpeg)), run(tf.image.decode_jpeg(jpeg)))
    assert np.array_equal(run(tf.image.decode_jpeg(file_of(RGBA))), RGBA)
    assert np.array_equal(run(tf.image.decode_bmp(file_of(RGB, "BMP"))), RGB)


def test_decode_image_takes_all_formats_and_gives_a_gif_its_frames(run: Callable[[Any], Any]) -> None:
    frames = [Image.fromarray(GREY), Image.fromarray(255 - GREY)]
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    gif = buffer.getvalue()
    wanted = np.repeat(np.stack([GREY, 255 - GREY])[..., None], 3, axis=-1)
    decoded = tf.image.decode_image(gif)
    assert decoded.shape.ndims is None
    assert np.array_equal(run(decoded), wanted)
    assert np.array_equal(run(tf.image.decode_gif(gif)), wanted)
    assert np.array_equal(run(tf.image.decode_image(gif, expand_animations=False)), wanted[0])
    assert np.array_equal(run(tf.image.decode_image(file_of(RGB))), RGB)
    assert run(tf.image.decode_image(file_of(RGB), dtype=tf.float32)) == pytest.approx(RGB / 255.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 frames"):
        run(tf.image.decode_png(gif))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.image.decode_png(b"junk"), "got unknown format starting with 'junk'"),
        (lambda: tf.image.decode_png(file_of(RGB)[:60]), "Invalid PNG data, size 60"),
        (lambda: tf.image.decode_png(file_of(RGB), channels=2), "channels must be 0, 1, 3, or 4, got 2"),
        (lambda: tf.image.decode_jpeg(file_of(SMOOTH, "JPEG"), channels=2), "channels must be 0, 1, 3, or 4, got 2"),
        (
            lambda: tf.image.decode_and_crop_jpeg(file_of(SMOOTH, "JPEG"), [0, 0, 1, 1], channels=7),
            "channels must be 0, 1, 3, or 4, got 7",
        ),
        (lambda: tf.image.decode_jpeg(file_of(SMOOTH, "JPEG"), channels=4), "channels must be 0, 1, or 3 for JPEG, got 4"),
        (lambda: tf.image.encode_jpeg(RGBA), r"image must have 1 or 3 channels, got \[5,4,4\]"),
        (lambda: tf.image.encode_png(np.zeros((2, 2, 5), np.uint8)), "image must have 1, 2, 3, or 4 channels, got 5"),
        (lambda: tf.image.encode_jpeg(RGB, quality=101), r"quality must be in \[0,100\], got 101"),
    ],
)
def test_what_cannot_be_decoded_or_encoded_is_told(run: Callable[[Any], Any], build: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())


def test_ranks_are_checked_when_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.image.decode_png([b"a", b"b"])
    with pytest.raises(ValueError, match="Shape must be rank 3 but is rank 2"):
        tf.image.encode_jpeg(GREY)
    with pytest.raises(ValueError, match="Shape must be at least rank 3 but is rank 2"):
        tf.image.encode_png(GREY)


def test_a_task_without_pillow_says_how_to_get_it(run: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_module(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", no_module)
    with pytest.raises(tf.errors.UnimplementedError, match=r"needs Pillow.*pip install 'weft\[images\]'"):
        run(tf.image.decode_png(file_of(RGB)))
