"""tf.compat.v2.summary in graphs: what is written, where, and when."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft.compat.v2 as tf2

import weft as tf

summary = tf2.summary


def _written(folder: Path, build: Callable[[], list[Any]]) -> tuple[list[bool], dict[str, Any]]:
    """What running the nodes of a function returned, and the values that they wrote, by tag, with their steps."""
    writer = summary.create_file_writer(str(folder))
    with writer.as_default():
        nodes = build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(writer.init())
        returned = [bool(each) for each in session.run(nodes)]
        session.run(writer.close())
    found = {}
    for file in folder.glob("*tfevents*"):
        for event in tf.train.summary_iterator(str(file)):
            found.update({value.tag: (event.step, value) for value in event.summary.value})
    return returned, found


def _array(found: dict[str, Any], tag: str) -> Any:
    return tf.make_ndarray(found[tag][1].tensor)


def test_numbers_are_recorded_under_the_tag_of_their_scope(tmp_path: Path) -> None:
    step = tf.Variable(5, dtype=tf.int64)

    def build() -> list[Any]:
        plain = summary.scalar("plain", 2, step=step, description="what it is")
        with tf.name_scope("outer"):
            return [plain, summary.scalar("inner/a", tf.constant(1.5), step=3)]

    returned, found = _written(tmp_path, build)
    assert returned == [True, True]
    assert {tag: step for tag, (step, _) in found.items()} == {"plain": 5, "outer/inner/a": 3}
    assert _array(found, "outer/inner/a") == np.float32(1.5)
    metadata = found["plain"][1].metadata
    assert (metadata.plugin_data.plugin_name, metadata.summary_description) == ("scalars", "what it is")


def test_a_condition_says_whether_they_are_recorded(tmp_path: Path) -> None:
    step = tf.Variable(5, dtype=tf.int64)

    def build() -> list[Any]:
        nodes = []
        for name, condition in (
            ("never", False), ("asked", lambda: tf.equal(step, 5)), ("not", tf.equal(step, 6)), ("always", True)
        ):  # fmt: skip
            with summary.record_if(condition):
                nodes.append(summary.scalar(name, 1.0, step=step))
        return nodes

    returned, found = _written(tmp_path, build)
    assert returned == [False, True, False, True]
    assert sorted(found) == ["always", "asked"]


def test_histograms_count(tmp_path: Path) -> None:
    def build() -> list[Any]:
        return [
            summary.histogram("spread", np.arange(10.0), step=1, buckets=5),
            summary.histogram("alike", np.ones(4), step=1),
            summary.histogram("empty", np.ones(0), step=1),
        ]

    _, found = _written(tmp_path, build)
    np.testing.assert_allclose(_array(found, "spread"), [[1.8 * each, 1.8 * (each + 1), 2] for each in range(5)], atol=1e-12)
    np.testing.assert_array_equal(_array(found, "alike"), [[0.5, 1.5, 4]])
    assert _array(found, "empty").shape == (0, 3)


def test_images_sounds_and_texts_are_files_and_texts(tmp_path: Path) -> None:
    def build() -> list[Any]:
        pixels = np.linspace(0, 1, 2 * 3 * 4 * 3, dtype=np.float32).reshape(2, 3, 4, 3)
        return [
            summary.image("image", pixels, step=1, max_outputs=1),
            summary.audio("audio", np.zeros((2, 10, 1), np.float32), 8000, step=1),
            summary.text("text", ["a", "b"], step=1),
        ]

    _, found = _written(tmp_path, build)
    width, height, file = _array(found, "image")
    assert (width, height, file[:4]) == (b"4", b"3", b"\x89PNG")
    sounds = _array(found, "audio")
    assert [[each[:4], label] for each, label in sounds] == [[b"RIFF", b""]] * 2
    assert list(_array(found, "text")) == [b"a", b"b"]
    names = {tag: value.metadata.plugin_data.plugin_name for tag, (_, value) in found.items()}
    assert names == {"image": "images", "audio": "audio", "text": "text"}


def test_a_default_step_and_tensors_of_any_kind(tmp_path: Path) -> None:
    raw = tf.Summary(value=[tf.Summary.Value(tag="raw", simple_value=3.0)]).SerializeToString()

    def build() -> list[Any]:
        with pytest.raises(ValueError, match="No step set via 'step' argument"):
            summary.scalar("none", 1.0)
        summary.experimental.set_step(7)
        try:
            assert summary.experimental.get_step() == 7
            return [summary.write("any", lambda: tf.constant([1, 2])), summary.experimental.write_raw_pb(raw)]
        finally:
            summary.experimental.set_step(None)

    _, found = _written(tmp_path, build)
    assert {tag: step for tag, (step, _) in found.items()} == {"any": 7, "raw": 7}
    assert list(_array(found, "any")) == [1, 2]
    assert found["raw"][1].simple_value == 3


def test_without_a_writer_nothing_is_recorded() -> None:
    with tf.Session() as session:
        assert not session.run(summary.scalar("none", 1.0))
        session.run(summary.flush())
    with summary.create_noop_writer().as_default():
        assert summary.scalar("none", 1.0).op.type == "Const"
    with pytest.raises(ValueError, match="logdir cannot be None"):
        summary.create_file_writer(None)


def test_wrong_shapes_and_encodings_are_refused() -> None:
    with pytest.raises(ValueError, match="Expected scalar shape"):
        summary.scalar("vector", [1.0, 2.0], step=1)
    with pytest.raises(ValueError, match="Unknown encoding: 'mp3'"):
        summary.audio("audio", np.zeros((1, 10, 1), np.float32), 8000, step=1, encoding="mp3")


def test_a_trace_of_eager_mode_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    summary.trace_on()
    summary.trace_export("name")
    summary.trace_off()
    assert [record.message.split(".")[0] for record in caplog.records] == [
        "Cannot enable trace in graph mode", "Cannot export trace in graph mode"
    ]  # fmt: skip
