"""Writers of tf.contrib.summary: one event file each, whichever operation is first."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import weft as tf
from weft.events.file_writer import FileWriter
from weft.training.contributed import summary_writers


def test_summaries_of_two_steps_at_once_begin_one_event_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(2)

    class SlowWriter(FileWriter):
        def __init__(self, *args: object, **options: object) -> None:
            with contextlib.suppress(threading.BrokenBarrierError):
                together.wait(0.2)
            super().__init__(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(summary_writers, "FileWriter", SlowWriter)
    writer = tf.contrib.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        recorded = [tf.contrib.summary.scalar(name, 1.0, step=1) for name in "ab"]
    with tf.Session() as session, ThreadPoolExecutor(2) as threads:
        assert list(threads.map(session.run, recorded)) == [True, True]
        session.run(writer.close())
    (path,) = tmp_path.iterdir()
    assert sorted(value.tag for event in tf.train.summary_iterator(str(path)) for value in event.summary.value) == ["a", "b"]


def test_a_tensor_is_recorded_with_the_metadata_of_its_plugin(tmp_path: Path) -> None:
    metadata = tf.SummaryMetadata(plugin_data=tf.SummaryMetadata.PluginData(plugin_name="own"))
    writer = tf.contrib.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.contrib.summary.always_record_summaries():
        told = tf.contrib.summary.generic("told", [[1, 2]], metadata, step=3)
        bare = tf.contrib.summary.generic("bare", "text", step=4)
    assert tf.summary.all_v2_summary_ops() == [told, bare]
    with tf.Session() as session:
        assert session.run([told, bare]) == [True, True]
        session.run(writer.close())
    (path,) = tmp_path.iterdir()
    values = {each.step: each.summary.value[0] for each in tf.train.summary_iterator(str(path)) if each.summary.value}
    assert (values[3].tag, values[3].metadata.plugin_data.plugin_name) == ("told", "own")
    assert tf.make_ndarray(values[3].tensor).tolist() == [[1, 2]]
    assert tf.make_ndarray(values[4].tensor) == b"text"


def test_the_file_is_known_for_one_of_these_by_its_name(tmp_path: Path) -> None:
    writers = [tf.contrib.summary.create_file_writer(str(tmp_path), filename_suffix=suffix) for suffix in (None, ".own")]
    with tf.Session() as session:
        session.run([writer.init() for writer in writers])
        session.run([writer.close() for writer in writers])
    assert {path.suffix for path in tmp_path.iterdir()} == {".v2", ".own"}
