"""The ways to end badly. Each runs in a client's process, for a step that uses a parameter server through a worker's master."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from typing import Any, Final

import weft as tf


class Client:
    """A session with a step that ends, and one that waits for ever."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]], shared_name="never")
            with tf.device("/job:worker/task:0"):
                self.quick = tf.constant(1.0) + 1.0
            self.stuck = queue.dequeue() + 1.0
        self.session = self.open()
        # Prepares the step, so that it is the step that is cancelled and not its preparation.
        self.session.make_callable(self.stuck)

    def open(self) -> Any:
        """Open a session and run a step in it."""
        session = tf.Session(self.target, graph=self.graph)
        assert session.run(self.quick) == 2.0
        return session

    def check(self) -> None:
        """See that the cluster still computes."""
        assert self.session.run(self.quick) == 2.0


def time_out(client: Client, number: int) -> None:
    """Run a step past its deadline."""
    try:
        client.session.run(client.stuck, options=tf.RunOptions(timeout_in_ms=2 + number % 4))
    except tf.errors.DeadlineExceededError:
        return
    raise AssertionError("the step has ended")


def cancel(client: Client, number: int) -> None:
    """Interrupt a step by Ctrl-C."""
    # A shell has programs in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.001 * (number % 4))
        client.session.run(client.stuck)
    except KeyboardInterrupt:
        return
    raise AssertionError("the step has ended")


def drop(client: Client, number: int) -> None:
    """Open a session and forget it, every other time with a step that timed out."""
    session = client.open()
    if number % 2:
        try:
            session.run(client.stuck, options=tf.RunOptions(timeout_in_ms=1))
        except tf.errors.DeadlineExceededError:
            return


EXERCISES: Final[Mapping[str, Callable[[Client, int], None]]] = {
    "timed-out steps": time_out, "cancelled steps": cancel, "dropped sessions": drop,
}  # fmt: skip
