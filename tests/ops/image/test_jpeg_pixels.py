"""Pixels of JPEG files against those that TensorFlow made of them, kept beside this file, and files that are not whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import weft as tf
from weft.ops.image.jpeg_pixels import JpegOptions, jpeg_pixels

_KEPT: Final[dict[str, Any]] = dict(np.load(Path(__file__).with_name("jpegs_in_tensorflow.npz")))
_WAYS: Final = {
    "def": {}, "acc": {"dct_method": "INTEGER_ACCURATE"}, "nofancy": {"fancy_upscaling": False}, "r2": {"ratio": 2},
    "r8": {"ratio": 8}, "g": {"channels": 1}, "rgb": {"channels": 3},
}  # fmt: skip


def _file(name: str) -> bytes:
    found: bytes = _KEPT[name].tobytes()
    return found


@pytest.mark.parametrize("case", [each for each in _KEPT if "/" in each])
def test_pixels_are_those_of_tensorflow(case: str) -> None:
    name, way = case.split("/")
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.image.decode_jpeg(_file(name), **_WAYS[way]))
    np.testing.assert_array_equal(found, _KEPT[case])


def test_other_ops_decode_as_decode_jpeg_does() -> None:
    data, whole = _file("subsampled"), _KEPT["subsampled/def"]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run([
            tf.image.decode_image(data), tf.image.decode_png(data),
            tf.image.decode_and_crop_jpeg(data, [0, 0, *whole.shape[:2]]),
        ])  # fmt: skip
    for each in found:
        np.testing.assert_array_equal(each, whole)


@pytest.mark.parametrize("name", ["subsampled", "progressive"])
def test_a_file_that_ends_too_early_is_refused_or_decoded_as_far_as_it_goes(name: str) -> None:
    data, whole = _file(name), _KEPT[f"{name}/def"]
    for length in (len(data) - 2, len(data) * 2 // 3):
        with tf.Graph().as_default(), tf.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match="it ends too early"):
                session.run(tf.image.decode_jpeg(data[:length]))
            found = session.run(tf.image.decode_jpeg(data[:length], try_recover_truncated=True))
        assert found.shape == whole.shape
        np.testing.assert_array_equal(jpeg_pixels(data + b"more"), whole)
    kept = jpeg_pixels(_file("subsampled")[:-200], JpegOptions(recovers=True))
    np.testing.assert_array_equal(kept[:8], _KEPT["subsampled/def"][:8])


def test_damage_within_a_file_leaves_the_rest_of_it() -> None:
    data = bytearray(_file("subsampled"))
    data[-100] ^= 0xFF
    found = jpeg_pixels(bytes(data))
    np.testing.assert_array_equal(found[:8], _KEPT["subsampled/def"][:8])


def test_a_file_of_an_unknown_version_is_decoded() -> None:
    data = _file("subsampled")
    at = data.index(b"JFIF\x00") + 5
    np.testing.assert_array_equal(jpeg_pixels(data[:at] + b"\x00\x00" + data[at + 2 :]), _KEPT["subsampled/def"])


def test_what_simplejpeg_refuses_and_libjpeg_reads_is_decoded_a_few_levels_off() -> None:
    data, whole = _file("subsampled"), _KEPT["subsampled/def"].astype(int)
    at = data.index(b"\xff\xc4")
    stray = data[:at] + bytes(7) + data[at:]
    assert np.abs(jpeg_pixels(stray) - whole).max() <= 6
    assert jpeg_pixels(stray, JpegOptions(channels=1, ratio=8)).shape == (5, 7, 1)
    unusual = bytearray(data)
    unusual[data.index(b"\xff\xc0") + 11] = 0x42
    assert jpeg_pixels(bytes(unusual)).shape == whole.shape


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"ratio": 3}, "ratio must be 1, 2, 4, or 8, got 3"),
        ({"dct_method": "FLOAT"}, "dct_method must be one of"),
        ({"channels": 4}, "channels must be 0, 1, or 3 for JPEG, got 4"),
    ],
)
def test_options_that_there_are_not_are_refused(attrs: dict[str, Any], message: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.image.decode_jpeg(_file("grey"), **attrs))


def test_what_is_no_whole_header_is_refused() -> None:
    for data in (_file("grey")[:10], b"\xff\xd8\xff", _file("grey")[:2] + b"\xff" + b"\x00" * 100):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data, size"):
            jpeg_pixels(data)
    with pytest.raises(tf.errors.InvalidArgumentError, match="four inks"):
        jpeg_pixels(_file("inks"), JpegOptions(channels=1))


def test_a_header_that_tells_of_too_large_an_image_takes_no_memory() -> None:
    data = bytearray(_file("subsampled"))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = b"\x80\x00\x80\x00"
    with pytest.raises(tf.errors.InvalidArgumentError, match="32768 rows and 32768 columns is too large"):
        jpeg_pixels(bytes(data))


def test_a_file_of_scans_without_end_takes_no_time() -> None:
    data = _file("progressive")
    at = data.rindex(b"\xff\xda")
    empty = data[at : at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")]
    assert jpeg_pixels(data[:-2] + empty * 400 + data[-2:]).shape == _KEPT["progressive/def"].shape
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"it is said to be in \d+ scans, of 500 at most"):
        jpeg_pixels(data[:-2] + empty * 1000 + data[-2:])
