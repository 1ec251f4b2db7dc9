"""EventsWriter: event files by TensorFlow's lower class."""

from __future__ import annotations

import os
from pathlib import Path

import weft as tf
from weft.events.events_writer import EventsWriter


def test_events_are_written_under_the_prefix(tmp_path: Path) -> None:
    writer = EventsWriter(tf.compat.as_bytes(str(tmp_path / "run")))
    writer.InitWithSuffix("-end")
    writer.WriteEvent(tf.Event(step=3, wall_time=1.0))
    assert writer.Flush()
    path = os.fsdecode(writer.FileName())
    assert Path(path).name.startswith("run.out.tfevents.")
    assert path.endswith("-end")
    assert writer.Close()
    assert [event.step for event in tf.train.summary_iterator(path)] == [0, 3]
