"""Queues that are filled again and again from a tensor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf


def test_file_names_may_come_from_the_variable_that_holds_them(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text("1,2\n3,4\n")
    with tf.Graph().as_default():
        names = tf.train.match_filenames_once(str(tmp_path / "*.csv"))
        queue = tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
        _, line = tf.TextLineReader().read(queue)
        first, second = tf.decode_csv(line, [[0], [0]])
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            read = [tuple(map(int, session.run([first, second]))) for _ in range(4)]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(first)
            coordinator.request_stop()
            coordinator.join(threads)
    assert read == [(1, 2), (3, 4), (1, 2), (3, 4)]


@pytest.mark.parametrize("nothing", [[], (), np.array([], object)])
def test_an_empty_list_of_names_is_refused_at_once(nothing: object) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="non-null input tensor"):
        tf.train.string_input_producer(nothing)
