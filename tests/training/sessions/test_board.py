"""The replica board as one member uses it."""

from __future__ import annotations

import weft as tf
from weft.distributed.client.observation.observing import TaskObserver
from weft.training.sessions.board import Board


def test_its_steps_are_not_counted_with_those_of_programs() -> None:
    with tf.train.Server({"worker": ["localhost:0"]}) as server, tf.Graph().as_default():
        observer = TaskObserver(server.target.removeprefix("grpc://"))
        one = tf.placeholder(tf.float32, []) + 1.0
        board = Board(server.target, None, ["/job:worker/task:0"])
        try:
            with tf.Session(server.target) as session:
                for _ in range(3):
                    session.run(one, {one.op.inputs[0]: 1.0})
                    board.post("a", b"note")
                    assert board.read()["a"][0] == b"note"
                report = observer.report(10.0)
        finally:
            board.close()
            observer.close()
    assert (report.steps, report.failed_steps) == (3, 0)
    # The notes are there all the same, as parts of steps.
    assert report.parts >= 6
