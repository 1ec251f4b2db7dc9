"""Decoding of any file, and boxes in TensorFlow's colours, are written in the ops of TensorFlow 1.15."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.tensorflow_forms.written import assert_the_same_in_first_ops

_PIXELS = np.random.RandomState(0).randint(0, 255, [5, 6, 3]).astype(np.uint8)


def _file(kind: str) -> bytes:
    image = pytest.importorskip("PIL.Image").fromarray(_PIXELS)
    others = {"save_all": True, "append_images": [image.rotate(180)]} if kind == "frames" else {}
    with io.BytesIO() as file:
        image.save(file, "GIF" if kind == "frames" else kind, **others)
        return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "GIF", "frames"])
@pytest.mark.parametrize(
    "options",
    [{}, {"channels": 3}, {"dtype": tf.float32}, {"expand_animations": False}],
    ids=lambda options: "_".join(options) or "plain",
)
def test_a_file_is_decoded(kind: str, options: dict[str, Any]) -> None:
    contents = tf.placeholder(tf.string, [], name="contents")
    assert_the_same_in_first_ops(tf.image.decode_image(contents, **options), {"contents:0": _file(kind)})


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP"])
def test_wide_pixels_are_decoded(kind: str) -> None:
    assert_the_same_in_first_ops(tf.image.decode_image(_file(kind), dtype=tf.uint16))


def test_boxes_are_drawn() -> None:
    images = tf.placeholder_with_default(np.zeros([1, 6, 6, 3], np.float32), [1, 6, 6, 3])
    assert_the_same_in_first_ops(tf.image.draw_bounding_boxes(images, [[[0.1, 0.2, 0.7, 0.8], [0, 0, 1, 1]]]))


def test_boxes_of_colours_are_written_as_they_are() -> None:
    tf.image.draw_bounding_boxes(tf.zeros([1, 6, 6, 3]), [[[0.1, 0.2, 0.7, 0.8]]], colors=[[1.0, 0, 0]])
    assert "DrawBoundingBoxesV2" in {node.op for node in tf.get_default_graph().as_graph_def().node}
