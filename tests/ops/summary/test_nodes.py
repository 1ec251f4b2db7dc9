"""Summary operations: the protos they make."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def run(summary: Any) -> Any:
    with tf.Session() as session:
        return tf.summary.Summary.FromString(session.run(summary)).value


def test_a_scalars_tag_is_its_full_name() -> None:
    with tf.name_scope("train"):
        first, second = tf.summary.scalar("the loss", 2.5), tf.summary.scalar("the loss", 3.5)
    family = tf.summary.scalar("x", 1, family="group")
    (value,) = run(first)
    assert (value.tag, value.simple_value) == ("train/the_loss", 2.5)
    assert [run(each)[0].tag for each in (second, family)] == ["train/the_loss_1", "group/group/x"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="tags and values not the same shape"):
        run(tf.summary.scalar("y", [1.0, 2.0]))


def test_the_log_tells_what_a_name_with_other_characters_became(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", tf.logging.get_logger().name):
        tf.summary.scalar("head/value:0", 1.0, family="the group")
        tf.summary.scalar("head/loss", 1.0)
    assert [record.getMessage() for record in caplog.records] == [
        "Summary name head/value:0 is illegal; using head/value_0 instead.",
        "Summary name the group is illegal; using the_group instead.",
    ]


def test_a_histogram_counts_in_growing_buckets() -> None:
    (value,) = run(tf.summary.histogram("h", np.array([-1.0, 0.0, 0.0, 2.5, 100.0], np.float32)))
    histogram = value.histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (-1.0, 100.0, 5.0, 101.5)
    assert histogram.sum_squares == 10007.25
    counts = {limit: count for limit, count in zip(histogram.bucket_limit, histogram.bucket, strict=True) if count}
    # What TensorFlow makes of the same numbers.
    assert counts == {-0.917246389039776: 1, 1e-12: 2, 2.6170109961884593: 1, 107.67633591020055: 1}
    assert len(histogram.bucket) == 9


@pytest.mark.parametrize(("number", "message"), [("nan", "Nan"), ("inf", "Infinity")])
def test_a_histogram_refuses_what_is_no_number(number: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{message} in summary histogram for: h"):
        run(tf.summary.histogram("h", tf.constant(float(number))))


def test_images_are_scaled_and_numbered() -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.zeros([4, 2, 3, 1], np.float32)
    pixels[0, 0, 0], pixels[1, 0, 0], pixels[1, 0, 1], pixels[2, 0, 0] = 4.0, -1.0, 1.0, np.nan
    values = run(tf.summary.image("i", pixels, max_outputs=3))
    assert [value.tag for value in values] == ["i/image/0", "i/image/1", "i/image/2"]
    assert (values[0].image.height, values[0].image.width, values[0].image.colorspace) == (2, 3, 1)
    found = [np.asarray(image.open(io.BytesIO(value.image.encoded_image_string))) for value in values]
    assert found[0].tolist() == [[255, 0, 0], [0, 0, 0]]
    assert found[1].tolist() == [[1, 255, 128], [128, 128, 128]]
    assert found[2][0, 0] == 255
    colour = np.arange(24, dtype=np.uint8).reshape(1, 2, 3, 4)
    (value,) = run(tf.summary.image("c", tf.constant(colour), max_outputs=1))
    assert value.tag == "c/image"
    np.testing.assert_array_equal(np.asarray(image.open(io.BytesIO(value.image.encoded_image_string))), colour[0])


def test_sounds_are_wavs() -> None:
    (value,) = run(tf.summary.audio("a", np.array([[0.0, 0.5, -1.0, 2.0]], np.float32), 8000, max_outputs=1))
    assert (value.tag, value.audio.sample_rate, value.audio.num_channels, value.audio.length_frames) == ("a/audio", 8000, 1, 4)
    with wave.open(io.BytesIO(value.audio.encoded_audio_string)) as file:
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [0, 16384, -32767, 32767]


def test_text_is_a_tensor_for_its_plugin() -> None:
    (value,) = run(tf.summary.text("t", tf.constant(["a", "b"])))
    assert value.metadata.plugin_data.plugin_name == "text"
    assert tf.make_ndarray(value.tensor).tolist() == [b"a", b"b"]
    with pytest.raises(ValueError, match="to have dtype string"):
        tf.summary.text("n", tf.constant(1))


def test_summaries_are_merged_from_their_collection() -> None:
    assert tf.summary.merge_all() is None
    tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0, collections=["other"])
    with tf.name_scope("in"):
        tf.summary.scalar("c", 3.0)
    assert [value.tag for value in run(tf.summary.merge_all())] == ["a", "in/c"]
    assert [value.tag for value in run(tf.summary.merge_all("other"))] == ["b"]
    assert [value.tag for value in run(tf.summary.merge_all(scope="in/"))] == ["in/c"]


def test_a_tag_is_merged_once() -> None:
    same = tf.summary.scalar("a", 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a found in summary inputs"):
        run(tf.summary.merge([same, same]))


def test_old_names_still_work() -> None:
    tf.scalar_summary("my loss", 2.0)
    tf.histogram_summary("h", [1.0])
    assert [value.tag for value in run(tf.merge_all_summaries())] == ["my loss", "h"]


def test_a_tensor_summary_holds_the_tensor() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        data = session.run(tf.summary.tensor_summary("pair", tf.constant([1.0, 2.0])))
    (value,) = tf.Summary.FromString(data).value
    assert tf.make_ndarray(value.tensor).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("rate", "written"), [(0.2, 1), (1.6, 2), (2.5, 2), (44100.5, 44100)])
def test_a_wav_has_the_nearest_whole_rate(rate: float, written: int) -> None:
    with tf.Session() as session:
        (value,) = tf.Summary.FromString(session.run(tf.summary.audio("a", tf.ones([1, 3, 1]), rate))).value
    assert value.audio.sample_rate == pytest.approx(rate)
    assert int.from_bytes(value.audio.encoded_audio_string[24:28], "little") == written
