"""prefetch_queue: batches kept ready."""

from __future__ import annotations

import pytest

import weft as tf
from weft.training.input.prefetch_queue import prefetch_queue


@pytest.mark.parametrize("dynamic_pad", [False, True])
def test_values_come_out_as_they_went_in(dynamic_pad: bool) -> None:
    number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    queue = prefetch_queue({"n": number, "row": tf.stack([number, number])}, capacity=2, dynamic_pad=dynamic_pad)
    value = queue.dequeue()
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(3):
            taken = session.run(value)
            found.append((int(taken["n"]), taken["row"].tolist()))
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(value)
        coordinator.request_stop()
        coordinator.join(threads)
    assert found == [(number, [number, number]) for number in range(3)]
    names = [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    assert "prefetch_queue/fraction_of_2_full" in names
