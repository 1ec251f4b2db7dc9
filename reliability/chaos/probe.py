"""A client that uses shared objects of both parameter servers while the job trains, and records what it is told."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import weft as tf
from reliability.chaos.history import FAIL, OK, UNKNOWN, Recorder

TIMEOUT_MS: Final = 4000
PAUSE_S: Final = 0.01
SERVERS: Final = 2
# What is certain to have had no effect; everything else may have had one.
_WITHOUT_EFFECT: Final = (tf.errors.FailedPreconditionError, tf.errors.NotFoundError, tf.errors.InvalidArgumentError)


class Objects:
    """The shared objects in a graph: on each parameter server a counter, a register, a queue and an accumulator."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        self.calls: dict[tuple[str, str], tuple[Any, Any]] = {}
        with self.graph.as_default():
            self.value = tf.placeholder(tf.int64, [], name="value")
            created = []
            for index in range(SERVERS):
                with tf.device(f"/job:ps/task:{index}"):
                    created += self._add(index)
            self.init = tf.group(*created)

    def _add(self, index: int) -> list[Any]:
        counter = tf.get_variable(f"probe/counter{index}", [], tf.int64, tf.zeros_initializer(), trainable=False)
        register = tf.get_variable(f"probe/register{index}", [], tf.int64, tf.zeros_initializer(), trainable=False)
        queue = tf.FIFOQueue(100_000, [tf.int64], shapes=[[]], shared_name=f"probe/queue{index}")
        accumulator = tf.ConditionalAccumulator(tf.float32, [], shared_name=f"probe/accumulator{index}")
        gradient = tf.cast(self.value, tf.float32)
        self.calls |= {
            (f"counter{index}", "add"): (tf.assign_add(counter, self.value).op, None),
            (f"counter{index}", "read"): (None, counter),
            (f"register{index}", "write"): (tf.assign(register, self.value).op, None),
            (f"register{index}", "read"): (None, register),
            (f"queue{index}", "enqueue"): (queue.enqueue(self.value), None),
            (f"queue{index}", "dequeue"): (None, queue.dequeue()),
            (f"queue{index}", "size"): (None, queue.size()),
            (f"accumulator{index}", "add"): (accumulator.apply_grad(gradient, 1 << 40), None),
            (f"accumulator{index}", "read"): (None, accumulator.num_accumulated()),
        }
        return [counter.initializer, register.initializer]

    def call(self, session: Any, target: str, kind: str, argument: int | None) -> int | None:
        """Do one operation."""
        operation, fetch = self.calls[target, kind]
        feed = {self.value: 0 if argument is None else argument}
        result = session.run(fetch if fetch is not None else operation, feed)
        return None if fetch is None else int(result)


def probe(path: Path, process: str, target: str, index: int, seed: int, over: threading.Event) -> None:
    """Use the objects at random until the event; one probe of a job, that of worker 0, has initialized them before."""
    source = random.Random(f"{seed}/{process}")
    with Recorder(path, process).closing() as recorder:
        objects, session = Objects(), None
        number = source.randrange(1 << 20) << 20
        while not over.wait(PAUSE_S):
            number += 1
            session = session or open_session(target, index, objects)
            if session is None:
                continue
            if not _do_one(recorder, objects, session, source, number):
                _close(session)
                session = None
        if session is not None:
            _close(session)


def open_session(target: str, index: int, objects: Objects) -> Any:
    """Open a session that needs the parameter servers and no other worker; None when they are not there."""
    config = tf.ConfigProto(
        device_filters=["/job:ps", f"/job:worker/task:{index}"], operation_timeout_in_ms=TIMEOUT_MS
    )  # fmt: skip
    try:
        return tf.Session(target, graph=objects.graph, config=config)
    except tf.errors.OpError:
        return None


def _do_one(recorder: Recorder, objects: Objects, session: Any, source: random.Random, number: int) -> bool:
    """Do one operation and record it; returns whether the session is still good."""
    place = source.randrange(SERVERS)
    name, kind, argument = source.choice(_CHOICES)(number)
    invocation = recorder.begin(f"{name}{place}", kind, argument)
    try:
        if kind == "dequeue" and not objects.call(session, f"{name}{place}", "size", None):
            recorder.end(invocation, FAIL, error="empty")
            return True
        recorder.end(invocation, OK, objects.call(session, f"{name}{place}", kind, argument))
    except _WITHOUT_EFFECT as error:
        recorder.end(invocation, FAIL, error=type(error).__name__)
    except (tf.errors.OpError, RuntimeError) as error:
        recorder.end(invocation, UNKNOWN, error=f"{type(error).__name__}: {error}"[:300])
        return False
    return True


def _close(session: Any) -> None:
    try:
        session.close()
    except tf.errors.OpError:
        return


_CHOICES: Final[tuple[Callable[[int], tuple[str, str, int | None]], ...]] = (
    lambda number: ("counter", "add", 1),
    lambda number: ("counter", "read", None),
    lambda number: ("register", "write", number),
    lambda number: ("register", "read", None),
    lambda number: ("queue", "enqueue", number),
    lambda number: ("queue", "dequeue", None),
    lambda number: ("accumulator", "add", 1),
    lambda number: ("accumulator", "read", None),
)
