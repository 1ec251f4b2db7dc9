"""tf.contrib.testing: a writer that keeps what it is given, and checks of event files."""

from __future__ import annotations

import unittest

import pytest

import weft as tf


def _summary(**values):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])


@pytest.fixture
def installed():
    tf.contrib.testing.FakeSummaryWriter.install()
    yield tf.contrib.testing.FakeSummaryWriter
    tf.contrib.testing.FakeSummaryWriter.uninstall()


def test_a_hook_writes_to_the_fake_writer(installed, tmp_path):
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("loss", 2.0)
    train = tf.assign_add(step, 1)
    hook = tf.train.SummarySaverHook(save_steps=2, output_dir=str(tmp_path), summary_op=tf.summary.merge_all())
    with tf.train.SingularMonitoredSession([hook]) as session:
        for _ in range(3):
            session.run(train)
    writer = tf.summary.FileWriterCache.get(str(tmp_path))
    assert isinstance(writer, installed)
    assert [value.simple_value for of_step in writer.summaries.values() for each in of_step for value in each.value][:1] == [
        2.0
    ]
    assert not list(tmp_path.iterdir())


def test_what_was_written_is_compared(tmp_path):
    graph = tf.Graph()
    writer = tf.contrib.testing.FakeSummaryWriter("logs", graph)
    writer.add_summary(_summary(loss=2.0).SerializeToString(), 3)
    writer.add_summary(_summary(rate=0.5), 3)
    writer.add_graph(graph)
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 1)
    writer.add_run_metadata(tf.RunMetadata(), "step", 1)
    writer.flush()
    writer.reopen()
    writer.close()
    case = unittest.TestCase()
    writer.assert_summaries(case, "logs", graph, {3: {"loss": 2.0, "rate": 0.5}}, [graph])
    with pytest.raises(AssertionError, match="The summaries differ"):
        writer.assert_summaries(case, expected_summaries={3: {"loss": 1.0}})
    with pytest.raises(ValueError, match="either graph or graph_def"):
        writer.add_graph(graph, graph_def=graph.as_graph_def())
    assert "logs" in repr(writer)


def test_the_cache_is_changed_once(installed):
    with pytest.raises(ValueError, match="already installed"):
        installed.install()


def test_the_cache_is_changed_back_once():
    with pytest.raises(ValueError, match="not installed"):
        tf.contrib.testing.FakeSummaryWriter.uninstall()


def test_events_are_read_back(tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(_summary(a=1.0, b=2.0), 1)
        writer.add_summary(_summary(a=3.0), 2)
    testing = tf.contrib.testing
    summaries = testing.latest_summaries(str(tmp_path))
    assert [event.step for event in summaries] == [1, 2]
    assert testing.simple_values_from_events(summaries, ["a", "c"]) == {"a": 3.0}
    assert testing.latest_event_file(str(tmp_path / "none")) is None
    assert testing.latest_events(str(tmp_path / "none")) == []


def test_a_summary_is_checked():
    testing = tf.contrib.testing
    summary = testing.to_summary_proto(_summary(a=1.0).SerializeToString())
    testing.assert_summary(["a"], {"a": 1.0}, summary)
    with pytest.raises(ValueError, match="Expected tags"):
        testing.assert_summary(["b"], {}, summary)
    with pytest.raises(ValueError, match=r"got 1\.0"):
        testing.assert_summary(["a"], {"a": 2.0}, summary)
