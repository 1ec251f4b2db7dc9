"""Streams of random nodes: places that runs take blocks from, each once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf
from weft.framework.nodes.operation import Operation
from weft.runtime.state.random_streams import Draws, RandomStream, RandomStreams


def _node(seed: int | None) -> Operation:
    with tf.Graph().as_default():
        return tf.random_uniform([2], seed=seed, name="drawn").graph.get_operation_by_name("drawn/RandomUniform")


def test_a_stream_goes_on_behind_what_was_taken() -> None:
    stream = RandomStream("a", 0)
    assert [int(stream.take(blocks)) for blocks in (3, 0, 5, 1)] == [0, 3, 3, 8]
    last = RandomStream("a", 2**64 - 1)
    assert [int(last.take(2)), int(last.take(1))] == [2**64 - 1, 1]


def test_streams_belong_to_names_and_begin_anywhere_without_a_seed() -> None:
    streams, other = RandomStreams(), RandomStreams()
    seeded, unseeded = _node(3), _node(None)
    (found,) = streams.of([seeded])
    assert found is streams.of([seeded])[0]
    assert found is not streams.of([seeded], "function")[0]
    assert found.place == 0
    assert streams.of([unseeded, unseeded], "x")[0] is streams.of([unseeded], "x")[0]
    assert streams.of([unseeded], "y")[0].place != other.of([unseeded], "y")[0].place


def test_a_run_takes_what_is_known_before_and_owns_the_others() -> None:
    known, moving = RandomStream("b", 7), RandomStream("a", 100)
    with Draws([known, moving], [4, 0], [1]) as draws:
        assert [int(place) for place in draws.starts] == [7, 100]
        assert known.take(1) == 11
        assert moving.lock.locked()
        draws.moved = [np.uint64(130)]
    assert moving.take(1) == 130


def test_a_run_that_fails_takes_nothing_of_the_streams_that_it_owns() -> None:
    moving = RandomStream("a", 100)
    with pytest.raises(ValueError, match="refused"), Draws([moving], [0], [0]):
        raise ValueError("refused")
    assert moving.take(1) == 100


def test_others_wait_for_a_run_that_owns_a_stream() -> None:
    moving, taken = RandomStream("a", 0), []
    thread = threading.Thread(target=lambda: taken.append(int(moving.take(1))))
    with Draws([moving, moving], [0, 0], [0, 1]) as draws:
        thread.start()
        draws.moved = [np.uint64(9), np.uint64(9)]
    thread.join()
    assert taken == [9]
