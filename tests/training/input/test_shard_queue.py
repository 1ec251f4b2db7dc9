"""Shards of an input are each done once, whoever comes and goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import weft as tf
from weft.platform.waits import wait_notice

SHARDS = [f"part-{index}" for index in range(4)]


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as fresh:
        yield fresh


@pytest.fixture
def server() -> Iterator[tf.train.Server]:
    with tf.train.Server({"ps": ["localhost:0"]}) as made:
        yield made


def left_of(session: tf.Session, shard: tf.Tensor) -> list[str]:
    """Take until all are done."""
    taken = []
    while True:
        try:
            taken.append(session.run(shard).decode())
        except tf.errors.OutOfRangeError:
            return taken


def test_each_session_gets_other_shards_in_each_epoch(server: tf.train.Server) -> None:
    shard = tf.train.ShardQueue(SHARDS, num_epochs=2, seed=3).take()
    with tf.Session(server.target) as one, tf.Session(server.target) as other:
        first = [each.run(shard).decode() for each in (one, other, one, other)]
        second = [each.run(shard).decode() for each in (other, other, other, one)]
        assert sorted(first) == sorted(second) == SHARDS
        assert first != second
        waiting: list[list[str]] = []
        thread = threading.Thread(target=lambda: waiting.append(left_of(one, shard)))
        thread.start()
        # It waits for the shard that the other one holds, until that is done with it.
        assert left_of(other, shard) == []
        thread.join(30)
        assert waiting == [[]]


def test_who_waits_for_the_shards_of_others_is_told(
    server: tf.train.Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.01)
    shard = tf.train.ShardQueue(["only"], name="days").take(name="next")
    with tf.Session(server.target) as one, tf.Session(server.target) as other:
        one.run(shard)
        with pytest.raises(tf.errors.DeadlineExceededError):
            other.run(shard, options=tf.RunOptions(timeout_in_ms=900))
    told = [record.getMessage() for record in caplog.records if record.name == "weft.queues"]
    assert "ShardQueueTake 'next' (test_shard_queue.py:" in told[0]
    assert "s for a shard: all are taken, by " in told[0]


def test_who_does_not_wait_for_others_is_done_when_none_is_left(server: tf.train.Server) -> None:
    shards = tf.train.ShardQueue(SHARDS, shuffle=False)
    shard = shards.take(wait_for_others=False)
    with tf.Session(server.target) as one, tf.Session(server.target) as other:
        assert one.run(shard) == b"part-0"
        # As a replica in step, which would hold up the one that still has a shard.
        assert left_of(other, shard) == ["part-1", "part-2", "part-3"]


def test_a_shard_of_a_session_that_has_left_is_handed_out_again(server: tf.train.Server) -> None:
    shard = tf.train.ShardQueue(SHARDS, shuffle=False).take()
    with tf.Session(server.target) as stays:
        with tf.Session(server.target) as leaves:
            assert [leaves.run(shard), leaves.run(shard)] == [b"part-0", b"part-1"]
        # It was done with the first, and not with the second.
        assert left_of(stays, shard) == ["part-1", "part-2", "part-3"]


def test_a_dataset_reads_one_shard_after_the_other(server: tf.train.Server, tmp_path) -> None:
    files = []
    for name in ("one", "two"):
        files.append(str(tmp_path / name))
        (tmp_path / name).write_text(f"{name} first\n{name} second\n")
    dataset = tf.data.TextLineDataset(tf.train.ShardQueue(files, shuffle=False).take())
    iterator = tf.data.make_initializable_iterator(dataset)
    line = iterator.get_next()
    with tf.Session(server.target) as session:
        for name in ("one", "two"):
            session.run(iterator.initializer)
            assert [session.run(line).decode() for _ in range(2)] == [f"{name} first", f"{name} second"]
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                session.run(line)
        with pytest.raises(tf.errors.OutOfRangeError, match="All shards"):
            session.run(iterator.initializer)


def test_a_waiting_take_ends_with_its_session_and_other_lists_are_refused(server: tf.train.Server) -> None:
    shard = tf.train.ShardQueue(["only"], shared_name="shared").take()
    others = tf.train.ShardQueue(["another"], shared_name="shared").take()
    with tf.Session(server.target) as holder:
        holder.run(shard)
        with pytest.raises(tf.errors.InvalidArgumentError, match="there are 1 shards in it, and this program has 1 others"):
            holder.run(others)
        with tf.Session(server.target) as waits, pytest.raises(tf.errors.DeadlineExceededError):
            waits.run(shard, options=tf.RunOptions(timeout_in_ms=300))
    with pytest.raises(ValueError, match="there are no shards"):
        tf.train.ShardQueue([])
    with pytest.raises(ValueError, match="num_epochs must be > 0, or None for ever, got 0"):
        tf.train.ShardQueue(["a"], num_epochs=0)
