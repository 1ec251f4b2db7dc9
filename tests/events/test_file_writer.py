"""FileWriter: event files that TensorBoard reads."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader, RawEventFileLoader
from tensorboard.compat.proto import event_pb2, meta_graph_pb2

import weft as tf
from weft.events import event_file
from weft.platform.files.gfile import GFile


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.summary.FileWriterCache.clear()


def files(directory: Path) -> list[Path]:
    return sorted(directory.glob("events.out.tfevents.*"))


def raw_events(path: Path) -> list[Any]:
    return [event_pb2.Event.FromString(data) for data in RawEventFileLoader(str(path)).Load()]


def summary(tag: str, value: float) -> Any:
    return tf.summary.Summary(value=[tf.summary.Summary.Value(tag=tag, simple_value=value)])


def test_a_file_begins_with_its_version(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path / "new" / "directory"), filename_suffix=".end") as writer:
        writer.add_summary(summary("a", 1.5), 7)
    (path,) = files(tmp_path / "new" / "directory")
    assert path.name.endswith(".end")
    event, _ = raw_events(path)
    assert event.file_version == "brain.Event:2"


def test_a_writer_without_events_leaves_no_file(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path / "logs"))
    assert (tmp_path / "logs").is_dir()
    writer.flush()
    writer.close()
    writer.reopen()
    assert not files(tmp_path / "logs")
    writer.add_summary(summary("a", 1.5), 7)
    assert len(files(tmp_path / "logs")) == 1
    writer.close()


def test_all_kinds_of_events_are_written_in_order(tmp_path: Path) -> None:
    tf.constant(1, name="one")
    with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()) as writer:
        writer.add_summary(summary("a", 1.5), 7)
        writer.add_summary(summary("a", 2.5).SerializeToString(), global_step=8)
        writer.add_session_log(tf.summary.SessionLog(status=tf.summary.SessionLog.START), 9)
        writer.add_run_metadata(tf.RunMetadata(), "run", 10)
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(tf.RunMetadata(), "run")
        assert writer.get_logdir() == str(tmp_path)
    (path,) = files(tmp_path)
    events = raw_events(path)
    kinds = [event.WhichOneof("what") for event in events]
    assert kinds == ["file_version", "graph_def", "meta_graph_def", "summary", "summary", "session_log", "tagged_run_metadata"]
    assert tf.GraphDef.FromString(events[1].graph_def).node[0].name == "one"
    assert meta_graph_pb2.MetaGraphDef.FromString(events[2].meta_graph_def).graph_def.node[0].name == "one"
    assert [(event.step, event.summary.value[0].simple_value) for event in events[3:5]] == [(7, 1.5), (8, 2.5)]
    assert all(event.wall_time > 0 for event in events)


def test_tensorboard_loads_what_is_flushed_while_the_file_grows(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary("first", 1))
    writer.flush()
    loader = EventFileLoader(str(files(tmp_path)[0]))
    assert len(list(loader.Load())) == 2
    for step in range(3):
        writer.add_summary(summary("a", step), step)
    assert list(loader.Load()) == []
    writer.flush()
    assert [event.step for event in loader.Load()] == [0, 1, 2]
    writer.close()


def test_a_full_buffer_is_written(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=2)
    count = io.DEFAULT_BUFFER_SIZE // 16  # an event has more than 32 bytes
    for step in range(count):
        writer.add_summary(summary("a", step), step)
    assert len(raw_events(files(tmp_path)[0])) > 1
    writer.close()


def test_a_forgotten_writer_loses_nothing(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary("a", 1))
    del writer
    gc.collect()
    assert len(raw_events(files(tmp_path)[0])) == 2


def test_a_closed_writer_drops_events_until_it_is_reopened(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(summary("before", 1))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(summary("a", 1))
    writer.reopen()
    writer.add_summary(summary("b", 1))
    writer.close()
    tags = [[v.tag for e in raw_events(path) for v in e.summary.value] for path in files(tmp_path)]
    assert sorted(tags) == [["b"], ["before"]]


def test_metadata_are_written_once_for_each_tag(tmp_path: Path) -> None:
    with tf.Session() as session:
        text = session.run(tf.summary.text("t", tf.constant(["x"])))
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(text, 1)
        writer.add_summary(text, 2)
    values = [event.summary.value[0] for event in raw_events(files(tmp_path)[0])[1:]]
    assert [value.HasField("metadata") for value in values] == [True, False]


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        with pytest.raises(TypeError, match="must be an instance of `Graph`"):
            writer.add_graph("graph")
        with pytest.raises(ValueError, match="graph must be passed"):
            writer.add_graph()
        with pytest.raises(TypeError, match="must be type MetaGraphDef"):
            writer.add_meta_graph(tf.GraphDef())


def test_a_directory_has_one_cached_writer(tmp_path: Path) -> None:
    writer = tf.summary.FileWriterCache.get(str(tmp_path))
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is writer
    tf.summary.FileWriterCache.clear()
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is not writer


def test_the_meta_graph_of_a_written_graph_tells_who_wrote_it_and_its_ops(tmp_path: Path) -> None:
    tf.constant(1.0) + 2.0
    tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()).close()
    (event,) = [event for event in raw_events(files(tmp_path)[0]) if event.HasField("meta_graph_def")]
    info = meta_graph_pb2.MetaGraphDef.FromString(event.meta_graph_def).meta_info_def
    assert info.tensorflow_version == "1.15.0"
    assert {op.name for op in info.stripped_op_list.op} == {node.op for node in tf.get_default_graph().as_graph_def().node}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="takes Linux's device that is full")
def test_a_disk_that_is_full_stops_no_training_and_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_file.gfile, "GFile", lambda path, mode: GFile("/dev/full", mode))
    with caplog.at_level("WARNING", "weft"):
        writer = tf.summary.FileWriter(str(tmp_path))
        writer.add_summary(summary("a", 1.5), 7)
        writer.flush()
        writer.close()
    assert caplog.text.count("/dev/full; No space left on device") == 1
    assert "Events are lost from now on" in caplog.text
