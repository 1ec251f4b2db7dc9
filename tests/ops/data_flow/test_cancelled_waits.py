"""A step that was given up takes nothing, also when what it waited for is there before it wakes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.building.op_context import OpContext
from weft.ops.data_flow.accumulator_state import DenseAccumulatorState
from weft.ops.data_flow.queue_state import FifoStore, QueueState
from weft.ops.data_flow.staging_state import StagingBuffer


class GivenUp:
    """The context of a step that has been cancelled."""

    session = SimpleNamespace(name="a session")
    parking = None

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        callback()
        return lambda: None

    def raise_if_cancelled(self) -> None:
        raise tf.errors.CancelledError(None, None, "given up")


class Alive(GivenUp):
    """The context of a step that goes on."""

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def raise_if_cancelled(self) -> None:
        pass


GIVEN_UP: OpContext = GivenUp()  # type: ignore[assignment]
ALIVE: OpContext = Alive()  # type: ignore[assignment]


def test_a_dequeue_leaves_the_elements() -> None:
    queue = QueueState("a queue", 5, FifoStore())
    queue.enqueue(ALIVE, [(1,), (2,)])
    with pytest.raises(tf.errors.CancelledError):
        queue.dequeue(GIVEN_UP, 1)
    assert queue.dequeue(ALIVE, 2) == [(1,), (2,)]


def test_a_put_takes_no_room_and_a_get_no_element() -> None:
    area = StagingBuffer(capacity=1, memory_limit=0)
    element: tuple[Any, ...] = (np.zeros(2),)
    with pytest.raises(tf.errors.CancelledError):
        area.put(GIVEN_UP, element)
    area.put(ALIVE, element)
    with pytest.raises(tf.errors.CancelledError):
        area.get(GIVEN_UP)
    assert area.size == 1


def test_taking_gradients_leaves_them() -> None:
    accumulator = DenseAccumulatorState("sum", tf.float32, (), "MEAN")
    accumulator.apply(ALIVE, 0, np.float32(4))
    with pytest.raises(tf.errors.CancelledError):
        accumulator.take(GIVEN_UP, 1)
    assert accumulator.take(ALIVE, 1) == 4
